// What `weir probe` wants to know of an endpoint, and what it found. Pure.
#pragma once

#include "chain/observation.hpp"
#include "core/time.hpp"
#include "probe/batch_search.hpp"
#include "probe/depth_search.hpp"
#include "probe/examination.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::probe {

enum class Support : std::uint8_t {
    unasked,
    yes,
    no,
    paid,     // it exists, but not on this plan
    unclear,  // something else went wrong
};
std::string_view to_string(Support support);

struct MethodFinding {
    std::string name;
    Support support = Support::unasked;
    std::string words;  // what was said where it is not `yes`
};

struct Findings {
    std::optional<std::uint64_t> chain_id;
    std::string trouble;  // why there is no chain id
    routing::Cause trouble_cause = routing::Cause::answered;
    std::optional<chain::BlockId> head;
    std::uint64_t head_time = 0;  // seconds since 1970; 0: it names none
    std::int64_t head_age = 0;    // seconds, by this machine's clock
    std::string version;
    Support finalized = Support::unasked;
    std::uint64_t finalized_behind = 0;  // blocks behind the head
    Support safe = Support::unasked;
    std::uint64_t safe_behind = 0;
    BatchFinding batch;
    bool batch_asked = false;
    DepthFinding depth;
    Support by_hash = Support::unasked;
    std::string by_hash_words;
    std::vector<MethodFinding> methods;
    std::optional<core::Duration> first_latency;  // with opening the connection
    std::vector<core::Duration> latencies;        // of the other calls that went alone, sorted
    std::vector<std::pair<std::string, std::string>> limits;  // the latest fields about rates
};

class Endpoint final : public Examination {
  public:
    Endpoint();
    const Findings& findings() const { return findings_; }

  protected:
    std::optional<Question> plan() override;
    void learn(const Question& question, const Heard& heard) override;

  private:
    std::optional<Question> plan_basics() const;
    std::optional<Question> plan_state_by_hash() const;
    std::optional<Question> plan_method() const;
    void learn_chain_id(const Heard& heard);
    void learn_head(const Heard& heard);
    void learn_tag(const Heard& heard, Support& support, std::uint64_t& behind) const;
    void learn_state_by_hash(const Question& question, const Heard& heard);
    void learn_latency(const Question& question, const Heard& heard);

    Findings findings_;
    BatchSearch batch_;
    std::optional<DepthSearch> depth_;
    std::size_t basics_ = 0;   // of them, asked
    std::size_t methods_ = 0;  // likewise
    bool knows_hash_ = false;  // state by hash was given; not settled while `by_hash` is unasked
};

}  // namespace weir::probe
