// The scanner against a second parser, and all readers against each other, on mutated texts.
#include "support/catch.hpp"
#include "support/json_oracle.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using weir::test::json_complaint;

namespace {

std::vector<std::string> corpus() {
    std::vector<std::string> texts;
    for (const auto& entry :
         std::filesystem::directory_iterator(WEIR_SOURCE_DIR "/tests/fuzz/corpus/json")) {
        std::ifstream file(entry.path(), std::ios::binary);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return texts;
}

class Mutator {
  public:
    explicit Mutator(std::vector<std::string> texts) : texts_(std::move(texts)) {}

    std::string next() {
        std::string text = texts_[below(texts_.size())];
        for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text);
        return text;
    }

  private:
    std::size_t below(std::size_t bound) { return random_() % bound; }

    std::string piece() {
        static const std::string kPieces[] = {"{",
                                              "}",
                                              "[",
                                              "]",
                                              ",",
                                              ":",
                                              "\"",
                                              "\\",
                                              "\\u",
                                              "\\u00e9",
                                              "0",
                                              "-",
                                              ".",
                                              "e",
                                              "E+",
                                              "1",
                                              "true",
                                              "false",
                                              "null",
                                              "nul",
                                              " ",
                                              "\n",
                                              "\t",
                                              "\x01",
                                              "\x7f",
                                              "\x80",
                                              "\xbf",
                                              "\xc3\xa9",
                                              "\xe0\xa0",
                                              "\xed\xa0\x80",
                                              "\xf4\x8f\xbf\xbf",
                                              "\xff",
                                              "\"\"",
                                              "[]",
                                              "{}",
                                              "\"id\":",
                                              "\"result\":",
                                              "\"error\":",
                                              "\"method\":",
                                              "/",
                                              "\\/",
                                              "'",
                                              "NaN"};
        return kPieces[below(std::size(kPieces))];
    }

    void change(std::string& text) {
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = below(std::min<std::size_t>(text.size() - at, 8) + 1);
        switch (below(5)) {
            case 0:
                text.insert(at, piece());
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.replace(at, length, piece());
                break;
            case 3:
                if (at < text.size()) text[at] = static_cast<char>(random_());
                break;
            default:
                text.insert(at, text.substr(below(text.size() + 1), 1 + below(24)));
        }
    }

    std::mt19937 random_{20240229};  // NOLINT: the same texts on every run
    std::vector<std::string> texts_;
};

}  // namespace

TEST_CASE("the fuzzer's regression corpus holds") {
    const auto texts = corpus();
    REQUIRE(texts.size() >= 20);
    for (const std::string& text : texts) {
        INFO(text);
        CHECK(json_complaint(text) == "");
        for (std::size_t size = 0; size < text.size(); ++size) {
            INFO("cut to " << size);
            if (const auto complaint = json_complaint(text.substr(0, size)); !complaint.empty()) {
                FAIL_CHECK(complaint);
            }
        }
    }
}

TEST_CASE("mutated texts are judged as simdjson judges them") {
    Mutator mutator(corpus());
    for (int i = 0; i < 100'000; ++i) {
        const std::string text = mutator.next();
        if (const std::string complaint = json_complaint(text); !complaint.empty()) {
            INFO(text);
            FAIL_CHECK(complaint);
        }
    }
}
