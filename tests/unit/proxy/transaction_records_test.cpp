#include "proxy/transaction_records.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <string>

using namespace weir;
using namespace weir::proxy;
using namespace std::chrono_literals;
using Step = TransactionRecords::Step;

namespace {

WriteEnd end_with(WriteOutcome outcome) {
    WriteEnd end;
    end.outcome = outcome;
    return end;
}

struct Fixture {
    TransactionRecords records;
    core::TimePoint now{};

    TransactionRecords::Claim claim(const std::string& bytes, const std::string& hash = "0x1") {
        return records.claim(0, hash, bytes, 1h, now, now);
    }
    void settle(const TransactionRecords::Ticket& record, WriteOutcome outcome) {
        records.settle(record, end_with(outcome), now);
    }
};

}  // namespace

TEST_CASE("the same bytes join while the first are on their way") {
    Fixture f;
    const auto first = f.claim("a");
    CHECK(first.step == Step::send);
    const auto second = f.claim("a");
    CHECK(second.step == Step::join);
    CHECK(second.record == first.record);
    int woken = 0;
    CHECK_FALSE(f.records.end_of(second.record, [&] { ++woken; }));
    CHECK(f.records.find("0x1")->outcome == WriteOutcome::pending);
    f.settle(first.record, WriteOutcome::accepted);
    CHECK(woken == 1);
    CHECK(f.records.end_of(second.record, [] {})->outcome == WriteOutcome::accepted);
}

TEST_CASE("those of which nobody knows what became of them are listed, newest first") {
    Fixture f;
    CHECK(f.records.unknown(9).empty());
    for (const char* hash : {"0x1", "0x2", "0x3"}) {
        const auto claim = f.claim("a", hash);
        f.records.note(claim.record, {.at = {}, .upstream = "u", .event = "sent", .cause = {}});
        f.settle(claim.record, WriteOutcome::unknown);
        f.now += 1s;
    }
    f.settle(f.claim("a", "0x4").record, WriteOutcome::accepted);
    CHECK(f.claim("a", "0x5").step == Step::send);
    const auto unknown = f.records.unknown(2);
    REQUIRE(unknown.size() == 2);
    CHECK(unknown[0].hash == "0x3");
    CHECK(unknown[0].events.size() == 1);
    CHECK(unknown[1].hash == "0x2");
}

TEST_CASE("other bytes, another chain and another hash never join") {
    Fixture f;
    CHECK(f.claim("a").step == Step::send);
    CHECK(f.claim("b").step == Step::send);
    CHECK(f.claim("a", "0x2").step == Step::send);
    CHECK(f.records.claim(1, "0x1", "a", 1h, f.now, f.now).step == Step::send);
    CHECK(f.records.size() == 4);
}

TEST_CASE("whoever came before the end has not asked again") {
    for (const WriteOutcome outcome :
         {WriteOutcome::accepted, WriteOutcome::rejected, WriteOutcome::unknown}) {
        const bool rejected = outcome == WriteOutcome::rejected;  // a rejection is never replayed
        Fixture f;
        const core::TimePoint received = f.now;
        const auto first = f.claim("a");
        f.now += 1min;
        f.settle(first.record, outcome);
        f.now += 1min;
        const auto late = f.records.claim(0, "0x1", "a", 1h, received, f.now);
        CHECK(late.step == (rejected ? Step::send : Step::answer));
        CHECK(f.records.find("0x1")->outcome == (rejected ? WriteOutcome::pending : outcome));
    }
}

TEST_CASE("what repeated bytes meet depends on how the first ended") {
    struct Row {
        WriteOutcome outcome;
        core::Duration later;
        Step step;
    };
    const Row rows[] = {
        {WriteOutcome::accepted, 29s, Step::answer},
        {WriteOutcome::accepted, 30s, Step::look_first},
        {WriteOutcome::unknown, 0s, Step::look_first},
        {WriteOutcome::unknown, 10min, Step::look_first},
        {WriteOutcome::rejected, 0s, Step::send},
        {WriteOutcome::rejected, 10min, Step::send},
    };
    for (const Row& row : rows) {
        Fixture f;
        f.settle(f.claim("a").record, row.outcome);
        f.now += row.later;
        const auto again = f.claim("a");
        CHECK(again.step == row.step);
        if (row.step != Step::answer) {
            CHECK(f.claim("a").step == Step::join);
        }
    }
}

TEST_CASE("records end with their time, pending ones never") {
    Fixture f;
    const auto pending = f.claim("pending", "0x1");
    f.settle(f.claim("done", "0x2").record, WriteOutcome::accepted);
    f.now += 2h;
    CHECK(f.claim("new", "0x3").step == Step::send);
    CHECK(f.records.find("0x1"));
    CHECK_FALSE(f.records.find("0x2"));
    CHECK(f.claim("pending", "0x1").step == Step::join);
}

TEST_CASE("records are bounded in bytes, and the oldest settled ones make room") {
    Fixture f;
    const auto pending = f.claim(std::string(1 << 20, 'p'), "0xp");
    for (int i = 0; i < 200; ++i) {
        const auto claim = f.claim(std::string(1 << 20, 'a'), "0x" + std::to_string(i));
        f.settle(claim.record, WriteOutcome::accepted);
    }
    CHECK(f.records.size() <= TransactionRecords::kMostBytes >> 20U);
    CHECK(f.records.find("0xp"));
    CHECK(f.records.find("0x199"));
    CHECK_FALSE(f.records.find("0x0"));
}

TEST_CASE("a record keeps what happened, and who took the transaction") {
    Fixture f;
    const auto claim = f.claim("a");
    for (std::size_t i = 0; i < 2 * TransactionRecords::kMostEvents; ++i) {
        f.records.note(claim.record, {.at = {}, .upstream = "u", .event = "sent", .cause = {}});
    }
    CHECK_FALSE(f.records.holder(0, "0x1"));
    WriteEnd end = end_with(WriteOutcome::accepted);
    end.upstream = 3;
    f.records.settle(claim.record, end, f.now);
    CHECK(f.records.holder(0, "0x1") == std::optional<routing::UpstreamIndex>(3));
    CHECK_FALSE(f.records.holder(1, "0x1"));
    CHECK(f.records.find("0x1")->events.size() == TransactionRecords::kMostEvents);
}
