#include "telemetry/log.hpp"

#include "jsonrpc/value.hpp"
#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace weir;
using namespace weir::telemetry;
using config::LogFormat;
using config::LogLevel;
using namespace std::chrono_literals;

namespace {

// Both ends of a pipe or a socket pair.
class Channel {
  public:
    enum class Kind { pipe, socket };

    explicit Channel(Kind kind = Kind::pipe) {
        const int made = kind == Kind::pipe ? pipe2(ends_.data(), O_CLOEXEC)
                                            : socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data());
        REQUIRE(made == 0);
    }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel() {
        close_reader();
        close(ends_[1]);
    }

    int writer() const { return ends_[1]; }
    void close_reader() {
        if (ends_[0] >= 0) {
            close(ends_[0]);
            ends_[0] = -1;
        }
    }

    // All that has come when nothing came for `quiet`, at most `limit` bytes.
    std::string read_all(std::chrono::milliseconds quiet,
                         std::size_t limit = std::size_t{64} << 20U) const {
        std::string all;
        std::array<char, 65536> piece{};
        pollfd ready = {ends_[0], POLLIN, 0};
        while (all.size() < limit && poll(&ready, 1, static_cast<int>(quiet.count())) > 0) {
            const ssize_t got = read(ends_[0], piece.data(), piece.size());
            if (got <= 0) {
                break;
            }
            all.append(piece.data(), static_cast<std::size_t>(got));
        }
        return all;
    }

  private:
    std::array<int, 2> ends_{};
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = text.find('\n', at);
        REQUIRE(end != std::string::npos);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::string member(const std::string& line, std::string_view name) {
    return std::string(jsonrpc::member(line, name));
}

config::Log settings(LogFormat format, LogLevel level = LogLevel::info) {
    config::Log out;
    out.format = format;
    out.level = level;
    return out;
}

}  // namespace

TEST_CASE("a JSON line is valid JSON whatever its fields hold") {
    Channel channel;
    {
        Log log(settings(LogFormat::json), {}, {channel.writer()});
        log.write(LogLevel::info, "first");
        log.write(LogLevel::error, "odd \"bytes\" \xFF\n\x1b[31m",
                  {{"text", "a\\b\"c\xC3\x28"},
                   {"negative", std::int64_t{-7}},
                   {"large", std::numeric_limits<std::uint64_t>::max()},
                   {"ratio", 0.25},
                   {"nan", std::nan("")},
                   {"infinite", std::numeric_limits<double>::infinity()},
                   {"yes", true},
                   {"no", false}});
    }
    const auto lines = lines_of(channel.read_all(0ms));
    REQUIRE(lines.size() == 2);
    for (const std::string& line : lines) {
        CAPTURE(line);
        CHECK(jsonrpc::is_valid(line));
        // 2026-01-31T23:59:59.123Z
        const std::string time = member(line, "time");
        REQUIRE(time.size() == 26);  // with its quotes
        CHECK(time[11] == 'T');
        CHECK(time[20] == '.');
        CHECK(time[24] == 'Z');
    }
    CHECK(lines[0].substr(35) == R"("level":"info","message":"first"})");
    CHECK(member(lines[1], "level") == R"("error")");
    CHECK(member(lines[1], "message") == "\"odd \\\"bytes\\\" \xEF\xBF\xBD\\n\\u001b[31m\"");
    CHECK(member(lines[1], "text") == "\"a\\\\b\\\"c\xEF\xBF\xBD(\"");
    CHECK(member(lines[1], "negative") == "-7");
    CHECK(member(lines[1], "large") == "18446744073709551615");
    CHECK(member(lines[1], "ratio") == "0.25");
    CHECK(member(lines[1], "nan") == "null");
    CHECK(member(lines[1], "infinite") == "null");
    CHECK(member(lines[1], "yes") == "true");
    CHECK(member(lines[1], "no") == "false");
}

TEST_CASE("a text line is one line") {
    Channel channel;
    {
        Log log(settings(LogFormat::text), {}, {channel.writer()});
        log.write(LogLevel::warn, "two\nlines",
                  {{"chain", "ethereum"}, {"why", "it broke"}, {"count", std::uint64_t{3}}});
    }
    const auto lines = lines_of(channel.read_all(0ms));
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].substr(24) == R"( warn  two\nlines chain=ethereum why="it broke" count=3)");
}

TEST_CASE("levels below the set one are off") {
    Channel channel;
    {
        Log log(settings(LogFormat::json, LogLevel::warn), {}, {channel.writer()});
        CHECK_FALSE(log.enabled(LogLevel::info));
        CHECK(log.enabled(LogLevel::warn));
        CHECK(log.enabled(LogLevel::error));
        log.write(LogLevel::info, "unseen");
        log.write(LogLevel::warn, "seen");
    }
    const auto lines = lines_of(channel.read_all(0ms));
    REQUIRE(lines.size() == 1);
    CHECK(member(lines[0], "message") == R"("seen")");
}

TEST_CASE("secrets are masked in messages and fields, and the line stays JSON") {
    const std::string key = "k\"e\\y/with odd";
    for (const LogFormat format : {LogFormat::json, LogFormat::text}) {
        Channel channel;
        {
            Log log(settings(format), {core::Secret(key), core::Secret("short")},
                    {channel.writer()});
            log.write(LogLevel::info, "got " + key, {{"target", "/v2/k%22e%5Cy%2Fwith%20odd?x"}});
            log.write(LogLevel::info, "json", {{"body", R"({"k":"k\"e\\y\/with odd"})"}});
            log.write(LogLevel::info, "short stays");
        }
        const std::string text = channel.read_all(0ms);
        const auto lines = lines_of(text);
        REQUIRE(lines.size() == 3);
        CHECK(text.find("with") == std::string::npos);
        CHECK(lines[0].find("got ***") != std::string::npos);
        CHECK(lines[0].find("/v2/***?x") != std::string::npos);
        CHECK(lines[2].find("short stays") != std::string::npos);
        if (format == LogFormat::json) {
            CHECK(jsonrpc::is_valid(lines[0]));
            CHECK(jsonrpc::is_valid(lines[1]));
            CHECK(member(lines[1], "body") == R"("{\"k\":\"***\"}")");
        }
    }
}

TEST_CASE("lines come by themselves, warnings and all before them at once") {
    Channel channel(Channel::Kind::socket);
    Log log(settings(LogFormat::json), {}, {channel.writer()});
    log.write(LogLevel::info, "an info");
    log.write(LogLevel::warn, "a warning");
    CHECK(lines_of(channel.read_all(500ms)).size() == 2);
    log.write(LogLevel::info, "an info");
    CHECK(lines_of(channel.read_all(500ms)).size() == 1);
}

TEST_CASE("a full pipe makes nobody wait: lines are dropped, counted and reported") {
    Channel channel;
    Log log(settings(LogFormat::json), {}, {channel.writer(), 64 * 1024});
    const std::string filler(1000, 'x');
    constexpr std::size_t kLines = 2000;  // 2 MB: more than pipe and buffers hold
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kLines; ++i) {
        log.write(LogLevel::error, filler);
    }
    CHECK(std::chrono::steady_clock::now() - start < 2s);
    CHECK(log.dropped() > 0);
    std::size_t seen = 0;
    std::size_t reported = 0;
    for (const std::string& line : lines_of(channel.read_all(500ms))) {
        REQUIRE(jsonrpc::is_valid(line));
        if (member(line, "message") == R"("log lines dropped")") {
            CHECK(member(line, "level") == R"("warn")");
            reported += std::stoul(member(line, "lines"));
        } else {
            ++seen;
        }
    }
    CHECK(reported == log.dropped());
    CHECK(seen + log.dropped() == kLines);
}

TEST_CASE("the end waits a bounded time for a reader, and loses nothing when there is one") {
    SECTION("nobody reads") {
        Channel channel;
        const auto start = std::chrono::steady_clock::now();
        {
            Log log(settings(LogFormat::json), {}, {channel.writer()});
            for (int i = 0; i < 1000; ++i) {
                log.write(LogLevel::info, std::string(1000, 'x'));
            }
        }
        const auto took = std::chrono::steady_clock::now() - start;
        CHECK(took >= 900ms);
        CHECK(took < 5s);
    }
    SECTION("somebody reads") {
        Channel channel;
        std::string text;
        std::thread reader([&] { text = channel.read_all(1000ms); });
        {
            Log log(settings(LogFormat::json), {}, {channel.writer()});
            for (int i = 0; i < 1000; ++i) {
                log.write(LogLevel::info, std::string(1000, 'x'));
            }
        }
        reader.join();
        CHECK(lines_of(text).size() == 1000);
    }
    SECTION("the reader is gone") {
        Channel channel;
        channel.close_reader();
        Log log(settings(LogFormat::json), {}, {channel.writer()});
        log.write(LogLevel::error, "nobody hears this");
        const auto give_up = std::chrono::steady_clock::now() + 5s;
        while (log.dropped() == 0 && std::chrono::steady_clock::now() < give_up) {
            std::this_thread::yield();
        }
        CHECK(log.dropped() == 1);
    }
}

TEST_CASE("lines of many threads stay whole") {
    Channel channel;
    constexpr int kThreads = 4;
    constexpr int kEach = 2000;
    std::string text;
    std::thread reader([&] { text = channel.read_all(1000ms); });
    {
        Log log(settings(LogFormat::json), {core::Secret("s3cr3t-key")}, {channel.writer()});
        std::vector<std::thread> threads;
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back([&log] {
                for (int i = 0; i < kEach; ++i) {
                    log.write(i % 50 == 0 ? LogLevel::warn : LogLevel::info, "a line",
                              {{"text", "with s3cr3t-key in it"}, {"i", std::int64_t{i}}});
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        CHECK(log.dropped() == 0);
    }
    reader.join();
    const auto lines = lines_of(text);
    CHECK(lines.size() == kThreads * kEach);
    for (const std::string& line : lines) {
        if (!jsonrpc::is_valid(line) || line.find("s3cr3t") != std::string::npos) {
            FAIL(line);
        }
    }
}

TEST_CASE("a share of the lines of what went well is written") {
    config::Log half = settings(LogFormat::json);
    half.sample = 0.25;
    const Log log(half, {}, {-1});
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    CHECK(log.samples(0));
    CHECK(log.samples(kMost / 5));
    CHECK_FALSE(log.samples(kMost / 3));
    CHECK_FALSE(log.samples(kMost));
    half.sample = 0;
    CHECK_FALSE(Log(half, {}, {-1}).samples(0));
    half.sample = 1;
    CHECK(Log(half, {}, {-1}).samples(kMost));
}

// Not run by default: prints what a line and a level check cost.
TEST_CASE("the cost of a line", "[.bench]") {
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    std::vector<core::Secret> secrets;
    for (int i = 0; i < 10; ++i) {
        secrets.emplace_back("secret-number-" + std::to_string(i * 7919));
    }
    Log log(settings(LogFormat::json), secrets, {null});
    constexpr int kLines = 1'000'000;
    const auto measure = [](const char* what, auto run) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < kLines; ++i) {
            run();
        }
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - start;
        WARN(what << ": " << took.count() / kLines << " ns");
    };
    measure("a line", [&log] {
        log.write(LogLevel::info, "request",
                  {{"request_id", "0123456789abcdef"},
                   {"chain", "ethereum"},
                   {"method", "eth_getBlockByNumber"},
                   {"outcome", "answered"},
                   {"upstream", "alchemy"},
                   {"attempts", std::uint64_t{1}},
                   {"duration_ms", 12.5},
                   {"bytes", std::uint64_t{1234}}});
    });
    measure("a level that is off", [&log] { log.write(LogLevel::debug, "unseen"); });
    WARN("dropped: " << log.dropped());
    close(null);
}

TEST_CASE("a field that is JSON stands as it is, without secrets, and as text in the text format") {
    const std::string list = R"([{"method":"eth_call","key":"of-a-secret-key"}])";
    for (const LogFormat format : {LogFormat::json, LogFormat::text}) {
        Channel channel;
        {
            Log log(settings(format), {core::Secret("of-a-secret-key")}, {channel.writer()});
            log.write(LogLevel::info, "record", {{"reads", telemetry::Json{list}}});
        }
        const std::vector<std::string> lines = lines_of(channel.read_all(0ms));
        REQUIRE(lines.size() == 1);
        CHECK(lines[0].find("of-a-secret-key") == std::string::npos);
        if (format == LogFormat::json) {
            CHECK(member(lines[0], "reads") == R"([{"method":"eth_call","key":"***"}])");
        } else {
            CHECK(lines[0].find(R"(reads="[{\"method\":\"eth_call\")") != std::string::npos);
        }
    }
}
