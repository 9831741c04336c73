// Random batches over random pools that fail at random: what holds whatever happens.
#include "component/batch_fixture.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::test;

namespace {

using Random = std::mt19937_64;

unsigned pick(Random& random, unsigned below) { return static_cast<unsigned>(random() % below); }

struct Kind {
    const char* method;
    enum class Sort { read, write, local } sort;
};
constexpr std::array kKinds = {
    Kind{"eth_getBalance", Kind::Sort::read},
    Kind{"eth_getBalance", Kind::Sort::read},
    Kind{"eth_getBalance", Kind::Sort::read},
    Kind{"eth_getCode", Kind::Sort::read},
    Kind{"eth_getProof", Kind::Sort::read},
    Kind{"eth_chainId", Kind::Sort::local},
    Kind{"eth_sendRawTransaction", Kind::Sort::write},
    Kind{"custom_doIt", Kind::Sort::write},
};

struct Owed {
    std::string id;
    std::string key;  // stands in the call, and in no other one
    Kind::Sort sort = Kind::Sort::read;
    bool invalid = false;
};

struct RandomBatch {
    std::string body = "[";
    std::vector<Owed> owed;  // in order; notifications are owed nothing
    std::vector<std::string> writes;
};

RandomBatch make_batch(Random& random) {
    RandomBatch batch;
    const unsigned count = 1 + pick(random, pick(random, 4) == 0 ? 150 : 30);
    for (unsigned i = 0; i < count; ++i) {
        const Kind& kind = kKinds[pick(random, kKinds.size())];
        const std::string key = "0x02" + std::to_string(100'000 + i) + "aa";
        const unsigned form = pick(random, 20);
        batch.body += i == 0 ? "" : ",";
        if (form == 0) {
            batch.body += R"({"jsonrpc":"2.0","id":9})";
            batch.owed.push_back({.id = "9", .key = key, .sort = kind.sort, .invalid = true});
            continue;
        }
        const std::string params =
            kind.sort == Kind::Sort::read ? "[\"" + key + "\",\"latest\"]" : "[\"" + key + "\"]";
        if (form == 1 && kind.sort == Kind::Sort::read) {
            batch.body += notification(kind.method, params);
            continue;
        }
        // Some ids stand twice.
        const std::string id = form < 4 ? "\"twice\"" : std::to_string(i);
        batch.body += call(id, kind.method, params);
        batch.owed.push_back({.id = id, .key = key, .sort = kind.sort});
        if (kind.sort == Kind::Sort::write) {
            batch.writes.push_back(key);
        }
    }
    batch.body += ']';
    return batch;
}

std::string failed(std::string_view reply, int code, const char* message) {
    return R"({"jsonrpc":"2.0","id":)" + id_of(reply) + R"(,"error":{"code":)" +
           std::to_string(code) + R"(,"message":")" + message + R"("}})";
}

// What a provider does with messages: mostly well, else as badly as any was seen to.
class Provider {
  public:
    Provider(Random& random, std::size_t limit, unsigned ill)
        : random_(random), limit_(limit), ill_(ill) {}

    Reaction on_single(const Sent& message) {
        const std::string method = std::string(
            jsonrpc::plain_string(jsonrpc::member(message.body, "method")).value_or(""));
        if (method == "eth_getTransactionByHash" || method == "eth_getTransactionReceipt") {
            return result("null");
        }
        Reaction reaction = balance(message);
        if (is_ill()) {
            const bool read = method.starts_with("eth_get");
            switch (pick(random_, read ? 8U : 6U)) {
                case 6:
                    reaction.refused = true;
                    break;
                case 7:
                    reaction.body = failed(message.body, -32603, "internal error");
                    break;
                default:
                    spoil(reaction);
            }
        }
        return reaction;
    }

    Reaction on_array(const Sent& message) {
        std::vector<std::string> replies = replies_to(message);
        if (limit_ != 0 && replies.size() > limit_) {
            refused_for_size_.push_back(message.body);
            Reaction reaction;
            reaction.status = 413;
            reaction.body = failed(R"({"id":null})", -32014, "too many RPC calls in batch request");
            return reaction;
        }
        if (!is_ill()) {
            return array_of(replies);
        }
        const std::size_t one = pick(random_, static_cast<unsigned>(replies.size()));
        switch (pick(random_, 14)) {
            case 0:
                std::reverse(replies.begin(), replies.end());
                break;
            case 1:
                replies.erase(replies.begin() + static_cast<std::ptrdiff_t>(one));
                break;
            case 2:
                replies.push_back(R"({"jsonrpc":"2.0","id":)" + id_of(replies[one]) +
                                  R"(,"result":"another"})");
                break;
            case 3:
                replies[one] = failed(replies[one], -32603, "internal error");
                break;
            case 4:
                replies[one] = failed(replies[one], -32005, "rate limit exceeded");
                break;
            case 5:
                replies.push_back(R"({"jsonrpc":"2.0","id":99999999,"result":"foreign"})");
                break;
            case 6:
                replies[one] = "null";
                break;
            case 7: {
                Reaction reaction;
                reaction.refused = true;
                return reaction;
            }
            default: {
                Reaction reaction = array_of(replies);
                spoil(reaction);
                return reaction;
            }
        }
        return array_of(replies);
    }

    std::size_t size_refusals(const std::string& key) const {
        return static_cast<std::size_t>(
            std::count_if(refused_for_size_.begin(), refused_for_size_.end(),
                          [&](const auto& body) { return body.find(key) != body.npos; }));
    }

  private:
    bool is_ill() { return pick(random_, 100) < ill_; }

    void spoil(Reaction& reaction) {
        switch (pick(random_, 6)) {
            case 0:
                reaction.lost = true;
                break;
            case 1:
                reaction.status = 503;
                reaction.body = "<html>not now</html>";
                break;
            case 2:
                reaction.body.resize(reaction.body.size() / 2);
                break;
            case 3:
                reaction.status = 429;
                reaction.body = "slow down";
                break;
            case 4:
                reaction.delay = core::milliseconds(30 + pick(random_, 60));
                break;
            default:
                reaction.hangs = pick(random_, 4) == 0;
        }
    }

    Random& random_;
    std::size_t limit_;  // 0: none
    unsigned ill_;       // of a hundred messages
    std::vector<std::string> refused_for_size_;
};

config::Config make_pool(Random& random) {
    config::Config config = make_config(1 + pick(random, 4));
    config::Chain& chain = config.chains[0];
    chain.timeouts.request = chain.timeouts.slow_request = 400ms;
    chain.timeouts.attempt = 40ms;
    chain.writes.reconcile_timeout = 50ms;
    chain.rate_limits.max_wait = 60ms;
    chain.rate_limits.default_cooldown = 20ms;
    chain.reads.max_attempts = 1 + pick(random, 4);
    chain.batch.max_upstream_calls = pick(random, 3) == 0 ? 7 : 100;
    for (config::Upstream& upstream : chain.upstreams) {
        constexpr std::array<std::size_t, 5> kSizes = {0, 0, 1, 3, 20};
        upstream.tier = pick(random, 2);
        upstream.max_in_flight = pick(random, 4) == 0 ? 2 : 64;
        upstream.batch.max_calls = kSizes[pick(random, kSizes.size())];
    }
    return config;
}

// Of `reply`: the call's own value, or an error that says so.
bool is_own(const std::string& reply, const Owed& owed) {
    if (id_of(reply) != owed.id) {
        return false;
    }
    if (owed.invalid) {
        return type_of(reply) == "invalid_request";
    }
    if (!error_of(reply).empty()) {
        return result_of(reply).empty() && owed.sort != Kind::Sort::local;
    }
    return result_of(reply) ==
           (owed.sort == Kind::Sort::local ? "\"0x1\"" : '"' + owed.key + " wei\"");
}

unsigned long rounds() {
    const char* wanted = std::getenv("WEIR_BATCH_ROUNDS");
    return wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 60;
}

}  // namespace

// A read is in at most `max_attempts` messages, and beside them in those arrays that were refused
// for their size.
TEST_CASE("random batches, pools and failures") {
    for (unsigned long seed = 1; seed <= rounds(); ++seed) {
        Random random(seed);
        Batches f(make_pool(random));
        const config::Chain& chain = f.config.chains[0];
        std::vector<Provider> providers;
        const unsigned ill = pick(random, 3) * 20;
        for (std::size_t i = 0; i < chain.upstreams.size(); ++i) {
            constexpr std::array<std::size_t, 3> kLimits = {0, 2, 12};
            providers.emplace_back(random, kLimits[pick(random, kLimits.size())], ill);
        }
        for (std::size_t i = 0; i < providers.size(); ++i) {
            f.transport.on(i, [&, i](const Sent& sent) { return providers[i].on_single(sent); });
            f.transport.on_array(i, [&, i](const Sent& s) { return providers[i].on_array(s); });
        }
        for (int time = 0; time < 2; ++time) {
            const std::size_t before = f.transport.sent.size();
            const RandomBatch batch = make_batch(random);
            const core::TimePoint begin = f.clock.now();
            const RecordingSink sink = f.ask(batch.body);
            INFO("seed " << seed << ": " << batch.body << "\n" << sink.body);
            CHECK(f.clock.now() - begin < 1500ms);

            REQUIRE(jsonrpc::element_count(sink.body) == batch.owed.size());
            for (std::size_t i = 0; i < batch.owed.size(); ++i) {
                const std::string reply = item(sink.body, i);
                INFO(i << ": " << reply);
                CHECK(is_own(reply, batch.owed[i]));
            }
            const std::vector<Sent> sent(
                f.transport.sent.begin() + static_cast<std::ptrdiff_t>(before),
                f.transport.sent.end());
            for (const Sent& message : sent) {
                const std::size_t calls = jsonrpc::element_count(message.body);
                const std::size_t most = chain.upstreams[message.upstream].batch.max_calls;
                CHECK(calls <= chain.batch.max_upstream_calls);
                CHECK((most == 0 || calls <= most));
            }
            const auto messages_with = [&sent](const std::string& key) {
                return static_cast<std::size_t>(
                    std::count_if(sent.begin(), sent.end(), [&](const Sent& message) {
                        return message.body.find(key) != std::string::npos;
                    }));
            };
            for (const std::string& write : batch.writes) {
                INFO(write);
                CHECK(messages_with(write) <= 1);
            }
            for (const Owed& owed : batch.owed) {
                std::size_t refusals = 0;
                for (const Provider& provider : providers) {
                    refusals += provider.size_refusals(owed.key);
                }
                INFO(owed.key);
                CHECK((owed.sort != Kind::Sort::read ||
                       messages_with(owed.key) <= chain.reads.max_attempts + refusals));
            }
            for (const auto& row : f.pools[0]->status(f.clock.now())) {
                CHECK(row.in_flight == 0);
            }
        }
        CHECK(f.budget.used() == 0);
    }
}
