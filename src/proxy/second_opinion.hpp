// Which answers are asked for once more elsewhere before the client gets them: a head older than
// one it was given, a head that nobody believes, a null from a node that is behind.
#pragma once

#include "core/time.hpp"
#include "proxy/answer.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/plan.hpp"
#include "routing/select.hpp"
#include "routing/verdict.hpp"
#include "runtime/ports.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy {

class SecondOpinion {
  public:
    // The references must outlive it.
    SecondOpinion(ChainContext& chain, const CallPlan& plan, const runtime::Clock& clock)
        : chain_(chain), plan_(plan), clock_(clock) {}

    // Is the answer the client's? If not it is taken, and another upstream is to be asked. `tried`
    // were asked already.
    enum class Opinion : std::uint8_t { give, ask_another };
    Opinion judge(routing::UpstreamIndex upstream, Answer& answer, const routing::Tried& tried,
                  core::TimePoint now);

    // An error says that the block is not known there: asked once more elsewhere.
    Opinion judge_unknown_block();

    // A null from a node that is behind, or too old a head, was taken earlier.
    void take_over(Answer said);

    // The newest block that clients know of is asked for by its number from here on: `latest`
    // brought an older one. Whoever did not have it may have it in a moment.
    bool asks_by_number() const { return by_number_ != 0; }

    // What the call is asked with: its own params, or that number.
    std::string_view params(std::string_view own) const;

    // What the client gets when nobody else can be asked; nothing when no answer was taken.
    std::optional<Answer> last_resort();

    // What the call needs from here on.
    routing::BlockNeed need() const;
    std::uint64_t served(const routing::RoutingSnapshot& pool) const;

  private:
    Opinion judge_head(routing::UpstreamIndex upstream, Answer& answer, core::TimePoint now);
    Opinion judge_null(routing::UpstreamIndex upstream, Answer& answer,
                       const routing::Tried& tried);
    std::optional<Answer> oldest_allowed() const;
    void ask_by_number(std::uint64_t floor);

    ChainContext& chain_;
    const CallPlan& plan_;
    const runtime::Clock& clock_;
    std::unique_ptr<Answer> taken_;
    std::uint64_t taken_number_ = 0;  // of a head
    bool head_refused_ = false;
    std::uint64_t by_number_ = 0;  // of the block that is asked for instead of `latest`
    std::string by_number_params_;
    bool asked_again_ = false;  // after a null or an unknown block
};

}  // namespace weir::proxy
