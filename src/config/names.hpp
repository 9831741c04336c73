// The grammars of the names that a configuration holds. All are ASCII; none admits control
// characters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::config {

// `[a-z][a-z0-9-]*`, 64 long at most: it is a path segment of the RPC listener.
bool is_chain_name(std::string_view name);

// Letters, digits, `.`, `_`, `-`, starting with a letter or digit, 64 long at most: it is a path
// segment of the admin listener and a metric label.
bool is_upstream_name(std::string_view name);

// Letters, digits, `_`, `.`, `-` and `*` for any run of them, 128 long at most.
bool is_method_pattern(std::string_view pattern);

// RFC 9110 token.
bool is_header_name(std::string_view name);

// Headers that belong to the connection or to the message that the gateway writes itself.
bool is_reserved_header(std::string_view name);

// Visible ASCII and blanks, with no blank at either end; not empty.
bool is_header_value(std::string_view value);

// Visible ASCII without blanks, not empty: what fits a Bearer or Basic credential.
bool is_token(std::string_view token);

// A host in lower case: a DNS name in ASCII, or an IP literal, v6 without brackets and in its
// canonical form. Nothing for anything else.
std::optional<std::string> parse_host(std::string_view text);
bool is_ip_literal(std::string_view host);

// A network in CIDR notation, or one address, as `address/bits`; nothing where bits beyond the
// prefix are set, or for anything else.
std::optional<std::string> parse_network(std::string_view text);

// A web origin as browsers send it (RFC 6454): `scheme://host[:port]`, in lower case and without
// the scheme's own port; or `*`. Nothing for anything else.
std::optional<std::string> parse_origin(std::string_view text);

// A port, 1 to 65535 in decimal.
std::optional<std::uint16_t> parse_port(std::string_view text);

}  // namespace weir::config
