#include "proxy/transaction_records.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::proxy {

// All members are guarded by the mutex of TransactionRecords.
class TransactionRecord {
  public:
    std::size_t chain = 0;
    std::string hash;
    std::string bytes;
    core::Duration ttl{};
    bool in_flight = true;
    WriteEnd end;
    core::TimePoint settled{};
    core::TimePoint last_event{};
    std::vector<WriteEvent> events;
    std::vector<std::function<void()>> waiting;
    std::list<std::shared_ptr<TransactionRecord>>::iterator place;

    // An estimate that is never too small by much.
    std::size_t cost() const { return bytes.size() + 1024; }
};

std::string_view to_string(WriteOutcome outcome) {
    switch (outcome) {
        case WriteOutcome::pending:
            return "pending";
        case WriteOutcome::accepted:
            return "accepted";
        case WriteOutcome::rejected:
            return "rejected";
        case WriteOutcome::unknown:
            break;
    }
    return "unknown";
}

TransactionRecords::Claim TransactionRecords::claim(std::size_t chain, const std::string& hash,
                                                    std::string_view bytes, core::Duration ttl,
                                                    core::TimePoint received, core::TimePoint now) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
        const Ticket record = *at->second;
        if (record->chain != chain || record->bytes != bytes) {
            continue;
        }
        if (record->in_flight) {
            return {Step::join, record};
        }
        const WriteOutcome outcome = record->end.outcome;
        // In the same batch, say: nobody has asked again. A rejection is never replayed: the bytes
        // go out again.
        if (received < record->settled && outcome != WriteOutcome::rejected) {
            return {Step::answer, record, record->end};
        }
        if (outcome == WriteOutcome::accepted && now < record->settled + kReplay) {
            return {Step::answer, record, record->end};
        }
        touch(record, now);
        record->in_flight = true;
        return {outcome == WriteOutcome::rejected ? Step::send : Step::look_first, record};
    }
    make_room(bytes.size(), now);
    auto record = std::make_shared<TransactionRecord>();
    record->chain = chain;
    record->hash = hash;
    record->bytes = bytes;
    record->ttl = ttl;
    record->last_event = now;
    record->place = order_.insert(order_.end(), record);
    by_hash_.emplace(hash, record->place);
    bytes_ += record->cost();
    return {Step::send, record};
}

void TransactionRecords::note(const Ticket& record, WriteEvent event) {
    const std::lock_guard lock(mutex_);
    if (record->events.size() == kMostEvents) {
        record->events.erase(record->events.begin() + kMostEvents / 2);
    }
    record->events.push_back(std::move(event));
}

void TransactionRecords::settle(const Ticket& record, WriteEnd end, core::TimePoint now) {
    std::vector<std::function<void()>> waiting;
    {
        const std::lock_guard lock(mutex_);
        record->in_flight = false;
        record->settled = now;
        record->end = std::move(end);
        touch(record, now);
        waiting.swap(record->waiting);
    }
    for (const std::function<void()>& wake : waiting) {
        wake();
    }
}

std::optional<WriteEnd> TransactionRecords::end_of(const Ticket& record,
                                                   std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    if (!record->in_flight) {
        return record->end;
    }
    record->waiting.push_back(std::move(wake));
    return std::nullopt;
}

std::optional<std::size_t> TransactionRecords::holder(std::size_t chain,
                                                      std::string_view hash) const {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = by_hash_.equal_range(std::string(hash));
    for (auto at = first; at != last; ++at) {
        const TransactionRecord& record = **at->second;
        if (record.chain == chain && record.end.upstream) {
            return record.end.upstream;
        }
    }
    return std::nullopt;
}

std::optional<TransactionRecords::View> TransactionRecords::find(std::string_view hash) const {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = by_hash_.equal_range(std::string(hash));
    const TransactionRecord* newest = nullptr;
    for (auto at = first; at != last; ++at) {
        const TransactionRecord& record = **at->second;
        if (newest == nullptr || record.last_event > newest->last_event) {
            newest = &record;
        }
    }
    if (newest == nullptr) {
        return std::nullopt;
    }
    const WriteOutcome outcome = newest->in_flight ? WriteOutcome::pending : newest->end.outcome;
    return View{newest->chain, newest->hash, outcome, newest->events};
}

std::vector<TransactionRecords::View> TransactionRecords::pending() const {
    const std::lock_guard lock(mutex_);
    std::vector<View> found;
    for (const Ticket& record : order_) {
        if (record->in_flight) {
            found.push_back({record->chain, record->hash, WriteOutcome::pending, record->events});
        }
    }
    return found;
}

std::vector<TransactionRecords::View> TransactionRecords::unknown(std::size_t most) const {
    constexpr std::size_t kMostLooks = 10'000;
    const std::lock_guard lock(mutex_);
    std::vector<View> found;
    std::size_t looks = 0;
    for (auto at = order_.rbegin(); at != order_.rend() && looks < kMostLooks; ++at, ++looks) {
        const TransactionRecord& record = **at;
        if (found.size() == most) {
            break;
        }
        if (!record.in_flight && record.end.outcome == WriteOutcome::unknown) {
            found.push_back({record.chain, record.hash, WriteOutcome::unknown, record.events});
        }
    }
    return found;
}

void TransactionRecords::note(Unnamed write) {
    write.method.resize(std::min(write.method.size(), kMostName));
    const std::lock_guard lock(mutex_);
    unnamed_.push_front(std::move(write));
    if (unnamed_.size() > kMostUnnamed) {
        unnamed_.pop_back();
    }
}

std::vector<TransactionRecords::Unnamed> TransactionRecords::unnamed(core::TimePoint now) const {
    const std::lock_guard lock(mutex_);
    std::vector<Unnamed> found;
    std::copy_if(unnamed_.begin(), unnamed_.end(), std::back_inserter(found),
                 [now](const Unnamed& write) { return now < write.until; });
    return found;
}

std::size_t TransactionRecords::size() const {
    const std::lock_guard lock(mutex_);
    return order_.size();
}

void TransactionRecords::touch(const Ticket& record, core::TimePoint now) {
    record->last_event = now;
    order_.splice(order_.end(), order_, record->place);
}

void TransactionRecords::make_room(std::size_t bytes, core::TimePoint now) {
    for (auto at = order_.begin(); at != order_.end();) {
        const Ticket record = *at;
        const bool expired = record->last_event + record->ttl <= now;
        if (!expired && bytes_ + bytes <= kMostBytes) {
            return;
        }
        ++at;
        if (record->in_flight) {
            continue;
        }
        const auto [first, last] = by_hash_.equal_range(record->hash);
        by_hash_.erase(std::find_if(
            first, last, [&](const auto& entry) { return entry.second == record->place; }));
        bytes_ -= record->cost();
        order_.erase(record->place);
    }
}

}  // namespace weir::proxy
