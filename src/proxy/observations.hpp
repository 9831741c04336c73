// Replies that no rule knew, counted by shape and kept for the operator, who can make rules of
// them.
#pragma once

#include "core/time.hpp"
#include "routing/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace weir::proxy {

struct ObservedShape {
    std::string chain;
    std::string upstream;
    std::string provider;
    routing::Shape shape;
    std::uint64_t count = 0;
    core::WallTime first_seen;
    core::WallTime last_seen;
};

// Any thread. Bounded: where it is full, the shape that was seen longest ago makes room.
class Observations {
  public:
    static constexpr std::size_t kMost = 256;

    struct Source {
        std::string_view chain;
        std::string_view upstream;
        std::string_view provider;
    };
    void note(const Source& source, routing::Shape shape, core::WallTime now);

    // The latest first.
    std::vector<ObservedShape> list() const;

    // Shapes that had to make room.
    std::uint64_t forgotten() const;

  private:
    using Key = std::tuple<std::string, std::string, routing::Shape>;
    void make_room();

    mutable std::mutex mutex_;
    std::map<Key, ObservedShape> shapes_;
    std::uint64_t forgotten_ = 0;
};

}  // namespace weir::proxy
