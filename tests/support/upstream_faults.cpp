// The table of upstream faults: endings, heads, lengths, chunks.
#include "support/fault_table.hpp"

#include <chrono>
#include <thread>

namespace weir::test {

const std::string kOwnResult = R"("0xa")";

void add_endings(Faults& faults) {
    faults.say_and_end("FIN after the request", nothing);
    faults.say_and_reset("RST after the request", nothing);
    faults.say_and_end("FIN within the head", always("HTTP/1.1 200 OK\r\nCont"));
    faults.say_and_reset("RST within the head", always("HTTP/1.1 200 OK\r\nCont"));
    const auto half = [](const std::string& id) {
        const std::string whole = with_length(own_reply(id));
        return whole.substr(0, whole.size() - 5);
    };
    faults.say_and_end("FIN within the body", half);
    faults.say_and_reset("RST within the body", half);
    const auto whole_chunk = [](const std::string& id) {
        return kChunkedHead + chunk(own_reply(id));
    };
    faults.say_and_end("FIN before the last chunk", whole_chunk);
    faults.say_and_reset("RST before the last chunk", whole_chunk);
    faults.say_and_end("FIN within a chunk", [whole_chunk](const std::string& id) {
        const std::string bytes = whole_chunk(id);
        return bytes.substr(0, bytes.size() - 6);
    });
    faults.say_and_end("FIN within the last chunk",
                       [whole_chunk](const std::string& id) { return whole_chunk(id) + "0\r\n"; });
    faults.say_and_end("FIN within the trailers", [whole_chunk](const std::string& id) {
        return whole_chunk(id) + "0\r\nX: y\r\n";
    });
    faults.say_and_reset("RST of a body without length",
                         [](const std::string& id) { return until_close(own_reply(id)); });
    faults.say_and_end(
        "a body that ends with the connection",
        [](const std::string& id) { return until_close(own_reply(id)); }, Outcome::usable);
    faults.say_and_end("half a body that ends with the connection", [](const std::string& id) {
        const std::string whole = until_close(own_reply(id));
        return whole.substr(0, whole.size() - 3);
    });
    faults.say("silence", nothing, Outcome::late);
    faults.say("silence within the head", always("HTTP/1.1 200 OK\r\nX: "), Outcome::late);
    faults.say("silence within the body", half, Outcome::late);
    faults.say("silence after a chunk", whole_chunk, Outcome::late);
    faults.say(
        "silence instead of the end",
        [](const std::string& id) { return until_close(own_reply(id)); }, Outcome::late);
    const auto drip = [](std::string start) {
        return [start = std::move(start)](const Asked& asked) {
            bool taken = asked.connection.send(start);
            while (taken) {
                taken = asked.connection.send("x");
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
        };
    };
    faults.add("a drip of header", drip("HTTP/1.1 200 OK\r\nX: "), Outcome::late);
    faults.add("a drip of body",
               drip("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{\"jsonrpc\":\""),
               Outcome::late);
}

void add_heads(Faults& faults, std::uint16_t trap) {
    faults.say("garbage", always("220 mail.example ESMTP\r\n"));
    faults.say("no header at all", own_reply);
    faults.say("HTTP/2", always(std::string("\0\0\x12\4\0\0\0\0\0", 9)));
    const auto headed = [&faults](std::string name, std::string head) {
        faults.say(std::move(name), [head = std::move(head)](const std::string& id) {
            const std::string body = own_reply(id);
            return head + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
        });
    };
    headed("HTTP/1.2", "HTTP/1.2 200 OK");
    headed("HTTP/2.0", "HTTP/2.0 200 OK");
    headed("lower case", "http/1.1 200 OK");
    headed("status of two digits", "HTTP/1.1 20 OK");
    headed("status of four digits", "HTTP/1.1 2000 OK");
    headed("negative status", "HTTP/1.1 -20 OK");
    headed("a bare LF", "HTTP/1.1 200 OK\nX: y");
    headed("a bare CR", "HTTP/1.1 200 OK\r\nX: a\rb");
    headed("NUL", std::string("HTTP/1.1 200 OK\r\nX: a\0b", 23));
    headed("a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b");
    headed("blank before the colon", "HTTP/1.1 200 OK\r\nX : a");
    headed("no colon", "HTTP/1.1 200 OK\r\nnonsense");
    headed("an empty name", "HTTP/1.1 200 OK\r\n: x");
    faults.endless("endless fields", always("HTTP/1.1 200 OK\r\n"),
                   "A: " + std::string(1000, 'x') + "\r\n");
    faults.endless("an endless field", always("HTTP/1.1 200 OK\r\nA: "), std::string(65536, 'x'));
    faults.endless("endless interim replies", nothing, "HTTP/1.1 100 Continue\r\n\r\n");

    for (const char* interim : {"100 Continue", "102 Processing", "103 Early Hints"}) {
        faults.say(
            interim,
            [interim](const std::string& id) {
                return "HTTP/1.1 " + std::string(interim) + "\r\nLink: x\r\n\r\n" +
                       with_length(own_reply(id));
            },
            Outcome::usable, Reuse::may);
    }
    faults.say(
        "a hundred interim replies",
        [](const std::string& id) {
            std::string reply;
            for (int i = 0; i < 100; ++i) {
                reply += "HTTP/1.1 102 Processing\r\nA: b\r\nC: d\r\nE: f\r\n\r\n";
            }
            return reply + with_length(own_reply(id));
        },
        Outcome::usable, Reuse::may);
    faults.say("101", [](const std::string& id) {
        return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" +
               with_length(own_reply(id));
    });
    faults.say("an interim reply with a body", [](const std::string& id) {
        return "HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\n{}" + with_length(own_reply(id));
    });
    for (const char* status : {"204 No Content", "304 Not Modified"}) {
        faults.say(status, always("HTTP/1.1 " + std::string(status) + "\r\n\r\n"),
                   Outcome::unusable, Reuse::may);
        faults.say(std::string(status) + " with a body", [status](const std::string& id) {
            return with_length(own_reply(id), "", status);
        });
    }
    faults.say(
        "206 with the whole",
        [](const std::string& id) { return with_length(own_reply(id), "", "206 Partial Content"); },
        Outcome::usable, Reuse::may);
    faults.say(
        "206 with a part",
        [](const std::string& id) {
            return with_length(own_reply(id).substr(10), "Content-Range: bytes 10-44/45\r\n",
                               "206 Partial Content");
        },
        Outcome::unusable, Reuse::may);
    for (const char* status :
         {"300 Multiple Choices", "301 Moved Permanently", "302 Found", "303 See Other",
          "307 Temporary Redirect", "308 Permanent Redirect"}) {
        const std::string location = "Location: http://127.0.0.1:" + std::to_string(trap) + "/\r\n";
        faults.say(status, always(with_length("moved", location, status)), Outcome::unusable,
                   Reuse::may);
        faults.say(
            std::string(status) + " with a good body",
            [location, status](const std::string& id) {
                return with_length(own_reply(id), location, status);
            },
            Outcome::unusable, Reuse::may);
    }
    faults.say(
        "a refresh that is none",
        [trap](const std::string& id) {
            return with_length(own_reply(id), "Refresh: 0; url=http://127.0.0.1:" +
                                                  std::to_string(trap) + "/\r\n");
        },
        Outcome::usable, Reuse::may);
    faults.say(
        "500 with a good reply",
        [](const std::string& id) {
            return with_length(own_reply(id), "", "500 Internal Server Error");
        },
        Outcome::usable, Reuse::may);
    for (const char* status : {"500 Internal Server Error", "502 Bad Gateway", "503 Unavailable"}) {
        faults.say(std::string(status) + " in HTML",
                   always(with_length("<html><body>sorry</body></html>", "", status)),
                   Outcome::unusable, Reuse::may);
    }
}

void add_lengths(Faults& faults) {
    for (const char* value : {"+45", "-45", "0x2d", "45_0", "4 5", "45;", "", "\"45\"", "45, 45",
                              "45,46", "1000000000000000000000000000000", "18446744073709551661"}) {
        faults.say(std::string("length '") + value + "'", [value](const std::string& id) {
            return "HTTP/1.1 200 OK\r\nContent-Length: " + std::string(value) + "\r\n\r\n" +
                   own_reply(id);
        });
    }
    const auto fields = [&faults](std::string name, std::string lines, bool as_chunks) {
        faults.say(std::move(name), [lines = std::move(lines), as_chunks](const std::string& id) {
            const std::string body = own_reply(id);
            std::string head = "HTTP/1.1 200 OK\r\n" + lines + "\r\n";
            const std::size_t at = head.find("SIZE");
            if (at != std::string::npos) {
                head.replace(at, 4, std::to_string(body.size()));
            }
            return head + (as_chunks ? chunk(body) + "0\r\n\r\n" : body);
        });
    };
    fields("two lengths, unequal", "Content-Length: SIZE\r\nContent-Length: 5\r\n", false);
    fields("two lengths, unequal, in the other order",
           "Content-Length: 5\r\nContent-Length: SIZE\r\n", false);
    fields("length, then chunked", "Content-Length: SIZE\r\nTransfer-Encoding: chunked\r\n", true);
    fields("chunked, then length", "Transfer-Encoding: chunked\r\nContent-Length: SIZE\r\n", true);
    for (const char* coding : {"gzip", "xchunked", "chunked, chunked", "identity", "gzip, chunked",
                               "chunked, gzip", "", "chunked;q=1"}) {
        fields(std::string("coding '") + coding + "'",
               "Transfer-Encoding: " + std::string(coding) + "\r\n", true);
    }
    fields("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", true);
    faults.say("chunked under HTTP/1.0", [](const std::string& id) {
        return "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(own_reply(id)) +
               "0\r\n\r\n";
    });
    faults.say("a length too short", [](const std::string& id) {
        const std::string body = own_reply(id);
        return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size() - 3) +
               "\r\n\r\n" + body;
    });
    faults.say_and_end("a length too long", [](const std::string& id) {
        const std::string body = own_reply(id);
        return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size() + 3) +
               "\r\n\r\n" + body;
    });
    faults.say(
        "bytes after the body",
        [](const std::string& id) { return with_length(own_reply(id)) + "surplus"; },
        Outcome::usable);
    faults.say(
        "a second reply after the body",
        [](const std::string& id) {
            return with_length(own_reply(id)) +
                   with_length(result_reply(std::to_string(std::stoul(id) + 1), R"("0xbad")"));
        },
        Outcome::usable);
    faults.say(
        "bytes after the last chunk",
        [](const std::string& id) {
            return kChunkedHead + chunk(own_reply(id)) + "0\r\n\r\nsurplus";
        },
        Outcome::usable);
}

void add_chunks(Faults& faults) {
    faults.say(
        "chunks",
        [](const std::string& id) {
            const std::string body = own_reply(id);
            return kChunkedHead + chunk(body.substr(0, 7)) + chunk(body.substr(7)) + "0\r\n\r\n";
        },
        Outcome::usable, Reuse::may);
    for (const char* size : {"x", "0x2d", "-1", "+2d", " 2d", "", "2d_0", "2g", "0000000000000002d",
                             "ffffffffffffffff", "7fffffffffffffff"}) {
        faults.say(std::string("chunk size '") + size + "'", [size](const std::string& id) {
            return kChunkedHead + std::string(size) + "\r\n" + own_reply(id) + "\r\n0\r\n\r\n";
        });
    }
    const auto raw = [&faults](std::string name, std::string before, std::string after) {
        faults.say(std::move(name), [before, after](const std::string& id) {
            const std::string body = own_reply(id);
            return kChunkedHead + hex(body.size()) + before + body + after;
        });
    };
    raw("size line with a bare LF", "\n", "\r\n0\r\n\r\n");
    raw("size line with a bare CR", "\rx", "\r\n0\r\n\r\n");
    raw("chunk without CRLF", "\r\n", "0\r\n\r\n");
    raw("chunk with a bare LF", "\r\n", "\n0\r\n\r\n");
    raw("chunk longer than its size", "\r\n", "xyz\r\n0\r\n\r\n");
    raw("extension with a bare LF", ";a\n=b\r\n", "\r\n0\r\n\r\n");
    raw("extension with a bare CR", ";a\r=b\r\n", "\r\n0\r\n\r\n");
    raw("last chunk with a bare LF", "\r\n", "\r\n0\n\n");
    faults.endless("an endless extension", always(kChunkedHead + "1;"), std::string(65536, 'e'));
    faults.endless(
        "endless trailers",
        [](const std::string& id) { return kChunkedHead + chunk(own_reply(id)) + "0\r\n"; },
        "A: b\r\n");
}

std::vector<UpstreamFault> upstream_faults(std::uint16_t trap) {
    Faults faults;
    add_endings(faults);
    add_heads(faults, trap);
    add_lengths(faults);
    add_chunks(faults);
    add_contents(faults);
    add_long_ones(faults);
    return faults.take();
}

}  // namespace weir::test
