// Host names: every address is tried, answers are kept for a while and asked again.
#include "transport_fixture.hpp"

#include <atomic>
#include <mutex>

using namespace weir;
using namespace weir::test;
using routing::Cause;
using std::chrono::milliseconds;
using upstream::Addresses;

namespace {

void serve_all(PeerConnection& peer, int /*number*/) {
    while (!peer.read_request().empty()) {
        peer.send(good_reply("1"));
    }
}

// A name server that a test tells what to say.
class Names {
  public:
    upstream::Lookup lookup() {
        return [this](const std::string& /*host*/) -> core::Result<Addresses> {
            const std::lock_guard lock(mutex_);
            ++asked_;
            if (addresses_.empty()) {
                return core::Error{"the host name does not resolve"};
            }
            return addresses_;
        };
    }
    void say(Addresses addresses) {
        const std::lock_guard lock(mutex_);
        addresses_ = std::move(addresses);
    }
    int asked() const { return asked_; }

  private:
    std::mutex mutex_;
    Addresses addresses_;
    std::atomic<int> asked_ = 0;
};

void use_name(config::Chain& chain) { chain.upstreams[0].url.host = "node.example"; }

constexpr auto kFresh = upstream::Connection::never_stale;

}  // namespace

TEST_CASE("all addresses of a name are tried") {
    ScriptedPeer peer(serve_all);
    Names names;
    names.say({"127.0.0.9", "::1", "127.0.0.1"});
    TransportFixture fixture(peer.port(), {.lookup = names.lookup()}, use_name);
    for (int i = 0; i < 3; ++i) {
        CHECK(fixture.send({.connection = kFresh}).good());
    }
    CHECK(names.asked() == 1);
}

TEST_CASE("an address that swallows everything costs its share of the time only") {
    const BlackHole hole;
    Names names;
    // The same port on another loopback address: nobody listens there.
    names.say({"127.0.0.1", "127.0.0.2"});
    TransportFixture fixture(hole.port(), {.lookup = names.lookup()}, [](config::Chain& chain) {
        use_name(chain);
        chain.timeouts.connect = milliseconds(200);
    });
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = fixture.send();
    CHECK(outcome.cause() == Cause::connect_failed);
    CHECK(outcome.sent_nothing());
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(3));
    CHECK(outcome.failure->detail.find("refused") != std::string::npos);
}

TEST_CASE("a name that does not resolve fails, is asked again, and heals") {
    ScriptedPeer peer(serve_all);
    Names names;
    TransportFixture fixture(peer.port(), {.lookup = names.lookup()}, use_name);
    const Outcome outcome = fixture.send();
    CHECK(outcome.cause() == Cause::connect_failed);
    CHECK(outcome.sent_nothing());
    CHECK(outcome.failure->detail == "the host name does not resolve");
    CHECK_FALSE(fixture.send().good());
    CHECK(names.asked() == 1);  // a failure is remembered for a moment
    names.say({"127.0.0.1"});
    REQUIRE(fixture.drive([&] { return fixture.send().good(); }));
    CHECK(names.asked() == 2);
}

TEST_CASE("a host that moves is followed") {
    ScriptedPeer peer(serve_all);
    Names names;
    names.say({"127.0.0.9"});  // nobody there
    TransportFixture fixture(peer.port(), {.addresses = milliseconds(20), .lookup = names.lookup()},
                             use_name);
    CHECK(fixture.send().cause() == Cause::connect_failed);
    names.say({"127.0.0.1"});
    REQUIRE(fixture.drive([&] { return fixture.send({.connection = kFresh}).good(); }));
    const int asked = names.asked();
    REQUIRE(fixture.drive(
        [&] { return fixture.send({.connection = kFresh}).good() && names.asked() > asked; }));
    // What was known stays in use while the name does not resolve.
    names.say({});
    const int before = names.asked();
    REQUIRE(fixture.drive([&] {
        REQUIRE(fixture.send({.connection = kFresh}).good());
        return names.asked() > before;
    }));
}

TEST_CASE("a look-up that hangs does not hold an attempt beyond its time") {
    ScriptedPeer peer(serve_all);
    std::atomic<bool> answer = false;
    const auto slow = [&](const std::string&) -> core::Result<Addresses> {
        answer.wait(false);
        return Addresses{"127.0.0.1"};
    };
    TransportFixture fixture(peer.port(), {.lookup = slow}, use_name);
    CHECK(fixture.send({.time = milliseconds(50)}).cause() == Cause::timeout);
    upstream::Cancellation cancellation;
    const auto cancelled = fixture.start({.cancellation = &cancellation});
    const auto first = fixture.start({});
    const auto second = fixture.start({});
    fixture.drive([&] { return fixture.worker.io.poll_one() == 0; });
    cancellation.cancel();
    REQUIRE(fixture.drive([&] { return cancelled->has_value(); }));
    CHECK((*cancelled)->sent_nothing());
    answer = true;
    answer.notify_all();
    REQUIRE(fixture.drive([&] { return first->has_value() && second->has_value(); }));
    CHECK((*first)->good());
    CHECK((*second)->good());
}

TEST_CASE("the system's resolver knows localhost") {
    const auto found = upstream::system_lookup("localhost");
    REQUIRE(found.has_value());
    CHECK_FALSE(found->empty());
}
