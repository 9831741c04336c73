// Whose token it is, and when a client's next call may go.
#include "routing/client_book.hpp"
#include "routing/client_rate.hpp"
#include "support/catch.hpp"

#include <chrono>

using namespace weir;
using namespace weir::routing;
using namespace std::chrono_literals;

namespace {

config::Client client(const std::vector<std::string>& tokens) {
    config::Client made;
    for (const std::string& token : tokens) {
        made.tokens.emplace_back(token);
    }
    return made;
}

constexpr core::TimePoint kStart{};

}  // namespace

TEST_CASE("a token belongs to one client, each of its tokens to the same") {
    const ClientBook book(
        {client({"0123456789abcdef"}), client({"fedcba9876543210", "second!!second!!"})});
    CHECK(book.find("0123456789abcdef") == 0);
    CHECK(book.find("fedcba9876543210") == 1);
    CHECK(book.find("second!!second!!") == 1);
    CHECK_FALSE(book.find(""));
    CHECK_FALSE(book.find("0123456789abcde"));
    CHECK_FALSE(book.find("0123456789abcdef0"));
    CHECK_FALSE(book.find("0123456789ABCDEF"));
    CHECK_FALSE(ClientBook({}).find(""));
}

TEST_CASE("the token of an Authorization header") {
    CHECK(bearer_token("Bearer abc") == "abc");
    CHECK(bearer_token("bearer  abc ") == "abc");
    CHECK_FALSE(bearer_token("Bearer"));
    CHECK_FALSE(bearer_token("Basic abc"));
    CHECK_FALSE(bearer_token(""));
}

TEST_CASE("a burst goes at once, then calls line up at the rate") {
    ClientRate rate({.calls_per_second = 10, .burst = 3});
    for (int i = 0; i < 3; ++i) {
        const auto turn = rate.take(kStart, kStart);
        CHECK(turn.granted);
        CHECK(turn.at == kStart);
    }
    CHECK_FALSE(rate.take(kStart, kStart).granted);
    CHECK(rate.take(kStart, kStart).at == kStart + 100ms);
    // Those who wait take their times one after another.
    CHECK(rate.take(kStart, kStart + 1s).at == kStart + 100ms);
    CHECK(rate.take(kStart, kStart + 1s).at == kStart + 200ms);
    const auto late = rate.take(kStart, kStart + 250ms);
    CHECK_FALSE(late.granted);
    CHECK(late.at == kStart + 300ms);
    // After a pause the burst is back, and no more than the burst.
    for (int i = 0; i < 3; ++i) {
        CHECK(rate.take(kStart + 1h, kStart + 1h).granted);
    }
    CHECK_FALSE(rate.take(kStart + 1h, kStart + 1h).granted);
}

TEST_CASE("without a rate everything goes, and slow rates have a burst of one") {
    ClientRate free({});
    for (int i = 0; i < 1000; ++i) {
        CHECK(free.take(kStart, kStart).granted);
    }
    ClientRate slow({.calls_per_second = 0.5});
    CHECK(slow.take(kStart, kStart).granted);
    CHECK(slow.take(kStart, kStart).at == kStart + 2s);
    ClientRate never({.calls_per_second = 1e-300, .burst = 1'000'000'000});
    CHECK(never.take(kStart, kStart).granted);
    CHECK(never.take(kStart, kStart).granted);
}

TEST_CASE("in an hour no more go than the rate allows, whatever the arrivals") {
    ClientRate rate({.calls_per_second = 7, .burst = 20});
    int granted = 0;
    core::TimePoint now = kStart;
    for (unsigned i = 0; now < kStart + 60s; ++i) {
        granted += rate.take(now, now + std::chrono::milliseconds(i % 500)).granted ? 1 : 0;
        now += std::chrono::milliseconds(1 + i * 7919 % 90);
    }
    CHECK(granted <= 20 + 7 * 61);
    CHECK(granted >= 7 * 60);
}

TEST_CASE("a changed rate leaves of its burst the share that was left") {
    const core::TimePoint now{1h};
    const auto at_once = [now](ClientRate& rate) {
        int granted = 0;
        while (granted < 1000 && rate.take(now, now).granted) {
            ++granted;
        }
        return granted;
    };
    ClientRate before({.calls_per_second = 10, .burst = 40});
    for (int i = 0; i < 30; ++i) {
        before.take(now, now);
    }
    ClientRate faster({.calls_per_second = 100, .burst = 400}, before, now);
    CHECK(at_once(faster) == 100);
    ClientRate slower({.calls_per_second = 1, .burst = 4}, before, now);
    CHECK(at_once(slower) == 1);
    CHECK(at_once(before) == 10);
    ClientRate none({.calls_per_second = 5}, before, now);
    CHECK(at_once(none) == 0);
    ClientRate unlimited({}, before, now);
    CHECK(at_once(unlimited) == 1000);
    ClientRate limited_first({.calls_per_second = 1, .burst = 4}, unlimited, now);
    CHECK(at_once(limited_first) == 4);
    ClientRate rested({.calls_per_second = 1, .burst = 4}, before, now + 1h);
    CHECK(rested.take(now + 1h, now + 1h).granted);
}
