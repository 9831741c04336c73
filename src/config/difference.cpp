#include "config/difference.hpp"

#include <algorithm>

namespace weir::config {
namespace {

bool same_endpoint(const Upstream& a, const Upstream& b) {
    return a.name == b.name && a.url == b.url && a.headers == b.headers && a.tls == b.tls;
}

// A configuration has at most one chain of an id; its name is how it is called.
bool same_chain(const Chain& a, const Chain& b) { return a.chain_id == b.chain_id; }

template <class T, class Same>
std::optional<std::size_t> place_of(const std::vector<T>& all, const T& wanted, Same same) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const T& each) { return same(each, wanted); });
    return found != all.end() ? std::optional(static_cast<std::size_t>(found - all.begin()))
                              : std::nullopt;
}

}  // namespace

Difference compare(const Config& before, const Config& after) {
    Difference difference;
    const bool same_providers = before.providers == after.providers;
    for (const Chain& chain : after.chains) {
        ChainChange& change = difference.chains.emplace_back();
        change.before = place_of(before.chains, chain, same_chain);
        for (const Upstream& upstream : chain.upstreams) {
            change.upstreams.push_back(
                change.before
                    ? place_of(before.chains[*change.before].upstreams, upstream, same_endpoint)
                    : std::nullopt);
        }
        change.same = change.before && same_providers && before.chains[*change.before] == chain;
    }
    for (std::size_t i = 0; i < before.chains.size(); ++i) {
        if (!place_of(after.chains, before.chains[i], same_chain)) {
            difference.removed.push_back(i);
        }
    }
    return difference;
}

std::vector<Problem> changes_of_fixed_keys(const Config& before, const Config& after) {
    constexpr const char* kWhy = "cannot change while weir runs; restart it for that";
    std::vector<Problem> problems;
    if (before.server.listen != after.server.listen) {
        problems.push_back({"server.listen", kWhy});
    }
    if (before.server.threads != after.server.threads) {
        problems.push_back({"server.threads", kWhy});
    }
    if (before.admin.listen != after.admin.listen) {
        problems.push_back({"admin.listen", kWhy});
    }
    return problems;
}

}  // namespace weir::config
