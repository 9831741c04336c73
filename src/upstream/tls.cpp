#include "upstream/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <array>
#include <utility>

namespace weir::upstream {
namespace {

bool is_ip_literal(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

// Which name the peer must prove, and the one it is told (SNI knows no addresses).
bool set_name(SSL* ssl, std::string name) {
    if (is_ip_literal(name)) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
    }
    if (name.ends_with('.')) {
        name.pop_back();
    }
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // Spelled out: the macro for it casts in the old style.
    return SSL_set1_host(ssl, name.c_str()) == 1 &&
           SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) == 1;
}

}  // namespace

core::Result<std::shared_ptr<TlsContext>> TlsContext::create(const std::string& ca_file) {
    ERR_clear_error();
    auto made = std::make_shared<TlsContext>();
    made->context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* context = made->context_.get();
    if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        return core::Error{"TLS cannot be set up: " + runtime::last_tls_error("out of memory")};
    }
    const int loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context)
                                       : SSL_CTX_load_verify_file(context, ca_file.c_str());
    if (loaded != 1) {
        const char* what = ca_file.empty() ? "the system's certificates cannot be loaded: "
                                           : "no certificates can be read from the file: ";
        return core::Error{what + runtime::last_tls_error("unknown reason")};
    }
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    SSL_CTX_set_alpn_protos(context, kHttp11.data(), kHttp11.size());
    // Each upstream keeps its own newest ticket; a common store would mix them up.
    SSL_CTX_set_session_cache_mode(context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(context, [](SSL* ssl, SSL_SESSION* session) {
        static_cast<TlsTicket*>(SSL_get_app_data(ssl))->session_.reset(session);
        return 1;  // the reference is ours now
    });
    return made;
}

std::unique_ptr<TlsSession> make_session(const TlsContext& context, const std::string& name,
                                         const config::UpstreamTls& settings, TlsTicket& ticket) {
    ERR_clear_error();
    SSL* const ssl = SSL_new(context.context_.get());
    std::unique_ptr<TlsSession> made = TlsSession::over(ssl);
    if (!made) {
        return nullptr;
    }
    SSL_set_connect_state(ssl);
    SSL_set_app_data(ssl, &ticket);
    SSL_set_verify(ssl, settings.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
    if (!set_name(ssl, settings.server_name.empty() ? name : settings.server_name)) {
        return nullptr;
    }
    if (ticket.session_ && SSL_SESSION_is_resumable(ticket.session_.get()) == 1) {
        SSL_set_session(ssl, ticket.session_.get());
    }
    return made;
}

}  // namespace weir::upstream
