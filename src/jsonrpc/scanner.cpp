#include "jsonrpc/scanner.hpp"

#include <algorithm>
#include <string>

namespace weir::jsonrpc {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// A number or a literal.
void Scanner::begin_scalar(char first) {
    switch (first) {
        case 't':
            literal_ = "rue";
            break;
        case 'f':
            literal_ = "alse";
            break;
        case 'n':
            literal_ = "ull";
            break;
        default:
            number_ = first == '-' ? Number::minus : first == '0' ? Number::zero : Number::digits;
            break;
    }
}

// Goes on as far as the grammar allows; the byte it stops at is not part of the number.
const char* Scanner::take_number(const char* p, const char* end) {
    for (; p != end; ++p) {
        char c = *p;
        switch (number_) {
            case Number::minus:
                if (!is_digit(c)) return p;
                number_ = c == '0' ? Number::zero : Number::digits;
                break;
            case Number::digits:
                while (p != end && is_digit(*p)) ++p;
                if (p == end) return p;
                c = *p;
                [[fallthrough]];
            case Number::zero:
                if (c == '.') {
                    number_ = Number::point;
                } else if (c == 'e' || c == 'E') {
                    number_ = Number::exponent;
                } else {
                    return p;
                }
                break;
            case Number::point:
                if (!is_digit(c)) return p;
                number_ = Number::fraction;
                break;
            case Number::fraction:
                if (is_digit(c)) break;
                if (c != 'e' && c != 'E') return p;
                number_ = Number::exponent;
                break;
            case Number::exponent:
                if (c == '+' || c == '-') {
                    number_ = Number::exponent_sign;
                    break;
                }
                [[fallthrough]];
            case Number::exponent_sign:
            case Number::exponent_digits:
                if (!is_digit(c)) return p;
                number_ = Number::exponent_digits;
                break;
        }
    }
    return p;
}

bool Scanner::number_may_end() const {
    return number_ == Number::zero || number_ == Number::digits || number_ == Number::fraction ||
           number_ == Number::exponent_digits;
}

bool Scanner::take_escape(char c) {
    static constexpr std::string_view kWritten = "\"\\/bfnrt";
    static constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    if (c == 'u') {
        hex_left_ = 4;
        hex_ = 0;
        return true;
    }
    const std::size_t which = kWritten.find(c);
    if (which == std::string_view::npos) return false;
    if (in_name_) keep_name(static_cast<std::uint32_t>(kMeant[which]));
    return true;
}

bool Scanner::take_hex(char c) {
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return false;
    hex_ = static_cast<std::uint16_t>(hex_ << 4 | digit);
    if (--hex_left_ == 0 && in_name_) keep_name(std::uint32_t{hex_});
    return true;
}

bool Scanner::take_utf8(char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte < utf8_.low || byte > utf8_.high) return false;
    utf8_ = {static_cast<std::uint8_t>(utf8_.more - 1), 0x80, 0xBF};
    return true;
}

void Scanner::keep_name(std::string_view bytes) {
    name_kept_ = true;
    if (bytes.size() > kLongestName - std::min(name_size_, kLongestName)) {
        name_size_ = kLongestName + 1;
        return;
    }
    std::copy(bytes.begin(), bytes.end(), name_.begin() + static_cast<std::ptrdiff_t>(name_size_));
    name_size_ += bytes.size();
}

// Names that matter are ASCII, so any other character makes the name one that does not.
void Scanner::keep_name(std::uint32_t code) {
    const char c = static_cast<char>(code);
    if (code < 0x80) {
        keep_name(std::string_view(&c, 1));
    } else {
        name_kept_ = true;
        name_size_ = kLongestName + 1;
    }
}

std::string describe(const Scanner& scanner) {
    const auto what = [&] {
        switch (scanner.problem()) {
            case Scanner::Problem::number:
                return "a malformed number";
            case Scanner::Problem::string:
                return "a control character or a bad escape in a string";
            case Scanner::Problem::utf8:
                return "invalid UTF-8";
            case Scanner::Problem::too_deep:
                return "nested too deep";
            case Scanner::Problem::unfinished:
                return "the text ends early";
            default:
                return "an unexpected character";
        }
    };
    return std::string("not JSON: ") + what() + " at byte " + std::to_string(scanner.offset());
}

}  // namespace weir::jsonrpc
