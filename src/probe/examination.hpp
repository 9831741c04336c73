// A conversation with one endpoint, decided step by step: what to ask next, and what was learned.
// No socket and no clock; whoever sends the questions is asker.hpp.
#pragma once

#include "core/time.hpp"
#include "routing/verdict.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::probe {

enum class Topic : std::uint8_t {
    chain_id,
    head,
    finalized,
    safe,
    version,
    batch,
    state,             // of an old block
    state_by_hash,     // EIP-1898
    state_of_nowhere,  // by a hash that no block has: only who does not look at it answers
    method,
    checkpoint,
};
std::string_view to_string(Topic topic);  // for people who watch

struct Question {
    Topic topic = Topic::chain_id;
    std::string method;
    std::string params = "[]";
    std::size_t calls = 0;       // in an array, each the same; 0: a call of its own
    std::uint64_t argument = 0;  // depth, place in a list: the topic's own affair
};

// What became of a question.
struct Heard {
    routing::Cause cause = routing::Cause::answered;
    std::optional<core::Duration> retry_after;
    std::string result;                // raw JSON; of an array, empty
    std::string words;                 // what the endpoint, or the connection, says is wrong
    std::optional<std::size_t> named;  // the limit that the refusal of an array spoke of
    core::Duration latency{};
    std::uint64_t wall = 0;                                   // seconds since 1970, at the end
    std::vector<std::pair<std::string, std::string>> limits;  // fields about rates

    bool answered() const { return cause == routing::Cause::answered; }
};

// The same question may be worth asking again: nothing was said about it.
bool is_passing(routing::Cause cause);

// Bounds what an endpoint is asked, waits where it asks for a pause, and asks again what was lost.
class Examination {
  public:
    static constexpr unsigned kMostRequests = 40;
    static constexpr core::Duration kLongestPause = core::seconds(5);
    static constexpr core::Duration kMostPauses = core::seconds(30);  // all together

    explicit Examination(unsigned most_requests = kMostRequests) : most_(most_requests) {}
    virtual ~Examination() = default;

    // Nothing: it has ended. The pause comes before the question.
    std::optional<Question> next();
    core::Duration pause() const { return pause_; }
    void hear(const Question& question, const Heard& heard);

    unsigned requests() const { return requests_; }
    unsigned limited() const { return limited_; }      // replies that said "slow down"
    bool was_cut_short() const { return cut_short_; }  // by the bound on requests

  protected:
    // The next thing that is not known; called again only after learn().
    virtual std::optional<Question> plan() = 0;
    virtual void learn(const Question& question, const Heard& heard) = 0;

  private:
    bool is_asked_again(const Question& question, const Heard& heard);

    const unsigned most_;
    std::optional<Question> again_;
    unsigned tries_ = 0;  // of the question that is under way
    unsigned requests_ = 0;
    unsigned limited_ = 0;
    core::Duration pause_{};
    core::Duration paused_{};
    bool cut_short_ = false;
};

}  // namespace weir::probe
