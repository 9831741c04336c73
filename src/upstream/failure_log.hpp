// Remembers failed calls for a while, to see whether the same call fails alike elsewhere: then the
// call is to blame and no upstream.
#pragma once

#include "core/time.hpp"
#include "routing/snapshot.hpp"
#include "routing/verdict.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::upstream {

// The latest failures that may have been their call's own fault.
class FailureLog {
  public:
    static constexpr core::Duration kWindow = std::chrono::seconds(30);

    struct Entry {
        std::uint64_t call_hash = 0;
        routing::Cause cause = routing::Cause::answered;
        routing::UpstreamIndex upstream = 0;
        core::TimePoint at{};
    };

    // The upstreams other than `entry.upstream` at which the same call failed alike.
    std::vector<routing::UpstreamIndex> alike(const Entry& entry) const {
        std::vector<routing::UpstreamIndex> others;
        for (const Entry& past : entries_) {
            if (past.cause == entry.cause && past.call_hash == entry.call_hash &&
                past.upstream != entry.upstream && entry.at - past.at < kWindow) {
                others.push_back(past.upstream);
            }
        }
        return others;
    }
    void add(const Entry& entry) { entries_[next_++ % entries_.size()] = entry; }

  private:
    std::array<Entry, 128> entries_{};
    std::size_t next_ = 0;
};

}  // namespace weir::upstream
