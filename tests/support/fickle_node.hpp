// A node with a transaction pool that fails its callers at random while they broadcast, and keeps
// count of what really happened.
#pragma once

#include "support/scripted_peer.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>

namespace weir::test {

// What a node does with a transaction that has arrived.
enum class Fate : std::uint8_t {
    accepted,      // takes it and says so
    known,         // has it, and says that it has known it
    reset_taken,   // takes it, then RST
    reset_left,    // leaves it, then RST
    closed_taken,  // likewise with FIN
    closed_left,
    silent_taken,  // says nothing until the other side gives up
    silent_left,
    status_taken,  // 500 and a page
    status_left,
    page_taken,  // 200 and a page
    wrong_id_taken,
    cut_taken,  // half of the reply
    null_taken,
    null_left,
    internal_taken,  // -32603
    internal_left,
    nonce_taken,  // nonce too low
    nonce_left,
    underpriced_left,
    late_taken,  // takes it 150 ms after the connection is gone
    limited,     // 429
    poor,        // insufficient funds
    other_hash,  // takes it and calls it something else
};
constexpr unsigned kFates = static_cast<unsigned>(Fate::other_hash) + 1;
bool is_taken(Fate fate);

// A transaction made for a test; the fate stands in it, so that it is the same at every node.
struct MadeTransaction {
    std::string key;  // 64 digits that no other one has
    std::string raw;  // as eth_sendRawTransaction takes it
    std::string hash;
    Fate fate = Fate::accepted;
};
MadeTransaction make_transaction(std::mt19937_64& random);

// The hash that a node with Fate::other_hash tells.
std::string wrong_hash();

class FickleNode {
  public:
    // Of connections and messages, probes too, about `cut_share` are cut off before or while they
    // are read.
    FickleNode(std::uint64_t seed, double cut_share);

    std::string url() const;
    bool holds(const std::string& hash) const;
    int arrivals(const std::string& key) const;  // messages that brought it, whole or not

  private:
    void serve(PeerConnection& connection);
    bool is_cut();
    void note_arrival(std::string_view bytes);
    void hold(const std::string& hash);
    void take(PeerConnection& connection, const std::string& id, std::string_view raw);
    std::string look_up(std::string_view params) const;

    const double cut_share_;
    mutable std::mutex mutex_;  // guards what follows
    std::mt19937_64 random_;
    std::map<std::string, int> arrivals_;
    std::map<std::string, std::chrono::steady_clock::time_point> held_;  // since when
    ScriptedPeer peer_;
};

}  // namespace weir::test
