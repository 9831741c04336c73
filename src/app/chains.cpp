#include "app/chains.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace weir::app {
namespace {

telemetry::ChainNames names_of(const config::Chain& chain) {
    telemetry::ChainNames names{chain.name, {}};
    for (const config::Upstream& upstream : chain.upstreams) {
        names.upstreams.push_back(upstream.name);
    }
    return names;
}

std::vector<std::shared_ptr<proxy::ChainContext>> contexts_of(
    const std::vector<std::shared_ptr<Chains::Chain>>& chains);

}  // namespace

struct Chains::Chain {
    std::shared_ptr<proxy::ChainContext> context;
    std::shared_ptr<upstream::Pool> pool;
    upstream::Destinations destinations;
    std::shared_ptr<const routing::ProviderBook> providers;
    std::unique_ptr<upstream::Poller> poller;
};

namespace {

std::vector<std::shared_ptr<proxy::ChainContext>> contexts_of(
    const std::vector<std::shared_ptr<Chains::Chain>>& chains) {
    std::vector<std::shared_ptr<proxy::ChainContext>> contexts;
    for (const std::shared_ptr<Chains::Chain>& chain : chains) {
        contexts.push_back(chain->context);
    }
    return contexts;
}

}  // namespace

Chains::Chains(const runtime::Clock& clock, telemetry::Metrics& metrics, telemetry::Log& log)
    : clock_(clock), metrics_(metrics), log_(log) {}

Chains::~Chains() = default;

core::Result<void> Chains::open(const config::Config& config) {
    auto destinations = upstream::make_destinations(config.chains);
    if (!destinations) {
        return destinations.error();
    }
    providers_ = std::make_shared<const routing::ProviderBook>(config.providers);
    for (std::size_t i = 0; i < config.chains.size(); ++i) {
        chains_.push_back(make(config.chains[i], std::move((*destinations)[i]), providers_));
    }
    serve(config);
    return {};
}

void Chains::serve(const config::Config& config) {
    serving_.publish(std::make_shared<const proxy::Serving>(
        config, contexts_of(chains_), clients_.clients_of(config, metrics_, clock_.now())));
}

void Chains::start(runtime::Worker& worker, upstream::Transport& transport) {
    worker_ = &worker;
    transport_ = &transport;
    retiring_ = std::make_unique<runtime::TaskGroup>(worker.io);
    stopping_ = std::make_unique<runtime::Event>(worker.io);
    for (const std::shared_ptr<Chain>& chain : chains_) {
        poll(*chain);
    }
}

void Chains::poll(Chain& chain) {
    chain.poller = std::make_unique<upstream::Poller>(
        *worker_, *transport_, std::vector{chain.pool.get()}, *chain.providers,
        upstream::PollPace{}, chain.context->index);
    chain.poller->start();
}

std::shared_ptr<Chains::Chain> Chains::make(const config::Chain& config,
                                            upstream::Destinations destinations,
                                            const Providers& providers) {
    auto chain = std::make_shared<Chain>();
    chain->providers = providers;
    chain->pool = std::make_shared<upstream::Pool>(config, clock_.now(), *providers);
    proxy::ChainIdentity identity{.chain = next_id_++, .upstreams = {}};
    for (std::size_t i = 0; i < config.upstreams.size(); ++i) {
        identity.upstreams.push_back(next_id_++);
    }
    chain->context = std::make_shared<proxy::ChainContext>(
        proxy::ChainContext::Parts{.index = next_index_++,
                                   .identity = std::move(identity),
                                   .pool = chain->pool,
                                   .providers = providers,
                                   .meter = metrics_.bind(names_of(config))});
    table_.put(chain->context->index, destinations);
    chain->destinations = std::move(destinations);
    tell_disagreements(*chain->context);
    return chain;
}

std::shared_ptr<Chains::Chain> Chains::succeed(const Chain& before,
                                               const config::ChainChange& change,
                                               const config::Chain& config,
                                               upstream::Destinations destinations,
                                               const Providers& providers) {
    auto chain = std::make_shared<Chain>();
    chain->providers = providers;
    chain->pool = std::make_shared<upstream::Pool>(
        config, clock_.now(), *providers,
        upstream::Pool::Succession{.before = *before.pool, .places = change.upstreams});
    proxy::ChainIdentity identity{.chain = before.context->identity.chain, .upstreams = {}};
    for (const std::optional<std::size_t>& place : change.upstreams) {
        identity.upstreams.push_back(place ? before.context->id_of(*place) : next_id_++);
    }
    chain->context = std::make_shared<proxy::ChainContext>(
        proxy::ChainContext::Parts{.index = next_index_++,
                                   .identity = std::move(identity),
                                   .pool = chain->pool,
                                   .providers = providers,
                                   .memory = before.context->memory(),
                                   .meter = metrics_.bind(names_of(config))});
    const std::size_t writes = before.context->write_upstream;
    if (writes < before.context->config.upstreams.size()) {
        const auto kept = chain->context->place_of(before.context->id_of(writes));
        chain->context->write_upstream = kept.value_or(routing::kMaxUpstreams);
    }
    table_.put(chain->context->index, destinations);
    chain->destinations = std::move(destinations);
    tell_disagreements(*chain->context);
    return chain;
}

core::Result<Chains::Staged> Chains::stage(const config::Config& before,
                                           const config::Config& after,
                                           const config::Difference& difference) {
    upstream::Destinations known;
    for (const std::shared_ptr<Chain>& chain : chains_) {
        known.insert(known.end(), chain->destinations.begin(), chain->destinations.end());
    }
    auto destinations = upstream::make_destinations(after.chains, known);
    if (!destinations) {
        return destinations.error();
    }
    Staged staged;
    staged.providers = before.providers == after.providers
                           ? providers_
                           : std::make_shared<const routing::ProviderBook>(after.providers);
    for (std::size_t i = 0; i < after.chains.size(); ++i) {
        const config::ChainChange& change = difference.chains[i];
        upstream::Destinations& of_chain = (*destinations)[i];
        if (!change.before) {
            staged.chains.push_back(make(after.chains[i], std::move(of_chain), staged.providers));
            continue;
        }
        const std::shared_ptr<Chain>& old = chains_[*change.before];
        // A file of certificates may have changed though the configuration has not.
        const bool same = change.same && of_chain == old->destinations;
        staged.chains.push_back(
            same ? old
                 : succeed(*old, change, after.chains[i], std::move(of_chain), staged.providers));
    }
    for (const std::shared_ptr<Chain>& chain : staged.chains) {
        if (!chain->poller) {
            poll(*chain);
        }
    }
    return staged;
}

std::vector<std::string> Chains::lost(const Staged& staged) const {
    std::vector<std::string> lost;
    for (const std::shared_ptr<Chain>& next : staged.chains) {
        const auto before = std::find_if(chains_.begin(), chains_.end(), [&](const auto& each) {
            return each->context->identity.chain == next->context->identity.chain;
        });
        if (before != chains_.end() && (*before)->pool->is_fit_now() && !next->pool->is_fit_now()) {
            lost.push_back(next->context->config.name);
        }
    }
    return lost;
}

void Chains::adopt(Staged staged, const config::Config& config) {
    providers_ = std::move(staged.providers);
    const std::vector<std::shared_ptr<Chain>> before =
        std::exchange(chains_, std::move(staged.chains));
    serve(config);
    retire_all_but(chains_, before);
}

void Chains::discard(Staged staged) { retire_all_but(chains_, staged.chains); }

void Chains::retire_all_but(const std::vector<std::shared_ptr<Chain>>& kept,
                            const std::vector<std::shared_ptr<Chain>>& old) {
    for (const std::shared_ptr<Chain>& chain : old) {
        if (std::find(kept.begin(), kept.end(), chain) == kept.end()) {
            retiring_->spawn(retire(chain));
        }
    }
}

// Requests that began with the chain hold it; what they have posted to their event loops is over
// long before it is given up.
runtime::Task<> Chains::retire(std::shared_ptr<Chain> chain) {
    constexpr core::Duration kLook = std::chrono::seconds(1);
    constexpr int kLooks = 3;
    co_await chain->poller->stop();
    chain->poller.reset();
    for (int unused = 0; unused < kLooks;) {
        const core::TimePoint next = clock_.now() + kLook;
        const bool over = co_await stopping_->wait_until(next);
        if (over) {
            co_return;
        }
        unused = chain->context.use_count() == 1 ? unused + 1 : 0;
    }
    table_.drop(chain->context->index);
}

runtime::Task<> Chains::stop() {
    stopping_->set();
    for (const std::shared_ptr<Chain>& chain : chains_) {
        if (chain->poller) {
            co_await chain->poller->stop();
            chain->poller.reset();
        }
    }
    co_await retiring_->join();
    // They live on the worker, which ends before this.
    retiring_.reset();
    stopping_.reset();
}

// Each is logged and counted once.
void Chains::tell_disagreements(const proxy::ChainContext& chain) {
    chain.pool.on_disagreement([this, &chain](const chain::Disagreement& each) {
        const config::Chain& of = chain.config;
        using Number = decltype(telemetry::Field::value);
        const auto kind = chain::to_string(each.kind);
        chain.meter.disagreement(kind);
        const bool grave = each.kind == chain::DisagreementKind::wrong_network ||
                           each.kind == chain::DisagreementKind::implausible_head ||
                           each.kind == chain::DisagreementKind::transaction_hash;
        log_.write(
            grave ? config::LogLevel::warn : config::LogLevel::info, "upstreams disagree",
            {{"chain", of.name},
             {"kind", kind},
             {"upstream", of.upstreams[each.upstream].name},
             {"number", chain::names_block(each) ? Number(each.block.number)
                                                 : Number(telemetry::Json{"null"})},
             {"hash", each.block.hash},
             {"other_upstream", each.other ? std::string_view(of.upstreams[*each.other].name) : ""},
             {"other_hash", each.other_hash},
             {"detail", each.detail}});
    });
}

}  // namespace weir::app
