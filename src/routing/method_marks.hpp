// Which methods an upstream was found to lack. Bounded; marks expire.
#pragma once

#include "core/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

class MethodMarks {
  public:
    static constexpr core::Duration kExpiry = std::chrono::minutes(10);
    static constexpr std::size_t kMost = 64;

    // A refusal. Two with different calls make a mark: the first may be the params' own fault.
    void refuse(std::string_view method, std::uint64_t call_hash, core::TimePoint now);

    // The method was served: no mark any more.
    void succeed(std::string_view method);

    void expire(core::TimePoint now);

    bool empty() const { return entries_.empty(); }
    std::vector<std::string> marked() const;
    std::uint64_t revision() const { return revision_; }  // grows when marked() changes

  private:
    struct Entry {
        std::string method;
        std::uint64_t call_hash;
        bool marked;
        core::TimePoint until;
    };
    std::vector<Entry> entries_;
    std::uint64_t revision_ = 0;
};

}  // namespace weir::routing
