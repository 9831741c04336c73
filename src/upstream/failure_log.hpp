// Remembers failed calls for a while, to see whether the same call fails alike elsewhere: then the
// call is to blame and no upstream. Where that was so of several calls of a method, it is taken to
// be so of those too that are asked once only, since there are too many to ask them again.
#pragma once

#include "core/time.hpp"
#include "routing/snapshot.hpp"
#include "routing/verdict.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::upstream {

// The latest failures that may have been their call's own fault.
class FailureLog {
  public:
    static constexpr core::Duration kWindow = std::chrono::seconds(30);

    static constexpr std::size_t kCallsOfMethod = 3;

    struct Entry {
        std::uint64_t call_hash = 0;
        std::uint64_t method_hash = 0;
        routing::Cause cause = routing::Cause::answered;
        routing::UpstreamIndex upstream = 0;
        core::TimePoint at{};
        bool failed_alike = false;  // elsewhere, before
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

    // Did enough calls of its method fail in this way at more than one upstream?
    bool blames_method(const Entry& entry) const {
        std::array<std::uint64_t, kCallsOfMethod> calls{};
        std::size_t count = 0;
        for (const Entry& past : entries_) {
            const bool same = past.failed_alike && past.cause == entry.cause &&
                              past.method_hash == entry.method_hash && entry.at - past.at < kWindow;
            const auto end = calls.begin() + static_cast<std::ptrdiff_t>(count);
            if (same && count < calls.size() &&
                std::find(calls.begin(), end, past.call_hash) == end) {
                calls[count++] = past.call_hash;
            }
        }
        return count == calls.size();
    }

    void add(const Entry& entry) { entries_[next_++ % entries_.size()] = entry; }

  private:
    std::array<Entry, 128> entries_{};
    std::size_t next_ = 0;
};

}  // namespace weir::upstream
