// The test helpers themselves: a process's output, exit and signals; configuration text.
#include "support/process.hpp"

#include "support/catch.hpp"
#include "support/daemon.hpp"

#include <chrono>
#include <csignal>

using namespace weir::test;
using namespace std::chrono_literals;

TEST_CASE("a process's lines, exit code and signals are seen") {
    Process shell({"/bin/sh", "-c",
                   "echo out; echo $WORD >&2; trap 'exit 7' TERM; echo set >&2; "
                   "while :; do sleep 0.01; done"},
                  {{"WORD", "err"}});
    const auto line = shell.wait_for_line([](const std::string& each) { return each == "set"; });
    REQUIRE(line.has_value());
    CHECK_FALSE(shell.wait_for_exit(1ms).has_value());
    CHECK(shell.stdout_text() == "out\n");
    CHECK(shell.stderr_text() == "err\nset\n");
    shell.signal(SIGTERM);
    CHECK(shell.wait_for_exit() == 7);
}

TEST_CASE("a line that never comes is not waited for after the end") {
    Process shell({"/bin/sh", "-c", "echo other >&2"});
    CHECK_FALSE(shell.wait_for_line([](const std::string& each) { return each == "line"; }));
    CHECK(shell.wait_for_exit() == 0);
    Process missing({"/nonexistent/program"});
    CHECK(missing.wait_for_exit() == 127);
    Process killed({"/bin/sh", "-c", "kill -9 $$"});
    CHECK(killed.wait_for_exit() == 128 + SIGKILL);
}

TEST_CASE("the configuration's text") {
    DaemonConfig config = DaemonConfig::with({"http://127.0.0.1:1/", "http://127.0.0.1:2/"});
    config.server = {"max_body: 1KiB"};
    config.chain = {"max_reply: 2MiB"};
    config.upstreams[1].more = "tier: 1";
    CHECK(config.to_yaml() ==
          "server:\n  listen: \"127.0.0.1:0\"\n  threads: 2\n  max_body: 1KiB\n"
          "admin: {listen: \"127.0.0.1:0\"}\nlog: {level: debug, format: json}\n"
          "chains:\n  - name: ethereum\n    chain_id: 1\n    max_reply: 2MiB\n    upstreams:\n"
          "      - {name: a, url: \"http://127.0.0.1:1/\"}\n"
          "      - {name: b, url: \"http://127.0.0.1:2/\", tier: 1}\n");
}
