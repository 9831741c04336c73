#include "telemetry/counters.hpp"

#include <algorithm>
#include <utility>

namespace weir::telemetry {

ChainMeter::ChainMeter() = default;
ChainMeter::ChainMeter(std::unique_ptr<const Handles> handles) : handles_(std::move(handles)) {}
ChainMeter::~ChainMeter() = default;
ChainMeter::ChainMeter(ChainMeter&&) noexcept = default;

void ChainMeter::call(std::size_t method, std::size_t outcome) const {
    if (!handles_ || outcome >= handles_->layout.outcomes.size()) {
        return;
    }
    const std::size_t known = method < handles_->layout.methods.size() ? method : 0;
    add(handles_->chain.calls[known * handles_->layout.outcomes.size() + outcome]);
}

void ChainMeter::request(TimeClass time_class, core::Duration duration) const {
    if (handles_) {
        handles_->chain.duration.at(static_cast<std::size_t>(time_class)).observe(duration);
    }
}

void ChainMeter::attempt(std::size_t upstream, std::size_t cause, core::Duration duration) const {
    if (!handles_ || upstream >= handles_->upstreams.size()) {
        return;
    }
    UpstreamCounters& of_upstream = *handles_->upstreams[upstream];
    if (cause < of_upstream.attempts.size()) {
        add(of_upstream.attempts[cause]);
        of_upstream.duration.observe(duration);
    }
}

void ChainMeter::rate_limited(Scope scope) const {
    if (handles_) {
        add(handles_->chain.rate_limited.at(static_cast<std::size_t>(scope)));
    }
}

void ChainMeter::write(std::string_view outcome) const {
    const auto* const known = std::find(kWriteOutcomes.begin(), kWriteOutcomes.end(), outcome);
    if (handles_ && known != kWriteOutcomes.end()) {
        add(handles_->chain.writes.at(static_cast<std::size_t>(known - kWriteOutcomes.begin())));
    }
}

void ChainMeter::disagreement(std::string_view kind) const {
    if (handles_) {
        add(handles_->chain.disagreements.at(place_of(kDisagreements, kind)));
    }
}

void ChainMeter::units(std::size_t upstream, std::uint64_t units) const {
    if (handles_ && upstream < handles_->upstreams.size()) {
        add(handles_->upstreams[upstream]->units, units);
    }
}

void ClientMeter::call(std::size_t outcome) const {
    if (counters_ != nullptr && outcome < counters_->calls.size()) {
        add(counters_->calls[outcome]);
    }
}

void ClientMeter::units(std::uint64_t units) const {
    if (counters_ != nullptr) {
        add(counters_->units, units);
    }
}

}  // namespace weir::telemetry
