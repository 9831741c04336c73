// One upstream's word on one block.
#pragma once

#include "chain/observation.hpp"
#include "core/time.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/plan.hpp"
#include "proxy/services.hpp"
#include "routing/verdict.hpp"
#include "upstream/transport.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy {

struct BlockQuestion {
    std::string_view method;
    std::string params;
    std::optional<std::uint64_t> number = {};  // of the block that is asked for
    std::string hash = {};                     // likewise

    // Some nodes answer with their newest block where they have not the one that was asked for.
    bool is_about(const chain::BlockId& block) const;

    static BlockQuestion by_tag(std::string_view tag);
    static BlockQuestion by_number(std::uint64_t number);
    static BlockQuestion by_hash(std::string_view hash);
};

struct BlockWord {
    enum class Kind : std::uint8_t {
        block,
        none,  // it knows of no such block
        no_answer,
    } kind = Kind::no_answer;
    chain::Observation block = {};
    routing::Cause cause = routing::Cause::answered;  // why there is no answer
};

// Do the operator's lists let the upstream have the method? Asking for a block by its number is a
// probe, which every upstream gets.
bool may_be_sent(const ChainContext& chain, routing::UpstreamIndex upstream,
                 std::string_view method);

// Asked once, within an attempt's time, for the client of `payer`; health and metrics are told. A
// place at the upstream and its budget are the caller's affair. References must live until the task
// has ended.
runtime::Task<BlockWord> ask_for_block(Services& services, ChainContext& chain,
                                       routing::UpstreamIndex upstream,
                                       const BlockQuestion& question, const CallPlan& payer,
                                       core::TimePoint deadline,
                                       upstream::Cancellation* cancellation);

}  // namespace weir::proxy
