#include "routing/hash_reads.hpp"

#include "support/catch.hpp"

using namespace weir;
using namespace std::chrono_literals;
using routing::HashReads;
using Refusal = HashReads::Refusal;
using Trial = HashReads::Trial;

namespace {
const routing::MethodTraits& kCall = routing::find_method("eth_call");
const routing::MethodTraits& kBalance = routing::find_method("eth_getBalance");
const routing::MethodTraits& kBlock = routing::find_method("eth_getBlockByNumber");
const core::TimePoint kNow{};
}  // namespace

TEST_CASE("nothing is asked with an object before an upstream has refused a made-up hash") {
    HashReads learned;
    CHECK(learned.needs_trial(0, kNow));
    CHECK_FALSE(learned.takes(0, kCall, kNow));
    CHECK(learned.takes(0, kBlock, kNow));  // another method answers with the block itself
    learned.note_trial(0, Trial::refused, kNow);
    CHECK_FALSE(learned.needs_trial(0, kNow));
    CHECK(learned.takes(0, kCall, kNow));
    CHECK(learned.needs_trial(1, kNow));
    learned.note_trial(1, Trial::answered, kNow);
    CHECK_FALSE(learned.takes(1, kCall, kNow));
    CHECK_FALSE(learned.needs_trial(1, kNow + 59min));
    learned.note_trial(2, Trial::unclear, kNow);
    CHECK_FALSE(learned.takes(2, kCall, kNow));
    CHECK(learned.needs_trial(2, kNow + HashReads::kUnclearKept));
}

TEST_CASE("a method that is refused by hash goes by number for a while, there alone") {
    HashReads learned;
    learned.note_trial(0, Trial::refused, kNow);
    learned.note_trial(1, Trial::refused, kNow);
    learned.refuse(0, kCall, Refusal::plain, kNow);
    CHECK_FALSE(learned.takes(0, kCall, kNow));
    CHECK(learned.takes(0, kBalance, kNow));
    CHECK(learned.takes(1, kCall, kNow));
    CHECK(learned.takes(0, kCall, kNow + HashReads::kRefusalKept));
}

TEST_CASE("what may have been a passing trouble has to come twice, with no success between") {
    HashReads learned;
    learned.note_trial(0, Trial::refused, kNow);
    learned.refuse(0, kCall, Refusal::vague, kNow);
    CHECK(learned.takes(0, kCall, kNow));
    learned.serve(0, kCall);
    learned.refuse(0, kCall, Refusal::vague, kNow);
    CHECK(learned.takes(0, kCall, kNow));
    learned.refuse(0, kCall, Refusal::vague, kNow + HashReads::kRefusalKept);
    CHECK(learned.takes(0, kCall, kNow + HashReads::kRefusalKept));  // the first one is forgotten
    learned.refuse(0, kCall, Refusal::vague, kNow + HashReads::kRefusalKept + 1s);
    CHECK_FALSE(learned.takes(0, kCall, kNow + HashReads::kRefusalKept + 1s));
}
