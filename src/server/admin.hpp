// The admin listener's pages: which exist, who may see them. Their contents come from elsewhere.
#pragma once

#include "core/secret.hpp"
#include "server/site.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::server {

// What the pages show; asked on the admin worker's thread.
class AdminSource {
  public:
    virtual ~AdminSource() = default;

    // Ready for traffic; with a chain's name, that chain's present fitness (false for a name that
    // is not served).
    virtual bool ready(std::optional<std::string_view> chain) = 0;
    virtual std::string metrics() = 0;             // Prometheus text format 0.0.4
    virtual std::string status_json() = 0;         // of /api/status
    virtual std::string observations_json() = 0;   // of /api/observations
    virtual std::string disagreements_json() = 0;  // of /api/disagreements
    virtual std::string clients_json() = 0;        // of /api/clients
    // Of /api/transactions/<hash>; nothing for a hash that is not recorded.
    virtual std::optional<std::string> transaction_json(std::string_view hash) = 0;

    // POST /api/upstreams/<chain>/<name>/drain and resume: what the upstream's state is then, as
    // JSON; nothing for one that is not configured.
    enum class Service : std::uint8_t { drain, resume };
    virtual std::optional<std::string> set_service(std::string_view chain,
                                                   std::string_view upstream, Service service) = 0;

    // POST /api/reload: 200 when the new configuration is taken up, else why not; as JSON.
    struct Outcome {
        int status = 200;
        std::string json;
    };
    virtual Outcome reload() = 0;
};

// Without a token, a listener that others than this machine reach shows only /livez, /readyz and
// /metrics; with one, these three need no token either, so that probes and scrapers work.
class AdminSite final : public Site {
  public:
    AdminSite(core::Secret token, Reach reach, AdminSource& source);

    Decision decide(const RequestHead& head, const OriginVerdict& origin) override;
    // The admin listener's own errors concern nobody but who made them.
    proxy::Route route_of(std::string_view) override { return {}; }
    void refused(const proxy::Refused&) override {}

    // On the admin worker's thread.
    void set_token(core::Secret token) { token_ = std::move(token); }

  private:
    bool authorized(std::string_view authorization) const;
    Decision show(const RequestHead& head);
    Decision act(const RequestHead& head);

    core::Secret token_;
    const Reach reach_;
    AdminSource& source_;
};

// True if `authorization` carries `token` as Bearer, or as the password of Basic. The time taken
// does not tell how much of it was right.
bool carries_token(std::string_view authorization, std::string_view token);

}  // namespace weir::server
