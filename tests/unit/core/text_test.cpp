#include "core/text.hpp"

#include "support/catch.hpp"

using namespace weir::core;

TEST_CASE("globs match without regard to case") {
    CHECK(glob_match("admin_*", "ADMIN_peers"));
    CHECK(glob_match("*", ""));
    CHECK(glob_match("a*b*c", "aXXbYYc"));
    CHECK_FALSE(glob_match("a*b*c", "aXXbYY"));
    CHECK_FALSE(glob_match("admin_*", "xadmin_peers"));
    CHECK(glob_match("debug_setHead", "debug_sethead"));
}

TEST_CASE("trim takes blanks and tabs only") {
    CHECK(trim(" \t a b\t") == "a b");
    CHECK(trim("   ").empty());
    const std::string_view blanks = "   ";
    CHECK(trim(blanks).data() == blanks.data() + blanks.size());  // a part of it still
}
