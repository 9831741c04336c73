#include "core/hex.hpp"

#include "support/catch.hpp"

using namespace weir::core;

TEST_CASE("a quantity is 0x and 1 to 16 hex digits") {
    CHECK(parse_quantity("0x0") == 0U);
    CHECK(parse_quantity("0x1a") == 26U);
    CHECK(parse_quantity("0xFFFFFFFFFFFFFFFF") == 0xFFFFFFFFFFFFFFFFU);
    for (const char* bad : {"", "0x", "1a", "0x10000000000000000", "0xg", "0x-1", "0x 1", "x1"}) {
        CHECK_FALSE(parse_quantity(bad).has_value());
    }
    CHECK(to_quantity(0) == "0x0");
    CHECK(to_quantity(0xFFFFFFFFFFFFFFFFU) == "0xffffffffffffffff");
}

TEST_CASE("a decimal number has digits only") {
    CHECK(parse_decimal("18446744073709551615") == 18446744073709551615U);
    for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616"}) {
        CHECK_FALSE(parse_decimal(bad).has_value());
    }
}

TEST_CASE("hex data has an exact length") {
    CHECK(is_hex_data("0xabCD", 2));
    CHECK_FALSE(is_hex_data("0xabC", 2));
    CHECK_FALSE(is_hex_data("0xabcg", 2));
}

TEST_CASE("data is decoded and encoded byte for byte") {
    CHECK(decode_data("0x") == std::optional<std::string>(""));
    CHECK(decode_data("0x00fFa1") == std::optional<std::string>(std::string("\x00\xff\xa1", 3)));
    for (const char* bad : {"", "00", "0x0", "0x0g", "0x 0", "x000"}) {
        CHECK_FALSE(decode_data(bad).has_value());
    }
    CHECK(encode_data(std::string("\x00\xff\xa1", 3)) == "0x00ffa1");
}
