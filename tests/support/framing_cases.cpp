#include "support/framing_cases.hpp"

#include <utility>

namespace weir::test {

const std::string kSmuggled = "smuggled";

std::string plain_post(const std::string& body) {
    return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

namespace {

using After = FramingCase::After;
using Layer = FramingCase::Layer;

class Table {
  public:
    std::vector<FramingCase> take() { return std::move(cases_); }

    void accept(std::string name, std::string bytes, std::string body, After after = After::open) {
        cases_.push_back(
            {std::move(name), std::move(bytes), 200, after, Layer::head, std::move(body)});
    }

    // A head that is refused; a smuggled request follows it.
    void refuse(std::string name, const std::string& head, int status = 400) {
        cases_.push_back(
            {std::move(name), head + plain_post(kSmuggled), status, After::closed, Layer::head});
    }

    void rule(std::string name, std::string bytes, int status, After after = After::open) {
        cases_.push_back({std::move(name), std::move(bytes), status, after, Layer::rules});
    }

    void refuse_body(std::string name, std::string bytes, int status = 400) {
        cases_.push_back({std::move(name), std::move(bytes) + plain_post(kSmuggled), status,
                          After::closed, Layer::body});
    }

  private:
    std::vector<FramingCase> cases_;
};

// A literal that holds NUL bytes.
template <std::size_t Size>
std::string with_nul(const char (&text)[Size]) {
    return {text, Size - 1};
}

// A POST with these header lines (each with its CRLF) and these bytes behind the head.
std::string post(const std::string& lines, const std::string& rest = {}) {
    return "POST / HTTP/1.1\r\nHost: localhost\r\n" + lines + "\r\n" + rest;
}

std::string chunked(const std::string& raw) { return post("Transfer-Encoding: chunked\r\n", raw); }

void add_lengths(Table& table) {
    table.accept("length", post("Content-Length: 3\r\n", "abc"), "abc");
    table.accept("length zero", post("Content-Length: 0\r\n"), "");
    table.accept("length with leading zeros", post("Content-Length: 003\r\n", "abc"), "abc");
    table.accept("length in lower case", post("content-length: 3\r\n", "abc"), "abc");
    table.accept("length without blank", post("Content-Length:3\r\n", "abc"), "abc");
    table.accept("length with blanks around", post("Content-Length: \t 3 \t\r\n", "abc"), "abc");
    for (const char* value : {"+5",
                              "-5",
                              "-0",
                              "0x5",
                              "5_0",
                              "",
                              "5.0",
                              "5e0",
                              "five",
                              "5 5",
                              "5;",
                              "\"5\"",
                              "3, 3",
                              "3,3",
                              "3, 5",
                              "3,",
                              ",3",
                              "1000000000000000000000000000000",
                              "18446744073709551616",
                              "\xd9\xa3",
                              "5\x0b"}) {
        table.refuse(std::string("length '") + value + "'",
                     post("Content-Length: " + std::string(value) + "\r\n", "abcde"));
    }
    table.refuse("length twice, equal", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"));
    table.refuse("length twice, unequal",
                 post("Content-Length: 3\r\nContent-Length: 5\r\n", "abc"));
    table.refuse("length twice, one in lower case",
                 post("Content-Length: 3\r\ncontent-length: 3\r\n", "abc"));
    table.refuse("length twice, zero first",
                 post("Content-Length: 0\r\nContent-Length: 3\r\n", "abc"));
    table.rule("length over the limit", post("Content-Length: 99999999\r\n"), 413, After::closed);
    table.rule("length of 2^64-1", post("Content-Length: 18446744073709551615\r\n"), 413,
               After::closed);
    table.rule("no length", post(""), 411, After::closed);
    table.rule("no length but bytes", post("", plain_post(kSmuggled)), 411, After::closed);
}

void add_codings(Table& table) {
    table.accept("chunked", chunked("3\r\nabc\r\n0\r\n\r\n"), "abc");
    table.accept("chunked in mixed case",
                 post("tRANSFER-eNCODING: ChUnKeD\r\n", "3\r\nabc\r\n0\r\n\r\n"), "abc");
    const std::string empty = "0\r\n\r\n";
    table.refuse("length, then chunked",
                 post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", empty));
    table.refuse("chunked, then length",
                 post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", empty));
    table.refuse("length and chunked, mixed case",
                 post("cONTENT-lENGTH: 5\r\ntRANSFER-eNCODING: cHUNKED\r\n", empty));
    table.refuse("length and an unknown coding",
                 post("Content-Length: 5\r\nTransfer-Encoding: xchunked\r\n", empty));
    table.refuse("an unknown coding and length",
                 post("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", empty));
    for (const char* value : {"gzip", "xchunked", "chunkedx", "identity", "gzip, chunked",
                              "chunked, gzip", "identity, chunked", "chunked;q=1", "\"chunked\"",
                              "deflate", "chunked chunked", "c", "chunked, identity"}) {
        table.refuse(std::string("coding ") + value,
                     post("Transfer-Encoding: " + std::string(value) + "\r\n", empty), 501);
    }
    for (const char* value : {"", "chunked, chunked", "chunked,", ",chunked", " , ", ","}) {
        table.refuse(std::string("coding '") + value + "'",
                     post("Transfer-Encoding: " + std::string(value) + "\r\n", empty));
    }
    table.refuse("coding with a vertical tab", post("Transfer-Encoding: \x0b"
                                                    "chunked\r\n",
                                                    empty));
    table.refuse("coding with a control behind", post("Transfer-Encoding: chunked\x01\r\n", empty));
    table.refuse("two codings, equal",
                 post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", empty));
    table.refuse("two codings, the second odd",
                 post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", empty));
    table.refuse("two codings, the first odd",
                 post("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", empty));
    table.refuse(
        "chunked under HTTP/1.0",
        "POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + empty);
    table.refuse("coding with a blank before the colon",
                 post("Transfer-Encoding : chunked\r\n", empty));
    table.refuse("coding in a folded line",
                 post("Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n", empty));
    table.refuse("coding in a header's folded line",
                 post("X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", empty));
    table.rule("a gzip body", post("Content-Encoding: gzip\r\nContent-Length: 3\r\n", "abc"), 415);
    table.accept("an identity body",
                 post("Content-Encoding: identity\r\nContent-Length: 3\r\n", "abc"), "abc");
}

void add_chunks(Table& table) {
    table.accept("chunks of one byte", chunked("1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"), "abc");
    table.accept("an empty chunked body", chunked("0\r\n\r\n"), "");
    table.accept("size in upper case", chunked("A\r\n0123456789\r\n0\r\n\r\n"), "0123456789");
    table.accept("size in lower case", chunked("a\r\n0123456789\r\n0\r\n\r\n"), "0123456789");
    table.accept("size with 16 digits", chunked("0000000000000003\r\nabc\r\n00000000\r\n\r\n"),
                 "abc");
    table.accept("extension", chunked("3;a=b\r\nabc\r\n0;last\r\n\r\n"), "abc");
    table.accept("quoted extension", chunked("3;a=\"b; c\"\r\nabc\r\n0\r\n\r\n"), "abc");
    table.accept("a harmless trailer", chunked("3\r\nabc\r\n0\r\nX-Checksum: 1\r\n\r\n"), "abc");
    table.accept("data that looks like an end", chunked("5\r\n0\r\n\r\n\r\n0\r\n\r\n"),
                 "0\r\n\r\n");
    for (const char* size :
         {"0x3", "-1", "+3", " 3", "3 ", "3\t", "\t3", "", "g", "3g", "3_0", "3.0", "3,3", ";a",
          "00000000000000003", "ffffffffffffffff0", "\"3\"", "3 ;a", "3:"}) {
        table.refuse_body(std::string("chunk size '") + size + "'",
                          chunked(std::string(size) + "\r\nabc\r\n0\r\n\r\n"));
    }
    for (const char* size : {"ffffffffffffffff", "7fffffffffffffff", "ffffffff", "10000000"}) {
        table.refuse_body(std::string("chunk size ") + size,
                          chunked(std::string(size) + "\r\nabc\r\n0\r\n\r\n"), 413);
    }
    table.refuse_body("chunk longer than its size", chunked("3\r\nabcd\r\n0\r\n\r\n"));
    table.refuse_body("chunk without CRLF", chunked("3\r\nabc0\r\n\r\n"));
    table.refuse_body("chunk with LF only", chunked("3\r\nabc\n0\r\n\r\n"));
    table.refuse_body("chunk with CR only", chunked("3\r\nabc\rx0\r\n\r\n"));
    table.refuse_body("size line with LF only", chunked("3\nabc\r\n0\r\n\r\n"));
    table.refuse_body("size line with CR only", chunked("3\rabc\r\n0\r\n\r\n"));
    table.refuse_body("extension with a bare LF", chunked("3;a\n=b\r\nabc\r\n0\r\n\r\n"));
    table.refuse_body("extension with a bare CR", chunked("3;a\r=b\r\nabc\r\n0\r\n\r\n"));
    table.refuse_body("extension with NUL", chunked(with_nul("3;a\0b\r\nabc\r\n0\r\n\r\n")));
    table.refuse_body("extension of 1 MB",
                      chunked("3;" + std::string(1'000'000, 'a') + "\r\nabc\r\n0\r\n\r\n"));
    std::string many;
    for (int i = 0; i < 200; ++i) {
        many += "1;" + std::string(200, 'e') + "\r\nx\r\n";
    }
    table.refuse_body("extensions that are long together", chunked(many + "0\r\n\r\n"));
    for (const char* name : {"Content-Length", "Transfer-Encoding", "Host", "host", "Authorization",
                             "Content-Type", "Trailer", "Expect", "Connection"}) {
        table.refuse_body(std::string("trailer ") + name,
                          chunked("3\r\nabc\r\n0\r\n" + std::string(name) + ": 1\r\n\r\n"));
    }
    table.refuse_body("trailer without colon", chunked("3\r\nabc\r\n0\r\nnonsense\r\n\r\n"));
    table.refuse_body("trailer without name", chunked("3\r\nabc\r\n0\r\n: x\r\n\r\n"));
    table.refuse_body("trailer with a blank in its name",
                      chunked("3\r\nabc\r\n0\r\na b: x\r\n\r\n"));
    table.refuse_body("trailer that is folded", chunked("0\r\na: x\r\n b\r\n\r\n"));
    table.refuse_body("trailer with a bare LF", chunked("0\r\na: x\n\r\n\r\n"));
    table.refuse_body("trailers without end",
                      chunked("0\r\na: " + std::string(40'000, 'x') + "\r\n\r\n"), 431);
}

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

std::string with_line(const std::string& line) {
    return line + "\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc";
}

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
    table.rule("PUT", with_line("PUT / HTTP/1.1"), 405);
    table.rule("DELETE", "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    table.rule("TRACE", "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    table.rule("CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    table.rule("an unknown method", with_line("BREW / HTTP/1.1"), 405);
    table.rule("a method in lower case", with_line("post / HTTP/1.1"), 405);
    table.rule("OPTIONS", "OPTIONS / HTTP/1.1\r\nHost: localhost\r\n\r\n", 204);
    table.rule("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 204);
}

std::string with_host(const std::string& host) {
    return "POST / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 3\r\n\r\nabc";
}

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

}  // namespace

std::vector<FramingCase> framing_cases() {
    Table table;
    add_lengths(table);
    add_codings(table);
    add_chunks(table);
    add_lines(table);
    add_request_lines(table);
    add_hosts(table);
    add_headers(table);
    return table.take();
}

}  // namespace weir::test
