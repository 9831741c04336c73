#include "proxy/pinned_block.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"
#include "proxy/attempt.hpp"
#include "proxy/block_question.hpp"
#include "routing/hash_trial.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace weir::proxy {
namespace {

using routing::UpstreamIndex;

// Who said that it lacks the block is not asked again for so long.
constexpr core::Duration kMissBelieved = std::chrono::milliseconds(10);

std::string_view advice(Unavailable reason) {
    switch (reason) {
        case Unavailable::pruned:
            return "its state is kept no more; take a newer block";
        case Unavailable::reorganised:
            return "other blocks have taken its place; begin again with a new one";
        case Unavailable::unknown:
            return "none of them knows it";
        case Unavailable::no_upstream:
            return "none that has it is fit to serve";
    }
    return "";
}

}  // namespace

std::string_view to_string(Unavailable reason) {
    switch (reason) {
        case Unavailable::pruned:
            return "pruned";
        case Unavailable::reorganised:
            return "reorganised";
        case Unavailable::unknown:
            return "unknown";
        case Unavailable::no_upstream:
            return "no_upstream";
    }
    return "";
}

GatewayError snapshot_unavailable(std::optional<std::uint64_t> number, std::string_view hash,
                                  Unavailable reason, std::string_view chain) {
    std::string name = "the block";
    if (number) {
        name = "block " + std::to_string(*number);
    }
    if (!hash.empty()) {
        name += (number ? " (" : " ") + std::string(hash) + (number ? ")" : "");
    }
    GatewayError error;
    error.type = ErrorType::snapshot_unavailable;
    error.message = name + " cannot be read from any upstream of chain " + std::string(chain) +
                    ": " + std::string(advice(reason));
    error.extra_data = R"("blockHash":)" + (hash.empty() ? "null" : '"' + std::string(hash) + '"') +
                       R"(,"blockNumber":)" +
                       (number ? '"' + core::to_quantity(*number) + '"' : "null") +
                       R"(,"reason":")" + std::string(to_string(reason)) + '"';
    return error;
}

PinnedBlock::PinnedBlock(Services& services, ChainContext& chain, const CallPlan& payer,
                         chain::BlockId block, const Surveyed& surveyed, core::TimePoint deadline)
    : services_(services),
      chain_(chain),
      payer_(payer),
      block_(std::move(block)),
      surveyed_(surveyed),
      deadline_(deadline),
      begun_(services.worker.clock.now()),
      known_(chain.config.upstreams.size()) {}

runtime::Task<> PinnedBlock::wait_for(Errand& errand) {
    runtime::Event ended(services_.worker.io);
    errand.waiting.push_back(&ended);
    co_await ended.wait();
}

void PinnedBlock::end(Errand& errand) {
    errand.running = false;
    for (runtime::Event* const waiting : std::exchange(errand.waiting, {})) {
        waiting->set();
    }
}

// By what anybody saw of it lately.
bool PinnedBlock::is_known_to_hold(UpstreamIndex upstream) const {
    const auto pool = chain_.pool.snapshots().get();
    const std::optional<chain::BlockId>& head = pool->upstreams[upstream].head;
    return (head && *head == block_) ||
           chain_.snapshots.has(upstream, block_, services_.worker.clock.now());
}

void PinnedBlock::look_up() {
    for (UpstreamIndex i = 0; i < known_.size() && !seen_; ++i) {
        seen_ = is_known_to_hold(i);
    }
}

runtime::Task<Holding> PinnedBlock::check(UpstreamIndex upstream) {
    const Known& known = known_[upstream];
    if (!known.lacks && !known.held_at && is_known_to_hold(upstream)) {
        seen_ = true;
        co_return Holding::holds;
    }
    const Holding holding = co_await check_since(upstream, begun_);
    co_return holding;
}

runtime::Task<Holding> PinnedBlock::check_since(UpstreamIndex upstream, core::TimePoint since) {
    Known& known = known_[upstream];
    for (;;) {
        if (known.lacks) {
            co_return Holding::lacks;
        }
        if (known.held_at && *known.held_at >= since) {
            co_return Holding::holds;
        }
        if (known.missed_at && *known.missed_at >= since &&
            services_.worker.clock.now() < *known.missed_at + kMissBelieved) {
            co_return Holding::lacks;
        }
        if (known.failed_at && *known.failed_at >= since) {
            co_return Holding::no_answer;
        }
        if (known.check.running) {
            co_await wait_for(known.check);
        } else {
            known.check.running = true;
            co_await ask(upstream);
            end(known.check);
        }
    }
}

// False: the budget that was charged has no room in time.
runtime::Task<bool> PinnedBlock::wait_for_turn(core::TimePoint at) {
    const core::TimePoint now = services_.worker.clock.now();
    if (at > now + chain_.config.rate_limits.max_wait || at >= deadline_) {
        co_return false;
    }
    if (at > now) {
        co_await runtime::sleep_until(services_.worker.io, at);
    }
    ++messages_;
    co_return true;
}

// What is on the upstream's chain at the block's height.
runtime::Task<> PinnedBlock::ask(UpstreamIndex upstream) {
    Known& known = known_[upstream];
    const BlockQuestion question = BlockQuestion::by_number(block_.number);
    const core::TimePoint begun = services_.worker.clock.now();
    const core::TimePoint turn =
        chain_.pool.charge(upstream, routing::find_method(question.method), begun);
    const bool paid = co_await wait_for_turn(turn);
    const core::TimePoint asked_at = services_.worker.clock.now();
    if (!paid) {
        known.failed_at = asked_at;
        known.trouble = routing::Cause::rate_limited;
        co_return;
    }
    const BlockWord word =
        co_await ask_for_block(services_, chain_, upstream, question, payer_, deadline_, nullptr);
    if (word.kind == BlockWord::Kind::no_answer) {
        known.failed_at = asked_at;
        known.trouble = word.cause;
        co_return;
    }
    if (word.kind == BlockWord::Kind::block && word.block.latest == block_) {
        known.held_at = asked_at;
        seen_ = true;
        const auto pool = chain_.pool.snapshots().get();
        const std::uint64_t head = pool->head ? pool->head->number : 0;
        chain_.snapshots.note_held(upstream, block_, head - std::min(head, block_.number),
                                   asked_at);
        co_return;
    }
    known.lacks = ++known.misses > 1;
    known.missed_at = services_.worker.clock.now();
    known.held_at.reset();
    (word.kind == BlockWord::Kind::block ? replaced_ : unknown_) = true;
    chain_.snapshots.forget(upstream, block_);
}

runtime::Task<bool> PinnedBlock::takes_hash(UpstreamIndex upstream,
                                            const routing::MethodTraits& traits) {
    if (!may_be_sent(chain_, upstream, routing::pinned_method(traits, routing::BlockForm::hash))) {
        co_return false;
    }
    const auto needs_trial = [&](const routing::HashReads& learned) {
        return learned.needs_trial(upstream, traits, services_.worker.clock.now());
    };
    Errand& trial = known_[upstream].trial;
    while (chain_.snapshots.hash_reads(needs_trial)) {
        if (trial.running) {
            co_await wait_for(trial);
        } else {
            trial.running = true;
            co_await try_hashes(upstream, traits);
            end(trial);
        }
    }
    const auto takes = [&](const routing::HashReads& learned) {
        return learned.takes(upstream, traits, services_.worker.clock.now());
    };
    co_return chain_.snapshots.hash_reads(takes);
}

// One after the other, and none more once one has brought anything but "no such block".
runtime::Task<> PinnedBlock::try_hashes(UpstreamIndex upstream,
                                        const routing::MethodTraits& traits) {
    std::optional<routing::HashReads::Trial> trial = routing::HashReads::Trial::unknown_block;
    for (std::size_t number = 0;
         number < routing::kTrials && trial == routing::HashReads::Trial::unknown_block; ++number) {
        trial = co_await try_hash(upstream, traits, number);
    }
    const auto note = [&](routing::HashReads& learned) {
        const core::TimePoint now = services_.worker.clock.now();
        if (trial) {
            learned.note_trial(upstream, traits, *trial, now);
        } else {
            learned.note_silence(upstream, now);
        }
    };
    chain_.snapshots.hash_reads(note);
}

// A question of the gateway's own: what it learns holds for all clients. Nothing: no answer came.
runtime::Task<std::optional<routing::HashReads::Trial>> PinnedBlock::try_hash(
    UpstreamIndex upstream, const routing::MethodTraits& traits, std::size_t number) {
    const core::TimePoint turn =
        chain_.pool.charge_probe(upstream, traits, services_.worker.clock.now());
    const bool paid = co_await wait_for_turn(turn);
    if (!paid) {
        co_return std::nullopt;
    }
    const std::string params = routing::trial_params(traits, number);
    const jsonrpc::Call call{.id = "0", .method = traits.name, .params = params};
    CallPlan plan;
    plan.call = &call;
    plan.traits = &traits;
    const AttemptOptions options =
        options_of_question(services_, chain_, upstream, params, deadline_);
    const Judged judged = co_await send_call(services_, chain_, plan, options);
    if (!judged.answer) {
        // Whoever takes so long is not waited for again while others may serve.
        if (judged.verdict.cause == routing::Cause::timeout && known_.size() > 1) {
            known_[upstream].failed_at = judged.at;
            known_[upstream].trouble = judged.verdict.cause;
        }
        co_return std::nullopt;
    }
    const bool result = judged.answer->kind() == Answer::Kind::result;
    const std::optional<std::string_view> said =
        result ? std::optional(judged.answer->json()) : std::nullopt;
    co_return routing::trial_of(traits, said, judged.verdict.cause);
}

void PinnedBlock::add_to(routing::Need& need) const {
    need.late = surveyed_.late;
    need.lacking = surveyed_.lacking;
    need.twin = routing::pinned_method(*need.traits, routing::BlockForm::hash);
}

routing::Tried PinnedBlock::lacking() const {
    routing::Tried lacking;
    for (UpstreamIndex i = 0; i < known_.size(); ++i) {
        lacking.set(i, known_[i].lacks);
    }
    return lacking;
}

Unavailable PinnedBlock::reason() const {
    if (pruned_) {
        return Unavailable::pruned;
    }
    if (replaced_) {
        return Unavailable::reorganised;
    }
    return unknown_ ? Unavailable::unknown : Unavailable::no_upstream;
}

routing::Cause PinnedBlock::trouble(UpstreamIndex upstream) const {
    return known_[upstream].trouble;
}

}  // namespace weir::proxy
