#include "routing/brought_words.hpp"

#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "routing/rule_set.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace weir::routing {
namespace {

constexpr std::size_t kMostBytes = 16 * 1024;  // of strings that are not hex

constexpr std::array<std::string_view, 36> kPlainNames = {"latest",
                                                          "earliest",
                                                          "pending",
                                                          "safe",
                                                          "finalized",
                                                          "address",
                                                          "topics",
                                                          "fromBlock",
                                                          "toBlock",
                                                          "blockHash",
                                                          "blockNumber",
                                                          "from",
                                                          "to",
                                                          "gas",
                                                          "gasPrice",
                                                          "value",
                                                          "data",
                                                          "input",
                                                          "nonce",
                                                          "type",
                                                          "chainId",
                                                          "accessList",
                                                          "maxFeePerGas",
                                                          "maxPriorityFeePerGas",
                                                          "requireCanonical",
                                                          "storageKeys",
                                                          "maxFeePerBlobGas",
                                                          "blobVersionedHashes",
                                                          "blobs",
                                                          "commitments",
                                                          "proofs",
                                                          "tracer",
                                                          "tracerConfig",
                                                          "callTracer",
                                                          "prestateTracer",
                                                          "onlyTopCall"};

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_hex_string(std::string_view text) {
    return text.starts_with("0x") && std::all_of(text.begin() + 2, text.end(), is_hex);
}

// The end of the JSON string whose opening quote stands before `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
    while (at < json.size() && json[at] != '"') {
        at += json[at] == '\\' ? 2 : 1;
    }
    return std::min(at, json.size());
}

}  // namespace

BroughtWords::BroughtWords(const CallSent& call, const Vocabulary& vocabulary)
    : brought_(vocabulary.size(), false) {
    if (!call.traits.known()) {
        add(call.method, vocabulary);
    }
    read(call.params, vocabulary);
}

void BroughtWords::read(std::string_view params, const Vocabulary& vocabulary) {
    std::size_t bytes = 0;
    for (std::size_t at = params.find('"'); at < params.size() && !all_;
         at = params.find('"', at + 1)) {
        const std::size_t end = end_of_string(params, at + 1);
        const std::string_view raw = params.substr(at + 1, end - at - 1);
        const bool plain =
            std::find(kPlainNames.begin(), kPlainNames.end(), raw) != kPlainNames.end();
        if (!plain && !is_hex_string(raw)) {
            bytes += raw.size();
            if (bytes > kMostBytes) {
                all_ = true;
            } else if (raw.find('\\') == raw.npos) {
                add(raw, vocabulary);
            } else {
                add(jsonrpc::string_value(params.substr(at, end - at + 1)).value_or(""),
                    vocabulary);
            }
        }
        at = end;
    }
}

void BroughtWords::add(std::string_view text, const Vocabulary& vocabulary) {
    // Whoever quotes likeThis in small letters has another word.
    for (const std::string& spelling : {std::string(text), core::to_lower(text)}) {
        std::vector<WordId> words;
        append_words(words, vocabulary, spelling);
        all_ = all_ || words.size() >= kMaxWords;
        for (const WordId word : words) {
            brought_[word] = true;
        }
    }
}

}  // namespace weir::routing
