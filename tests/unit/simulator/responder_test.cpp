#include "simulator/responder.hpp"

#include "jsonrpc/reply.hpp"
#include "jsonrpc/value.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <functional>
#include <string>

using namespace weir;
using namespace weir::simulator;
using namespace std::chrono_literals;

namespace {

class ManualClock final : public runtime::Clock {
  public:
    core::TimePoint now() const override { return core::TimePoint(passed_); }
    core::WallTime wall_now() const override {
        return core::WallTime(
            std::chrono::duration_cast<core::WallTime::duration>(1'700'000'000s + passed_));
    }
    void advance(core::Duration by) { passed_ += by; }

  private:
    core::Duration passed_{};
};

struct House {
    explicit House(const Script& script = {}) : responder(chain, clock, script, 7) {}

    // Head and body of the reply; empty when the connection would be closed without one.
    std::string ask(const std::string& body) {
        const Reaction reaction = responder.react({"POST / HTTP/1.1", body});
        delay = reaction.delay;
        return reaction.wire ? reaction.wire->bytes : "";
    }
    std::string body_of(const std::string& body) {
        const std::string reply = ask(body);
        const std::size_t head = reply.find("\r\n\r\n");
        return head == std::string::npos ? reply : reply.substr(head + 4);
    }
    std::string result_of(const std::string& method, const std::string& params = "[]") {
        const std::string body = body_of(R"({"jsonrpc":"2.0","id":1,"method":")" + method +
                                         R"(","params":)" + params + "}");
        CAPTURE(body);
        const auto reply = jsonrpc::parse_reply(body);
        REQUIRE(reply.has_value());
        return std::string(reply->is_error() ? reply->error : reply->result);
    }

    ManualClock clock;
    SimulatedChain chain{{1, 1000, 12s}, clock};
    Responder responder;
    core::Duration delay{};
};

const std::string kCall = R"({"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{}]})";
const std::string kChainId = R"({"jsonrpc":"2.0","id":2,"method":"eth_chainId"})";

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every method answers as a node would") {
    House house;
    const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
        {"eth_chainId", "[]", R"("0x1")"},
        {"net_version", "[]", R"("1")"},
        {"net_listening", "[]", "true"},
        {"eth_syncing", "[]", "false"},
        {"eth_blockNumber", "[]", R"("0x3e8")"},
        {"eth_getBlockByNumber", R"(["0x3e9",false])", "null"},
        {"eth_getBlockByHash", R"(["0x00",false])", "null"},
        {"eth_getCode", R"(["0x00","latest"])", R"("0x")"},
        {"eth_getCode", R"(["0x00","0xffff"])", R"({"code":-32000,"message":"header not found"})"},
        {"eth_estimateGas", "[{}]", R"("0x5208")"},
        {"eth_getTransactionReceipt", R"(["0x12"])", "null"},
        {"no_suchMethod", "[]",
         R"({"code":-32601,"message":"the method no_suchMethod does not exist/is not available"})"},
    };
    for (const auto& [method, params, expected] : cases) {
        CAPTURE(method, params);
        CHECK(house.result_of(method, params) == expected);
    }
    CHECK(house.result_of("eth_call", R"([{"to":"0x1"}])") !=
          house.result_of("eth_call", R"([{"to":"0x2"}])"));
    for (const std::string tag : {"latest", "safe", "finalized", "earliest", "pending", "0x10"}) {
        CHECK(
            jsonrpc::is_object(house.result_of("eth_getBlockByNumber", "[\"" + tag + "\",true]")));
    }
}

TEST_CASE("blocks come with time, are found by hash, and hang together") {
    House house;
    house.clock.advance(25s);
    CHECK(house.chain.head() == 1002);
    const Block block = house.chain.block(1002);
    CHECK(block.parent == house.chain.block(1001).hash);
    CHECK(block.timestamp == house.chain.block(1001).timestamp + 12);
    const auto found = house.chain.find(block.hash);
    REQUIRE(found.has_value());
    CHECK(found->number == 1002);
    CHECK_FALSE(house.chain.find(house.chain.block(1003).hash));  // not yet
    CHECK_FALSE(house.chain.find("0x" + std::string(64, 'a')));
    CHECK_FALSE(house.chain.find("0xzz"));
    const std::string by_hash =
        house.result_of("eth_getBlockByHash", "[\"" + block.hash + "\",false]");
    CHECK(by_hash == house.result_of("eth_getBlockByNumber", R"(["latest",false])"));

    house.chain.mine(3);
    CHECK(house.chain.head() == 1005);
    house.chain.rewind(4);
    CHECK(house.chain.head() == 1001);
    house.chain.rewind(5000);
    CHECK(house.chain.head() == 0);
    house.chain.mine(2000);

    // A reorganization concerns all, a fork one provider.
    const std::string below = house.chain.block(999).hash;
    house.chain.reorganize(1000);
    CHECK(house.chain.block(999).hash == below);
    CHECK(house.chain.block(1002).hash != block.hash);
    CHECK(house.chain.block(1002, Fork{1003, 1}).hash == house.chain.block(1002).hash);
    CHECK(house.chain.block(1003, Fork{1003, 1}).hash != house.chain.block(1003).hash);
}

TEST_CASE("ids and params come back as they came") {
    Script script;
    script.unknown = UnknownMethods::echo;
    House house(script);
    for (const std::string id :
         {"7", "1.0", "1e5", "null", "\"a\\u0041\"", "123456789012345678901234567890"}) {
        const std::string body = house.body_of(R"({"jsonrpc":"2.0","id":)" + id +
                                               R"(,"method":"x_y","params":[1.50, "\u00e9"]})");
        CHECK(body == R"({"jsonrpc":"2.0","id":)" + id +
                          R"(,"result":{"method":"x_y","params":[1.50, "\u00e9"]}})");
    }
    CHECK(house.body_of("[" + kChainId + "," + kChainId + "]") ==
          R"([{"jsonrpc":"2.0","id":2,"result":"0x1"},{"jsonrpc":"2.0","id":2,"result":"0x1"}])");
    CHECK(contains(house.body_of("[" + kChainId + ",7]"), "-32600"));
}

TEST_CASE("scripted answers, errors and missing methods") {
    Script script;
    script.answers["eth_call"] = R"({ "odd" : 1.0 })";
    script.errors["eth_gasPrice"] = R"({"code":3,"message":"execution reverted","data":"0x08"})";
    script.missing_methods = {"eth_getLogs"};
    House house(script);
    CHECK(house.result_of("eth_call") == R"({ "odd" : 1.0 })");
    CHECK(house.result_of("eth_gasPrice") == script.errors["eth_gasPrice"]);
    CHECK(contains(house.result_of("eth_getLogs"), "-32601"));
}

TEST_CASE("transactions are kept and found") {
    House house;
    const std::string hash = house.result_of("eth_sendRawTransaction", R"(["0x02f8"])");
    CHECK(hash == house.result_of("eth_sendRawTransaction", R"(["0x02f8"])"));
    CHECK(hash != house.result_of("eth_sendRawTransaction", R"(["0x02f9"])"));
    CHECK(house.responder.raw_transactions() ==
          std::vector<std::string>{"0x02f8", "0x02f8", "0x02f9"});
    CHECK(contains(house.result_of("eth_getTransactionReceipt", "[" + hash + "]"), R"("0x1")"));
}

TEST_CASE("the throttle lets through what it says, in every shape") {
    struct Case {
        ThrottleShape shape;
        std::string status;
        std::string part;
    };
    const std::vector<Case> cases = {
        {ThrottleShape::http_429, "HTTP/1.1 429", "Retry-After: 2\r\n"},
        {ThrottleShape::http_429_date, "HTTP/1.1 429",
         "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\nRetry-After: Tue, 14 Nov 2023 22:13:22 GMT\r\n"},
        {ThrottleShape::backoff_field, "HTTP/1.1 429", R"("backoff_seconds":2)"},
        {ThrottleShape::code_in_200, "HTTP/1.1 200", R"("id":1,"error":{"code":-32005)"},
        {ThrottleShape::wording_in_200, "HTTP/1.1 200", "retry in 2s"},
        {ThrottleShape::cloudflare_html, "HTTP/1.1 429", "<html>"},
        {ThrottleShape::cloudflare_text, "HTTP/1.1 200", "error code: 1015"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.part);
        Script script;
        script.throttle.calls_per_second = 2;
        script.throttle.burst = 3;
        script.throttle.shape = c.shape;
        House house(script);
        for (int i = 0; i < 3; ++i) {
            CHECK(contains(house.ask(kCall), R"("result")"));
        }
        const std::string refusal = house.ask(kCall);
        CHECK(refusal.starts_with(c.status));
        CHECK(contains(refusal, c.part));
        if (contains(refusal, "application/json")) {
            CHECK(jsonrpc::is_valid(refusal.substr(refusal.find("\r\n\r\n") + 4)));
        }
        CHECK_FALSE(contains(house.ask("[" + kCall + "," + kCall + "]"), R"("result")"));
        house.clock.advance(500ms);
        CHECK(contains(house.ask(kCall), R"("result")"));
        CHECK_FALSE(contains(house.ask(kCall), R"("result")"));
        CHECK(house.responder.counts().throttled == 3);
    }
}

TEST_CASE("batches over the limit are refused in every shape") {
    struct Case {
        BatchRefusal refusal;
        std::string status;
        std::string body_start;
    };
    const std::vector<Case> cases = {
        {BatchRefusal::object_413, "HTTP/1.1 413", "{"},
        {BatchRefusal::object_500, "HTTP/1.1 500", "{"},
        {BatchRefusal::object_200, "HTTP/1.1 200", "{"},
        {BatchRefusal::array_of_one, "HTTP/1.1 200", "[{"},
    };
    for (const Case& c : cases) {
        Script script;
        script.batch = {1, c.refusal};
        House house(script);
        CHECK(contains(house.ask("[" + kCall + "]"), R"([{"jsonrpc":"2.0","id":1,"result")"));
        const std::string reply = house.ask("[" + kCall + "," + kCall + "]");
        CHECK(reply.starts_with(c.status));
        const std::string body = reply.substr(reply.find("\r\n\r\n") + 4);
        CHECK(body.starts_with(c.body_start));
        CHECK(jsonrpc::is_valid(body));
        CHECK(contains(body, "batch") + contains(body, "Batch") > 0);
    }
}

TEST_CASE("faults concern the named methods, and run down") {
    Script script;
    script.faults.methods = {"eth_call"};
    script.faults.fail_next = 2;
    script.faults.drop_next = 1;
    House house(script);
    CHECK(contains(house.ask(kChainId), "HTTP/1.1 200"));
    CHECK(house.ask(kCall).empty());
    CHECK(contains(house.ask(kCall), "HTTP/1.1 503"));
    CHECK(contains(house.ask(kChainId), "HTTP/1.1 200"));
    CHECK(contains(house.ask("[" + kChainId + "," + kCall + "]"), "HTTP/1.1 503"));
    CHECK(contains(house.ask(kCall), "HTTP/1.1 200"));
    CHECK(house.responder.script().faults.fail_next == 0);

    house.responder.change([](Script& s) { s.faults.drop_every = 3; });
    int dropped = 0;
    for (int i = 0; i < 9; ++i) {
        dropped += house.ask(kCall).empty() ? 1 : 0;
    }
    CHECK(dropped == 3);

    house.responder.change([](Script& s) {
        s.faults.drop_every = 0;
        s.faults.drop_share = 0.5;
    });
    dropped = 0;
    for (int i = 0; i < 200; ++i) {
        dropped += house.ask(kCall).empty() ? 1 : 0;
    }
    CHECK(dropped > 60);
    CHECK(dropped < 140);
}

TEST_CASE("crooked replies are wrong in the way they say") {
    const std::string good = R"({"jsonrpc":"2.0","id":1,"result":"0x1"})";
    struct Case {
        Crooked crooked;
        std::function<bool(const std::string& head, const std::string& body)> holds;
        Wire::Then then = Wire::Then::keep_open;
    };
    const auto has = [](std::string part) {
        return [part](const std::string& head, const std::string& body) {
            return contains(head + body, part);
        };
    };
    const auto invalid = [](const std::string& /*head*/, const std::string& body) {
        return !jsonrpc::is_valid(body);
    };
    const std::vector<Case> cases = {
        {Crooked::none, [&](const auto&, const std::string& body) { return body == good; }},
        {Crooked::wrong_id, has(R"("id":987654321)")},
        {Crooked::string_id, has(R"("id":"1")")},
        {Crooked::no_id, has(R"({"jsonrpc":"2.0","result":"0x1"})")},
        {Crooked::result_and_error, has(R"("result":"0x0","error":{)")},
        {Crooked::neither, has(R"({"jsonrpc":"2.0","id":1})")},
        {Crooked::two_values,
         [&](const auto&, const std::string& body) { return body == good + good; }},
        {Crooked::cut_json, invalid},
        {Crooked::broken_json, invalid},
        {Crooked::bad_utf8, invalid},
        {Crooked::html, has("text/html")},
        {Crooked::empty_body, has("Content-Length: 0")},
        {Crooked::redirect, has("Location: ")},
        {Crooked::gzip, has("Content-Encoding: gzip")},
        {Crooked::odd_status, has("HTTP/1.1 500")},
        {Crooked::length_short, has("Content-Length: 34\r\n")},
        {Crooked::length_long, has("Content-Length: 44\r\n"), Wire::Then::close},
        {Crooked::two_lengths, has("Content-Length: 39\r\nContent-Length: 40\r\n")},
        {Crooked::broken_chunk, has("xyz\r\n")},
        {Crooked::cut_midway, invalid, Wire::Then::close},
        {Crooked::stall, invalid, Wire::Then::stall},
        {Crooked::endless, has("chunked"), Wire::Then::go_on},
    };
    for (const Case& c : cases) {
        CAPTURE(static_cast<int>(c.crooked));
        Script script;
        script.answers["eth_call"] = R"("0x1")";
        script.faults.crooked = c.crooked;
        script.faults.crooked_next = 1;
        House house(script);
        const Reaction reaction = house.responder.react({"", kCall});
        REQUIRE(reaction.wire.has_value());
        const std::string& bytes = reaction.wire->bytes;
        const std::size_t head = bytes.find("\r\n\r\n") + 4;
        CHECK(c.holds(bytes.substr(0, head), bytes.substr(head)));
        CHECK(reaction.wire->then == c.then);
        CHECK(house.body_of(kCall) == good);  // once only
    }
}

TEST_CASE("latency: a method's own, the longest of a batch, and jitter within its bound") {
    Script script;
    script.latency = 20ms;
    script.method_latency["eth_call"] = 70ms;
    House house(script);
    house.ask(kChainId);
    CHECK(house.delay == 20ms);
    house.ask("[" + kChainId + "," + kCall + "]");
    CHECK(house.delay == 70ms);
    house.responder.change([](Script& s) { s.jitter = 10ms; });
    for (int i = 0; i < 50; ++i) {
        house.ask(kChainId);
        CHECK(house.delay >= 20ms);
        CHECK(house.delay <= 30ms);
    }
}

TEST_CASE("what is kept is bounded") {
    House house;
    for (std::size_t i = 0; i < Responder::kKept + 10; ++i) {
        house.ask(R"({"jsonrpc":"2.0","id":1,"method":"made_up_)" + std::to_string(i) + R"("})");
    }
    CHECK(house.responder.messages().size() == Responder::kKept);
    CHECK(house.responder.counts().calls.size() <= Responder::kKept);
    CHECK(house.responder.counts().requests == Responder::kKept + 10);
}
