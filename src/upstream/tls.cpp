#include "upstream/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <array>
#include <utility>

namespace weir::upstream {
namespace {

constexpr std::size_t kRing = 17 * 1024;  // one record of the largest size, each way

bool is_ip_literal(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

std::string last_error(const char* fallback) {
    const unsigned long code = ERR_peek_last_error();
    const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
    ERR_clear_error();
    return reason != nullptr ? reason : fallback;
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

void TlsDeleter::operator()(ssl_st* ssl) const { SSL_free(ssl); }
void TlsDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void TlsDeleter::operator()(ssl_session_st* session) const { SSL_SESSION_free(session); }
void TlsDeleter::operator()(bio_st* bio) const { BIO_free(bio); }

core::Result<std::shared_ptr<TlsContext>> TlsContext::create(const std::string& ca_file) {
    ERR_clear_error();
    auto made = std::make_shared<TlsContext>();
    made->context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* context = made->context_.get();
    if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        return core::Error{"TLS cannot be set up: " + last_error("out of memory")};
    }
    const int loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context)
                                       : SSL_CTX_load_verify_file(context, ca_file.c_str());
    if (loaded != 1) {
        const char* what = ca_file.empty() ? "the system's certificates cannot be loaded: "
                                           : "no certificates can be read from the file: ";
        return core::Error{what + last_error("unknown reason")};
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

std::unique_ptr<TlsSession> TlsSession::create(const TlsContext& context, const std::string& name,
                                               const config::UpstreamTls& settings,
                                               TlsTicket& ticket) {
    ERR_clear_error();
    std::unique_ptr<TlsSession> made(new TlsSession);
    made->ssl_.reset(SSL_new(context.context_.get()));
    SSL* ssl = made->ssl_.get();
    BIO* inner = nullptr;
    BIO* outer = nullptr;
    if (ssl == nullptr || BIO_new_bio_pair(&inner, kRing, &outer, kRing) != 1) {
        return nullptr;
    }
    SSL_set_bio(ssl, inner, inner);
    made->network_.reset(outer);
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

TlsSession::~TlsSession() {
    // OpenSSL takes a session that is dropped without this as broken and forbids to resume it.
    if (ssl_ && problem_.empty() && SSL_is_init_finished(ssl_.get()) == 1) {
        SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }
}

TlsSession::Step TlsSession::result_of(int result) {
    if (result > 0) {
        return Step::done;
    }
    switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return Step::needs_input;
        case SSL_ERROR_WANT_WRITE:
            return Step::needs_output;
        case SSL_ERROR_ZERO_RETURN:
            return Step::closed;
        default: {
            const long verified = SSL_get_verify_result(ssl_.get());
            problem_ = "TLS: ";
            problem_ += verified != X509_V_OK && SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE
                            ? X509_verify_cert_error_string(verified)
                            : last_error("protocol error");
            ERR_clear_error();
            return Step::failed;
        }
    }
}

TlsSession::Step TlsSession::handshake() {
    ERR_clear_error();
    return result_of(SSL_do_handshake(ssl_.get()));
}

bool TlsSession::resumed() const { return SSL_session_reused(ssl_.get()) == 1; }

TlsSession::Step TlsSession::read(std::span<char> into, std::size_t& count) {
    ERR_clear_error();
    return result_of(SSL_read_ex(ssl_.get(), into.data(), into.size(), &count));
}

TlsSession::Step TlsSession::write(std::span<const char> from, std::size_t& count) {
    ERR_clear_error();
    return result_of(SSL_write_ex(ssl_.get(), from.data(), from.size(), &count));
}

std::span<const char> TlsSession::output() {
    char* begin = nullptr;
    const int size = BIO_nread0(network_.get(), &begin);
    return size > 0 ? std::span<const char>(begin, static_cast<std::size_t>(size))
                    : std::span<const char>();
}

void TlsSession::sent(std::size_t bytes) {
    char* begin = nullptr;
    BIO_nread(network_.get(), &begin, static_cast<int>(bytes));
}

std::span<char> TlsSession::input() {
    char* begin = nullptr;
    const int size = BIO_nwrite0(network_.get(), &begin);
    return size > 0 ? std::span<char>(begin, static_cast<std::size_t>(size)) : std::span<char>();
}

void TlsSession::received(std::size_t bytes) {
    char* begin = nullptr;
    BIO_nwrite(network_.get(), &begin, static_cast<int>(bytes));
}

bool TlsSession::is_quiet() {
    // Peeking lets OpenSSL work off what is no data, such as tickets.
    char byte = 0;
    std::size_t count = 0;
    ERR_clear_error();
    const Step step = result_of(SSL_peek_ex(ssl_.get(), &byte, 1, &count));
    return step == Step::needs_input && SSL_has_pending(ssl_.get()) == 0 &&
           BIO_ctrl_pending(SSL_get_rbio(ssl_.get())) == 0;
}

void TlsSession::close() {
    if (problem_.empty() && SSL_is_init_finished(ssl_.get()) == 1) {
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
        ERR_clear_error();
    }
}

}  // namespace weir::upstream
