#include "app/options.hpp"

#include "support/catch.hpp"

#include <cstring>

using namespace weir::app;

namespace {

using Arguments = std::vector<std::string_view>;

template <class Command>
Command parsed(const Arguments& arguments) {
    const auto options = parse_options(arguments);
    REQUIRE(options.has_value());
    REQUIRE(std::holds_alternative<Command>(*options));
    return std::get<Command>(*options);
}

std::string refusal(const Arguments& arguments) {
    const auto options = parse_options(arguments);
    return options ? "accepted" : options.error().message;
}

}  // namespace

TEST_CASE("run takes a file, or a chain from flags, or both") {
    const Run file = parsed<Run>({"run", "--config", "a.yaml"});
    CHECK(file.config == "a.yaml");
    CHECK_FALSE(file.flags.chain_id);
    CHECK(file.flags.listen.empty());

    const Run flags = parsed<Run>({"run", "--chain-id=1", "--upstream", "https://a/?x=y",
                                   "--listen", "127.0.0.1:1", "--upstream=https://b/?x=--y",
                                   "--listen=[::1]:1", "--admin", "127.0.0.1:2"});
    CHECK_FALSE(flags.config);
    CHECK(flags.flags.chain_id == "1");
    CHECK(flags.flags.upstreams == std::vector<std::string>{"https://a/?x=y", "https://b/?x=--y"});
    CHECK(flags.flags.listen == std::vector<std::string>{"127.0.0.1:1", "[::1]:1"});
    CHECK(flags.flags.admin == "127.0.0.1:2");

    const Run both = parsed<Run>({"run", "--config=a", "--chain-id=1", "--upstream=b"});
    CHECK(both.config == "a");
    CHECK(both.flags.chain_id == "1");
}

TEST_CASE("the other commands") {
    CHECK(parsed<Demo>({"demo", "--listen", "127.0.0.1:0"}).flags.listen.size() == 1);
    CHECK(parsed<Check>({"check", "--config=a.yaml"}).config == "a.yaml");
    CHECK(parsed<Check>({"check", "--config=a"}).ask == Check::Ask::nobody);
    CHECK(parsed<Check>({"check", "--live", "--config", "a"}).ask == Check::Ask::upstreams);
    const Probe probe = parsed<Probe>({"probe", "https://a/?x=--y", "--json", "${B}"});
    CHECK(probe.urls == std::vector<std::string>{"https://a/?x=--y", "${B}"});
    CHECK(probe.form == Probe::Form::json);
    CHECK(parsed<Probe>({"probe", "https://a"}).form == Probe::Form::table);
    CHECK_FALSE(parsed<Health>({"health"}).admin);
    CHECK(parsed<Health>({"health", "--admin", "127.0.0.1:1"}).admin == "127.0.0.1:1");
    parsed<Version>({"version"});
    parsed<Version>({"--version"});
    for (const Arguments& arguments : {Arguments{"help"},
                                       {"help", "run"},
                                       {"--help"},
                                       {"-h"},
                                       {"run", "--help"},
                                       {"run", "--config", "a", "-h"},
                                       {"nonsense", "--help"},
                                       {"version", "-h"}}) {
        parsed<Help>(arguments);
    }
}

TEST_CASE("bad usage is told in a line") {
    const std::string help = "; see weir help";
    const std::vector<std::pair<Arguments, std::string>> table = {
        {{}, "no command given"},
        {{"rnu"}, "there is no command 'rnu'" + help},
        {{"https://a/key"}, "there is no command an argument" + help},
        {{""}, "there is no command an argument" + help},
        {{"run"}, "nothing to serve: give --config FILE, or --chain-id N --upstream URL" + help},
        {{"run", "--listen", "127.0.0.1:1"},
         "nothing to serve: give --config FILE, or --chain-id N --upstream URL" + help},
        {{"run", "--chain-id", "1"}, "--chain-id and --upstream go together" + help},
        {{"run", "--upstream", "a"}, "--chain-id and --upstream go together" + help},
        {{"run", "--config", "a", "--upstream", "b"},
         "--chain-id and --upstream go together" + help},
        {{"run", "--config"}, "--config needs a value" + help},
        {{"run", "--config="}, "--config needs a value" + help},
        {{"run", "--config", ""}, "--config needs a value" + help},
        {{"run", "--config", "--listen"}, "--config needs a value" + help},
        {{"run", "--config", "a", "--config", "b"}, "--config is given more than once" + help},
        {{"run", "--conf", "a"}, "weir run does not know '--conf'" + help},
        {{"run", "--conf=k3y"}, "weir run does not know '--conf'" + help},
        {{"run", "--config", "a", "b"}, "weir run does not know 'b'" + help},
        {{"run", "https://a/0123456789"}, "weir run does not know an argument" + help},
        {{"demo", "--config", "a"}, "weir demo does not know '--config'" + help},
        {{"check"}, "weir check needs --config FILE" + help},
        {{"check", "--live"}, "weir check needs --config FILE" + help},
        {{"probe"}, "weir probe needs 1 to 32 URLs" + help},
        {{"probe", "--json"}, "weir probe needs 1 to 32 URLs" + help},
        {{"probe", "--jsno", "https://a"}, "weir probe does not know '--jsno'" + help},
        {{"health", "--listen", "a"}, "weir health does not know '--listen'" + help},
        {{"version", "x"}, "this command takes no arguments" + help},
    };
    for (const auto& [arguments, message] : table) {
        CHECK(refusal(arguments) == message);
    }
}

TEST_CASE("URLs are overwritten in the argument list") {
    std::vector<std::string> words = {"weir",
                                      "run",
                                      "--chain-id",
                                      "1",
                                      "--upstream",
                                      "a/key",
                                      "--upstream=https://b/key",
                                      "--upstram=https://c/key",
                                      "https://d/key",
                                      "--upstream"};
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    hide_urls(static_cast<int>(argv.size()), argv.data());
    CHECK(words[3] == "1");
    CHECK(words[4] == "--upstream");
    CHECK(words[5] == "xxxxx");
    CHECK(words[6] == "--upstream=xxxxxxxxxxxxx");
    CHECK(words[7] == std::string(23, 'x'));
    CHECK(words[8] == std::string(13, 'x'));
    CHECK(words[9] == "--upstream");
}

TEST_CASE("the help names every command") {
    for (const char* command : {"run", "demo", "check", "health", "version", "help"}) {
        CHECK(help_text().find("  weir " + std::string(command)) != std::string::npos);
    }
}
