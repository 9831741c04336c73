#include "config/expand.hpp"

#include "loading.hpp"
#include "support/catch.hpp"

using namespace weir::config;
using weir::config::testing::environment;

TEST_CASE("references are replaced from the environment") {
    const auto env = environment({{"A", "one"}, {"EMPTY", ""}, {"NESTED", "${A}"}, {"A_2", "two"}});
    const std::vector<std::pair<std::string, std::string>> table = {
        {"", ""},
        {"plain $A {A} $", "plain $A {A} $"},
        {"${A}", "one"},
        {"x${A}y${A_2}z", "xoneytwoz"},
        {"${A:-other}", "one"},
        {"${B:-other}", "other"},
        {"${B:-}", ""},
        {"${EMPTY}", ""},
        {"${EMPTY:-other}", "other"},
        {"${B:-a:-b}", "a:-b"},
        {"$${A}", "${A}"},
        {"$$${A}", "$${A}"},
        {"$$A", "$$A"},
        {"$${", "${"},
        {"a$${b}${A}", "a${b}one"},
        {"${NESTED}", "${A}"},
        {"${A}${A}", "oneone"},
        {"$${${A}}", "${one}"},
    };
    for (const auto& [raw, expected] : table) {
        INFO(raw);
        const auto text = expand(raw, env);
        REQUIRE(text.has_value());
        CHECK(text->value == expected);
    }
}

TEST_CASE("what was put in is remembered") {
    const auto text = expand("a${A}b${B:-dflt}$${c}", environment({{"A", "one"}}));
    REQUIRE(text.has_value());
    CHECK(text->pieces == std::vector<std::string>{"one", "dflt"});
}

TEST_CASE("all errors of a scalar are told") {
    const auto env = environment();
    const auto missing = expand("${A} ${B:-x} ${C}", env);
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error() == std::vector<std::string>{"the environment variable A is not set",
                                                      "the environment variable C is not set"});
    for (const char* bad : {"${", "${A", "x${A:-", "${}", "${1A}", "${A-B}", "${ A}", "${A }",
                            "${:-x}", "${A:-${B}}", "${A:x}"}) {
        INFO(bad);
        CHECK_FALSE(expand(bad, env).has_value());
    }
}
