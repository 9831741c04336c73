// JSON from outside: what is not JSON gets no further than the parser, what is goes on as it was.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/json_corpus.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;

namespace {

struct House {
    explicit House(const std::vector<std::string>& server = {}) {
        DaemonConfig config = DaemonConfig::with({provider.url()});
        config.server = server;
        daemon = std::make_unique<Daemon>(config);
        client = std::make_unique<RawClient>(daemon->rpc_address());
        REQUIRE(daemon->wait_until_ready());
    }
    static simulator::Script echoing() {
        simulator::Script script;
        script.unknown = simulator::UnknownMethods::echo;
        return script;
    }

    // On one connection, which has to outlive every refusal.
    void check_parse_error(const std::string& body) const {
        const HttpResponse response = client->post("/", body);
        CHECK(response.status == 400);
        CHECK(type_of(response.body) == "parse_error");
        CHECK(code_of(response.body) == "-32700");
        CHECK(id_of(response.body) == "null");
    }
    void check_carried(const std::string& params) const {
        const std::uint64_t before = provider.counts().calls_of("x_echo");
        const HttpResponse response = client->post("/", rpc("x_echo", params, "\"y\""));
        CHECK(response.status == 200);
        CHECK(result_of(response.body) == R"({"method":"x_echo","params":)" + params + "}");
        CHECK(provider.counts().calls_of("x_echo") == before + 1);
        const std::string sent = R"("method":"x_echo","params":)" + params + "}";
        const std::vector<simulator::Message> messages = provider.messages();
        CHECK(std::any_of(messages.begin(), messages.end(), [&](const simulator::Message& each) {
            return each.body.find(sent) != std::string::npos;
        }));
    }

    Simulators simulators;
    simulator::Provider& provider = simulators.add(echoing());
    std::unique_ptr<Daemon> daemon;
    std::unique_ptr<RawClient> client;
};

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

std::string repeated(std::string_view piece, std::size_t times) {
    std::string out;
    out.reserve(piece.size() * times);
    for (std::size_t i = 0; i < times; ++i) {
        out += piece;
    }
    return out;
}

}  // namespace

TEST_CASE("what is not JSON is refused by the program, alone and within params", "[daemon]") {
    const House house;
    for (const auto& [name, text] : json_samples("n_")) {
        INFO(name);
        house.check_parse_error(text);
        house.check_parse_error(rpc("x_echo", R"({"member":)" + text + "}"));
        house.check_parse_error(rpc("x_echo", "[1," + text + "]"));
        house.check_parse_error("[" + rpc("x_echo") + "," + rpc("x_echo", "[1," + text + "]") +
                                "]");
        if (!is_blank(text)) {
            house.check_parse_error(rpc("x_echo", "[" + text + "]"));
        }
    }
    CHECK(house.provider.counts().calls_of("x_echo") == 0);
}

TEST_CASE("what is JSON arrives upstream byte for byte", "[daemon]") {
    const House house;
    for (const auto& [name, text] : json_samples("y_")) {
        INFO(name);
        house.check_carried("[" + text + "]");
        house.check_carried(R"({"member":)" + text + "}");
    }
}

TEST_CASE("the program decides what RFC 8259 leaves open", "[daemon]") {
    const House house;
    for (const JsonSample& sample : json_samples("i_")) {
        INFO(sample.name);
        const auto decision = decision_on(sample);
        REQUIRE(decision.has_value());
        if (*decision == JsonDecision::refused) {
            house.check_parse_error(rpc("x_echo", "[" + sample.text + "]"));
        } else {
            house.check_carried("[" + sample.text + "]");
        }
    }
}

TEST_CASE("texts that are hard to carry", "[daemon]") {
    const House house({"max_body: 32MiB"});
    const std::string call = rpc("x_echo");
    house.check_parse_error("\xEF\xBB\xBF" + call);
    house.check_parse_error(call + call);
    house.check_parse_error(call + "," + call);
    house.check_parse_error("[" + call + "]]");
    house.check_parse_error(call + std::string(1, '\0'));
    house.check_parse_error(rpc("x_echo", "[\"\xC0\xAF\"]"));
    house.check_parse_error(rpc("x_echo", "[\"\xED\xA0\x80\"]"));
    house.check_parse_error(rpc("x_echo", "[\"\xF4\x90\x80\x80\"]"));
    house.check_parse_error(rpc("x_echo", "[]", "\"\xFF\""));
    house.check_parse_error(rpc("x\xFF", "[]"));
    for (const std::string_view opening : {"[", R"({"a":)", R"([{"a":)"}) {
        house.check_parse_error(repeated(opening, 100'000));
        house.check_parse_error(rpc("x_echo", repeated(opening, 100'000)));
    }
    house.check_parse_error(rpc("x_echo", repeated("[", 100'000) + repeated("]", 100'000)));
    house.check_parse_error(repeated("[", 100'000) + repeated("]", 100'000));
    CHECK(house.provider.counts().calls_of("x_echo") == 0);

    const std::string id = "\"" + std::string(1'000'000, 'i') + "\"";
    for (const std::string method : {"eth_chainId", "x_echo", "admin_peers"}) {
        const HttpResponse response = house.client->post("/", rpc(method, "[]", id));
        CHECK(response.status == 200);
        CHECK((id_of(response.body) == id));
    }
    const std::string number = std::string(1'000'000, '7');
    CHECK((id_of(house.client->post("/", rpc("eth_chainId", "[]", number)).body) == number));
}

TEST_CASE("a batch of 100,000 is refused at once", "[daemon]") {
    const House house({"max_body: 32MiB"});
    const std::string call = rpc("x_echo");
    for (const std::string& item : {call, std::string("{}"), std::string("1")}) {
        const auto begin = std::chrono::steady_clock::now();
        const HttpResponse response =
            house.client->post("/", "[" + item + repeated("," + item, 99'999) + "]");
        CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
        CHECK(response.status == 400);
        CHECK(type_of(response.body) == "invalid_request");
        CHECK(id_of(response.body) == "null");
        CHECK(response.body.size() < 1000);
    }
    CHECK(house.provider.counts().calls_of("x_echo") == 0);
}

TEST_CASE("escapes do not get past the deny list", "[daemon]") {
    const House house;
    struct Case {
        std::string members;
        std::string type;
    };
    const std::vector<Case> cases = {
        {R"("method":"\u0061dmin_peers")", "method_denied"},
        {R"("method":"admin\u005Fpeers")", "method_denied"},
        {R"("method":"\u0041DMIN_peers")", "method_denied"},
        {R"("m\u0065thod":"admin_peers")", "method_denied"},
        {R"("\u006d\u0065\u0074\u0068\u006f\u0064":"engine_newPayloadV4")", "method_denied"},
        {R"("method":"debug_setHead")", "method_denied"},
        {R"("method":"DEBUG_SETHEAD")", "method_denied"},
        {R"("method":"debug\u005fset\u0048ead")", "method_denied"},
        {R"("method":"eth_subscribe")", "method_denied"},
        {R"("method":"eth_\u0073ubscribe")", "method_denied"},
        {R"("method":"admin_peers\u0000")", "method_denied"},
        {R"("method":"\u0000admin_peers")", "method_denied"},
        {R"("method":" admin_peers")", "method_denied"},
        {R"("method":"admin_peers ")", "method_denied"},
        {R"("method":"admin\/peers")", "method_denied"},
        {R"("method":"\ud83d\ude00")", "method_denied"},
        {R"("method":"\ud800admin_peers")", "method_denied"},
        {R"("method":"")", "method_denied"},
        {R"("method":"x_echo","m\u0065thod":"admin_peers")", "invalid_request"},
        {R"("m\u0065thod":"admin_peers","method":"x_echo")", "invalid_request"},
        {R"("method":"x_echo","param\u0073":[1])", "invalid_request"},
        {R"("method":"x_echo","jsonrp\u0063":"2.0")", "invalid_request"},
        {R"("method":"x_echo","\u0069d":2)", "invalid_request"},
        {R"("Method":"x_echo")", "invalid_request"},
        {R"("method":["x_echo"])", "invalid_request"},
        {R"("method":null)", "invalid_request"},
    };
    const std::uint64_t before = house.provider.counts().requests;
    for (const Case& c : cases) {
        INFO(c.members);
        const std::string call = R"({"jsonrpc":"2.0","id":1,"params":[],)" + c.members + "}";
        const HttpResponse alone = house.client->post("/", call);
        CHECK(alone.status == (c.type == "method_denied" ? 200 : 400));
        CHECK(type_of(alone.body) == c.type);
        const HttpResponse batch = house.client->post("/", "[" + call + "]");
        CHECK(batch.status == 200);
        CHECK(type_of(item(batch.body, 0)) == c.type);
    }
    for (const simulator::Message& message : house.provider.messages()) {
        CHECK(message.body.find("peers") == std::string::npos);
        CHECK(message.body.find("x_echo") == std::string::npos);
    }
    CHECK(house.provider.counts().requests < before + 10);  // probes only
    // Escaped names that are allowed are understood as well.
    const HttpResponse fine = house.client->post(
        "/", R"({"jsonrpc":"2.0","\u0069d":1,"m\u0065thod":"x\u005fecho","p\u0061rams":[1]})");
    CHECK(result_of(fine.body) == R"({"method":"x_echo","params":[1]})");
}
