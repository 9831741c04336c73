// What has to hold for configurations of any bytes; for the fuzzer and for the replay of its
// corpus.
#pragma once

#include <string>
#include <string_view>

namespace weir::test {

// Loads `input` with ${A} set to a secret. No crash, no hang, and no text about it that holds the
// secret. Empty if all of it holds.
std::string config_complaint(std::string_view input);

}  // namespace weir::test
