// Certificates made at test time: an authority and what it signs.
#pragma once

#include "support/temporary_file.hpp"

#include <memory>
#include <string>

struct x509_st;
struct evp_pkey_st;

namespace weir::test {

struct CertificateDeleter {
    void operator()(x509_st* certificate) const;
    void operator()(evp_pkey_st* key) const;
};

struct Certificate {
    std::unique_ptr<x509_st, CertificateDeleter> certificate;
    std::unique_ptr<evp_pkey_st, CertificateDeleter> key;

    std::string certificate_pem() const;
    std::string key_pem() const;
    std::string encrypted_key_pem() const;  // with a passphrase
};

// A certificate authority; `signed_by` nobody means by itself.
Certificate make_authority(const std::string& name);

// `names` as OpenSSL writes subject alternative names: `DNS:localhost,IP:127.0.0.1`. Valid from an
// hour ago for `valid_seconds`, which may be negative (expired). Self-signed without an authority.
Certificate make_certificate(const Certificate* authority, const std::string& names,
                             long valid_seconds = 3600);
}  // namespace weir::test
