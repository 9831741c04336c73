// What stands in a call comes back, and goes on, as the bytes that it was.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;

namespace {

// One daemon before one provider that echoes what it does not know.
struct House {
    House() { REQUIRE(daemon.wait_until_ready()); }
    static simulator::Script echoing() {
        simulator::Script script;
        script.unknown = simulator::UnknownMethods::echo;
        return script;
    }

    Simulators simulators;
    simulator::Provider& provider = simulators.add(echoing());
    Daemon daemon{DaemonConfig::with({provider.url()})};
};

}  // namespace

TEST_CASE("a call is answered, with the headers of every answer", "[daemon]") {
    House house;
    const HttpResponse response = house.daemon.post(rpc("eth_blockNumber", "[]", "42"));
    CHECK(response.status == 200);
    CHECK(response.body == R"({"jsonrpc":"2.0","id":42,"result":"0x3e8"})");
    CHECK(response.field("Content-Type").starts_with("application/json"));
    CHECK(response.has_field("Date"));
    CHECK(response.has_field("Weir-Request-Id"));
    CHECK(response.field("Weir-Attempts") == "1");
    for (const std::string path : {"/ethereum", "/1"}) {
        CHECK(post(house.daemon.rpc_address(), path, rpc("eth_gasPrice")).body ==
              R"({"jsonrpc":"2.0","id":1,"result":"0x59682f00"})");
    }
}

TEST_CASE("an id comes back byte for byte", "[daemon]") {
    House house;
    RawClient client(house.daemon.rpc_address());
    for (const std::string id :
         {"0", "-1", "1.0", "1e5", "1E+5", "-0.5e-3", "9007199254740993", "18446744073709551616",
          "123456789012345678901234567890", "null", R"("")", R"("a")", R"("\u0041\n\"\\\/")",
          R"("\ud83d\ude00")", "\"\xF0\x9F\x98\x80\"", R"("1")"}) {
        CAPTURE(id);
        for (const std::string method : {"eth_gasPrice", "eth_chainId", "x_echo", "admin_peers"}) {
            const HttpResponse response = client.post("/", rpc(method, "[]", id));
            CHECK(response.status == 200);
            CHECK(id_of(response.body) == id);
        }
        CHECK(id_of(item(client.post("/", "[" + rpc("eth_gasPrice", "[]", id) + "]").body, 0)) ==
              id);
    }
}

TEST_CASE("params go on and results come back as they were", "[daemon]") {
    House house;
    RawClient client(house.daemon.rpc_address());
    for (const std::string params : {R"([])", R"([1.0, 1e5 ,-0.0,123456789012345678901234567890])",
                                     R"([ "\u00e9\/" ,"é", {"b":1,"a":{"b":[null,true]}} ])",
                                     R"({"named" : [ 1 ] })", R"([{"twice":1,"twice":2}])"}) {
        CAPTURE(params);
        const std::string expected = R"({"method":"x_echo","params":)" + params + "}";
        CHECK(result_of(client.post("/", rpc("x_echo", params)).body) == expected);
        CHECK(result_of(item(client.post("/", "[" + rpc("x_echo", params) + "]").body, 0)) ==
              expected);
    }
    const std::string absent = R"({"id":1,"method":"x_echo","jsonrpc":"2.0"})";
    CHECK(result_of(client.post("/", absent).body) == R"({"method":"x_echo","params":null})");

    for (const std::string result : {R"( {"spaced" : [ 1.50 ,"\u00e9" ] })", R"("error")",
                                     R"({"error":{"code":1}})", "null", "-0.0", R"([])"}) {
        house.provider.change([&](simulator::Script& s) { s.answers["eth_call"] = result; });
        const std::string body = client.post("/", rpc("eth_call", "[{}]")).body;
        CHECK(result_of(body) == result.substr(result.find_first_not_of(' ')));
    }
}

TEST_CASE("an upstream's own error passes unchanged", "[daemon]") {
    House house;
    for (const std::string error :
         {R"({"code":3,"message":"execution reverted: no","data":"0x08c379a0"})",
          R"({"code":-32602,"message":"invalid argument 0: \u00e9","data":{"x":[1.0]}})",
          R"({"code":-38001,"message":"something that no rule knows"})"}) {
        house.provider.change([&](simulator::Script& s) { s.errors["eth_call"] = error; });
        const HttpResponse response = house.daemon.post(rpc("eth_call", "[{}]"));
        CHECK(response.status == 200);
        CHECK(error_of(response.body) == error);
    }
    CHECK(house.provider.counts().calls_of("eth_call") == 3);
}

TEST_CASE("notifications get no answer", "[daemon]") {
    House house;
    RawClient client(house.daemon.rpc_address());
    for (const std::string& body :
         {notification("eth_blockNumber"),
          "[" + notification("eth_blockNumber") + "," + notification("eth_chainId") + "]"}) {
        const HttpResponse response = client.post("/", body);
        CHECK(response.status == 204);
        CHECK(response.body.empty());
    }
    // A write without an id could never be answered: it is not sent.
    const HttpResponse alone =
        client.post("/", notification("eth_sendRawTransaction", R"(["0x02f8"])"));
    CHECK(alone.status == 400);
    CHECK(type_of(alone.body) == "invalid_request");
    const HttpResponse batch =
        client.post("/", "[" + notification("eth_sendRawTransaction", R"(["0x02f8"])") + "," +
                             rpc("eth_chainId") + "]");
    CHECK(batch.body == R"([{"jsonrpc":"2.0","id":1,"result":"0x1"}])");
    CHECK(house.provider.raw_transactions().empty());
}

TEST_CASE("a batch is answered in order, each call for itself", "[daemon]") {
    House house;
    const std::string body = "[" + rpc("x_echo", "[1]", "1") + ",7," +
                             R"({"id":"no version","method":"eth_chainId"},)" +
                             notification("eth_blockNumber") + "," + rpc("eth_chainId", "[]", "1") +
                             "," + rpc("admin_peers", "[]", "null") + "," +
                             R"({"jsonrpc":"2.0","id":2,"id":3,"method":"eth_chainId"},)" +
                             rpc("eth_gasPrice", "[]", "\"last\"") + "]";
    const HttpResponse response = house.daemon.post(body);
    CHECK(response.status == 200);
    REQUIRE(jsonrpc::is_valid(response.body));
    REQUIRE(jsonrpc::element_count(response.body) == 7);
    CHECK(id_of(item(response.body, 0)) == "1");
    CHECK(result_of(item(response.body, 0)) == R"({"method":"x_echo","params":[1]})");
    CHECK(id_of(item(response.body, 1)) == "null");
    CHECK(code_of(item(response.body, 1)) == "-32600");
    CHECK(id_of(item(response.body, 2)) == R"("no version")");
    CHECK(code_of(item(response.body, 2)) == "-32600");
    CHECK(id_of(item(response.body, 3)) == "1");  // a duplicate id: two calls
    CHECK(result_of(item(response.body, 3)) == R"("0x1")");
    CHECK(id_of(item(response.body, 4)) == "null");
    CHECK(type_of(item(response.body, 4)) == "method_denied");
    CHECK(code_of(item(response.body, 5)) == "-32600");
    CHECK(id_of(item(response.body, 6)) == R"("last")");
    CHECK(result_of(item(response.body, 6)) == R"("0x59682f00")");
}

TEST_CASE("a batch of a hundred", "[daemon]") {
    House house;
    std::string body = "[";
    for (int i = 0; i < 100; ++i) {
        body += (i == 0 ? "" : ",") +
                rpc("eth_call", "[{\"to\":" + std::to_string(i) + "}]", std::to_string(1000 - i));
    }
    const HttpResponse response = house.daemon.post(body + "]");
    REQUIRE(jsonrpc::element_count(response.body) == 100);
    for (std::size_t i = 0; i < 100; ++i) {
        const std::string reply = item(response.body, i);
        CHECK(id_of(reply) == std::to_string(1000 - i));
        const std::string direct =
            RawClient(house.provider.port())
                .post("/", rpc("eth_call", "[{\"to\":" + std::to_string(i) + "}]"))
                .body;
        CHECK(result_of(reply) == result_of(direct));
    }
}

TEST_CASE("what is not a request is refused with its place in the table", "[daemon]") {
    House house;
    struct Case {
        std::string body;
        int status;
        std::string type;
        std::string code;
        std::string id = "null";
    };
    const std::vector<Case> cases = {
        {"", 400, "parse_error", "-32700"},
        {"{", 400, "parse_error", "-32700"},
        {rpc("eth_chainId") + "x", 400, "parse_error", "-32700"},
        {rpc("eth_chainId") + rpc("eth_chainId"), 400, "parse_error", "-32700"},
        {rpc("x_echo", "[1,]"), 400, "parse_error", "-32700"},
        {rpc("x_echo", "[01]"), 400, "parse_error", "-32700"},
        {rpc("x_echo", "[\"\xFF\"]"), 400, "parse_error", "-32700"},
        {rpc("x_echo", std::string(600, '[') + std::string(600, ']')), 400, "parse_error",
         "-32700"},
        {"[]", 400, "invalid_request", "-32600"},
        {"7", 400, "invalid_request", "-32600"},
        {R"({"id":5,"method":"eth_chainId"})", 400, "invalid_request", "-32600", "5"},
        {R"({"jsonrpc":"1.0","id":5,"method":"eth_chainId"})", 400, "invalid_request", "-32600",
         "5"},
        {R"({"jsonrpc":"2.0","id":5})", 400, "invalid_request", "-32600", "5"},
        {rpc("eth_chainId", "7", "5"), 400, "invalid_request", "-32600", "5"},
        {R"({"jsonrpc":"2.0","id":5,"method":"eth_chainId","method":"x_echo"})", 400,
         "invalid_request", "-32600", "5"},
        {rpc("eth chain", "[]", "5"), 200, "method_denied", "-32601", "5"},
        {rpc(std::string(129, 'm'), "[]", "5"), 200, "method_denied", "-32601", "5"},
        {rpc("admin_peers", "[]", "5"), 200, "method_denied", "-32601", "5"},
        {rpc("ADMIN_peers", "[]", "5"), 200, "method_denied", "-32601", "5"},
        {rpc("admin\\u005fpeers", "[]", "5"), 200, "method_denied", "-32601", "5"},
        {rpc("eth_subscribe", R"(["newHeads"])", "5"), 200, "method_denied", "-32601", "5"},
    };
    const std::uint64_t before = house.provider.counts().calls_of("x_echo");
    RawClient client(house.daemon.rpc_address());
    for (const Case& c : cases) {
        CAPTURE(c.body);
        const HttpResponse response = client.post("/", c.body);
        CAPTURE(response.body);
        CHECK(response.status == c.status);
        CHECK(type_of(response.body) == c.type);
        CHECK(code_of(response.body) == c.code);
        CHECK(id_of(response.body) == c.id);
    }
    CHECK(house.provider.counts().calls_of("x_echo") == before);
}
