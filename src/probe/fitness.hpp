// What `weir check --live` asks of an upstream, and where it falls short of its configuration.
// Pure.
#pragma once

#include "chain/observation.hpp"
#include "config/config.hpp"
#include "config/problem.hpp"
#include "core/time.hpp"
#include "probe/batch_search.hpp"
#include "probe/examination.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::probe {

// A handful of questions: who it is, where its head stands, the checkpoint, an array as large as
// the configuration allows, and state as old as it promises.
class Fitness final : public Examination {
  public:
    static constexpr unsigned kMostRequests = 16;
    static constexpr std::int64_t kOldestHead = 86'400;  // seconds; an older one stands still

    // `path` is the upstream's, `chains[0].upstreams[1]`; `batch` the calls of the largest array
    // that would be sent to it, below 2: none is promised. References must outlive it.
    Fitness(const config::Chain& chain, const config::Upstream& upstream, std::string path,
            std::size_t batch);

    const std::vector<config::Problem>& problems() const { return problems_; }
    const std::optional<chain::BlockId>& head() const { return head_; }
    std::int64_t head_age() const { return head_age_; }
    std::optional<core::Duration> latency() const { return latency_; }  // of the head's question

  protected:
    std::optional<Question> plan() override;
    void learn(const Question& question, const Heard& heard) override;

  private:
    Question question_of(Topic topic) const;
    std::optional<std::uint64_t> promised_depth() const;
    void problem(const std::string& key, std::string what);
    void learn_chain_id(const Heard& heard);
    void learn_head(const Heard& heard);
    void learn_checkpoint(const Heard& heard);
    void learn_batch(const Question& question, const Heard& heard);
    void look_for_batch_limit(const Question& question, const Heard& heard);
    void learn_state(const Heard& heard);

    const config::Chain& chain_;
    const config::Upstream& upstream_;
    const std::string path_;
    const std::size_t batch_;
    std::vector<config::Problem> problems_;
    // Once an array was refused: how large a one is taken.
    std::optional<BatchSearch> search_;
    std::size_t refusal_ = 0;  // its place among the problems
    std::string refusal_words_;
    std::vector<Topic> due_ = {Topic::chain_id};  // the next one last
    std::optional<chain::BlockId> head_;
    std::int64_t head_age_ = 0;
    std::optional<core::Duration> latency_;
};

}  // namespace weir::probe
