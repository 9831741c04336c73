// How the table of upstream faults is written down; for its own .cpp files.
#pragma once

#include "support/upstream_faults.hpp"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace weir::test {

using Asked = FaultyNode::Asked;
using Script = FaultyNode::Script;
using Outcome = UpstreamFault::Outcome;
using Reuse = UpstreamFault::Reuse;

inline constexpr std::size_t kLong = 900 * 1024;  // never read in one go; within max_reply

inline std::string own_reply(const std::string& id) { return result_reply(id, kOwnResult); }

inline std::string long_reply(const std::string& id) {
    return result_reply(id, "\"" + std::string(kLong, 'x') + "\"");
}

inline std::string with_length(const std::string& body, const std::string& fields = {},
                               const std::string& status = "200 OK") {
    return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\n" + fields +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline std::string until_close(const std::string& body, const std::string& fields = {}) {
    return "HTTP/1.1 200 OK\r\n" + fields + "\r\n" + body;
}

inline std::string hex(std::size_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "%zx", value);
    return text;
}

inline std::string chunk(const std::string& bytes) {
    return hex(bytes.size()) + "\r\n" + bytes + "\r\n";
}

inline const std::string kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

class Faults {
  public:
    std::vector<UpstreamFault> take() { return std::move(faults_); }

    void add(std::string name, Script script, Outcome outcome = Outcome::unusable,
             Reuse reuse = Reuse::never) {
        faults_.push_back({std::move(name), std::move(script), outcome, reuse});
    }

    // `bytes` of the id, then silence.
    using Bytes = std::function<std::string(const std::string& id)>;
    void say(std::string name, Bytes bytes, Outcome outcome = Outcome::unusable,
             Reuse reuse = Reuse::never) {
        add(
            std::move(name),
            [bytes](const Asked& asked) { asked.connection.send(bytes(asked.id)); }, outcome,
            reuse);
    }
    void say_and_end(std::string name, Bytes bytes, Outcome outcome = Outcome::unusable) {
        add(
            std::move(name),
            [bytes](const Asked& asked) {
                asked.connection.send(bytes(asked.id));
                asked.connection.finish();
            },
            outcome);
    }
    void say_and_reset(std::string name, Bytes bytes, Outcome outcome = Outcome::unusable) {
        add(
            std::move(name),
            [bytes](const Asked& asked) {
                asked.connection.send(bytes(asked.id));
                asked.connection.wait_delivered();
                asked.connection.reset();
            },
            outcome);
    }
    // A body with this text in the place of a reply.
    void body(std::string name, Bytes text, Outcome outcome = Outcome::unusable) {
        say(
            std::move(name), [text](const std::string& id) { return with_length(text(id)); },
            outcome, Reuse::may);
    }
    // `start`, then `drop` over and over.
    void endless(std::string name, Bytes start, std::string drop,
                 Outcome outcome = Outcome::unusable) {
        add(
            std::move(name),
            [start, drop = std::move(drop)](const Asked& asked) {
                bool taken = asked.connection.send(start(asked.id));
                while (taken) {
                    taken = asked.connection.send(drop);
                }
            },
            outcome);
    }

  private:
    std::vector<UpstreamFault> faults_;
};

inline std::string nothing(const std::string& /*id*/) { return {}; }

inline Faults::Bytes always(std::string bytes) {
    return [bytes = std::move(bytes)](const std::string&) { return bytes; };
}

void add_endings(Faults& faults);
void add_heads(Faults& faults, std::uint16_t trap);
void add_lengths(Faults& faults);
void add_chunks(Faults& faults);
void add_contents(Faults& faults);
void add_long_ones(Faults& faults);

}  // namespace weir::test
