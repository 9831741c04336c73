// The real program as a child process, configured for simulated providers.
#pragma once

#include "support/process.hpp"
#include "support/raw_client.hpp"
#include "support/temporary_file.hpp"
#include "support/wait.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::test {

// A configuration of one chain `ethereum` with id 1. Every list holds further YAML lines or flow
// members of its section.
struct DaemonConfig {
    struct Upstream {
        std::string name;
        std::string url;
        std::string more = "";  // further flow members: `tier: 1, weight: 2`
    };
    std::vector<Upstream> upstreams;
    std::string listen = "127.0.0.1:0";
    std::string admin = "127.0.0.1:0";
    std::vector<std::string> server;  // `max_body: 1KiB`
    std::vector<std::string> chain;   // `max_reply: 2MiB`
    std::vector<std::string> top;     // `clients: [...]`
    unsigned threads = 2;
    std::string ulimit = "";  // as the shell's: `-n 64`

    // Upstreams named `a`, `b`, ... at these URLs.
    static DaemonConfig with(const std::vector<std::string>& urls);
    std::string to_yaml() const;
};

// Started and listening when constructed; std::runtime_error with the program's output otherwise.
class Daemon {
  public:
    explicit Daemon(const DaemonConfig& config, const Process::Environment& environment = {});
    // `weir` with these arguments, which must make it listen on free ports.
    explicit Daemon(const std::vector<std::string>& arguments,
                    const Process::Environment& environment = {});

    const std::string& rpc_address() const { return rpc_; }  // 127.0.0.1:PORT
    const std::string& admin_address() const { return admin_; }
    Process& process() { return process_; }

    HttpResponse post(std::string_view body) const;  // to /
    HttpResponse admin(std::string_view path) const;

    // Writes another configuration into its file, or any text.
    void configure(const DaemonConfig& config) { configure(config.to_yaml()); }
    void configure(const std::string& text);
    const std::string& config_path() const { return config_.path(); }
    HttpResponse reload() const;  // POST /api/reload

    bool is_ready() const { return admin("/readyz").status == 200; }
    bool wait_until_ready() const;

    // Waits until `upstream` is in this state of /api/status.
    bool wait_for_state(std::string_view upstream, std::string_view state) const;

  private:
    void wait_until_listening();

    TemporaryFile config_{""};
    Process process_;
    std::string rpc_;
    std::string admin_;
};

// The program's path with these arguments.
std::vector<std::string> weir_command(std::vector<std::string> arguments);

}  // namespace weir::test
