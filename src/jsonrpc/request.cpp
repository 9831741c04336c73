#include "jsonrpc/request.hpp"

#include "jsonrpc/scanner.hpp"
#include "jsonrpc/value.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace weir::jsonrpc {
namespace {

constexpr std::size_t kLongestMethod = 128;

enum Member : std::size_t { kId, kMethod, kParams, kVersion, kMembers, kOther = kMembers };

Member which_member(std::string_view name) {
    if (name == "id") return kId;
    if (name == "method") return kMethod;
    if (name == "params") return kParams;
    if (name == "jsonrpc") return kVersion;
    return kOther;
}

// One item of the body as the scan left it: the members' raw bytes, not judged yet.
struct RawCall {
    bool is_object = false;
    std::array<std::string_view, kMembers> members;
    std::array<std::string_view, std::tuple_size_v<decltype(Call::noted)>> params;
    std::array<bool, kMembers> seen{};
    std::array<bool, kMembers> repeated{};
};

bool is_id(std::string_view value) {
    const char c = value.front();
    return c == '"' || c == 'n' || c == '-' || (c >= '0' && c <= '9');
}

bool is_params(std::string_view value) {
    return value.empty() || is_array(value) || is_object(value) || is_null(value);
}

bool is_version(std::string_view value) {
    if (value == R"("2.0")") return true;
    return value.find('\\') != std::string_view::npos && string_value(value) == "2.0";
}

constexpr bool may_be_in_method(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

bool is_method_name(std::string_view name) {
    return !name.empty() && name.size() <= kLongestMethod &&
           std::all_of(name.begin(), name.end(), may_be_in_method);
}

// The first fault in the order of how much of the call it spoils.
std::pair<CallFault, const char*> judge(const RawCall& raw, const Call& call) {
    using Verdict = std::pair<CallFault, const char*>;
    const auto invalid = [](const char* reason) { return Verdict(CallFault::invalid, reason); };
    if (!raw.is_object) return invalid("a call must be an object");
    if (std::find(raw.repeated.begin(), raw.repeated.end(), true) != raw.repeated.end()) {
        return {CallFault::duplicate_member, "id, method, params and jsonrpc may stand only once"};
    }
    if (raw.seen[kId] && call.id.empty()) return invalid("id must be a string, a number or null");
    if (!raw.seen[kVersion]) return invalid("jsonrpc is missing; it must be \"2.0\"");
    if (!is_version(raw.members[kVersion])) return invalid("jsonrpc must be \"2.0\"");
    if (!raw.seen[kMethod]) return invalid("method is missing");
    if (!is_string(raw.members[kMethod])) return invalid("method must be a string");
    if (!is_params(call.params)) return invalid("params must be an array or an object");
    if (!is_method_name(call.method)) {
        return {CallFault::bad_method_name,
                "a method name has 1 to 128 letters, digits, '_', '.' and '-'"};
    }
    return {CallFault::none, ""};
}

std::string_view decoded_method(std::string_view value, Request& request) {
    if (value.empty() || !is_string(value)) return {};
    if (const auto plain = plain_string(value)) return *plain;
    request.decoded.push_front(string_value(value).value_or(std::string()));
    return request.decoded.front();
}

void add_call(const RawCall& raw, Request& request) {
    Call call;
    if (raw.seen[kId] && !raw.repeated[kId] && is_id(raw.members[kId])) call.id = raw.members[kId];
    call.method = decoded_method(raw.members[kMethod], request);
    call.params = raw.members[kParams];
    if (!raw.repeated[kParams]) call.noted = raw.params;
    std::tie(call.fault, call.reason) = judge(raw, call);
    request.calls.push_back(call);
}

// Gathers each call's members while the scanner passes over them.
class RequestSink {
  public:
    static constexpr std::size_t kWatch = 2;

    RequestSink(std::string_view body, std::size_t max_batch, Request& request)
        : body_(body), max_batch_(max_batch), request_(request) {}

    bool begin(std::size_t depth, std::size_t offset, char first) {
        if (depth == 0) {
            root_ = first;
            request_.is_batch = first == '[';
            item_depth_ = first == '[' ? 1 : 0;
        }
        if (depth == item_depth_) {
            raw_ = RawCall{};
            raw_.is_object = first == '{';
            member_ = kOther;
        } else if (depth == item_depth_ + 1) {
            begin_ = offset;
            params_ = 0;
        } else {
            param_begin_ = offset;
        }
        return true;
    }

    bool end(std::size_t depth, std::size_t offset) {
        if (depth == item_depth_ + 1) {
            if (member_ != kOther && !raw_.repeated[member_]) {
                raw_.members[member_] = body_.substr(begin_, offset - begin_);
            }
            member_ = kOther;
        } else if (depth == item_depth_) {
            end_item();
        } else if (member_ == kParams && body_[begin_] == '[' && params_ < raw_.params.size()) {
            raw_.params[params_++] = body_.substr(param_begin_, offset - param_begin_);
        }
        return true;
    }

    bool name(std::size_t depth, const ScannedName& name) {
        if (depth == item_depth_ + 1) {
            member_ = which_member(name.decoded);
            if (member_ != kOther) {
                raw_.repeated[member_] = raw_.seen[member_];
                raw_.seen[member_] = true;
            }
        }
        return true;
    }

    char root() const { return root_; }
    std::size_t items() const { return items_; }

  private:
    void end_item() {
        if (items_ < max_batch_ || !request_.is_batch) add_call(raw_, request_);
        ++items_;
    }

    std::string_view body_;
    std::size_t max_batch_;
    Request& request_;
    RawCall raw_;
    std::size_t item_depth_ = 0;  // where calls stand: the root, or within the root's array
    std::size_t items_ = 0;
    std::size_t begin_ = 0;  // of a member's value
    std::size_t param_begin_ = 0;
    std::size_t params_ = 0;  // noted; a batch's stand too deep to be told of
    Member member_ = kOther;
    char root_ = '\0';
};

}  // namespace

core::Result<Request, RequestError> parse_request(std::string_view body,
                                                  const RequestLimits& limits) {
    core::Result<Request, RequestError> result = Request();
    Request& request = *result;
    RequestSink sink(body, limits.max_batch, request);
    Scanner scanner(limits.max_depth);
    scanner.feed(body, sink);
    if (scanner.finish(sink) != Scanner::State::complete) {
        return RequestError{RequestFault::parse_error, describe(scanner)};
    }
    if (sink.root() != '{' && sink.root() != '[') {
        return RequestError{RequestFault::not_a_call, "a request is an object or an array of them"};
    }
    if (request.is_batch && sink.items() == 0) {
        return RequestError{RequestFault::empty_batch, "the batch is empty"};
    }
    if (request.is_batch && sink.items() > limits.max_batch) {
        return RequestError{RequestFault::too_many_calls,
                            "the batch has " + std::to_string(sink.items()) +
                                " calls; the limit is " + std::to_string(limits.max_batch)};
    }
    return result;
}

std::string_view Call::param(std::size_t index) const {
    const bool known = index < noted.size() && !noted[index].empty();
    return known ? noted[index] : element(params, index);
}

}  // namespace weir::jsonrpc
