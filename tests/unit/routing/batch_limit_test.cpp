#include "routing/batch_limit.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <utility>
#include <vector>

using namespace weir;
using namespace weir::routing;
using namespace std::chrono_literals;

namespace {

// Sends batches of `wanted` calls to a provider that takes arrays of `most`: the number of
// refusals.
unsigned refusals_of(BatchLimit& limit, std::size_t wanted, std::size_t most, core::TimePoint now) {
    unsigned refusals = 0;
    for (;;) {
        const std::size_t size = std::min(wanted, limit.most(wanted, now));
        if (size < 2) {
            return refusals;
        }
        if (size <= most) {
            limit.on_taken(size, now);
            return refusals;
        }
        limit.on_refused(size, std::nullopt, now);
        ++refusals;
        REQUIRE(refusals < 20);
    }
}

}  // namespace

TEST_CASE("the numbers that refusals of arrays name") {
    const std::vector<std::pair<const char*, std::optional<std::size_t>>> cases = {
        {"Batch of more than 3 requests are not allowed on free tier", 3},
        {"batch limit 100 exceeded (can increase by --rpc.batch.limit)", 100},
        {"batch size exceed limit 500", 500},
        {"Batch request amount 1001 exceeds max 100", 100},
        {"batch limit 50 exceeded: 1001 requests given", 50},
        {"The batch request was too large \"Exceeded max limit of 10\"", 10},
        {"batch too large", std::nullopt},
        {"max 5000 calls", std::nullopt},
        {"code -32600: too many RPC calls in batch request", std::nullopt},
        {"limit of 10KB in batch", std::nullopt},
    };
    for (const auto& [text, named] : cases) {
        INFO(text);
        CHECK(named_batch_limit(text, 1001) == named);
    }
}

TEST_CASE("what is stated is where it begins, and never exceeded") {
    const core::TimePoint now{};
    CHECK(BatchLimit(0, 100).most(1000, now) == 100);
    CHECK(BatchLimit(0, 100).known() == std::nullopt);
    CHECK_FALSE(BatchLimit(0, 100).is_borne_out(2));
    CHECK(BatchLimit(3, 100).most(1000, now) == 3);
    CHECK(BatchLimit(3, 100).known() == 3U);
    CHECK(BatchLimit(3, 100).is_borne_out(3));
    CHECK(BatchLimit(1000, 100).most(1000, now) == 100);
}

TEST_CASE("a limit is found in a few refusals, once, and a second batch goes out at once") {
    for (const std::size_t most : {1U, 2U, 3U, 10U, 50U, 99U, 100U}) {
        BatchLimit limit(0, 100);
        const core::TimePoint now{};
        CHECK(refusals_of(limit, 1000, most, now) <= 7);
        CHECK(refusals_of(limit, 1000, most, now + 1min) == 0);
        CHECK(limit.most(1000, now + 1min) <= std::max<std::size_t>(most, 1));
    }
}

TEST_CASE("a limit that rises is found by trials, with a pause that doubles in vain") {
    BatchLimit limit(0, 100);
    core::TimePoint now{};
    refusals_of(limit, 1000, 10, now);
    CHECK(limit.most(1000, now + 9min) == 6);
    unsigned refusals = 0;
    for (int i = 0; i < 24 * 60; ++i) {
        now += 1min;
        refusals += refusals_of(limit, 1000, 10, now);
    }
    CHECK(limit.known() == 9U);  // 6, then 9; 13 is too many
    CHECK(refusals <= 8);
    // It takes all now.
    for (int i = 0; i < 48 * 60; ++i) {
        now += 1min;
        CHECK(refusals_of(limit, 1000, 1000, now) == 0);
    }
    CHECK(limit.most(1000, now) == 100);
}

TEST_CASE("a limit that falls is followed at once; what was sent before says nothing new") {
    BatchLimit limit(0, 100);
    const core::TimePoint now{};
    CHECK(refusals_of(limit, 1000, 1000, now) == 0);
    CHECK(limit.is_borne_out(100));
    limit.on_refused(100, 10, now);
    limit.on_refused(100, 10, now);
    limit.on_refused(100, std::nullopt, now);
    CHECK(limit.known() == 10U);
    CHECK_FALSE(limit.is_borne_out(10));
    CHECK(limit.most(1000, now + 10min) == 15);
    CHECK(limit.most(1000, now + 10min) == 10);  // one trial at a time
    CHECK(limit.admitted(15) == 15);
    CHECK(limit.admitted(14) == 10);
}

TEST_CASE("arrays of which only the first calls are answered") {
    BatchLimit limit(0, 100);
    const core::TimePoint now{};
    limit.on_cut(100, 20, now);
    CHECK(limit.most(1000, now) == 100);  // once is chance
    limit.on_cut(100, 50, now);
    CHECK(limit.most(1000, now) == 100);  // as is another place
    limit.on_taken(40, now);
    limit.on_cut(100, 50, now);
    CHECK(limit.most(1000, now) == 100);  // or if arrays were whole in between
    limit.on_cut(60, 50, now);
    CHECK(limit.most(1000, now) == 50);
}

TEST_CASE("arrays that fail without a word while single calls are answered") {
    BatchLimit limit(0, 100);
    const core::TimePoint now{};
    limit.on_lost(100, now);
    limit.on_lost(100, now);
    CHECK(limit.most(1000, now) == 100);  // nothing is answered: the upstream is ill
    limit.on_single_answer();
    limit.on_lost(100, now);
    CHECK(limit.most(1000, now) == 25);
    limit.on_lost(25, now);
    limit.on_single_answer();
    limit.on_taken(25, now);
    limit.on_lost(25, now);
    CHECK(limit.most(1000, now) == 25);
}
