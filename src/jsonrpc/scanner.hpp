// The one judge of what is JSON: RFC 8259, checked byte by byte as the bytes come, in pieces of any
// size, without recursion and without keeping them. A sink hears where the outer values stand.
#pragma once

#include "core/utf8.hpp"
#include "jsonrpc/string_run.hpp"

#include <boost/container/small_vector.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::jsonrpc {

// What a sink must offer. Depth is the number of arrays and objects around a value, so the root has
// depth 0; only values and names of a depth up to `kWatch` are reported. Offsets count from the
// first byte fed. A callback that returns false ends the scan: the scanner is then broken.
//
//   static constexpr std::size_t kWatch = 1;
//   bool begin(std::size_t depth, std::size_t offset, char first);
//   bool end(std::size_t depth, std::size_t offset);       // one past the value's last byte
//   bool name(std::size_t depth, const ScannedName& name);  // before the member's value begins
struct ScannedName {
    // Exact for names of 1 to kLongestName ASCII characters; other names never equal one of these.
    std::string_view decoded;
    std::size_t begin;  // offsets of the bytes between the quotes
    std::size_t end;
};

class Scanner {
  public:
    enum class State { more, complete, broken };  // complete: the root ended, only blanks after it
    enum class Problem { none, unexpected, number, string, utf8, too_deep, unfinished, stopped };

    static constexpr std::size_t kLongestName = 16;

    explicit Scanner(std::size_t max_depth) : max_depth_(max_depth) {}

    template <class Sink>
    State feed(std::string_view bytes, Sink& sink);

    // No more bytes will come: a number at the root ends, anything open is a problem.
    template <class Sink>
    State finish(Sink& sink);

    State state() const {
        if (phase_ == Phase::broken) return State::broken;
        return phase_ == Phase::done ? State::complete : State::more;
    }
    Problem problem() const { return problem_; }

    // The number of bytes taken; of a broken text, where it broke.
    std::size_t offset() const { return taken_; }

  private:
    enum class Phase : std::uint8_t {
        value,       // a value must come
        first_item,  // a value or `]`
        first_name,  // a name or `}`
        name,        // a name
        colon,
        after,  // `,` or the container's end
        done,   // blanks only
        string,
        escape,   // the byte after a backslash
        hex,      // the digits of \uXXXX
        utf8,     // the rest of a sequence
        number,   // see Number
        literal,  // the rest of true, false or null
        broken,
    };

    // What of a number has been read.
    enum class Number : std::uint8_t {
        minus,
        zero,
        digits,
        point,
        fraction,
        exponent,
        exponent_sign,
        exponent_digits,
    };

    static constexpr bool is_blank(char c) {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }

    // What a byte begins where a value must come: `value` if it is a blank, `broken` if nothing.
    static constexpr Phase what_begins(char c) {
        if (c == '"') return Phase::string;
        if (c == '{') return Phase::first_name;
        if (c == '[') return Phase::first_item;
        if (c == '-' || (c >= '0' && c <= '9')) return Phase::number;
        if (c == 't' || c == 'f' || c == 'n') return Phase::literal;
        return is_blank(c) ? Phase::value : Phase::broken;
    }
    void begin_scalar(char first);
    const char* take_number(const char* p, const char* end);
    bool number_may_end() const;
    bool take_escape(char c);
    bool take_hex(char c);
    bool take_utf8(char c);
    void keep_name(std::string_view bytes);
    void keep_name(std::uint32_t code);

    void push(std::size_t depth, bool in_object) {
        const std::size_t word = depth / 64;
        if (word == kinds_.size()) kinds_.push_back(0);
        const std::uint64_t bit = std::uint64_t{1} << depth % 64;
        kinds_[word] = in_object ? kinds_[word] | bit : kinds_[word] & ~bit;
    }
    bool pop(std::size_t depth) const { return (kinds_[depth / 64] >> depth % 64 & 1) != 0; }

    std::size_t max_depth_;
    std::size_t depth_ = 0;
    std::size_t taken_ = 0;
    boost::container::small_vector<std::uint64_t, 16> kinds_;  // a bit per container: 1 = object

    Phase phase_ = Phase::value;
    Problem problem_ = Problem::none;
    Number number_ = Number::minus;
    bool in_object_ = false;  // the innermost container
    bool in_name_ = false;    // the string being read is a member's name
    core::Utf8Lead utf8_;
    std::uint8_t hex_left_ = 0;
    std::uint16_t hex_ = 0;
    const char* literal_ = "";

    // A watched name that came in pieces or with escapes; over kLongestName: too long to matter.
    std::size_t name_begin_ = 0;
    std::size_t name_size_ = 0;
    bool name_kept_ = false;
    std::array<char, kLongestName> name_;
};

template <class Sink>
Scanner::State Scanner::feed(std::string_view bytes, Sink& sink) {
    const char* p = bytes.data();
    const char* end = p + bytes.size();  // of what there is to read
    const char* run = p;                 // a watched name's bytes that were not kept yet
    const char* const start = p;
    const std::size_t base = taken_;
    Phase phase = phase_;
    std::size_t depth = depth_;
    bool in_object = in_object_;
    if (phase == Phase::broken) return State::broken;

    const auto offset = [&](const char* at) { return base + static_cast<std::size_t>(at - start); };
    const auto watched = [&] { return depth <= Sink::kWatch; };
    const auto fail = [&](Problem problem) {
        problem_ = problem;
        phase = Phase::broken;
        end = p;
    };
    const auto close = [&] {
        ++p;
        in_object = pop(--depth);
    };
    const auto close_name = [&] {
        in_name_ = false;
        if (watched()) {
            std::string_view decoded(run, static_cast<std::size_t>(p - run));
            if (name_kept_) {
                keep_name(decoded);
                decoded = {name_.data(), name_size_ <= kLongestName ? name_size_ : 0};
            }
            if (!sink.name(depth, {decoded, name_begin_, offset(p)})) return fail(Problem::stopped);
        }
        phase = Phase::colon;
        if (++p != end && *p == ':') {
            phase = Phase::value;
            ++p;
        }
    };
    const auto keep_run = [&] {
        if (in_name_ && watched()) keep_name({run, static_cast<std::size_t>(p - run)});
    };

    // A case that ends with `break` leaves `p` behind the last byte of a value.
    while (p != end) {
        const char c = *p;
        switch (phase) {
            case Phase::first_item:
                if (c == ']') {
                    close();
                    break;
                }
                [[fallthrough]];
            case Phase::value: {
                const Phase next = what_begins(c);
                if (next == Phase::value) {
                    ++p;
                    continue;
                }
                if (next == Phase::broken) {
                    fail(Problem::unexpected);
                    continue;
                }
                if (watched() && !sink.begin(depth, offset(p), c)) {
                    fail(Problem::stopped);
                    continue;
                }
                phase = next;
                if (next == Phase::first_name || next == Phase::first_item) {
                    if (depth == max_depth_) {
                        fail(Problem::too_deep);
                        continue;
                    }
                    push(depth++, in_object);
                    in_object = next == Phase::first_name;
                } else if (next != Phase::string) {
                    begin_scalar(c);
                }
                ++p;
                continue;
            }
            case Phase::first_name:
                if (c == '}') {
                    close();
                    break;
                }
                [[fallthrough]];
            case Phase::name:
                if (c != '"') {
                    if (is_blank(c)) {
                        ++p;
                    } else {
                        fail(Problem::unexpected);
                    }
                    continue;
                }
                ++p;
                phase = Phase::string;
                in_name_ = true;
                if (watched()) {
                    run = p;
                    name_begin_ = offset(p);
                    name_size_ = 0;
                    name_kept_ = false;
                }
                [[fallthrough]];
            case Phase::string:
                p = skip_plain(p, end);
                if (p == end) continue;
                if (*p == '"') {
                    if (in_name_) {
                        close_name();
                        continue;
                    }
                    ++p;
                    break;
                }
                if (*p == '\\') {
                    keep_run();
                    phase = Phase::escape;
                    ++p;
                } else if (utf8_ = core::utf8_lead(static_cast<std::uint8_t>(*p));
                           utf8_.more != 0) {
                    phase = Phase::utf8;
                    ++p;
                } else {
                    fail(static_cast<std::uint8_t>(*p) < 0x20 ? Problem::string : Problem::utf8);
                }
                continue;
            case Phase::colon:
                if (c == ':') {
                    phase = Phase::value;
                    ++p;
                } else if (is_blank(c)) {
                    ++p;
                } else {
                    fail(Problem::unexpected);
                }
                continue;
            case Phase::after:
                if (c == ',') {
                    phase = in_object ? Phase::name : Phase::value;
                    ++p;
                } else if (c == (in_object ? '}' : ']')) {
                    close();
                    break;
                } else if (is_blank(c)) {
                    ++p;
                } else {
                    fail(Problem::unexpected);
                }
                continue;
            case Phase::number:
                p = take_number(p, end);
                if (p == end) continue;
                if (number_may_end()) break;
                fail(Problem::number);
                continue;
            case Phase::literal:
                if (c != *literal_) {
                    fail(Problem::unexpected);
                    continue;
                }
                ++p;
                if (*++literal_ == '\0') break;
                continue;
            case Phase::escape:
                if (!take_escape(c)) {
                    fail(Problem::string);
                    continue;
                }
                run = ++p;
                phase = c == 'u' ? Phase::hex : Phase::string;
                continue;
            case Phase::hex:
                if (!take_hex(c)) {
                    fail(Problem::string);
                    continue;
                }
                run = ++p;
                if (hex_left_ == 0) phase = Phase::string;
                continue;
            case Phase::utf8:
                if (!take_utf8(c)) {
                    fail(Problem::utf8);
                    continue;
                }
                ++p;
                if (utf8_.more == 0) phase = Phase::string;
                continue;
            case Phase::done:
                if (is_blank(c)) {
                    ++p;
                } else {
                    fail(Problem::unexpected);
                }
                continue;
            case Phase::broken:
                continue;
        }
        phase = depth == 0 ? Phase::done : Phase::after;
        if (watched() && !sink.end(depth, offset(p))) {
            fail(Problem::stopped);
        } else if (depth != 0 && p != end && *p == ',') {
            phase = in_object ? Phase::name : Phase::value;
            ++p;
        }
    }
    if (phase == Phase::string || phase == Phase::utf8) keep_run();
    taken_ = offset(p);
    phase_ = phase;
    depth_ = depth;
    in_object_ = in_object;
    return state();
}

template <class Sink>
Scanner::State Scanner::finish(Sink& sink) {
    if (phase_ == Phase::number && depth_ == 0 && number_may_end()) {
        phase_ = Phase::done;
        if (!sink.end(0, taken_)) {
            phase_ = Phase::broken;
            problem_ = Problem::stopped;
        }
    }
    if (phase_ != Phase::done && phase_ != Phase::broken) {
        phase_ = Phase::broken;
        problem_ = Problem::unfinished;
    }
    return state();
}

// Hears nothing: for a plain check.
struct DeafSink {
    static constexpr std::size_t kWatch = 0;
    bool begin(std::size_t, std::size_t, char) { return true; }
    bool end(std::size_t, std::size_t) { return true; }
    bool name(std::size_t, const ScannedName&) { return true; }
};

// For people: "not JSON: ... at byte N". Holds no byte of the text.
std::string describe(const Scanner& scanner);

}  // namespace weir::jsonrpc
