#include "server/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <string>
#include <utility>

namespace weir::server {
namespace {

constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int choose_protocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void* /*argument*/) {
    unsigned char* found = nullptr;
    if (SSL_select_next_proto(&found, size, kHttp11.data(), kHttp11.size(), offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

// A key that needs a passphrase has nobody to ask for it: OpenSSL would ask on the terminal.
int no_passphrase(char* /*into*/, int /*size*/, int /*writing*/, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
}

config::Problem problem(const char* key, const char* what) {
    return {std::string("server.tls.") + key,
            std::string(what) + ": " + runtime::last_tls_error("unknown reason")};
}

config::Problem encrypted(const char* key) {
    return {std::string("server.tls.") + key,
            "the file is encrypted with a passphrase, and there is nobody to ask for it; store the "
            "key without one, readable by weir alone"};
}

}  // namespace

core::Result<std::shared_ptr<const ListenerTls>, config::Problem> ListenerTls::create(
    const config::ListenerTls& settings) {
    if (settings.certificate.empty()) {
        return std::shared_ptr<const ListenerTls>();
    }
    ERR_clear_error();
    auto made = std::make_shared<ListenerTls>();
    made->context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX* const context = made->context_.get();
    if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        return problem("certificate", "TLS cannot be set up");
    }
    SSL_CTX_set_options(
        context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    // Clients resume by tickets, which cost no memory here.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
    bool asked = false;
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &asked);
    if (SSL_CTX_use_certificate_chain_file(context, settings.certificate.c_str()) != 1) {
        return asked ? encrypted("certificate")
                     : problem("certificate", "no certificate can be read from the file");
    }
    if (SSL_CTX_use_PrivateKey_file(context, settings.private_key.c_str(), SSL_FILETYPE_PEM) != 1) {
        return asked
                   ? encrypted("private_key")
                   : problem("private_key", "no key for the certificate can be read from the file");
    }
    SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
    return std::shared_ptr<const ListenerTls>(std::move(made));
}

std::unique_ptr<runtime::TlsSession> ListenerTls::accept() const {
    ERR_clear_error();
    SSL* const ssl = SSL_new(context_.get());
    if (ssl != nullptr) {
        SSL_set_accept_state(ssl);
    }
    return runtime::TlsSession::over(ssl);
}

}  // namespace weir::server
