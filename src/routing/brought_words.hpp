// The words that a call brought with it. An upstream that quotes them back says nothing by them.
#pragma once

#include "routing/words.hpp"

#include <vector>

namespace weir::routing {

struct CallSent;

class BroughtWords {
  public:
    // Of the strings in the call's params, member names included, and of a method that is not in
    // the table. Hex, block tags and the execution API's own member names are left out: no wording
    // is made of them.
    BroughtWords(const CallSent& call, const Vocabulary& vocabulary);

    bool has(WordId word) const { return all_ || brought_[word]; }

  private:
    void read(std::string_view params, const Vocabulary& vocabulary);
    void add(std::string_view text, const Vocabulary& vocabulary);

    std::vector<bool> brought_;
    bool all_ = false;  // too many to be looked at: no word counts
};

}  // namespace weir::routing
