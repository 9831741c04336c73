#include "chain/held_blocks.hpp"

#include "support/catch.hpp"

using namespace weir;
using namespace std::chrono_literals;

TEST_CASE("what an upstream was seen to have is known until it expires or is taken back") {
    const core::TimePoint now{};
    chain::HeldBlocks held;
    held.note(1, {100, "0xa"}, now + 1s, now);
    CHECK(held.has(1, {100, "0xa"}, now));
    CHECK_FALSE(held.has(2, {100, "0xa"}, now));
    CHECK_FALSE(held.has(1, {100, "0xb"}, now));
    CHECK_FALSE(held.has(1, {99, "0xa"}, now));
    CHECK_FALSE(held.has(1, {100, "0xa"}, now + 1s));
    held.note(1, {100, "0xa"}, now + 3s, now);
    CHECK(held.has(1, {100, "0xa"}, now + 2s));
    held.forget(1, {99, "0xa"});
    CHECK(held.has(1, {100, "0xa"}, now));
    held.forget(1, {100, "0xa"});
    CHECK_FALSE(held.has(1, {100, "0xa"}, now));
}

TEST_CASE("what is known of blocks is bounded: the expired go first, then the oldest") {
    const core::TimePoint now{};
    chain::HeldBlocks held;
    for (std::size_t i = 0; i < 3 * chain::HeldBlocks::kMost; ++i) {
        held.note(0, {i, std::to_string(i)}, now + 1s + core::Duration(i), now);
    }
    const std::size_t last = 3 * chain::HeldBlocks::kMost - 1;
    CHECK(held.size() == chain::HeldBlocks::kMost);
    CHECK_FALSE(held.has(0, {0, "0"}, now));
    CHECK(held.has(0, {last, std::to_string(last)}, now));
    held.note(0, {0, "next"}, now + 20s, now + 10s);
    CHECK(held.size() == 1);
}
