#include "app/descriptors.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sys/resource.h>

namespace weir::app {
namespace {

constexpr std::size_t kMostTurnedAway = 64;

// A request in flight takes a connection to one upstream, and no upstream has more than it may.
std::size_t connections_to_upstreams(const config::Config& config) {
    std::size_t most = 0;
    for (const config::Chain& chain : config.chains) {
        for (const config::Upstream& upstream : chain.upstreams) {
            most += std::min(upstream.max_in_flight, config.server.max_in_flight);
        }
    }
    return std::min(most, config.server.max_in_flight);
}

}  // namespace

std::size_t raise_descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return std::numeric_limits<int>::max();
    }
    const rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        limit.rlim_cur = soft;
    }
    return static_cast<std::size_t>(
        std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int>::max()));
}

std::size_t own_descriptors(std::size_t limit) {
    constexpr std::size_t kLeast = 2;
    constexpr std::size_t kMost = 256;  // 128 admin connections, and files and look-ups
    return std::clamp(limit / 16, kLeast, kMost);
}

DescriptorShares share_descriptors(std::size_t limit, std::size_t in_use,
                                   const config::Config& config) {
    DescriptorShares shares;
    shares.own = own_descriptors(limit);
    const std::size_t taken = in_use + shares.own;
    std::size_t left = limit > taken ? limit - taken : 0;
    shares.turned_away = std::clamp<std::size_t>(left / 16, 1, kMostTurnedAway);
    left -= std::min(left, shares.turned_away);
    const std::size_t upstreams = std::min(connections_to_upstreams(config), left / 2);
    shares.clients =
        std::max<std::size_t>(1, std::min(config.server.max_connections, left - upstreams));
    return shares;
}

}  // namespace weir::app
