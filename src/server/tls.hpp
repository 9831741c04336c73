// TLS on the listener: a certificate with its key, and sessions that show it.
#pragma once

#include "config/config.hpp"
#include "config/problem.hpp"
#include "core/result.hpp"
#include "runtime/tls_session.hpp"

#include <memory>

namespace weir::server {

// TLS 1.2 and later, HTTP/1.1 by ALPN. Immutable; any thread. Sessions outlive it.
class ListenerTls {
  public:
    // Null where none is configured. A problem names the key.
    static core::Result<std::shared_ptr<const ListenerTls>, config::Problem> create(
        const config::ListenerTls& settings);

    // A session to be begun by the client; nothing if OpenSSL is out of memory.
    std::unique_ptr<runtime::TlsSession> accept() const;

  private:
    std::unique_ptr<ssl_ctx_st, runtime::TlsDeleter> context_;
};

}  // namespace weir::server
