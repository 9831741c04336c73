// The table of upstream faults: bodies that are not the reply, and long ones.
#include "support/fault_table.hpp"
#include "support/gzip.hpp"

namespace weir::test {

void add_contents(Faults& faults) {
    const std::string gzip_field = "Content-Encoding: gzip\r\n";
    faults.say(
        "gzip",
        [gzip_field](const std::string& id) {
            return with_length(gzip(own_reply(id)), gzip_field);
        },
        Outcome::usable, Reuse::may);
    faults.say("gzip with a wrong sum", [gzip_field](const std::string& id) {
        std::string packed = gzip(own_reply(id));
        packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 0x55);
        return with_length(packed, gzip_field);
    });
    faults.say("gzip cut off", [gzip_field](const std::string& id) {
        const std::string packed = gzip(own_reply(id));
        return with_length(packed.substr(0, packed.size() - 9), gzip_field);
    });
    faults.say("gzip that is none", [gzip_field](const std::string& id) {
        return with_length(own_reply(id), gzip_field);
    });
    faults.say("gzip twice", [gzip_field](const std::string& id) {
        return with_length(gzip(gzip(own_reply(id))), gzip_field + gzip_field);
    });
    faults.say("brotli", [](const std::string& id) {
        return with_length(own_reply(id), "Content-Encoding: br\r\n");
    });
    faults.endless("a compression bomb", always(until_close("", gzip_field)),
                   gzip(std::string(1 << 24, ' ')));

    faults.body("HTML", always("<html><body>hello</body></html>"));
    faults.body("nothing", nothing);
    faults.body("blanks", always("  \n"));
    faults.body("two values", [](const std::string& id) { return own_reply(id) + own_reply(id); });
    faults.body("a byte behind", [](const std::string& id) { return own_reply(id) + "x"; });
    faults.body("NUL behind",
                [](const std::string& id) { return own_reply(id) + std::string(1, '\0'); });
    faults.body("a byte order mark",
                [](const std::string& id) { return "\xEF\xBB\xBF" + own_reply(id); });
    faults.body("half", [](const std::string& id) { return own_reply(id).substr(0, 30); });
    faults.body("a broken number", [](const std::string& id) { return result_reply(id, "01"); });
    faults.body("a trailing comma", [](const std::string& id) { return result_reply(id, "[1,]"); });
    faults.body("bytes that are not UTF-8",
                [](const std::string& id) { return result_reply(id, "\"\xFF\""); });
    faults.body("a control in a string",
                [](const std::string& id) { return result_reply(id, "\"\x01\""); });
    faults.body("another id", [](const std::string&) { return own_reply("987654321"); });
    faults.body("the id as a fraction", [](const std::string& id) { return own_reply(id + ".5"); });
    faults.body("id null with a result", [](const std::string&) { return own_reply("null"); });
    faults.body("no id with a result", always(R"({"jsonrpc":"2.0","result":"0x1"})"));
    faults.body(
        "the id as a string", [](const std::string& id) { return own_reply("\"" + id + "\""); },
        Outcome::usable);
    faults.body(
        "error null",
        [](const std::string& id) {
            return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":"0xa","error":null})";
        },
        Outcome::usable);
    faults.body("result and error", [](const std::string& id) {
        return R"({"jsonrpc":"2.0","id":)" + id +
               R"(,"result":"0xa","error":{"code":-32000,"message":"both"}})";
    });
    faults.body("neither",
                [](const std::string& id) { return R"({"jsonrpc":"2.0","id":)" + id + "}"; });
    faults.body("two results", [](const std::string& id) {
        return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":"0x1","result":"0x2"})";
    });
    faults.body("two ids", [](const std::string& id) {
        return R"({"jsonrpc":"2.0","id":)" + id + R"(,"id":7,"result":"0x1"})";
    });
    faults.body("an array of it", [](const std::string& id) { return "[" + own_reply(id) + "]"; });
    faults.body("a string", always(R"("hello")"));
    faults.body("a number", always("7"));
    faults.body("brackets without end", always(std::string(60'000, '[')));
    faults.body("braces deep in a result", [](const std::string& id) {
        return result_reply(id, std::string(20'000, '[') + std::string(20'000, ']') + "x");
    });
}

void add_long_ones(Faults& faults) {
    const std::string spaces(65536, ' ');
    faults.say("a length of a gigabyte",
               always("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n" + spaces));
    faults.endless("an endless body", always(until_close("")), spaces);
    faults.endless("endless chunks", always(kChunkedHead), chunk(spaces));
    const auto begun = [](const std::string& id) {
        return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":")";
    };
    faults.endless(
        "an endless result", [begun](const std::string& id) { return until_close(begun(id)); },
        spaces, Outcome::cut);
    faults.endless(
        "an endless result in chunks",
        [begun](const std::string& id) { return kChunkedHead + chunk(begun(id)); }, chunk(spaces),
        Outcome::cut);
    faults.endless("an endless result before its id",
                   always(until_close(R"({"jsonrpc":"2.0","result":")")), spaces);

    const auto long_body = [&faults](std::string name,
                                     std::function<std::string(const std::string&)> make) {
        faults.say(
            "long: " + name, [make](const std::string& id) { return with_length(make(id)); },
            Outcome::cut, Reuse::may);
        faults.say(
            "long, in chunks: " + name,
            [make](const std::string& id) {
                const std::string body = make(id);
                return kChunkedHead + chunk(body.substr(0, 100'000)) + chunk(body.substr(100'000)) +
                       "0\r\n\r\n";
            },
            Outcome::cut, Reuse::may);
        faults.say_and_end(
            "long, until the end: " + name,
            [make](const std::string& id) { return until_close(make(id)); }, Outcome::cut);
    };
    long_body("no closing brace", [](const std::string& id) {
        const std::string whole = long_reply(id);
        return whole.substr(0, whole.size() - 1);
    });
    long_body("half", [](const std::string& id) {
        const std::string whole = long_reply(id);
        return whole.substr(0, whole.size() / 2);
    });
    long_body("a second value", [](const std::string& id) { return long_reply(id) + "{}"; });
    long_body("a byte behind", [](const std::string& id) { return long_reply(id) + "]"; });
    long_body("a control in the string", [](const std::string& id) {
        std::string whole = long_reply(id);
        whole[whole.size() - 100] = '\n';
        return whole;
    });
    long_body("bytes that are not UTF-8", [](const std::string& id) {
        std::string whole = long_reply(id);
        whole[whole.size() - 100] = '\xFF';
        return whole;
    });
    long_body("an error as well", [](const std::string& id) {
        std::string whole = long_reply(id);
        whole.pop_back();
        return whole + R"(,"error":{"code":1,"message":"both"}})";
    });
    long_body("a second id", [](const std::string& id) {
        std::string whole = long_reply(id);
        whole.pop_back();
        return whole + R"(,"id":7})";
    });
    long_body("a second result", [](const std::string& id) {
        std::string whole = long_reply(id);
        whole.pop_back();
        return whole + R"(,"result":7})";
    });
    const auto most = [](const std::string& id) {
        const std::string whole = with_length(long_reply(id));
        return whole.substr(0, whole.size() - 1000);
    };
    faults.say_and_end("long: FIN within the body", most, Outcome::cut);
    faults.say_and_reset("long: RST within the body", most, Outcome::cut);
    faults.say("long: silence within the body", most, Outcome::cut);
    faults.say(
        "long: a broken chunk",
        [](const std::string& id) {
            const std::string whole = long_reply(id);
            return kChunkedHead + chunk(whole.substr(0, 200'000)) + "xyz\r\n" +
                   whole.substr(200'000) + "\r\n0\r\n\r\n";
        },
        Outcome::cut);
    faults.say_and_end(
        "long: FIN before the last chunk",
        [](const std::string& id) { return kChunkedHead + chunk(long_reply(id)); }, Outcome::cut);
    faults.say(
        "long: gzip with a wrong sum",
        [](const std::string& id) {
            std::string packed = gzip(long_reply(id));
            packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 0x55);
            return with_length(packed, "Content-Encoding: gzip\r\n");
        },
        Outcome::cut);
}

}  // namespace weir::test
