#include "proxy/filter_table.hpp"

#include "runtime/secure.hpp"

#include <utility>

namespace weir::proxy {
namespace {

std::string secure_id() { return "0x" + runtime::secure_hex(16); }

}  // namespace

std::string FilterTable::add(Filter filter, core::TimePoint now) {
    std::string id = secure_id();
    const std::lock_guard lock(mutex_);
    drop_expired(now);
    if (entries_.size() >= kMost) {
        by_id_.erase(entries_.front().id);
        entries_.pop_front();
    }
    entries_.push_back({id, std::move(filter), now});
    by_id_.emplace(entries_.back().id, std::prev(entries_.end()));
    return id;
}

std::optional<Filter> FilterTable::find(std::size_t chain, std::string_view client,
                                        std::string_view id, core::TimePoint now) {
    const std::lock_guard lock(mutex_);
    drop_expired(now);
    const auto found = by_id_.find(id);
    if (found == by_id_.end() || found->second->filter.chain != chain ||
        found->second->filter.client != client) {
        return std::nullopt;
    }
    found->second->read = now;
    entries_.splice(entries_.end(), entries_, found->second);
    return found->second->filter;
}

void FilterTable::remove(std::string_view id) {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(id);
    if (found != by_id_.end()) {
        const Entries::iterator entry = found->second;
        by_id_.erase(found);
        entries_.erase(entry);
    }
}

std::size_t FilterTable::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

void FilterTable::drop_expired(core::TimePoint now) {
    while (!entries_.empty() && entries_.front().read + kUnread <= now) {
        by_id_.erase(entries_.front().id);
        entries_.pop_front();
    }
}

}  // namespace weir::proxy
