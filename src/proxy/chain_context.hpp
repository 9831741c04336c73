// What the whole process shares about one chain while it serves requests.
#pragma once

#include "config/config.hpp"
#include "proxy/head_floor.hpp"
#include "proxy/snapshot_memory.hpp"
#include "routing/policy.hpp"
#include "routing/provider_book.hpp"
#include "routing/retry_budget.hpp"
#include "routing/snapshot.hpp"
#include "telemetry/metrics.hpp"
#include "upstream/pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::proxy {

// The answer of net_version: asked of an upstream once, then kept. Any thread.
class NetworkVersion {
  public:
    std::optional<std::string> get() const {
        const std::lock_guard lock(mutex_);
        return value_;
    }
    void keep(std::string json) {
        const std::lock_guard lock(mutex_);
        value_ = std::move(json);
    }

  private:
    mutable std::mutex mutex_;
    std::optional<std::string> value_;
};

// What reads may ask again, in all. Any thread.
class SharedRetryBudget {
  public:
    void note_calls(std::uint64_t calls, core::TimePoint now) {
        const std::lock_guard lock(mutex_);
        budget_.note_calls(calls, now);
    }
    bool has_one(core::TimePoint now) const {
        const std::lock_guard lock(mutex_);
        return budget_.has_one(now);
    }
    void take(core::TimePoint now) {
        const std::lock_guard lock(mutex_);
        budget_.take(now);
    }
    void give_back() {
        const std::lock_guard lock(mutex_);
        budget_.give_back();
    }

  private:
    mutable std::mutex mutex_;
    routing::RetryBudget budget_;
};

// What is kept of a chain from one configuration to the next.
struct ChainMemory {
    NetworkVersion network_version;
    SharedRetryBudget retries;
    HeadFloor floor;
    PinnedFloor pinned_floor;
};

// Numbers that stay with a chain, and with an upstream that is reached in the same way under the
// same name, from one configuration to the next; never used twice.
struct ChainIdentity {
    std::size_t chain = 0;
    std::vector<std::size_t> upstreams;  // by their places
};

// A chain as one configuration has it, for all workers.
class ChainContext {
    // First of all members, since others refer to them.
    const std::shared_ptr<upstream::Pool> pool_;
    const std::shared_ptr<const routing::ProviderBook> providers_;
    const std::shared_ptr<ChainMemory> memory_;

  public:
    struct Parts {
        std::size_t index = 0;
        ChainIdentity identity;
        std::shared_ptr<upstream::Pool> pool;
        std::shared_ptr<const routing::ProviderBook> providers;
        std::shared_ptr<ChainMemory> memory = std::make_shared<ChainMemory>();
        telemetry::ChainMeter meter;
    };
    explicit ChainContext(Parts parts)
        : pool_(std::move(parts.pool)),
          providers_(std::move(parts.providers)),
          memory_(std::move(parts.memory)),
          index(parts.index),
          identity(std::move(parts.identity)),
          pool(*pool_),
          config(pool.chain()),
          meter(std::move(parts.meter)),
          policy(config.deny_methods, {}),
          methods(config.read_methods),
          network_version(memory_->network_version),
          retries(memory_->retries),
          floor(memory_->floor),
          snapshots(memory_->pinned_floor) {
        for (const config::Upstream& upstream : config.upstreams) {
            profiles.push_back(&providers_->get(upstream.provider));
        }
    }

    const std::shared_ptr<ChainMemory>& memory() const { return memory_; }

    std::size_t id_of(routing::UpstreamIndex upstream) const {
        return identity.upstreams[upstream];
    }
    // Nothing for an upstream that is gone.
    std::optional<routing::UpstreamIndex> place_of(std::size_t id) const {
        const auto found = std::find(identity.upstreams.begin(), identity.upstreams.end(), id);
        return found != identity.upstreams.end()
                   ? std::optional(
                         static_cast<routing::UpstreamIndex>(found - identity.upstreams.begin()))
                   : std::nullopt;
    }

    const std::size_t index;  // what transports know it by; another one after each change of it
    const ChainIdentity identity;
    upstream::Pool& pool;
    const config::Chain& config;
    const telemetry::ChainMeter meter;
    const routing::MethodPolicy policy;
    const routing::MethodBook methods;
    std::vector<const routing::Profile*> profiles;  // by upstream
    NetworkVersion& network_version;
    SharedRetryBudget& retries;
    HeadFloor& floor;
    SnapshotMemory snapshots;
    // The upstream that takes this chain's writes and its reads of `pending`, while it is fit.
    std::atomic<std::size_t> write_upstream = routing::kMaxUpstreams;
};

}  // namespace weir::proxy
