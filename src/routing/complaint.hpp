// What a provider says when it does not answer, in whatever shape it comes: the one place that
// knows where providers put their code, their words and their causes.
#pragma once

#include "routing/verdict.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

struct Complaint {
    std::optional<std::int64_t> code;  // a number, or a string that holds one
    std::vector<std::string> texts;    // the message first, then details and what data says
    std::vector<std::string> nested;   // of the causes below it, when it quotes them
    std::string_view data;             // raw bytes of the member `data`
    std::string_view object;           // raw bytes of the whole error, when it is an object
    std::string_view around;           // of the object that the error stood in, where there is one
};

// An error in JSON: an object, or a string, and the object that it stood in, if any. Bounded in
// time and memory whatever the bytes.
Complaint read_complaint(std::string_view error, std::string_view around = {});

// The error in a body that does not answer the call: an envelope with another id, an array of one,
// a bare `{code, message}`, a status object, a plain text. `body` need not be JSON.
Complaint read_stray_complaint(std::string_view body);

// An HTTP reply that a message quotes: `429 Too Many Requests: {...}`.
struct QuotedReply {
    int status = 0;
    std::string body;  // may be empty
};
std::optional<QuotedReply> quoted_reply(std::string_view message);

}  // namespace weir::routing
