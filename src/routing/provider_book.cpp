#include "routing/provider_book.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace weir::routing {
namespace {

constexpr std::string_view kDefaultCost = "default";

std::vector<const std::vector<config::ProviderRule>*> layers_of(
    const config::ProviderProfile& own, const config::ProviderProfile& generic) {
    if (own.name == generic.name) {
        return {&own.rules};
    }
    return {&own.rules, &generic.rules};
}

}  // namespace

Profile::Profile(const config::ProviderProfile& own, const config::ProviderProfile& generic)
    : name_(own.name), rules_(layers_of(own, generic)), batch_(own.batch) {
    for (const auto* sources : {&own.waits, &generic.waits}) {
        for (const std::string& source : *sources) {
            waits_.push_back(wait_source(source));
        }
    }
    const auto& costs = own.costs.empty() ? generic.costs : own.costs;
    for (const auto& [method, cost] : costs) {
        if (method == kDefaultCost) {
            default_cost_ = cost;
        } else if (method.find('*') != method.npos) {
            cost_patterns_.emplace_back(method, cost);
        } else {
            costs_.emplace(method, cost);
        }
    }
    // The longest says the most.
    std::stable_sort(cost_patterns_.begin(), cost_patterns_.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::uint64_t Profile::cost(std::string_view method) const {
    if (const auto at = costs_.find(method); at != costs_.end()) {
        return at->second;
    }
    for (const auto& [pattern, cost] : cost_patterns_) {
        if (core::glob_match(pattern, method)) {
            return cost;
        }
    }
    return default_cost_;
}

ProviderBook::ProviderBook(const config::Providers& providers) {
    config::ProviderProfile none;
    none.name = config::kGenericProvider;
    const config::ProviderProfile* generic = providers.find(config::kGenericProvider);
    const config::ProviderProfile& shared = generic != nullptr ? *generic : none;
    for (const config::ProviderProfile& profile : providers.profiles) {
        profiles_.push_back(std::make_unique<const Profile>(profile, shared));
    }
    if (generic == nullptr) {
        profiles_.push_back(std::make_unique<const Profile>(shared, shared));
    }
    generic_ = &get(config::kGenericProvider);
}

const Profile& ProviderBook::get(std::string_view name) const {
    const auto at = std::find_if(profiles_.begin(), profiles_.end(),
                                 [name](const auto& profile) { return profile->name() == name; });
    return at != profiles_.end() ? **at : *generic_;
}

}  // namespace weir::routing
