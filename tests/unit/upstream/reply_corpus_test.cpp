#include "support/catch.hpp"
#include "support/reply_oracle.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

TEST_CASE("the fuzzer's regression corpus of replies holds") {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(WEIR_SOURCE_DIR "/tests/fuzz/corpus/http_reply")) {
        INFO(entry.path());
        std::ifstream file(entry.path(), std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        REQUIRE(bytes.size() > 2);
        for (int piece = 0; piece < 256; ++piece) {
            bytes[0] = static_cast<char>(piece);
            CHECK(weir::test::reply_complaint(bytes).empty());
        }
        ++count;
    }
    CHECK(count >= 8);
}
