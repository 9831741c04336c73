// What stands behind a listener: it decides from a request's head what is to happen.
#pragma once

#include "proxy/exchange.hpp"
#include "proxy/pin_wish.hpp"
#include "server/access_rules.hpp"
#include "server/refusal.hpp"
#include "server/request_head.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace weir::server {

// An answer that is complete as soon as the head was read; a body of the request is thrown away.
struct Reply {
    int status = 200;
    std::string_view content_type;  // a literal; empty with an empty body
    std::string headers;            // further header lines, each with its CRLF
    std::string body;
};

// The request's body is to be read, and the handler answers.
struct Forward {
    proxy::RequestHandler* handler;
    proxy::Route route;
    std::shared_ptr<const proxy::PinWish> pin = {};  // null: its reads are not bound to a block
};

using Decision = std::variant<Forward, Reply, Refusal>;

// One per worker and listener group.
class Site {
  public:
    virtual ~Site() = default;

    // For a request whose framing, Host and Origin are good. The head's views end with the call.
    virtual Decision decide(const RequestHead& head, const OriginVerdict& origin) = 0;

    // Whom a request for this path concerns, as far as that can be told without more of it.
    virtual proxy::Route route_of(std::string_view path) = 0;

    // An error that the server answered by itself, for the log and the metrics.
    virtual void refused(const proxy::Refused& request) = 0;
};

}  // namespace weir::server
