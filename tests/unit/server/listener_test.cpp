#include "server/listener.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace weir;
using server::Listeners;

TEST_CASE("port 0 gives one port to all workers") {
    auto opened = Listeners::open({{"127.0.0.1", 0}, {"localhost", 0}}, 3);
    REQUIRE(opened.has_value());
    const std::vector<config::Endpoint> endpoints = opened->endpoints();
    REQUIRE(endpoints.size() == 2);
    CHECK(endpoints[0].port != 0);
    CHECK(endpoints[1].port != 0);
    CHECK(endpoints[0].port != endpoints[1].port);
    for (unsigned worker = 0; worker < 3; ++worker) {
        const std::vector<server::Listener> listeners = opened->take(worker);
        REQUIRE(listeners.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            CHECK(listeners[i].socket.get() >= 0);
            CHECK(listeners[i].endpoint.port == endpoints[i].port);
        }
    }
}

TEST_CASE("a port in use is an error at once, with its address") {
    auto first = Listeners::open({{"127.0.0.1", 0}}, 2);
    REQUIRE(first.has_value());
    const config::Endpoint taken = first->endpoints().front();
    const auto second = Listeners::open({taken}, 2);
    REQUIRE(second.has_error());
    CHECK(second.error().message ==
          "cannot listen on " + taken.to_string() + ": the address is already in use");
}

TEST_CASE("a port is free again after its listeners closed") {
    config::Endpoint endpoint{"127.0.0.1", 0};
    {
        auto first = Listeners::open({endpoint}, 2);
        REQUIRE(first.has_value());
        endpoint = first->endpoints().front();
    }
    CHECK(Listeners::open({endpoint}, 2).has_value());
}

TEST_CASE("addresses that cannot be listened on") {
    for (const char* host : {"example.com", "203.0.113.7", "", "::ffff:zz"}) {
        INFO(host);
        const auto opened = Listeners::open({{host, 1}}, 1);
        REQUIRE(opened.has_error());
        CHECK(opened.error().message.starts_with("cannot listen on "));
    }
}
