#include "routing/retry_after.hpp"

#include "support/catch.hpp"

#include <string>

using namespace weir::routing;
using namespace std::chrono_literals;
using weir::core::Duration;

namespace {

constexpr const char* kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

}  // namespace

TEST_CASE("an IMF-fixdate is read to the second") {
    CHECK(parse_http_date(kDate) == 784111777);
    CHECK(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT") == 0);
    CHECK(parse_http_date("Thu, 29 Feb 2024 12:00:00 GMT") == 1709208000);
    for (const char* bad : {"", "Sun, 06 Nov 1994 08:49:37", "Sunday, 06-Nov-94 08:49:37 GMT",
                            "Sun Nov  6 08:49:37 1994", "Sun, 31 Feb 1994 08:49:37 GMT",
                            "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 ovD 1994 08:49:37 GMT",
                            "Sun, 06 Nov 19x4 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC"}) {
        INFO(bad);
        CHECK_FALSE(parse_http_date(bad).has_value());
    }
}

TEST_CASE("Retry-After in seconds") {
    CHECK(parse_retry_after("3", "") == Duration(3s));
    CHECK(parse_retry_after(" 12\t", "") == Duration(12s));
    CHECK(parse_retry_after("601", "") == Duration(601s));
    CHECK(parse_retry_after("86400", "") == Duration(24h));
    for (const std::string& bad :
         {std::string(), std::string(" "), std::string("0"), std::string("000"), std::string("-5"),
          std::string("2.5"), std::string("+3"), std::string("3s"), std::string("soon"),
          std::string("1e3"), std::string("3, 4"), std::string("0x10"), std::string("86401"),
          std::string("99999999999"), std::string(400, '9')}) {
        INFO(bad);
        CHECK_FALSE(parse_retry_after(bad, kDate).has_value());
    }
}

TEST_CASE("Retry-After as a date counts from the reply's own date") {
    CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:40 GMT", kDate) == Duration(3s));
    CHECK(parse_retry_after("Mon, 07 Nov 1994 08:49:37 GMT", kDate) == Duration(24h));
    CHECK_FALSE(parse_retry_after("Mon, 07 Nov 1994 08:49:38 GMT", kDate).has_value());
    CHECK_FALSE(parse_retry_after(kDate, kDate).has_value());
    CHECK_FALSE(parse_retry_after("Sun, 06 Nov 1994 08:49:30 GMT", kDate).has_value());
    CHECK_FALSE(parse_retry_after("Sun, 06 Nov 1994 08:49:40 GMT", "").has_value());
    CHECK_FALSE(parse_retry_after("Sun, 06 Nov 1994 08:49:40 GMT", "garbage").has_value());
}

TEST_CASE("without a date of the reply's own, the gateway's clock will do, for times not too far") {
    const OwnClock clock{.now = weir::core::WallTime(784111777s), .reach = 10min};  // kDate
    const char* const soon = "Sun, 06 Nov 1994 08:49:40 GMT";
    CHECK(parse_retry_after(soon, "", clock) == Duration(3s));
    CHECK(parse_retry_after(soon, "garbage", clock) == Duration(3s));
    CHECK(parse_retry_after("Sun, 06 Nov 1994 08:59:37 GMT", "", clock) == Duration(10min));
    CHECK_FALSE(parse_retry_after("Sun, 06 Nov 1994 08:59:38 GMT", "", clock).has_value());
    CHECK_FALSE(parse_retry_after(kDate, "", clock).has_value());
    // The reply's own comes first, and needs no bound but kMaxWait.
    CHECK(parse_retry_after("Mon, 07 Nov 1994 08:49:37 GMT", kDate, clock) == Duration(24h));
    CHECK_FALSE(parse_retry_after(soon, soon, clock).has_value());
    CHECK(wait_in_value("784111787", "", clock) == std::nullopt);  // no epoch: a delay of decades
    const OwnClock later{.now = weir::core::WallTime(1700000000s), .reach = 10min};
    CHECK(wait_in_value("1700000005", "", later) == Duration(5s));
    CHECK(wait_in_value("1700000005500", "", later) == Duration(5500ms));
    CHECK(wait_in_value("\"2023-11-14T22:13:50Z\"", "", later) == Duration(30s));
    CHECK_FALSE(wait_in_value("1700000601", "", later).has_value());
    CHECK_FALSE(wait_in_value("1699999999", "", later).has_value());
    HttpHead head;
    head.limits = {{"x-ratelimit-reset", "1700000007"}};
    head.clock = later;
    CHECK(find_wait({wait_source("x-ratelimit-reset")}, head, Complaint()) == Duration(7s));
}

TEST_CASE("a wait in words") {
    CHECK(wait_in_text("call rate limit exhausted, retry in 10s") == Duration(10s));
    CHECK(wait_in_text("retry in 5m30s") == Duration(330s));
    CHECK(wait_in_text("limit will reset in 60 seconds") == Duration(60s));
    CHECK(wait_in_text("please try again in 4ms") == Duration(4ms));
    CHECK(wait_in_text("retry after 2 minutes.") == Duration(2min));
    CHECK(wait_in_text("retry in 1.5s") == Duration(1500ms));
    CHECK(wait_in_text("try again in 7") == Duration(7s));
    CHECK(wait_in_text("retry in 20h") == Duration(20h));
    CHECK(wait_in_text("retry in 1 day") == Duration(24h));
    CHECK(wait_in_text("retry in 5 mins") == Duration(5min));
    CHECK(wait_in_text("retry in 7. thank you") == Duration(7s));
    CHECK(wait_in_text("quota will be replenished in 02:15:31.") == Duration(8131s));
    CHECK(wait_in_text("retry in 00:00:05") == Duration(5s));
    for (const char* none :
         {"retry in 7 years", "retry in 7 weeks", "retry in 7 months", "retry in 7 somethings",
          "retry in 7 hourglasses", "retry in 7 дней", "retry in 7years", "retry in 5m3 years",
          "retry in 2 days", "retry in 12:30", "retry in 2:15:31 pm", "retry in 1:2:3",
          "retry after 2025-01-01", "retry after 1/2/2025", "retry in 5m10:10:10",
          "retry in 00:00:00", "retry in 99:00:00"}) {
        INFO(none);
        CHECK_FALSE(wait_in_text(none).has_value());
    }
    CHECK_FALSE(wait_in_value("\"7 years\"", "").has_value());
    for (const char* none : {"", "retry in 99999h", "retry in", "retry in a while", "retry in 0s",
                             "10s", "again in -1s"}) {
        INFO(none);
        CHECK_FALSE(wait_in_text(none).has_value());
    }
}

TEST_CASE("a wait in the error's data comes before its words") {
    const std::vector<WaitSource> sources = {wait_source("body.backoff_seconds"),
                                             wait_source("body.try_again_in"), wait_source("text")};
    const auto wait_in_error = [&sources](const Complaint& complaint) {
        return find_wait(sources, HttpHead(), complaint);
    };
    Complaint error;
    error.texts = {"retry in 9s"};
    error.data = R"({"rate":{"backoff_seconds":30.5}})";
    CHECK(wait_in_error(error) == Duration(30500ms));
    error.data = R"({"backoff_seconds":2})";
    CHECK(wait_in_error(error) == Duration(2s));
    error.data = R"({"try_again_in":"350ms"})";
    CHECK(wait_in_error(error) == Duration(350ms));
    for (const char* useless : {R"({"backoff_seconds":0})", R"({"backoff_seconds":-3})",
                                R"({"backoff_seconds":null})", R"("text")", "[1]", ""}) {
        INFO(useless);
        error.data = useless;
        CHECK(wait_in_error(error) == Duration(9s));
    }
}

TEST_CASE("a wait beside the error counts as one within, and what the call sent does not") {
    struct Row {
        const char* body;
        std::optional<Duration> wait;
    };
    for (const Row& row : {
             Row{R"({"retry_after":5})", Duration(5s)},
             Row{R"({"retryAfter":"5"})", Duration(5s)},
             Row{R"({"Retry-After":"5"})", Duration(5s)},
             Row{R"({"error":"x","meta":{"RETRY_AFTER":5}})", Duration(5s)},
             Row{R"({"error":{"retry_after":5},"retry_after":9})", Duration(5s)},
             Row{R"({"error":{"data":{"retry_after":5},"retry_after":9}})", Duration(5s)},
             Row{R"({"error":{"details":[1,{"retry_after":"5s"}]}})", Duration(5s)},
             Row{R"({"retry_after":0,"retryAfter":5})", Duration(5s)},
             Row{R"({"retry_after_ms":5})", Duration(5ms)},
             Row{R"({"msBeforeNext":5})", Duration(5ms)},
             Row{R"({"reset_at":"2023-11-14T22:13:25+00:00"})", Duration(5s)},
             Row{R"({"reset_at":"2023-11-14T22:13:25.75Z"})", Duration(5s)},
             Row{R"({"reset_at":"2023-11-14T22:13:25+01:00"})", std::nullopt},
             Row{R"({"error":{"request":{"params":[{"retry_after":5}]}}})", std::nullopt},
             Row{R"({"error":{"params":[{"retry_after":5}]}})", std::nullopt},
             Row{R"({"params":{"retry_after":5}})", std::nullopt},
             Row{R"({"retry_after":{"retry":5}})", std::nullopt},
             Row{R"({"retry_after":[5]})", std::nullopt},
             Row{R"({"retry_after_hours":5})", std::nullopt},
             Row{R"("retry_after")", std::nullopt},
         }) {
        INFO(row.body);
        HttpHead head;
        head.date = "Tue, 14 Nov 2023 22:13:20 GMT";
        const std::vector<WaitSource> sources = {
            wait_source("body.retry_after"), wait_source("body.retry_after_ms"),
            wait_source("body.ms_before_next"), wait_source("body.reset_at")};
        CHECK(find_wait(sources, head, read_stray_complaint(row.body)) == row.wait);
    }
}

TEST_CASE("a wait is above zero however small its number") {
    CHECK(wait_in_value("0.000000000000202", "") > weir::core::Duration::zero());
    CHECK_FALSE(wait_in_value("0", "").has_value());
    CHECK_FALSE(wait_in_value("0.0", "").has_value());
}

TEST_CASE("a reset is a delay, or a time when it is large") {
    const std::vector<WaitSource> sources = {wait_source("x-ratelimit-reset"),
                                             wait_source("ratelimit")};
    struct Row {
        const char* name;
        const char* value;
        const char* date;
        std::optional<Duration> wait;
    };
    const char* const now = "Tue, 14 Nov 2023 22:13:20 GMT";
    for (const Row& row : {
             Row{"x-ratelimit-reset", "12", "", Duration(12s)},
             Row{"x-ratelimit-reset", "12;w=60", "", Duration(12s)},
             Row{"x-ratelimit-reset", "1m30s", "", Duration(90s)},
             Row{"x-ratelimit-reset", "1700000005", now, Duration(5s)},
             Row{"x-ratelimit-reset", "1700000005500", now, Duration(5500ms)},
             Row{"x-ratelimit-reset", "1699999999", now, std::nullopt},
             Row{"x-ratelimit-reset", "1700000005", "", std::nullopt},
             Row{"x-ratelimit-reset", "0", now, std::nullopt},
             Row{"x-ratelimit-reset", "-4", now, std::nullopt},
             Row{"x-ratelimit-reset", "soon", now, std::nullopt},
             Row{"ratelimit", "limit=10, remaining=0, reset=5", "", Duration(5s)},
             Row{"ratelimit", "\"default\";r=0;t=7", "", Duration(7s)},
             Row{"x-other", "12", "", std::nullopt},
         }) {
        INFO(row.name << ": " << row.value);
        HttpHead head;
        head.date = row.date;
        head.limits = {{row.name, row.value}};
        CHECK(find_wait(sources, head, Complaint()) == row.wait);
    }
    CHECK(wait_in_value("\"2023-11-14T22:13:50Z\"", now) == Duration(30s));
    CHECK_FALSE(wait_in_value("\"2023-11-14T22:13:10Z\"", now).has_value());
}
