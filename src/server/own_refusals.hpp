// What a connection refuses by itself, before any site is asked. For the server's own .cpp files.
#pragma once

#include "server/refusal.hpp"
#include "server/state.hpp"
#include "server/wire.hpp"

#include <optional>
#include <string_view>

namespace weir::server {

constexpr unsigned kRetryAfterOverload = 1;  // seconds
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

constexpr Refusal kOverloaded{proxy::ErrorType::overloaded, 503,
                              "the gateway is at its limit; retry in a second"};
constexpr Refusal kForbiddenHost{proxy::ErrorType::forbidden_host, 403,
                                 "this Host is not served; see server.allowed_hosts"};
constexpr Refusal kForbiddenOrigin{proxy::ErrorType::forbidden_origin, 403,
                                   "this web origin is not allowed; see server.cors_origins"};

// How to answer a read that brought nothing; nothing: the client is gone.
inline std::optional<Refusal> refusal_for(Wire::Read read) {
    using proxy::ErrorType;
    switch (read) {
        case Wire::Read::expired:
            return Refusal{ErrorType::http_error, 408, "the request did not arrive in time"};
        case Wire::Read::end:
            return Refusal{ErrorType::http_error, 400, "the request ended too early"};
        case Wire::Read::no_memory:
            return kOverloaded;
        case Wire::Read::data:
        case Wire::Read::failed:
            break;
    }
    return std::nullopt;
}

// Holds a claimed place until the scope ends.
class Place {
  public:
    explicit Place(Places& places) : places_(places), held_(places.claim()) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
        if (held_) {
            places_.release();
        }
    }
    bool held() const { return held_; }

  private:
    Places& places_;
    const bool held_;
};

}  // namespace weir::server
