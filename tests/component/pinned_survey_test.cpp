// Which block a reference stands for, as several upstreams say: who is asked, whose word counts,
// and who is waited for.
#include "component/pinned_fixture.hpp"

using namespace weir;
using namespace weir::test;

namespace {

std::string reference(std::uint64_t number) {
    return std::to_string(number) + ';' + block_hash("a", number);
}
std::string value(std::uint64_t number) { return Pinned::value_of(block_hash("a", number)); }

bool asks(const Sent& message, std::string_view method, std::string_view word) {
    return message.body.find('"' + std::string(method) + '"') != std::string::npos &&
           message.body.find('"' + std::string(word) + '"') != std::string::npos;
}

std::size_t times(const Pinned& f, std::size_t upstream, std::string_view method,
                  std::string_view word) {
    return static_cast<std::size_t>(
        std::count_if(f.transport.sent.begin(), f.transport.sent.end(), [&](const Sent& message) {
            return message.upstream == upstream && asks(message, method, word);
        }));
}

}  // namespace

TEST_CASE("a block newer than every known head is asked for wherever it may be") {
    for (const Reaction& said :
         {result("null"), rpc_error(-32000, "header not found"), rpc_error(-32000, "oh no"),
          rpc_error(-32602, "invalid params"), limited("20"), lost()}) {
        for (const std::size_t newer : {std::size_t{0}, std::size_t{1}}) {
            INFO(said.body << ' ' << newer);
            Pinned f({node(100), node(100)});
            REQUIRE(f.ask_at("latest", balance("1")).head.block == reference(100));
            f.nodes[newer].grow("a", 101);
            f.before = [&](std::size_t i, const Sent& message) {
                return i != newer && asks(message, "eth_getBlockByNumber", "0x65")
                           ? std::optional(said)
                           : std::nullopt;
            };
            f.transport.sent.clear();
            const RecordingSink sink = f.ask_at("0x65", balance("1"));
            INFO(sink.body);
            CHECK(sink.head.block == reference(101));
            CHECK(result_of_one(sink.body) == value(101));
            CHECK(times(f, 1 - newer, "eth_getBlockByNumber", "0x65") <= 1);
        }
    }
}

TEST_CASE("a block is unknown when no upstream knows it, and each was asked once, one once more") {
    for (const std::string& wanted : {std::string("0x65"), std::string("0xffffff")}) {
        INFO(wanted);
        Pinned f({node(100), node(100), node(100)});
        const RecordingSink sink = f.ask_at(wanted, balance("1"));
        CHECK(reason_of(sink.body) == "unknown");
        CHECK(f.transport.sent.size() == 4);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(times(f, i, "eth_getBlockByNumber", wanted) >= 1);
        }
    }
}

TEST_CASE("a block is not unknown while one that may have it does not answer") {
    Pinned f({node(100), node(100)});
    f.nodes[1].dead = true;
    CHECK(reason_of(f.ask_at("0x65", balance("1")).body) == "no_upstream");
    f.nodes[1].dead = false;
    f.poll();
    f.before = [](std::size_t i, const Sent&) {
        return i == 1 ? std::optional(limited("20")) : std::nullopt;
    };
    CHECK(reason_of(f.ask_at("0x65", balance("1")).body) == "no_upstream");
}

TEST_CASE("the number of a hash is what most of those say that have it") {
    const std::string both = batch({balance("1"), call("2", "eth_blockNumber")});
    for (const std::uint64_t lie : {std::uint64_t{85}, std::uint64_t{89}, std::uint64_t{99}}) {
        for (std::size_t liar = 0; liar < 3; ++liar) {
            INFO(lie << ' ' << liar);
            const auto lies = [&](std::size_t i, const Sent& message) {
                return i == liar && asks(message, "eth_getBlockByHash", block_hash("a", 90))
                           ? std::optional(result(R"({"number":")" + core::to_quantity(lie) +
                                                  R"(","hash":")" + block_hash("a", 90) +
                                                  R"(","parentHash":")" + block_hash("a", 89) +
                                                  R"("})"))
                           : std::nullopt;
            };
            Pinned f({node(100), node(100), node(100)});
            f.before = lies;
            for (int i = 0; i < 4; ++i) {
                const RecordingSink sink = f.ask_at(block_hash("a", 90), both);
                INFO(sink.body);
                CHECK(sink.head.block == reference(90));
                CHECK(result_at(sink.body, 0) == value(90));
                CHECK(result_at(sink.body, 1) == R"("0x5a")");
            }
            if (liar < 2) {
                Pinned tie({node(100), node(100)});
                tie.before = lies;
                const RecordingSink sink = tie.ask_at(block_hash("a", 90), both);
                INFO(sink.body);
                CHECK(sink.head.block.empty());
                CHECK(reason_of(jsonrpc::element(sink.body, 0)) == "unknown");
                CHECK(reason_of(jsonrpc::element(sink.body, 1)) == "unknown");
            }
        }
    }
}

TEST_CASE("who did not answer when others did is not asked the reads while others can") {
    for (const bool many : {false, true}) {
        for (const std::size_t silent : {std::size_t{0}, std::size_t{1}}) {
            INFO(many << ' ' << silent);
            config::Config config = equals(2);
            config.chains[0].timeouts.attempt = 800ms;
            Pinned f(config, {node(100), node(100)});
            f.before = [&](std::size_t i, const Sent&) {
                return i == silent ? std::optional(hangs()) : std::nullopt;
            };
            const std::string body = many ? batch({balance("1"), contract("2")}) : balance("1");
            for (const std::string& wanted :
                 {std::string("0x5a"), block_hash("a", 91), std::string("0x5c")}) {
                f.transport.sent.clear();
                const core::TimePoint began = f.clock.now();
                const RecordingSink sink = f.ask_at(wanted, body);
                INFO(wanted << ' ' << sink.body);
                CHECK(sink.body.find("error") == std::string::npos);
                CHECK(f.clock.now() - began < 600ms);
                CHECK(f.transport.count(silent) == 1);
            }
        }
    }
}

TEST_CASE("an upstream of a lower tier that was late keeps its reads") {
    config::Config config = make_config(2);
    config.chains[0].timeouts.attempt = 1s;
    Pinned f(config, {node(100), node(100)});
    bool was_late = false;
    f.before = [&](std::size_t i, const Sent&) {
        return i == 0 && !std::exchange(was_late, true) ? std::optional(hangs()) : std::nullopt;
    };
    const RecordingSink sink = f.ask_at("0x5a", batch({balance("1"), contract("2")}));
    CHECK(result_at(sink.body, 0) == value(90));
    CHECK(was_late);
    CHECK(f.transport.sent.back().upstream == 0);
    CHECK(f.transport.count(1) == 1);
}

TEST_CASE("an upstream that does not answer the trial is waited for once") {
    bool was_asked = false;
    for (int i = 0; i < 30 && !was_asked; ++i) {
        config::Config config = equals(2);
        config.chains[0].timeouts.attempt = 500ms;
        Pinned f(config, {node(100), node(100)});
        f.before = [&](std::size_t upstream, const Sent&) {
            was_asked = was_asked || upstream == 0;
            return upstream == 0 ? std::optional(hangs()) : std::nullopt;
        };
        const core::TimePoint began = f.clock.now();
        const RecordingSink sink = f.ask_at("latest", batch({balance("1"), contract("2")}));
        CHECK(result_at(sink.body, 0) == value(100));
        CHECK(result_at(sink.body, 1) == value(100));
        CHECK(f.clock.now() - began < 900ms);
    }
    CHECK(was_asked);
}
