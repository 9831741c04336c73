#include "support/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <stdexcept>
#include <unistd.h>

namespace weir::test {
namespace {

void require(bool good, const char* what) {
    if (!good) {
        throw std::runtime_error(what);
    }
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    require(extension != nullptr, "X509V3_EXT_conf_nid");
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

Certificate make(const std::string& name, const Certificate* authority, long valid_seconds) {
    Certificate made;
    made.key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    made.certificate.reset(X509_new());
    require(made.key && made.certificate, "a key and a certificate");
    X509* certificate = made.certificate.get();
    X509_set_version(certificate, 2);
    long serial = 0;
    RAND_bytes(reinterpret_cast<unsigned char*>(&serial), 4);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial + 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), valid_seconds);
    X509_set_pubkey(certificate, made.key.get());
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate, authority != nullptr
                                          ? X509_get_subject_name(authority->certificate.get())
                                          : subject);
    return made;
}

void sign(Certificate& made, const Certificate* authority) {
    EVP_PKEY* key = authority != nullptr ? authority->key.get() : made.key.get();
    require(X509_sign(made.certificate.get(), key, EVP_sha256()) > 0, "X509_sign");
}

template <class Write>
std::string to_pem(Write write) {
    BIO* bio = BIO_new(BIO_s_mem());
    write(bio);
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    std::string pem(data, static_cast<std::size_t>(size));
    BIO_free(bio);
    return pem;
}

}  // namespace

void CertificateDeleter::operator()(x509_st* certificate) const { X509_free(certificate); }
void CertificateDeleter::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

std::string Certificate::certificate_pem() const {
    return to_pem([this](BIO* bio) { PEM_write_bio_X509(bio, certificate.get()); });
}

std::string Certificate::key_pem() const {
    return to_pem([this](BIO* bio) {
        PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
}

std::string Certificate::encrypted_key_pem() const {
    const std::string passphrase = "open sesame";
    return to_pem([&](BIO* bio) {
        PEM_write_bio_PKCS8PrivateKey(bio, key.get(), EVP_aes_256_cbc(), passphrase.data(),
                                      static_cast<int>(passphrase.size()), nullptr, nullptr);
    });
}

Certificate make_authority(const std::string& name) {
    Certificate made = make(name, nullptr, 24 * 3600);
    X509* certificate = made.certificate.get();
    add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
    sign(made, nullptr);
    return made;
}

Certificate make_certificate(const Certificate* authority, const std::string& names,
                             long valid_seconds) {
    Certificate made = make("weir test peer", authority, valid_seconds);
    X509* certificate = made.certificate.get();
    X509* issuer = authority != nullptr ? authority->certificate.get() : certificate;
    add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(certificate, issuer, NID_subject_alt_name, names);
    sign(made, authority);
    return made;
}

}  // namespace weir::test
