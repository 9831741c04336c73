#include "routing/block_words.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"
#include "jsonrpc/value.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weir::routing {
namespace {

using chain::BlockId;
using core::iequals;

constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

bool is_absent(std::string_view raw) { return raw.empty() || jsonrpc::is_null(raw); }

Says text_says(std::string_view text, const BlockId& block) {
    const std::string_view word = core::trim(text);
    if (word.empty()) {
        return Says::nothing;
    }
    if (iequals(word, "latest")) {
        return Says::the_block;
    }
    if (text == "pending") {
        return Says::pending;
    }
    if (text == "earliest" || text == "safe" || text == "finalized") {
        return Says::another;
    }
    if (!text.starts_with("0x")) {
        return Says::unclear;
    }
    if (core::is_hex_data(text, kHashBytes)) {
        return iequals(text, block.hash) ? Says::the_block : Says::another;
    }
    if (const auto number = core::parse_quantity(text)) {
        return *number == block.number ? Says::the_block : Says::another;
    }
    return Says::unclear;
}

// One member by the name, or the name in no case.
std::optional<std::string_view> only(const std::vector<jsonrpc::Member>& members,
                                     std::string_view name) {
    std::optional<std::string_view> found = std::string_view();
    std::size_t alike = 0;
    for (const jsonrpc::Member& member : members) {
        if (iequals(member.name, name)) {
            ++alike;
            found = member.name == name ? std::optional(member.value) : std::nullopt;
        }
    }
    return alike > 1 ? std::nullopt : found;
}

// The object of EIP-1898. Nodes differ in what they make of names in other case, of names that come
// twice, and of both a hash and a number; where all of that is `latest`, so is the object.
Says reference_says(std::string_view object, const BlockId& block) {
    const std::vector<jsonrpc::Member> members = jsonrpc::members(object, kAll);
    std::size_t named = 0;
    Says says = Says::unclear;
    bool is_plain = true;
    for (const jsonrpc::Member& member : members) {
        const bool hash = iequals(member.name, "blockHash");
        const bool number = iequals(member.name, "blockNumber");
        if (!hash && !number) {
            is_plain = is_plain && member.name == "requireCanonical";
            continue;
        }
        if (is_absent(member.value)) {
            continue;
        }
        const bool exact = member.name == "blockHash" || member.name == "blockNumber";
        const Says one =
            hash && !is_hash_word(member.value) ? Says::unclear : word_says(member.value, block);
        is_plain = is_plain && (exact || one == Says::the_block);
        says = named == 0 || one == says ? one : Says::unclear;
        ++named;
    }
    const bool is_clear = is_plain && (named == 1 || (named > 1 && says == Says::the_block));
    return is_clear && says != Says::nothing ? says : Says::unclear;
}

}  // namespace

Says word_says(std::string_view raw, const BlockId& block) {
    if (is_absent(raw)) {
        return Says::nothing;
    }
    if (const auto text = jsonrpc::string_value(raw)) {
        return text_says(*text, block);
    }
    const auto number = core::parse_decimal(raw);
    if (!number) {
        return Says::unclear;
    }
    return *number == block.number ? Says::the_block : Says::another;
}

Says place_says(std::string_view raw, const BlockId& block) {
    return jsonrpc::is_object(raw) ? reference_says(raw, block) : word_says(raw, block);
}

bool FilterSays::is_clear() const {
    if (from == Says::unclear || to == Says::unclear) {
        return false;
    }
    const bool pending = from == Says::pending || to == Says::pending;
    return !pending || !(names(from) || names(to));
}

FilterSays filter_says(std::string_view filter, const BlockId& block) {
    const std::vector<jsonrpc::Member> members = jsonrpc::members(filter, kAll);
    const auto hash = only(members, "blockHash");
    const auto from = only(members, "fromBlock");
    const auto to = only(members, "toBlock");
    FilterSays says{.from = from ? word_says(*from, block) : Says::unclear,
                    .to = to ? word_says(*to, block) : Says::unclear};
    if (hash && is_absent(*hash)) {
        return says;
    }
    if (!hash || !is_hash_word(*hash) || says.from != Says::nothing || says.to != Says::nothing) {
        says.from = Says::unclear;
    } else {
        says.from = says.to = Says::another;
    }
    says.by_hash = true;
    return says;
}

bool is_hash_word(std::string_view raw) {
    const auto text = jsonrpc::string_value(raw);
    return text && text->starts_with("0x") && core::is_hex_data(*text, kHashBytes);
}

}  // namespace weir::routing
