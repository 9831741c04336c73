#include "support/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace weir::test {
namespace {

struct Pipe {
    Pipe() {
        if (pipe2(ends.data(), O_CLOEXEC) != 0) {
            throw std::runtime_error("no pipe");
        }
    }
    std::array<int, 2> ends{};
};

std::vector<std::string> environment_with(const Process::Environment& more) {
    std::vector<std::string> out;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        out.emplace_back(*entry);
    }
    for (const auto& [name, value] : more) {
        out.push_back(name + "=" + value);
    }
    return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) {
        out.push_back(text.data());
    }
    out.push_back(nullptr);
    return out;
}

}  // namespace

Process::Process(const std::vector<std::string>& argv, const Environment& more) {
    std::vector<std::string> arguments = argv;
    std::vector<std::string> environment = environment_with(more);
    const std::vector<char*> argument_pointers = pointers_to(arguments);
    const std::vector<char*> environment_pointers = pointers_to(environment);
    const Pipe out;
    const Pipe err;
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
        // Only async-signal-safe calls from here on.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(127);
        }
        dup2(out.ends[1], STDOUT_FILENO);
        dup2(err.ends[1], STDERR_FILENO);
        // Asio's sockets are inherited: a listener of the test must not live on in the child.
        close_range(3, std::numeric_limits<unsigned>::max(), 0);
        execve(argument_pointers[0], argument_pointers.data(), environment_pointers.data());
        _exit(127);
    }
    close(out.ends[1]);
    close(err.ends[1]);
    if (pid_ < 0) {
        close(out.ends[0]);
        close(err.ends[0]);
        throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
    }
    collector_ = std::thread([this, out, err] { collect(out.ends[0], err.ends[0]); });
}

Process::~Process() {
    if (!has_ended()) {
        kill(pid_, SIGKILL);
        int status = 0;
        waitpid(pid_, &status, 0);
    }
    collector_.join();
}

void Process::collect(int out, int err) {
    std::array<pollfd, 2> ends = {{{out, POLLIN, 0}, {err, POLLIN, 0}}};
    const std::array<std::string*, 2> texts = {&stdout_, &stderr_};
    std::array<char, 65536> piece{};
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        if (poll(ends.data(), ends.size(), -1) < 0) {
            continue;
        }
        for (std::size_t i = 0; i < ends.size(); ++i) {
            if (ends[i].fd < 0 || ends[i].revents == 0) {
                continue;
            }
            const ssize_t size = read(ends[i].fd, piece.data(), piece.size());
            if (size <= 0) {
                close(ends[i].fd);
                ends[i].fd = -1;
                continue;
            }
            const std::lock_guard lock(mutex_);
            texts[i]->append(piece.data(), static_cast<std::size_t>(size));
        }
    }
    const std::lock_guard lock(mutex_);
    output_ended_ = true;
}

void Process::signal(int number) const {
    if (!exit_) {
        kill(pid_, number);
    }
}

bool Process::has_ended() {
    int status = 0;
    if (!exit_ && waitpid(pid_, &status, WNOHANG) == pid_) {
        exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return exit_.has_value();
}

std::optional<int> Process::wait_for_exit(std::chrono::milliseconds bound) {
    wait_until([this] { return has_ended() && has_all_output(); }, bound);
    return exit_;
}

bool Process::has_all_output() const {
    const std::lock_guard lock(mutex_);
    return output_ended_;
}

std::string Process::stdout_text() const {
    const std::lock_guard lock(mutex_);
    return stdout_;
}

std::string Process::stderr_text() const {
    const std::lock_guard lock(mutex_);
    return stderr_;
}

std::optional<std::string> Process::wait_for_line(
    const std::function<bool(const std::string&)>& wanted, std::chrono::milliseconds bound) {
    std::size_t at = 0;
    std::optional<std::string> found;
    const auto look = [&] {
        const std::string text = stderr_text();
        std::size_t end = std::string::npos;
        while (!found && (end = text.find('\n', at)) != std::string::npos) {
            const std::string line = text.substr(at, end - at);
            at = end + 1;
            if (wanted(line)) {
                found = line;
            }
        }
        return found.has_value();
    };
    wait_until(
        [&] {
            const bool ended = has_ended() && has_all_output();
            return look() || ended;
        },
        bound);
    return found;
}

}  // namespace weir::test
