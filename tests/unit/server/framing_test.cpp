// The framing table against the parsers alone, whole, byte by byte, and split at each byte.
#include "server/chunked_body.hpp"
#include "server/request_head.hpp"
#include "support/catch.hpp"
#include "support/framing_cases.hpp"
#include "support/request_oracle.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

using namespace weir;
using server::ChunkedBody;
using server::HeadScanner;

constexpr std::size_t kMaxBody = 1024 * 1024;

struct Outcome {
    int status = 0;  // 200: head and body are good; 0: more bytes are needed
    std::string body;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Feeds `bytes` up to each of `ends` in turn, as a connection would.
Outcome judge(const std::string& bytes, const std::vector<std::size_t>& ends) {
    HeadScanner scanner(16 * 1024);
    HeadScanner::State state = HeadScanner::State::more;
    std::size_t step = 0;
    for (; step < ends.size() && state == HeadScanner::State::more; ++step) {
        state = scanner.advance(std::string_view(bytes).substr(0, ends[step]));
    }
    if (state == HeadScanner::State::refused) {
        return {scanner.refusal().status, {}};
    }
    if (state == HeadScanner::State::more) {
        return {};
    }
    server::RequestHead head;
    const std::string_view text(bytes.data() + scanner.begin(), scanner.end() - scanner.begin());
    if (const auto refusal = parse_head(text, head)) {
        return {refusal->status, {}};
    }
    if (head.framing != server::Framing::chunked) {
        const std::string rest = bytes.substr(scanner.end());
        return {200, rest.substr(0, static_cast<std::size_t>(head.content_length))};
    }
    ChunkedBody decoder(kMaxBody);
    std::string raw = bytes;  // decoded in place
    std::string body;
    std::size_t used = scanner.end();
    for (--step; step < ends.size(); ++step) {
        char* const from = raw.data() + used;
        const ChunkedBody::State fed = decoder.feed(from, ends[step] - used, from);
        body.append(from, decoder.produced());
        used += decoder.consumed();
        if (fed == ChunkedBody::State::refused) {
            return {decoder.refusal().status, {}};
        }
        if (fed == ChunkedBody::State::complete) {
            return {200, body};
        }
    }
    return {};
}

std::vector<std::size_t> every_byte(std::size_t size) {
    std::vector<std::size_t> ends;
    for (std::size_t end = 1; end <= size; ++end) {
        ends.push_back(end);
    }
    return ends;
}

}  // namespace

TEST_CASE("framing table, parsers alone") {
    const auto cases = test::framing_cases();
    CHECK(cases.size() >= 150);
    for (const auto& one : cases) {
        INFO(one.name);
        const Outcome whole = judge(one.bytes, {one.bytes.size()});
        if (one.layer == test::FramingCase::Layer::rules) {
            CHECK(whole.status == 200);
        } else {
            CHECK(whole.status == one.status);
            CHECK(whole.body == one.body);
        }
    }
}

TEST_CASE("framing table, byte by byte") {
    for (const auto& one : test::framing_cases()) {
        INFO(one.name);
        const Outcome whole = judge(one.bytes, {one.bytes.size()});
        if (one.bytes.size() < 100'000) {
            CHECK(judge(one.bytes, every_byte(one.bytes.size())).status == whole.status);
        }
    }
}

TEST_CASE("framing table, split at each byte") {
    for (const auto& one : test::framing_cases()) {
        if (one.bytes.size() > 2'000) {
            continue;
        }
        const Outcome whole = judge(one.bytes, {one.bytes.size()});
        for (std::size_t at = 1; at < one.bytes.size(); ++at) {
            INFO(one.name << " at " << at);
            REQUIRE(judge(one.bytes, {at, one.bytes.size()}) == whole);
        }
    }
}

TEST_CASE("a head is taken apart") {
    const std::string text =
        "POST http://localhost:1/ethereum?block=latest HTTP/1.1\r\nHost: localhost\r\n"
        "X-Request-Id: abc.DEF_1-2\r\nAuthorization: Bearer t\r\nContent-Length: 7\r\n"
        "Origin: http://localhost:3000\r\nAccess-Control-Request-Private-Network: true\r\n\r\n";
    server::RequestHead head;
    REQUIRE(!parse_head(text, head));
    CHECK(head.method == server::Method::post);
    CHECK(head.path == "/ethereum");
    CHECK(head.query == "block=latest");
    CHECK(head.authority == "localhost:1");
    CHECK(head.request_id == "abc.DEF_1-2");
    CHECK(head.authorization == "Bearer t");
    CHECK(head.content_length == 7);
    CHECK(head.keep_alive);
    CHECK(head.asks_private_network);
}

TEST_CASE("a header of weir's own may say the same thing twice, and no two things") {
    const auto block_of = [](const std::string& fields) {
        server::RequestHead head;
        const std::string text = "POST / HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
        REQUIRE(!parse_head(text, head));
        return std::string(head.block.value_or("none"));
    };
    CHECK(block_of("") == "none");
    CHECK(block_of("Weir-Block: 0x1\r\n") == "0x1");
    CHECK(block_of("Weir-Block: 0x1\r\nweir-block:  0x1 \r\n") == "0x1");
    CHECK(block_of("Weir-Block: 0x1\r\nWeir-Block: 0x2\r\n") == "?");
    CHECK(block_of("Weir-Block: 0x1\r\nWeir-Block: 0x2\r\nWeir-Block: 0x1\r\n") == "?");
    CHECK(block_of("Weir-Block:\r\nWeir-Block: 0x2\r\n") == "?");
}

TEST_CASE("only safe request ids are kept") {
    const auto kept = [](const std::string& id) {
        server::RequestHead head;
        const std::string text =
            "POST / HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: " + id + "\r\n\r\n";
        REQUIRE(!parse_head(text, head));
        return std::string(head.request_id);
    };
    CHECK(kept("a") == "a");
    CHECK(kept(std::string(64, 'a')) == std::string(64, 'a'));
    CHECK(kept(std::string(65, 'a')).empty());
    CHECK(kept("a b").empty());
    CHECK(kept("a\"b").empty());
    CHECK(kept("\xc3\xa4").empty());
    CHECK(kept("").empty());
}

TEST_CASE("the fuzzer's corpus of requests") {
    std::size_t seen = 0;
    const std::filesystem::path corpus = WEIR_SOURCE_DIR "/tests/fuzz/corpus/http_request";
    for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
        INFO(entry.path());
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string input(std::istreambuf_iterator<char>(file), {});
        CHECK(test::request_complaint(input).empty());
        ++seen;
    }
    CHECK(seen != 0);
}
