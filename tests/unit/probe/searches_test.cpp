#include "probe/batch_search.hpp"
#include "probe/depth_search.hpp"
#include "support/catch.hpp"

#include <functional>
#include <vector>

using namespace weir;
using namespace weir::probe;
using routing::Cause;

namespace {

Heard heard(Cause cause, std::string result = "") {
    Heard heard;
    heard.cause = cause;
    heard.result = std::move(result);
    heard.words = "words";
    return heard;
}

struct Tried {
    BatchFinding finding;
    std::vector<std::size_t> sizes;
};

Tried search(const std::function<Heard(std::size_t)>& endpoint) {
    BatchSearch search;
    Tried tried;
    while (const auto size = search.next()) {
        tried.sizes.push_back(*size);
        REQUIRE(tried.sizes.size() <= BatchSearch::kMostTries);
        search.hear(*size, endpoint(*size));
    }
    tried.finding = search.finding();
    return tried;
}

Tried search_limit(std::size_t limit) {
    return search([limit](std::size_t size) {
        return heard(size <= limit ? Cause::answered : Cause::batch_too_large);
    });
}

}  // namespace

TEST_CASE("limits that providers set are found exactly") {
    for (const std::size_t limit : {1, 2, 3, 5, 10, 20, 25, 50}) {
        CAPTURE(limit);
        const Tried tried = search_limit(limit);
        CHECK(tried.finding.taken == limit);
        CHECK(tried.finding.is_exact());
        CHECK(tried.sizes.size() <= 7);
    }
    CHECK(search_limit(3).sizes == std::vector<std::size_t>{2, 10, 5, 3, 4});
}

TEST_CASE("any limit is found as nearly as a few arrays can tell") {
    for (std::size_t limit = 1; limit < BatchSearch::kMost; ++limit) {
        CAPTURE(limit);
        const Tried tried = search_limit(limit);
        CHECK(tried.finding.taken <= limit);
        CHECK(tried.finding.refused.value_or(0) > limit);
    }
    const Tried none = search_limit(100'000);
    CHECK(none.finding.taken == BatchSearch::kMost);
    CHECK_FALSE(none.finding.refused);
    CHECK(none.sizes.size() == 3);
}

TEST_CASE("a limit that the refusal names is asked for, and believed when it is taken") {
    const Tried tried = search([](std::size_t size) {
        Heard reply = heard(size <= 7 ? Cause::answered : Cause::batch_too_large);
        reply.named = size > 7 ? std::optional<std::size_t>(7) : std::nullopt;
        return reply;
    });
    CHECK(tried.sizes == std::vector<std::size_t>{2, 10, 7});
    CHECK(tried.finding.taken == 7);
    CHECK(tried.finding.is_exact());
    const Tried lied_to = search([](std::size_t size) {
        Heard reply = heard(size <= 3 ? Cause::answered : Cause::batch_too_large);
        reply.named = size > 7 ? std::optional<std::size_t>(7) : std::nullopt;
        return reply;
    });
    CHECK(lied_to.finding.taken == 3);
}

TEST_CASE("a rate limit or silence ends the search with what was borne out") {
    const Tried limited = search(
        [](std::size_t size) { return heard(size <= 10 ? Cause::answered : Cause::rate_limited); });
    CHECK(limited.finding.taken == 10);
    CHECK(limited.finding.limited);
    CHECK_FALSE(limited.finding.refused);
    const Tried lost = search([](std::size_t) { return heard(Cause::connection_lost); });
    CHECK(lost.finding.taken == 1);
    CHECK(lost.finding.trouble == "words");
    CHECK(lost.sizes.size() == 1);
    // An error that no rule knows is about the array all the same.
    const Tried odd = search([](std::size_t) { return heard(Cause::unknown); });
    CHECK(odd.finding.refused == 2);
}

TEST_CASE("the depth of an endpoint's state") {
    constexpr std::uint64_t kHead = 20'000'000;
    unsigned tries = 0;
    const auto depth_of = [&tries](std::uint64_t head, std::uint64_t kept) {
        DepthSearch search(head);
        tries = 0;
        while (const auto depth = search.next()) {
            REQUIRE(++tries <= DepthSearch::kMostTries);
            REQUIRE(*depth < head);
            search.hear(*depth, *depth < kept ? heard(Cause::answered, R"("0x0")")
                                              : heard(Cause::state_missing));
        }
        return search.finding();
    };
    CHECK(depth_of(kHead, kHead + 1).reaches(kHead));
    CHECK(tries == 1);
    for (const std::uint64_t kept : {2, 64, 128, 1024, 10'064, 90'001, 100'000, 2'000'000}) {
        CAPTURE(kept);
        const DepthFinding found = depth_of(kHead, kept);
        CHECK_FALSE(found.reaches(kHead));
        CHECK(found.has.value_or(0) < kept);
        CHECK(found.has.value_or(0) * 4 >= kept / 2);
        CHECK(found.lacks.value_or(0) >= kept);
    }
    CHECK_FALSE(depth_of(kHead, 1).has);
    CHECK_FALSE(depth_of(0, 1).has);
    CHECK(tries == 0);
    CHECK(depth_of(5, 6).reaches(5));

    DepthSearch limited(kHead);
    limited.hear(kHead - 1, heard(Cause::rate_limited));
    CHECK_FALSE(limited.next());
    CHECK(limited.finding().trouble == "words");
    DepthSearch null(kHead);
    null.hear(kHead - 1, heard(Cause::answered, "null"));
    CHECK(null.finding().lacks == kHead - 1);
}
