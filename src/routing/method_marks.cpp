#include "routing/method_marks.hpp"

#include <algorithm>

namespace weir::routing {

void MethodMarks::refuse(std::string_view method, std::uint64_t call_hash, core::TimePoint now) {
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [method](const Entry& e) { return e.method == method; });
    if (entry != entries_.end()) {
        if (!entry->marked && entry->call_hash != call_hash) {
            entry->marked = true;
            ++revision_;
        }
        entry->until = now + kExpiry;
        return;
    }
    if (entries_.size() == kMost) {
        // The oldest goes; clients may ask for any number of methods that exist nowhere.
        const auto oldest =
            std::min_element(entries_.begin(), entries_.end(),
                             [](const Entry& a, const Entry& b) { return a.until < b.until; });
        revision_ += oldest->marked ? 1 : 0;
        entries_.erase(oldest);
    }
    entries_.push_back({std::string(method), call_hash, false, now + kExpiry});
}

void MethodMarks::succeed(std::string_view method) {
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [method](const Entry& e) { return e.method == method; });
    if (entry != entries_.end()) {
        revision_ += entry->marked ? 1 : 0;
        entries_.erase(entry);
    }
}

void MethodMarks::expire(core::TimePoint now) {
    std::erase_if(entries_, [this, now](const Entry& e) {
        const bool over = e.until <= now;
        revision_ += over && e.marked ? 1 : 0;
        return over;
    });
}

std::vector<std::string> MethodMarks::marked() const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) {
        if (entry.marked) {
            names.push_back(entry.method);
        }
    }
    return names;
}

}  // namespace weir::routing
