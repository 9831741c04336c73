// What must hold for any bytes given to the JSON-RPC room, judged against simdjson's DOM parser.
// Used by the differential test, by the regression corpus and by the fuzzer.
#pragma once

#include <string>
#include <string_view>

namespace weir::test {

// Nothing wrong: empty. Otherwise what did not hold.
std::string json_complaint(std::string_view text);

}  // namespace weir::test
