#include "routing/batch_plan.hpp"

#include "routing/score.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace weir::routing {
namespace {

// A sequence of random numbers from one.
class Draws {
  public:
    explicit Draws(std::uint64_t seed) : state_(seed) {}

    // 0 or more, below 1.
    double next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1.0p-53;
    }

  private:
    std::uint64_t state_;
};

std::size_t size_with_a_place(const BatchRoom& room) {
    const std::size_t most = std::min(room.most, room.calls);
    return most >= 2 ? most : 0;
}

std::size_t array_size(const BatchRoom& room) {
    return room.messages > 0 ? size_with_a_place(room) : 0;
}

// Those that only lack a place in flight.
Tried full_ones(const Tried& fit, const std::vector<BatchRoom>& rooms) {
    Tried full;
    for (UpstreamIndex i = 0; i < rooms.size(); ++i) {
        full.set(i, fit.test(i) && rooms[i].messages == 0 && size_with_a_place(rooms[i]) != 0);
    }
    return full;
}

double chance_of(const UpstreamView& upstream) {
    return draw_weight(upstream.weight, upstream.score, upstream.trickle) *
           preference(upstream.score);
}

// Who gets the next array of up to `left` calls. Those that take all of them come first; else large
// arrays are likelier, since each message costs.
std::optional<UpstreamIndex> draw(const RoutingSnapshot& pool, const Tried& fit,
                                  const std::vector<BatchRoom>& rooms, std::size_t left,
                                  Draws& draws) {
    std::array<double, kMaxUpstreams> chances{};
    const std::size_t count = std::min(pool.upstreams.size(), rooms.size());
    bool any_whole = false;
    for (UpstreamIndex i = 0; i < count; ++i) {
        any_whole = any_whole || (fit.test(i) && array_size(rooms[i]) >= left);
    }
    double total = 0;
    for (UpstreamIndex i = 0; i < count; ++i) {
        const std::size_t size = fit.test(i) ? array_size(rooms[i]) : 0;
        if (size >= (any_whole ? left : 2)) {
            chances[i] = chance_of(pool.upstreams[i]) * static_cast<double>(any_whole ? 1 : size);
            total += chances[i];
        }
    }
    double point = draws.next() * total;
    std::optional<UpstreamIndex> last;
    for (UpstreamIndex i = 0; i < count; ++i) {
        if (chances[i] > 0) {
            last = i;
            if (point < chances[i]) {
                break;
            }
            point -= chances[i];
        }
    }
    return last;
}

}  // namespace

BatchPlan plan_batch(const RoutingSnapshot& pool, std::span<const BatchKind> kinds,
                     std::vector<BatchRoom> rooms, std::uint64_t seed) {
    BatchPlan plan;
    Draws draws(seed);
    for (const BatchKind& kind : kinds) {
        auto next = kind.places.begin();
        while (next != kind.places.end()) {
            const auto left = static_cast<std::size_t>(kind.places.end() - next);
            const auto upstream =
                left < 2 ? std::nullopt : draw(pool, kind.fit, rooms, left, draws);
            if (!upstream) {
                const Tried full = left < 2 ? Tried() : full_ones(kind.fit, rooms);
                if (full.any()) {
                    plan.waiting.push_back({full, {next, kind.places.end()}});
                } else {
                    plan.alone.insert(plan.alone.end(), next, kind.places.end());
                }
                break;
            }
            BatchRoom& room = rooms[*upstream];
            const std::size_t size = std::min(array_size(room), left);
            const auto end = next + static_cast<std::ptrdiff_t>(size);
            plan.groups.push_back({*upstream, {next, end}});
            room.calls -= size;
            next = end;
        }
    }
    return plan;
}

}  // namespace weir::routing
