// Which upstream holds which filter. Clients see ids of the gateway's own, so that a filter's id
// from one upstream never reaches another.
#pragma once

#include "core/time.hpp"
#include "routing/snapshot.hpp"

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weir::proxy {

struct Filter {
    std::size_t chain = 0;     // its id (ChainIdentity)
    std::string client;        // whose it is
    std::size_t upstream = 0;  // its id
    std::string upstream_id;   // raw JSON, as the upstream gave it
};

// One for the process; any thread. A filter dies when it was not read for `kUnread`; at most
// `kMost` are kept, and the one unread for longest makes room.
class FilterTable {
  public:
    static constexpr core::Duration kUnread = std::chrono::minutes(5);
    static constexpr std::size_t kMost = 10'000;

    // The new id: `0x` and 32 hex digits from the system's secure random source.
    std::string add(Filter filter, core::TimePoint now);

    // The filter of that id on that chain, if it is that client's; being asked for counts as read.
    std::optional<Filter> find(std::size_t chain, std::string_view client, std::string_view id,
                               core::TimePoint now);

    void remove(std::string_view id);

    std::size_t size() const;

  private:
    struct Entry {
        std::string id;
        Filter filter;
        core::TimePoint read;
    };
    using Entries = std::list<Entry>;  // least recently read first

    void drop_expired(core::TimePoint now);

    mutable std::mutex mutex_;
    Entries entries_;
    std::unordered_map<std::string_view, Entries::iterator> by_id_;  // keys live in the entries
};

}  // namespace weir::proxy
