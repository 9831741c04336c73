#include "app/cpus.hpp"

#include "support/catch.hpp"

using weir::app::parse_cpu_max;

TEST_CASE("a cgroup's cpu.max is a quota in CPUs, rounded up") {
    CHECK(parse_cpu_max("100000 100000") == 1U);
    CHECK(parse_cpu_max("150000 100000") == 2U);
    CHECK(parse_cpu_max("10000 100000") == 1U);
    for (const char* none : {"", "max 100000", "1000", "100000 0", "-1 100000", "a b"}) {
        CHECK_FALSE(parse_cpu_max(none).has_value());
    }
    CHECK(weir::app::usable_cpus() >= 1);
}
