// Large replies, and replies that break while they pass.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <string>

using namespace weir;
using namespace weir::test;
using simulator::Crooked;
using simulator::Framing;
using simulator::Provider;
using simulator::Script;

namespace {

constexpr std::size_t kLarge = 5'000'000;

const std::string kLogs = R"([{"fromBlock":"0x1"}])";

struct House {
    explicit House(const std::vector<std::string>& chain = {}) {
        provider.change([](Script& s) {
            s.logs_bytes = kLarge;
            s.faults.methods = {"eth_getLogs"};
        });
        DaemonConfig config = DaemonConfig::with({provider.url()});
        config.chain = chain;
        daemon = std::make_unique<Daemon>(config);
        REQUIRE(daemon->wait_until_ready());
    }

    Simulators simulators;
    Provider& provider = simulators.add();
    std::unique_ptr<Daemon> daemon;
};

}  // namespace

TEST_CASE("a large reply arrives as it was", "[daemon]") {
    House house;
    for (const Framing framing : {Framing::length, Framing::chunked}) {
        house.provider.change([framing](Script& s) { s.framing = framing; });
        const std::string direct =
            result_of(RawClient(house.provider.port()).post("/", rpc("eth_getLogs", kLogs)).body);
        REQUIRE(direct.size() > kLarge);
        RawClient client(house.daemon->rpc_address());
        for (const std::string id : {"\"a rather long id\"", "7"}) {
            const HttpResponse response = client.post("/", rpc("eth_getLogs", kLogs, id));
            CHECK(response.status == 200);
            CHECK(response.end == HttpResponse::End::complete);
            CHECK(id_of(response.body) == id);
            CHECK(result_of(response.body) == direct);
            CHECK(jsonrpc::is_valid(response.body));
        }
        const HttpResponse batch = client.post(
            "/", "[" + rpc("eth_getLogs", kLogs, "1") + "," + rpc("eth_chainId", "[]", "2") + "]");
        CHECK(result_of(item(batch.body, 0)) == direct);
        CHECK(result_of(item(batch.body, 1)) == R"("0x1")");
    }
}

TEST_CASE("a large reply that breaks midway cuts the client's connection", "[daemon]") {
    House house;
    for (const Crooked kind : {Crooked::cut_midway, Crooked::broken_json, Crooked::bad_utf8}) {
        for (const Framing framing : {Framing::length, Framing::chunked}) {
            CAPTURE(static_cast<int>(kind), static_cast<int>(framing));
            house.provider.change([&](Script& s) {
                s.faults.crooked = kind;
                s.framing = framing;
            });
            const std::uint64_t before = house.provider.counts().calls_of("eth_getLogs");
            const HttpResponse response = house.daemon->post(rpc("eth_getLogs", kLogs));
            CHECK(response.status == 200);
            CHECK(response.end == HttpResponse::End::cut);
            CHECK(house.provider.counts().calls_of("eth_getLogs") == before + 1);
        }
    }
    house.provider.change([](Script& s) { s.faults.crooked = Crooked::none; });
    CHECK(house.daemon->post(rpc("eth_getLogs", kLogs)).end == HttpResponse::End::complete);
}

TEST_CASE("a reply up to reply_buffer that breaks is asked for again", "[daemon]") {
    House house;
    house.provider.change([](Script& s) {
        s.logs_bytes = 500'000;
        s.faults.crooked = Crooked::cut_midway;
        s.faults.crooked_next = 1;
    });
    const HttpResponse response = house.daemon->post(rpc("eth_getLogs", kLogs));
    CHECK(response.status == 200);
    CHECK(response.end == HttpResponse::End::complete);
    CHECK(response.field("Weir-Attempts") == "2");
}

TEST_CASE("a reply larger than max_reply is a bad one", "[daemon]") {
    House house({"max_reply: 2MiB", "reply_buffer: 64KiB", "circuit: {failures: 1000}"});
    SECTION("as its length says") {
        const HttpResponse response = house.daemon->post(rpc("eth_getLogs", kLogs));
        CHECK(response.status == 502);
        CHECK(type_of(response.body) == "bad_upstream_reply");
    }
    SECTION("as it turns out") {
        house.provider.change([](Script& s) { s.framing = Framing::chunked; });
        const HttpResponse response = house.daemon->post(rpc("eth_getLogs", kLogs));
        CHECK(response.end == HttpResponse::End::cut);
    }
    SECTION("without an end") {
        house.provider.change([](Script& s) { s.faults.crooked = Crooked::endless; });
        const HttpResponse response = house.daemon->post(rpc("eth_getLogs", kLogs));
        CHECK(response.status == 502);
        CHECK(type_of(response.body) == "bad_upstream_reply");
    }
    SECTION("up to it all is well") {
        house.provider.change([](Script& s) { s.logs_bytes = 1'900'000; });
        CHECK(house.daemon->post(rpc("eth_getLogs", kLogs)).end == HttpResponse::End::complete);
    }
}
