// TLS on the listener, as far as a client without TLS sees it; tests/e2e/tls.test.mjs has the rest.
#include "support/catch.hpp"
#include "support/certificates.hpp"
#include "support/daemon.hpp"
#include "support/rpc.hpp"
#include "support/simulators.hpp"

#include <chrono>
#include <string>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Provider;

namespace {

struct Secured {
    Certificate own = make_certificate(nullptr, "DNS:localhost,IP:127.0.0.1");
    TemporaryFile certificate{own.certificate_pem()};
    TemporaryFile key{own.key_pem()};

    DaemonConfig config(const Provider& provider) const {
        DaemonConfig config = DaemonConfig::with({provider.url()});
        config.server = {
            "tls: {certificate: " + certificate.path() + ", private_key: " + key.path() + "}",
            "header_timeout: 500ms"};
        return config;
    }
};

}  // namespace

TEST_CASE("what is no TLS, and a handshake that stops, are closed", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    const Secured secured;
    Daemon daemon(secured.config(provider));
    REQUIRE(daemon.wait_until_ready());
    const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    for (const std::string& bytes :
         {std::string("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), std::string(2000, '\xff'),
          std::string(), hello, std::string(1, '\x16')}) {
        CAPTURE(bytes);
        RawClient client(daemon.rpc_address());
        const auto start = std::chrono::steady_clock::now();
        client.send(bytes);
        const std::string answer = client.read_to_end();
        CHECK(answer.find("HTTP/") == std::string::npos);
        CHECK(std::chrono::steady_clock::now() - start < 5s);
    }
    CHECK(wait_until([&] {
        return daemon.admin("/metrics").body.find("weir_connections 0\n") != std::string::npos;
    }));
}

TEST_CASE("a certificate without its key, or another's, is a problem", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    const Secured secured;
    const Certificate other = make_certificate(nullptr, "DNS:localhost");
    const TemporaryFile other_key(other.key_pem());
    const TemporaryFile nonsense("nonsense");
    const auto problem_of = [&](const std::string& certificate, const std::string& key) {
        DaemonConfig config = DaemonConfig::with({provider.url()});
        config.server = {"tls: {certificate: " + certificate + ", private_key: " + key + "}"};
        const TemporaryFile file(config.to_yaml());
        Process process(weir_command({"check", "--config", file.path()}));
        CHECK(process.wait_for_exit().value_or(-1) == 2);
        return process.all_output();
    };
    CHECK(problem_of(secured.certificate.path(), other_key.path()).find("server.tls.private_key") !=
          std::string::npos);
    CHECK(problem_of(nonsense.path(), other_key.path()).find("server.tls.certificate") !=
          std::string::npos);
    const TemporaryFile encrypted(other.encrypted_key_pem());
    CHECK(problem_of(secured.certificate.path(), encrypted.path())
              .find("server.tls.private_key: the file is encrypted with a passphrase") !=
          std::string::npos);
    CHECK(problem_of(secured.certificate.path(), "/nonexistent").find("server.tls.private_key") !=
          std::string::npos);
}

TEST_CASE("files that a reload cannot read are told under their keys", "[daemon]") {
    Simulators simulators;
    Provider& provider = simulators.add();
    const Secured secured;
    const TemporaryFile nonsense("nonsense");
    DaemonConfig config = secured.config(provider);
    Daemon daemon(config);
    REQUIRE(daemon.wait_until_ready());
    config.server = {"tls: {certificate: " + secured.certificate.path() +
                     ", private_key: " + nonsense.path() + "}"};
    daemon.configure(config);
    const HttpResponse refused = daemon.reload();
    CHECK(refused.status == 422);
    CHECK(refused.body.find(R"({"path":"server.tls.private_key","problem":"no key)") !=
          std::string::npos);
}
