#include "proxy/observations.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {

void Observations::note(const Source& source, routing::Shape shape, core::WallTime now) {
    Key key(source.chain, source.upstream, std::move(shape));
    const std::lock_guard lock(mutex_);
    auto at = shapes_.find(key);
    if (at == shapes_.end()) {
        make_room();
        ObservedShape fresh;
        fresh.chain = source.chain;
        fresh.upstream = source.upstream;
        fresh.provider = source.provider;
        fresh.shape = std::get<routing::Shape>(key);
        fresh.first_seen = now;
        at = shapes_.emplace(std::move(key), std::move(fresh)).first;
    }
    ++at->second.count;
    at->second.last_seen = now;
}

void Observations::make_room() {
    if (shapes_.size() < kMost) {
        return;
    }
    shapes_.erase(std::min_element(
        shapes_.begin(), shapes_.end(),
        [](const auto& a, const auto& b) { return a.second.last_seen < b.second.last_seen; }));
    ++forgotten_;
}

std::vector<ObservedShape> Observations::list() const {
    std::vector<ObservedShape> all;
    {
        const std::lock_guard lock(mutex_);
        all.reserve(shapes_.size());
        for (const auto& entry : shapes_) {
            all.push_back(entry.second);
        }
    }
    std::sort(all.begin(), all.end(), [](const ObservedShape& a, const ObservedShape& b) {
        return std::tie(b.last_seen, b.count) < std::tie(a.last_seen, a.count);
    });
    return all;
}

std::uint64_t Observations::forgotten() const {
    const std::lock_guard lock(mutex_);
    return forgotten_;
}

}  // namespace weir::proxy
