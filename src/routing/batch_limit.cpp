#include "routing/batch_limit.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace weir::routing {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The word that ends before `end`, in small letters; only blanks and punctuation may lie between.
std::string word_before(std::string_view text, std::size_t end) {
    while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == ':' || text[end - 1] == '=' ||
                       text[end - 1] == '(')) {
        --end;
    }
    std::size_t begin = end;
    while (begin > 0 && is_letter(text[begin - 1])) {
        --begin;
    }
    std::string word(text.substr(begin, end - begin));
    for (char& c : word) {
        c = static_cast<char>(c | 0x20);
    }
    return word;
}

bool introduces_limit(std::string_view word) {
    constexpr std::array<std::string_view, 9> kWords = {
        "limit", "max", "maximum", "than", "of", "exceeds", "exceeded", "to", "is"};
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace

BatchLimit::BatchLimit(std::size_t stated, std::size_t most)
    : ceiling_(stated == 0 ? most : std::min(stated, most)),
      limit_(ceiling_),
      taken_(stated == 0 ? 1 : ceiling_),
      is_stated_(stated != 0) {}

std::size_t BatchLimit::most(std::size_t wanted, core::TimePoint now) {
    if (!has_fallen_ || wanted <= limit_ || now < climb_at_) {
        return limit_;
    }
    climb_at_ = now + kTrial;
    trial_ = std::min({ceiling_, wanted, limit_ + std::max<std::size_t>(1, limit_ / 2)});
    return trial_;
}

void BatchLimit::on_taken(std::size_t calls, core::TimePoint now) {
    lost_before_ = false;
    cut_before_ = 0;
    taken_ = std::max(taken_, calls);
    if (calls <= limit_) {
        return;
    }
    limit_ = calls;
    trial_ = 0;
    has_fallen_ = limit_ < ceiling_;
    pause_ = kFirstClimb;
    climb_at_ = now + pause_;
}

void BatchLimit::on_refused(std::size_t calls, std::optional<std::size_t> named,
                            core::TimePoint now) {
    if (calls > limit_) {
        // A trial, or an array that was sent before the limit fell.
        if (has_fallen_ && named && *named > limit_) {
            fall_to(std::min(*named, ceiling_), calls, now);
        } else if (calls == trial_) {
            trial_ = 0;
            pause_ = std::min(pause_ * 2, kLongestClimb);
            climb_at_ = now + pause_;
        }
        return;
    }
    const bool believed = named && *named > 0 && *named < calls;
    fall_to(believed ? *named : std::max<std::size_t>(1, calls / 2), calls, now);
}

void BatchLimit::on_cut(std::size_t calls, std::size_t answered, core::TimePoint now) {
    if (cut_before_ == answered) {
        on_refused(calls, answered, now);
        return;
    }
    cut_before_ = answered;
}

void BatchLimit::on_lost(std::size_t calls, core::TimePoint now) {
    if (lost_before_ && answered_since_) {
        lost_before_ = false;
        if (calls <= limit_) {
            fall_to(std::max<std::size_t>(1, calls / 4), calls, now);
        }
        return;
    }
    lost_before_ = true;
    answered_since_ = false;
}

void BatchLimit::fall_to(std::size_t limit, std::size_t refused, core::TimePoint now) {
    limit_ = limit;
    if (taken_ >= refused) {
        taken_ = 1;  // it has changed: what was taken before proves nothing
    }
    has_fallen_ = true;
    pause_ = kFirstClimb;
    climb_at_ = now + pause_;
}

std::optional<std::size_t> BatchLimit::known() const {
    return has_fallen_ || is_stated_ ? std::optional<std::size_t>(limit_) : std::nullopt;
}

std::optional<std::size_t> named_batch_limit(std::string_view text, std::size_t sent) {
    std::optional<std::size_t> named;
    for (std::size_t at = 0; at < text.size();) {
        if (!is_digit(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && is_digit(text[end])) {
            ++end;
        }
        const bool joined =
            (at > 0 && (is_letter(text[at - 1]) || text[at - 1] == '-' || text[at - 1] == '.')) ||
            (end < text.size() && (is_letter(text[end]) || text[end] == '%'));
        std::size_t value = 0;
        const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, value);
        if (!joined && error == std::errc{} && value >= 1 && value < sent &&
            introduces_limit(word_before(text, at))) {
            named = std::max(named.value_or(0), value);
        }
        at = end;
    }
    return named;
}

}  // namespace weir::routing
