#include "upstream/inflater.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace weir::upstream {

struct Inflater::Stream {
    z_stream z{};
    bool ready = false;

    explicit Stream(Format format) {
        const int window = format == Format::gzip ? 16 + MAX_WBITS : MAX_WBITS;
        ready = inflateInit2(&z, window) == Z_OK;
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() {
        if (ready) {
            inflateEnd(&z);
        }
    }
};

Inflater::Inflater(Format format)
    : stream_(std::make_unique<Stream>(format)), format_(format), good_(stream_->ready) {}
Inflater::~Inflater() = default;
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;

std::size_t Inflater::step(std::string_view& in, std::span<char> out) {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    z_stream& z = stream_->z;
    std::size_t written = 0;
    while (good_ && written < out.size() && (!in.empty() || held_back_)) {
        if (at_end_ && members_) {
            // gzip data may be several members, one after another; a zlib stream is one.
            if (format_ != Format::gzip || inflateReset(&z) != Z_OK) {
                good_ = false;
                break;
            }
        }
        const std::size_t offered = std::min(in.size(), kMost);
        const std::size_t room = std::min(out.size() - written, kMost);
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
        z.avail_in = static_cast<uInt>(offered);
        z.next_out = reinterpret_cast<Bytef*>(out.data() + written);
        z.avail_out = static_cast<uInt>(room);
        const int result = inflate(&z, Z_NO_FLUSH);
        in.remove_prefix(offered - z.avail_in);
        written += room - z.avail_out;
        at_end_ = result == Z_STREAM_END;
        members_ = members_ || at_end_;
        held_back_ = result == Z_OK && z.avail_out == 0;
        good_ = result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
    }
    return written;
}

}  // namespace weir::upstream
