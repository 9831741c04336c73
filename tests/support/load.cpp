#include "support/load.hpp"

#include "core/text.hpp"
#include "support/raw_client.hpp"
#include "support/rpc.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace weir::test {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than any pause that a test makes the daemon take.
constexpr std::chrono::seconds kLoadPatience(90);

const std::string kCall = [] {
    const std::string body = rpc("eth_gasPrice");
    return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
           "application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}();

std::unique_ptr<RawClient> connect(const std::string& address) {
    try {
        return std::make_unique<RawClient>(address);
    } catch (const std::runtime_error&) {
        return nullptr;
    }
}

}  // namespace

Load::Load(const std::string& address, int clients, std::chrono::microseconds pace) {
    const Clock::time_point now = Clock::now();
    for (int i = 0; i < clients; ++i) {
        const Clock::time_point start = now + pace * i / clients;
        threads_.emplace_back([this, address, start, pace] { run(address, start, pace); });
    }
}

Load::~Load() { stop(); }

void Load::stop() {
    over_ = true;
    for (std::thread& thread : threads_) {
        if (thread.joinable()) {
            thread.join();
        }
    }
}

std::string Load::first_failure() const {
    const std::lock_guard lock(mutex_);
    return first_failure_;
}

void Load::run(const std::string& address, Clock::time_point start,
               std::chrono::microseconds pace) {
    std::unique_ptr<RawClient> client;
    // Calls that a slow answer left no time for are left out, not made up for.
    for (Clock::time_point next = start; !over_; next = std::max(next + pace, Clock::now())) {
        std::this_thread::sleep_until(next);  // the pace, not a wait
        if (!client) {
            client = connect(address);
        }
        if (!client) {
            ++ended_;
            return;
        }
        ++sent_;
        try {
            client->send(kCall);
            const HttpResponse response = client->read_response(kLoadPatience);
            if (response.status == 200 && response.end == HttpResponse::End::complete &&
                !result_of(response.body).empty()) {
                ++answered_;
            } else {
                fail(response.head + "\n" + response.body);
            }
            if (response.end == HttpResponse::End::cut ||
                core::iequals(response.field("Connection"), "close")) {
                client.reset();
            }
        } catch (const std::runtime_error& error) {
            fail(error.what());
            client.reset();
        }
    }
}

void Load::fail(const std::string& what) {
    ++failed_;
    const std::lock_guard lock(mutex_);
    if (first_failure_.empty()) {
        first_failure_ = what;
    }
}

}  // namespace weir::test
