#include "config/units.hpp"

#include "support/catch.hpp"

using namespace weir;
using namespace weir::config;
using namespace std::chrono_literals;

TEST_CASE("durations are a whole number and a unit") {
    CHECK(parse_duration("250ms") == core::Duration(250ms));
    CHECK(parse_duration("2s") == core::Duration(2s));
    CHECK(parse_duration("5m") == core::Duration(5min));
    CHECK(parse_duration("1h") == core::Duration(1h));
    CHECK(parse_duration("0ms") == core::Duration(0));
    CHECK(parse_duration("8760h") == core::Duration(8760h));
    for (const char* bad : {"",
                            "5",
                            "s",
                            "ms",
                            "-1s",
                            "+1s",
                            " 1s",
                            "1 s",
                            "1s ",
                            "1.5s",
                            "1S",
                            "1sec",
                            "1d",
                            "1m30s",
                            "8761h",
                            "18446744073709551615h",
                            "99999999999999999999s",
                            "1e3s",
                            "0x1s",
                            "\xd9\xa1s"}) {
        INFO(bad);
        CHECK_FALSE(parse_duration(bad));
    }
}

TEST_CASE("sizes are a whole number and a unit") {
    CHECK(parse_size("512KiB") == std::size_t{512} * 1024);
    CHECK(parse_size("16MiB") == std::size_t{16} * 1024 * 1024);
    CHECK(parse_size("1GiB") == std::size_t{1024} * 1024 * 1024);
    CHECK(parse_size("100B") == std::size_t{100});
    for (const char* bad : {"", "5", "KiB", "5KB", "5MB", "5mib", "5 MiB", "1.5MiB", "-1MiB",
                            "1025GiB", "99999999999999999999B", "18446744073709551615KiB"}) {
        INFO(bad);
        CHECK_FALSE(parse_size(bad));
    }
}

TEST_CASE("weights are plain decimals") {
    CHECK(parse_decimal_number("2") == 2.0);
    CHECK(parse_decimal_number("0.5") == 0.5);
    for (const char* bad : {"", ".", "1e3", "-1", "inf", "nan", "0x1", "1.2.3", "1,5"}) {
        INFO(bad);
        CHECK_FALSE(parse_decimal_number(bad));
    }
}

TEST_CASE("values print as they are written") {
    CHECK(to_text(core::Duration(1500ms)) == "1500ms");
    CHECK(to_text(core::Duration(60s)) == "1m");
    CHECK(to_text(core::Duration(75s)) == "75s");
    CHECK(to_text(core::Duration(0)) == "0s");
    CHECK(size_text(5 * 1024 * 1024) == "5MiB");
    CHECK(size_text(1000) == "1000B");
    CHECK(number_text(1) == "1");
    CHECK(number_text(0.5) == "0.5");
}
