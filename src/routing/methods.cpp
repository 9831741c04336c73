#include "routing/methods.hpp"

#include "routing/method_table.hpp"

#include <array>
#include <bit>

namespace weir::routing {
namespace {

constexpr std::size_t kKnown = table::kMethods.size();
static_assert(kKnown + 1 <= kMaxMethods);

// Number 0 is the unknown method; then the table in its own order.
constexpr auto kTraits = [] {
    std::array<MethodTraits, kKnown + 1> traits{};
    for (std::size_t i = 0; i < kKnown; ++i) {
        traits[i + 1] = table::kMethods[i];
        traits[i + 1].number = static_cast<std::uint16_t>(i + 1);
    }
    return traits;
}();

constexpr MethodTraits kConfiguredRead = {
    {}, Access::read, TimeClass::fast, BlockParam::none, 0, 20, 0};

constexpr std::uint64_t load(std::string_view text, std::size_t from) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        word |= std::uint64_t{static_cast<unsigned char>(text[from + i])} << (8 * i);
    }
    return word;
}

// Names differ most in their last bytes and in those after the prefix; both are hashed whole.
constexpr std::size_t kShortest = 8;
constexpr std::uint64_t hash(std::string_view name) {
    const std::uint64_t last = load(name, name.size() - 8);
    const std::uint64_t middle = load(name, (name.size() - 8) / 2);
    const std::uint64_t mixed = last ^ std::rotl(middle, 29) ^ (name.size() << 56U);
    const std::uint64_t product = mixed * 0x9E3779B97F4A7C15U;
    return product ^ (product >> 32U);
}

// Open addressing over a table four times too large: one or two probes.
constexpr std::size_t kSlots = 1024;
static_assert(kKnown * 4 <= kSlots);
constexpr auto kIndex = [] {
    std::array<std::uint16_t, kSlots> index{};
    for (std::size_t i = 1; i <= kKnown; ++i) {
        std::size_t slot = hash(kTraits[i].name) % kSlots;
        while (index[slot] != 0) {
            slot = (slot + 1) % kSlots;
        }
        index[slot] = static_cast<std::uint16_t>(i);
    }
    return index;
}();

}  // namespace

const MethodTraits& find_method(std::string_view name) {
    if (name.size() < kShortest) {
        return kTraits[0];
    }
    for (std::size_t slot = hash(name) % kSlots; kIndex[slot] != 0; slot = (slot + 1) % kSlots) {
        const MethodTraits& traits = kTraits[kIndex[slot]];
        if (traits.name == name) {
            return traits;
        }
    }
    return kTraits[0];
}

const MethodTraits& configured_read() { return kConfiguredRead; }

bool is_repeatable(Access access) {
    switch (access) {
        case Access::read:
        case Access::make_filter:
        case Access::read_filter:
        case Access::local:
            return true;
        case Access::write:
        case Access::broadcast:
        case Access::poll_filter:
        case Access::subscribe:
            return false;
    }
    return false;
}

std::size_t method_number(const MethodTraits& traits) { return traits.number; }

std::size_t method_count() { return kTraits.size(); }

const MethodTraits& method_at(std::size_t number) {
    return kTraits[number < kTraits.size() ? number : 0];
}

}  // namespace weir::routing
