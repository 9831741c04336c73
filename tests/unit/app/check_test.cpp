#include "app/check.hpp"

#include "support/catch.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace weir::app;

TEST_CASE("check prints what is in effect, or every problem") {
    const std::string file = "/tmp/weir_check_test_" + std::to_string(getpid()) + ".yaml";
    const auto environment = [](std::string_view) -> std::optional<std::string> {
        return std::nullopt;
    };
    std::ostringstream out;
    std::ostringstream err;

    std::ofstream(file) << "chains: [{chain_id: 1, upstreams: [{url: https://a.example/key}]}]\n";
    CHECK(check({file}, environment, out, err) == 0);
    CHECK(err.str().empty());
    CHECK(out.str().find("upstream-1: a.example over https") != std::string::npos);
    CHECK(out.str().find("key") == std::string::npos);

    out.str("");
    std::ofstream(file) << "chains: [{chain_id: x, upstreams: [{url: '${KEY}'}]}]\n";
    CHECK(check({file}, environment, out, err) == 2);
    CHECK(out.str().empty());
    CHECK(err.str() ==
          "chains[0].chain_id: must be a whole number, 1 or more\n"
          "chains[0].upstreams[0].url: the environment variable KEY is not set\n" +
              file + ": 2 problems\n");
    std::remove(file.c_str());
}
