// What upstreams name as `safe` and `finalized`, and what is believed of it. Pure.
#pragma once

#include "chain/observation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weir::chain {

// An upstream whose word counts, and the newest block that it may speak of: its own head.
struct TagVoter {
    std::size_t upstream = 0;
    std::uint64_t head = 0;
};

class TaggedBlocks {
  public:
    explicit TaggedBlocks(std::size_t upstreams) : voices_(upstreams) {}

    // What `before` holds: for each upstream, which one it was there.
    TaggedBlocks(const TaggedBlocks& before, std::span<const std::optional<std::size_t>> places)
        : voices_(places.size()) {
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i]) {
                voices_[i] = before.voices_[*places[i]];
            }
        }
    }

    void observe(std::size_t upstream, Tag tag, const TaggedBlock& block);
    void observe_lack(std::size_t upstream, Tag tag);

    const Settled& of(std::size_t upstream) const { return voices_[upstream].settled; }
    bool lacks(std::size_t upstream, Tag tag) const;

    // Who names another block than this for its height under the same tag; nothing when nobody
    // does, or somebody agrees.
    std::optional<std::size_t> denier(std::size_t upstream, Tag tag) const;

    // With three or more who say, the highest block that two of them reach; with two, the lower
    // one; with one, its own. Where several name one height, the block that most of them name.
    std::optional<TaggedBlock> believed(Tag tag, std::span<const TagVoter> voters) const;

  private:
    struct Voice {
        Settled settled;
        std::array<bool, kAllTags.size()> lacks{};
    };
    std::vector<Voice> voices_;
};

}  // namespace weir::chain
