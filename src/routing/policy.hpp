// Which methods an operator lets through: allow and deny patterns, compiled once.
#pragma once

#include "config/config.hpp"
#include "routing/methods.hpp"

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

// Patterns match without regard to case; `*` stands for any run of characters. Deny wins over
// allow; an empty allow list allows all. Known methods cost one bit, unknown ones are matched.
class MethodPolicy {
  public:
    MethodPolicy() = default;
    MethodPolicy(std::vector<std::string> deny, std::vector<std::string> allow);
    explicit MethodPolicy(const config::Methods& methods);

    // `traits` must be find_method(name).
    bool allows(const MethodTraits& traits, std::string_view name) const {
        if (!restricts_) {
            return true;
        }
        const std::size_t number = method_number(traits);
        return number != 0 ? !denied_.test(number) : allows_name(name);
    }

  private:
    bool allows_name(std::string_view name) const;

    bool restricts_ = false;
    std::vector<std::string> deny_;
    std::vector<std::string> allow_;
    std::bitset<kMaxMethods> denied_;
};

// A chain's view of a method: the table's, or for a name that is not in it what the operator's
// `methods.reads` say. A pattern never turns a method of the table into something else.
class MethodBook {
  public:
    explicit MethodBook(std::vector<std::string> read_patterns);
    const MethodTraits& find(std::string_view name) const;

  private:
    std::vector<std::string> reads_;
};

}  // namespace weir::routing
