#include "simulator/chain.hpp"

#include "core/hex.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace weir::simulator {
namespace {

// splitmix64 (Steele, Lea, Flood 2014): every input bit moves every output bit.
std::uint64_t mix(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
}

void append_word(std::string& out, std::uint64_t word) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (unsigned shift = 64; shift > 0; shift -= 4) {
        out += kDigits[(word >> (shift - 4)) & 0x0FU];
    }
}

// The last word of a hash hides the number, so that a block can be found by its hash.
std::uint64_t cover(std::uint64_t first, std::uint64_t second, std::uint64_t third) {
    return mix(first ^ mix(second ^ mix(third)));
}

}  // namespace

SimulatedChain::SimulatedChain(const Settings& settings, const runtime::Clock& clock)
    : settings_(settings),
      clock_(clock),
      start_(clock.now()),
      start_timestamp_(static_cast<std::uint64_t>(
          std::chrono::duration_cast<core::seconds>(clock.wall_now().time_since_epoch()).count())) {
}

std::uint64_t SimulatedChain::head_locked() const {
    std::int64_t head = static_cast<std::int64_t>(settings_.first_head) + mined_;
    if (settings_.block_time > core::Duration::zero()) {
        head += (clock_.now() - start_) / settings_.block_time;
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(head, 0));
}

std::uint64_t SimulatedChain::head() const {
    const std::lock_guard lock(mutex_);
    return head_locked();
}

void SimulatedChain::mine(std::uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    mined_ += static_cast<std::int64_t>(blocks);
}

void SimulatedChain::rewind(std::uint64_t blocks) {
    const std::lock_guard lock(mutex_);
    mined_ -= static_cast<std::int64_t>(std::min(blocks, head_locked()));
}

void SimulatedChain::reorganize(std::uint64_t from) {
    const std::lock_guard lock(mutex_);
    forks_.push_back({from, forks_.size() + 1});
}

std::string SimulatedChain::hash_locked(std::uint64_t number,
                                        const std::optional<Fork>& fork) const {
    std::uint64_t branch = mix(settings_.seed);
    for (const Fork& shared : forks_) {
        if (number >= shared.from) {
            branch = mix(branch ^ shared.id);
        }
    }
    if (fork && number >= fork->from) {
        branch = mix(~branch ^ fork->id);
    }
    const std::array<std::uint64_t, 3> words = {mix(branch ^ number), mix(branch + number),
                                                mix(branch - number)};
    std::string out = "0x";
    for (const std::uint64_t word : words) {
        append_word(out, word);
    }
    append_word(out, number ^ cover(words[0], words[1], words[2]));
    return out;
}

Block SimulatedChain::block(std::uint64_t number, const std::optional<Fork>& fork) const {
    const std::lock_guard lock(mutex_);
    Block block;
    block.number = number;
    block.hash = hash_locked(number, fork);
    block.parent = number == 0 ? "0x" + std::string(64, '0') : hash_locked(number - 1, fork);
    // The head of the start is the start's own time; whole seconds per block, at least one.
    const auto per_block = std::max<std::int64_t>(
        1, std::chrono::duration_cast<core::seconds>(settings_.block_time).count());
    const std::int64_t distance =
        static_cast<std::int64_t>(number) - static_cast<std::int64_t>(settings_.first_head);
    const std::int64_t timestamp =
        static_cast<std::int64_t>(start_timestamp_) + distance * per_block;
    block.timestamp = static_cast<std::uint64_t>(std::max<std::int64_t>(timestamp, 0));
    return block;
}

std::optional<Block> SimulatedChain::find(std::string_view hash,
                                          const std::optional<Fork>& fork) const {
    if (!core::is_hex_data(hash, 32)) {
        return std::nullopt;
    }
    std::array<std::uint64_t, 4> words{};
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] =
            core::parse_quantity("0x" + std::string(hash.substr(2 + i * 16, 16))).value_or(0);
    }
    const std::uint64_t number = words[3] ^ cover(words[0], words[1], words[2]);
    if (number > head()) {
        return std::nullopt;
    }
    Block found = block(number, fork);
    return found.hash == hash ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace weir::simulator
