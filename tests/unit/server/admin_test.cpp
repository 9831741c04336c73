#include "server/admin.hpp"

#include "support/catch.hpp"

#include <optional>
#include <string>
#include <variant>

using namespace weir;
using namespace weir::server;

namespace {

class Source final : public AdminSource {
  public:
    bool ready(std::optional<std::string_view> chain) override {
        return chain ? *chain == "ethereum" : is_ready;
    }
    std::string metrics() override { return "weir_connections 1\n"; }
    std::string status_json() override { return "{}"; }
    std::optional<std::string> transaction_json(std::string_view hash) override {
        return hash == "0xab" ? std::optional<std::string>(R"({"hash":"0xab"})") : std::nullopt;
    }
    std::string observations_json() override { return R"({"observations":[]})"; }
    std::string disagreements_json() override { return R"({"disagreements":[]})"; }
    std::string clients_json() override { return R"({"clients":[]})"; }
    std::optional<std::string> set_service(std::string_view chain, std::string_view upstream,
                                           Service service) override {
        if (chain != "ethereum" || upstream != "infura") {
            return std::nullopt;
        }
        drained = service == Service::drain;
        return "{}";
    }

    Outcome reload() override {
        ++reloads;
        return {422, R"({"reloaded":false,"problems":[]})"};
    }

    int reloads = 0;
    bool is_ready = true;
    bool drained = false;
};

int status_of(const Decision& decision) {
    if (const auto* reply = std::get_if<Reply>(&decision)) {
        return reply->status;
    }
    const auto* refusal = std::get_if<Refusal>(&decision);
    return refusal != nullptr ? refusal->status : 0;
}

std::string headers_of(const Decision& decision) {
    if (const auto* reply = std::get_if<Reply>(&decision)) {
        return reply->headers;
    }
    return std::string(std::get<Refusal>(decision).headers);
}

RequestHead get(std::string_view path, std::string_view authorization = {}) {
    RequestHead head;
    head.method = Method::get;
    head.path = path;
    head.authorization = authorization;
    return head;
}

}  // namespace

TEST_CASE("admin pages and who sees them") {
    struct Case {
        const char* token;
        Reach reach;
        const char* path;
        const char* authorization;
        int status;
    };
    const Case cases[] = {
        {"", Reach::loopback, "/livez", "", 200},
        {"", Reach::loopback, "/api/status", "", 200},
        {"", Reach::loopback, "/api/disagreements", "", 200},
        {"", Reach::loopback, "/status", "", 200},
        {"", Reach::network, "/status", "", 401},
        {"secret", Reach::network, "/status", "Basic YWRtaW46c2VjcmV0", 200},
        {"", Reach::network, "/api/disagreements", "", 401},
        {"", Reach::loopback, "/api/elsewhere", "", 404},
        {"", Reach::loopback, "/", "", 404},
        {"", Reach::network, "/livez", "", 200},
        {"", Reach::network, "/readyz", "", 200},
        {"", Reach::network, "/metrics", "", 200},
        {"", Reach::network, "/api/status", "", 401},
        {"", Reach::network, "/api/status", "Bearer ", 401},
        {"", Reach::network, "/elsewhere", "", 401},
        {"secret", Reach::loopback, "/metrics", "", 200},
        {"secret", Reach::loopback, "/api/status", "", 401},
        {"secret", Reach::loopback, "/api/status", "Bearer secret", 200},
        {"secret", Reach::network, "/api/status", "bearer secret", 200},
        {"secret", Reach::network, "/api/status", "Bearer Secret", 401},
        {"secret", Reach::network, "/api/status", "Bearer secretsecret", 401},
        {"secret", Reach::network, "/api/status", "Bearer secre", 401},
        {"secret", Reach::network, "/api/status", "Bearer", 401},
        {"secret", Reach::network, "/api/status", "secret", 401},
        {"secret", Reach::network, "/api/status", "Basic YWRtaW46c2VjcmV0", 200},  // admin:secret
        {"secret", Reach::network, "/api/status", "Basic OnNlY3JldA==", 200},      // :secret
        {"secret", Reach::network, "/api/status", "Basic c2VjcmV0", 401},          // secret
        {"secret", Reach::network, "/api/status", "Basic c2VjcmV0Og==", 401},      // secret:
        {"secret", Reach::network, "/api/status", "Basic %%%", 401},
        {"secret", Reach::network, "/api/status", "Digest secret", 401},
    };
    for (const Case& one : cases) {
        INFO(one.token << " " << one.path << " " << one.authorization);
        Source source;
        AdminSite site(core::Secret(one.token), one.reach, source);
        const Decision decision = site.decide(get(one.path, one.authorization), {});
        CHECK(status_of(decision) == one.status);
        CHECK(headers_of(decision).find("nosniff") != std::string::npos);
        CHECK(headers_of(decision).find("default-src 'none'") != std::string::npos);
        CHECK((headers_of(decision).find("WWW-Authenticate: Bearer") != std::string::npos) ==
              (one.status == 401));
    }
}

TEST_CASE("readiness, of all and of one chain") {
    Source source;
    AdminSite site(core::Secret(), Reach::loopback, source);
    const auto status = [&](std::string_view query) {
        RequestHead head = get("/readyz");
        head.query = query;
        return status_of(site.decide(head, {}));
    };
    CHECK(status("") == 200);
    CHECK(status("chain=ethereum") == 200);
    CHECK(status("chain=other") == 503);
    CHECK(status("chain") == 503);
    CHECK(status("x=y&chain=ethereum") == 200);
    CHECK(status("mychain=other") == 200);
    source.is_ready = false;
    CHECK(status("") == 503);
    CHECK(status("x=chain=ethereum") == 503);
}

TEST_CASE("admin pages are only read") {
    Source source;
    AdminSite site(core::Secret(), Reach::loopback, source);
    for (const Method method : {Method::post, Method::options, Method::connect, Method::other}) {
        RequestHead head = get("/livez");
        head.method = method;
        const Decision decision = site.decide(head, {});
        CHECK(status_of(decision) == 405);
        CHECK(headers_of(decision).find("Allow: GET, HEAD\r\n") != std::string::npos);
    }
    RequestHead head = get("/metrics");
    head.method = Method::head;
    CHECK(status_of(site.decide(head, {})) == 200);
}

TEST_CASE("an operator drains and resumes an upstream; nobody else's page can") {
    Source source;
    AdminSite site(core::Secret(), Reach::loopback, source);
    RequestHead head;
    head.method = Method::post;
    head.path = "/api/upstreams/ethereum/infura/drain";
    head.content_type = "application/json";
    CHECK(status_of(site.decide(head, {})) == 200);
    CHECK(source.drained);
    head.path = "/api/upstreams/ethereum/infura/resume";
    CHECK(status_of(site.decide(head, {})) == 200);
    CHECK_FALSE(source.drained);

    head.path = "/api/upstreams/ethereum/infura/drain";
    RequestHead foreign = head;
    foreign.origin = "http://localhost:3000";
    CHECK(status_of(site.decide(foreign, {})) == 403);
    RequestHead form = head;
    form.content_type = "text/plain";
    CHECK(status_of(site.decide(form, {})) == 415);
    form.content_type.reset();
    CHECK(status_of(site.decide(form, {})) == 415);
    RequestHead read = head;
    read.method = Method::get;
    const Decision refused = site.decide(read, {});
    CHECK(status_of(refused) == 405);
    CHECK(headers_of(refused).find("Allow: POST") != std::string::npos);
    for (const char* path :
         {"/api/upstreams/ethereum/other/drain", "/api/upstreams/x/infura/drain",
          "/api/upstreams/ethereum/infura/stop", "/api/upstreams/drain", "/api/upstreams//drain"}) {
        head.path = path;
        CHECK(status_of(site.decide(head, {})) == 404);
    }
    CHECK_FALSE(source.drained);

    AdminSite shown(core::Secret(), Reach::network, source);
    head.path = "/api/upstreams/ethereum/infura/drain";
    CHECK(status_of(shown.decide(head, {})) == 401);
    CHECK_FALSE(source.drained);
}
