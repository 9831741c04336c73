// The JSON parsing test suite (github.com/nst/JSONTestSuite), where WEIR_CORPORA names a folder
// that holds `json-test-suite/test_parsing`, and what is made of the texts that it leaves open.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weir::test {

struct JsonSample {
    std::string name;
    std::string text;
};

// The files whose names begin so: `n_` no JSON, `y_` JSON, `i_` left open. Empty, with a line on
// stdout, when there is no corpus.
std::vector<JsonSample> json_samples(const std::string& prefix);

// What RFC 8259 leaves to the parser. Refused: bytes that are not UTF-8, and a byte order mark.
// Accepted, since the bytes go on unread: numbers of any size and lone surrogates in escapes.
// Nothing for a file without a decision.
enum class JsonDecision { accepted, refused };
std::optional<JsonDecision> decision_on(const JsonSample& sample);

}  // namespace weir::test
