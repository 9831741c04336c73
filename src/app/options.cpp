#include "app/options.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace weir::app {
namespace {

using Arguments = std::vector<std::string_view>;
using Parsed = core::Result<Options, UsageError>;
using FlagValues = std::map<std::string, std::vector<std::string>, std::less<>>;

constexpr std::string_view kUpstream = "--upstream";

bool asks_for_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

// A word of the user's as it may be repeated: a short flag or command, never a value.
std::string printable(std::string_view word) {
    word = word.substr(0, word.find('='));
    const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
    });
    return plain && !word.empty() && word.size() <= 24 ? "'" + std::string(word) + "'"
                                                       : "an argument";
}

UsageError usage(std::string message) { return {std::move(message) + "; see weir help"}; }

enum class Times { once, any };

struct FlagRule {
    std::string_view name;
    Times times;
};

// Every `--flag value` and `--flag=value` of a command that knows the flags in `rules`.
core::Result<FlagValues, UsageError> read_flags(std::string_view command,
                                                const Arguments& arguments,
                                                const std::vector<FlagRule>& rules) {
    FlagValues values;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        const std::size_t equals = argument.find('=');
        const std::string_view name = argument.substr(0, equals);
        const auto rule = std::find_if(rules.begin(), rules.end(),
                                       [&](const FlagRule& r) { return r.name == name; });
        if (rule == rules.end()) {
            return usage("weir " + std::string(command) + " does not know " + printable(argument));
        }
        if (equals == std::string_view::npos && i + 1 == arguments.size()) {
            return usage(std::string(name) + " needs a value");
        }
        const std::string_view value =
            equals == std::string_view::npos ? arguments[++i] : argument.substr(equals + 1);
        // A flag in a value's place means that the value was forgotten.
        if (value.empty() || (equals == std::string_view::npos && value.starts_with("--"))) {
            return usage(std::string(name) + " needs a value");
        }
        auto& collected = values[std::string(name)];
        if (!collected.empty() && rule->times == Times::once) {
            return usage(std::string(name) + " is given more than once");
        }
        collected.emplace_back(value);
    }
    return values;
}

std::optional<std::string> one(const FlagValues& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second.front());
}

std::vector<std::string> all(const FlagValues& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? std::vector<std::string>() : found->second;
}

Parsed parse_run(const Arguments& arguments) {
    const auto values = read_flags("run", arguments,
                                   {{"--config", Times::once},
                                    {"--chain-id", Times::once},
                                    {kUpstream, Times::any},
                                    {"--listen", Times::any},
                                    {"--admin", Times::once}});
    if (!values) {
        return values.error();
    }
    Run run;
    run.config = one(*values, "--config");
    run.flags.chain_id = one(*values, "--chain-id");
    run.flags.upstreams = all(*values, kUpstream);
    run.flags.listen = all(*values, "--listen");
    run.flags.admin = one(*values, "--admin");
    if (run.flags.chain_id.has_value() == run.flags.upstreams.empty()) {
        return usage("--chain-id and --upstream go together");
    }
    if (!run.config && !run.flags.chain_id) {
        return usage("nothing to serve: give --config FILE, or --chain-id N --upstream URL");
    }
    return Options(std::move(run));
}

Parsed parse_demo(const Arguments& arguments) {
    const auto values =
        read_flags("demo", arguments, {{"--listen", Times::any}, {"--admin", Times::once}});
    if (!values) {
        return values.error();
    }
    Demo demo;
    demo.flags.listen = all(*values, "--listen");
    demo.flags.admin = one(*values, "--admin");
    return Options(std::move(demo));
}

Parsed parse_check(const Arguments& given) {
    Arguments arguments = given;
    const auto asks = std::remove(arguments.begin(), arguments.end(), "--live");
    const bool live = asks != arguments.end();
    arguments.erase(asks, arguments.end());
    const auto values = read_flags("check", arguments, {{"--config", Times::once}});
    if (!values) {
        return values.error();
    }
    const auto file = one(*values, "--config");
    if (!file) {
        return usage("weir check needs --config FILE");
    }
    return Options(Check{*file, live ? Check::Ask::upstreams : Check::Ask::nobody});
}

Parsed parse_health(const Arguments& arguments) {
    const auto values = read_flags("health", arguments, {{"--admin", Times::once}});
    if (!values) {
        return values.error();
    }
    return Options(Health{one(*values, "--admin")});
}

Parsed parse_probe(const Arguments& arguments) {
    constexpr std::size_t kMostUrls = 32;
    Probe probe;
    for (const std::string_view argument : arguments) {
        if (argument == "--json") {
            probe.form = Probe::Form::json;
        } else if (argument.starts_with('-')) {
            return usage("weir probe does not know " + printable(argument));
        } else {
            probe.urls.emplace_back(argument);
        }
    }
    if (probe.urls.empty() || probe.urls.size() > kMostUrls) {
        return usage("weir probe needs 1 to " + std::to_string(kMostUrls) + " URLs");
    }
    return Options(std::move(probe));
}

template <class Command>
Parsed parse_bare(const Arguments& arguments) {
    if (!arguments.empty()) {
        return usage("this command takes no arguments");
    }
    return Options(Command{});
}

struct Command {
    std::string_view name;
    Parsed (*parse)(const Arguments&);
};

constexpr std::array<Command, 8> kCommands = {
    {{"run", parse_run},
     {"demo", parse_demo},
     {"check", parse_check},
     {"probe", parse_probe},
     {"health", parse_health},
     {"version", parse_bare<Version>},
     {"--version", parse_bare<Version>},
     {"help", [](const Arguments&) -> Parsed { return Options(Help{}); }}}};

// Asked for as a flag of its own, not as another flag's value.
bool asks_for_help(const Arguments& arguments) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [](std::string_view argument) { return asks_for_help(argument); });
}

void overwrite(char* text) { std::memset(text, 'x', std::strlen(text)); }

}  // namespace

core::Result<Options, UsageError> parse_options(const Arguments& arguments) {
    if (arguments.empty()) {
        return UsageError{"no command given"};
    }
    if (asks_for_help(arguments)) {
        return Options(Help{});
    }
    const auto command =
        std::find_if(kCommands.begin(), kCommands.end(),
                     [&](const Command& known) { return known.name == arguments.front(); });
    if (command == kCommands.end()) {
        return usage("there is no command " + printable(arguments.front()));
    }
    return command->parse({arguments.begin() + 1, arguments.end()});
}

void hide_urls(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        char* const argument = argv[i];
        const std::string_view text = argument;
        const bool is_value = i > 1 && std::string_view(argv[i - 1]) == kUpstream;
        const bool holds_value =
            text.starts_with(kUpstream) && text.substr(kUpstream.size()).starts_with('=');
        if (holds_value) {
            overwrite(argument + kUpstream.size() + 1);
        } else if (is_value || text.find("://") != std::string_view::npos) {
            overwrite(argument);
        }
    }
}

std::string help_text() {
    return R"(weir, an Ethereum JSON-RPC gateway

  weir run [--config FILE] [--chain-id N --upstream URL ...] [--listen ADDR:PORT] [--admin ADDR:PORT]
      serve the chains of FILE, or one chain from the flags alone
  weir demo [--listen ADDR:PORT] [--admin ADDR:PORT]
      a gateway and three simulated providers: no file, key or network needed
  weir check --config FILE [--live]
      print every problem of FILE with the key's path, or what is in effect; with --live the
      upstreams are asked too
  weir probe [--json] URL...
      ask endpoints what they can do: about 40 requests to each
  weir health [--admin ADDR:PORT]
      ask a running gateway whether it is ready
  weir version
  weir help

  --config FILE        YAML; every key is in docs/configuration.md
  --chain-id N         the chain that the --upstream URLs serve
  --upstream URL       an endpoint of a provider; give it once for each
  --listen ADDR:PORT   where clients call; 127.0.0.1:8545 when left out
  --admin ADDR:PORT    health, metrics and status; 127.0.0.1:9545 when left out

Flags take '--flag value' and '--flag=value', and expand ${NAME} and ${NAME:-default} from the
environment. Write keys so, in quotes that keep your shell from expanding them:

  weir run --chain-id 1 --upstream 'https://eth-mainnet.g.alchemy.com/v2/${ALCHEMY_KEY}'

Exit codes: 0 done, 1 failed while running (health: not ready), 2 bad usage or configuration.
)";
}

}  // namespace weir::app
