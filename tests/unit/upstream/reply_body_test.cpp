#include "upstream/reply_body.hpp"

#include "support/catch.hpp"
#include "support/gzip.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace weir::upstream;
using weir::runtime::Buffer;
using weir::runtime::BufferPool;
using weir::runtime::MemoryBudget;
using weir::test::gzip;
using weir::test::zlib;
using Step = ReplyBody::Step;

namespace {

struct Result {
    Step step = Step::more;
    std::string body;
    bool surplus = false;
    std::size_t largest = 0;  // that one piece ever was
};

// Feeds `wire` in pieces of `piece` bytes to a body, whose reader takes at most `limit` at a time.
Result read_body(const ReplyHead& head, const std::string& wire, std::size_t behind_head,
                 std::size_t piece, std::size_t limit, std::size_t max_size = 1 << 20) {
    MemoryBudget budget(64 << 20);
    BufferPool pool(budget);
    Buffer rest(pool);
    std::size_t fed = std::min(behind_head, wire.size());
    REQUIRE(rest.append(std::string_view(wire).substr(0, fed)));
    ReplyBody body(head, max_size, std::move(rest));
    Buffer out(pool);
    Result result;
    for (;;) {
        result.step = body.take(out, limit);
        if (result.step == Step::more && fed < wire.size()) {
            const std::string_view next = std::string_view(wire).substr(fed, piece);
            REQUIRE(body.wire(out).append(next));
            fed += next.size();
            body.received(out, next.size());
            continue;
        }
        if (result.step == Step::more) {
            result.step = body.finish();
        }
        result.largest = std::max(result.largest, out.size());
        result.body += out.bytes();
        if (result.step != Step::full) {
            result.surplus = body.has_surplus() || fed < wire.size();
            return result;
        }
        out.clear();
    }
}

ReplyHead head_of(Framing framing, Coding coding = Coding::identity, std::uint64_t length = 0) {
    ReplyHead head;
    head.framing = framing;
    head.coding = coding;
    head.length = length;
    return head;
}

struct Case {
    const char* name;
    ReplyHead head;
    std::string wire;
    Step step;
    std::string body;
    bool surplus = false;
};

std::string chunked(const std::string& body, std::size_t size) {
    std::string wire;
    for (std::size_t at = 0; at < body.size(); at += size) {
        const std::string piece = body.substr(at, size);
        char line[32];
        std::snprintf(line, sizeof line, "%zx\r\n", piece.size());
        wire += line + piece + "\r\n";
    }
    return wire + "0\r\n\r\n";
}

std::vector<Case> cases() {
    const std::string text = R"({"jsonrpc":"2.0","id":1,"result":"0x1"})";
    const std::string packed = gzip(text);
    const std::string packed_zlib = zlib(text);
    const auto length = [](std::uint64_t n, Coding coding = Coding::identity) {
        return head_of(Framing::length, coding, n);
    };
    const ReplyHead chunks = head_of(Framing::chunked);
    const ReplyHead close = head_of(Framing::until_close);
    std::string flipped = packed;
    flipped[flipped.size() - 6] = static_cast<char>(flipped[flipped.size() - 6] ^ 1);
    return {
        {"length", length(text.size()), text, Step::end, text},
        {"length zero", length(0), "", Step::end, ""},
        {"length, then more", length(text.size()), text + "x", Step::end, text, true},
        {"length zero, then more", length(0), "x", Step::end, "", true},
        {"length, short", length(text.size() + 1), text, Step::bad, text},
        {"none", head_of(Framing::none), "", Step::end, ""},
        {"none, but something", head_of(Framing::none), "x", Step::end, "", true},
        {"until close", close, text, Step::end, text},
        {"until close, empty", close, "", Step::end, ""},
        {"chunked", chunks, chunked(text, 7), Step::end, text},
        {"chunked, single bytes", chunks, chunked(text, 1), Step::end, text},
        {"chunked, empty", chunks, "0\r\n\r\n", Step::end, ""},
        {"chunked, zeros before the size", chunks, "0003\r\nabc\r\n000\r\n\r\n", Step::end, "abc"},
        {"chunked, upper case", chunks, "A\r\n0123456789\r\n0\r\n\r\n", Step::end, "0123456789"},
        {"chunked, extensions", chunks, "3;a=b;c=\"d\" \r\nabc\r\n0;e\r\n\r\n", Step::end, "abc"},
        {"chunked, trailers", chunks, "3\r\nabc\r\n0\r\nA: b\r\nC:\r\n\r\n", Step::end, "abc"},
        {"chunked, then more", chunks, "3\r\nabc\r\n0\r\n\r\nx", Step::end, "abc", true},
        {"chunked, no end", chunks, "3\r\nabc\r\n", Step::bad, "abc"},
        {"chunked, no last line", chunks, "3\r\nabc\r\n0\r\n", Step::bad, "abc"},
        {"chunked, short", chunks, "4\r\nabc", Step::bad, "abc"},
        {"chunked, 0x", chunks, "0x3\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, negative", chunks, "-1\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, plus", chunks, "+3\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, 17 digits", chunks, "00000000000000003\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, huge", chunks, "fffffffffffffff\r\nabc", Step::bad, "abc"},
        {"chunked, no size", chunks, "\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, no size but extension", chunks, ";a\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, blank before", chunks, " 3\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, blank behind", chunks, "3 \r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, bare feed", chunks, "3\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, bare return", chunks, "3\rabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, feed in extension", chunks, "3;a\nb\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, return in extension", chunks, "3;a\rb\r\nabc\r\n0\r\n\r\n", Step::bad, ""},
        {"chunked, long by one", chunks, "3\r\nabcd\r\n0\r\n\r\n", Step::bad, "abc"},
        {"chunked, no line end", chunks, "3\r\nabc0\r\n\r\n", Step::bad, "abc"},
        {"chunked, bare feed behind", chunks, "3\r\nabc\n0\r\n\r\n", Step::bad, "abc"},
        {"chunked, trailer folded", chunks, "0\r\nA: b\r\n c\r\n\r\n", Step::bad, ""},
        {"chunked, trailer without colon", chunks, "0\r\nAb\r\n\r\n", Step::bad, ""},
        {"chunked, bare feed at the end", chunks, "0\r\n\n", Step::bad, ""},
        {"gzip", length(packed.size(), Coding::gzip), packed, Step::end, text},
        {"gzip, two members", length(2 * packed.size(), Coding::gzip), packed + packed, Step::end,
         text + text},
        {"gzip, chunked", head_of(Framing::chunked, Coding::gzip), chunked(packed, 5), Step::end,
         text},
        {"gzip, until close", head_of(Framing::until_close, Coding::gzip), packed, Step::end, text},
        {"gzip, empty", length(0, Coding::gzip), "", Step::end, ""},
        {"gzip, then more", length(packed.size(), Coding::gzip), packed + "x", Step::end, text,
         true},
        {"gzip, garbage inside", length(packed.size() + 1, Coding::gzip), packed + "x", Step::bad,
         text},
        {"gzip, short", length(packed.size() - 1, Coding::gzip),
         packed.substr(0, packed.size() - 1), Step::bad, text},
        {"gzip, cut off", length(packed.size(), Coding::gzip), packed.substr(0, packed.size() - 1),
         Step::bad, text},
        {"gzip, wrong sum", length(packed.size(), Coding::gzip), flipped, Step::bad, text},
        {"gzip that is none", length(text.size(), Coding::gzip), text, Step::bad, ""},
        {"deflate", length(packed_zlib.size(), Coding::deflate), packed_zlib, Step::end, text},
        {"deflate, twice", length(2 * packed_zlib.size(), Coding::deflate),
         packed_zlib + packed_zlib, Step::bad, text},
        {"deflate that is gzip", length(packed.size(), Coding::deflate), packed, Step::bad, ""},
    };
}

}  // namespace

TEST_CASE("a body ends where it says, wherever it is split and however little is taken") {
    for (const Case& each : cases()) {
        INFO(each.name);
        for (std::size_t split = 0; split <= each.wire.size(); ++split) {
            const Result two =
                read_body(each.head, each.wire, split, each.wire.size() + 1, 1 << 20);
            REQUIRE(two.step == each.step);
            CHECK(two.body == each.body);
            CHECK(two.surplus == (each.surplus || (each.step == Step::bad && two.surplus)));
        }
        for (const std::size_t limit : {std::size_t{1}, std::size_t{3}, std::size_t{1} << 20}) {
            const Result bytes = read_body(each.head, each.wire, 0, 1, limit);
            REQUIRE(bytes.step == each.step);
            CHECK(bytes.body == each.body);
        }
    }
}

TEST_CASE("a body larger than the maximum is bad, in every form") {
    const std::string text(1000, 'x');
    const std::string packed = gzip(text);
    struct Form {
        ReplyHead head;
        std::string wire;
    };
    const std::vector<Form> forms = {
        {head_of(Framing::length, Coding::identity, text.size()), text},
        {head_of(Framing::until_close), text},
        {head_of(Framing::chunked), chunked(text, 300)},
        {head_of(Framing::length, Coding::gzip, packed.size()), packed},
        {head_of(Framing::chunked, Coding::gzip), chunked(packed, 3)},
    };
    for (const Form& form : forms) {
        CHECK(read_body(form.head, form.wire, 0, 100, 1 << 20, 1000).step == Step::end);
        CHECK(read_body(form.head, form.wire, 0, 100, 1 << 20, 999).step == Step::bad);
        CHECK(read_body(form.head, form.wire, 5000, 100, 1 << 20, 999).step == Step::bad);
    }
}

TEST_CASE("a compression bomb comes out in pieces and stops at the maximum") {
    const std::string packed = gzip(std::string(32 << 20, 'x'));
    REQUIRE(packed.size() < 64 * 1024);
    const ReplyHead head = head_of(Framing::length, Coding::gzip, packed.size());
    const Result whole = read_body(head, packed, 0, 16 * 1024, 64 * 1024, 64 << 20);
    CHECK(whole.step == Step::end);
    CHECK(whole.body.size() == std::size_t{32} << 20);
    CHECK(whole.largest <= 64 * 1024);
    const Result stopped = read_body(head, packed, 0, 16 * 1024, 64 * 1024, 1 << 20);
    CHECK(stopped.step == Step::bad);
    CHECK(stopped.body.size() <= (1 << 20) + BufferPool::kBlock);
}

TEST_CASE("chunk extensions and trailers are bounded") {
    const std::string extension = "1;" + std::string(1000, 'x') + "\r\na\r\n";
    std::string many;
    for (int i = 0; i < 20; ++i) {
        many += extension;
    }
    CHECK(read_body(head_of(Framing::chunked), many + "0\r\n\r\n", 0, 100, 1 << 20).step ==
          Step::bad);
    std::string trailers = "0\r\n";
    for (int i = 0; i < 1000; ++i) {
        trailers += "Name: value\r\n";
    }
    CHECK(read_body(head_of(Framing::chunked), trailers + "\r\n", 0, 100, 1 << 20).step ==
          Step::bad);
}

TEST_CASE("a body for which the budget has no room says so") {
    MemoryBudget budget(2 * BufferPool::kBlock);
    BufferPool pool(budget);
    Buffer rest(pool);
    REQUIRE(rest.append("7000\r\n" + std::string(0x2000, 'x')));
    ReplyBody body(head_of(Framing::chunked), 1 << 20, std::move(rest));
    Buffer out(pool);
    Step step = Step::more;
    while (step == Step::more) {
        step = body.take(out, 1 << 20);
        if (step == Step::more) {
            REQUIRE(body.wire(out).append(std::string(0x1000, 'x')));
            body.received(out, 0x1000);
        }
    }
    CHECK(step == Step::no_memory);
}
