#include "chain/transaction_hash.hpp"

#include "core/hex.hpp"
#include "core/keccak.hpp"
#include "support/catch.hpp"

#include <optional>
#include <string>
#include <string_view>

using namespace weir;

namespace {

struct Example {
    const char* name;
    const char* raw;
    const char* hash;
};

// Made with ethers 6; the legacy one is the example of EIP-155.
const Example kExamples[] = {
    {"legacy",
     "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6"
     "b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa63"
     "6276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83",
     "0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788"},
    {"EIP-2930",
     "0x01f8a701098504a817c800825208943535353535353535353535353535353535353535880d"
     "e0b6b3a764000080f838f7943535353535353535353535353535353535353535e1a011111111"
     "1111111111111111111111111111111111111111111111111111111101a0ba920c0ec0b63067"
     "5eac675196ca0635d0958ca4878824b4c813276b860dfff1a077e63d58e8967f6dda0ba3d19f"
     "04c4db97912b9d86421d45af9acd3d88695739",
     "0x7a6fe780252aeac6e8258eac8b68518ee24e2dfcb8b23bc385816c8c0e4ef2db"},
    {"EIP-1559",
     "0x02f8730109843b9aca008506fc23ac00825208943535353535353535353535353535353535"
     "353535880de0b6b3a764000080c001a0ad4241a480b4069450d9bd1823a3afb8bd5a697e2135"
     "056f13fc85778785a013a0782c2fc38f01d18de96e4f5caeb077484ef6d844f2ce873a475515"
     "552460c075",
     "0x8a3ff34f002402f5d26a11e21f0efcd1810e189a4ba6555cf013579c8ac06727"},
    {"EIP-4844, signed part alone",
     "0x03f8960109843b9aca008506fc23ac00825208943535353535353535353535353535353535"
     "353535880de0b6b3a764000080c001e1a0012222222222222222222222222222222222222222"
     "222222222222222222222280a0d22177521fea58536da2f6ac5c0e1f80bcf4820a44199b1272"
     "005d1e89f2dda9a05ffffb45cf19cdf059b4ee17fb2ba956af2baba2c9405cc855c954b63ec9"
     "e2c9",
     "0xa6810069ae22f17b1273a15bc49049056005bbee3cf85bf7146028b81cb480b0"},
    {"EIP-7702",
     "0x04f8d10109843b9aca008506fc23ac00825208943535353535353535353535353535353535"
     "353535880de0b6b3a764000080c0f85cf85a0194353535353535353535353535353535353535"
     "35350101a0c5231cb868a8e2ae9f568f2cb1aabb1749872b8a5f0393494aa828b1e436955aa0"
     "18b5cac977d836e96ae96b66ab3bde8c8902b9d362ff0be5141d1358016013e180a07c3fbae9"
     "8ab6f3d85d323119795743607d6e52df53966d9047beae416395ba14a07bd57cb3de922ffc38"
     "cbeecdc318ec4277e29ff4810d1d892e69c1d1858b96ad",
     "0x48259358680e08bc95515cc445cacf4b70c741a63a27b8c45264c71133c4a0e1"},
};

std::string bytes_of(std::string_view hex) { return core::decode_data(hex).value_or(""); }

std::string digest(std::string_view bytes) {
    const core::Hash256 hash = core::keccak256(bytes);
    return core::encode_data(std::string(hash.begin(), hash.end()));
}

std::string rlp(char base, const std::string& content) {
    if (content.size() <= 55) {
        return static_cast<char>(base + static_cast<char>(content.size())) + content;
    }
    std::string length;
    for (std::size_t rest = content.size(); rest != 0; rest >>= 8U) {
        length.insert(length.begin(), static_cast<char>(rest & 0xffU));
    }
    return static_cast<char>(base + 55 + static_cast<char>(length.size())) + length + content;
}
std::string rlp_string(const std::string& content) { return rlp('\x80', content); }
std::string rlp_list(const std::string& items) { return rlp('\xc0', items); }

}  // namespace

TEST_CASE("keccak-256 is the submission's, as published") {
    CHECK(digest("") == "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    CHECK(digest("abc") == "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45");
    CHECK(digest("The quick brown fox jumps over the lazy dog") ==
          "0x4d741b6f1eb29cb2a9b9911c82f56fa8d73b04959d3d9d222895df6c0b28aa15");
}

TEST_CASE("a transaction's hash is that of its signed bytes") {
    for (const Example& example : kExamples) {
        INFO(example.name);
        CHECK(chain::transaction_hash(bytes_of(example.raw)) ==
              std::optional<std::string>(example.hash));
    }
}

TEST_CASE("a blob transaction is hashed without its sidecar") {
    const std::string blob = bytes_of(kExamples[3].raw);
    const std::string sidecar = rlp_list(rlp_string(std::string(131072, '\xaa'))) +
                                rlp_list(rlp_string(std::string(48, '\xbb'))) +
                                rlp_list(rlp_string(std::string(48, '\xcc')));
    const std::string eip4844 = '\x03' + rlp_list(blob.substr(1) + sidecar);
    const std::string eip7594 = '\x03' + rlp_list(blob.substr(1) + '\x01' + sidecar);
    CHECK(chain::transaction_hash(eip4844) == std::optional<std::string>(kExamples[3].hash));
    CHECK(chain::transaction_hash(eip7594) == std::optional<std::string>(kExamples[3].hash));
}

TEST_CASE("bytes that are no transaction have no hash") {
    for (const Example& example : kExamples) {
        const std::string raw = bytes_of(example.raw);
        for (std::size_t length = 0; length < raw.size(); ++length) {
            CHECK_FALSE(chain::transaction_hash(raw.substr(0, length)));
        }
        CHECK_FALSE(chain::transaction_hash(raw + '\0'));
    }
    for (const char* bad : {"0x", "0x00", "0x03", "0x02c0c0", "0xff", "0xffffffffffffffffff",
                            "0x03bfffffffffffffffff", "0x80", "0x03ff00"}) {
        INFO(bad);
        CHECK_FALSE(chain::transaction_hash(bytes_of(bad)));
    }
}
