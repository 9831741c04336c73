// What is believed of `safe` and `finalized`.
#include "unit/chain/view_fixture.hpp"

#include <string>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using chain::Tag;

namespace {

struct Tags : ViewFixture {
    using ViewFixture::ViewFixture;

    void finalized(std::size_t upstream, std::uint64_t number, const char* fork = "") {
        view.observe_tag(upstream, Tag::finalized,
                         chain::BlockId{number, "0x" + std::to_string(number) + fork}, now);
    }
    void lacks(std::size_t upstream) {
        view.observe_tag(upstream, Tag::finalized, std::nullopt, now);
    }
    std::uint64_t believed() const {
        const auto block = view.settled().finalized;
        return block ? block->block.number : 0;
    }
    std::string believed_hash() const { return view.settled().finalized->block.hash; }
    void heads(std::uint64_t number, std::size_t upstreams) {
        for (std::size_t i = 0; i < upstreams; ++i) {
            head(i, number);
        }
    }
};

}  // namespace

TEST_CASE("with one upstream its word is what is finalized, and each tag stands for itself") {
    Tags f(1);
    f.finalized(0, 36);
    CHECK(f.believed() == 0);  // before any head
    f.head(0, 100);
    CHECK(f.believed() == 36);
    CHECK_FALSE(f.view.settled().safe);
    f.view.observe_tag(0, Tag::safe, chain::BlockId{68, "0x68"}, f.now);
    CHECK(f.view.settled().safe->block.number == 68);
    CHECK(f.view.settled().safe->at == f.now);
    CHECK(f.believed() == 36);
}

TEST_CASE("of two upstreams the lower word holds, of three the highest that two reach") {
    Tags two(2);
    two.heads(100, 2);
    two.finalized(0, 68);
    CHECK(two.believed() == 68);
    two.finalized(1, 36);
    CHECK(two.believed() == 36);

    Tags three(3);
    three.heads(100, 3);
    three.finalized(0, 99);
    three.finalized(1, 36);
    three.finalized(2, 68);
    CHECK(three.believed() == 68);
}

TEST_CASE("what lies beyond the head, or beyond its own head, is not believed") {
    Tags f(3);
    f.heads(100, 3);
    f.finalized(0, 901'000);
    CHECK(f.believed() == 0);
    f.finalized(1, 36);
    CHECK(f.believed() == 36);
    f.head(0, 901'000);
    f.finalized(0, 900'000);
    CHECK(f.believed() == 36);
}

TEST_CASE("only those that count have a say") {
    Tags f(3);
    f.heads(100, 3);
    f.finalized(0, 36);
    f.finalized(1, 68);
    f.finalized(2, 68);
    CHECK(f.believed() == 68);
    f.view.observe_chain_id(1, 5, f.now);
    CHECK(f.believed() == 36);
    f.view.set_counted(0, false, f.now);
    CHECK(f.believed() == 68);
}

TEST_CASE("where two name one height, the hash that most name is believed") {
    Tags f(3);
    f.heads(100, 3);
    f.finalized(0, 68, "f");
    f.finalized(1, 68);
    f.finalized(2, 68);
    CHECK(f.believed_hash() == "0x68");
}

TEST_CASE("other finalized blocks at one height are on record, once for each block") {
    Tags f(2);
    f.heads(100, 2);
    f.finalized(0, 68);
    CHECK(f.view.evidence().kept().empty());
    f.finalized(1, 68, "f");
    f.finalized(1, 68, "f");
    REQUIRE(f.view.evidence().kept().size() == 1);
    const chain::Disagreement& noted = f.view.evidence().kept().back();
    CHECK(noted.kind == chain::DisagreementKind::wrong_network);
    CHECK(noted.upstream == 1);
    CHECK(noted.other == 0U);
    CHECK(noted.block.hash == "0x68f");
    CHECK(noted.other_hash == "0x68");
    f.finalized(1, 69);
    f.finalized(0, 69);
    CHECK(f.view.evidence().kept().size() == 1);
}

TEST_CASE("an upstream without the tag is known as such until it has it") {
    Tags f(2);
    f.heads(100, 2);
    f.finalized(0, 68);
    f.finalized(1, 36);
    CHECK(f.believed() == 36);
    f.lacks(1);
    CHECK(f.view.tagged().lacks(1, Tag::finalized));
    CHECK_FALSE(f.view.tagged().lacks(1, Tag::safe));
    CHECK_FALSE(f.view.tagged().of(1).finalized);
    CHECK(f.believed() == 68);
    f.finalized(1, 68);
    CHECK_FALSE(f.view.tagged().lacks(1, Tag::finalized));
}
