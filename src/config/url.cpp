#include "config/url.hpp"

#include "config/encoding.hpp"
#include "config/names.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <optional>

namespace weir::config {
namespace {

constexpr std::size_t kMaxUrlLength = 8 * kKiB;
constexpr std::size_t kSecretSegmentLength = 16;  // shorter path segments are words like `v2`
constexpr std::size_t kSecretPieceLength = 8;     // shorter pieces say nothing about their origin

struct Parts {
    bool tls = false;
    std::string_view user_info;
    std::string_view host;
    std::string_view port;  // empty where none is written
    std::string_view path;
    std::string_view query;  // with its `?`, or empty
};

core::Error wrong(const char* what) { return core::Error{what}; }

bool is_control_or_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; }

// The characters that may stand in a path or query; a few beyond RFC 3986 (`[`, `]`) pass.
bool is_target_character(char c) {
    return c > ' ' && c <= '~' && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
}

std::optional<core::Error> judge_characters(std::string_view text) {
    if (text.size() > kMaxUrlLength) {
        return wrong("is longer than 8 KiB");
    }
    if (std::any_of(text.begin(), text.end(), is_control_or_blank)) {
        return wrong("must not hold spaces or control characters");
    }
    if (std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; })) {
        return wrong("must be ASCII: a host in its xn-- form, anything else percent-encoded");
    }
    if (text.find('#') != std::string_view::npos) {
        return wrong("must not have a fragment (#...)");
    }
    return std::nullopt;
}

core::Result<Parts> split(std::string_view text) {
    Parts parts;
    const std::size_t mark = text.find("://");
    const std::string scheme = core::to_lower(text.substr(0, mark));
    if (mark == std::string_view::npos || (scheme != "http" && scheme != "https")) {
        return wrong("must be an absolute http or https URL");
    }
    parts.tls = scheme == "https";
    const std::string_view rest = text.substr(mark + 3);
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    std::string_view authority = rest.substr(0, end);
    const std::string_view target = rest.substr(end);
    const std::size_t query = std::min(target.find('?'), target.size());
    parts.path = target.substr(0, query);
    parts.query = target.substr(query);
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
        parts.user_info = authority.substr(0, at);
        authority.remove_prefix(at + 1);
    }
    const std::size_t colon = authority.rfind(':');
    const std::size_t bracket = authority.rfind(']');
    const bool has_port =
        colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
    parts.host = authority.substr(0, has_port ? colon : std::string_view::npos);
    parts.port = has_port ? authority.substr(colon + 1) : std::string_view();
    if (has_port && parts.port.empty()) {
        return wrong("has a colon without a port after its host");
    }
    return parts;
}

// The host in the form that Url keeps.
core::Result<std::string> read_host(std::string_view text) {
    const bool v6 = text.starts_with('[') && text.ends_with(']');
    auto host = parse_host(v6 ? text.substr(1, text.size() - 2) : text);
    if (text.empty()) {
        return wrong("has no host");
    }
    if (!host || v6 != (host->find(':') != std::string::npos)) {
        return wrong("has a host that is neither a DNS name nor an IP address");
    }
    return {boost::system::in_place_value, std::move(*host)};
}

// The value of an Authorization header (RFC 7617), with its secrets.
core::Result<std::string> read_user_info(std::string_view user_info,
                                         std::vector<std::string>& secrets) {
    const std::size_t colon = user_info.find(':');
    const auto user = percent_decode(user_info.substr(0, colon));
    const auto password = percent_decode(
        colon == std::string_view::npos ? std::string_view() : user_info.substr(colon + 1));
    if (!user || !password || user->find(':') != std::string::npos) {
        return wrong("has user-info that cannot be read");
    }
    const std::string pair = *user + ":" + *password;
    if (std::any_of(pair.begin(), pair.end(),
                    [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; })) {
        return wrong("has control characters in its user-info");
    }
    std::string credentials = base64(pair);
    secrets.insert(secrets.end(), {*user, *password, pair, credentials});
    return {boost::system::in_place_value, "Basic " + credentials};
}

// Small letters and dashes, as in `/ethereum/mainnet`.
bool is_word(std::string_view segment) {
    return std::all_of(segment.begin(), segment.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

enum class Segments { unless_short, unless_words };

void collect_segments(std::string_view path, Segments which, std::vector<std::string>& secrets) {
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        const std::string_view segment = path.substr(0, slash);
        if (segment.size() >= kSecretSegmentLength ||
            (which == Segments::unless_words && !is_word(segment))) {
            secrets.emplace_back(segment);
        }
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
}

void collect_query(std::string_view query, std::vector<std::string>& secrets) {
    while (!query.empty()) {
        const std::size_t end = std::min(query.find_first_of("&;"), query.size());
        const std::string_view pair = query.substr(0, end);
        const std::size_t equals = pair.find('=');
        secrets.emplace_back(equals == std::string_view::npos ? pair : pair.substr(equals + 1));
        query.remove_prefix(std::min(end + 1, query.size()));
    }
}

// A piece from the environment that is a part of the host, but not all of it, is likely a key
// (some providers hand out host names that are one); people see it as `***`.
std::string label_of(const std::string& host, const std::vector<std::string>& pieces) {
    std::string label = host;
    for (const std::string& raw : pieces) {
        const std::string piece = core::to_lower(raw);
        if (piece.size() < kSecretPieceLength || piece.size() >= host.size()) {
            continue;
        }
        for (std::size_t at = label.find(piece); at != std::string::npos;
             at = label.find(piece, at + 3)) {
            label.replace(at, piece.size(), "***");
        }
    }
    return label;
}

// What the environment put in is secret; where it is the host, only the host is not.
void collect_pieces(const Text& text, const Parts& parts, std::vector<std::string>& secrets) {
    if (text.pieces.empty()) {
        return;
    }
    for (const std::string& piece : text.pieces) {
        const bool names_host =
            core::iequals(piece, parts.host) ||
            core::iequals(piece, std::string(parts.host) + ":" + std::string(parts.port));
        if (!names_host) {
            secrets.push_back(piece);
        }
    }
    if (parts.path.size() > 1) {
        secrets.push_back(std::string(parts.path) + std::string(parts.query));
    }
    collect_segments(parts.path, Segments::unless_words, secrets);
}

}  // namespace

std::string Url::host_header() const {
    const bool v6 = host.find(':') != std::string::npos;
    const std::string name = v6 ? "[" + host + "]" : host;
    return port == (tls ? 443 : 80) ? name : name + ":" + std::to_string(port);
}

core::Result<ParsedUrl> parse_url(const Text& text) {
    if (auto error = judge_characters(text.value)) {
        return std::move(*error);
    }
    auto parts = split(text.value);
    if (!parts) {
        return parts.error();
    }
    auto host = read_host(parts->host);
    if (!host) {
        return host.error();
    }
    ParsedUrl parsed;
    Url& url = parsed.url;
    url.tls = parts->tls;
    url.host = std::move(*host);
    url.label = label_of(url.host, text.pieces);
    url.port = url.tls ? 443 : 80;
    if (!parts->port.empty()) {
        const auto port = parse_port(parts->port);
        if (!port) {
            return wrong("has a port that is not 1 to 65535");
        }
        url.port = *port;
    }
    if (!parts->user_info.empty()) {
        auto authorization = read_user_info(parts->user_info, parsed.secrets);
        if (!authorization) {
            return authorization.error();
        }
        url.authorization = Secret(std::move(*authorization));
        parsed.secrets.emplace_back(parts->user_info);
    }
    const std::string target =
        (parts->path.empty() ? "/" : std::string(parts->path)) + std::string(parts->query);
    if (!std::all_of(target.begin(), target.end(), is_target_character) ||
        !percent_decode(target)) {
        return wrong("has characters in its path or query that must be percent-encoded");
    }
    url.target = Secret(target);
    collect_segments(parts->path, Segments::unless_short, parsed.secrets);
    collect_query(parts->query.empty() ? parts->query : parts->query.substr(1), parsed.secrets);
    collect_pieces(text, *parts, parsed.secrets);
    return parsed;
}

}  // namespace weir::config
