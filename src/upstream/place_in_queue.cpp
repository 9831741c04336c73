#include "upstream/place_in_queue.hpp"

#include "runtime/event.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace weir::upstream {

// What the pool tells comes by way of the worker's event loop, perhaps after the place is gone.
class PlaceInQueue::Entry final : public Waiter, public std::enable_shared_from_this<Entry> {
  public:
    Entry(boost::asio::io_context& io, const Turn& turn) : Waiter(turn), wake(io), io_(io) {}

    void on_turn(routing::UpstreamIndex upstream, Permit permit) override {
        boost::asio::post(
            io_, [self = shared_from_this(), upstream, permit = std::move(permit)]() mutable {
                self->granted.emplace(Granted{upstream, std::move(permit)});
                self->wake.set();
            });
    }

    void on_first(core::TimePoint when) override {
        boost::asio::post(io_, [self = shared_from_this(), when] {
            self->run_at = when;
            self->wake.set();
        });
    }

    // The worker's own.
    std::optional<Granted> granted;
    core::TimePoint run_at = core::TimePoint::max();
    bool leaving = false;
    runtime::Event wake;

  private:
    boost::asio::io_context& io_;
};

PlaceInQueue::PlaceInQueue(runtime::Worker& worker, Pool& pool, const Turn& turn)
    : worker_(worker), pool_(pool), entry_(std::make_shared<Entry>(worker.io, turn)) {}

PlaceInQueue::~PlaceInQueue() { pool_.leave(*entry_, worker_.clock.now()); }

void PlaceInQueue::leave() {
    entry_->leaving = true;
    entry_->wake.set();
}

runtime::Task<Waited> PlaceInQueue::wait(core::TimePoint until) {
    Entry& entry = *entry_;
    const Pool::Joined joined = pool_.join(entry_, until, worker_.clock.now());
    if (joined != Pool::Joined::yes) {
        co_return Waited{
            joined == Pool::Joined::full ? WaitEnd::full : WaitEnd::too_late, {}, entry.obstacle};
    }
    bool queued = true;
    for (;;) {
        const core::TimePoint now = worker_.clock.now();
        if (entry.granted) {
            // A turn that comes after all is given back by whoever destroys it.
            co_return Waited{WaitEnd::turn, std::move(entry.granted), entry.obstacle};
        }
        if (queued && (entry.leaving || now >= until)) {
            queued = !pool_.leave(entry, now);
            if (!queued) {
                co_return Waited{
                    entry.leaving ? WaitEnd::left : WaitEnd::too_late, {}, entry.obstacle};
            }
            queued = false;  // its turn has come and is on its way here
        }
        if (now >= entry.run_at) {
            entry.run_at = core::TimePoint::max();
            pool_.run_queue(now);
        }
        entry.wake.reset();
        const core::TimePoint next =
            queued ? std::min(until, entry.run_at) : core::TimePoint::max();
        const bool woken = co_await entry.wake.wait_until(next);
        static_cast<void>(woken);
    }
}

}  // namespace weir::upstream
