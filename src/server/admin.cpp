#include "server/admin.hpp"

#include "core/text.hpp"
#include "runtime/secure.hpp"
#include "server/rpc_site.hpp"
#include "server/status_page.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::server {
namespace {

// Nothing that is shown may be taken for a page, framed, or kept by a cache.
#define WEIR_ADMIN_HEADERS                                           \
    "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n" \
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"

constexpr std::string_view kHeaders = WEIR_ADMIN_HEADERS;
constexpr std::string_view kAllow = WEIR_ADMIN_HEADERS "Allow: GET, HEAD\r\n";
constexpr std::string_view kAllowPost = WEIR_ADMIN_HEADERS "Allow: POST\r\n";
constexpr std::string_view kAuthenticate =
    WEIR_ADMIN_HEADERS "WWW-Authenticate: Bearer\r\nWWW-Authenticate: Basic realm=\"weir\"\r\n";

#undef WEIR_ADMIN_HEADERS

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kMetricsText = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kJson = "application/json";

enum class Page : std::uint8_t {
    livez,
    readyz,
    metrics,
    status_page,
    status_json,
    observations_json,
    disagreements_json,
    clients_json,
    transaction,
    service,  // of one upstream; changes it
    reload,
};

constexpr std::string_view kTransactions = "/api/transactions/";
constexpr std::string_view kUpstreams = "/api/upstreams/";

struct ServiceRequest {
    std::string_view chain;
    std::string_view upstream;
    AdminSource::Service service = AdminSource::Service::drain;
};

// <chain>/<name>/drain or <chain>/<name>/resume.
std::optional<ServiceRequest> service_of(std::string_view path) {
    if (!path.starts_with(kUpstreams)) {
        return std::nullopt;
    }
    path.remove_prefix(kUpstreams.size());
    const auto first = path.find('/');
    const auto last = path.rfind('/');
    if (first == std::string_view::npos || first == last) {
        return std::nullopt;
    }
    const std::string_view action = path.substr(last + 1);
    if (action != "drain" && action != "resume") {
        return std::nullopt;
    }
    return ServiceRequest{
        path.substr(0, first), path.substr(first + 1, last - first - 1),
        action == "drain" ? AdminSource::Service::drain : AdminSource::Service::resume};
}

std::optional<Page> page_of(std::string_view path) {
    constexpr std::array<std::pair<std::string_view, Page>, 9> kPages = {{
        {"/livez", Page::livez},
        {"/readyz", Page::readyz},
        {"/metrics", Page::metrics},
        {"/status", Page::status_page},
        {"/api/status", Page::status_json},
        {"/api/observations", Page::observations_json},
        {"/api/disagreements", Page::disagreements_json},
        {"/api/clients", Page::clients_json},
        {"/api/reload", Page::reload},
    }};
    for (const auto& [name, page] : kPages) {
        if (name == path) {
            return page;
        }
    }
    if (path.starts_with(kTransactions)) {
        return Page::transaction;
    }
    if (service_of(path)) {
        return Page::service;
    }
    return std::nullopt;
}

// Shown to whoever can reach the listener.
bool is_open(Page page) {
    return page == Page::livez || page == Page::readyz || page == Page::metrics;
}

// The value of the first `name=value` in a query.
std::optional<std::string_view> query_value(std::string_view query, std::string_view name) {
    while (!query.empty()) {
        const auto end = query.find('&');
        const std::string_view pair = query.substr(0, end);
        const auto equals = pair.find('=');
        if (pair.substr(0, equals) == name) {
            return equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
        }
        query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    }
    return std::nullopt;
}

Reply page(int status, std::string_view type, std::string body) {
    return {.status = status,
            .content_type = type,
            .headers = std::string(kHeaders),
            .body = std::move(body)};
}

int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

std::optional<std::string> from_base64(std::string_view text) {
    while (text.ends_with('=')) {
        text.remove_suffix(1);
    }
    std::string bytes;
    unsigned held = 0;
    unsigned bits = 0;
    for (const char c : text) {
        const int digit = base64_digit(c);
        if (digit < 0) {
            return std::nullopt;
        }
        held = ((held << 6) | static_cast<unsigned>(digit)) & 0xffffU;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>((held >> bits) & 0xffU);
        }
    }
    return bytes;
}

// The time depends on the length of what was presented only.
bool equal_in_constant_time(std::string_view presented, std::string_view expected) {
    volatile unsigned char difference = presented.size() == expected.size() ? 0 : 1;
    for (std::size_t i = 0; i < presented.size(); ++i) {
        const char wanted = expected.empty() ? '\0' : expected[i % expected.size()];
        difference =
            static_cast<unsigned char>(difference | (static_cast<unsigned char>(presented[i]) ^
                                                     static_cast<unsigned char>(wanted)));
    }
    return difference == 0;
}

}  // namespace

bool carries_token(std::string_view authorization, std::string_view token) {
    const auto blank = authorization.find(' ');
    if (token.empty() || blank == std::string_view::npos) {
        return false;
    }
    const std::string_view scheme = authorization.substr(0, blank);
    const std::string_view credentials = core::trim(authorization.substr(blank));
    if (core::iequals(scheme, "Bearer")) {
        return equal_in_constant_time(credentials, token);
    }
    if (!core::iequals(scheme, "Basic")) {
        return false;
    }
    const std::optional<std::string> user_and_password = from_base64(credentials);
    const auto colon = user_and_password ? user_and_password->find(':') : std::string::npos;
    return colon != std::string::npos &&
           equal_in_constant_time(std::string_view(*user_and_password).substr(colon + 1), token);
}

AdminSite::AdminSite(core::Secret token, Reach reach, AdminSource& source)
    : token_(std::move(token)), reach_(reach), source_(source) {}

bool AdminSite::authorized(std::string_view authorization) const {
    if (token_.empty()) {
        return reach_ == Reach::loopback;
    }
    return carries_token(authorization, token_.reveal());
}

Decision AdminSite::decide(const RequestHead& head, const OriginVerdict&) {
    using proxy::ErrorType;
    const std::optional<Page> wanted = page_of(head.path);
    const bool open = wanted && is_open(*wanted);
    if (!open && !authorized(head.authorization)) {
        return Refusal{ErrorType::unauthorized, 401, "this page needs admin.token", kAuthenticate};
    }
    if (!wanted) {
        return Refusal{ErrorType::not_found, 404, "there is no such page", kHeaders};
    }
    return *wanted == Page::service || *wanted == Page::reload ? act(head) : show(head);
}

// A page of another site could send this from an operator's browser, but neither without an Origin
// nor with a JSON type.
Decision AdminSite::act(const RequestHead& head) {
    using proxy::ErrorType;
    if (head.method != Method::post) {
        return Refusal{ErrorType::http_method, 405, "this is done with POST", kAllowPost};
    }
    if (head.origin) {
        return Refusal{ErrorType::forbidden_origin, 403,
                       "nothing is changed for a request with an Origin", kHeaders};
    }
    if (!is_json_type(head.content_type.value_or(std::string_view()))) {
        return Refusal{ErrorType::media_type, 415, "the Content-Type must be application/json",
                       kHeaders};
    }
    if (page_of(head.path) == Page::reload) {
        AdminSource::Outcome outcome = source_.reload();
        return page(outcome.status, kJson, std::move(outcome.json));
    }
    const std::optional<ServiceRequest> wanted = service_of(head.path);
    std::optional<std::string> json =
        wanted ? source_.set_service(wanted->chain, wanted->upstream, wanted->service)
               : std::nullopt;
    if (json) {
        return page(200, kJson, std::move(*json));
    }
    return Refusal{ErrorType::not_found, 404, "there is no such upstream", kHeaders};
}

Decision AdminSite::show(const RequestHead& head) {
    using proxy::ErrorType;
    const std::optional<Page> wanted = page_of(head.path);
    if (head.method != Method::get && head.method != Method::head) {
        return Refusal{ErrorType::http_method, 405, "this page is read with GET", kAllow};
    }
    switch (*wanted) {
        case Page::livez:
            return page(200, kText, "ok\n");
        case Page::readyz: {
            const bool ready = source_.ready(query_value(head.query, "chain"));
            return ready ? page(200, kText, "ready\n") : page(503, kText, "not ready\n");
        }
        case Page::metrics:
            return page(200, kMetricsText, source_.metrics());
        case Page::status_page: {
            constexpr std::size_t kNonceBytes = 16;
            const std::string nonce = runtime::secure_hex(kNonceBytes);
            return Reply{.status = 200,
                         .content_type = kHtml,
                         .headers = status_page_headers(nonce),
                         .body = status_page(nonce)};
        }
        case Page::status_json:
            return page(200, kJson, source_.status_json());
        case Page::observations_json:
            return page(200, kJson, source_.observations_json());
        case Page::disagreements_json:
            return page(200, kJson, source_.disagreements_json());
        case Page::clients_json:
            return page(200, kJson, source_.clients_json());
        case Page::service:
        case Page::reload:
            break;
        case Page::transaction: {
            std::optional<std::string> json =
                source_.transaction_json(head.path.substr(kTransactions.size()));
            if (json) {
                return page(200, kJson, std::move(*json));
            }
            return Refusal{ErrorType::not_found, 404, "no transaction of this hash is on record",
                           kHeaders};
        }
    }
    return Refusal{ErrorType::not_found, 404, "there is no such page", kHeaders};
}

}  // namespace weir::server
