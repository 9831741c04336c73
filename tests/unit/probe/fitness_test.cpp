#include "probe/fitness.hpp"

#include "support/catch.hpp"
#include "unit/probe/heard.hpp"

#include <functional>

using namespace weir;
using namespace weir::probe;
using namespace weir::test;
using routing::Cause;

namespace {

std::string block(const std::string& number) {
    return R"({"number":")" + number + R"(","hash":")" + kHash + R"(","timestamp":"0x6553f100"})";
}

struct Case {
    config::Chain chain;
    config::Upstream upstream;
    std::size_t batch = 0;

    // All problems, one a line; `other` answers in place of a node that is well.
    std::string problems(
        const std::function<std::optional<Heard>(const Question&)>& other = {}) const {
        Fitness fitness(chain, upstream, "chains[0].upstreams[1]", batch);
        unsigned asked = 0;
        while (const auto question = fitness.next()) {
            REQUIRE(++asked <= Fitness::kMostRequests);
            const auto own = other ? other(*question) : std::nullopt;
            const std::string number = question->topic == Topic::head ? "0x1000" : "0x64";
            fitness.hear(*question, own                                  ? *own
                                    : question->topic == Topic::chain_id ? result(R"("0x1")")
                                    : question->method == "eth_getBlockByNumber"
                                        ? result(block(number))
                                        : result(R"("0x0")"));
        }
        std::string text;
        for (const config::Problem& problem : fitness.problems()) {
            text += to_string(problem) + "\n";
        }
        return text;
    }
    std::string problems_when(Topic topic, const Heard& heard) const {
        return problems([&](const Question& question) {
            return question.topic == topic ? std::optional(heard) : std::nullopt;
        });
    }
};

Case promising() {
    Case test;
    test.chain.chain_id = 1;
    test.chain.checkpoint = {100, kHash};
    test.upstream.history = {config::History::Kind::blocks, 128};
    test.batch = 50;
    return test;
}

}  // namespace

TEST_CASE("an upstream that keeps what its configuration promises") {
    CHECK(promising().problems() == "");
}

TEST_CASE("an upstream that does not") {
    const Case test = promising();
    CHECK(test.problems_when(Topic::chain_id, result(R"("0x89")")) ==
          "chains[0].upstreams[1].url: says chain id 137, not 1\n");
    CHECK(test.problems_when(Topic::chain_id, failed(Cause::connect_failed, "refused")) ==
          "chains[0].upstreams[1].url: does not answer eth_chainId (connect_failed): refused\n");
    CHECK(test.problems_when(Topic::chain_id, result("[]")) ==
          "chains[0].upstreams[1].url: answers eth_chainId with what is no chain id\n");
    CHECK(test.problems_when(Topic::head, result("null")) ==
          "chains[0].upstreams[1].url: shows no latest block\n");
    Heard refused = failed(Cause::batch_too_large, "at most 10");
    refused.named = 10;
    CHECK(test.problems_when(Topic::batch, refused) ==
          "chains[0].upstreams[1].batch.max_calls: an array of 50 calls is refused; it takes 10: "
          "at most 10\n");
    const auto takes = [&test](std::size_t most) {
        return test.problems([most](const Question& question) -> std::optional<Heard> {
            return question.calls > most ? std::optional(failed(Cause::batch_too_large, "too big"))
                                         : std::nullopt;
        });
    };
    const std::string path = "chains[0].upstreams[1].batch.max_calls: ";
    CHECK(takes(10) == path + "an array of 50 calls is refused; it takes 10: too big\n");
    CHECK(takes(3) == path + "an array of 50 calls is refused; it takes 3: too big\n");
    CHECK(takes(1) == path + "an array of 50 calls is refused; it takes no arrays: too big\n");
    CHECK(test.problems_when(Topic::batch, failed(Cause::rate_limited)) ==
          "chains[0].upstreams[1].rate: an array of 50 calls runs into a rate limit\n");
    CHECK(test.problems_when(Topic::state, failed(Cause::state_missing, "missing trie node")) ==
          "chains[0].upstreams[1].history: state of block 3971 is not given: missing trie node\n");
    std::string other = block("0x64");
    other[other.find("0xa") + 2] = 'b';
    CHECK(test.problems_when(Topic::checkpoint, result(other))
              .starts_with("chains[0].upstreams[1].url: has another block at the checkpoint: 0xb"));
}

TEST_CASE("a head that stands still is reported") {
    Heard old = result(block("0x1000"));
    old.wall += 86'500;
    CHECK(promising().problems_when(Topic::head, old) ==
          "chains[0].upstreams[1].url: its head, block 4096, is 24 hours old\n");
    old.wall -= 1'000;
    CHECK(promising().problems_when(Topic::head, old).empty());
}

TEST_CASE("nothing is asked that the configuration does not promise") {
    Case test;
    test.chain.chain_id = 1;
    unsigned asked = 0;
    CHECK(test.problems([&](const Question&) -> std::optional<Heard> {
        ++asked;
        return std::nullopt;
    }) == "");
    CHECK(asked == 2);
}
