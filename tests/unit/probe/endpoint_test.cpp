#include "probe/endpoint.hpp"

#include "support/catch.hpp"
#include "unit/probe/heard.hpp"

#include <functional>
#include <set>

using namespace weir;
using namespace weir::probe;
using namespace weir::test;
using namespace std::chrono_literals;
using routing::Cause;

namespace {

// An archive node that has everything, and no batch limit.
Heard good(const Question& question) {
    if (question.topic == Topic::chain_id) {
        return result(R"("0x89")");
    }
    if (question.method == "eth_getBlockByNumber") {
        const bool latest = question.topic == Topic::head;
        return result(R"({"number":")" + std::string(latest ? "0x100" : "0xc0") + R"(","hash":")" +
                      kHash + R"(","timestamp":"0x6553f100"})");
    }
    if (question.topic == Topic::state_of_nowhere) {
        return failed(Cause::block_unknown);
    }
    return result(question.topic == Topic::version ? R"("Geth/v1.14")" : R"("0x0")");
}

using Answer = std::function<Heard(const Question&)>;

Findings examine(Endpoint& endpoint, const Answer& answer) {
    unsigned asked = 0;
    while (const auto question = endpoint.next()) {
        REQUIRE(++asked <= Examination::kMostRequests);
        endpoint.hear(*question, answer(*question));
    }
    return endpoint.findings();
}

// `good`, but for the topics or methods that `other` answers.
Findings examine_with(const std::function<std::optional<Heard>(const Question&)>& other) {
    Endpoint endpoint;
    return examine(endpoint, [&](const Question& question) {
        const auto own = other(question);
        return own ? *own : good(question);
    });
}

}  // namespace

TEST_CASE("an endpoint that has everything") {
    Endpoint endpoint;
    const Findings found = examine(endpoint, good);
    CHECK(found.chain_id == 137);
    REQUIRE(found.head);
    CHECK(found.head->number == 256);
    CHECK(found.head_age == 10);
    CHECK(found.version == "Geth/v1.14");
    CHECK(found.finalized == Support::yes);
    CHECK(found.finalized_behind == 64);
    CHECK(found.by_hash == Support::yes);
    CHECK(found.depth.reaches(256));
    CHECK(found.batch.taken == BatchSearch::kMost);
    for (const MethodFinding& method : found.methods) {
        CHECK(method.support == Support::yes);
    }
    CHECK(found.first_latency == 5ms);
    CHECK(endpoint.requests() <= 25);
    CHECK_FALSE(endpoint.was_cut_short());
}

TEST_CASE("who does not say its chain id is asked nothing else") {
    Endpoint silent;
    const Findings found =
        examine(silent, [](const Question&) { return failed(Cause::connect_failed, "refused"); });
    CHECK(silent.requests() == 2);
    CHECK_FALSE(found.chain_id);
    CHECK(found.trouble == "refused");
    CHECK(found.trouble_cause == Cause::connect_failed);
    Endpoint odd;
    CHECK(examine(odd, [](const Question&) { return result("{}"); }).trouble_cause ==
          Cause::bad_reply);
    CHECK(odd.requests() == 1);
    Endpoint none;
    const Findings zero = examine(none, [](const Question&) { return result(R"("0x0")"); });
    CHECK_FALSE(zero.chain_id);
    CHECK(zero.trouble == "it says chain id 0, which no chain has");
}

TEST_CASE("a head that nobody shows costs only what rests on it") {
    const Findings found = examine_with([](const Question& question) {
        return question.method == "eth_getBlockByNumber" ? std::optional(result("null"))
                                                         : std::nullopt;
    });
    CHECK_FALSE(found.head);
    CHECK(found.finalized == Support::no);
    CHECK(found.by_hash == Support::unasked);
    CHECK(found.batch.taken == BatchSearch::kMost);
}

TEST_CASE("state by a hash is only believed of who looks at it") {
    const auto when = [](Topic topic, const Heard& heard) {
        return examine_with([&](const Question& question) {
                   return question.topic == topic ? std::optional(heard) : std::nullopt;
               })
            .by_hash;
    };
    CHECK(when(Topic::state_of_nowhere, result(R"("0x0")")) == Support::no);
    CHECK(when(Topic::state_by_hash, failed(Cause::invalid_params)) == Support::no);
    CHECK(when(Topic::state_by_hash, failed(Cause::block_unknown)) == Support::unclear);
    CHECK(when(Topic::state_of_nowhere, failed(Cause::timeout)) == Support::unclear);
}

TEST_CASE("methods that are missing, on another plan, or in doubt") {
    const Findings found = examine_with([](const Question& question) -> std::optional<Heard> {
        if (question.method == "eth_getProof") return failed(Cause::method_unsupported);
        if (question.method == "debug_traceCall") return failed(Cause::plan_lacks_method);
        if (question.method == "trace_block") return failed(Cause::unknown, "odd");
        if (question.method == "txpool_status") return failed(Cause::invalid_params);
        return std::nullopt;
    });
    const auto of = [&](std::string_view name) {
        for (const MethodFinding& method : found.methods) {
            if (method.name == name) return method.support;
        }
        return Support::unasked;
    };
    CHECK(of("eth_getProof") == Support::no);
    CHECK(of("debug_traceCall") == Support::paid);
    CHECK(of("trace_block") == Support::unclear);
    CHECK(of("txpool_status") == Support::yes);
}

TEST_CASE("a rate limit is waited for, within bounds") {
    Endpoint endpoint;
    unsigned asked = 0;
    core::Duration waited{};
    while (const auto question = endpoint.next()) {
        waited += endpoint.pause();
        Heard heard = good(*question);
        if (++asked % 3 == 0) {  // every third message is refused
            heard = failed(Cause::rate_limited);
            heard.retry_after = 2s;
        }
        endpoint.hear(*question, heard);
    }
    CHECK(endpoint.findings().depth.reaches(256));
    CHECK(endpoint.limited() >= 5);
    CHECK(waited <= Examination::kMostPauses);

    Endpoint never;
    unsigned tries = 0;
    waited = {};
    while (const auto question = never.next()) {
        waited += never.pause();
        ++tries;
        Heard heard =
            question->topic == Topic::chain_id ? good(*question) : failed(Cause::rate_limited);
        heard.retry_after = std::chrono::hours(5);
        never.hear(*question, heard);
    }
    CHECK(tries <= Examination::kMostRequests);
    CHECK(waited <= Examination::kMostPauses);
    CHECK(never.findings().finalized == Support::unclear);
}

TEST_CASE("whatever an endpoint does, it is asked no more than was announced") {
    for (const Cause cause : {Cause::rate_limited, Cause::bad_reply, Cause::timeout, Cause::unknown,
                              Cause::state_missing, Cause::batch_too_large}) {
        for (unsigned every = 1; every < 6; ++every) {
            Endpoint endpoint;
            unsigned asked = 0;
            while (const auto question = endpoint.next()) {
                ++asked;
                endpoint.hear(*question,
                              asked > 1 && asked % every == 0 ? failed(cause) : good(*question));
            }
            CHECK(asked <= Examination::kMostRequests);
        }
    }
}
