// The tables of tests/data/providers against the built-in rules, as written and with what does not
// matter changed.
#include "config/document.hpp"
#include "config/providers.hpp"
#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "routing/classify.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::routing;

namespace {

struct Row {
    std::string profile = "generic";
    std::string method = "eth_call";
    std::string params = R"([{"to":"0x00","data":"0x01"},"latest"])";
    int status = 200;
    std::string code;
    std::string message;
    std::string data;
    std::string body;
    bool whole_body = false;
    Message sent = Message::single;
    HttpHead head;
    std::string cause;
    std::optional<double> wait;
    std::string place;  // file and line
};

std::vector<Row> read_rows(const std::string& name) {
    const std::string path = std::string(WEIR_SOURCE_DIR) + "/tests/data/providers/" + name;
    std::ifstream file(path);
    REQUIRE(file.good());
    std::ostringstream text;
    text << file.rdbuf();
    const auto document = config::parse_document(text.str());
    REQUIRE(document.has_value());
    std::vector<Row> rows;
    for (const config::NodePtr& node : (*document)->items) {
        Row row;
        row.place = name + ":" + std::to_string(node->line);
        for (const auto& [key, value] : node->entries) {
            const std::string& v = value->text;
            if (key == "profile")
                row.profile = v;
            else if (key == "method")
                row.method = v;
            else if (key == "status")
                row.status = std::atoi(v.c_str());
            else if (key == "code")
                row.code = v;
            else if (key == "message")
                row.message = v;
            else if (key == "data")
                row.data = v;
            else if (key == "body")
                row.body = v, row.whole_body = true;
            else if (key == "batch")
                row.sent = Message::batch;
            else if (key == "retry_after")
                row.head.retry_after = v;
            else if (key == "date")
                row.head.date = v;
            else if (key == "ratelimit_reset")
                row.head.limits.emplace_back("ratelimit-reset", v);
            else if (key == "x_ratelimit_reset")
                row.head.limits.emplace_back("x-ratelimit-reset", v);
            else if (key == "x_ratelimit_reset_after")
                row.head.limits.emplace_back("x-ratelimit-reset-after", v);
            else if (key == "cause")
                row.cause = v;
            else if (key == "wait")
                row.wait = std::atof(v.c_str());
            else
                FAIL(row.place << ": unknown key " << key);
        }
        rows.push_back(std::move(row));
    }
    REQUIRE(!rows.empty());
    return rows;
}

std::vector<Row> all_rows() {
    std::vector<Row> rows;
    for (const char* name : {"providers.yaml", "generic.yaml", "nodes.yaml", "likely.yaml",
                             "gateways.yaml", "unseen.yaml"}) {
        for (Row& row : read_rows(name)) {
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::string error_of(const Row& row, bool code_as_text = false) {
    std::string error = R"({"code":)" + (code_as_text ? '"' + row.code + '"' : row.code);
    error += R"(,"message":)";
    jsonrpc::append_string(error, row.message);
    if (!row.data.empty()) {
        error += R"(,"data":)" + row.data;
    }
    return error + '}';
}

std::string body_of(const Row& row, const std::string& error) {
    return row.whole_body ? row.body : R"({"jsonrpc":"2.0","id":1,"error":)" + error + '}';
}

const ProviderBook& book() {
    static const ProviderBook kBook(config::built_in_providers());
    return kBook;
}

Verdict judge(const Row& row, const std::string& body) {
    HttpReply reply;
    reply.head = row.head;
    reply.head.status = row.status;
    reply.body = body;
    const auto parsed = jsonrpc::parse_reply(body);
    if (parsed && (*parsed).id == "1") {
        reply.reply = *parsed;
    }
    const CallSent call{.method = row.method,
                        .traits = find_method(row.method),
                        .params = row.params,
                        .message = row.sent};
    return classify(book().get(row.profile), call, reply);
}

std::string cause_of(const Row& row, const std::string& body) {
    return std::string(to_string(judge(row, body).cause));
}

constexpr const char* kTelling[] = {"128", "401", "429", "503"};

// The same words otherwise: what stands between them, and their case.
std::string with_odd_spacing(const std::string& text) {
    std::string out = "  ";
    for (const char c : text) {
        if (c == ' ') {
            out += " \t ";
        } else {
            out += c;
        }
    }
    return out + "\n";
}

std::string in_upper_case(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') {
            c = static_cast<char>(c - 'a' + 'A');
        }
    }
    return text;
}

// A number that means something by itself.
bool says_a_number(const std::string& text) {
    return std::any_of(std::begin(kTelling), std::end(kTelling),
                       [&](const char* number) { return text.find(number) != text.npos; });
}

// Every number of more than one digit, another one. (A single digit may be a name's.)
std::string with_other_numbers(std::string text) {
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        const auto digit = [&](std::size_t k) { return text[k] >= '0' && text[k] <= '9'; };
        if (digit(i) && digit(i + 1) && (i == 0 || !digit(i - 1))) {
            text[i] = text[i] == '7' ? '8' : '7';
        }
    }
    return text;
}

}  // namespace

TEST_CASE("what providers and nodes were seen to say") {
    for (const Row& row : all_rows()) {
        INFO(row.place << ": " << row.message << row.body);
        const Verdict verdict = judge(row, body_of(row, error_of(row)));
        CHECK(std::string(to_string(verdict.cause)) == row.cause);
        CHECK(verdict.retry_after.has_value() == row.wait.has_value());
        if (row.wait && verdict.retry_after) {
            CHECK(std::chrono::duration<double>(*verdict.retry_after).count() == Approx(*row.wait));
        }
    }
}

TEST_CASE("case, spacing, numbers, nesting and a code that is a string change nothing") {
    for (const Row& row : all_rows()) {
        if (row.whole_body || row.message.empty() || row.message.find('{') != std::string::npos) {
            continue;
        }
        INFO(row.place << ": " << row.message);
        for (const std::string& message :
             {core::to_lower(row.message), in_upper_case(row.message),
              with_odd_spacing(row.message),
              // Two words alone may have to be the whole message.
              row.message.size() > 20 ? row.message + " (eth7.example.org:8545)" : row.message}) {
            Row changed = row;
            changed.message = message;
            INFO(message);
            CHECK(cause_of(changed, body_of(changed, error_of(changed))) == row.cause);
        }
        Row numbers = row;
        if (!says_a_number(row.message)) {
            numbers.message = with_other_numbers(row.message);
        }
        CHECK(cause_of(numbers, body_of(numbers, error_of(numbers))) == row.cause);
        if (row.code.front() != '"') {
            CHECK(cause_of(row, body_of(row, error_of(row, true))) == row.cause);
        }
    }
}

TEST_CASE("what stands below an error counts as if it stood in it") {
    for (const Row& row : all_rows()) {
        if (row.code != "-32000" || !row.data.empty()) {
            continue;  // other codes may mean something
        }
        std::string said;
        jsonrpc::append_string(said, row.message);
        for (const std::string& data :
             {said, R"({"message":)" + said + '}', R"({"error":{"message":)" + said + "}}",
              R"({"originalError":{"code":2,"message":)" + said + "}}",
              R"({"details":)" + said + '}', '[' + said + ']'}) {
            INFO(row.place << ": " << data);
            const std::string error = R"({"code":-32000,"message":"failed","data":)" + data + '}';
            CHECK(cause_of(row, body_of(row, error)) == row.cause);
        }
    }
}

TEST_CASE("a message is found wherever it is put") {
    for (
        const char* error :
        {R"({"code":-32000,"message":"","data":"rate limit exceeded"})",
         R"({"code":-32000,"messgae":"rate limit exceeded"})",
         R"({"code":-32000,"message":"sorry","data":{"message":"rate limit exceeded"}})",
         R"({"code":-32000,"message":"sorry","details":"rate limit exceeded"})",
         R"({"code":-32000,"message":"sorry","data":{"cause":{"message":"rate limit exceeded"}}})",
         R"({"code":-32000,"message":"sorry","data":{"errors":[{"message":"rate limit exceeded"}]}})",
         R"("rate limit exceeded")", R"({"code":"429"})"}) {
        INFO(error);
        Row row;
        CHECK(cause_of(row, body_of(row, error)) == "rate_limited");
    }
}

TEST_CASE("words in a row are found run together, in any case") {
    for (const char* message : {"RateLimitExceeded", "rateLimit", "RATELIMIT", "TooManyRequests",
                                "toomanyrequests: wait", "too_many_requests"}) {
        INFO(message);
        Row row;
        row.code = "-32000";
        row.message = message;
        CHECK(cause_of(row, body_of(row, error_of(row))) == "rate_limited");
    }
    Row row;
    row.code = "-32000";
    row.message = "generateLimits";  // no word of its own
    CHECK(cause_of(row, body_of(row, error_of(row))) == "unknown");
}

TEST_CASE("words that the call brought prove nothing") {
    struct Poison {
        const char* method;
        const char* params;
        const char* error;
    };
    for (const Poison& poison : {
             Poison{"eth_call", R"([{"to":"rate limit exceeded"},"latest"])",
                    R"({"code":-32000,"message":"bad address: rate limit exceeded"})"},
             Poison{"eth_call", R"([{"to":"RATE  LIMIT"},"latest"])",
                    R"({"code":-32000,"message":"bad address rate limit"})"},
             Poison{"eth_call", R"([{"rate":1,"limit":2}])",
                    R"({"code":-32000,"message":"unknown fields map[rate:1 limit:2] rate limit"})"},
             Poison{"eth_call", R"(["\u0072ate limit exceeded"])",
                    R"({"code":-32000,"message":"cannot read rate limit exceeded"})"},
             Poison{"eth_call", R"(["invalid api key"])",
                    R"({"code":-32000,"message":"cannot read invalid api key"})"},
             Poison{"eth_call", R"(["monthly quota exceeded"])",
                    R"({"code":-32000,"message":"cannot read monthly quota exceeded"})"},
             Poison{
                 "eth_call", R"(["429 Too Many Requests: {\"code\":429}"])",
                 R"({"code":-32000,"message":"429 Too Many Requests: {\"code\":429} is no hash"})"},
             Poison{"eth_call", R"([{"rateLimit":1}])",
                    R"({"code":-32000,"message":"unknown field ratelimit"})"},
             Poison{"eth_call", R"(["TooManyRequests"])",
                    R"({"code":-32000,"message":"cannot read toomanyrequests"})"},
             Poison{"eth_call", R"(["tooManyRequests"])",
                    R"({"code":-32000,"message":"cannot read TOOMANYREQUESTS"})"},
             Poison{"rate_limit_exceeded", "[]",
                    R"({"code":-32000,"message":"cannot call rate_limit_exceeded"})"},
             Poison{"too-many-requests", "[]",
                    R"({"code":-32000,"message":"cannot call too-many-requests"})"},
             Poison{"eth_call", R"(["429 Too Many Requests: rate limit"])",
                    R"({"code":-32602,"message":"invalid: 429 Too Many Requests: rate limit"})"},
         }) {
        INFO(poison.method << ' ' << poison.params);
        Row row;
        row.method = poison.method;
        row.params = poison.params;
        const Verdict verdict = judge(row, body_of(row, poison.error));
        CHECK(verdict.disposition == Disposition::answer);
        CHECK(verdict.blame != Blame::upstream);
    }
    // So long that it is not looked at: then no word counts, but the status does.
    Row row;
    row.params = "[\"" + std::string(100'000, 'x') + " rate limit exceeded\"]";
    const char* const error = R"({"code":-32000,"message":"what is rate limit exceeded"})";
    CHECK(cause_of(row, body_of(row, error)) == "unknown");
    row.status = 429;
    CHECK(cause_of(row, body_of(row, error)) == "rate_limited");
}

TEST_CASE("costs are the provider's own, by name, by pattern, or its default") {
    CHECK(book().get("alchemy").cost("eth_call") == 26);
    CHECK(book().get("alchemy").cost("eth_newThing") == 20);
    CHECK(book().get("infura").cost("eth_call") == 80);
    CHECK(book().get("infura").cost("eth_getLogs") == 255);
    CHECK(book().get("infura").cost("net_version") == 5);
    CHECK(book().get("infura").cost("eth_getUncleCountByBlockHash") == 150);
    CHECK(book().get("infura").cost("trace_newThing") == 300);
    CHECK(book().get("quicknode").cost("trace_block") == 40);
    CHECK(book().get("quicknode").cost("trace_replayTransaction") == 80);
    CHECK(book().get("alchemy").cost("trace_block") == 20);
    CHECK(book().get("alchemy").cost("trace_transaction") == 40);
    CHECK(book().get("drpc").cost("debug_traceTransaction") == 20);
    CHECK(book().get("drpc").cost("eth_chainId") == 0);
    CHECK(book().get("ankr").cost("eth_getLogs") == 200);
    CHECK(book().get("infura").cost("debug_newThing") == 1000);
    CHECK(book().get("alchemy").cost("debug_newThing") == 40);
    CHECK(book().get("alchemy").cost("eth_syncing") == 0);
    CHECK(book().get("tenderly").cost("debug_newThing") == 170);  // as generic has it
    CHECK(book().get("nobody").name() == "generic");
    CHECK(book().get("ankr").batch_max() == 1000);
    CHECK(book().get("generic").batch_max() == 0);
}

TEST_CASE("block tags, hex and the usual member names take no word away") {
    Row row;
    row.params = R"([{"from":"0x1","gas":"0x5","data":"0x08c379a0","topics":[]},"latest"])";
    CHECK(
        cause_of(row, body_of(row, R"({"code":1,"message":"block is beyond the latest block"})")) ==
        "block_unknown");
}

TEST_CASE("no wording is longer than six words, and -32000 and -32005 need one") {
    for (const char* rule : {
             R"({cause: rate_limited, says: ["one two three four five six seven"]})",
             R"({cause: rate_limited, codes: [-32000]})",
             R"({cause: rate_limited, codes: [429, -32005]})",
             R"({cause: rate_limited})",
             R"({cause: answered, codes: [1]})",
             R"({cause: rate_limited, says: ["Rate Limit"]})",
             R"({cause: rate_limited, says: ["* limit"]})",
             R"({cause: rate_limited, says: ["a * b * c * d"]})",
             R"({cause: rate_limited, says: []})",
             R"({cause: rate_limited, status: [42]})",
             R"({cause: rate_limited, code: [42]})",
             R"({says: ["x"]})",
         }) {
        INFO(rule);
        const std::string yaml =
            std::string("profiles:\n  generic:\n    rules:\n      - ") + rule + "\n";
        const auto loaded = config::load_providers(yaml, "file");
        REQUIRE_FALSE(loaded.has_value());
        CHECK(to_string(loaded.error().front()).rfind("file: profiles.generic.rules[0]", 0) == 0);
    }
    CHECK_FALSE(config::load_providers("profiles: {}", "file").has_value());
    CHECK(config::load_providers("profiles: {generic: {batch: 5}}", "file").has_value());
}
