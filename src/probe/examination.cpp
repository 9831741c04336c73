#include "probe/examination.hpp"

#include <algorithm>

namespace weir::probe {

using routing::Cause;

std::string_view to_string(Topic topic) {
    switch (topic) {
        case Topic::chain_id:
            return "chain id";
        case Topic::head:
            return "head";
        case Topic::finalized:
        case Topic::safe:
            return "finality";
        case Topic::version:
            return "client version";
        case Topic::batch:
            return "batch size";
        case Topic::state:
            return "depth of its state";
        case Topic::state_by_hash:
        case Topic::state_of_nowhere:
            return "state by block hash";
        case Topic::method:
            return "methods";
        case Topic::checkpoint:
            return "checkpoint";
    }
    return "";
}

bool is_passing(Cause cause) {
    switch (cause) {
        case Cause::rate_limited:
        case Cause::timeout:
        case Cause::connect_failed:
        case Cause::connection_lost:
        case Cause::bad_reply:
        case Cause::server_error:
            return true;
        default:
            return false;
    }
}

std::optional<Question> Examination::next() {
    std::optional<Question> question = again_ ? std::move(again_) : plan();
    again_.reset();
    if (question && requests_ == most_) {
        cut_short_ = true;
        return std::nullopt;
    }
    return question;
}

void Examination::hear(const Question& question, const Heard& heard) {
    ++requests_;
    ++tries_;
    pause_ = core::Duration::zero();
    if (heard.cause == Cause::rate_limited) {
        ++limited_;
        pause_ = std::clamp<core::Duration>(heard.retry_after.value_or(core::seconds(1)),
                                            core::milliseconds(100), kLongestPause);
        pause_ = std::min(pause_, kMostPauses - paused_);
        paused_ += pause_;
    }
    if (is_asked_again(question, heard)) {
        again_ = question;
        return;
    }
    tries_ = 0;
    learn(question, heard);
}

// A rate limit is waited for; an array may be more than is ever let through at once.
bool Examination::is_asked_again(const Question& question, const Heard& heard) {
    if (heard.cause == Cause::rate_limited) {
        const unsigned most = question.calls > 0 ? 2 : 3;
        return tries_ < most && pause_ > core::Duration::zero();
    }
    return is_passing(heard.cause) && tries_ < 2;
}

}  // namespace weir::probe
