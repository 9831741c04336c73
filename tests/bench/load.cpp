// The benchmark's client: JSON-RPC calls over kept-alive HTTP/1.1 connections to 127.0.0.1. Prints
// one line of JSON. Ends with 1 as soon as a reply is not what was asked for.
//
//   bench_load closed PORT PATH CONNECTIONS SECONDS CALLS
//       each connection sends its next request when it has its reply; CALLS in one request, 1 for
//       a plain call
//   bench_load open PORT PATH CONNECTIONS SECONDS RATE
//       requests at random times (Poisson), whatever the replies do; a latency counts from the
//       time at which the request was due, so a late one hides nothing
//   bench_load idle PORT PATH CONNECTIONS
//       one call on each connection, prints, then holds them open until its input ends
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <random>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kWarmUp{0.5};  // of an open loop; its latencies do not count

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "bench_load: %s\n", what);
    std::exit(1);
}

// 200 bytes long with an id of nine digits.
std::string call(std::uint64_t id) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"eth_call","params":[{"to":"0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",)"
           R"("data":"0x70a08231000000000000000000000000d8da6bf26964af9d7eed9e03e53415d3"},"latest"]})";
}

struct Connection {
    int socket = -1;
    Time due;                // when the request ought to have gone out
    std::uint64_t last = 0;  // id of its last call
    std::size_t got = 0;     // bytes of the reply
    std::size_t whole = 0;   // its size; 0: not known yet
    std::string start;       // its first bytes
    std::string tail;        // its last bytes
};

class Load {
  public:
    Load(std::uint16_t port, std::string path, std::size_t connections, std::size_t calls)
        : path_(std::move(path)), calls_(calls), poll_(epoll_create1(0)) {
        connections_.resize(connections);
        for (Connection& each : connections_) {
            open(each, port);
        }
    }

    std::vector<Connection>& connections() { return connections_; }

    void request(Connection& connection, Time due) {
        body_ = calls_ == 1 ? "" : "[";
        for (std::size_t i = 0; i < calls_; ++i) {
            if (i != 0) {
                body_ += ',';
            }
            body_ += call(next_id_++);
        }
        if (calls_ != 1) {
            body_ += ']';
        }
        text_ = "POST " + path_ +
                " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                "Content-Length: " +
                std::to_string(body_.size()) + "\r\n\r\n" + body_;
        connection.due = due;
        connection.last = next_id_ - 1;
        connection.got = connection.whole = 0;
        connection.start.clear();
        connection.tail.clear();
        if (send(connection.socket, text_.data(), text_.size(), MSG_NOSIGNAL) !=
            static_cast<ssize_t>(text_.size())) {
            fail("a request was not taken");
        }
    }

    // Waits for replies; `done` is called for each connection whose reply is complete.
    template <class Done>
    void wait(Seconds patience, Done done) {
        const auto nanoseconds =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::max(patience, Seconds(0)));
        const timespec limit{0, std::min(nanoseconds.count(), std::int64_t{50'000'000})};
        const int count =
            epoll_pwait2(poll_, events_.data(), static_cast<int>(events_.size()), &limit, nullptr);
        for (int i = 0; i < count; ++i) {
            auto& connection =
                *static_cast<Connection*>(events_[static_cast<std::size_t>(i)].data.ptr);
            if (read(connection)) {
                done(connection);
            }
        }
    }

  private:
    static constexpr std::size_t kStart = 2048;  // of a reply, enough for its head and first id

    void open(Connection& connection, std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connection.socket = socket(AF_INET, SOCK_STREAM, 0);
        if (connection.socket < 0 ||
            connect(connection.socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) !=
                0) {
            fail("cannot connect");
        }
        const int on = 1;
        setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = &connection;
        epoll_ctl(poll_, EPOLL_CTL_ADD, connection.socket, &event);
    }

    // True when the reply is complete.
    bool read(Connection& connection) {
        const ssize_t count = recv(connection.socket, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) {
            return false;
        }
        if (count <= 0) {
            fail("a connection was closed");
        }
        const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(count));
        connection.got += bytes.size();
        if (connection.start.size() < kStart) {
            connection.start += bytes.substr(0, kStart);
        }
        if (connection.whole == 0) {
            read_head(connection);
        }
        constexpr std::size_t kTail = 8;
        connection.tail += bytes.substr(bytes.size() - std::min(bytes.size(), kTail));
        if (connection.whole == 0 || connection.got < connection.whole) {
            return false;
        }
        check(connection);
        return true;
    }

    static void read_head(Connection& connection) {
        const std::size_t end = connection.start.find("\r\n\r\n");
        if (end == std::string::npos) {
            return;
        }
        if (!connection.start.starts_with("HTTP/1.1 200 ")) {
            std::fprintf(stderr, "%s\n", connection.start.c_str());
            fail("a reply's status is not 200");
        }
        constexpr std::array<std::string_view, 2> kNames{"\r\nContent-Length: ",
                                                         "\r\ncontent-length: "};
        for (const std::string_view name : kNames) {
            const std::size_t at = connection.start.find(name);
            if (at < end) {
                std::size_t length = 0;
                std::from_chars(connection.start.data() + at + name.size(),
                                connection.start.data() + end, length);
                connection.whole = end + 4 + length;
                return;
            }
        }
        fail("a reply has no Content-Length");
    }

    // The head's end and what follows is in `start`: enough to see the first call's id and result.
    void check(const Connection& connection) const {
        const std::size_t body = connection.start.find("\r\n\r\n") + 4;
        const std::string id = std::to_string(connection.last - calls_ + 1);
        const std::string expected = std::string(calls_ == 1 ? "" : "[") +
                                     R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":"0x)";
        const bool begins = std::string_view(connection.start).substr(body).starts_with(expected);
        const bool ends = connection.tail.ends_with(calls_ == 1 ? "\"}" : "\"}]");
        if (connection.got != connection.whole || !begins || !ends) {
            std::fprintf(stderr, "%.300s\n", connection.start.c_str() + body);
            fail("a reply does not answer its call");
        }
    }

    std::string path_;
    std::size_t calls_;
    int poll_;
    std::vector<Connection> connections_;
    std::array<epoll_event, 256> events_{};
    std::uint64_t next_id_ = 100'000'000;
    std::string body_;
    std::string text_;
    std::vector<char> buffer_ = std::vector<char>(512 * 1024);
};

double quantile(const std::vector<double>& sorted, double share) {
    const auto at = static_cast<std::size_t>(static_cast<double>(sorted.size()) * share);
    return sorted.empty() ? 0 : sorted[std::min(at, sorted.size() - 1)];
}

void run_closed(Load& load, Seconds length) {
    std::uint64_t done = 0;
    std::size_t running = 0;
    const Time start = Clock::now();
    for (Connection& each : load.connections()) {
        load.request(each, start);
        ++running;
    }
    Time now = start;
    while (running != 0) {
        load.wait(Seconds(1), [&](Connection& connection) {
            ++done;
            now = Clock::now();
            if (now - start < length) {
                load.request(connection, now);
            } else {
                --running;
            }
        });
    }
    const Seconds took = now - start;
    std::printf(R"({"requests":%llu,"seconds":%.6f})"
                "\n",
                static_cast<unsigned long long>(done), took.count());
}

void run_open(Load& load, Seconds length, double rate) {
    std::mt19937_64 random(42);  // NOLINT: the same times in every run
    std::exponential_distribution<double> pause(rate);
    std::vector<Connection*> free;
    for (Connection& each : load.connections()) {
        free.push_back(&each);
    }
    std::deque<Time> waiting;  // requests that are due and have no connection yet
    std::vector<double> latencies;
    std::uint64_t done = 0;
    const Time start = Clock::now();
    const auto later = [](Time from, double seconds) {
        return from + std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
    };
    const Time end = later(start, length.count());
    Time next = later(start, pause(random));
    while (next < end || !waiting.empty() || free.size() != load.connections().size()) {
        const Time now = Clock::now();
        for (; next <= now && next < end; next = later(next, pause(random))) {
            waiting.push_back(next);
        }
        for (; !waiting.empty() && !free.empty(); waiting.pop_front(), free.pop_back()) {
            load.request(*free.back(), waiting.front());
        }
        load.wait(next - Clock::now(), [&](Connection& connection) {
            ++done;
            if (connection.due - start > kWarmUp) {
                latencies.push_back(Seconds(Clock::now() - connection.due).count() * 1e6);
            }
            free.push_back(&connection);
        });
        if (now - end > Seconds(5)) {
            fail("the replies do not keep up with the rate");
        }
    }
    std::sort(latencies.begin(), latencies.end());
    std::printf(R"({"requests":%llu,"p50_us":%.2f,"p99_us":%.2f})"
                "\n",
                static_cast<unsigned long long>(done), quantile(latencies, 0.5),
                quantile(latencies, 0.99));
}

void run_idle(Load& load) {
    for (Connection& each : load.connections()) {
        bool answered = false;
        load.request(each, Clock::now());
        while (!answered) {
            load.wait(Seconds(1), [&answered](Connection&) { answered = true; });
        }
    }
    std::printf(R"({"connections":%zu})"
                "\n",
                load.connections().size());
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
}

double number(const char* text) { return std::strtod(text, nullptr); }

}  // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    const bool idle = mode == "idle" && argc == 5;
    const bool loop = (mode == "closed" || mode == "open") && argc == 7;
    if (!idle && !loop) {
        fail("usage: see the head of load.cpp");
    }
    const auto calls = mode == "closed" ? static_cast<std::size_t>(number(argv[6])) : 1;
    Load load(static_cast<std::uint16_t>(number(argv[2])), argv[3],
              static_cast<std::size_t>(number(argv[4])), calls);
    if (idle) {
        run_idle(load);
    } else if (mode == "closed") {
        run_closed(load, Seconds(number(argv[5])));
    } else {
        run_open(load, Seconds(number(argv[5])), number(argv[6]));
    }
    return 0;
}
