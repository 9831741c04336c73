// YAML text as a plain tree of scalars, sequences and maps in file order. Size, depth and number of
// values are bounded, so that no file can hang the process or fill its memory.
#pragma once

#include "config/problem.hpp"
#include "core/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::config {

constexpr std::size_t kMaxFileBytes = std::size_t{1024} * 1024;
constexpr std::size_t kMaxFileDepth = 32;
constexpr std::size_t kMaxFileValues = 100'000;  // aliases count as often as they are used

struct Node;
using NodePtr = std::shared_ptr<const Node>;  // shared where an alias names an anchor

struct Node {
    enum class Kind { null, scalar, sequence, map };

    Kind kind = Kind::null;
    std::string text;                                      // scalar
    std::vector<NodePtr> items;                            // sequence
    std::vector<std::pair<std::string, NodePtr>> entries;  // map; a repeated key stands twice
    std::size_t line = 0;                                  // from 1
    std::size_t weight = 1;  // values in this subtree, itself included
};

// The one document in `text`; no tags, no keys other than scalars, UTF-8 without control
// characters. Text without any value is a null node.
core::Result<NodePtr, Problem> parse_document(std::string_view text);

}  // namespace weir::config
