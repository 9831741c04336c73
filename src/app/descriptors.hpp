// How the process's file descriptors are shared out.
#pragma once

#include "config/config.hpp"

#include <cstddef>

namespace weir::app {

// Raises the soft limit (RLIMIT_NOFILE) to the hard one where that is allowed. Returns the one that
// holds.
std::size_t raise_descriptor_limit();

struct DescriptorShares {
    std::size_t clients = 0;      // connections at a time
    std::size_t turned_away = 0;  // connections beyond these that are told so, at a time
    std::size_t own = 0;          // the admin listener, files, look-ups of names
};

// Of `limit` descriptors `in_use` are taken for good (listeners, event loops). What is left is
// never less than what clients, upstreams and the program itself get, but for one each.
DescriptorShares share_descriptors(std::size_t limit, std::size_t in_use,
                                   const config::Config& config);

// That many of the highest descriptors are not for upstreams. It depends on the limit alone.
std::size_t own_descriptors(std::size_t limit);

}  // namespace weir::app
