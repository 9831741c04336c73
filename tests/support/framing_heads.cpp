// The framing table: lines, request lines, hosts, headers.
#include "support/framing_table.hpp"

namespace weir::test {

void add_lines(Table& table) {
    const std::string length = "Content-Length: 3\r\n";
    table.accept("an empty line before the request", "\r\n" + plain_post("abc"), "abc");
    table.refuse("two empty lines before the request", "\r\n\r\n");
    table.refuse("LF for CRLF", "POST / HTTP/1.1\nHost: localhost\nContent-Length: 3\n\nabc");
    table.refuse("LF after the request line",
                 "POST / HTTP/1.1\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc");
    table.refuse("LF after a header", post("X: y\n" + length, "abc"));
    table.refuse("LF for the empty line",
                 "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\nabc");
    table.refuse("CR in a header's value", post("X: a\rb\r\n" + length, "abc"));
    table.refuse("CR in the request line",
                 "POST /\r HTTP/1.1\r\nHost: localhost\r\n" + length + "\r\nabc");
    table.refuse("CR CR LF", post("X: y\r\r\n" + length, "abc"));
    table.refuse("a folded header", post("X: a\r\n b\r\n" + length, "abc"));
    table.refuse("a header folded with a tab", post("X: a\r\n\tb\r\n" + length, "abc"));
    table.refuse("a folded line of blanks", post("X: a\r\n \r\n" + length, "abc"));
    table.refuse("a fold before the first header",
                 "POST / HTTP/1.1\r\n Host: localhost\r\n" + length + "\r\nabc");
    table.refuse("a folded Host",
                 "POST / HTTP/1.1\r\nHost:\r\n localhost\r\n" + length + "\r\nabc");
    table.refuse("blank before the colon", post("X : y\r\n" + length, "abc"));
    table.refuse("blank before the colon of the length", post("Content-Length : 3\r\n", "abc"));
    table.refuse("tab before the colon", post("X\t: y\r\n" + length, "abc"));
    table.refuse("NUL in a value", post(with_nul("X: a\0b\r\n") + length, "abc"));
    table.refuse("NUL in a name", post(with_nul("X\0Y: a\r\n") + length, "abc"));
    table.refuse("NUL in the target",
                 with_nul("POST /\0 HTTP/1.1\r\nHost: localhost\r\n") + length + "\r\nabc");
    table.refuse("an empty name", post(": y\r\n" + length, "abc"));
    table.refuse("a line without colon", post("nonsense\r\n" + length, "abc"));
    table.refuse("a name with a parenthesis", post("X(: y\r\n" + length, "abc"));
    table.refuse("a name with a high byte", post("X\xc3\xa4: y\r\n" + length, "abc"));
    table.refuse("a control in a value", post("X: a\x01"
                                              "b\r\n" +
                                                  length,
                                              "abc"));
    table.refuse("DEL in a value", post("X: a\x7f\r\n" + length, "abc"));
    table.accept("a tab in a value", post("X: a\tb\r\n" + length, "abc"), "abc");
    table.accept("a high byte in a value", post("X: \xc3\xa4\r\n" + length, "abc"), "abc");
    table.accept("an empty value", post("X:\r\n" + length, "abc"), "abc");
    std::string fields;
    for (int i = 0; i < 98; ++i) {
        fields += "X-" + std::to_string(i) + ": y\r\n";
    }
    table.accept("100 fields", post(length + fields, "abc"), "abc");
    table.refuse("101 fields", post(length + fields + "X: y\r\n", "abc"), 431);
    table.refuse("a field of 20 KiB", post("X: " + std::string(20'480, 'y') + "\r\n" + length),
                 431);
    table.refuse("a field of 20 KiB without end", post("X: " + std::string(20'480, 'y')), 431);
    table.refuse(
        "many fields of 20 KiB together",
        post("A: " + std::string(10'000, 'y') + "\r\nB: " + std::string(10'000, 'y') + "\r\n"),
        431);
    table.refuse("a request line of 20 KiB",
                 "POST /" + std::string(20'480, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414);
    table.refuse("a request line of 9 KiB",
                 "POST /" + std::string(9'216, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414);
    table.rule("a request line of 8,000 bytes",
               "POST /" + std::string(8'000, 'x') +
                   " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
               404);
}

namespace {

std::string with_line(const std::string& line) {
    return line + "\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc";
}

}  // namespace

void add_request_lines(Table& table) {
    table.refuse("HTTP/0.9", "GET /\r\n");
    table.refuse("a method alone", "POST\r\n");
    table.refuse("HTTP/1.2", with_line("POST / HTTP/1.2"), 505);
    table.refuse("HTTP/2.0", with_line("POST / HTTP/2.0"), 505);
    table.refuse("HTTP/0.9 in words", with_line("POST / HTTP/0.9"), 505);
    table.refuse("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
    for (const char* line : {"POST / HTTP/1.10",
                             "POST / HTTP/11",
                             "POST / http/1.1",
                             "POST / HTTP/1.1 ",
                             "POST / HTTP/1.",
                             "POST / HTTP/a.1",
                             "POST /  HTTP/1.1",
                             "POST  / HTTP/1.1",
                             " POST / HTTP/1.1",
                             "POST\t/\tHTTP/1.1",
                             "POST / x HTTP/1.1",
                             "POST HTTP/1.1",
                             "PO(ST / HTTP/1.1",
                             "POST / ICAP/1.1",
                             "POST ethereum HTTP/1.1",
                             "POST * HTTP/1.1",
                             "POST ?x HTTP/1.1",
                             "POST http:// HTTP/1.1",
                             "POST ftp://localhost/ HTTP/1.1",
                             "POST http://user@localhost/ HTTP/1.1",
                             "POST http:/localhost/ HTTP/1.1",
                             "POST //localhost:x@y HTTP/1.1 x"}) {
        table.refuse(std::string("line '") + line + "'", with_line(line));
    }
    table.refuse("a TLS hello", with_nul("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"));
    table.accept("HTTP/1.0 is answered and closed", with_line("POST / HTTP/1.0"), "abc",
                 After::closed);
    table.accept("HTTP/1.0 without Host", "POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", "abc",
                 After::closed);
    table.accept("HTTP/1.0 with keep-alive",
                 "POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc", "abc",
                 After::closed);
    table.rule("HTTP/1.0 without length", "POST / HTTP/1.0\r\nHost: localhost\r\n\r\n", 411,
               After::closed);
    table.accept("a query", with_line("POST /?a=b HTTP/1.1"), "abc");
    table.accept("a chain's path", with_line("POST /ethereum HTTP/1.1"), "abc");
    table.rule("another path", with_line("POST /elsewhere HTTP/1.1"), 404);
    table.rule("another path with a long body",
               "POST /elsewhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\nabc",
               404, After::closed);
    table.accept("absolute target of this host", with_line("POST http://localhost/ HTTP/1.1"),
                 "abc");
    table.accept("absolute target without path", with_line("POST http://localhost HTTP/1.1"),
                 "abc");
    table.accept("absolute target in upper case", with_line("POST HTTP://LOCALHOST/ HTTP/1.1"),
                 "abc");
    table.rule("absolute target of a foreign host", with_line("POST http://example.com/ HTTP/1.1"),
               403);
    table.rule("absolute target without path, foreign",
               with_line("POST http://example.com HTTP/1.1"), 403);
    table.rule("GET", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    table.rule("GET with a body", with_line("GET / HTTP/1.1"), 405);
    table.rule("GET with a chunked body",
               "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
               405, After::closed);
    table.rule("HEAD", "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    table.rule("HEAD with a body", with_line("HEAD / HTTP/1.1"), 405);
    table.rule("HEAD with a chunked body",
               "HEAD / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
               405, After::closed);
    table.rule(
        "GET with a body that is late",
        "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n" + plain_post(kSmuggled),
        405, After::closed);
    table.rule("PUT", with_line("PUT / HTTP/1.1"), 405);
    table.rule("DELETE", "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    table.rule("TRACE", "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    table.rule("TRACE with a body", with_line("TRACE / HTTP/1.1"), 405);
    table.rule("CONNECT with a body", with_line("CONNECT localhost:80 HTTP/1.1"), 405);
    table.rule("CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    table.rule("an unknown method", with_line("BREW / HTTP/1.1"), 405);
    table.rule("a method in lower case", with_line("post / HTTP/1.1"), 405);
    table.rule("OPTIONS", "OPTIONS / HTTP/1.1\r\nHost: localhost\r\n\r\n", 204);
    table.rule("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 204);
}

namespace {

std::string with_host(const std::string& host) {
    return "POST / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 3\r\n\r\nabc";
}

}  // namespace

void add_hosts(Table& table) {
    table.refuse("no Host", "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
    table.refuse("two Hosts", post("Host: localhost\r\nContent-Length: 3\r\n", "abc"));
    table.refuse("two Hosts, one foreign",
                 post("Host: example.com\r\nContent-Length: 3\r\n", "abc"));
    for (const char* host : {"",
                             "localhost/path",
                             "localhost?x",
                             "local host",
                             "localhost:",
                             "localhost:port",
                             "localhost:65536",
                             "localhost:-1",
                             "localhost:8545:1",
                             "user@localhost",
                             "[::1",
                             "::1",
                             "[::1]x",
                             "[localhost]",
                             ":8545",
                             "http://localhost",
                             "localhost#",
                             "local%68ost",
                             "localhost, localhost",
                             "[::1]:",
                             "[]"}) {
        table.refuse("Host '" + std::string(host) + "'", with_host(host));
    }
    table.accept("Host with a port", with_host("localhost:8545"), "abc");
    table.accept("Host 127.0.0.1", with_host("127.0.0.1:8545"), "abc");
    table.accept("Host [::1]", with_host("[::1]:8545"), "abc");
    table.accept("Host LOCALHOST", with_host("LOCALHOST"), "abc");
    table.accept("Host localhost.", with_host("localhost."), "abc");
    table.accept("Host of another literal", with_host("10.1.2.3"), "abc");
    for (const char* host : {"example.com", "localhost.example.com", "127.0.0.1.nip.io",
                             "xlocalhost", "127.1", "2130706433", "0x7f000001"}) {
        table.rule("Host " + std::string(host), with_host(host), 403);
    }
}

void add_headers(Table& table) {
    const std::string length = "Content-Length: 3\r\n";
    for (const char* type :
         {"application/json", "application/json; charset=utf-8", "Application/JSON",
          "application/json;charset=utf-8", "application/json-rpc", " application/json "}) {
        table.accept("type " + std::string(type),
                     post("Content-Type: " + std::string(type) + "\r\n" + length, "abc"), "abc");
    }
    for (const char* type : {"text/plain", "application/jsonx", "application/x-www-form-urlencoded",
                             "json", "text/json", "application/json, text/plain"}) {
        table.rule("type " + std::string(type),
                   post("Content-Type: " + std::string(type) + "\r\n" + length, "abc"), 415);
    }
    table.refuse(
        "two types",
        post("Content-Type: application/json\r\nContent-Type: text/plain\r\n" + length, "abc"));
    table.refuse("two Origins",
                 post("Origin: http://localhost\r\nOrigin: http://x\r\n" + length, "abc"));
    table.refuse("another expectation", post("Expect: the best\r\n" + length, "abc"), 417);
    table.refuse("two expectations",
                 post("Expect: 100-continue\r\nExpect: 100-continue\r\n" + length, "abc"));
    table.accept("an expectation that is met already",
                 post("Expect: 100-continue\r\n" + length, "abc"), "abc");
    table.accept("an expectation under HTTP/1.0",
                 "POST / HTTP/1.0\r\nHost: localhost\r\nExpect: nothing\r\n" + length + "\r\nabc",
                 "abc", After::closed);
    table.accept("Connection: close", post("Connection: close\r\n" + length, "abc"), "abc",
                 After::closed);
    table.accept("Connection: Close among others",
                 post("Connection: foo, Close\r\n" + length, "abc"), "abc", After::closed);
    table.accept("Connection: keep-alive", post("Connection: keep-alive\r\n" + length, "abc"),
                 "abc");
    table.accept("Upgrade is not taken up",
                 post("Connection: Upgrade\r\nUpgrade: websocket\r\n" + length, "abc"), "abc");
    table.accept("h2c is not taken up",
                 post("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: "
                      "AAMAAABkAAQ\r\n" +
                          length,
                      "abc"),
                 "abc");
    table.rule("Upgrade by GET",
               "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "
               "websocket\r\n\r\n",
               405);
    table.rule(
        "a foreign Origin",
        post("Origin: https://example.com\r\nContent-Type: application/json\r\n" + length, "abc"),
        403);
    table.rule("an Origin without a type",
               post("Origin: http://localhost:3000\r\n" + length, "abc"), 415);
    table.accept(
        "an extension's Origin",
        post("Origin: moz-extension://abc\r\nContent-Type: application/json\r\n" + length, "abc"),
        "abc");
}

}  // namespace weir::test
