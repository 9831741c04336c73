// The RPC listener's rules: which paths, methods and content types reach the request handler.
#pragma once

#include "server/site.hpp"

#include <cstddef>

namespace weir::server {

class RpcSite final : public Site {
  public:
    RpcSite(std::size_t max_body, proxy::RequestHandler& handler)
        : max_body_(max_body), handler_(handler) {}

    Decision decide(const RequestHead& head, const OriginVerdict& origin) override;
    void refused(const proxy::GatewayError& error, std::string_view request_id,
                 std::string_view peer) override;

  private:
    const std::size_t max_body_;
    proxy::RequestHandler& handler_;
};

// `application/json` or `application/json-rpc`, with any parameters.
bool is_json_type(std::string_view content_type);

}  // namespace weir::server
