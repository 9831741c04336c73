#include "proxy/snapshot_record.hpp"

#include "core/hex.hpp"
#include "core/hmac.hpp"
#include "jsonrpc/value.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace weir::proxy {
namespace {

constexpr std::size_t kKeyBytes = 8;

std::string_view way_of(const ReadRecord& read) {
    if (read.at_latest) {
        return "latest";
    }
    if (!read.form) {
        return "none";
    }
    return *read.form == routing::BlockForm::hash ? "hash" : "number";
}

std::string_view outcome_of(const SnapshotRecord& record, const ReadRecord& read) {
    const bool failed =
        read.answer == nullptr || read.answer->kind() == Answer::Kind::gateway_error;
    if (record.client_gone && failed) {
        return "client_gone";
    }
    if (read.answer == nullptr) {
        return "none";
    }
    switch (read.answer->kind()) {
        case Answer::Kind::result:
        case Answer::Kind::long_result:
            return "ok";
        case Answer::Kind::rpc_error:
            return "rpc_error";
        case Answer::Kind::gateway_error:
            return traits_of(read.answer->error().type).name;
    }
    return "none";
}

// An array that answered counts as one, though it is no answer's own.
unsigned attempts_of(const ReadRecord& read) {
    const bool served = read.answer != nullptr && read.answer->upstream.has_value();
    const unsigned own =
        read.answer == nullptr ? 0 : std::max(read.answer->attempts, served ? 1U : 0U);
    return own + read.in_vain;
}

// The same for the same call, and of no use without the key.
std::string correlation(std::string_view key, const jsonrpc::Call& call) {
    std::string text(call.method);
    text += '\n';
    text += call.params;
    const core::Hash256 digest = core::hmac_sha256(key, text);
    return core::encode_data({reinterpret_cast<const char*>(digest.data()), kKeyBytes}).substr(2);
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
    out += ",\"";
    out += name;
    out += "\":";
    jsonrpc::append_string(out, text);
}

void append_number(std::string& out, std::string_view name, std::uint64_t number) {
    out += ",\"";
    out += name;
    out += "\":";
    out += std::to_string(number);
}

std::string list_of(const Services& services, const ChainContext& chain,
                    const SnapshotRecord& record) {
    std::string out = "[";
    for (const ReadRecord& read : record.reads) {
        out += out.size() > 1 ? ",{\"method\":" : "{\"method\":";
        jsonrpc::append_string(out, read.call->method);
        if (read.answer != nullptr && read.answer->upstream) {
            append_member(out, "upstream", chain.config.upstreams[*read.answer->upstream].name);
        }
        append_member(out, "by", way_of(read));
        append_member(out, "outcome", outcome_of(record, read));
        append_number(out, "attempts", attempts_of(read));
        append_number(out, "ms",
                      static_cast<std::uint64_t>(
                          std::chrono::round<std::chrono::milliseconds>(read.time).count()));
        if (!services.correlation_key.empty()) {
            append_member(out, "key", correlation(services.correlation_key, *read.call));
        }
        out += '}';
    }
    return out + ']';
}

}  // namespace

void write_record(Services& services, const ChainContext& chain, const SnapshotRecord& record) {
    if (!services.log.enabled(config::LogLevel::info)) {
        return;
    }
    const std::string reads = list_of(services, chain, record);
    std::string number = "null";
    std::string hash = "null";
    if (record.block) {
        number = std::to_string(record.block->number);
        hash = '"' + record.block->hash + '"';
    }
    services.log.write(config::LogLevel::info, "snapshot",
                       {{"request_id", record.request_id},
                        {"chain", chain.config.name},
                        {"chain_id", chain.config.chain_id},
                        {"block_number", telemetry::Json{number}},
                        {"block_hash", telemetry::Json{hash}},
                        {"began_again", record.began_again},
                        {"reads", telemetry::Json{reads}}});
}

}  // namespace weir::proxy
