#include "support/fickle_node.hpp"

#include "chain/transaction_hash.hpp"
#include "core/hex.hpp"
#include "support/faulty_node.hpp"
#include "support/rpc.hpp"

#include <chrono>

namespace weir::test {
namespace {

constexpr std::size_t kKeyDigits = 64;
constexpr std::size_t kKeyAt = 8;   // of the raw transaction, behind 0x, type and lengths
constexpr std::size_t kFateAt = 4;  // bytes from the end that are free to be anything

std::string http(const std::string& status, const std::string& body) {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

std::string error_reply(const std::string& id, int code, const std::string& message) {
    return good_reply(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" +
                      std::to_string(code) + R"(,"message":")" + message + R"("}})");
}

std::string string_reply(const std::string& id, const std::string& text) {
    return good_reply(result_reply(id, '"' + text + '"'));
}

const std::string kPage = "<html><body>something went wrong</body></html>";

}  // namespace

bool is_taken(Fate fate) {
    switch (fate) {
        case Fate::reset_left:
        case Fate::closed_left:
        case Fate::silent_left:
        case Fate::status_left:
        case Fate::null_left:
        case Fate::internal_left:
        case Fate::nonce_left:
        case Fate::underpriced_left:
        case Fate::limited:
        case Fate::poor:
            return false;
        default:
            return true;
    }
}

MadeTransaction make_transaction(std::mt19937_64& random) {
    // Type 2, a list of a 32-byte string and four single bytes; the last one is the fate.
    std::string bytes("\x02\xe5\xa0", 3);
    for (std::size_t i = 0; i < kKeyDigits / 2; ++i) {
        bytes += static_cast<char>(random() & 0xffU);
    }
    const auto fate = static_cast<unsigned>(random() % kFates);
    bytes.append(kFateAt - 1, '\x01');
    bytes += static_cast<char>(fate);
    MadeTransaction made;
    made.raw = core::encode_data(bytes);
    made.key = made.raw.substr(kKeyAt, kKeyDigits);
    made.hash = chain::transaction_hash(bytes).value_or("");
    made.fate = static_cast<Fate>(fate);
    return made;
}

std::string wrong_hash() { return "0x" + std::string(64, 'e'); }

FickleNode::FickleNode(std::uint64_t seed, double cut_share)
    : cut_share_(cut_share),
      random_(seed),
      peer_([this](PeerConnection& connection, int) { serve(connection); }) {}

std::string FickleNode::url() const {
    return "http://127.0.0.1:" + std::to_string(peer_.port()) + "/";
}

bool FickleNode::holds(const std::string& hash) const {
    const std::lock_guard lock(mutex_);
    return held_.contains(hash);
}

int FickleNode::arrivals(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = arrivals_.find(key);
    return found == arrivals_.end() ? 0 : found->second;
}

bool FickleNode::is_cut() {
    const std::lock_guard lock(mutex_);
    return std::uniform_real_distribution<>(0, 1)(random_) < cut_share_;
}

void FickleNode::note_arrival(std::string_view bytes) {
    constexpr std::string_view kBefore = R"("params":["0x02)";
    const std::size_t params = bytes.find(kBefore);
    const std::size_t key = params + kBefore.size() - 4 + kKeyAt;
    if (bytes.find("eth_sendRawTransaction") != bytes.npos && params != bytes.npos &&
        bytes.size() >= key + kKeyDigits) {
        const std::lock_guard lock(mutex_);
        ++arrivals_[std::string(bytes.substr(key, kKeyDigits))];
    }
}

void FickleNode::hold(const std::string& hash) {
    const std::lock_guard lock(mutex_);
    held_.emplace(hash, std::chrono::steady_clock::now());
}

std::string FickleNode::look_up(std::string_view params) const {
    const std::string hash = jsonrpc::string_value(jsonrpc::element(params, 0)).value_or("");
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(hash);
    const bool there = found != held_.end() && found->second <= std::chrono::steady_clock::now();
    return there ? R"({"hash":")" + hash + R"(","blockHash":null})" : "null";
}

void FickleNode::serve(PeerConnection& connection) {
    if (is_cut()) {
        connection.reset();
        return;
    }
    for (;;) {
        if (is_cut()) {
            std::size_t most = 0;
            {
                const std::lock_guard lock(mutex_);
                most = 1 + random_() % 600;
            }
            note_arrival(connection.read_some(most));
            connection.reset();
            return;
        }
        const std::string request = connection.read_request();
        if (request.empty()) {
            return;
        }
        const std::string body = request.substr(request.find("\r\n\r\n") + 4);
        const std::string method =
            jsonrpc::string_value(jsonrpc::member(body, "method")).value_or("");
        const std::string_view params = jsonrpc::member(body, "params");
        if (method == "eth_sendRawTransaction") {
            note_arrival(request);
            take(connection, id_of(body),
                 jsonrpc::string_value(jsonrpc::element(params, 0)).value_or(""));
            if (!connection.is_open()) {
                return;
            }
            continue;
        }
        const std::string result =
            method == "eth_getTransactionByHash" ? look_up(params) : probe_result(method);
        connection.send(good_reply(result_reply(id_of(body), result.empty() ? "null" : result)));
    }
}

void FickleNode::take(PeerConnection& connection, const std::string& id, std::string_view raw) {
    const std::string bytes = core::decode_data(raw).value_or("");
    const std::string hash = chain::transaction_hash(bytes).value_or("");
    const auto fate = static_cast<Fate>(bytes.back());
    if (fate == Fate::late_taken) {
        connection.reset();
        const std::lock_guard lock(mutex_);
        held_.emplace(hash, std::chrono::steady_clock::now() + std::chrono::milliseconds(150));
        return;
    }
    if (is_taken(fate)) {
        hold(hash);
    }
    switch (fate) {
        case Fate::late_taken:
            return;
        case Fate::accepted:
            connection.send(string_reply(id, hash));
            return;
        case Fate::known:
            connection.send(error_reply(id, -32000, "already known"));
            return;
        case Fate::reset_taken:
        case Fate::reset_left:
            connection.reset();
            return;
        case Fate::closed_taken:
        case Fate::closed_left:
            connection.close();
            return;
        case Fate::silent_taken:
        case Fate::silent_left:
            connection.wait_closed();
            connection.close();
            return;
        case Fate::status_taken:
        case Fate::status_left:
            connection.send(http("500 Internal Server Error", kPage));
            return;
        case Fate::page_taken:
            connection.send(http("200 OK", kPage));
            return;
        case Fate::wrong_id_taken:
            connection.send(string_reply("987654321", hash));
            return;
        case Fate::cut_taken: {
            const std::string reply = string_reply(id, hash);
            connection.send(reply.substr(0, reply.size() - 40));
            connection.close();
            return;
        }
        case Fate::null_taken:
        case Fate::null_left:
            connection.send(good_reply(result_reply(id, "null")));
            return;
        case Fate::internal_taken:
        case Fate::internal_left:
            connection.send(error_reply(id, -32603, "Internal error"));
            return;
        case Fate::nonce_taken:
        case Fate::nonce_left:
            connection.send(error_reply(id, -32000, "nonce too low: next nonce 7, tx nonce 3"));
            return;
        case Fate::underpriced_left:
            connection.send(error_reply(id, -32000, "replacement transaction underpriced"));
            return;
        case Fate::limited:
            connection.send(http("429 Too Many Requests", R"({"error":"slow down"})"));
            return;
        case Fate::poor:
            connection.send(error_reply(id, -32000, "insufficient funds for gas * price + value"));
            return;
        case Fate::other_hash:
            connection.send(string_reply(id, wrong_hash()));
            return;
    }
}

}  // namespace weir::test
