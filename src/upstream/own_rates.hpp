// Which clients are over their own rate: for people who look now.
#pragma once

#include "core/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace weir::upstream {

// Any thread. Counts the calls that a client's own rate turned away, in the last minute.
class OwnRates {
  public:
    static constexpr core::Duration kBeat = core::seconds(2);
    static constexpr std::size_t kBeats = 30;
    static constexpr std::size_t kLatest = 5;        // of them are now
    static constexpr std::size_t kMostClients = 64;  // the one that was quiet longest goes

    void add(std::string_view client, core::TimePoint now);

    struct Client {
        std::string name;
        std::uint64_t calls = 0;
        std::uint64_t latest = 0;  // of these, now
    };
    std::vector<Client> list(core::TimePoint now) const;  // most calls first

  private:
    struct Counts {
        std::array<std::uint64_t, kBeats> of{};
        std::int64_t last = 0;  // beat
    };
    static std::int64_t beat_of(core::TimePoint now) { return now.time_since_epoch() / kBeat; }
    static std::size_t place_of(std::int64_t beat) {
        return static_cast<std::size_t>(beat) % kBeats;
    }
    void make_room();

    mutable std::mutex mutex_;
    std::map<std::string, Counts, std::less<>> clients_;
};

}  // namespace weir::upstream
