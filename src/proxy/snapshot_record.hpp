// The one record that a pinned request leaves in the log: its block, and for each read who served
// it and how. No params and no results; a keyed hash where an operator wants to tell reads apart.
#pragma once

#include "chain/observation.hpp"
#include "core/time.hpp"
#include "jsonrpc/request.hpp"
#include "proxy/answer.hpp"
#include "proxy/chain_context.hpp"
#include "proxy/services.hpp"
#include "routing/pin.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weir::proxy {

struct ReadRecord {
    const jsonrpc::Call* call = nullptr;
    const Answer* answer = nullptr;          // null: none was made
    std::optional<routing::BlockForm> form;  // how it was asked; nothing: it never was
    bool at_latest = false;                  // given up as a read of the block
    core::Duration time{};
    unsigned in_vain = 0;  // messages beside the answer's attempts
};

struct SnapshotRecord {
    std::string_view request_id;
    std::optional<chain::BlockId> block;  // nothing: none was found
    bool began_again = false;
    bool client_gone = false;  // before its answer
    std::span<const ReadRecord> reads;
};

void write_record(Services& services, const ChainContext& chain, const SnapshotRecord& record);

}  // namespace weir::proxy
