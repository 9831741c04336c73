// One request's life, phase by phase: parse, plan, run, assemble, respond, account.
#pragma once

#include "config/config.hpp"
#include "jsonrpc/request.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/exchange.hpp"
#include "proxy/filter_table.hpp"
#include "proxy/services.hpp"
#include "proxy/transaction_records.hpp"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::proxy {

// The chains that paths name: `/ethereum`, `/1`, and `/` for the default one.
class Routes {
  public:
    explicit Routes(const std::vector<config::Chain>& chains);
    std::optional<Route> find(std::string_view path) const;

  private:
    std::unordered_map<std::string, std::size_t> by_path_;
};

class Handler final : public RequestHandler {
  public:
    // The contexts are the process's, shared with the other workers' handlers.
    Handler(const config::Config& config, Services& services,
            const std::vector<std::unique_ptr<ChainContext>>& chains, FilterTable& filters,
            TransactionRecords& records);
    ~Handler() override;

    std::optional<Route> route(std::string_view path) const override;
    runtime::Task<> handle(const ClientRequest& request, ResponseSink& sink) override;
    void refused(const GatewayError& error, std::string_view request_id,
                 std::string_view peer) override;

  private:
    struct Chain;

    runtime::Task<> refuse(const ClientRequest& request, GatewayError error, Chain& chain,
                           ResponseSink& sink);
    runtime::Task<> handle_single(const ClientRequest& request, jsonrpc::Request calls,
                                  Chain& chain, ResponseSink& sink);
    runtime::Task<> handle_batch(const ClientRequest& request, jsonrpc::Request calls, Chain& chain,
                                 ResponseSink& sink);

    const jsonrpc::RequestLimits limits_;
    const Routes routes_;
    Services& services_;
    FilterTable& filters_;
    TransactionRecords& records_;
    std::vector<Chain> chains_;
};

}  // namespace weir::proxy
