#include "probe/endpoint.hpp"

#include "core/hex.hpp"
#include "jsonrpc/value.hpp"
#include "upstream/probe.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace weir::probe {
namespace {

using routing::Cause;

struct Basic {
    Topic topic;
    std::string_view method;
    std::string_view params;
};
constexpr std::array<Basic, 5> kBasics = {{
    {Topic::chain_id, "eth_chainId", "[]"},
    {Topic::head, "eth_getBlockByNumber", R"(["latest",false])"},
    {Topic::finalized, "eth_getBlockByNumber", R"(["finalized",false])"},
    {Topic::safe, "eth_getBlockByNumber", R"(["safe",false])"},
    {Topic::version, "web3_clientVersion", "[]"},
}};

// What not every node or plan has, each in its cheapest form.
struct Asked {
    std::string_view method;
    std::string_view params;
};
constexpr std::array<Asked, 10> kMethods = {{
    {"eth_getLogs", R"([{"fromBlock":"latest","toBlock":"latest",)"
                    R"("address":"0x0000000000000000000000000000000000000001"}])"},
    {"eth_feeHistory", R"(["0x1","latest",[]])"},
    {"eth_getBlockReceipts", R"(["earliest"])"},
    {"eth_getProof", R"(["0x0000000000000000000000000000000000000001",[],"latest"])"},
    {"eth_createAccessList", R"([{"to":"0x0000000000000000000000000000000000000001"},"latest"])"},
    {"eth_simulateV1", R"([{"blockStateCalls":[]},"latest"])"},
    {"eth_newBlockFilter", "[]"},
    {"txpool_status", "[]"},
    {"debug_traceCall", R"([{"to":"0x0000000000000000000000000000000000000001"},"latest",{}])"},
    {"trace_block", R"(["earliest"])"},
}};

std::string balance_at(std::string_view block) {
    return R"(["0x0000000000000000000000000000000000000001",)" + std::string(block) + "]";
}

Support support_of(const Heard& heard) {
    switch (heard.cause) {
        case Cause::answered:
        // These speak of what was asked, so the method is there.
        case Cause::reverted:
        case Cause::invalid_params:
        case Cause::state_missing:
        case Cause::block_unknown:
        case Cause::range_too_large:
        case Cause::response_too_large:
            return Support::yes;
        case Cause::method_unsupported:
            return Support::no;
        case Cause::plan_lacks_method:
            return Support::paid;
        default:
            return Support::unclear;
    }
}

}  // namespace

std::string_view to_string(Support support) {
    switch (support) {
        case Support::unasked:
            return "not asked";
        case Support::yes:
            return "yes";
        case Support::no:
            return "no";
        case Support::paid:
            return "not on this plan";
        case Support::unclear:
            return "unclear";
    }
    return "";
}

Endpoint::Endpoint() {
    for (const Asked& asked : kMethods) {
        findings_.methods.push_back({.name = std::string(asked.method), .words = {}});
    }
}

std::optional<Question> Endpoint::plan_basics() const {
    const bool silent = basics_ > 0 && !findings_.chain_id;  // the rest would be no better
    if (silent || basics_ == kBasics.size()) {
        return std::nullopt;
    }
    const Basic& basic = kBasics[basics_];
    Question question;
    question.topic = basic.topic;
    question.method = basic.method;
    question.params = basic.params;
    return question;
}

std::optional<Question> Endpoint::plan_state_by_hash() const {
    if (!findings_.head || findings_.by_hash != Support::unasked) {
        return std::nullopt;
    }
    const std::string hash = knows_hash_ ? "0x" + std::string(64, '7') : findings_.head->hash;
    Question question;
    question.topic = knows_hash_ ? Topic::state_of_nowhere : Topic::state_by_hash;
    question.method = "eth_getBalance";
    question.params = balance_at(R"({"blockHash":")" + hash + R"(","requireCanonical":true})");
    return question;
}

std::optional<Question> Endpoint::plan_method() const {
    if (methods_ == kMethods.size()) {
        return std::nullopt;
    }
    Question question;
    question.topic = Topic::method;
    question.method = kMethods[methods_].method;
    question.params = kMethods[methods_].params;
    question.argument = methods_;
    return question;
}

// The order is that of worth: an endpoint that limits its callers may not let all of it be asked.
std::optional<Question> Endpoint::plan() {
    if (auto basic = plan_basics()) {
        return basic;
    }
    if (!findings_.chain_id) {
        return std::nullopt;
    }
    if (const auto size = batch_.next()) {
        Question question;
        question.topic = Topic::batch;
        question.method = "eth_chainId";
        question.calls = *size;
        return question;
    }
    if (const auto depth = depth_ ? depth_->next() : std::nullopt) {
        Question question;
        question.topic = Topic::state;
        question.method = "eth_getBalance";
        question.params =
            balance_at('"' + core::to_quantity(findings_.head->number - *depth) + '"');
        question.argument = *depth;
        return question;
    }
    if (auto state = plan_state_by_hash()) {
        return state;
    }
    return plan_method();
}

void Endpoint::learn_chain_id(const Heard& heard) {
    findings_.chain_id = heard.answered() ? upstream::read_chain_id(heard.result) : std::nullopt;
    const bool none = findings_.chain_id == 0U;  // EIP-155 leaves 0 to nobody
    if (none) {
        findings_.chain_id.reset();
    }
    if (!findings_.chain_id) {
        findings_.trouble_cause = heard.answered() ? Cause::bad_reply : heard.cause;
        findings_.trouble = none               ? "it says chain id 0, which no chain has"
                            : heard.answered() ? "its chain id is no number"
                                               : heard.words;
    }
}

void Endpoint::learn_head(const Heard& heard) {
    const auto block = heard.answered() ? upstream::read_block(heard.result) : std::nullopt;
    if (!block) {
        return;
    }
    findings_.head = block->latest;
    findings_.head_time = block->timestamp;
    if (block->timestamp != 0 && block->timestamp < (std::uint64_t{1} << 60U)) {
        findings_.head_age =
            static_cast<std::int64_t>(heard.wall) - static_cast<std::int64_t>(block->timestamp);
    }
    depth_.emplace(block->latest.number);
}

void Endpoint::learn_tag(const Heard& heard, Support& support, std::uint64_t& behind) const {
    const auto block = heard.answered() ? upstream::read_block(heard.result) : std::nullopt;
    if (is_passing(heard.cause)) {
        support = Support::unclear;
        return;
    }
    support = block ? Support::yes : Support::no;
    if (block && findings_.head && findings_.head->number > block->latest.number) {
        behind = findings_.head->number - block->latest.number;
    }
}

// Whoever gives state for a hash that no block has did not look at it.
void Endpoint::learn_state_by_hash(const Question& question, const Heard& heard) {
    const bool given = heard.answered() && jsonrpc::is_string(heard.result);
    if (question.topic == Topic::state_by_hash) {
        if (given) {
            knows_hash_ = true;
            return;
        }
        const bool unclear = is_passing(heard.cause) || heard.cause == Cause::state_missing ||
                             heard.cause == Cause::block_unknown;
        findings_.by_hash = unclear ? Support::unclear : Support::no;
        findings_.by_hash_words = heard.words;
        return;
    }
    if (given) {
        findings_.by_hash = Support::no;
        findings_.by_hash_words = "it answers for a hash that no block has";
    } else {
        findings_.by_hash = is_passing(heard.cause) ? Support::unclear : Support::yes;
    }
}

void Endpoint::learn_latency(const Question& question, const Heard& heard) {
    if (!heard.answered() || question.calls > 0) {
        return;
    }
    if (!findings_.first_latency) {
        findings_.first_latency = heard.latency;
        return;
    }
    auto& all = findings_.latencies;
    all.insert(std::upper_bound(all.begin(), all.end(), heard.latency), heard.latency);
}

void Endpoint::learn(const Question& question, const Heard& heard) {
    learn_latency(question, heard);
    if (!heard.limits.empty()) {
        findings_.limits = heard.limits;
    }
    switch (question.topic) {
        case Topic::chain_id:
            learn_chain_id(heard);
            ++basics_;
            return;
        case Topic::head:
            learn_head(heard);
            ++basics_;
            return;
        case Topic::finalized:
            learn_tag(heard, findings_.finalized, findings_.finalized_behind);
            ++basics_;
            return;
        case Topic::safe:
            learn_tag(heard, findings_.safe, findings_.safe_behind);
            ++basics_;
            return;
        case Topic::version:
            findings_.version =
                heard.answered() ? jsonrpc::string_value(heard.result).value_or("") : "";
            ++basics_;
            return;
        case Topic::batch:
            batch_.hear(question.calls, heard);
            findings_.batch = batch_.finding();
            findings_.batch_asked = true;
            return;
        case Topic::state:
            depth_->hear(question.argument, heard);
            findings_.depth = depth_->finding();
            return;
        case Topic::state_by_hash:
        case Topic::state_of_nowhere:
            learn_state_by_hash(question, heard);
            return;
        case Topic::method: {
            MethodFinding& finding = findings_.methods[methods_++];
            finding.support = support_of(heard);
            finding.words = finding.support == Support::yes ? "" : heard.words;
            return;
        }
        case Topic::checkpoint:
            return;
    }
}

}  // namespace weir::probe
