#include "proxy/filter_table.hpp"

#include "core/hex.hpp"
#include "support/catch.hpp"

#include <set>

using namespace weir;
using proxy::FilterTable;
using namespace std::chrono_literals;

TEST_CASE("a filter has an unguessable id and belongs to its chain") {
    FilterTable table;
    const core::TimePoint now{};
    std::set<std::string> ids;
    for (int i = 0; i < 100; ++i) {
        const std::string id = table.add({0, "someone", 1, "\"0x1\""}, now);
        CHECK(core::is_hex_data(id, 16));
        ids.insert(id);
    }
    CHECK(ids.size() == 100);
    const std::string id = *ids.begin();
    REQUIRE(table.find(0, "someone", id, now));
    CHECK(table.find(0, "someone", id, now)->upstream == 1);
    CHECK_FALSE(table.find(1, "someone", id, now));
    CHECK_FALSE(table.find(0, "someone", "0x1", now));
    CHECK_FALSE(table.find(0, "someone else", id, now));
    table.remove(id);
    CHECK_FALSE(table.find(0, "someone", id, now));
}

TEST_CASE("a filter dies unread, and reading keeps it") {
    FilterTable table;
    const core::TimePoint start{};
    const std::string read = table.add({0, "someone", 0, "\"0x1\""}, start);
    const std::string unread = table.add({0, "someone", 0, "\"0x2\""}, start);
    CHECK(table.find(0, "someone", read, start + 4min));
    CHECK(table.find(0, "someone", read, start + 8min));
    CHECK_FALSE(table.find(0, "someone", unread, start + 8min));
    CHECK(table.size() == 1);
}

TEST_CASE("the table is bounded: the filter unread for longest makes room") {
    FilterTable table;
    const core::TimePoint now{};
    const std::string first = table.add({0, "someone", 0, "\"0x1\""}, now);
    const std::string second = table.add({0, "someone", 0, "\"0x2\""}, now);
    CHECK(table.find(0, "someone", first, now));
    for (std::size_t i = 2; i <= FilterTable::kMost; ++i) {
        table.add({0, "someone", 0, "\"0x3\""}, now);
    }
    CHECK(table.size() == FilterTable::kMost);
    CHECK_FALSE(table.find(0, "someone", second, now));
    CHECK(table.find(0, "someone", first, now));
}
