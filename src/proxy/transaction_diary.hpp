// Writes down what happens to one transaction, while it happens, in its record.
#pragma once

#include "proxy/call_runner.hpp"
#include "proxy/transaction_lookup.hpp"
#include "proxy/transaction_records.hpp"
#include "proxy/write_operation.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy {

class TransactionDiary final : public SendListener, public LookupListener {
  public:
    // The references must outlive it.
    TransactionDiary(const RequestScope& scope, std::string hash)
        : scope_(scope), hash_(std::move(hash)) {}

    const std::string& hash() const { return hash_; }

    // The record that this request has; before anything else.
    void open(TransactionRecords::Ticket record) { record_ = std::move(record); }
    const TransactionRecords::Ticket& record() const { return record_; }

    void note(std::string_view event, std::optional<routing::UpstreamIndex> upstream = std::nullopt,
              std::optional<routing::Cause> cause = std::nullopt);

    // The last word: into the record, the metrics and the log; wakes the requests that joined.
    void settle(WriteEnd end);

    // An upstream calls the transaction something else: a disagreement.
    void note_other_hash(routing::UpstreamIndex upstream, std::string_view said);

    void on_send(routing::UpstreamIndex upstream) override;
    void on_outcome(routing::UpstreamIndex upstream, const Judged& judged) override;
    void on_look(routing::UpstreamIndex upstream, Heard heard, routing::Cause cause) override;

  private:
    std::string name_of(std::optional<routing::UpstreamIndex> upstream) const;

    const RequestScope& scope_;
    const std::string hash_;
    TransactionRecords::Ticket record_;
};

}  // namespace weir::proxy
