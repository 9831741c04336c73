#include "routing/words.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace weir::routing {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word_char(char c) { return is_digit(c) || is_upper(c) || is_lower(c) || c == '_'; }

constexpr std::size_t kLongestWord = 64;

// How many bytes of an apostrophe, plain or typographic, stand at the head of `text`.
std::size_t apostrophe(std::string_view text) {
    if (text.starts_with('\'')) {
        return 1;
    }
    return text.starts_with("\xE2\x80\x99") ? 3 : 0;
}

// The raw word at the head of `text`, into `word`, which is left empty where none begins; returns
// how many bytes it took. Apostrophes within a word and commas within a number are left out.
std::size_t take_word(std::string_view text, std::string& word) {
    word.clear();
    std::size_t at = 0;
    while (at < text.size()) {
        const char c = text[at];
        const std::string_view rest = text.substr(at);
        if (is_word_char(c)) {
            if (word.size() < kLongestWord) {
                word.push_back(c);
            }
            ++at;
        } else if (const std::size_t mark = apostrophe(rest);
                   mark != 0 && !word.empty() && mark < rest.size() &&
                   (is_lower(rest[mark]) || is_upper(rest[mark]))) {
            at += mark;
        } else if (c == ',' && !word.empty() && is_digit(word.back()) && is_digit(word.front()) &&
                   rest.size() > 1 && is_digit(rest[1])) {
            ++at;
        } else {
            break;
        }
    }
    return std::max<std::size_t>(at, 1);
}

// The namespaces of the methods of nodes; a name within one is no sentence.
constexpr std::array<std::string_view, 26> kNamespaces = {
    "eth",   "net",   "web3",    "debug", "trace", "txpool", "erigon", "ots",      "parity",
    "admin", "miner", "zks",     "arb",   "bor",   "rollup", "engine", "personal", "alchemy",
    "anvil", "evm",   "hardhat", "linea", "klay",  "qn",     "hmy",    "optimism"};

bool is_method_name(std::string_view word) {
    const std::size_t bar = word.find('_');
    return bar != word.npos && bar + 1 < word.size() &&
           std::any_of(kNamespaces.begin(), kNamespaces.end(), [&](std::string_view name) {
               return core::iequals(word.substr(0, bar), name);
           });
}

// The pieces of `snake_case` and `CamelCase`.
template <class Each>
void for_each_piece(std::string_view word, Each each) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= word.size(); ++i) {
        const bool hump = i > begin && i < word.size() && is_upper(word[i]) &&
                          (is_lower(word[i - 1]) || is_digit(word[i - 1]));
        const bool bar = i < word.size() && word[i] == '_';
        if (i == word.size() || hump || bar) {
            if (i > begin) {
                each(word.substr(begin, i - begin));
            }
            begin = bar ? i + 1 : i;
        }
    }
}

bool has_pieces(std::string_view word) {
    std::size_t pieces = 0;
    for_each_piece(word, [&pieces](std::string_view) { ++pieces; });
    return pieces > 1;
}

bool has_ending(std::string_view word, std::string_view ending, std::size_t least) {
    return word.size() >= least && word.ends_with(ending);
}

}  // namespace

std::string_view stem(std::string& word) {
    if (!std::all_of(word.begin(), word.end(), is_lower)) {
        return word;
    }
    if (has_ending(word, "ies", 5)) {
        word.replace(word.size() - 3, 3, "y");
    } else if (has_ending(word, "sses", 5) || has_ending(word, "ches", 6)) {
        word.resize(word.size() - 2);
    } else if (has_ending(word, "s", 4) && !word.ends_with("ss") && !word.ends_with("us") &&
               !word.ends_with("is")) {
        word.pop_back();
    } else if (has_ending(word, "ing", 6)) {
        word.resize(word.size() - 3);
    } else if (has_ending(word, "ed", 5) && !word.ends_with("eed")) {
        word.resize(word.size() - 2);
    }
    if (has_ending(word, "e", 6)) {
        word.pop_back();
    }
    return word;
}

WordId Vocabulary::add(std::string_view word, Spelling spelling) {
    std::string key(word);
    stem(key);
    const auto [at, fresh] = ids_.emplace(std::move(key), static_cast<WordId>(is_number_.size()));
    if (fresh) {
        is_number_.push_back(is_digit(word.front()));
        is_written_.push_back(false);
    }
    if (spelling == Spelling::written) {
        is_written_[at->second] = true;
    }
    return at->second;
}

WordId Vocabulary::find(std::string_view lower_case_word) const {
    std::string key(lower_case_word);
    const auto at = ids_.find(stem(key));
    if (at != ids_.end()) {
        return at->second;
    }
    return is_digit(lower_case_word.front()) ? kNumberWord : kOtherWord;
}

void append_words(std::vector<WordId>& out, const Vocabulary& vocabulary, std::string_view text,
                  std::string_view method) {
    std::string word;
    while (!text.empty() && out.size() < kMaxWords) {
        text.remove_prefix(take_word(text, word));
        if (word.empty()) {
            continue;
        }
        if ((!method.empty() && core::iequals(word, method)) || is_method_name(word)) {
            out.push_back(kOtherWord);
            continue;
        }
        const WordId whole = vocabulary.find(core::to_lower(word));
        if (whole != kOtherWord && (vocabulary.is_written(whole) || !has_pieces(word))) {
            out.push_back(whole);
            continue;
        }
        for_each_piece(word, [&](std::string_view piece) {
            if (out.size() < kMaxWords) {
                out.push_back(vocabulary.find(core::to_lower(piece)));
            }
        });
    }
}

}  // namespace weir::routing
