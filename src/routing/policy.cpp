#include "routing/policy.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace weir::routing {
namespace {

bool matches_any(const std::vector<std::string>& patterns, std::string_view name) {
    return std::any_of(patterns.begin(), patterns.end(), [name](const std::string& pattern) {
        return core::glob_match(pattern, name);
    });
}

}  // namespace

MethodPolicy::MethodPolicy(std::vector<std::string> deny, std::vector<std::string> allow)
    : restricts_(!deny.empty() || !allow.empty()),
      deny_(std::move(deny)),
      allow_(std::move(allow)) {
    for (std::size_t number = 1; number < method_count(); ++number) {
        denied_.set(number, !allows_name(method_at(number).name));
    }
}

MethodPolicy::MethodPolicy(const config::Methods& methods)
    : MethodPolicy(methods.deny, methods.allow) {}

bool MethodPolicy::allows_name(std::string_view name) const {
    return !matches_any(deny_, name) && (allow_.empty() || matches_any(allow_, name));
}

MethodBook::MethodBook(std::vector<std::string> read_patterns) : reads_(std::move(read_patterns)) {}

const MethodTraits& MethodBook::find(std::string_view name) const {
    const MethodTraits& traits = find_method(name);
    if (!traits.known() && !reads_.empty() && matches_any(reads_, name)) {
        return configured_read();
    }
    return traits;
}

}  // namespace weir::routing
