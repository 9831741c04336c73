#include "upstream/reply_body.hpp"

#include <algorithm>
#include <utility>

namespace weir::upstream {
namespace {

constexpr std::string_view kTooLarge = "the reply is larger than the limit";

}  // namespace

ReplyBody::ReplyBody(const ReplyHead& head, std::size_t max_size, runtime::Buffer rest)
    : framing_(head.framing),
      plain_(head.framing != Framing::chunked && head.coding == Coding::identity),
      left_(head.framing == Framing::length ? head.length : max_size),
      room_(max_size),
      raw_(std::move(rest)),
      behind_(raw_.bytes()) {
    if (head.framing == Framing::none) {
        plain_ = true;
        left_ = 0;
    } else if (head.framing == Framing::length && head.length > max_size) {
        problem_ = kTooLarge;
    } else if (head.coding != Coding::identity) {
        inflater_.emplace(head.coding == Coding::gzip ? Inflater::Format::gzip
                                                      : Inflater::Format::zlib);
    }
}

ReplyBody::Step ReplyBody::bad(std::string_view problem) {
    problem_ = problem;
    return Step::bad;
}

std::size_t ReplyBody::wanted() const {
    // One byte more than is owed: a read that does not fill its room is known to have emptied the
    // socket, and bytes that nobody asked for show at once.
    constexpr std::uint64_t kMost = 256 * 1024;
    return plain_ && framing_ == Framing::length
               ? static_cast<std::size_t>(std::min(left_ + 1, kMost))
               : runtime::BufferPool::kBlock;
}

void ReplyBody::received(runtime::Buffer& out, std::size_t fresh) {
    if (!plain_) {
        behind_ = raw_.bytes();
        return;
    }
    if (fresh > left_) {
        const auto extra = static_cast<std::size_t>(fresh - left_);
        out.truncate(out.size() - extra);
        surplus_ = true;
        left_ = 0;
        if (framing_ == Framing::until_close) {
            problem_ = kTooLarge;
        }
        return;
    }
    left_ -= fresh;
}

ReplyBody::Step ReplyBody::take(runtime::Buffer& out, std::size_t limit) {
    if (!problem_.empty()) {
        return Step::bad;
    }
    return plain_ ? take_plain(out, limit) : take_coded(out, limit);
}

ReplyBody::Step ReplyBody::take_plain(runtime::Buffer& out, std::size_t limit) {
    if (!raw_.empty()) {
        if (out.empty()) {
            std::swap(out, raw_);
            raw_.clear();
        } else if (!out.append(raw_.bytes())) {
            return Step::no_memory;
        }
        const std::size_t fresh = behind_.size();
        raw_.reset();
        received(out, fresh);
        if (!problem_.empty()) {
            return Step::bad;
        }
    }
    if (left_ == 0 && framing_ != Framing::until_close) {
        return Step::end;
    }
    if (ended_) {
        return Step::end;
    }
    return out.size() >= limit ? Step::full : Step::more;
}

// Makes `payload_` the next bytes that only the content coding, if any, is on. False when there
// are none.
bool ReplyBody::next_payload() {
    if (framing_ == Framing::chunked) {
        const ChunkedDecoder::Step step = chunks_.next(behind_, payload_);
        ended_ = step == ChunkedDecoder::Step::end;
        if (step == ChunkedDecoder::Step::bad) {
            problem_ = "the reply's chunks are malformed";
        }
        if (step != ChunkedDecoder::Step::data) {
            return false;
        }
    } else {
        const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(
            behind_.size(), framing_ == Framing::length ? left_ : behind_.size()));
        payload_ = behind_.substr(0, piece);
        behind_.remove_prefix(piece);
    }
    if (payload_.size() > left_) {
        problem_ = kTooLarge;
        return false;
    }
    left_ -= payload_.size();
    if (framing_ == Framing::length) {
        ended_ = left_ == 0;
    }
    return !payload_.empty();
}

ReplyBody::Step ReplyBody::take_coded(runtime::Buffer& out, std::size_t limit) {
    for (;;) {
        if (!payload_.empty() || (inflater_ && inflater_->has_more_output())) {
            const Step step = emit(out, limit);
            if (step != Step::more) {
                return step;
            }
        }
        if (ended_ && framing_ != Framing::until_close) {
            break;
        }
        if (!next_payload()) {
            if (!problem_.empty()) {
                return Step::bad;
            }
            break;
        }
    }
    raw_.consume(raw_.size() - behind_.size());
    return ended_ ? check_end() : Step::more;
}

// Brings `payload_` into `out`: `more` when it is used up.
ReplyBody::Step ReplyBody::emit(runtime::Buffer& out, std::size_t limit) {
    while (!payload_.empty() || (inflater_ && inflater_->has_more_output())) {
        if (out.size() >= limit) {
            return Step::full;
        }
        const std::size_t wanted = std::min(limit - out.size(), runtime::BufferPool::kBlock);
        if (!inflater_) {
            const std::string_view piece = payload_.substr(0, wanted);
            if (!out.append(piece)) {
                return Step::no_memory;
            }
            payload_.remove_prefix(piece.size());
            continue;  // never over the limit: what comes out is what was sent
        }
        if (!out.reserve(wanted)) {
            return Step::no_memory;
        }
        const std::size_t written = inflater_->step(payload_, out.room().first(wanted));
        out.commit(written);
        if (!inflater_->good()) {
            return bad("the reply's compressed body is malformed");
        }
        if (written > room_) {
            return bad(kTooLarge);
        }
        room_ -= written;
    }
    return Step::more;
}

ReplyBody::Step ReplyBody::check_end() {
    if (inflater_ && !inflater_->at_end()) {
        return bad("the reply's compressed body breaks off");
    }
    return Step::end;
}

ReplyBody::Step ReplyBody::finish() {
    if (framing_ != Framing::until_close) {
        return bad("the reply breaks off");
    }
    ended_ = true;
    return check_end();
}

}  // namespace weir::upstream
