#include "chain/tagged_blocks.hpp"

#include <algorithm>

namespace weir::chain {

std::string_view to_string(Tag tag) { return tag == Tag::safe ? "safe" : "finalized"; }

void TaggedBlocks::observe(std::size_t upstream, Tag tag, const TaggedBlock& block) {
    Voice& voice = voices_[upstream];
    voice.settled.get(tag) = block;
    voice.lacks[static_cast<std::size_t>(tag)] = false;
}

void TaggedBlocks::observe_lack(std::size_t upstream, Tag tag) {
    Voice& voice = voices_[upstream];
    voice.settled.get(tag).reset();
    voice.lacks[static_cast<std::size_t>(tag)] = true;
}

bool TaggedBlocks::lacks(std::size_t upstream, Tag tag) const {
    return voices_[upstream].lacks[static_cast<std::size_t>(tag)];
}

std::optional<std::size_t> TaggedBlocks::denier(std::size_t upstream, Tag tag) const {
    const std::optional<TaggedBlock>& own = voices_[upstream].settled.get(tag);
    std::optional<std::size_t> other;
    for (std::size_t i = 0; i < voices_.size(); ++i) {
        const std::optional<TaggedBlock>& said = voices_[i].settled.get(tag);
        if (i == upstream || !own || !said || said->block.number != own->block.number) {
            continue;
        }
        if (said->block == own->block) {
            return std::nullopt;
        }
        other = i;
    }
    return other;
}

std::optional<TaggedBlock> TaggedBlocks::believed(Tag tag, std::span<const TagVoter> voters) const {
    std::vector<const TaggedBlock*> said;
    for (const TagVoter& voter : voters) {
        const std::optional<TaggedBlock>& block = voices_[voter.upstream].settled.get(tag);
        if (block && block->block.number <= voter.head) {
            said.push_back(&*block);
        }
    }
    if (said.empty()) {
        return std::nullopt;
    }
    std::sort(said.begin(), said.end(), [](const TaggedBlock* a, const TaggedBlock* b) {
        return a->block.number != b->block.number ? a->block.number > b->block.number
                                                  : a->block.hash < b->block.hash;
    });
    const std::uint64_t number = said[std::min<std::size_t>(said.size() - 1, 1)]->block.number;
    const auto agreeing = [&said](const TaggedBlock* block) {
        return std::count_if(said.begin(), said.end(), [block](const TaggedBlock* each) {
            return each->block == block->block;
        });
    };
    const TaggedBlock* best = nullptr;
    for (const TaggedBlock* each : said) {
        if (each->block.number == number && (best == nullptr || agreeing(each) > agreeing(best))) {
            best = each;
        }
    }
    return *best;
}

}  // namespace weir::chain
