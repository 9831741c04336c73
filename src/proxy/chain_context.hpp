// What the whole process shares about one chain while it serves requests.
#pragma once

#include "config/config.hpp"
#include "proxy/head_floor.hpp"
#include "routing/policy.hpp"
#include "routing/provider_book.hpp"
#include "routing/retry_budget.hpp"
#include "routing/snapshot.hpp"
#include "upstream/pool.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
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

// One per chain, for all workers.
struct ChainContext {
    // `providers` must outlive it.
    ChainContext(std::size_t place, const config::Chain& chain, upstream::Pool& upstreams,
                 const routing::ProviderBook& providers)
        : index(place),
          config(chain),
          pool(upstreams),
          policy(chain.deny_methods, {}),
          methods(chain.read_methods) {
        for (const config::Upstream& upstream : chain.upstreams) {
            profiles.push_back(&providers.get(upstream.provider));
        }
    }

    const std::size_t index;  // place in the configuration
    const config::Chain& config;
    upstream::Pool& pool;
    const routing::MethodPolicy policy;
    const routing::MethodBook methods;
    std::vector<const routing::Profile*> profiles;  // by upstream
    NetworkVersion network_version;
    SharedRetryBudget retries;
    HeadFloor floor;
    // The upstream that takes this chain's writes and its reads of `pending`, while it is fit.
    std::atomic<std::size_t> write_upstream = routing::kMaxUpstreams;
};

}  // namespace weir::proxy
