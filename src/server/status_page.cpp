#include "server/status_page.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::server {

std::string status_page(std::string_view nonce) {
    const std::array<std::pair<std::string_view, std::string_view>, 3> parts = {{
        {"{{nonce}}", nonce},
        {"{{style}}", status_page_css()},
        {"{{script}}", status_page_js()},
    }};
    std::string page;
    std::string_view rest = status_page_html();
    while (!rest.empty()) {
        const std::size_t open = rest.find("{{", rest.starts_with("{{") ? 2 : 0);
        page += rest.substr(0, open);
        rest.remove_prefix(std::min(open, rest.size()));
        for (const auto& [name, text] : parts) {
            if (rest.starts_with(name)) {
                page += text;
                rest.remove_prefix(name.size());
                break;
            }
        }
    }
    return page;
}

std::string status_page_headers(std::string_view nonce) {
    const std::string own = "'nonce-" + std::string(nonce) + "'";
    return "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
           "Referrer-Policy: no-referrer\r\n"
           "Content-Security-Policy: default-src 'none'; script-src " +
           own + "; style-src " + own +
           "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";
}

}  // namespace weir::server
