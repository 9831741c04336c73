// What the admin pages show, gathered from the parts of the daemon.
#pragma once

#include "app/reload.hpp"
#include "core/published.hpp"
#include "core/time.hpp"
#include "proxy/observations.hpp"
#include "proxy/serving.hpp"
#include "proxy/transaction_records.hpp"
#include "runtime/ports.hpp"
#include "server/admin.hpp"
#include "server/state.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"
#include "upstream/pool.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::app {

// References must outlive it.
class DaemonSource final : public server::AdminSource {
  public:
    DaemonSource(const core::Published<proxy::Serving>& serving,
                 const proxy::TransactionRecords& records, const proxy::Observations& observations,
                 const upstream::RecentTraffic& unrouted, telemetry::Metrics& metrics,
                 const server::ServerState& state, const runtime::Clock& clock, telemetry::Log& log,
                 std::string version, std::function<ReloadReport()> reload);

    bool ready(std::optional<std::string_view> chain) override;
    std::string metrics() override;
    std::string status_json() override;
    std::optional<std::string> transaction_json(std::string_view hash) override;
    std::string observations_json() override;
    std::string disagreements_json() override;
    std::string clients_json() override;
    Outcome reload() override;
    std::optional<std::string> set_service(std::string_view chain, std::string_view upstream,
                                           Service service) override;

  private:
    using Chains = std::vector<std::shared_ptr<proxy::ChainContext>>;
    Chains chains() const { return serving_.get()->chains; }

    const core::Published<proxy::Serving>& serving_;
    const proxy::TransactionRecords& records_;
    const proxy::Observations& observations_;
    const upstream::RecentTraffic& unrouted_;
    telemetry::Metrics& metrics_;
    const server::ServerState& state_;
    const runtime::Clock& clock_;
    telemetry::Log& log_;
    const std::string version_;
    const std::function<ReloadReport()> reload_;
    const core::TimePoint started_;
};

}  // namespace weir::app
