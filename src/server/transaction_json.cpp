#include "server/transaction_json.hpp"

#include "routing/verdict.hpp"
#include "server/json_writer.hpp"
#include "server/timestamp.hpp"

namespace weir::server {
std::string transaction_json(const proxy::TransactionRecords::View& record) {
    JsonWriter out;
    out.open('{');
    out.key("hash");
    out.value(record.hash);
    out.key("outcome");
    out.value(proxy::to_string(record.outcome));
    out.key("events");
    out.open('[');
    for (const proxy::WriteEvent& event : record.events) {
        out.open('{');
        out.key("at");
        out.value(timestamp(event.at));
        out.key("upstream");
        out.value(event.upstream);
        out.key("event");
        out.value(event.event);
        out.key("cause");
        if (event.cause) {
            out.value(routing::to_string(*event.cause));
        } else {
            out.null();
        }
        out.close('}');
    }
    out.close(']');
    out.close('}');
    return out.take();
}

}  // namespace weir::server
