// The real program among providers that fail in every way, at random and all the time, while one of
// them is always sound: no byte of another chain, no older head, no lost read, no leak.
#include "core/hex.hpp"
#include "support/catch.hpp"
#include "support/daemon.hpp"
#include "support/process_usage.hpp"
#include "support/rpc.hpp"
#include "support/sanitized.hpp"
#include "support/simulators.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace weir;
using namespace weir::test;
using namespace std::chrono_literals;
using simulator::Crooked;
using simulator::Script;
using simulator::ThrottleShape;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kNodes = 4;
constexpr std::uint64_t kStale = 12;  // blocks of a second; six seconds of lag are tolerated
constexpr std::chrono::seconds kRequest = 8s;
const std::string kForeign = "0xbadc0de";

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* const value = std::getenv(name);
    return value != nullptr ? std::stoull(value) : otherwise;
}

// A node of another network: it answers everything, and what it says is known by a mark.
void turn_foreign(Script& script) {
    script.chain_id = 5;
    for (const char* method : {"eth_gasPrice", "eth_getBalance", "eth_call", "eth_getLogs",
                               "eth_blockNumber", "eth_getTransactionReceipt"}) {
        script.answers[method] = '"' + kForeign + '"';
    }
    script.answers["eth_getBlockByNumber"] =
        R"({"number":"0x1","hash":")" + kForeign + std::string(57, '0') + R"("})";
}

enum class Fault : std::uint8_t {
    none,
    down,
    foreign,  // comes after a time of being down, as when another process takes the port
    lag,
    hang,
    limited,
    resets,
    status,
    crooked,
    jump,
    reorg,
    slow,
};
constexpr unsigned kFaults = static_cast<unsigned>(Fault::slow) + 1;

class Soak {
  public:
    explicit Soak(std::uint64_t seed) : random_(seed), simulators_(seconds_long_blocks()) {
        DaemonConfig config;
        for (std::size_t i = 0; i < kNodes; ++i) {
            nodes_.push_back(&simulators_.add(sound()));
            config.upstreams.push_back({"n" + std::to_string(i), nodes_.back()->url(),
                                        "rate: {calls_per_second: 100000}"});
        }
        Script foreign;  // the fastest of all
        turn_foreign(foreign);
        config.upstreams.push_back({"foreign", simulators_.add(foreign).url()});
        config.chain = {
            "timeouts: {request: " + std::to_string(kRequest.count()) + "s, attempt: 500ms}",
            "head: {chain_check_interval: 2s}", "max_reply: 2MiB",
            "circuit: {failures: 5, open_for: 1s}",
            "rate_limits: {max_wait: 3s, max_cooldown: 2s, default_cooldown: 500ms}"};
        daemon_.emplace(config);
        REQUIRE(daemon_->wait_for_state("n0", "fit"));
    }

    void run(std::chrono::seconds length) {
        const Clock::time_point end = Clock::now() + length;
        std::vector<std::thread> threads;
        threads.emplace_back([this, end] { follow_head(end); });
        for (unsigned client = 0; client < 4; ++client) {
            threads.emplace_back([this, end, client] { read(end, client); });
        }
        const pid_t pid = daemon_->process().pid();
        const Clock::time_point settled = Clock::now() + length / 4;
        std::size_t memory = 0;
        std::size_t descriptors = 0;
        while (Clock::now() < end) {
            disturb();
            if (memory == 0 && Clock::now() >= settled) {
                memory = resident_bytes(pid);
                descriptors = open_descriptors(pid);
            }
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        for (simulator::Provider* node : nodes_) {
            node->change([](Script& script) { script = sound(); });
        }
        for (std::size_t i = 0; i < kNodes; ++i) {
            INFO(daemon_->admin("/api/status").body);
            CHECK(wait_until([&] { return state_is(i, "fit"); }, 100s));
        }
        const std::lock_guard lock(mutex_);
        for (const std::string& failure : failures_) {
            FAIL_CHECK(failure);
        }
        INFO(reads_ << " reads, " << heads_ << " heads, " << guards_ << " times the sound one "
                    << "changed; memory " << memory << " and then " << resident_bytes(pid)
                    << ", descriptors " << descriptors << " and then " << open_descriptors(pid));
        CHECK(reads_ > 50 * static_cast<std::uint64_t>(length.count()));
        CHECK(held_back_ * 200 <= reads_);
        CHECK((kSanitized || resident_bytes(pid) < memory + 32 * 1024 * 1024));
        CHECK(open_descriptors(pid) < descriptors + 100);
        WARN(reads_ << " reads, " << heads_ << " heads, " << faults_ << " faults, " << guards_
                    << " guards, " << held_back_ << " reads not tried again; memory "
                    << memory / 1024 << " KiB and then " << resident_bytes(pid) / 1024
                    << ", descriptors " << descriptors << " and then " << open_descriptors(pid));
    }

  private:
    static simulator::SimulatedChain::Settings seconds_long_blocks() {
        simulator::SimulatedChain::Settings settings;
        settings.block_time = core::seconds(1);
        return settings;
    }
    static Script sound() {
        Script script;
        script.latency = 2ms;
        script.jitter = 4ms;
        return script;
    }
    bool state_is(std::size_t node, std::string_view state) const {
        const std::string body = daemon_->admin("/api/status").body;
        const std::size_t at = body.find("\"name\":\"n" + std::to_string(node) + '"');
        const std::size_t value = body.find("\"state\":\"", at);
        return at != body.npos && body.compare(value + 9, state.size(), state) == 0;
    }

    // One step of the schedule: something happens to a node other than the sound one; now and then
    // another one becomes the sound one.
    void disturb() {
        std::this_thread::sleep_for(std::chrono::milliseconds(100 + random_() % 900));
        const std::size_t node = random_() % kNodes;
        // A read may have asked the new sound one while it was not sound: for as long as that may
        // run, the one before stays sound as well.
        if (node == guard_ || (node == guard_before_ && Clock::now() < relieved_at_ + kRequest)) {
            return;
        }
        if (random_() % 8 == 0) {
            set(node, Fault::none);
            // Others go on as they are: it must be found to be sound among them.
            if (wait_until([&] { return state_is(node, "fit"); }, 75s)) {
                guard_before_ = std::exchange(guard_, node);
                relieved_at_ = Clock::now();
                ++guards_;
            } else {
                fail("a sound node was not found fit: " + daemon_->admin("/api/status").body);
            }
            return;
        }
        set(node, static_cast<Fault>(random_() % kFaults));
    }

    void set(std::size_t node, Fault fault) {
        // One liar at a time: two that agree would be believed. The word of one that lied before
        // holds until it is asked again, a poll and an attempt later.
        if (jumping_ == node) {
            jumping_.reset();
            jumped_at_ = Clock::now();
        }
        if (fault == Fault::jump && (jumping_ || Clock::now() < jumped_at_ + 3s)) {
            fault = Fault::lag;
        }
        if (fault == Fault::jump) {
            jumping_ = node;
        }
        if (fault == Fault::foreign) {
            nodes_[node]->change([](Script& script) {
                script = sound();
                script.availability = simulator::Availability::down;
            });
            const auto serves = [&] {
                return state_is(node, "fit") || state_is(node, "lagging") ||
                       state_is(node, "cooling_down");
            };
            if (!wait_until([&] { return !serves(); }, 10s)) {
                fail("nobody noticed that a node is down");
            }
        }
        const std::uint64_t head = simulators_.chain().head();
        const std::uint64_t dice = random_();
        nodes_[node]->change([fault, head, dice](Script& script) {
            script = sound();
            apply(fault, head, dice, script);
        });
        ++faults_;
    }

    static void apply(Fault fault, std::uint64_t head, std::uint64_t dice, Script& script) {
        constexpr Crooked kCrooked[] = {
            Crooked::wrong_id,    Crooked::no_id,        Crooked::result_and_error,
            Crooked::neither,     Crooked::two_values,   Crooked::cut_json,
            Crooked::broken_json, Crooked::bad_utf8,     Crooked::html,
            Crooked::empty_body,  Crooked::redirect,     Crooked::length_long,
            Crooked::two_lengths, Crooked::broken_chunk, Crooked::cut_midway,
            Crooked::stall,       Crooked::endless};
        constexpr ThrottleShape kShapes[] = {
            ThrottleShape::http_429,       ThrottleShape::http_429_date,
            ThrottleShape::backoff_field,  ThrottleShape::code_in_200,
            ThrottleShape::wording_in_200, ThrottleShape::cloudflare_html,
            ThrottleShape::cloudflare_text};
        switch (fault) {
            case Fault::none:
                break;
            case Fault::down:
                script.availability = simulator::Availability::down;
                break;
            case Fault::foreign:
                turn_foreign(script);
                break;
            case Fault::lag:
                script.lag_blocks = 1 + dice % 40;
                break;
            case Fault::hang:
                script.latency = 30s;
                break;
            case Fault::limited:
                script.throttle = {.calls_per_second = 5 + static_cast<double>(dice % 20),
                                   .burst = 5,
                                   .shape = kShapes[dice % std::size(kShapes)],
                                   .wait = core::seconds(1)};
                break;
            case Fault::resets:
                script.faults.drop_share = 0.2 + static_cast<double>(dice % 8) / 10;
                break;
            case Fault::status:
                script.faults.fail_next = 1'000'000;
                script.faults.fail_status = dice % 2 == 0 ? 503 : 500;
                break;
            case Fault::crooked:
                script.faults.crooked = kCrooked[dice % std::size(kCrooked)];
                break;
            case Fault::jump: {
                const std::string number = core::to_quantity(head + 900'000);
                script.answers["eth_blockNumber"] = '"' + number + '"';
                script.answers["eth_getBlockByNumber"] =
                    R"({"number":")" + number + R"(","hash":"0x)" + std::string(64, 'f') + R"("})";
                break;
            }
            case Fault::reorg:
                script.fork = simulator::Fork{.from = head - 1, .id = dice};
                break;
            case Fault::slow:
                script.latency = core::milliseconds(100 + dice % 800);
                break;
        }
    }

    void fail(std::string what) {
        constexpr std::size_t kShown = 20;
        const std::lock_guard lock(mutex_);
        if (failures_.size() < kShown) {
            failures_.push_back(std::move(what));
        }
    }

    std::string ask(RawClient& client, const std::string& body) {
        const auto began = Clock::now();
        const HttpResponse response = client.post("/", body);
        const auto took =
            std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
        const bool foreign = response.body.find(kForeign) != std::string::npos;
        const bool lost = response.status != 200 || error_of(response.body) != "" ||
                          response.body.find("\"error\"") != std::string::npos;
        if (lost && response.body.find("are tried again already") != std::string::npos) {
            ++held_back_;  // an outage is not multiplied
        } else if (foreign || lost) {
            fail((foreign ? "of another chain: " : "lost: ") + body + " -> " +
                 std::to_string(response.status) + " after " + response.field("Weir-Attempts") +
                 " attempts and " + std::to_string(took.count()) +
                 " ms: " + response.body.substr(0, 500));
        }
        return response.body;
    }

    // One client that asks for the head over and over: it never hears of an older one.
    void follow_head(Clock::time_point end) {
        RawClient client(daemon_->rpc_address());
        std::uint64_t last = 0;
        for (unsigned turn = 0; Clock::now() < end; ++turn) {
            const std::uint64_t before = simulators_.chain().head();
            const bool whole = turn % 3 == 0;
            const std::string body =
                ask(client, whole ? rpc("eth_getBlockByNumber", R"(["latest",false])")
                                  : rpc("eth_blockNumber"));
            std::string result = result_of(body);
            if (result.empty()) {
                continue;  // it is on record already
            }
            if (whole) {
                result = std::string(jsonrpc::member(result, "number"));
            }
            const auto text = jsonrpc::plain_string(result);
            const std::uint64_t number = text ? core::parse_quantity(*text).value_or(0) : 0;
            if (number < last || number + kStale < before || number > simulators_.chain().head()) {
                fail("head " + std::to_string(number) + " after " + std::to_string(last) +
                     ", in truth " + std::to_string(before) + ": " + body.substr(0, 300));
            }
            last = std::max(last, number);
            ++heads_;
            std::this_thread::sleep_for(5ms);
        }
    }

    void read(Clock::time_point end, unsigned seed) {
        std::mt19937_64 random(seed);
        RawClient client(daemon_->rpc_address());
        while (Clock::now() < end) {
            const std::uint64_t old = 1 + random() % 900;
            const std::string number = core::to_quantity(old);
            switch (random() % 7) {
                case 0:
                    ask(client, rpc("eth_gasPrice"));
                    break;
                case 1:
                    ask(client, rpc("eth_getBalance", R"(["0x00","latest"])"));
                    break;
                case 2:
                    ask(client, rpc("eth_call", R"([{"to":"0x01"}])"));
                    break;
                case 3:
                    ask(client, rpc("eth_getLogs",
                                    R"([{"fromBlock":"0x1","toBlock":")" + number + R"("}])"));
                    break;
                case 4:
                    ask(client, rpc("eth_getTransactionReceipt", R"(["0xab"])"));
                    break;
                case 5: {
                    const std::string body =
                        ask(client, rpc("eth_getBalance", R"(["0x00",")" + number + R"("])"));
                    static_cast<void>(body);
                    break;
                }
                default:
                    ask(client, '[' + rpc("eth_gasPrice") + ',' +
                                    rpc("eth_getBalance", R"(["0x00","latest"])", "2") + ',' +
                                    rpc("eth_blockNumber", "[]", "3") + ']');
            }
            ++reads_;
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 12));
        }
    }

    std::mt19937_64 random_;
    Simulators simulators_;
    std::vector<simulator::Provider*> nodes_;
    std::optional<Daemon> daemon_;
    std::size_t guard_ = 0;
    std::size_t guard_before_ = 0;
    Clock::time_point relieved_at_{};  // the one before
    std::optional<std::size_t> jumping_;
    Clock::time_point jumped_at_{};  // until when somebody lied
    std::atomic<std::uint64_t> reads_ = 0;
    std::atomic<std::uint64_t> heads_ = 0;
    std::atomic<std::uint64_t> held_back_ = 0;
    std::uint64_t guards_ = 0;
    std::uint64_t faults_ = 0;
    std::mutex mutex_;  // guards what follows
    std::vector<std::string> failures_;
};

}  // namespace

TEST_CASE("random faults of all but one provider: nothing foreign, nothing stale, nothing lost",
          "[daemon][soak]") {
    const std::uint64_t seed = from_environment("WEIR_FAULT_SEED", std::random_device()());
    const std::uint64_t seconds = from_environment("WEIR_SOAK_SECONDS", 10);
    INFO("again with WEIR_FAULT_SEED=" << seed << " WEIR_SOAK_SECONDS=" << seconds);
    Soak soak(seed);
    soak.run(std::chrono::seconds(seconds));
}
