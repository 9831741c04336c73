// Sends an examination's questions and reads what comes back.
#pragma once

#include "core/secret.hpp"
#include "probe/examination.hpp"
#include "routing/provider_book.hpp"
#include "runtime/task.hpp"
#include "runtime/worker.hpp"
#include "telemetry/redact.hpp"
#include "upstream/transport.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::probe {

// An endpoint as the transport knows it.
struct Target {
    std::size_t chain = 0;
    routing::UpstreamIndex upstream = 0;
    core::Duration timeout{};                   // of one question
    const routing::Profile* profile = nullptr;  // reads its errors
};

// Nothing of what an endpoint says is believed to be harmless: its words are shortened, without
// secrets and printable.
class Asker {
  public:
    static constexpr std::size_t kMostReply = std::size_t{16} << 20U;

    Asker(runtime::Worker& worker, upstream::Transport& transport,
          const std::vector<core::Secret>& secrets)
        : worker_(worker), transport_(transport), secrets_(secrets) {}

    // Told before each question is sent.
    using Watcher = std::function<void(const Question&)>;
    runtime::Task<> examine(Examination& examination, Target target, const Watcher& watcher);

    std::string presentable(std::string_view text) const;

  private:
    runtime::Task<Heard> ask(const Question& question, Target target);
    Heard judge_failure(const Question& question, const Target& target,
                        const routing::AttemptOutcome& outcome) const;
    Heard judge_single(const Question& question, const Target& target,
                       routing::HttpReply reply) const;
    Heard judge_array(const Question& question, const Target& target,
                      routing::HttpReply reply) const;

    runtime::Worker& worker_;
    upstream::Transport& transport_;
    const telemetry::PieceRedactor secrets_;
};

}  // namespace weir::probe
