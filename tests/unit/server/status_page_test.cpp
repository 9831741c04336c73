#include "server/status_page.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <string>

using namespace weir::server;

TEST_CASE("the status page is one document, under its own nonce") {
    const std::string page = status_page("N0nce");
    CHECK(page.starts_with("<!doctype html>"));
    CHECK(page.find("<style nonce=\"N0nce\">") != page.npos);
    CHECK(page.find("<script nonce=\"N0nce\">") != page.npos);
    CHECK(page.find(status_page_css()) != page.npos);
    CHECK(page.find(status_page_js()) != page.npos);
    CHECK(page.find("{{nonce}}") == page.npos);
    CHECK(page.find("</html>") != page.npos);
    // Nothing from elsewhere, nothing that would end the script or run markup.
    for (const char* never : {"http://", "src=", "@import", "url(", "innerHTML", "insertAdjacent",
                              "document.write", "eval("}) {
        const std::size_t at = page.find(never);
        const bool namespaced =
            at != page.npos && page.substr(at).starts_with("http://www.w3.org/2000/svg");
        CHECK((at == page.npos || namespaced));
    }
    CHECK(status_page_js().find("</script") == std::string_view::npos);
    CHECK(std::all_of(page.begin(), page.end(), [](char c) { return c > 0; }));
}

TEST_CASE("its headers allow nothing but itself") {
    const std::string headers = status_page_headers("N0nce");
    for (const char* part :
         {"default-src 'none'", "script-src 'nonce-N0nce'", "style-src 'nonce-N0nce'",
          "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'",
          "X-Content-Type-Options: nosniff\r\n"}) {
        CHECK(headers.find(part) != headers.npos);
    }
    CHECK(headers.find("unsafe") == headers.npos);
}
