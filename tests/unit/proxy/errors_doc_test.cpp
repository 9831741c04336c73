// docs/errors.md and the table of errors say the same.
#include "proxy/gateway_error.hpp"
#include "support/catch.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace weir::proxy;

namespace {

std::string strip(const std::string& text, const char* characters) {
    const auto first = text.find_first_not_of(characters);
    return first == std::string::npos
               ? ""
               : text.substr(first, text.find_last_not_of(characters) - first + 1);
}

// The rows whose first cell is a name in backticks, of the section that lists the errors.
std::map<std::string, std::vector<std::string>> documented_errors() {
    std::ifstream file(WEIR_SOURCE_DIR "/docs/errors.md");
    REQUIRE(file.good());
    std::map<std::string, std::vector<std::string>> rows;
    bool in_table = false;
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("## ", 0) == 0) {
            in_table = line == "## The table";
        }
        if (!in_table || line.rfind("| `", 0) != 0) {
            continue;
        }
        std::vector<std::string> cells;
        std::istringstream row(line.substr(1));
        for (std::string cell; std::getline(row, cell, '|');) {
            cells.push_back(strip(cell, " "));
        }
        const std::string name = strip(cells.at(0), "`");
        INFO(name);
        CHECK(rows.emplace(name, cells).second);
    }
    return rows;
}

}  // namespace

TEST_CASE("every error is documented with its status and code, and nothing else is") {
    const auto rows = documented_errors();
    for (std::size_t i = 0; i < kErrorTypes; ++i) {
        const ErrorTraits& traits = traits_of(static_cast<ErrorType>(i));
        INFO(traits.name);
        const auto row = rows.find(std::string(traits.name));
        REQUIRE(row != rows.end());
        REQUIRE(row->second.size() == 4);
        // http_error lists further statuses after the usual one.
        const std::string& status = row->second[1];
        CHECK(status.substr(0, status.find(',')) == std::to_string(traits.http_status));
        CHECK(row->second[2] == std::to_string(traits.code));
        CHECK_FALSE(row->second[3].empty());
    }
    CHECK(rows.size() == kErrorTypes);
}
