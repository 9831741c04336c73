// The provider profiles, compiled once at start: rules, costs, batch sizes, where waits are
// written.
#pragma once

#include "config/providers.hpp"
#include "routing/retry_after.hpp"
#include "routing/rule_set.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::routing {

// Immutable; any thread.
class Profile {
  public:
    // `generic` may be the profile itself.
    Profile(const config::ProviderProfile& own, const config::ProviderProfile& generic);

    const std::string& name() const { return name_; }
    const RuleSet& rules() const { return rules_; }
    const std::vector<WaitSource>& waits() const { return waits_; }
    std::size_t batch_max() const { return batch_; }  // 0: not known; 1: no arrays

    // In the provider's own units; a method without a cost has the default one.
    std::uint64_t cost(std::string_view method) const;

  private:
    std::string name_;
    RuleSet rules_;
    std::vector<WaitSource> waits_;
    std::size_t batch_;
    std::map<std::string, std::uint64_t, std::less<>> costs_;
    std::vector<std::pair<std::string, std::uint64_t>> cost_patterns_;
    std::uint64_t default_cost_ = 1;
};

class ProviderBook {
  public:
    explicit ProviderBook(const config::Providers& providers);

    // The profile of that name, else `generic`. Lives as long as the book.
    const Profile& get(std::string_view name) const;

  private:
    std::vector<std::unique_ptr<const Profile>> profiles_;
    const Profile* generic_ = nullptr;
};

}  // namespace weir::routing
