// What `weir health` makes of a reply.
#include "app/health.hpp"

#include "support/catch.hpp"

using weir::app::trouble_in;

TEST_CASE("a reply to the question for readiness is put into words") {
    const auto reply = [](const std::string& status, const std::string& body) {
        return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body;
    };
    CHECK_FALSE(trouble_in(reply("200 OK", "ready\n")));
    CHECK(trouble_in(reply("503 Service Unavailable", "not ready\n")) == "HTTP 503: not ready");
    CHECK(trouble_in(reply("403 Forbidden",
                           R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":)"
                           R"("this Host is not served","data":{"type":"forbidden_host"}}})")) ==
          "HTTP 403: this Host is not served");
    CHECK(trouble_in(reply("404 Not Found", "")) == "HTTP 404");
    CHECK(trouble_in("HTTP/1.1 500") == "HTTP 500");
    CHECK(trouble_in(reply("502 Bad", "<h1>\x1b[31mred\nmore")) == "HTTP 502: <h1> [31mred");
    CHECK(trouble_in(reply("502 Bad", std::string(1000, 'x')))->size() == 10 + 200);
    for (const char* other : {"", "SSH-2.0-OpenSSH", "HTTP/1.1 ", "HTTP/1.1 2", "HTTP/1.1 2x0 "}) {
        CHECK(trouble_in(other) == "what answers does not speak HTTP");
    }
}
