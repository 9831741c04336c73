#include "probe/fitness.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"
#include "upstream/probe.hpp"

#include <algorithm>
#include <utility>

namespace weir::probe {
namespace {

using routing::Cause;

std::string with_words(std::string what, const Heard& heard) {
    return heard.words.empty() ? what : what + ": " + heard.words;
}

}  // namespace

Fitness::Fitness(const config::Chain& chain, const config::Upstream& upstream, std::string path,
                 std::size_t batch)
    : Examination(kMostRequests),
      chain_(chain),
      upstream_(upstream),
      path_(std::move(path)),
      batch_(batch) {}

void Fitness::problem(const std::string& key, std::string what) {
    problems_.push_back({path_ + "." + key, std::move(what)});
}

// How far behind the head its configuration says that it has state.
std::optional<std::uint64_t> Fitness::promised_depth() const {
    using Kind = config::History::Kind;
    if (!head_ || head_->number < 2 || upstream_.history.kind == Kind::automatic) {
        return std::nullopt;
    }
    if (upstream_.history.kind == Kind::archive) {
        return head_->number - 1;
    }
    constexpr std::uint64_t kMoving = 2;  // the head moves on meanwhile
    const std::uint64_t blocks = std::min(upstream_.history.blocks, head_->number);
    return blocks > kMoving + 1 ? std::optional(blocks - kMoving - 1) : std::nullopt;
}

Question Fitness::question_of(Topic topic) const {
    Question question;
    question.topic = topic;
    switch (topic) {
        case Topic::head:
            question.method = "eth_getBlockByNumber";
            question.params = R"(["latest",false])";
            break;
        case Topic::checkpoint:
            question.method = "eth_getBlockByNumber";
            question.params = "[\"" + core::to_quantity(chain_.checkpoint.number) + "\",false]";
            break;
        case Topic::batch:
            question.method = "eth_chainId";
            question.calls = search_ ? search_->next().value_or(batch_) : batch_;
            break;
        case Topic::state:
            question.argument = promised_depth().value_or(0);
            question.method = "eth_getBalance";
            question.params = R"(["0x0000000000000000000000000000000000000001",")" +
                              core::to_quantity(head_->number - question.argument) + "\"]";
            break;
        default:
            question.method = "eth_chainId";
            break;
    }
    return question;
}

std::optional<Question> Fitness::plan() {
    return due_.empty() ? std::nullopt : std::optional(question_of(due_.back()));
}

void Fitness::learn_chain_id(const Heard& heard) {
    if (!heard.answered()) {
        problem("url", with_words("does not answer eth_chainId (" +
                                      std::string(routing::to_string(heard.cause)) + ")",
                                  heard));
        return;
    }
    const auto id = upstream::read_chain_id(heard.result);
    if (!id) {
        problem("url", "answers eth_chainId with what is no chain id");
    } else if (*id != chain_.chain_id) {
        problem("url", "says chain id " + std::to_string(*id) + ", not " +
                           std::to_string(chain_.chain_id));
    } else {
        due_ = {Topic::head};
        if (!chain_.checkpoint.hash.empty()) {
            due_.insert(due_.begin(), Topic::checkpoint);
        }
        if (batch_ > 1) {
            due_.insert(due_.begin(), Topic::batch);
        }
    }
}

void Fitness::learn_head(const Heard& heard) {
    const auto block = heard.answered() ? upstream::read_block(heard.result) : std::nullopt;
    latency_ = heard.latency;
    if (!block) {
        problem("url", with_words("shows no latest block", heard));
        return;
    }
    head_ = block->latest;
    if (block->timestamp != 0 && block->timestamp < (std::uint64_t{1} << 60U)) {
        head_age_ =
            static_cast<std::int64_t>(heard.wall) - static_cast<std::int64_t>(block->timestamp);
    }
    if (head_age_ > kOldestHead) {
        problem("url", "its head, block " + std::to_string(head_->number) + ", is " +
                           std::to_string(head_age_ / 3600) + " hours old");
    }
    if (promised_depth()) {
        due_.insert(due_.begin(), Topic::state);
    }
}

void Fitness::learn_checkpoint(const Heard& heard) {
    const auto block = heard.answered() ? upstream::read_block(heard.result) : std::nullopt;
    if (!block) {
        problem("url", with_words("does not show the chain's checkpoint", heard));
    } else if (block->latest.hash != chain_.checkpoint.hash) {
        problem("url", "has another block at the checkpoint: " + block->latest.hash);
    }
}

// The smaller arrays that are tried after a refusal; the problem says what is known so far.
void Fitness::look_for_batch_limit(const Question& question, const Heard& heard) {
    search_->hear(question.calls, heard);
    const BatchFinding& found = search_->finding();
    const std::string takes =
        found.taken < 2 ? std::string("no arrays")
                        : std::to_string(found.taken) + (search_->next() ? " at least" : "");
    Heard refusal;
    refusal.words = refusal_words_;
    problems_[refusal_].what = with_words(
        "an array of " + std::to_string(batch_) + " calls is refused; it takes " + takes, refusal);
    if (search_->next()) {
        due_.push_back(Topic::batch);
    }
}

void Fitness::learn_batch(const Question& question, const Heard& heard) {
    if (search_) {
        return look_for_batch_limit(question, heard);
    }
    const std::string calls = "an array of " + std::to_string(batch_) + " calls";
    if (heard.answered()) {
        return;
    }
    if (heard.cause == Cause::rate_limited) {
        problem("rate", calls + " runs into a rate limit");
    } else if (is_passing(heard.cause)) {
        problem("batch.max_calls", with_words(calls + " gets no answer", heard));
    } else {
        const std::string limit =
            heard.named ? "; it takes " + std::to_string(*heard.named) : std::string();
        problem("batch.max_calls", with_words(calls + " is refused" + limit, heard));
        if (!heard.named) {
            refusal_ = problems_.size() - 1;
            refusal_words_ = heard.words;
            search_.emplace();
            look_for_batch_limit(question, heard);
        }
    }
}

void Fitness::learn_state(const Heard& heard) {
    if (!heard.answered() || !jsonrpc::is_string(heard.result)) {
        const std::uint64_t block = head_->number - promised_depth().value_or(0);
        problem("history",
                with_words("state of block " + std::to_string(block) + " is not given", heard));
    }
}

void Fitness::learn(const Question& question, const Heard& heard) {
    due_.pop_back();
    switch (question.topic) {
        case Topic::chain_id:
            return learn_chain_id(heard);
        case Topic::head:
            return learn_head(heard);
        case Topic::checkpoint:
            return learn_checkpoint(heard);
        case Topic::batch:
            return learn_batch(question, heard);
        case Topic::state:
            return learn_state(heard);
        default:
            return;
    }
}

}  // namespace weir::probe
