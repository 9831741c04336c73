#include "proxy/second_opinion.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/head_answer.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace weir::proxy {
namespace {

using routing::BlockNeed;

bool reaches(const routing::UpstreamView& upstream, std::uint64_t number) {
    return upstream.reach && upstream.reach->number >= number;
}

}  // namespace

SecondOpinion::Opinion SecondOpinion::judge(routing::UpstreamIndex upstream, Answer& answer,
                                            const routing::Tried& tried, core::TimePoint now) {
    if (answer.kind() != Answer::Kind::result) {
        return Opinion::give;
    }
    if (plan_.head_call != HeadCall::none) {
        return judge_head(upstream, answer, now);
    }
    // With one upstream its word is the chain.
    if (plan_.null_needs_head && chain_.config.upstreams.size() > 1 &&
        jsonrpc::is_null(answer.json())) {
        return judge_null(upstream, answer, tried);
    }
    return Opinion::give;
}

SecondOpinion::Opinion SecondOpinion::judge_head(routing::UpstreamIndex upstream, Answer& answer,
                                                 core::TimePoint now) {
    const std::optional<std::uint64_t> number = head_shown(plan_.head_call, answer.json());
    const auto pool = chain_.pool.snapshots().get();
    if (!pool->head) {
        return Opinion::give;
    }
    // What cannot be read as a block number, or is too large for one, is no head.
    const bool believed = number && *number <= routing::highest_plausible(*pool, now);
    if (believed) {
        observe_head_answer({.chain = chain_,
                             .call = plan_.head_call,
                             .upstream = upstream,
                             .number = *number,
                             .json = answer.json(),
                             .at = now},
                            clock_);
    }
    if (chain_.config.upstreams.size() == 1) {
        return Opinion::give;
    }
    if (!believed) {
        head_refused_ = true;
        return Opinion::ask_another;
    }
    const std::uint64_t floor = chain_.floor.number(pool->fall_backs);
    const bool as_asked = by_number_ != 0 && *number >= by_number_;  // the floor may have moved on
    if (*number < floor && !as_asked) {
        if (!taken_ || *number > taken_number_) {
            taken_ = std::make_unique<Answer>(std::move(answer));
            taken_->upstream = upstream;
            taken_number_ = *number;
        }
        ask_by_number(floor);
        return Opinion::ask_another;
    }
    if (!pool->provisional) {
        chain_.floor.raise(*number, pool->fall_backs);
        if (plan_.head_call != HeadCall::number) {
            chain_.floor.keep(plan_.head_call, *number, answer.json());
        }
    }
    return Opinion::give;
}

// From a node at the head, null is the answer.
SecondOpinion::Opinion SecondOpinion::judge_null(routing::UpstreamIndex upstream, Answer& answer,
                                                 const routing::Tried& tried) {
    const auto pool = chain_.pool.snapshots().get();
    if (asked_again_ || !pool->head) {
        return Opinion::give;
    }
    const bool by_number = plan_.block.kind == BlockNeed::Kind::number;
    const std::uint64_t head = std::max(pool->head->number, chain_.floor.number(pool->fall_backs));
    const std::uint64_t needed = by_number ? plan_.block.number : head;
    if (needed > head || (!by_number && reaches(pool->upstreams[upstream], needed))) {
        return Opinion::give;
    }
    bool other = false;
    for (routing::UpstreamIndex i = 0; i < pool->upstreams.size(); ++i) {
        const routing::UpstreamView& each = pool->upstreams[i];
        other = other || (!tried.test(i) && each.state == routing::UpstreamState::fit &&
                          !each.apart && reaches(each, needed));
    }
    if (!other) {
        return Opinion::give;
    }
    asked_again_ = true;
    taken_ = std::make_unique<Answer>(std::move(answer));
    taken_->upstream = upstream;
    return Opinion::ask_another;
}

SecondOpinion::Opinion SecondOpinion::judge_unknown_block() {
    return std::exchange(asked_again_, true) ? Opinion::give : Opinion::ask_another;
}

void SecondOpinion::take_over(Answer said) {
    asked_again_ = true;
    taken_ = std::make_unique<Answer>(std::move(said));
    ask_by_number(chain_.floor.number(chain_.pool.snapshots().get()->fall_backs));
}

// Once: attempts under way hold the params.
void SecondOpinion::ask_by_number(std::uint64_t floor) {
    const bool whole = plan_.head_call == HeadCall::whole_block;
    if ((!whole && plan_.head_call != HeadCall::block) || floor == 0 || by_number_ != 0 ||
        chain_.floor.kept(plan_.head_call, floor)) {
        return;
    }
    by_number_ = floor;
    by_number_params_ = R"([")" + core::to_quantity(floor) + (whole ? R"(",true])" : R"(",false])");
}

std::string_view SecondOpinion::params(std::string_view own) const {
    return asks_by_number() ? std::string_view(by_number_params_) : own;
}

std::optional<Answer> SecondOpinion::last_resort() {
    std::optional<Answer> allowed =
        taken_number_ != 0 || head_refused_ ? oldest_allowed() : std::nullopt;
    if (!allowed && taken_) {
        allowed = std::move(*taken_);
        taken_.reset();
    }
    return allowed;
}

// What was given out before, once more.
std::optional<Answer> SecondOpinion::oldest_allowed() const {
    const auto pool = chain_.pool.snapshots().get();
    const std::uint64_t floor = chain_.floor.number(pool->fall_backs);
    std::optional<std::string> json;
    if (plan_.head_call != HeadCall::number) {
        json = chain_.floor.kept(plan_.head_call, floor);
    } else if (const std::uint64_t number = std::max(floor, pool->head ? pool->head->number : 0);
               number != 0) {
        if (!pool->provisional) {
            chain_.floor.raise(number, pool->fall_backs);  // the head may be newer than was told
        }
        json = '"' + core::to_quantity(number) + '"';
    }
    return json ? std::optional(Answer::own_result(std::move(*json))) : std::nullopt;
}

routing::BlockNeed SecondOpinion::need() const {
    if (asks_by_number()) {
        return {.kind = BlockNeed::Kind::number, .number = by_number_};
    }
    const bool at_head = asked_again_ && plan_.block.kind != BlockNeed::Kind::number;
    return at_head ? BlockNeed{.kind = BlockNeed::Kind::latest} : plan_.block;
}

std::uint64_t SecondOpinion::served(const routing::RoutingSnapshot& pool) const {
    return need().kind == BlockNeed::Kind::latest ? chain_.floor.number(pool.fall_backs) : 0;
}

}  // namespace weir::proxy
