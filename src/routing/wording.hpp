// A wording as rules write it, and its search in a row of words. `rate limit` is two words in a
// row, `a|b` either, `#` any number, `*` up to six other words, `^` the beginning of a text, `$`
// its end. Words in a row are found run together too: `nonce too low` finds "NonceTooLow" in any
// case.
#pragma once

#include "routing/words.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

class Wording {
  public:
    // `text` was judged by the config loader; the words are added to `vocabulary`.
    Wording(std::string_view text, Vocabulary& vocabulary,
            Vocabulary::Spelling spelling = Vocabulary::Spelling::written);

    // The words with which a match can begin; kNumberWord stands for every number.
    std::vector<WordId> first_words() const;

    // Does a match begin at `at`?
    bool matches_at(std::span<const WordId> words, std::size_t at,
                    const Vocabulary& vocabulary) const;

    bool matches(std::span<const WordId> words, const Vocabulary& vocabulary) const;

  private:
    struct Part {
        bool after_gap = false;       // other words may stand before it
        std::vector<WordId> choices;  // kNumberWord: any number
    };

    bool rest_matches(std::span<const WordId> words, std::size_t at, std::size_t part,
                      const Vocabulary& vocabulary) const;

    std::vector<Part> parts_;
    bool at_start_ = false;
    bool at_end_ = false;
};

// The same with its words run together, for each choice; none for one word, or with gaps or numbers
// between them.
std::vector<std::string> run_together(std::string_view wording);

}  // namespace weir::routing
