// TLS for upstream connections: what is trusted, and sessions that prove a name.
#pragma once

#include "config/config.hpp"
#include "core/result.hpp"
#include "runtime/tls_session.hpp"

#include <memory>
#include <string>

namespace weir::upstream {

using runtime::TlsDeleter;
using runtime::TlsSession;

class TlsTicket;

// A store of trusted certificates and the settings that all sessions share: TLS 1.2 and later.
class TlsContext {
  public:
    // `ca_file` in PEM; empty: the system's store. An error names no path.
    static core::Result<std::shared_ptr<TlsContext>> create(const std::string& ca_file);

  private:
    friend std::unique_ptr<TlsSession> make_session(const TlsContext& context,
                                                    const std::string& name,
                                                    const config::UpstreamTls& settings,
                                                    TlsTicket& ticket);
    std::unique_ptr<ssl_ctx_st, TlsDeleter> context_;
};

// The newest session ticket of one upstream, for resuming. Must outlive the sessions that use it.
class TlsTicket {
  public:
    TlsTicket() = default;
    TlsTicket(const TlsTicket&) = delete;
    TlsTicket& operator=(const TlsTicket&) = delete;

  private:
    friend class TlsContext;
    friend std::unique_ptr<TlsSession> make_session(const TlsContext& context,
                                                    const std::string& name,
                                                    const config::UpstreamTls& settings,
                                                    TlsTicket& ticket);
    std::unique_ptr<ssl_session_st, TlsDeleter> session_;
};

// A session to be begun. Nothing if OpenSSL is out of memory. `name` is what the certificate must
// be for: a DNS name or an IP literal.
std::unique_ptr<TlsSession> make_session(const TlsContext& context, const std::string& name,
                                         const config::UpstreamTls& settings, TlsTicket& ticket);

}  // namespace weir::upstream
