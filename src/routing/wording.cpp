#include "routing/wording.hpp"

#include <algorithm>

namespace weir::routing {
namespace {

constexpr std::size_t kLongestGap = 6;

bool is_one_of(const std::vector<WordId>& choices, WordId word, const Vocabulary& vocabulary) {
    return std::any_of(choices.begin(), choices.end(), [&](WordId choice) {
        return choice == kNumberWord ? vocabulary.is_number(word) : choice == word;
    });
}

constexpr std::size_t kMostRunTogether = 32;  // of one wording

// Each of `heads` with each choice of `part` behind it.
std::vector<std::string> products(const std::vector<std::string>& heads, std::string_view part) {
    std::vector<std::string> products;
    for (;;) {
        const std::size_t bar = part.find('|');
        for (const std::string& head : heads) {
            products.push_back(head + std::string(part.substr(0, bar)));
        }
        if (bar == std::string_view::npos) {
            return products;
        }
        part.remove_prefix(bar + 1);
    }
}

bool is_border(std::span<const WordId> words, std::size_t at) {
    return at >= words.size() || words[at] == kBarrier;
}

}  // namespace

Wording::Wording(std::string_view text, Vocabulary& vocabulary, Vocabulary::Spelling spelling) {
    bool gap = false;
    while (!text.empty()) {
        const std::size_t blank = text.find(' ');
        std::string_view part = text.substr(0, blank);
        text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
        if (part == "^") {
            at_start_ = true;
        } else if (part == "$") {
            at_end_ = true;
        } else if (part == "*") {
            gap = true;
        } else if (part == "#") {
            parts_.push_back({gap, {kNumberWord}});
            gap = false;
        } else {
            Part added{gap, {}};
            while (!part.empty()) {
                const std::size_t bar = part.find('|');
                added.choices.push_back(vocabulary.add(part.substr(0, bar), spelling));
                part = bar == std::string_view::npos ? std::string_view() : part.substr(bar + 1);
            }
            parts_.push_back(std::move(added));
            gap = false;
        }
    }
}

std::vector<WordId> Wording::first_words() const {
    return parts_.empty() ? std::vector<WordId>() : parts_.front().choices;
}

std::vector<std::string> run_together(std::string_view wording) {
    std::vector<std::string> forms = {std::string()};
    std::size_t words = 0;
    while (!wording.empty() && forms.size() <= kMostRunTogether) {
        const std::size_t blank = wording.find(' ');
        const std::string_view part = wording.substr(0, blank);
        wording = blank == std::string_view::npos ? std::string_view() : wording.substr(blank + 1);
        if (part == "*" || part == "#") {
            return {};
        }
        if (part == "^") {
            forms = {"^ "};
        } else if (part == "$") {
            forms = products(forms, " $");
        } else {
            forms = products(forms, part);
            ++words;
        }
    }
    return words > 1 && forms.size() <= kMostRunTogether ? forms : std::vector<std::string>();
}

bool Wording::rest_matches(std::span<const WordId> words, std::size_t at, std::size_t part,
                           const Vocabulary& vocabulary) const {
    if (part == parts_.size()) {
        return !at_end_ || is_border(words, at);
    }
    const std::size_t longest = parts_[part].after_gap ? kLongestGap : 0;
    for (std::size_t skipped = 0; skipped <= longest; ++skipped) {
        const std::size_t here = at + skipped;
        if (is_border(words, here)) {
            return false;
        }
        if (is_one_of(parts_[part].choices, words[here], vocabulary) &&
            rest_matches(words, here + 1, part + 1, vocabulary)) {
            return true;
        }
    }
    return false;
}

bool Wording::matches_at(std::span<const WordId> words, std::size_t at,
                         const Vocabulary& vocabulary) const {
    if (at_start_ && at != 0 && words[at - 1] != kBarrier) {
        return false;
    }
    return rest_matches(words, at, 0, vocabulary);
}

bool Wording::matches(std::span<const WordId> words, const Vocabulary& vocabulary) const {
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (matches_at(words, at, vocabulary)) {
            return true;
        }
    }
    return false;
}

}  // namespace weir::routing
