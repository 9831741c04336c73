#include "support/json_oracle.hpp"

#include "jsonrpc/reply.hpp"
#include "jsonrpc/request.hpp"
#include "jsonrpc/value.hpp"

#include <simdjson.h>

#include <algorithm>
#include <functional>
#include <optional>

namespace weir::test {
namespace {

using namespace jsonrpc;

constexpr std::size_t kDepth = 512;

// simdjson's DOM refuses numbers that are JSON but fit no 64-bit type.
bool has_large_number(std::string_view text) {
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        digits = digit ? digits + 1 : text[i] == '.' ? digits : 0;
        if (digits >= 19) return true;
        const bool exponent = text[i] == 'e' || text[i] == 'E';
        if (exponent && i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9') return true;
    }
    return false;
}

bool has_surrogate_escape(std::string_view text) {
    return text.find("\\ud") != std::string_view::npos ||
           text.find("\\uD") != std::string_view::npos;
}

// The two parsers count depth differently at the very limit; far from it they must agree.
bool is_deep(std::string_view text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return c == '[' || c == '{'; }) >
           500;
}

std::string compare_with_simdjson(std::string_view text) {
    const bool ours = is_valid(text, kDepth);
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    const simdjson::padded_string padded(text);
    const simdjson::error_code error = parser.parse(padded).get(root);
    if (is_deep(text) || text.starts_with("\xEF\xBB\xBF")) return {};
    if (!ours) return error == simdjson::SUCCESS ? "only simdjson takes it" : "";
    switch (error) {
        case simdjson::SUCCESS:
            break;
        case simdjson::NUMBER_ERROR:
        case simdjson::NUMBER_OUT_OF_RANGE:
            return has_large_number(text) ? "" : "simdjson refuses a number in it";
        case simdjson::STRING_ERROR:
            return has_surrogate_escape(text) ? "" : "simdjson refuses a string in it";
        default:
            return has_large_number(text)
                       ? ""
                       : std::string("simdjson refuses it: ") + simdjson::error_message(error);
    }
    std::string_view theirs;
    if (root.get(theirs) == simdjson::SUCCESS && is_string(text) && text.ends_with('"') &&
        string_value(text) != theirs) {
        return "simdjson decodes the string otherwise";
    }
    return {};
}

bool lies_within(std::string_view part, std::string_view whole) {
    const std::less_equal<const char*> not_after;
    return not_after(whole.data(), part.data()) &&
           not_after(part.data() + part.size(), whole.data() + whole.size());
}

bool is_sound_part(std::string_view part, std::string_view whole) {
    return part.empty() || (lies_within(part, whole) && is_valid(part));
}

std::string check_request(std::string_view text) {
    const auto request = parse_request(text, RequestLimits{kDepth, 20});
    if (!request) {
        const bool syntax = request.error().fault == RequestFault::parse_error;
        return syntax == !is_valid(text, kDepth) ? "" : "parse_request errs about the syntax";
    }
    if (!is_valid(text, kDepth)) return "parse_request takes what is not JSON";
    if (request->calls.empty()) return "a request without calls";
    for (const Call& call : request->calls) {
        if (!is_sound_part(call.id, text)) return "an id that is not JSON of the body";
        if (is_object(call.id) || is_array(call.id)) return "an id that is no scalar";
        if (!is_sound_part(call.params, text)) return "params that are not JSON of the body";
        if (call.fault != CallFault::none) continue;
        if (call.method.empty() || call.method.size() > 128) return "a good call without a method";
        if (call.method.find_first_of(std::string_view("\0\"\\ \n", 5)) != std::string_view::npos) {
            return "a method name with odd characters";
        }
    }
    return {};
}

bool same(const std::optional<Range>& a, const std::optional<Range>& b) {
    return a.has_value() == b.has_value() && (!a || (a->begin == b->begin && a->end == b->end));
}

bool same(const EnvelopeScanner& a, const EnvelopeScanner& b) {
    const Envelope& left = a.envelope();
    const Envelope& right = b.envelope();
    return a.state() == b.state() && same(left.id, right.id) && same(left.result, right.result) &&
           same(left.error, right.error) && left.error_is_null == right.error_is_null;
}

std::string check_reply(std::string_view text) {
    EnvelopeScanner whole;
    whole.feed(text);
    for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{17}}) {
        EnvelopeScanner pieces;
        for (std::string_view rest = text; !rest.empty();
             rest.remove_prefix(std::min(size, rest.size()))) {
            pieces.feed(rest.substr(0, size));
        }
        if (!same(whole, pieces)) return "pieces make a difference to a reply";
    }
    const auto reply = parse_reply(text);
    if (!reply) return {};
    if (whole.state() != EnvelopeScanner::State::complete) return "the two reply readers differ";
    if (!is_valid(text)) return "parse_reply takes what is not JSON";
    if (!is_sound_part(reply->id, text)) return "a reply's id is not JSON of the body";
    if (!is_sound_part(reply->result, text)) return "a result is not JSON of the body";
    if (!is_sound_part(reply->error, text)) return "an error is not JSON of the body";
    if (reply->result.empty() == reply->error.empty()) return "not one of result and error";
    read_error(reply->error);
    return {};
}

std::string check_values(std::string_view text) {
    read_error(text);
    member(text, "id");
    const auto items = split_array(text);
    if (items && items->size() != element_count(text)) return "element_count differs";
    for (std::size_t i = 0; items && i < std::min<std::size_t>(items->size(), 5); ++i) {
        if (!is_sound_part((*items)[i], text)) return "an item that is not JSON of the body";
        if (element(text, i) != (*items)[i]) return "element differs";
    }
    std::string written;
    append_string(written, text);
    const auto read = string_value(written);
    if (!read) return "a written string cannot be read";
    if (is_valid('"' + std::string(text) + '"') && text.find('\\') == std::string_view::npos &&
        *read != text) {
        return "a written string reads otherwise";
    }
    return {};
}

}  // namespace

std::string json_complaint(std::string_view text) {
    for (const auto check : {compare_with_simdjson, check_request, check_reply, check_values}) {
        if (std::string complaint = check(text); !complaint.empty()) return complaint;
    }
    return {};
}

}  // namespace weir::test
