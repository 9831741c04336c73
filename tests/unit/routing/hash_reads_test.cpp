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
const routing::MethodTraits& kLogs = routing::find_method("eth_getLogs");
const routing::MethodTraits& kBlock = routing::find_method("eth_getBlockByNumber");
const core::TimePoint kNow{};
}  // namespace

TEST_CASE("nothing is asked by hash before the method has been tried there with a made-up one") {
    HashReads learned;
    for (const routing::MethodTraits* method : {&kCall, &kLogs}) {
        INFO(method->name);
        CHECK(learned.needs_trial(0, *method, kNow));
        CHECK_FALSE(learned.takes(0, *method, kNow));
        learned.note_trial(0, *method, Trial::unknown_block, kNow);
        CHECK_FALSE(learned.needs_trial(0, *method, kNow));
        CHECK(learned.takes(0, *method, kNow));
        CHECK(learned.needs_trial(0, *method, kNow + HashReads::kTrialKept));
        CHECK(learned.needs_trial(1, *method, kNow));
    }
    CHECK(learned.needs_trial(0, kBalance, kNow));  // what one method says is no other's word
    CHECK_FALSE(learned.takes(0, kBalance, kNow));
    CHECK_FALSE(learned.needs_trial(0, kBlock, kNow));  // a method for hashes cannot overlook one
    CHECK(learned.takes(0, kBlock, kNow));
}

TEST_CASE("a trial that shows no trust is kept as long as what it shows may hold") {
    struct Row {
        Trial trial;
        core::Duration kept;
    };
    for (const Row& row :
         {Row{Trial::answered, HashReads::kTrialKept}, Row{Trial::refused, HashReads::kRefusalKept},
          Row{Trial::unclear, HashReads::kUnclearKept}}) {
        HashReads learned;
        learned.note_trial(0, kCall, row.trial, kNow);
        CHECK_FALSE(learned.takes(0, kCall, kNow));
        CHECK_FALSE(learned.needs_trial(0, kCall, kNow + row.kept - 1ms));
        CHECK(learned.needs_trial(0, kCall, kNow + row.kept));
    }
    HashReads silent;
    silent.note_silence(0, kNow);
    CHECK_FALSE(silent.needs_trial(0, kCall, kNow));
    CHECK_FALSE(silent.needs_trial(0, kBalance, kNow));
    CHECK_FALSE(silent.takes(0, kBalance, kNow));
    CHECK(silent.needs_trial(1, kCall, kNow));
    CHECK(silent.needs_trial(0, kCall, kNow + HashReads::kUnclearKept));
}

TEST_CASE("a method that is refused by hash goes by number for a while, there alone") {
    HashReads learned;
    learned.refuse(0, kBlock, Refusal::plain, kNow);
    CHECK_FALSE(learned.takes(0, kBlock, kNow));
    CHECK(learned.takes(1, kBlock, kNow));
    CHECK(learned.takes(0, kBlock, kNow + HashReads::kRefusalKept));
}

TEST_CASE("what may have been a passing trouble has to come twice, with no success between") {
    HashReads learned;
    learned.refuse(0, kBlock, Refusal::vague, kNow);
    CHECK(learned.takes(0, kBlock, kNow));
    learned.serve(0, kBlock);
    learned.refuse(0, kBlock, Refusal::vague, kNow);
    CHECK(learned.takes(0, kBlock, kNow));
    learned.refuse(0, kBlock, Refusal::vague, kNow + HashReads::kRefusalKept);
    CHECK(learned.takes(0, kBlock, kNow + HashReads::kRefusalKept));  // the first one is forgotten
    learned.refuse(0, kBlock, Refusal::vague, kNow + HashReads::kRefusalKept + 1s);
    CHECK_FALSE(learned.takes(0, kBlock, kNow + HashReads::kRefusalKept + 1s));
}

TEST_CASE("who takes every hash for an unknown block goes by number, unless one was ever served") {
    HashReads learned;
    learned.note_trial(0, kCall, Trial::unknown_block, kNow);
    learned.note_trial(1, kCall, Trial::unknown_block, kNow);
    learned.serve(1, kCall);
    for (int i = 0; i < 7; ++i) {
        learned.miss(0, kCall, kNow);
        learned.miss(1, kCall, kNow);
    }
    CHECK(learned.takes(0, kCall, kNow));
    for (int i = 0; i < 100; ++i) {
        learned.miss(0, kCall, kNow);
        learned.miss(1, kCall, kNow);
    }
    CHECK_FALSE(learned.takes(0, kCall, kNow));
    CHECK(learned.needs_trial(0, kCall, kNow + HashReads::kRefusalKept));
    CHECK(learned.takes(1, kCall, kNow));
}
