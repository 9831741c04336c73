// The RPC listener's rules: which paths, methods and content types reach the request handler.
#pragma once

#include "server/site.hpp"
#include "server/state.hpp"

namespace weir::server {

class RpcSite final : public Site {
  public:
    // The state's settings say how large a body may be.
    RpcSite(const ServerState& state, proxy::RequestHandler& handler)
        : settings_(state.settings), handler_(handler) {}

    Decision decide(const RequestHead& head, const OriginVerdict& origin) override;
    proxy::Route route_of(std::string_view path) override { return handler_.chain_of(path); }
    void refused(const proxy::Refused& request) override { handler_.refused(request); }

  private:
    core::Published<Settings>::Reader settings_;
    proxy::RequestHandler& handler_;
};

// `application/json` or `application/json-rpc`, with any parameters.
bool is_json_type(std::string_view content_type);

}  // namespace weir::server
