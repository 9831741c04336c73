// A scanner's sink that hands out the items of an array at the root.
#pragma once

#include "jsonrpc/scanner.hpp"

#include <cstddef>
#include <string_view>

namespace weir::jsonrpc {

// `each` is called with every item's raw bytes and says whether to go on. A root that is no array
// ends the scan.
template <class Each>
class ArrayItems {
  public:
    static constexpr std::size_t kWatch = 1;

    ArrayItems(std::string_view text, Each& each) : text_(text), each_(each) {}

    bool begin(std::size_t depth, std::size_t offset, char first) {
        if (depth == 0) return is_array_ = first == '[';
        begin_ = offset;
        return true;
    }

    bool end(std::size_t depth, std::size_t offset) {
        return depth == 0 || each_(text_.substr(begin_, offset - begin_));
    }

    bool name(std::size_t, const ScannedName&) { return true; }

    bool is_array() const { return is_array_; }

  private:
    std::string_view text_;
    Each& each_;
    std::size_t begin_ = 0;
    bool is_array_ = false;
};

}  // namespace weir::jsonrpc
