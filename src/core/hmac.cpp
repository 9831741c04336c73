#include "core/hmac.hpp"

#include <crypto++/hmac.h>
#include <crypto++/sha.h>

namespace weir::core {
namespace {

// A library of bytes meets one of characters.
const CryptoPP::byte* bytes_of(std::string_view text) {
    return reinterpret_cast<const CryptoPP::byte*>(text.data());
}

}  // namespace

Hash256 hmac_sha256(std::string_view key, std::string_view bytes) {
    CryptoPP::HMAC<CryptoPP::SHA256> hmac(bytes_of(key), key.size());
    hmac.Update(bytes_of(bytes), bytes.size());
    Hash256 digest{};
    hmac.Final(digest.data());
    return digest;
}

}  // namespace weir::core
