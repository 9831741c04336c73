#include "jsonrpc/value.hpp"

#include "core/utf8.hpp"
#include "jsonrpc/array_items.hpp"
#include "jsonrpc/scanner.hpp"
#include "jsonrpc/string_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::jsonrpc {
namespace {

// The text was admitted under a bound before; the scanner's own need is a bit per level.
constexpr std::size_t kAnyDepth = std::numeric_limits<std::size_t>::max();
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Finds the last member of one name in the object at the root.
class MemberSink {
  public:
    static constexpr std::size_t kWatch = 1;

    MemberSink(std::string_view text, std::string_view wanted) : text_(text), wanted_(wanted) {}

    bool begin(std::size_t depth, std::size_t offset, char first) {
        if (depth == 0) return first == '{';
        begin_ = offset;
        return true;
    }

    bool end(std::size_t depth, std::size_t offset) {
        if (depth == 1 && matches_) found_ = text_.substr(begin_, offset - begin_);
        return true;
    }

    bool name(std::size_t, const ScannedName& name) {
        const std::string_view raw = text_.substr(name.begin, name.end - name.begin);
        if (raw.find('\\') == std::string_view::npos) {
            matches_ = raw == wanted_;
        } else {
            matches_ = string_value(text_.substr(name.begin - 1, raw.size() + 2)) == wanted_;
        }
        return true;
    }

    std::string_view found() const { return found_; }

  private:
    std::string_view text_;
    std::string_view wanted_;
    std::string_view found_;
    std::size_t begin_ = 0;
    bool matches_ = false;
};

// Collects the first members of the object at the root.
class MembersSink {
  public:
    static constexpr std::size_t kWatch = 1;

    MembersSink(std::string_view text, std::size_t most) : text_(text), most_(most) {}

    bool begin(std::size_t depth, std::size_t offset, char first) {
        if (depth == 0) return first == '{';
        begin_ = offset;
        return true;
    }

    bool end(std::size_t depth, std::size_t offset) {
        if (depth == 1 && found_.size() < most_) {
            found_.push_back({name_, text_.substr(begin_, offset - begin_),
                              text_.substr(name_begin_, offset - name_begin_)});
        }
        return true;
    }

    bool name(std::size_t, const ScannedName& name) {
        name_begin_ = name.begin - 1;
        const std::string_view quoted = text_.substr(name.begin - 1, name.end - name.begin + 2);
        name_ = string_value(quoted).value_or(std::string());
        return true;
    }

    std::vector<Member> take() { return std::move(found_); }

  private:
    std::string_view text_;
    std::size_t most_;
    std::vector<Member> found_;
    std::string name_;
    std::size_t name_begin_ = 0;  // its quote
    std::size_t begin_ = 0;
};

std::uint32_t hex4(std::string_view digits) {
    std::uint32_t code = 0;
    for (const char c : digits) {
        const auto byte = static_cast<std::uint32_t>(static_cast<unsigned char>(c));
        code = code << 4 | (c <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
    }
    return code;
}

bool is_high_surrogate(std::uint32_t code) { return code >= 0xD800 && code <= 0xDBFF; }
bool is_low_surrogate(std::uint32_t code) { return code >= 0xDC00 && code <= 0xDFFF; }

// Decodes the \u escape at the head of `rest`, with its second half where it has one; returns the
// number of bytes it took. The text was checked: four digits follow each \u.
std::size_t append_unicode_escape(std::string& out, std::string_view rest) {
    const std::uint32_t first = hex4(rest.substr(2, 4));
    if (is_high_surrogate(first) && rest.substr(6, 2) == "\\u") {
        const std::uint32_t second = hex4(rest.substr(8, 4));
        if (is_low_surrogate(second)) {
            core::append_utf8(out, 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            return 12;
        }
    }
    if (is_high_surrogate(first) || is_low_surrogate(first)) {
        out += kReplacement;
    } else {
        core::append_utf8(out, first);
    }
    return 6;
}

char meaning_of(char escaped) {
    switch (escaped) {
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        default:
            return escaped;
    }
}

void append_escaped(std::string& out, char c) {
    static constexpr std::string_view kHex = "0123456789abcdef";
    switch (c) {
        case '"':
        case '\\':
            out.push_back('\\');
            out.push_back(c);
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            out += "\\u00";
            out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
            out.push_back(kHex[static_cast<unsigned char>(c) & 0xF]);
    }
}

}  // namespace

std::string_view element(std::string_view array, std::size_t index) {
    std::string_view found;
    std::size_t next = 0;
    const auto take = [&](std::string_view item) {
        if (next++ != index) return true;
        found = item;
        return false;
    };
    ArrayItems sink(array, take);
    Scanner(kAnyDepth).feed(array, sink);
    return found;
}

std::size_t element_count(std::string_view array) {
    std::size_t count = 0;
    const auto take = [&count](std::string_view) {
        ++count;
        return true;
    };
    ArrayItems sink(array, take);
    Scanner scanner(kAnyDepth);
    return scanner.feed(array, sink) == Scanner::State::complete ? count : 0;
}

std::string_view member(std::string_view object, std::string_view name) {
    MemberSink sink(object, name);
    Scanner scanner(kAnyDepth);
    const bool sound = scanner.feed(object, sink) == Scanner::State::complete;
    return sound ? sink.found() : std::string_view();
}

std::vector<Member> members(std::string_view object, std::size_t most) {
    MembersSink sink(object, most);
    Scanner scanner(kAnyDepth);
    const bool sound = scanner.feed(object, sink) == Scanner::State::complete;
    return sound ? sink.take() : std::vector<Member>();
}

std::optional<std::string> string_value(std::string_view value) {
    if (value.size() < 2 || value.front() != '"' || value.back() != '"' || !is_valid(value)) {
        return std::nullopt;
    }
    std::string_view rest = value.substr(1, value.size() - 2);
    std::string out;
    out.reserve(rest.size());
    while (!rest.empty()) {
        const std::size_t plain = std::min(rest.find('\\'), rest.size());
        out += rest.substr(0, plain);
        rest.remove_prefix(plain);
        if (rest.empty()) break;
        if (rest[1] == 'u') {
            rest.remove_prefix(append_unicode_escape(out, rest));
        } else {
            out.push_back(meaning_of(rest[1]));
            rest.remove_prefix(2);
        }
    }
    return out;
}

std::optional<std::string_view> plain_string(std::string_view value) {
    if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::nullopt;
    const std::string_view inner = value.substr(1, value.size() - 2);
    const bool plain =
        std::none_of(inner.begin(), inner.end(), [](char c) { return c == '"' || c == '\\'; });
    return plain ? std::optional(inner) : std::nullopt;
}

bool is_valid(std::string_view text, std::size_t max_depth) {
    DeafSink sink;
    Scanner scanner(max_depth);
    scanner.feed(text, sink);
    return scanner.finish(sink) == Scanner::State::complete;
}

void append_string(std::string& out, std::string_view text) {
    out.push_back('"');
    while (!text.empty()) {
        const char* const head = text.data();
        const char* const stop = skip_plain(head, head + text.size());
        out.append(head, stop);
        text.remove_prefix(static_cast<std::size_t>(stop - head));
        if (text.empty()) break;
        if (static_cast<unsigned char>(text.front()) < 0x80) {
            append_escaped(out, text.front());
            text.remove_prefix(1);
        } else {
            const core::Utf8Sequence sequence = core::read_utf8(text);
            out += sequence.valid ? text.substr(0, sequence.length) : kReplacement;
            text.remove_prefix(sequence.length);
        }
    }
    out.push_back('"');
}

}  // namespace weir::jsonrpc
