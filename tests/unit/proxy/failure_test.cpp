// What a client is told when nobody is left to ask.
#include "proxy/failure.hpp"

#include "support/catch.hpp"

#include <chrono>

using namespace weir;
using namespace weir::proxy;
using namespace std::chrono_literals;

namespace {

GatewayError told(const Ending& ending) {
    config::Chain chain;
    chain.name = "ethereum";
    return error_of(ending, chain, core::TimePoint{1h});
}

}  // namespace

TEST_CASE("a cap alone is an overload; with a limit beside it, a rate limit") {
    Ending ending;
    ending.nobody = {.reason = routing::NoUpstream::Reason::all_tried};
    ending.at_capacity = true;
    ending.available_at = core::TimePoint{1h};
    const GatewayError capped = told(ending);
    CHECK(capped.type == ErrorType::overloaded);
    CHECK(capped.retry_after_seconds == 1);
    CHECK(capped.message ==
          "every upstream of chain ethereum has as many calls in flight as it may; retry");
    ending.unsent_write = true;
    CHECK(told(ending).type == ErrorType::overloaded);
    ending.limited = true;
    CHECK(told(ending).type == ErrorType::rate_limited);
    ending.limited = false;
    ending.last_cause = routing::Cause::rate_limited;
    CHECK(told(ending).type == ErrorType::rate_limited);
}

TEST_CASE("a call that is not tried again because too many are already says so") {
    Ending ending;
    ending.last_cause = routing::Cause::connection_lost;
    ending.retries_spent = true;
    const GatewayError held = told(ending);
    CHECK(held.type == ErrorType::bad_upstream_reply);
    CHECK(held.message ==
          "an upstream of chain ethereum gave no usable reply (connection_lost), and so many calls "
          "are tried again already that this one is not; the call may be tried again");
    ending.retries_spent = false;
    CHECK(told(ending).message ==
          "no upstream of chain ethereum gave a usable reply (connection_lost); the call may be "
          "tried again");
}

TEST_CASE("where the gateway itself had no room for a reply, no upstream is named for it") {
    Ending ending;
    ending.nobody = {.reason = routing::NoUpstream::Reason::all_tried};
    ending.last_cause = routing::Cause::connection_lost;
    CHECK(told(ending).type == ErrorType::bad_upstream_reply);
    ending.no_room = true;
    CHECK(told(ending).type == ErrorType::overloaded);
    CHECK(told(ending).retry_after_seconds == 1);
    CHECK(told(ending).message.find("memory") != std::string::npos);
}

TEST_CASE(
    "where the gateway had no descriptor for a connection, it is overloaded, for writes too") {
    Ending ending;
    ending.nobody = {.reason = routing::NoUpstream::Reason::all_tried};
    ending.last_cause = routing::Cause::connect_failed;
    for (const bool write : {false, true}) {
        ending.unsent_write = write;
        ending.no_room = true;
        CHECK(told(ending).type == ErrorType::overloaded);
        CHECK(told(ending).retry_after_seconds == 1);
        CHECK(told(ending).message.find("no descriptor") != std::string::npos);
        ending.no_room = false;
        CHECK(told(ending).type ==
              (write ? ErrorType::no_upstream : ErrorType::bad_upstream_reply));
    }
}
