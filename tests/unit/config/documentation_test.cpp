#include "config/schema.hpp"
#include "loading.hpp"
#include "support/catch.hpp"

#include <fstream>
#include <map>
#include <sstream>

using namespace weir::config;
using namespace weir::config::testing;

namespace {

std::string read(const std::string& file) {
    std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/" + file);
    REQUIRE(in.good());
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string strip(std::string text, const char* characters) {
    const auto first = text.find_first_not_of(characters);
    return first == std::string::npos
               ? ""
               : text.substr(first, text.find_last_not_of(characters) - first + 1);
}

// The rows of the table of keys: key, type, default, meaning.
std::map<std::string, std::vector<std::string>> documented_keys() {
    std::istringstream lines(read("docs/configuration.md"));
    std::map<std::string, std::vector<std::string>> rows;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("| `", 0) != 0) {
            continue;
        }
        std::vector<std::string> cells;
        std::istringstream row(line.substr(1));
        for (std::string cell; std::getline(row, cell, '|');) {
            cells.push_back(strip(cell, " "));
        }
        const std::string key = strip(cells.at(0), "`");
        INFO(key);
        CHECK(rows.emplace(key, cells).second);
    }
    return rows;
}

}  // namespace

TEST_CASE("every key is documented with its type and default, and nothing else is") {
    const auto rows = documented_keys();
    for (const Key& key : available_keys()) {
        INFO(key.path);
        const auto row = rows.find(key.path);
        REQUIRE(row != rows.end());
        REQUIRE(row->second.size() == 4);
        CHECK(row->second[1] == key.type);
        CHECK(strip(row->second[2], "`") == key.default_text);
        CHECK_FALSE(row->second[3].empty());
    }
    CHECK(rows.size() == available_keys().size());
}

TEST_CASE("the example and the minimal file load") {
    const auto minimal = load(read("config/minimal.yaml"), environment({{"ALCHEMY_KEY", "key"}}));
    CHECK(lines(minimal).empty());
    const auto example = load(read("config/example.yaml"),
                              environment({{"ALCHEMY_KEY", "key"}, {"NODE_TOKEN", "token"}}));
    CHECK(lines(example).empty());
}

TEST_CASE("the example names every key") {
    const std::string text = read("config/example.yaml");
    for (const Key& key : available_keys()) {
        INFO(key.path);
        CHECK(text.find(key.path.substr(key.path.rfind('.') + 1) + ":") != std::string::npos);
    }
}
