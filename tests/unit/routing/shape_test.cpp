#include "routing/shape.hpp"

#include "support/catch.hpp"

#include <string>

using namespace weir;
using namespace weir::routing;

TEST_CASE("what differs each time is taken out of a wording") {
    struct Row {
        const char* text;
        const char* shown;
    };
    for (const Row& row : {
             Row{"plain words", "plain words"},
             Row{"limit 5000 of 10,000", "limit # of #,#"},
             Row{"retry in 10s", "retry in #s"},
             Row{"block 0x2d4aa2c not found", "block *** not found"},
             Row{"key 9f8e7d6c5b4a3f2e is off", "key *** is off"},
             Row{"see https://example.org/v2/SECRET?x=1 now", "see <url> now"},
             Row{" a\n\t b\x01 ", "a b"},
             Row{"", ""},
         }) {
        INFO(row.text);
        CHECK(scrub(row.text) == row.shown);
    }
    CHECK(scrub("pay\u202eload\u200b now") == "pay load now");
    CHECK(scrub(std::string(10'000, '.')).size() == kLongestWording);
    CHECK(scrub("a" + std::string(100, 'b')) == "***");
}

TEST_CASE("secrets are masked before numbers are replaced in them") {
    HttpReply reply;
    reply.head.status = 200;
    reply.body = "for key-12-ab34-cdef, 7 left";
    const Mask mask = [](std::string_view text) {
        std::string out(text);
        const auto at = out.find("key-12-ab34-cdef");
        return at == out.npos ? out : out.replace(at, 16, "***");
    };
    CHECK(shape_of(reply, mask).wording == "for ***, # left");
    reply.body = "<title>key-12-ab34-cdef is off</title>";
    CHECK(shape_of(reply, mask).wording == "page: *** is off");
}

TEST_CASE("the shape of an error object, a page, a text and of other JSON") {
    HttpReply reply;
    reply.head.status = 200;
    const std::string error =
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32098,"message":"no 5"}})";
    reply.body = error;
    reply.reply = *jsonrpc::parse_reply(error);
    CHECK(shape_of(reply) == Shape{200, -32098, "no #"});

    reply.reply.reset();
    reply.body = "<html><title>Oops 12</title><p>secret</p></html>";
    CHECK(shape_of(reply) == Shape{200, std::nullopt, "page: Oops #"});
    reply.body = "what is this";
    CHECK(shape_of(reply) == Shape{200, std::nullopt, "what is this"});
    // Data of an answer that is cut off, or not the call's, is nobody's to read.
    for (const char* body : {R"({"id":7,"result":"0x1234"})", R"({"id":1,"result":{"name":"ali)"}) {
        reply.body = body;
        CHECK(shape_of(reply).wording.empty());
    }
}
