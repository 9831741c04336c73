// What must hold for any bytes that an upstream sends, judged against Beast's parser and against
// the same bytes in other pieces. Used by the regression corpus and by the fuzzer.
#pragma once

#include <string>
#include <string_view>

namespace weir::test {

// Nothing wrong: empty. Otherwise what did not hold. The first two bytes choose how the rest is cut
// into pieces.
std::string reply_complaint(std::string_view bytes);

}  // namespace weir::test
