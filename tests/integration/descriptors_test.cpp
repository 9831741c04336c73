// File descriptors: how many the program takes, and that silent clients take none from whoever is
// served.
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/daemon_figures.hpp"
#include "support/process_usage.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <memory>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace weir;
using namespace weir::test;
using simulator::Script;

namespace {

std::vector<std::unique_ptr<RawClient>> silent_clients(const std::string& address,
                                                       std::size_t count) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (std::size_t i = 0; i < count; ++i) {
        clients.push_back(std::make_unique<RawClient>(address));
    }
    return clients;
}

}  // namespace

TEST_CASE("the soft limit of descriptors is raised to the hard one", "[daemon]") {
    rlimit limit{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    REQUIRE(limit.rlim_max > 300);
    Simulators simulators;
    DaemonConfig config = DaemonConfig::with({simulators.add().url()});
    config.ulimit = "-Sn 300";
    const Daemon daemon(config);
    CHECK(metric(daemon, "process_max_fds") == static_cast<double>(limit.rlim_max));
}

TEST_CASE("clients that say nothing leave descriptors to upstreams and the admin listener",
          "[daemon]") {
    Simulators simulators;
    simulator::Provider& provider = simulators.add();
    DaemonConfig config = DaemonConfig::with({provider.url()});
    config.ulimit = "-n 80";
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    const auto told = daemon.process().wait_for_line([](const std::string& line) {
        return line.find("the descriptors allow fewer client connections") != std::string::npos;
    });
    REQUIRE(told);
    CHECK(told->find(R"("level":"warn")") != std::string::npos);
    CHECK(told->find(R"("max_connections":10000)") != std::string::npos);
    CHECK(told->find(R"("descriptors":80)") != std::string::npos);

    RawClient before(daemon.rpc_address());
    REQUIRE(before.post("/", rpc("eth_gasPrice")).status == 200);
    const auto silent = silent_clients(daemon.rpc_address(), 120);
    for (int round = 0; round < 20; ++round) {
        // Lost connections to the upstream are opened anew.
        provider.change([](Script& script) { script.faults.drop_next = 1; });
        CHECK(before.post("/", rpc("eth_gasPrice")).status == 200);
        CHECK(daemon.admin("/livez").status == 200);
        CHECK(daemon.admin("/metrics").status == 200);
    }
    CHECK(open_descriptors(daemon.process().pid()) < 80);
    CHECK(daemon.wait_for_state("a", "fit"));
    CHECK(metric(daemon, R"(weir_upstream_attempts_total{chain="ethereum",upstream="a",)"
                         R"(cause="connect_failed"})") == 0);

    // Beyond what there is room for: told so, at once.
    CHECK(wait_until([&] {
        RawClient late(daemon.rpc_address());
        try {
            const HttpResponse response = late.read_response(std::chrono::milliseconds(500));
            return response.status == 503 && type_of(response.body) == "overloaded";
        } catch (const std::runtime_error&) {
            return false;  // so many are being told already
        }
    }));
}
