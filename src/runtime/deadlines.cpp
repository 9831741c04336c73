#include "runtime/deadlines.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>

namespace weir::runtime {

using boost::asio::basic_waitable_timer;

struct DeadlineWheel::Timer {
    explicit Timer(boost::asio::io_context& io) : timer(io.get_executor()) {}
    basic_waitable_timer<std::chrono::steady_clock,
                         boost::asio::wait_traits<std::chrono::steady_clock>, Executor>
        timer;
};

DeadlineWheel::DeadlineWheel(boost::asio::io_context& io)
    : timer_(std::make_unique<Timer>(io)), epoch_(std::chrono::steady_clock::now()) {}

DeadlineWheel::~DeadlineWheel() = default;

// Rounded up, so that the slot's tick never comes before the deadline.
std::size_t DeadlineWheel::tick_of(core::TimePoint when) const {
    if (when <= epoch_) {
        return 0;
    }
    return static_cast<std::size_t>((when - epoch_ + kTick - core::Duration(1)) / kTick);
}

std::size_t DeadlineWheel::current_tick() const {
    return static_cast<std::size_t>((std::chrono::steady_clock::now() - epoch_) / kTick);
}

void DeadlineWheel::Entry::arm(core::TimePoint when) {
    due_ = when;
    if (tick_ != 0 && when >= wheel_.epoch_ + kTick * static_cast<long>(tick_)) {
        return;  // looked at early enough; run() moves it on
    }
    if (wheel_.linked_ == 0) {  // an empty wheel stands still
        wheel_.now_tick_ = std::max(wheel_.now_tick_, wheel_.current_tick());
    }
    const std::size_t horizon = wheel_.now_tick_ + kSlots - 1;
    const std::size_t tick = std::clamp(wheel_.tick_of(when), wheel_.now_tick_ + 1, horizon);
    const bool linked = tick_ != 0;
    if (linked && tick_ <= tick) {
        return;  // looked at early enough; run() moves it on
    }
    unlink();
    wheel_.link(*this, tick);
}

void DeadlineWheel::Entry::unlink() {
    if (tick_ == 0) {
        return;
    }
    (previous_ != nullptr ? previous_->next_ : wheel_.slots_[tick_ % kSlots]) = next_;
    if (next_ != nullptr) {
        next_->previous_ = previous_;
    }
    previous_ = next_ = nullptr;
    tick_ = 0;
    --wheel_.linked_;
}

void DeadlineWheel::link(Entry& entry, std::size_t tick) {
    Entry*& head = slots_[tick % kSlots];
    entry.next_ = head;
    if (head != nullptr) {
        head->previous_ = &entry;
    }
    head = &entry;
    entry.tick_ = tick;
    ++linked_;
    if (!sleeping_) {
        wake_at(std::min(tick, now_tick_ + kLongestNap));
    } else if (tick < wake_tick_ && !catching_up_) {
        wake_at(tick);
    }
}

void DeadlineWheel::wake_at(std::size_t tick) {
    wake_tick_ = tick;
    sleeping_ = true;
    timer_->timer.expires_at(epoch_ + kTick * static_cast<long>(tick));
    timer_->timer.async_wait([this](boost::system::error_code error) {
        if (!error) {
            run();
        }
    });
}

void DeadlineWheel::run() {
    sleeping_ = false;
    const core::TimePoint now = std::chrono::steady_clock::now();
    const std::size_t current = current_tick();
    catching_up_ = !catching_up_ && current > wake_tick_ + kStandstill;
    if (catching_up_) {
        wake_at(current + kCatchUp);
        return;
    }
    // After a long nap of an empty wheel each slot needs to be seen once only.
    std::size_t tick = std::max(now_tick_ + 1, current >= kSlots ? current - kSlots + 1 : 0);
    sleeping_ = true;  // entries armed by callbacks must not start the timer
    wake_tick_ = 0;
    for (; tick <= current; ++tick) {
        now_tick_ = tick;
        // Callbacks may arm, disarm or destroy any entry, so the slot is read anew each time.
        Entry* moved = nullptr;  // entries that belong to a later lap stay; none precede `moved`
        for (;;) {
            Entry* entry = moved != nullptr ? moved->next_ : slots_[tick % kSlots];
            if (entry == nullptr) {
                break;
            }
            if (entry->tick_ > tick) {
                moved = entry;
                continue;
            }
            const core::TimePoint due = entry->due_;
            entry->unlink();
            if (due == core::TimePoint::max()) {
                continue;  // disarmed since
            }
            if (due <= now) {
                entry->due_ = core::TimePoint::max();
                entry->on_deadline();
                moved = nullptr;
            } else {
                entry->arm(due);
            }
        }
    }
    now_tick_ = std::max(now_tick_, current);
    sleeping_ = false;
    if (linked_ != 0) {
        std::size_t next = now_tick_ + 1;
        while (next < now_tick_ + kLongestNap && slots_[next % kSlots] == nullptr) {
            ++next;
        }
        wake_at(next);
    }
}

}  // namespace weir::runtime
