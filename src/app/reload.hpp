// What came of reading the configuration again, for the log and for who asked.
#pragma once

#include "config/config.hpp"
#include "config/difference.hpp"
#include "config/problem.hpp"
#include "telemetry/log.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::app {

struct ReloadReport {
    enum class End : std::uint8_t {
        reloaded,
        refused,  // nothing has changed; the problems say why
        ending,   // likewise: weir is
    } end = End::reloaded;
    std::vector<config::Problem> problems;

    // Names of chains.
    std::vector<std::string> kept;
    std::vector<std::string> changed;
    std::vector<std::string> added;
    std::vector<std::string> removed;

    // Names of clients, and other keys.
    std::vector<std::string> clients_added;
    std::vector<std::string> clients_removed;
    std::vector<std::string> clients_changed;
    std::vector<std::string> settings;

    bool waiting = false;  // takes effect as soon as the new upstreams can serve

    int status() const { return end == End::reloaded ? 200 : end == End::refused ? 422 : 409; }
};

ReloadReport refused(std::vector<config::Problem> problems);
ReloadReport report_of(const config::Config& before, const config::Config& after,
                       const config::Difference& difference);

std::string to_json(const ReloadReport& report);

// One line for a success, one for each problem. `trigger` says who asked: SIGHUP, or the path.
void log_reload(telemetry::Log& log, const ReloadReport& report, std::string_view trigger);

}  // namespace weir::app
