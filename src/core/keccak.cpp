#include "core/keccak.hpp"

#include <crypto++/keccak.h>

namespace weir::core {

Hash256 keccak256(std::string_view bytes) {
    CryptoPP::Keccak_256 hash;
    // A library of bytes meets one of characters.
    hash.Update(reinterpret_cast<const CryptoPP::byte*>(bytes.data()), bytes.size());
    Hash256 digest{};
    hash.Final(digest.data());
    return digest;
}

}  // namespace weir::core
