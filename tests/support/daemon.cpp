#include "support/daemon.hpp"

#include "jsonrpc/value.hpp"

#include <fstream>
#include <stdexcept>

namespace weir::test {
namespace {

std::string text_member(std::string_view object, std::string_view name) {
    return jsonrpc::string_value(jsonrpc::member(object, name)).value_or("");
}

// The `state` of an upstream of the first chain in an /api/status document.
std::string state_in(std::string_view status, std::string_view upstream) {
    const std::string_view chain = jsonrpc::element(jsonrpc::member(status, "chains"), 0);
    const std::string_view upstreams = jsonrpc::member(chain, "upstreams");
    for (std::size_t i = 0; i < jsonrpc::element_count(upstreams); ++i) {
        const std::string_view each = jsonrpc::element(upstreams, i);
        if (text_member(each, "name") == upstream) {
            return text_member(each, "state");
        }
    }
    return "";
}

// The command, started with a limit of its own.
std::vector<std::string> within(const std::string& ulimit, std::vector<std::string> command) {
    if (!ulimit.empty()) {
        const std::string script = "ulimit " + ulimit + " && exec \"$@\"";
        command.insert(command.begin(), {"/bin/sh", "-c", script, "sh"});
    }
    return command;
}

}  // namespace

DaemonConfig DaemonConfig::with(const std::vector<std::string>& urls) {
    DaemonConfig config;
    for (const std::string& url : urls) {
        config.upstreams.push_back(
            {std::string(1, static_cast<char>('a' + config.upstreams.size())), url});
    }
    return config;
}

std::string DaemonConfig::to_yaml() const {
    std::string out = "server:\n  listen: \"" + listen + "\"\n";
    out += "  threads: " + std::to_string(threads) + "\n";
    for (const std::string& line : server) {
        out += "  " + line + "\n";
    }
    out += "admin: {listen: \"" + admin + "\"}\nlog: {level: debug, format: json}\n";
    for (const std::string& line : top) {
        out += line + "\n";
    }
    out += "chains:\n  - name: ethereum\n    chain_id: 1\n";
    for (const std::string& line : chain) {
        out += "    " + line + "\n";
    }
    out += "    upstreams:\n";
    for (const Upstream& upstream : upstreams) {
        out += "      - {name: " + upstream.name + ", url: \"" + upstream.url + "\"";
        out += (upstream.more.empty() ? "" : ", " + upstream.more) + "}\n";
    }
    return out;
}

std::vector<std::string> weir_command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), WEIR_BINARY);
    return arguments;
}

Daemon::Daemon(const DaemonConfig& config, const Process::Environment& environment)
    : config_(config.to_yaml()),
      process_(within(config.ulimit, weir_command({"run", "--config", config_.path()})),
               environment) {
    wait_until_listening();
}

Daemon::Daemon(const std::vector<std::string>& arguments, const Process::Environment& environment)
    : process_(weir_command(arguments), environment) {
    wait_until_listening();
}

void Daemon::wait_until_listening() {
    const auto line = process_.wait_for_line(
        [](const std::string& each) { return text_member(each, "message") == "listening"; });
    if (!line) {
        throw std::runtime_error("the program does not listen:\n" + process_.all_output());
    }
    rpc_ = text_member(*line, "rpc");
    admin_ = text_member(*line, "admin");
}

HttpResponse Daemon::post(std::string_view body) const { return test::post(rpc_, "/", body); }

void Daemon::configure(const std::string& text) {
    std::ofstream(config_.path(), std::ios::trunc | std::ios::binary) << text;
}

HttpResponse Daemon::reload() const { return RawClient(admin_).post("/api/reload", "{}"); }

HttpResponse Daemon::admin(std::string_view path) const { return test::get(admin_, path); }

bool Daemon::wait_until_ready() const {
    return wait_until([this] { return is_ready(); });
}

bool Daemon::wait_for_state(std::string_view upstream, std::string_view state) const {
    return wait_until([&] { return state_in(admin("/api/status").body, upstream) == state; });
}

}  // namespace weir::test
