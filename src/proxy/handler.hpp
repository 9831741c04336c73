// One request's life, phase by phase: parse, plan, run, assemble, respond, account.
#pragma once

#include "core/published.hpp"
#include "jsonrpc/request.hpp"
#include "proxy/exchange.hpp"
#include "proxy/filter_table.hpp"
#include "proxy/services.hpp"
#include "proxy/serving.hpp"
#include "proxy/transaction_records.hpp"

#include <memory>
#include <string_view>

namespace weir::proxy {

struct ServedChain;

class Handler final : public RequestHandler {
  public:
    // All but the services is shared with the other workers' handlers.
    Handler(const core::Published<Serving>& serving, Services& services, FilterTable& filters,
            TransactionRecords& records);
    ~Handler() override;

    // Lets go of what is served no more, but for the requests that began with it.
    void refresh();

    core::Result<Route, RouteError> route(const RouteRequest& request) override;
    runtime::Task<> handle(const ClientRequest& request, ResponseSink& sink) override;
    Route chain_of(std::string_view path) override;
    void refused(const Refused& request) override;

  private:
    runtime::Task<> refuse(const ClientRequest& request, GatewayError error, ServedChain& chain,
                           ResponseSink& sink);
    runtime::Task<> handle_single(const ClientRequest& request, jsonrpc::Request calls,
                                  ServedChain& chain, ClientPlace held, ResponseSink& sink);
    runtime::Task<> handle_batch(const ClientRequest& request, jsonrpc::Request calls,
                                 ServedChain& chain, ClientPlace held, ResponseSink& sink);

    core::Published<Serving>::Reader serving_;
    std::shared_ptr<ServingView> view_;
    Services& services_;
    FilterTable& filters_;
    TransactionRecords& records_;
};

}  // namespace weir::proxy
