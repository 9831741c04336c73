#include "server/disagreements_json.hpp"

#include "server/json_writer.hpp"
#include "server/timestamp.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace weir::server {
namespace {

void write_name(JsonWriter& out, const ChainDisagreements& of, std::optional<std::size_t> which) {
    if (which && *which < of.upstreams.size()) {
        out.value(of.upstreams[*which]);
    } else {
        out.null();
    }
}

void write_text(JsonWriter& out, std::string_view text) {
    if (text.empty()) {
        out.null();
    } else {
        out.value(text);
    }
}

}  // namespace

std::string disagreements_json(const std::vector<ChainDisagreements>& chains, core::TimePoint now,
                               core::WallTime wall) {
    using WallDuration = core::WallTime::duration;
    JsonWriter out;
    out.open('{');
    out.key("disagreements");
    out.open('[');
    for (const ChainDisagreements& of : chains) {
        for (const chain::Disagreement& each : of.kept) {
            out.open('{');
            out.key("at");
            out.value(timestamp(wall - std::chrono::duration_cast<WallDuration>(now - each.at)));
            out.key("chain");
            out.value(of.chain);
            out.key("kind");
            out.value(chain::to_string(each.kind));
            out.key("upstream");
            write_name(out, of, each.upstream);
            out.key("number");
            out.value(chain::names_block(each) ? std::optional(each.block.number) : std::nullopt);
            out.key("hash");
            write_text(out, each.block.hash);
            out.key("other_upstream");
            write_name(out, of, each.other);
            out.key("other_hash");
            write_text(out, each.other_hash);
            out.key("detail");
            out.value(each.detail);
            out.close('}');
        }
    }
    out.close(']');
    out.close('}');
    return out.take();
}

}  // namespace weir::server
