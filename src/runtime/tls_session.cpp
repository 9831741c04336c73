#include "runtime/tls_session.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace weir::runtime {
namespace {

constexpr std::size_t kRing = 17 * 1024;  // one record of the largest size, each way

}  // namespace

std::string last_tls_error(const char* fallback) {
    const unsigned long code = ERR_peek_last_error();
    const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
    ERR_clear_error();
    return reason != nullptr ? reason : fallback;
}

void TlsDeleter::operator()(ssl_st* ssl) const { SSL_free(ssl); }
void TlsDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void TlsDeleter::operator()(ssl_session_st* session) const { SSL_SESSION_free(session); }
void TlsDeleter::operator()(bio_st* bio) const { BIO_free(bio); }

std::unique_ptr<TlsSession> TlsSession::over(ssl_st* ssl) {
    std::unique_ptr<TlsSession> made(new TlsSession);
    made->ssl_.reset(ssl);
    BIO* inner = nullptr;
    BIO* outer = nullptr;
    if (ssl == nullptr || BIO_new_bio_pair(&inner, kRing, &outer, kRing) != 1) {
        return nullptr;
    }
    SSL_set_bio(ssl, inner, inner);
    made->network_.reset(outer);
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
                            : last_tls_error("protocol error");
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

// Peeking lets OpenSSL work off what is no data, such as tickets.
TlsSession::Step TlsSession::peek() {
    char byte = 0;
    std::size_t count = 0;
    ERR_clear_error();
    return result_of(SSL_peek_ex(ssl_.get(), &byte, 1, &count));
}

bool TlsSession::is_quiet() {
    return peek() == Step::needs_input && SSL_has_pending(ssl_.get()) == 0 &&
           BIO_ctrl_pending(SSL_get_rbio(ssl_.get())) == 0;
}

void TlsSession::close() {
    if (problem_.empty() && SSL_is_init_finished(ssl_.get()) == 1) {
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
        ERR_clear_error();
    }
}

}  // namespace weir::runtime
