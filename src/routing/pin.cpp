#include "routing/pin.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"
#include "routing/block_words.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weir::routing {
namespace {

using chain::BlockId;

// No call names it: `latest` is it, and nothing else.
const BlockId kNoBlock{std::numeric_limits<std::uint64_t>::max(), "none"};

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

// As text, unless the client has it as a JSON number: then the method may know it only so.
std::string number_in_place_of(std::string_view raw, const BlockId& block) {
    return core::parse_decimal(raw) ? std::to_string(block.number)
                                    : quoted(core::to_quantity(block.number));
}

bool has_no_params(std::string_view params) {
    return params.empty() || jsonrpc::is_null(params) || params == "{}";
}

PinEffect effect_of(Says says) {
    switch (says) {
        case Says::nothing:
        case Says::the_block:
            return PinEffect::bound;
        case Says::another:
        case Says::pending:
            return PinEffect::none;
        case Says::unclear:
            return PinEffect::unclear;
    }
    return PinEffect::unclear;
}

bool has_place(std::string_view params, std::size_t position) {
    return has_no_params(params)
               ? position == 0
               : jsonrpc::is_array(params) && jsonrpc::element_count(params) >= position;
}

PinEffect effect_at(const MethodTraits& traits, std::string_view params, const BlockId& block) {
    if (!has_place(params, traits.block_position)) {
        return PinEffect::unplaceable;
    }
    if (traits.end_position != 0) {
        const Says end = word_says(jsonrpc::element(params, traits.end_position), kNoBlock);
        if (end != Says::nothing && end != Says::another) {
            return PinEffect::unclear;
        }
    }
    return effect_of(place_says(jsonrpc::element(params, traits.block_position), block));
}

PinEffect effect_of_hash(const MethodTraits& traits, std::string_view params) {
    const std::string_view raw = jsonrpc::element(params, traits.block_position);
    if (raw.empty()) {
        return PinEffect::unplaceable;
    }
    return is_hash_word(raw) ? PinEffect::none : PinEffect::unclear;
}

PinEffect effect_of_filter(const MethodTraits& traits, std::string_view params,
                           const BlockId& block) {
    const std::string_view filter = jsonrpc::element(params, traits.block_position);
    if (!jsonrpc::is_object(filter)) {
        return PinEffect::unplaceable;
    }
    const FilterSays says = filter_says(filter, block);
    if (!says.is_clear()) {
        return PinEffect::unclear;
    }
    return says.is_bound() ? PinEffect::bound : PinEffect::none;
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
    for (const auto& [name, bound] : {std::pair("fromBlock", FilterSays::names(says.from)),
                                      std::pair("toBlock", FilterSays::names(says.to))}) {
        if (bound) {
            edit.set(name, number_in_place_of(jsonrpc::member(filter, name), block));
        }
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
        case BlockParam::pending:
            return PinEffect::none;
        case BlockParam::head:
            return PinEffect::number;
        case BlockParam::block_hash:
            return effect_of_hash(traits, params);
        case BlockParam::block:
        case BlockParam::range_end:
            return effect_at(traits, params, block);
        case BlockParam::log_filter:
            return effect_of_filter(traits, params, block);
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
        return with_element(params, position,
                            number_in_place_of(jsonrpc::element(params, position), block));
    }
    if (traits.by_hash == ByHash::method) {
        return with_element(params, position, quoted(block.hash));
    }
    return with_element(params, position,
                        R"({"blockHash":")" + block.hash + R"(","requireCanonical":true})");
}

}  // namespace weir::routing
