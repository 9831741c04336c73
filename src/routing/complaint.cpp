#include "routing/complaint.hpp"

#include "core/text.hpp"
#include "jsonrpc/reply.hpp"
#include "jsonrpc/value.hpp"

#include <algorithm>
#include <array>

namespace weir::routing {
namespace {

constexpr std::size_t kLongestText = 2048;  // wordings stand near the beginning
constexpr std::size_t kMostTexts = 8;
constexpr std::size_t kMostMembers = 32;
constexpr std::size_t kMostNested = 24;  // objects
constexpr std::size_t kDeepestNested = 12;
constexpr std::size_t kLongestNested = 64 * 1024;
constexpr std::size_t kLongestStray = 64 * 1024;  // nobody complains at greater length

// Names under which providers put their words, those of the message itself first.
constexpr std::array<std::string_view, 6> kMessageNames = {
    "message", "messgae", "msg", "Message", "error_message", "faultstring"};
constexpr std::array<std::string_view, 7> kDetailNames = {
    "details", "detail", "reason", "description", "error_description", "title", "cause"};
constexpr std::array<std::string_view, 9> kNestedNames = {
    "cause", "causes", "errors", "error", "data", "inner", "originalError", "reasons", "fault"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// A JSON string as a text that is short enough to be searched; empty for anything else and for
// data in hex, which holds no words.
std::string text_of(std::string_view value) {
    if (!jsonrpc::is_string(value) || value.starts_with(R"("0x)") || value.size() > kLongestStray) {
        return {};
    }
    std::string text = jsonrpc::string_value(value).value_or(std::string());
    text.resize(std::min(text.size(), kLongestText));
    return text;
}

void add(std::vector<std::string>& texts, std::string text) {
    if (!text.empty() && texts.size() < kMostTexts) {
        texts.push_back(std::move(text));
    }
}

// Every text of the objects below `value`: messages, details, and codes that are words.
class Nested {
  public:
    explicit Nested(std::vector<std::string>& texts) : texts_(texts) {}

    void read(std::string_view value, std::size_t depth) {
        if (depth > kDeepestNested || objects_ >= kMostNested) {
            return;
        }
        if (jsonrpc::is_array(value)) {
            for (std::size_t i = 0; i < 4; ++i) {
                const auto item = jsonrpc::element(value, i);
                add(item);
                read(item, depth + 1);
            }
        } else if (jsonrpc::is_object(value)) {
            ++objects_;
            read_object(value, depth);
        }
    }

  private:
    void read_object(std::string_view object, std::size_t depth) {
        for (const jsonrpc::Member& member : jsonrpc::members(object, kMostMembers)) {
            if (member.name == "code" || is_one_of(kMessageNames, member.name) ||
                is_one_of(kDetailNames, member.name)) {
                add(member.value);
            }
            if (is_one_of(kNestedNames, member.name)) {
                read(member.value, depth + 1);
            }
        }
    }

    void add(std::string_view value) {
        if (texts_.size() < kMostNested) {
            if (std::string text = text_of(value); !text.empty()) {
                texts_.push_back(std::move(text));
            }
        }
    }

    std::vector<std::string>& texts_;
    std::size_t objects_ = 0;
};

void read_object(std::string_view object, Complaint& complaint) {
    complaint.object = object;
    std::vector<std::string> details;
    Nested nested(complaint.nested);
    for (const jsonrpc::Member& member : jsonrpc::members(object, kMostMembers)) {
        const std::string_view value = member.value;
        if (is_one_of(kMessageNames, member.name)) {
            add(complaint.texts, text_of(value));
        } else if (is_one_of(kDetailNames, member.name) || member.name == "error" ||
                   member.name == "errors") {
            add(details, text_of(value));
        }
        if (member.name == "data") {
            complaint.data = value;
            add(details, text_of(value));
            if (jsonrpc::is_object(value) && value.size() <= kLongestNested) {
                add(details, text_of(jsonrpc::member(value, "message")));
            }
        }
        if (is_one_of(kNestedNames, member.name) && value.size() <= kLongestNested) {
            nested.read(value, 0);
        }
    }
    complaint.code = jsonrpc::read_error(object).code;
    for (std::string& text : details) {
        add(complaint.texts, std::move(text));
    }
}

// `{"status":"0","message":"NOTOK","result":"what is wrong"}`, as block explorers answer.
void read_explorer(std::string_view object, Complaint& complaint) {
    if (jsonrpc::plain_string(jsonrpc::member(object, "status")) == "0") {
        add(complaint.texts, text_of(jsonrpc::member(object, "result")));
    }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::array<std::pair<int, std::string_view>, 12> kReasons = {{
    {400, "bad request"},
    {401, "unauthorized"},
    {402, "payment required"},
    {403, "forbidden"},
    {404, "not found"},
    {408, "request timeout"},
    {413, "request entity too large"},
    {429, "too many requests"},
    {500, "internal server error"},
    {502, "bad gateway"},
    {503, "service unavailable"},
    {504, "gateway time"},
}};

}  // namespace

Complaint read_complaint(std::string_view error, std::string_view around) {
    Complaint complaint;
    if (around.size() <= kLongestStray && jsonrpc::is_object(around)) {
        complaint.around = around;
    }
    if (jsonrpc::is_object(error)) {
        read_object(error, complaint);
    } else {
        add(complaint.texts, text_of(error));
    }
    return complaint;
}

Complaint read_stray_complaint(std::string_view body) {
    Complaint complaint;
    if (body.size() > kLongestStray || !jsonrpc::is_valid(body)) {
        add(complaint.texts, std::string(body.substr(0, kLongestText)));
        return complaint;
    }
    const auto first = body.find_first_not_of(" \t\r\n");
    body = first == body.npos ? std::string_view() : body.substr(first);
    if (jsonrpc::is_array(body)) {
        body = jsonrpc::element(body, 0);
    }
    if (!jsonrpc::is_object(body)) {
        return read_complaint(body);
    }
    const std::string_view error = jsonrpc::member(body, "error");
    if (jsonrpc::is_object(error)) {
        return read_complaint(error, body);
    }
    read_object(body, complaint);
    read_explorer(body, complaint);
    return complaint;
}

std::optional<QuotedReply> quoted_reply(std::string_view message) {
    message = core::trim(message);
    if (message.size() < 8 || !is_digit(message[0]) || !is_digit(message[1]) ||
        !is_digit(message[2]) || message[3] != ' ') {
        return std::nullopt;
    }
    const int status = (message[0] - '0') * 100 + (message[1] - '0') * 10 + (message[2] - '0');
    const std::string rest = core::to_lower(message.substr(4, 64));
    const bool quoted = std::any_of(kReasons.begin(), kReasons.end(), [&](const auto& reason) {
        return reason.first == status && rest.starts_with(reason.second);
    });
    if (!quoted) {
        return std::nullopt;
    }
    QuotedReply reply{status, {}};
    const std::size_t open = message.find_first_of("{<");
    const std::size_t close = message.find_last_of("}>");
    if (open != message.npos && close != message.npos && close > open) {
        reply.body = std::string(message.substr(open, close - open + 1));
    }
    return reply;
}

}  // namespace weir::routing
