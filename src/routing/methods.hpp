// What is known of each JSON-RPC method: a table, looked up by name. A method that is not in it is
// the ordinary case: unknown, so taken for a write and sent once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::routing {

enum class Access : std::uint8_t {
    read,         // may be asked again and elsewhere
    write,        // sent to one upstream, once; every unknown method is one
    broadcast,    // a write whose transaction hash can be computed
    make_filter,  // may be tried elsewhere; the filter stays with the upstream that made it
    poll_filter,  // to the filter's upstream, once: an answer that is lost is gone
    read_filter,  // to the filter's upstream, may be repeated
    subscribe,    // needs a connection that stays; refused over HTTP
    local,        // answered from what the gateway knows
};

// `slow`: logs, traces, proofs, simulations; has its own deadline and its own circuit.
enum class TimeClass : std::uint8_t { fast, slow };

// How a call says which block it means.
enum class BlockParam : std::uint8_t {
    none,
    block,       // number, tag or EIP-1898 object at `position`; omitted means latest
    block_hash,  // a block hash at `position`
    log_filter,  // an eth_getLogs filter object at `position`
    range_end,   // newestBlock of eth_feeHistory at `position`
    head,        // none: the answer is of the newest block
    pending,     // none, but it reads the node's own pool: always the block to come
};

// How a call can name its block by its hash instead.
enum class ByHash : std::uint8_t {
    no,
    object,  // EIP-1898, in the place of the number
    method,  // as another method with the same result, MethodTraits::hash_method
    filter,  // the filter's `blockHash`, where its range is one block
};

// What a result says of the block that it is of.
enum class Names : std::uint8_t {
    nothing,
    itself,     // it is the block: `hash`
    its_block,  // `blockHash` and `blockNumber`, of the result or of each of its items
};

struct MethodTraits {
    std::string_view name;  // as spelled by the execution API; empty for the unknown method
    Access access = Access::write;
    TimeClass time_class = TimeClass::fast;
    BlockParam block_param = BlockParam::none;
    std::uint8_t block_position = 0;
    std::uint16_t cost = 20;   // relative weight in units of a provider's compute units
    std::uint16_t number = 0;  // its place in the table; 0 is every method that is not in it
    bool reads_state = false;  // accounts or storage as of its block, or runs code on them
    ByHash by_hash = ByHash::no;
    std::string_view hash_method = {};  // for ByHash::method
    std::uint8_t end_position = 0;      // where a second block may stand, of a range; 0: nowhere
    Names names = Names::nothing;
    bool null_answers = false;  // null can be the result though the block is there

    bool known() const { return !name.empty(); }
};

// Never fails: the traits of the unknown method when the name is not in the table. The reference
// lives as long as the program. Method names are case-sensitive.
const MethodTraits& find_method(std::string_view name);

// A method that is not in the table but that the operator says only reads.
const MethodTraits& configured_read();

// May a call of this kind be sent again, or elsewhere as well, without doing anything twice?
bool is_repeatable(Access access);

// A small dense number for metrics and per-method tables: 0 is the unknown method.
std::size_t method_number(const MethodTraits& traits);
constexpr std::size_t kMaxMethods = 512;  // more than method_count() will ever be
std::size_t method_count();
const MethodTraits& method_at(std::size_t number);

}  // namespace weir::routing
