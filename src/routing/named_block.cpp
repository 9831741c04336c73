#include "routing/named_block.hpp"

#include "core/hex.hpp"
#include "core/text.hpp"
#include "jsonrpc/scanner.hpp"
#include "jsonrpc/value.hpp"
#include "routing/block_words.hpp"

#include <cstddef>
#include <limits>
#include <optional>

namespace weir::routing {
namespace {

using chain::BlockId;

// The text was checked before; the scanner's own need is a bit per level.
constexpr std::size_t kAnyDepth = std::numeric_limits<std::size_t>::max();

enum class Blocks : std::uint8_t {
    one,
    up_to,  // it is the last one
    among,  // others come after it, too
};

// What one object names, raw; empty where it does not.
struct Naming {
    std::string_view hash;
    std::string_view number;
};

std::optional<std::uint64_t> number_of(std::string_view raw) {
    const auto text = jsonrpc::plain_string(raw);
    return text ? core::parse_quantity(*text) : core::parse_decimal(raw);
}

// May an item be of a block of that number, with another hash?
bool may_be_another(std::optional<std::uint64_t> number, const BlockId& block, Blocks blocks) {
    switch (blocks) {
        case Blocks::one:
            return false;
        case Blocks::up_to:
            return !number || *number < block.number;
        case Blocks::among:
            return !number || *number != block.number;
    }
    return false;
}

Blocks blocks_of(const MethodTraits& traits, std::string_view params, const BlockId& block) {
    if (traits.block_param != BlockParam::log_filter) {
        return Blocks::one;
    }
    const FilterSays says = filter_says(jsonrpc::element(params, traits.block_position), block);
    if (says.is_one_block()) {
        return Blocks::one;
    }
    return FilterSays::names(says.to) ? Blocks::up_to : Blocks::among;
}

Named judge(const Naming& names, const BlockId& block, Blocks blocks) {
    const std::optional<std::uint64_t> number = number_of(names.number);
    if (!names.hash.empty()) {
        const auto hash = jsonrpc::plain_string(names.hash);
        if (hash && core::iequals(*hash, block.hash)) {
            return Named::the_block;
        }
        // One that is not mined yet has no hash.
        return hash && may_be_another(number, block, blocks) ? Named::nothing : Named::another;
    }
    const bool wrong = number && *number != block.number && !may_be_another(number, block, blocks);
    return wrong ? Named::another : Named::nothing;
}

// The object at the root, or each object of the array at the root.
class NamesSink {
  public:
    static constexpr std::size_t kWatch = 2;

    NamesSink(std::string_view text, std::string_view hash_name, const BlockId& block,
              Blocks blocks)
        : text_(text), hash_name_(hash_name), block_(block), blocks_(blocks) {}

    bool begin(std::size_t depth, std::size_t offset, char first) {
        if (depth == 0) {
            item_depth_ = first == '[' ? 1 : 0;
        }
        if (depth == item_depth_) {
            names_ = {};
            wanted_ = nullptr;
        }
        begin_ = offset;
        return true;
    }

    bool end(std::size_t depth, std::size_t offset) {
        if (depth == item_depth_ + 1 && wanted_ != nullptr) {
            *wanted_ = text_.substr(begin_, offset - begin_);
            wanted_ = nullptr;
        }
        if (depth == item_depth_) {
            const Named named = judge(names_, block_, blocks_);
            found_ = named == Named::nothing ? found_ : named;
        }
        return found_ != Named::another;
    }

    bool name(std::size_t depth, const jsonrpc::ScannedName& name) {
        wanted_ = nullptr;
        if (depth == item_depth_ + 1) {
            if (name.decoded == hash_name_) {
                wanted_ = &names_.hash;
            } else if (name.decoded == "blockNumber") {
                wanted_ = &names_.number;
            }
        }
        return true;
    }

    Named found() const { return found_; }

  private:
    const std::string_view text_;
    const std::string_view hash_name_;
    const BlockId& block_;
    const Blocks blocks_;
    std::size_t item_depth_ = 0;
    std::size_t begin_ = 0;
    Naming names_;
    std::string_view* wanted_ = nullptr;
    Named found_ = Named::nothing;
};

}  // namespace

Named named_block(const MethodTraits& traits, std::string_view params, std::string_view result,
                  const BlockId& block) {
    if (traits.names == Names::nothing) {
        return Named::nothing;
    }
    NamesSink sink(result, traits.names == Names::itself ? "hash" : "blockHash", block,
                   blocks_of(traits, params, block));
    jsonrpc::Scanner scanner(kAnyDepth);
    scanner.feed(result, sink);
    return sink.found();
}

}  // namespace weir::routing
