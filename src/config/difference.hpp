// What a new configuration changes while the program runs. Pure.
#pragma once

#include "config/config.hpp"
#include "config/problem.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weir::config {

struct ChainChange {
    std::optional<std::size_t> before;  // the place of the chain of this id, if there was
    bool same = false;                  // nothing about it has changed

    // For each upstream the place of the one that was reached in the same way under the same name:
    // what is known of that one holds for it. Its rate, weight and the like may differ.
    std::vector<std::optional<std::size_t>> upstreams;
};

struct Difference {
    std::vector<ChainChange> chains;   // by their new places
    std::vector<std::size_t> removed;  // by their places before

    // Names of clients.
    std::vector<std::string> clients_added;
    std::vector<std::string> clients_removed;
    std::vector<std::string> clients_changed;

    std::vector<std::string> settings;  // the other keys that differ: `server.max_body`
};

Difference compare(const Config& before, const Config& after);

// The keys that differ although that takes a restart: what is bound for the program's life, and
// what opens the gateway to everybody.
std::vector<Problem> changes_that_need_a_restart(const Config& before, const Config& after);

}  // namespace weir::config
