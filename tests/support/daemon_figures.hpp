// What a daemon counts, read from its admin pages.
#pragma once

#include "jsonrpc/value.hpp"
#include "support/daemon.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::test {

// What a series of /metrics stands at; nothing where it is not there.
inline std::optional<double> metric(const Daemon& daemon, std::string_view series) {
    const std::string page = daemon.admin("/metrics").body;
    const std::string line = '\n' + std::string(series) + ' ';
    const std::size_t at = page.find(line);
    return at == std::string::npos ? std::nullopt
                                   : std::optional(std::stod(page.substr(at + line.size())));
}

// What the first chain's clients met lately: a list of `recent` in /api/status, summed up.
inline double recent(const Daemon& daemon, std::string_view list) {
    const std::string status = daemon.admin("/api/status").body;
    const auto chain = jsonrpc::element(jsonrpc::member(status, "chains"), 0);
    const auto values = jsonrpc::member(jsonrpc::member(chain, "recent"), list);
    double sum = 0;
    for (std::size_t i = 0; i < jsonrpc::element_count(values); ++i) {
        sum += std::stod(std::string(jsonrpc::element(values, i)));
    }
    return sum;
}

}  // namespace weir::test
