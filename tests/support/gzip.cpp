#include "support/gzip.hpp"

#include <zlib.h>

#include <stdexcept>

namespace weir::test {
namespace {

std::string deflate_with(std::string_view text, int window) {
    z_stream z{};
    if (deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::runtime_error("deflateInit2");
    }
    std::string packed(deflateBound(&z, text.size()), '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(packed.data());
    z.avail_out = static_cast<uInt>(packed.size());
    const int result = deflate(&z, Z_FINISH);
    packed.resize(z.total_out);
    deflateEnd(&z);
    if (result != Z_STREAM_END) {
        throw std::runtime_error("deflate");
    }
    return packed;
}

}  // namespace

std::string gzip(std::string_view text) { return deflate_with(text, 16 + MAX_WBITS); }
std::string zlib(std::string_view text) { return deflate_with(text, MAX_WBITS); }

}  // namespace weir::test
