// How many calls an upstream takes in one array: what is known of it at first, then what it refuses
// and takes. Not synchronized; time is a parameter.
#pragma once

#include "core/time.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace weir::routing {

class BatchLimit {
  public:
    // A refused size is not tried again before; after each trial that is refused, twice as long.
    static constexpr core::Duration kFirstClimb = std::chrono::minutes(10);
    static constexpr core::Duration kLongestClimb = std::chrono::hours(24);
    // A trial that is under way keeps others from beginning one for so long.
    static constexpr core::Duration kTrial = std::chrono::seconds(30);

    // `stated`: by the operator or the profile, 0 when nobody says; `most`: never more than that.
    BatchLimit(std::size_t stated, std::size_t most);

    // The calls that an array may hold for one who has `wanted`; below 2: no arrays. When it is
    // time, more than the limit: a trial.
    std::size_t most(std::size_t wanted, core::TimePoint now);

    // What an array of `calls` may hold that was planned by most(): no trial begins here.
    std::size_t admitted(std::size_t calls) const {
        return calls == trial_ ? calls : std::min(calls, limit_);
    }

    // An array of so many was taken before, or is said to be. Others go one at a time.
    bool is_borne_out(std::size_t calls) const { return calls <= taken_; }

    void on_taken(std::size_t calls, core::TimePoint now);
    // `named`: the limit that the refusal spoke of.
    void on_refused(std::size_t calls, std::optional<std::size_t> named, core::TimePoint now);
    // The first `answered` calls were answered, the rest left out without a word. When that happens
    // again with the same number, it is the limit.
    void on_cut(std::size_t calls, std::size_t answered, core::TimePoint now);
    // The whole array failed and nothing says why. When that happens again while single calls are
    // answered, arrays are to blame.
    void on_lost(std::size_t calls, core::TimePoint now);
    void on_single_answer() { answered_since_ = true; }

    // For people; nothing: not known.
    std::optional<std::size_t> known() const;

  private:
    void fall_to(std::size_t limit, std::size_t refused, core::TimePoint now);

    std::size_t ceiling_;
    std::size_t limit_;
    std::size_t taken_;
    bool is_stated_;
    bool has_fallen_ = false;
    core::TimePoint climb_at_{};  // while it has fallen
    core::Duration pause_ = kFirstClimb;
    std::size_t trial_ = 0;       // the size that is being tried
    std::size_t cut_before_ = 0;  // where; 0: nowhere
    bool lost_before_ = false;
    bool answered_since_ = false;
};

// The limit that a refusal of an array of `sent` names: "batch limit 100 exceeded", "Batch of more
// than 3 requests", "Exceeded max limit of 10".
std::optional<std::size_t> named_batch_limit(std::string_view text, std::size_t sent);

}  // namespace weir::routing
