// A child process whose every line of output is kept.
#pragma once

#include "support/wait.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <thread>
#include <utility>
#include <vector>

namespace weir::test {

// Dies with this object and with the test.
class Process {
  public:
    using Environment = std::vector<std::pair<std::string, std::string>>;

    // `argv[0]` is the path of the program. `more` is added to the test's environment.
    explicit Process(const std::vector<std::string>& argv, const Environment& more = {});
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const { return pid_; }
    void signal(int number) const;

    // The exit code, or 128 and the signal that ended it, once all of its output is here; nothing
    // when it still runs after the bound.
    std::optional<int> wait_for_exit(std::chrono::milliseconds bound = kPatience);

    std::string stdout_text() const;
    std::string stderr_text() const;
    std::string all_output() const { return stdout_text() + stderr_text(); }

    // The first whole line on stderr that `wanted` takes; nothing when none comes in time or the
    // process ends before.
    std::optional<std::string> wait_for_line(const std::function<bool(const std::string&)>& wanted,
                                             std::chrono::milliseconds bound = kPatience);

  private:
    void collect(int out, int err);
    bool has_ended();
    bool has_all_output() const;

    pid_t pid_ = -1;
    std::optional<int> exit_;
    mutable std::mutex mutex_;  // guards what follows
    std::string stdout_;
    std::string stderr_;
    bool output_ended_ = false;
    std::thread collector_;
};
}  // namespace weir::test
