// The framing table: lengths, codings, chunks.
#include "support/framing_table.hpp"

namespace weir::test {

const std::string kSmuggled = "smuggled";

std::string plain_post(const std::string& body) {
    return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

namespace {

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
