#include "config/secrets.hpp"

#include "config/encoding.hpp"

#include <algorithm>
#include <optional>

namespace weir::config {

void Secrets::keep(std::string value) {
    if (value.size() >= kMinSecretLength) {
        values_.insert(std::move(value));
    }
}

void Secrets::add(const std::string& value) {
    keep(value);
    const std::optional<std::string> decoded = percent_decode(value);
    const std::string& plain = decoded ? *decoded : value;
    keep(plain);
    keep(percent_encode(plain, HexCase::upper));
    keep(percent_encode(plain, HexCase::lower));
    if (plain != value) {  // a `%` that was meant literally
        keep(percent_encode(value, HexCase::upper));
    }
}

std::vector<core::Secret> Secrets::take() const {
    std::vector<core::Secret> secrets;
    secrets.reserve(values_.size());
    for (const std::string& value : values_) {
        secrets.emplace_back(value);
    }
    std::sort(secrets.begin(), secrets.end(), [](const core::Secret& a, const core::Secret& b) {
        const std::string& x = a.reveal();
        const std::string& y = b.reveal();
        return x.size() != y.size() ? x.size() > y.size() : x < y;
    });
    return secrets;
}

}  // namespace weir::config
