#include "core/hmac.hpp"

#include "core/hex.hpp"
#include "support/catch.hpp"

#include <string>

using namespace weir;

namespace {
std::string hmac(std::string_view key, std::string_view bytes) {
    const core::Hash256 digest = core::hmac_sha256(key, bytes);
    return core::encode_data({reinterpret_cast<const char*>(digest.data()), digest.size()});
}
}  // namespace

TEST_CASE("HMAC-SHA-256 as RFC 4231 has it") {
    CHECK(hmac(std::string(20, '\x0b'), "Hi There") ==
          "0xb0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(hmac("Jefe", "what do ya want for nothing?") ==
          "0x5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(
        hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "0x60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}
