// Where a chain view's head goes: what the best candidate's word makes of it.
#include "chain/chain_view.hpp"

#include <algorithm>

namespace weir::chain {
namespace {

// On fast chains a step back may last so long: until everybody was asked again.
constexpr core::Duration kShortestStep = std::chrono::seconds(10);

}  // namespace

void ChainView::decide(const std::vector<const Member*>& counted, const Observation& observation,
                       core::TimePoint now) {
    const std::uint64_t number = observation.latest.number;
    const bool alone = rules_.upstreams > 1 && counted.size() == 1;
    confirmed_ = confirmed_ || counted.size() > 1;
    const auto reached_by_two = [&counted](std::uint64_t block) {
        return counted.size() > 1 && counted[1]->latest->latest.number >= block;
    };
    if (stepped_back_ && number >= stepped_back_->from) {
        stepped_back_.reset();
    }
    if (stepped_back_ && !is_noise(counted, number, now)) {
        fall_back(observation, now);
        corroborated_ = reached_by_two(number);
        return;
    }
    if (!head_ || number > head_->number) {
        const bool sequel = is_sequel(number, now);
        const bool for_long = now - alone_since_ >= rules_.max_lag_time;
        provisional_ = alone && (!sequel || (provisional_ && !for_long));
        confirmed_ = confirmed_ && (!alone || sequel);
        corroborated_ = reached_by_two(number);
        adopt(observation, now);
        return;
    }
    if (counted.size() > 1 && number < head_->number && !corroborated_) {
        // A head that was made up may have been told to clients meanwhile.
        fall_backs_ += head_->number - number > rules_.max_jump_blocks ? 1 : 0;
        give_way(observation, now);
        provisional_ = false;
        corroborated_ = reached_by_two(number);
        return;
    }
    corroborated_ = corroborated_ || reached_by_two(head_->number);
    provisional_ = provisional_ && alone;
    if (number == head_->number) {
        const bool held = std::any_of(counted.begin(), counted.end(), [this](const Member* m) {
            return !head_->hash.empty() && m->latest->latest == *head_;
        });
        if (!held && !observation.latest.hash.empty()) {
            set_head(observation);  // a reorganisation at the same height, or its hash at last
        }
        return;
    }
    const bool all_fell = std::all_of(counted.begin(), counted.end(), [](const Member* m) {
        return m->latest->latest.number < m->highest;
    });
    if (rules_.upstreams == 1 || all_fell) {
        stepped_back_ = stepped_back_.value_or(StepBack{head_->number, now});
        if (is_noise(counted, number, now)) {
            give_way(observation, now);
        } else {
            fall_back(observation, now);
        }
        corroborated_ = reached_by_two(number);
    } else if (now - head_at_ >= rules_.max_lag_time) {
        if (counted.front()->latest->latest.number < head_->number) {
            abandoned_ = std::max(abandoned_.value_or(0), head_->number);
        }
        give_way(observation, now);
        ++fall_backs_;
        stepped_back_.reset();
        corroborated_ = reached_by_two(number);
    }
}

// Is it what a cluster's nodes differ by? Not if the step is too long, if it lasts longer than its
// blocks take to come again, or if other blocks have come instead.
bool ChainView::is_noise(const std::vector<const Member*>& counted, std::uint64_t number,
                         core::TimePoint now) const {
    const core::Duration blocks = block_time() * static_cast<int>(Evidence::kNoise + 1);
    const core::Duration longest = std::min(std::max(blocks, kShortestStep), rules_.max_lag_time);
    return rules_.upstreams > 1 && stepped_back_->from - number <= Evidence::kNoise &&
           now - stepped_back_->at < longest &&
           std::none_of(
               counted.begin(), counted.end(), [](const Member* each) { return each->replaced; });
}

void ChainView::set_head(const Observation& observation) {
    head_ = observation.latest;
    if (!head_->hash.empty()) {
        head_block_ = head_;
    } else if (head_block_ && head_block_->number >= head_->number) {
        head_block_.reset();
    }
    block_time_.learn(observation);
}

void ChainView::adopt(const Observation& observation, core::TimePoint now) {
    set_head(observation);
    head_at_ = now;
    if (abandoned_ && head_->number >= *abandoned_) {
        abandoned_.reset();
    }
}

// The head that was believed is not borne out.
void ChainView::give_way(const Observation& observation, core::TimePoint now) {
    block_time_.forget_last();
    set_head(observation);
    head_at_ = now;
    footing_ = {head_->number, now};
}

// A development node that was reset, or a chain that was rolled back: nothing older counts.
void ChainView::fall_back(const Observation& observation, core::TimePoint now) {
    give_way(observation, now);
    ++fall_backs_;
    abandoned_.reset();
    stepped_back_.reset();
    for (Member& member : members_) {
        member.highest = member.latest ? member.latest->latest.number : 0;
    }
}

}  // namespace weir::chain
