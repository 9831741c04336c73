// The JSON parsing test suite (github.com/nst/JSONTestSuite), where WEIR_CORPORA names a folder
// that holds `json-test-suite/test_parsing`.
#include "jsonrpc/request.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace weir::jsonrpc;

namespace {

struct Sample {
    std::string name;
    std::string text;
};

std::vector<Sample> samples(const std::string& prefix) {
    const char* const root = std::getenv("WEIR_CORPORA");
    if (root == nullptr) {
        std::cout << "skipped: WEIR_CORPORA is not set\n";
        return {};
    }
    std::vector<Sample> found;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(root) / "json-test-suite" / "test_parsing")) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix)) continue;
        std::ifstream file(entry.path(), std::ios::binary);
        found.push_back({name, {std::istreambuf_iterator<char>(file), {}}});
    }
    REQUIRE(found.size() > 30);
    return found;
}

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

std::string call_with(const std::string& params) {
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":)" + params + "}";
}

bool is_parse_error(const std::string& body) {
    const auto request = parse_request(body, RequestLimits{});
    return !request && request.error().fault == RequestFault::parse_error;
}

// Accepted, with the params' bytes as they came.
bool is_carried(const std::string& params) {
    const std::string body = call_with(params);
    const auto request = parse_request(body, RequestLimits{});
    return request && request->calls.size() == 1 && request->calls[0].params == params &&
           request->calls[0].fault == CallFault::none;
}

// RFC 8259 leaves these to the parser. Refused: bytes that are not UTF-8, and a byte order mark.
// Accepted, since the bytes go on unread: numbers of any size and lone surrogates in escapes.
const std::set<std::string> kRefused = {
    "i_string_UTF-16LE_with_BOM.json",
    "i_string_UTF-8_invalid_sequence.json",
    "i_string_UTF8_surrogate_U+D800.json",
    "i_string_invalid_utf-8.json",
    "i_string_iso_latin_1.json",
    "i_string_lone_utf8_continuation_byte.json",
    "i_string_not_in_unicode_range.json",
    "i_string_overlong_sequence_2_bytes.json",
    "i_string_overlong_sequence_6_bytes.json",
    "i_string_overlong_sequence_6_bytes_null.json",
    "i_string_truncated-utf-8.json",
    "i_string_utf16BE_no_BOM.json",
    "i_string_utf16LE_no_BOM.json",
    "i_structure_UTF-8_BOM_empty_object.json",
};
const std::set<std::string> kAccepted = {
    "i_number_double_huge_neg_exp.json",
    "i_number_huge_exp.json",
    "i_number_neg_int_huge_exp.json",
    "i_number_pos_double_huge_exp.json",
    "i_number_real_neg_overflow.json",
    "i_number_real_pos_overflow.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
    "i_object_key_lone_2nd_surrogate.json",
    "i_string_1st_surrogate_but_2nd_missing.json",
    "i_string_1st_valid_surrogate_2nd_invalid.json",
    "i_string_incomplete_surrogate_and_escape_valid.json",
    "i_string_incomplete_surrogate_pair.json",
    "i_string_incomplete_surrogates_escape_valid.json",
    "i_string_invalid_lonely_surrogate.json",
    "i_string_invalid_surrogate.json",
    "i_string_inverted_surrogates_U+1D11E.json",
    "i_string_lone_second_surrogate.json",
    "i_structure_500_nested_arrays.json",  // with the call around it, still within 512
};

}  // namespace

TEST_CASE("what is not JSON is refused, alone and as a member of params") {
    for (const auto& [name, text] : samples("n_")) {
        INFO(name);
        CHECK(is_parse_error(text));
        CHECK(is_parse_error(call_with("{\"member\":" + text + "}")));
        CHECK((is_parse_error(call_with("[" + text + "]")) || is_blank(text)));
        CHECK(is_parse_error(call_with("[1," + text + "]")));
    }
}

TEST_CASE("what is JSON is carried in params byte for byte") {
    for (const auto& [name, text] : samples("y_")) {
        INFO(name);
        CHECK(is_carried("[" + text + "]"));
        CHECK(is_carried("{\"member\":" + text + "}"));
    }
}

TEST_CASE("what RFC 8259 leaves open is decided") {
    for (const auto& [name, text] : samples("i_")) {
        INFO(name);
        const std::string params = "[" + text + "]";
        if (kRefused.count(name) != 0) {
            CHECK(is_parse_error(call_with(params)));
        } else if (kAccepted.count(name) != 0) {
            CHECK(is_carried(params));
        } else {
            FAIL_CHECK("no decision");
        }
    }
}
