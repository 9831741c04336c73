#include "routing/pin.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"
#include "jsonrpc/value.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace weir::routing {
namespace {

using chain::BlockId;

// What a place for a block says.
enum class Says : std::uint8_t { nothing, the_block, another, pending };

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

// A tag, a number or a hash, raw; empty where there is none.
Says word_says(std::string_view raw, const BlockId& block) {
    if (raw.empty() || jsonrpc::is_null(raw)) {
        return Says::nothing;
    }
    const auto text = jsonrpc::string_value(raw);
    if (!text) {
        return core::parse_decimal(raw) == block.number ? Says::the_block : Says::another;
    }
    if (*text == "latest" || core::parse_quantity(*text) == block.number ||
        core::to_lower(*text) == block.hash) {
        return Says::the_block;
    }
    return *text == "pending" ? Says::pending : Says::another;
}

// The object of EIP-1898. One that names no block is the upstream's to refuse.
Says reference_says(std::string_view object, const BlockId& block) {
    const std::string_view hash = jsonrpc::member(object, "blockHash");
    const std::string_view number = jsonrpc::member(object, "blockNumber");
    const std::string_view named = hash.empty() ? number : hash;
    return named.empty() ? Says::another : word_says(named, block);
}

Says place_says(std::string_view raw, const BlockId& block) {
    return jsonrpc::is_object(raw) ? reference_says(raw, block) : word_says(raw, block);
}

struct FilterSays {
    Says from;
    Says to;
    bool by_hash;

    bool is_bound() const { return !by_hash && !is_pending() && (names(from) || names(to)); }
    bool is_one_block() const { return names(from) && names(to); }
    static bool names(Says says) { return says == Says::nothing || says == Says::the_block; }

  private:
    bool is_pending() const { return from == Says::pending || to == Says::pending; }
};

FilterSays filter_says(std::string_view filter, const BlockId& block) {
    const std::string_view hash = jsonrpc::member(filter, "blockHash");
    return {.from = word_says(jsonrpc::member(filter, "fromBlock"), block),
            .to = word_says(jsonrpc::member(filter, "toBlock"), block),
            .by_hash = !hash.empty() && !jsonrpc::is_null(hash)};
}

bool has_no_params(std::string_view params) {
    return params.empty() || jsonrpc::is_null(params) || params == "{}";
}

PinEffect effect_at(std::string_view params, std::size_t position, const BlockId& block) {
    const std::size_t count = jsonrpc::element_count(params);
    if (has_no_params(params) ? position > 0 : !jsonrpc::is_array(params) || count < position) {
        return PinEffect::unplaceable;
    }
    const Says says = place_says(jsonrpc::element(params, position), block);
    return says == Says::nothing || says == Says::the_block ? PinEffect::bound : PinEffect::none;
}

// `whole` with the bytes of `part`, a view into it, replaced.
std::string replaced(std::string_view whole, std::string_view part, std::string_view value) {
    const auto before = static_cast<std::size_t>(part.data() - whole.data());
    std::string text;
    text.reserve(whole.size() + value.size());
    text += whole.substr(0, before);
    text += value;
    text += whole.substr(before + part.size());
    return text;
}

std::string with_element(std::string_view params, std::size_t position, std::string_view value) {
    if (has_no_params(params)) {
        return '[' + std::string(value) + ']';
    }
    const std::string_view known = jsonrpc::element(params, position);
    if (!known.empty()) {
        return replaced(params, known, value);
    }
    const std::size_t end = params.rfind(']');
    std::string text(params.substr(0, end));
    text += position == 0 ? "" : ",";
    text += value;
    text += params.substr(end);
    return text;
}

// A filter object with other bounds. What stands between its members stays.
class FilterEdit {
  public:
    explicit FilterEdit(std::string_view filter) {
        const auto members = jsonrpc::members(filter, std::numeric_limits<std::size_t>::max());
        std::size_t end = 1;  // behind the brace
        for (const jsonrpc::Member& member : members) {
            const auto begin = static_cast<std::size_t>(member.whole.data() - filter.data());
            const std::size_t value = member.whole.size() - member.value.size();
            parts_.push_back({.name = member.name,
                              .gap = std::string(filter.substr(end, begin - end)),
                              .head = std::string(member.whole.substr(0, value)),
                              .value = std::string(member.value)});
            end = begin + member.whole.size();
        }
        tail_ = filter.substr(end);
    }

    void remove(std::string_view name) {
        const std::string first_gap = parts_.empty() ? std::string() : parts_.front().gap;
        std::erase_if(parts_, [name](const Part& part) { return part.name == name; });
        if (!parts_.empty()) {
            parts_.front().gap = first_gap;  // no comma
        }
    }

    void set(std::string_view name, const std::string& value) {
        bool known = false;
        for (Part& part : parts_) {
            if (part.name == name) {
                part.value = value;
                known = true;
            }
        }
        if (!known) {
            parts_.push_back({.name = std::string(name),
                              .gap = parts_.empty() ? "" : ",",
                              .head = quoted(name) + ':',
                              .value = value});
        }
    }

    std::string text() const {
        std::string text = "{";
        for (const Part& part : parts_) {
            text += part.gap + part.head + part.value;
        }
        return text + tail_;
    }

  private:
    struct Part {
        std::string name;
        std::string gap;   // before it: a comma and blanks
        std::string head;  // its name as it was, and the colon
        std::string value;
    };
    std::vector<Part> parts_;
    std::string tail_;
};

std::string bound_filter(std::string_view filter, const BlockId& block, BlockForm form) {
    FilterEdit edit(filter);
    if (form == BlockForm::hash) {
        edit.remove("fromBlock");
        edit.remove("toBlock");
        edit.set("blockHash", quoted(block.hash));
        return edit.text();
    }
    const FilterSays says = filter_says(filter, block);
    const std::string number = quoted(core::to_quantity(block.number));
    if (FilterSays::names(says.from)) {
        edit.set("fromBlock", number);
    }
    if (FilterSays::names(says.to)) {
        edit.set("toBlock", number);
    }
    return edit.text();
}

}  // namespace

PinEffect pin_effect(const MethodTraits& traits, std::string_view params, const BlockId& block) {
    if (traits.access != Access::read) {
        return PinEffect::none;
    }
    switch (traits.block_param) {
        case BlockParam::none:
        case BlockParam::block_hash:
        case BlockParam::pending:
            return PinEffect::none;
        case BlockParam::head:
            return PinEffect::number;
        case BlockParam::block:
        case BlockParam::range_end:
            return effect_at(params, traits.block_position, block);
        case BlockParam::log_filter: {
            const std::string_view filter = jsonrpc::element(params, traits.block_position);
            return jsonrpc::is_object(filter) && filter_says(filter, block).is_bound()
                       ? PinEffect::bound
                       : PinEffect::none;
        }
    }
    return PinEffect::none;
}

bool has_hash_form(const MethodTraits& traits, std::string_view params, const BlockId& block) {
    switch (traits.by_hash) {
        case ByHash::no:
            return false;
        case ByHash::object:
        case ByHash::method:
            return true;
        case ByHash::filter:
            return filter_says(jsonrpc::element(params, traits.block_position), block)
                .is_one_block();
    }
    return false;
}

std::string_view pinned_method(const MethodTraits& traits, BlockForm form) {
    return form == BlockForm::hash && traits.by_hash == ByHash::method ? traits.hash_method
                                                                       : traits.name;
}

std::string pinned_params(const MethodTraits& traits, std::string_view params, const BlockId& block,
                          BlockForm form) {
    const std::size_t position = traits.block_position;
    if (traits.block_param == BlockParam::log_filter) {
        const std::string_view filter = jsonrpc::element(params, position);
        return replaced(params, filter, bound_filter(filter, block, form));
    }
    if (form == BlockForm::number) {
        return with_element(params, position, quoted(core::to_quantity(block.number)));
    }
    if (traits.by_hash == ByHash::method) {
        return with_element(params, position, quoted(block.hash));
    }
    return with_element(params, position,
                        R"({"blockHash":")" + block.hash + R"(","requireCanonical":true})");
}

}  // namespace weir::routing
