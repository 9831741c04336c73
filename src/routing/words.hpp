// A provider's text as a row of words, so that case, spacing, punctuation and endings do not
// matter: "Rate-Limited" and "rate  limits" are the same two words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::routing {

using WordId = std::uint16_t;
constexpr WordId kOtherWord = 0;   // in no wording
constexpr WordId kNumberWord = 1;  // begins with a digit, hex included
constexpr WordId kBarrier = 2;     // between two texts; no wording reaches across
constexpr WordId kFirstWord = 3;

constexpr std::size_t kMaxWords = 400;  // of one text; wordings stand near its beginning

// The words that the wordings of a rule set are made of.
class Vocabulary {
  public:
    Vocabulary() : is_number_(kFirstWord, false), is_written_(kFirstWord, true) {}

    // As a wording has it, or several of its words run together.
    enum class Spelling : std::uint8_t { written, run_together };

    // `word` as it stands in a wording: small letters and digits.
    WordId add(std::string_view word, Spelling spelling = Spelling::written);

    // kNumberWord for a number and kOtherWord for a word that no wording has.
    WordId find(std::string_view lower_case_word) const;

    bool is_number(WordId id) const { return id == kNumberWord || is_number_[id]; }
    // Not only run together.
    bool is_written(WordId id) const { return is_written_[id]; }
    std::size_t size() const { return is_number_.size(); }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::unordered_map<std::string, WordId, Hash, std::equal_to<>> ids_;
    std::vector<bool> is_number_;
    std::vector<bool> is_written_;
};

// Appends the words of `text` to `out`, up to kMaxWords of them in all. The name `method`, which
// the call brought, is a word of no meaning. Names like_this and likeThis that no wording has as
// they are written, are several words.
void append_words(std::vector<WordId>& out, const Vocabulary& vocabulary, std::string_view text,
                  std::string_view method = {});

// A word without its ending: "exceeded", "exceeds" and "exceed" are one. In place; small letters.
std::string_view stem(std::string& word);

}  // namespace weir::routing
