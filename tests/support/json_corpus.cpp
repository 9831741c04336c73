#include "support/json_corpus.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace weir::test {
namespace {

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

std::vector<JsonSample> json_samples(const std::string& prefix) {
    const char* const root = std::getenv("WEIR_CORPORA");
    if (root == nullptr) {
        std::cout << "skipped: WEIR_CORPORA is not set\n";
        return {};
    }
    std::vector<JsonSample> found;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::filesystem::path(root) / "json-test-suite" / "test_parsing")) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(prefix)) {
            continue;
        }
        std::ifstream file(entry.path(), std::ios::binary);
        found.push_back({name, {std::istreambuf_iterator<char>(file), {}}});
    }
    if (found.size() < 30) {
        throw std::runtime_error("WEIR_CORPORA holds too few files " + prefix + "*");
    }
    return found;
}

std::optional<JsonDecision> decision_on(const JsonSample& sample) {
    if (kRefused.count(sample.name) != 0) {
        return JsonDecision::refused;
    }
    return kAccepted.count(sample.name) != 0 ? std::optional(JsonDecision::accepted) : std::nullopt;
}

}  // namespace weir::test
