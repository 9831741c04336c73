// What `weir probe` found, for people, for programs, and as an entry of a configuration. Pure.
#pragma once

#include "probe/endpoint.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::app {

struct ProbeReport {
    std::string endpoint;  // host, and port where it is not the scheme's
    std::string name;      // proposed for the upstream
    std::string provider;
    std::optional<std::string> url;  // as it was given, where no part of it is secret
    unsigned requests = 0;
    unsigned limited = 0;
    bool cut_short = false;
    probe::Findings found;
};

std::string as_table(const ProbeReport& report);
std::string as_json(const std::vector<ProbeReport>& reports);

// One item of `upstreams:` in YAML; only what was found for certain and is not the default.
std::string as_entry(const ProbeReport& report);

// The URL as it was given if nothing of it has to be hidden: no user-info, no query value and no
// path segment of 16 characters or more but from `${...}`. Nothing otherwise.
std::optional<std::string> showable_url(std::string_view given);

// A name for an upstream of this profile at this host.
std::string proposed_name(std::string_view provider, std::string_view host_label);

}  // namespace weir::app
