// A string that must not be printed: streams and formatters see `***`.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace weir::core {

class Secret {
  public:
    Secret() = default;
    explicit Secret(std::string value) : value_(std::move(value)) {}

    // The one way to the value; every use of it is a place to review.
    const std::string& reveal() const { return value_; }
    bool empty() const { return value_.empty(); }

    friend bool operator==(const Secret&, const Secret&) = default;

  private:
    std::string value_;
};

inline std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "***"; }

}  // namespace weir::core
