// What is known of providers, as data: profiles with rules for reading errors, costs and limits.
// Loaded from config/providers.yaml, which is built in, or from the operator's providers_file.
#pragma once

#include "config/problem.hpp"
#include "core/result.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::config {

// HTTP statuses from `first` to `last`.
struct StatusRange {
    int first = 0;
    int last = 0;
    friend bool operator==(const StatusRange&, const StatusRange&) = default;
};

// One rule: a reply that meets every condition given has this cause. An empty condition holds.
struct ProviderRule {
    std::string cause;
    std::vector<std::string> says;    // wordings, one of which must stand in the text
    std::vector<std::string> unless;  // wordings, none of which may
    std::vector<std::int64_t> codes;
    std::vector<StatusRange> status;
    std::vector<std::string> on;       // classes of methods (reads, sends, logs), or patterns
    std::vector<std::string> members;  // members that the error's data must have
    std::vector<std::pair<std::string, std::string>> headers;  // name, value; `*`: any value
    bool hex_data = false;                                     // data is `0x` and more
    bool batch = false;                                        // only when a batch was sent
    bool pages = false;                                        // HTML pages are read too
    friend bool operator==(const ProviderRule&, const ProviderRule&) = default;
};

struct ProviderProfile {
    std::string name;
    std::vector<std::string> hosts;  // patterns, `*` for any run of characters
    std::size_t batch = 0;           // calls in one array at most; 0: not known, 1: no arrays
    std::map<std::string, std::uint64_t> costs;  // per method, in the provider's units; `default`
    std::vector<std::string> waits;  // where a wait is written, in the order to trust it
    std::vector<ProviderRule> rules;
    friend bool operator==(const ProviderProfile&, const ProviderProfile&) = default;
};

// The profile that is used for everyone who has no other, and whose rules all others share.
constexpr std::string_view kGenericProvider = "generic";

struct Providers {
    std::vector<ProviderProfile> profiles;

    const ProviderProfile* find(std::string_view name) const;
    // The profile of a host (lower case): the first whose pattern matches, else `generic`.
    const std::string& name_of_host(std::string_view host) const;

    friend bool operator==(const Providers&, const Providers&) = default;
};

// Words in one wording at most: more would match one provider's one text only.
constexpr std::size_t kMaxWordingWords = 6;

using ProvidersResult = core::Result<Providers, std::vector<Problem>>;

// Problems carry the key's path, `profiles.alchemy.rules[3].says[0]`, after `source` and a colon.
ProvidersResult load_providers(std::string_view yaml, const std::string& source);

// The text of config/providers.yaml as it was when this program was built.
std::string_view built_in_providers_text();

// That text, loaded; the tests hold it to be without problems.
const Providers& built_in_providers();

}  // namespace weir::config
