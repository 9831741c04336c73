// How fast request bodies and replies are checked and taken apart. Prints time per body and GB/s;
// the best of several rounds, so that a busy machine does not spoil the figure.
#include "jsonrpc/reply.hpp"
#include "jsonrpc/request.hpp"
#include "jsonrpc/value.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
void measure(const char* name, std::string_view body, Work work) {
    const std::size_t times = std::max<std::size_t>(1, 20'000'000 / body.size());
    double best = 1e300;
    for (int round = 0; round < 7; ++round) {
        const auto start = Clock::now();
        for (std::size_t i = 0; i < times; ++i) {
            asm volatile("" : : "r"(body.data()) : "memory");  // the text may have changed
            if (!work(body)) std::printf("refused: %s\n", name);
        }
        const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
        best = std::min(best, spent.count() / static_cast<double>(times));
    }
    std::printf("%-28s %9zu bytes %12.3f us %7.2f GB/s\n", name, body.size(), best / 1000,
                static_cast<double>(body.size()) / best);
}

std::string call(int id) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"eth_call","params":[{"to":"0xdac17f958d2ee523a2206206994597c13d831ec7",)"
           R"("data":"0x70a08231000000000000000000000000f977814e90da44bfa03b6295a0616a897441acec"},)"
           R"("latest"]})";
}

std::string logs(int count) {
    std::string reply = R"({"jsonrpc":"2.0","id":1,"result":[)";
    for (int i = 0; i < count; ++i) {
        if (i != 0) reply += ',';
        reply += R"({"address":"0xdac17f958d2ee523a2206206994597c13d831ec7","topics":[)"
                 R"("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",)"
                 R"("0x0000000000000000000000005041ed759dd4afc3a72b8192c143f72f4724081a",)"
                 R"("0x000000000000000000000000f977814e90da44bfa03b6295a0616a897441acec"],)"
                 R"("data":"0x0000000000000000000000000000000000000000000000000000000077359400",)"
                 R"("blockNumber":"0x1312d00","transactionHash":)"
                 R"("0x9a1b7d9f3b6ac7a2f7f2f0a1e8f1a6d53d7d0b8e2b7f5e1c4b3a29181706f5e4",)"
                 R"("transactionIndex":"0x4f","blockHash":)"
                 R"("0x4e3a3754410177e6937ef1f84bba68ea139e8d1a2258c5f85db9f1cd715a1bdd",)"
                 R"("logIndex":"0xc1","removed":false})";
    }
    return reply + "]}";
}

}  // namespace

int main() {
    using namespace weir::jsonrpc;
    const auto request = [](std::string_view body) {
        return parse_request(body, RequestLimits{}).has_value();
    };
    const auto reply = [](std::string_view body) { return parse_reply(body).has_value(); };
    const auto pieces = [](std::string_view body) {
        EnvelopeScanner scanner;
        for (; !body.empty(); body.remove_prefix(std::min<std::size_t>(body.size(), 16384))) {
            scanner.feed(body.substr(0, 16384));
        }
        return scanner.state() == EnvelopeScanner::State::complete;
    };
    std::string batch = "[";
    for (int i = 0; i < 100; ++i) batch += (i == 0 ? "" : ",") + call(i);
    batch += "]";
    const std::string small = R"({"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]})";
    const std::string hex =
        R"({"jsonrpc":"2.0","id":1,"result":"0x)" + std::string(10'000'000, 'a') + "\"}";

    const auto check = [](std::string_view body) { return is_valid(body); };
    measure("check eth_blockNumber", small, check);
    measure("parse eth_blockNumber", small, request);
    measure("check eth_call", call(1), check);
    measure("parse eth_call", call(1), request);
    measure("parse a batch of 100", batch, request);
    measure("reply, small", R"({"jsonrpc":"2.0","id":1,"result":"0x1312d00"})", reply);
    measure("reply, 1 log", logs(1), reply);
    measure("reply, 100 logs", logs(100), reply);
    measure("reply, 10000 logs", logs(10000), reply);
    measure("reply, 10000 logs, 16 KiB", logs(10000), pieces);
    measure("reply, 10 MB of hex", hex, reply);
    measure("reply, 10 MB hex, 16 KiB", hex, pieces);
    measure("element(params, 1)",
            R"([{"to":"0xdac17f958d2ee523a2206206994597c13d831ec7"},"latest"])",
            [](std::string_view params) { return !element(params, 1).empty(); });
}
