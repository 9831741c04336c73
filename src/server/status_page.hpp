// The page of /status for people: one document with its style and script inside. What it shows it
// asks /api/status and its neighbours for. Its source is status_page/page.html, page.css and
// page.js.
#pragma once

#include <string>
#include <string_view>

namespace weir::server {

// The document. Its style and its script run under this nonce only, which must be new each time.
std::string status_page(std::string_view nonce);

// The header lines that belong to it: nothing from elsewhere, no frames, no other script.
std::string status_page_headers(std::string_view nonce);

// The parts as they were when this program was built; ASCII.
std::string_view status_page_html();
std::string_view status_page_css();
std::string_view status_page_js();

}  // namespace weir::server
