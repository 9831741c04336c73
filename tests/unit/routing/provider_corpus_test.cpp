// The classifier against a collection of shapes that providers were seen to send, where there is
// one: WEIR_CORPORA names the folder that holds provider-errors.jsonl.
#include "config/providers.hpp"
#include "jsonrpc/value.hpp"
#include "routing/classify.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::routing;

namespace {

std::string text(std::string_view object, std::string_view name) {
    return jsonrpc::string_value(jsonrpc::member(object, name)).value_or("");
}

// The profile whose name the provider's own begins with or holds.
std::string profile_of(const std::string& provider) {
    const std::map<std::string, std::string> kNames = {
        {"Alchemy", "alchemy"},
        {"Infura", "infura"},
        {"QuickNode", "quicknode"},
        {"Ankr", "ankr"},
        {"dRPC", "drpc"},
        {"Chainstack", "chainstack"},
        {"Tenderly", "tenderly"},
        {"Flashbots", "flashbots"},
        {"PublicNode", "publicnode"},
        {"Base ", "base"},
        {"proxyd", "base"},
        {"Arbitrum public", "arbitrum"},
        {"cloudflare", "cloudflare"},
        {"NodeReal", "nodereal"},
        {"1RPC", "1rpc"},
        {"OnFinality", "onfinality"},
        {"Pocket", "pocket"},
        {"Conduit", "conduit"},
        {"Hedera", "hedera"},
        {"BSC dataseed", "bsc"},
        {"zkSync", "zksync"},
    };
    for (const auto& [part, name] : kNames) {
        if (provider.find(part) == 0) {
            return name;
        }
    }
    return "generic";
}

std::set<Cause> expected(const std::string& label) {
    using enum Cause;
    const std::map<std::string, std::set<Cause>> kCauses = {
        {"ok_not_error", {answered}},
        {"auth", {auth_failed}},
        {"transient", {server_error, bad_reply}},
        {"html_gateway_error", {server_error, bad_reply, timeout}},
        {"block_not_found_or_behind", {block_unknown}},
        {"missing_state", {state_missing}},
        {"method_not_allowed_by_plan", {plan_lacks_method}},
        {"unsupported_method", {method_unsupported}},
        {"invalid_request", {invalid_params, bad_reply}},
    };
    const auto at = kCauses.find(label);
    if (at != kCauses.end()) {
        return at->second;
    }
    for (std::size_t i = 0; i < weir::routing::kCauses; ++i) {
        if (to_string(static_cast<Cause>(i)) == label) {
            return {static_cast<Cause>(i)};
        }
    }
    return {};
}

const char* method_for(const std::string& label, const std::string& provider) {
    if (label == "already_known" || label == "nonce_too_low" || label == "underpriced" ||
        label == "tx_rejected") {
        return "eth_sendRawTransaction";
    }
    if (label == "range_too_large" || label == "response_too_large" ||
        provider.find("BSC") != provider.npos) {
        return "eth_getLogs";
    }
    return "eth_call";
}

// The body's error as its call would see it: an object by itself, or the first item of an array
// that is no result.
std::string_view item_of(std::string_view body) {
    if (!jsonrpc::is_array(body)) {
        return body;
    }
    for (std::size_t i = 0; i < jsonrpc::element_count(body); ++i) {
        const std::string_view item = jsonrpc::element(body, i);
        if (!jsonrpc::member(item, "error").empty()) {
            return item;
        }
    }
    return jsonrpc::element(body, 0);
}

struct Shape {
    std::string id;
    std::string provider;
    std::string label;
    std::string body;
    HttpHead head;
    bool is_array = false;
    std::optional<double> wait;
};

Shape read_shape(const std::string& line) {
    Shape shape;
    shape.id = text(line, "id");
    shape.provider = text(line, "provider");
    shape.label = text(line, "class");
    shape.head.status = std::atoi(std::string(jsonrpc::member(line, "http_status")).c_str());
    const std::string_view headers = jsonrpc::member(line, "headers");
    shape.head.retry_after = text(headers, "retry-after");
    shape.head.date = text(headers, "date");
    for (const auto& member : jsonrpc::members(headers, 32)) {
        if (member.name.find("ratelimit") != std::string::npos) {
            shape.head.limits.emplace_back(member.name,
                                           jsonrpc::string_value(member.value).value_or(""));
        }
    }
    const std::string_view body = jsonrpc::member(line, "body");
    shape.is_array = jsonrpc::is_array(body);
    shape.body = jsonrpc::is_string(body) ? text(line, "body") : std::string(item_of(body));
    const std::string wait(jsonrpc::member(line, "retry_after_s"));
    if (!wait.empty() && wait != "null") {
        shape.wait = std::atof(wait.c_str());
    }
    return shape;
}

Verdict judge(const ProviderBook& book, const Shape& shape) {
    HttpReply reply;
    reply.head = shape.head;
    reply.body = shape.body;
    const auto parsed = jsonrpc::parse_reply(shape.body);
    const bool own = parsed && !((*parsed).id.empty() && !parsed->is_error());
    if (own) {
        reply.reply = *parsed;
    }
    const CallSent call{.method = method_for(shape.label, shape.provider),
                        .traits = find_method(method_for(shape.label, shape.provider)),
                        .params = R"([{"to":"0x00","data":"0x01"},"latest"])",
                        .message = shape.is_array || shape.label == "batch_too_large"
                                       ? Message::batch
                                       : Message::single};
    return classify(book.get(profile_of(shape.provider)), call, reply);
}

}  // namespace

TEST_CASE("the collection of provider errors, where there is one") {
    const char* const folder = std::getenv("WEIR_CORPORA");
    const std::string path = std::string(folder ? folder : "") + "/provider-errors.jsonl";
    std::ifstream file(path);
    if (folder == nullptr || !file.good()) {
        std::cout << "skipped: WEIR_CORPORA names no folder with provider-errors.jsonl\n";
        return;
    }
    const ProviderBook book(config::built_in_providers());
    std::size_t judged = 0;
    for (std::string line; std::getline(file, line);) {
        const Shape shape = read_shape(line);
        if (shape.label == "unknown" || text(line, "notes").rfind("[code-only]", 0) == 0) {
            continue;
        }
        ++judged;
        const Verdict verdict = judge(book, shape);
        INFO(shape.id << " of " << shape.provider << ": " << shape.label << ", not "
                      << to_string(verdict.cause));
        CHECK(expected(shape.label).count(verdict.cause) == 1);
        // Documented somewhere else is not written in the reply.
        const bool written = text(line, "notes").find("from docs") == std::string::npos;
        if (shape.wait && *shape.wait == 0) {
            CHECK_FALSE(verdict.retry_after.has_value());  // "0" is not "now"
        } else if (shape.wait && written) {
            CHECK(verdict.retry_after.has_value());
            if (verdict.retry_after) {
                CHECK(std::chrono::duration<double>(*verdict.retry_after).count() ==
                      Approx(*shape.wait));
            }
        }
    }
    std::cout << "judged " << judged << " shapes\n";
    CHECK(judged > 0);
}
