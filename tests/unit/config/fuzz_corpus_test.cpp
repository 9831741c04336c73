#include "support/catch.hpp"
#include "support/config_oracle.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

TEST_CASE("the fuzzer's corpus of configurations") {
    std::size_t seen = 0;
    const std::filesystem::path corpus = WEIR_SOURCE_DIR "/tests/fuzz/corpus/config";
    for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
        INFO(entry.path());
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string input(std::istreambuf_iterator<char>(file), {});
        CHECK(weir::test::config_complaint(input).empty());
        ++seen;
    }
    CHECK(seen >= 8);
}
