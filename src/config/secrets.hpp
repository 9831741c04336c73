// The collection of every secret value met while loading.
#pragma once

#include "core/secret.hpp"

#include <set>
#include <string>
#include <vector>

namespace weir::config {

// Shorter values are not kept: blanking `1` or `eth` out of other text would leave nothing of it,
// and a secret of seven characters hides nothing.
constexpr std::size_t kMinSecretLength = 8;

class Secrets {
  public:
    // Keeps the value and its percent-decoded and percent-encoded forms.
    void add(const std::string& value);

    std::vector<core::Secret> take() const;  // longest first, so that a part never hides a whole

  private:
    void keep(std::string value);

    std::set<std::string> values_;
};

}  // namespace weir::config
