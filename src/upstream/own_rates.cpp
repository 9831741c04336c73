#include "upstream/own_rates.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir::upstream {

void OwnRates::add(std::string_view client, core::TimePoint now) {
    const std::int64_t beat = beat_of(now);
    const std::lock_guard lock(mutex_);
    auto at = clients_.find(client);
    if (at == clients_.end()) {
        make_room();
        at = clients_.emplace(std::string(client), Counts{}).first;
        at->second.last = beat;
    }
    Counts& counts = at->second;
    if (beat - counts.last >= static_cast<std::int64_t>(kBeats)) {
        counts.of = {};
        counts.last = beat;
    }
    while (counts.last < beat) {
        counts.of[place_of(++counts.last)] = 0;
    }
    ++counts.of[place_of(counts.last)];
}

void OwnRates::make_room() {
    if (clients_.size() < kMostClients) {
        return;
    }
    clients_.erase(std::min_element(
        clients_.begin(), clients_.end(),
        [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

std::vector<OwnRates::Client> OwnRates::list(core::TimePoint now) const {
    const std::int64_t last = beat_of(now);
    std::vector<Client> clients;
    const std::lock_guard lock(mutex_);
    for (const auto& [name, counts] : clients_) {
        Client client{.name = name};
        for (std::size_t back = 0; back < kBeats; ++back) {
            const std::int64_t beat = last - static_cast<std::int64_t>(back);
            const bool kept =
                beat <= counts.last && counts.last - beat < static_cast<std::int64_t>(kBeats);
            const std::uint64_t calls = kept ? counts.of[place_of(beat)] : 0;
            client.calls += calls;
            client.latest += back < kLatest ? calls : 0;
        }
        if (client.calls > 0) {
            clients.push_back(std::move(client));
        }
    }
    std::sort(clients.begin(), clients.end(), [](const Client& a, const Client& b) {
        return std::tie(b.calls, a.name) < std::tie(a.calls, b.name);
    });
    return clients;
}

}  // namespace weir::upstream
