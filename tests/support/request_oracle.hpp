// What has to hold for requests of any bytes; for the fuzzer and for the replay of its corpus.
#pragma once

#include <string>
#include <string_view>

namespace weir::test {

// The first byte of `input` says how the others are split. Parsers must not crash, must come to the
// same end however the bytes are split, and must never take more than one message's share. Empty
// if all of it holds.
std::string request_complaint(std::string_view input);

}  // namespace weir::test
