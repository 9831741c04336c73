#include "upstream/http_reply_parser.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace weir::upstream;
using Step = ReplyHeadParser::Step;

namespace {

std::string with_fields(const std::string& fields) {
    return "HTTP/1.1 200 OK\r\n" + fields + "\r\n";
}

Step parse_whole(const std::string& bytes) { return ReplyHeadParser().parse(bytes); }

struct Good {
    std::string bytes;
    int status;
    Framing framing;
    std::uint64_t length;
    bool keep_alive;
};

const std::vector<Good> kGood = {
    {with_fields("Content-Length: 0\r\n"), 200, Framing::length, 0, true},
    {with_fields("content-LENGTH:\t 17 \t\r\n"), 200, Framing::length, 17, true},
    {with_fields("Content-Length: 007\r\n"), 200, Framing::length, 7, true},
    {with_fields("Transfer-Encoding: chunked\r\n"), 200, Framing::chunked, 0, true},
    {with_fields("transfer-encoding: CHUNKED\r\n"), 200, Framing::chunked, 0, true},
    {with_fields(""), 200, Framing::until_close, 0, false},
    {with_fields("Content-Length: 5\r\nConnection: close\r\n"), 200, Framing::length, 5, false},
    {with_fields("Content-Length: 5\r\nConnection: x, Close ,y\r\n"), 200, Framing::length, 5,
     false},
    {with_fields("Content-Length: 5\r\nConnection: keep-alive\r\nConnection: close\r\n"), 200,
     Framing::length, 5, false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", 200, Framing::length, 5, false},
    {"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive\r\n\r\n", 200, Framing::length,
     5, true},
    {"HTTP/1.1 429 \r\nContent-Length: 5\r\n\r\n", 429, Framing::length, 5, true},
    {"HTTP/1.1 429\r\nContent-Length: 5\r\n\r\n", 429, Framing::length, 5, true},
    {"HTTP/1.1 503 R\xc3\xa9serv\xe9\r\nContent-Length: 5\r\n\r\n", 503, Framing::length, 5, true},
    {"HTTP/1.1 204 No Content\r\n\r\n", 204, Framing::none, 0, true},
    {"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", 204, Framing::none, 0, true},
    {"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", 204, Framing::none, 4, false},
    {"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", 204, Framing::none, 0, false},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", 304, Framing::none, 4, false},
    {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", 302,
     Framing::length, 0, true},
    {"HTTP/1.1 100 Continue\r\n\r\n" + with_fields("Content-Length: 3\r\n"), 200, Framing::length,
     3, true},
    {"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\nConnection: close\r\n\r\nHTTP/1.1 102 x\r\n\r\n" +
         with_fields("Content-Length: 3\r\n"),
     200, Framing::length, 3, true},
};

const std::vector<std::string> kBad = {
    // lengths
    with_fields("Content-Length: 3, 3\r\n"),
    with_fields("Content-Length: 3\r\nContent-Length: 3\r\n"),
    with_fields("Content-Length: 3\r\nContent-Length: 4\r\n"),
    with_fields("Content-Length: 4\r\ncontent-length: 3\r\n"),
    with_fields("Content-Length:\r\n"),
    with_fields("Content-Length: +3\r\n"),
    with_fields("Content-Length: -3\r\n"),
    with_fields("Content-Length: 0x3\r\n"),
    with_fields("Content-Length: 3_0\r\n"),
    with_fields("Content-Length: 3 0\r\n"),
    with_fields("Content-Length: 3.0\r\n"),
    with_fields("Content-Length: 1e3\r\n"),
    with_fields("Content-Length: 1000000000000000000000000000000\r\n"),
    with_fields("Content-Length: 18446744073709551616\r\n"),
    // transfer codings
    with_fields("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
    with_fields("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
    with_fields("Transfer-Encoding: gzip\r\n"),
    with_fields("Transfer-Encoding: xchunked\r\n"),
    with_fields("Transfer-Encoding: chunkedx\r\n"),
    with_fields("Transfer-Encoding: chunked, chunked\r\n"),
    with_fields("Transfer-Encoding: gzip, chunked\r\n"),
    with_fields("Transfer-Encoding: identity\r\n"),
    with_fields("Transfer-Encoding: identity\r\nContent-Length: 3\r\n"),
    with_fields("Transfer-Encoding:\r\n"),
    with_fields("Transfer-Encoding: chunked;q=1\r\n"),
    with_fields("Transfer-Encoding: \"chunked\"\r\n"),
    with_fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    // content codings
    with_fields("Content-Encoding: br\r\n"),
    with_fields("Content-Encoding: gzip, gzip\r\n"),
    with_fields("Content-Encoding: gzip\r\nContent-Encoding: deflate\r\n"),
    // lines
    "HTTP/1.1 200 OK\nContent-Length: 3\n\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\n",
    "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
    "HTTP/1.1 200 OK\r\r\n\r\n",
    with_fields("A: b\r\n c\r\n"),
    with_fields("A: b\r\n\tc\r\n"),
    with_fields(" A: b\r\n"),
    with_fields("A : b\r\n"),
    with_fields("Content-Length : 3\r\n"),
    with_fields(": b\r\n"),
    with_fields("no colon\r\n"),
    with_fields("A\x01: b\r\n"),
    with_fields("A(: b\r\n"),
    with_fields("\xc3\xa9: b\r\n"),
    with_fields(std::string("A: b\0c\r\n", 8)),
    with_fields("A: b\x7f\r\n"),
    // status lines
    "\r\nHTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 099 OK\r\n\r\n",
    "HTTP/1.1 2x0 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/1.1 200\tOK\r\n\r\n",
    "HTTP/1.2 200 OK\r\n\r\n",
    "HTTP/2.0 200 OK\r\n\r\n",
    "HTTP/2 200\r\n\r\n",
    "HTTP/0.9 200 OK\r\n\r\n",
    "http/1.1 200 OK\r\n\r\n",
    "HTTP/1.1\r\n\r\n",
    "ICY 200 OK\r\n\r\n",
    "<html>",
    "{\"jsonrpc\":\"2.0\"}",
    "SSH-2.0-OpenSSH",
    std::string("\x15\x03\x01\x00\x02\x02", 6),
    // interim replies
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "HTTP/1.1 100 Continue\r\nContent-Length: 3\r\n\r\n",
    "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n",
};

}  // namespace

TEST_CASE("a good reply head means one thing, wherever it is split") {
    for (const Good& good : kGood) {
        INFO(good.bytes);
        const std::string followed = good.bytes + "HTTP/1.1 500 next\r\n";
        for (std::size_t split = 0; split <= good.bytes.size(); ++split) {
            ReplyHeadParser parser;
            Step step = parser.parse(followed.substr(0, split));
            if (split < good.bytes.size()) {
                REQUIRE(step == Step::more);
                step = parser.parse(followed);
            }
            REQUIRE(step == Step::done);
            CHECK(parser.size() == good.bytes.size());
            CHECK(parser.head().http.status == good.status);
            CHECK(parser.head().framing == good.framing);
            CHECK(parser.head().length == good.length);
            CHECK(parser.head().keep_alive == good.keep_alive);
        }
    }
}

TEST_CASE("a doubtful reply head is refused, wherever it is split") {
    for (const std::string& bytes : kBad) {
        INFO(bytes);
        for (std::size_t split = 0; split <= bytes.size(); ++split) {
            ReplyHeadParser parser;
            Step step = parser.parse(bytes.substr(0, split));
            if (step == Step::more) {
                step = parser.parse(bytes);
            }
            REQUIRE(step == Step::bad);
            CHECK_FALSE(parser.problem().empty());
        }
    }
}

TEST_CASE("what a decision may rest on is taken from the head") {
    ReplyHeadParser parser;
    REQUIRE(parser.parse(with_fields("Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
                                     "DATE: Wed, 21 Oct 2015 07:27:00 GMT\r\n"
                                     "Content-Encoding: GZIP\r\n"
                                     "Keep-Alive: max=5, Timeout=20\r\n")) == Step::done);
    CHECK(parser.head().http.retry_after == "Wed, 21 Oct 2015 07:28:00 GMT");
    CHECK(parser.head().http.date == "Wed, 21 Oct 2015 07:27:00 GMT");
    CHECK(parser.head().coding == Coding::gzip);
    CHECK(parser.head().idle_limit ==
          std::optional<weir::core::Duration>(std::chrono::seconds(20)));
}

TEST_CASE("a field that is empty says nothing") {
    for (const char* blanks : {"", " ", "  \t "}) {
        ReplyHeadParser parser;
        const std::string empty = std::string(":") + blanks + "\r\n";
        REQUIRE(parser.parse(with_fields("Retry-After: 2\r\nDate" + empty + "Keep-Alive" + empty +
                                         "Connection" + empty)) == Step::done);
        CHECK(parser.head().http.retry_after == "2");
        CHECK(parser.head().http.date.empty());
    }
}

TEST_CASE("an unreadable Keep-Alive says nothing") {
    for (const char* value : {"timeout=", "timeout=x", "timeout=-1", "max=3", ",,", "timeout"}) {
        ReplyHeadParser parser;
        REQUIRE(parser.parse(with_fields("Keep-Alive: " + std::string(value) + "\r\n")) ==
                Step::done);
        CHECK_FALSE(parser.head().idle_limit);
    }
}

TEST_CASE("a reply head is bounded") {
    std::string fields;
    for (std::size_t i = 0; i < ReplyHeadParser::kMaxFields; ++i) {
        fields += "A: b\r\n";
    }
    CHECK(parse_whole(with_fields(fields)) == Step::done);
    CHECK(parse_whole(with_fields(fields + "A: b\r\n")) == Step::bad);

    const std::string long_value(60 * 1024, 'x');
    CHECK(parse_whole(with_fields("A: " + long_value + "\r\n")) == Step::done);
    CHECK(parse_whole(with_fields("A: " + long_value + long_value + "\r\n")) == Step::bad);
    ReplyHeadParser endless;
    CHECK(endless.parse("HTTP/1.1 200 " + long_value + long_value) == Step::bad);
}

TEST_CASE("interim replies are skipped, as many as their bytes allow") {
    const std::string lean = "HTTP/1.1 102 Processing\r\n\r\n";
    const std::string hint = "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\nLink: <b>\r\nA: c\r\n\r\n";
    for (const std::string& one : {lean, hint}) {
        std::string interim;
        for (int i = 0; i < 200; ++i) {
            interim += one;
        }
        CHECK(parse_whole(interim + with_fields("")) == Step::done);
        while (interim.size() < ReplyHeadParser::kMaxSize) {
            interim += one;
        }
        CHECK(parse_whole(interim + with_fields("")) == Step::bad);
    }
}

TEST_CASE("fields about rates are kept of refusals, and of every reply for who asks for them") {
    const std::string fields = "X-RateLimit-Limit: 100\r\nContent-Length: 0\r\n\r\n";
    const auto kept = [&fields](RateFields of, const std::string& status) {
        ReplyHeadParser parser(of);
        REQUIRE(parser.parse("HTTP/1.1 " + status + "\r\n" + fields) == Step::done);
        return parser.head().http.limits.size();
    };
    CHECK(kept(RateFields::of_refusals, "200 OK") == 0);
    CHECK(kept(RateFields::of_refusals, "429 Slow Down") == 1);
    CHECK(kept(RateFields::of_every_reply, "200 OK") == 1);
}
