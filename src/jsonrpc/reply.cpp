#include "jsonrpc/reply.hpp"

#include "jsonrpc/array_items.hpp"
#include "jsonrpc/scanner.hpp"
#include "jsonrpc/value.hpp"

#include <charconv>
#include <system_error>
#include <utility>

namespace weir::jsonrpc {
namespace {

constexpr std::size_t kReplyDepth = 1024;

// Fills an envelope; `complaint` says why it stopped the scan.
class EnvelopeSink {
  public:
    static constexpr std::size_t kWatch = 1;

    bool begin(std::size_t depth, std::size_t offset, char first) {
        if (depth == 0) return first == '{' || complain("the reply is not an object");
        if (current_ == nullptr) return true;
        current_->emplace(Range{offset, Range::kOpen});
        if (current_ == &envelope.id && (first == '{' || first == '[')) {
            return complain("the reply's id is not a scalar");
        }
        if (current_ == &envelope.error) envelope.error_is_null = first == 'n';
        if (envelope.result && envelope.error && !envelope.error_is_null) {
            return complain("the reply has both a result and an error");
        }
        return true;
    }

    bool end(std::size_t depth, std::size_t offset) {
        if (depth == 1 && current_ != nullptr) {
            (*current_)->end = offset;
            current_ = nullptr;
        }
        return true;
    }

    bool name(std::size_t, const ScannedName& name) {
        if (name.decoded == "jsonrpc") {
            return !std::exchange(has_version_, true) || complain("a member stands twice");
        }
        current_ = name.decoded == "id"       ? &envelope.id
                   : name.decoded == "result" ? &envelope.result
                   : name.decoded == "error"  ? &envelope.error
                                              : nullptr;
        return current_ == nullptr || !current_->has_value() || complain("a member stands twice");
    }

    Envelope envelope;
    const char* complaint = nullptr;

  private:
    bool complain(const char* why) {
        complaint = why;
        return false;
    }

    std::optional<Range>* current_ = nullptr;  // the member whose value is being read
    bool has_version_ = false;
};

// Takes an array's items apart; a bad item does not end the scan.
class ReplyArraySink {
  public:
    static constexpr std::size_t kWatch = 2;

    ReplyArraySink(std::string_view text, std::size_t most) : text_(text), most_(most) {}

    bool begin(std::size_t depth, std::size_t offset, char first) {
        if (depth == 0) return is_array = first == '[';
        if (depth == 1) {
            item_ = ArrayItem();
            begin_ = offset;
            good_ = first == '{';
            null_error_ = seen_id_ = seen_error_ = seen_version_ = false;
            value_ = nullptr;
            return true;
        }
        if (value_ == nullptr) return true;
        value_begin_ = offset;
        if (value_ == &reply_.id) good_ = good_ && first != '{' && first != '[';
        null_error_ = null_error_ || (value_ == &reply_.error && first == 'n');
        return true;
    }

    bool end(std::size_t depth, std::size_t offset) {
        if (depth == 2 && value_ != nullptr) {
            *value_ = text_.substr(value_begin_, offset - value_begin_);
            value_ = nullptr;
        }
        if (depth == 1) keep(offset);
        return true;
    }

    bool name(std::size_t depth, const ScannedName& name) {
        value_ = nullptr;
        if (depth != 2) return true;
        if (name.decoded == "jsonrpc") {
            good_ = good_ && !std::exchange(seen_version_, true);
        } else if (name.decoded == "id") {
            good_ = good_ && !std::exchange(seen_id_, true);
            value_ = &reply_.id;
        } else if (name.decoded == "result") {
            good_ = good_ && reply_.result.empty();
            value_ = &reply_.result;
        } else if (name.decoded == "error") {
            good_ = good_ && !std::exchange(seen_error_, true);
            value_ = &reply_.error;
        }
        return true;
    }

    std::vector<ArrayItem> items;
    bool is_array = false;

  private:
    void keep(std::size_t end) {
        if (null_error_) reply_.error = {};
        item_.raw = text_.substr(begin_, end - begin_);
        if (good_ && reply_.result.empty() != reply_.error.empty()) item_.reply = reply_;
        if (items.size() < most_) items.push_back(item_);
        reply_ = Reply();
    }

    std::string_view text_;
    std::size_t most_;
    ArrayItem item_;
    Reply reply_;
    std::size_t begin_ = 0;
    std::size_t value_begin_ = 0;
    std::string_view* value_ = nullptr;  // the member whose value is being read
    bool good_ = false;
    bool null_error_ = false;
    bool seen_id_ = false;
    bool seen_error_ = false;
    bool seen_version_ = false;
};

std::optional<std::int64_t> read_code(std::string_view value) {
    if (value.empty()) return std::nullopt;
    const std::optional<std::string_view> text = plain_string(value);
    const std::string_view digits = text ? *text : value;
    std::int64_t code = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, code);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return code;
}

}  // namespace

struct EnvelopeScanner::Impl {
    explicit Impl(std::size_t max_depth) : scanner(max_depth) {}

    Scanner scanner;
    EnvelopeSink sink;
};

EnvelopeScanner::EnvelopeScanner(std::size_t max_depth)
    : impl_(std::make_unique<Impl>(max_depth)) {}
EnvelopeScanner::~EnvelopeScanner() = default;
EnvelopeScanner::EnvelopeScanner(EnvelopeScanner&&) noexcept = default;
EnvelopeScanner& EnvelopeScanner::operator=(EnvelopeScanner&&) noexcept = default;

EnvelopeScanner::State EnvelopeScanner::feed(std::string_view bytes) {
    impl_->scanner.feed(bytes, impl_->sink);
    return state();
}

EnvelopeScanner::State EnvelopeScanner::state() const {
    switch (impl_->scanner.state()) {
        case Scanner::State::more:
            return State::more;
        case Scanner::State::complete:
            return State::complete;
        case Scanner::State::broken:
            break;
    }
    return State::broken;
}

const Envelope& EnvelopeScanner::envelope() const { return impl_->sink.envelope; }

core::Result<Reply> parse_reply(std::string_view body) {
    Scanner scanner(kReplyDepth);
    EnvelopeSink sink;
    scanner.feed(body, sink);
    if (scanner.finish(sink) != Scanner::State::complete) {
        return core::Error{sink.complaint != nullptr ? sink.complaint : describe(scanner)};
    }
    const Envelope& envelope = sink.envelope;
    Reply reply;
    if (envelope.id) reply.id = envelope.id->of(body);
    if (envelope.result) {
        reply.result = envelope.result->of(body);
    } else if (envelope.error && !envelope.error_is_null) {
        reply.error = envelope.error->of(body);
    } else {
        return core::Error{"the reply has neither a result nor an error"};
    }
    return reply;
}

core::Result<std::vector<ArrayItem>> parse_reply_array(std::string_view body, std::size_t most) {
    ReplyArraySink sink(body, most);
    Scanner scanner(kReplyDepth);
    scanner.feed(body, sink);
    if (!sink.is_array) return core::Error{"the reply is not an array"};
    if (scanner.finish(sink) != Scanner::State::complete) return core::Error{describe(scanner)};
    return std::move(sink.items);
}

core::Result<std::vector<std::string_view>> split_array(std::string_view body) {
    std::vector<std::string_view> items;
    const auto keep = [&items](std::string_view item) {
        items.push_back(item);
        return true;
    };
    ArrayItems sink(body, keep);
    Scanner scanner(kReplyDepth);
    scanner.feed(body, sink);
    if (!sink.is_array()) return core::Error{"the reply is not an array"};
    if (scanner.finish(sink) != Scanner::State::complete) return core::Error{describe(scanner)};
    return items;
}

ErrorObject read_error(std::string_view error) {
    ErrorObject read;
    if (is_string(error)) {
        read.message = string_value(error).value_or(std::string());
        return read;
    }
    read.code = read_code(member(error, "code"));
    read.message = string_value(member(error, "message")).value_or(std::string());
    read.data = member(error, "data");
    return read;
}

}  // namespace weir::jsonrpc
