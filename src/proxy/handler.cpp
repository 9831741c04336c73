#include "proxy/handler.hpp"

#include "proxy/account.hpp"
#include "proxy/assemble.hpp"
#include "proxy/batch_operation.hpp"
#include "proxy/call_runner.hpp"
#include "proxy/client_limit.hpp"
#include "proxy/failure.hpp"
#include "proxy/long_result.hpp"
#include "proxy/pinned_request.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace weir::proxy {
namespace {

constexpr std::span<const std::string_view> kNoBody;

// In the log only, as other proxies have it: nobody was there to be told a status.
constexpr int kClientClosedRequest = 499;

GatewayError error_of(const jsonrpc::RequestError& error) {
    GatewayError own;
    own.type = error.fault == jsonrpc::RequestFault::parse_error ? ErrorType::parse_error
                                                                 : ErrorType::invalid_request;
    own.message = error.message;
    return own;
}

bool names_no_call(const PinWish* pin, std::size_t calls) {
    return pin != nullptr && std::any_of(pin->optional.begin(), pin->optional.end(),
                                         [calls](std::size_t place) { return place >= calls; });
}

// Every batch where the operator wants it so.
const PinWish* pin_of(const ClientRequest& request, const config::Chain& chain) {
    static const PinWish kLatest{};
    return request.pin == nullptr && chain.batch.pin_block ? &kLatest : request.pin;
}

runtime::Task<Answer> run_pinned_single(const RequestScope& scope, const ClientRequest& request,
                                        CallPlan& plan, ResponseHead& head) {
    runtime::Charge held(scope.services.worker.buffers);
    PinnedAnswers result = co_await run_pinned(scope, request, *request.pin, {&plan, 1}, held);
    head.block = std::move(result.block);
    head.attempts = result.messages;
    co_return std::move(*result.answers.front());
}

// What it sent beside the answer's own attempts, and its block, go into `head`.
runtime::Task<Answer> run_single(const RequestScope& scope, const ClientRequest& request,
                                 CallPlan& plan, ResponseHead& head) {
    return request.pin != nullptr && !plan.refusal ? run_pinned_single(scope, request, plan, head)
                                                   : run_call(scope, plan);
}

}  // namespace

// One chain as one worker serves it.
struct ServedChain {
    ServedChain(ChainContext& shared, std::size_t place)
        : context(shared),
          rules{shared.config.name, place, shared.policy, shared.methods},
          pool(shared.pool.snapshots()) {}
    ChainContext& context;
    ChainRules rules;
    core::Published<routing::RoutingSnapshot>::Reader pool;
};

// What is served, as one worker does; kept by the requests that began with it.
struct ServingView {
    explicit ServingView(std::shared_ptr<const Serving> from) : serving(std::move(from)) {
        for (const std::shared_ptr<ChainContext>& chain : serving->chains) {
            chains.emplace_back(*chain, chains.size());
        }
    }
    const std::shared_ptr<const Serving> serving;
    std::vector<ServedChain> chains;
};

Handler::Handler(const core::Published<Serving>& serving, Services& services, FilterTable& filters,
                 TransactionRecords& records)
    : serving_(serving), services_(services), filters_(filters), records_(records) {}

Handler::~Handler() = default;

void Handler::refresh() {
    const std::shared_ptr<const Serving>& serving = serving_.get();
    if (!view_ || view_->serving != serving) {
        view_ = std::make_shared<ServingView>(serving);
    }
}

core::Result<Route, RouteError> Handler::route(const RouteRequest& request) {
    refresh();
    const core::Result<Serving::Found, RouteError> found = view_->serving->find(request);
    if (!found) {
        return found.error();
    }
    return Route{view_, found->chain, found->client};
}

Route Handler::chain_of(std::string_view path) {
    refresh();
    const std::optional<Routes::Target> target = view_->serving->routes.find(path);
    return target ? Route{view_, target->chain, nullptr} : Route{};
}

// Where one chain is served every request is for it.
void Handler::refused(const Refused& request) {
    refresh();
    Route route = request.route;
    if (route.serving == nullptr && view_->chains.size() == 1) {
        route.serving = view_;
    }
    const ChainContext* const chain =
        route.serving != nullptr ? &route.serving->chains[route.chain].context : nullptr;
    account_refusal(services_, chain, request);
}

runtime::Task<> Handler::handle(const ClientRequest& request, ResponseSink& sink) {
    ServedChain& chain = request.route.serving->chains[request.route.chain];
    chain.context.pool.note_client_call(request.received);
    ClientPlace place(*request.route.client->state, request.room);
    if (!place.held()) {
        return refuse(request, client_overload(request.route.client->name), chain, sink);
    }
    core::Result<jsonrpc::Request, jsonrpc::RequestError> parsed =
        jsonrpc::parse_request(request.body, request.route.serving->serving->limits);
    if (!parsed) {
        return refuse(request, error_of(parsed.error()), chain, sink);
    }
    if (names_no_call(request.pin, parsed->calls.size())) {
        GatewayError error;
        error.type = ErrorType::invalid_request;
        error.message = "Weir-Optional names a place at which there is no call";
        return refuse(request, std::move(error), chain, sink);
    }
    return parsed->is_batch
               ? handle_batch(request, std::move(*parsed), chain, std::move(place), sink)
               : handle_single(request, std::move(*parsed), chain, std::move(place), sink);
}

// Answers a body that holds no calls.
runtime::Task<> Handler::refuse(const ClientRequest& request, GatewayError error,
                                ServedChain& chain, ResponseSink& sink) {
    const ResponseHead head{.status = http_status_of(error),
                            .retry_after_seconds = error.retry_after_seconds};
    std::string body;
    append_error_reply(body, {}, error);
    const std::array<std::string_view, 1> pieces{body};
    co_await sink.send(head, pieces);
    account(services_, chain.context,
            {.request = request,
             .head = head,
             .items = {},
             .passed = Passed::whole,
             .at = sink.finished_at(),
             .refusal = error.type});
}

runtime::Task<> Handler::handle_single(const ClientRequest& request, jsonrpc::Request calls,
                                       ServedChain& chain, ClientPlace /*held*/,
                                       ResponseSink& sink) {
    const upstream::CallsInFlight::Held in_flight(chain.context.pool.calls_in_flight(), 1,
                                                  request.received);
    const jsonrpc::Call& call = calls.calls.front();
    CallPlan plan = plan_call(call, chain.rules, *request.route.client);
    BatchItem item{.plan = &plan, .answer = nullptr};
    ResponseHead head;
    if (plan.is_silent()) {
        head.status = 204;
        co_await sink.send(head, kNoBody);
        account(services_, chain.context,
                {.request = request,
                 .head = head,
                 .items = {&item, 1},
                 .passed = Passed::whole,
                 .at = sink.finished_at()});
        co_return;
    }
    if (request.route.client->is_limited()) {
        const std::span<CallPlan> plans(&plan, 1);
        co_await wait_for_rate(services_, chain.context, request, plans, sink.client());
        if (sink.client().gone()) {
            // Its time has not come; a write neither is sent before it.
            sink.abort();
            head.status = kClientClosedRequest;
            account(services_, chain.context,
                    {.request = request,
                     .head = head,
                     .items = {&item, 1},
                     .passed = Passed::client_gone,
                     .at = sink.finished_at()});
            co_return;
        }
    }
    const RequestScope scope{.services = services_,
                             .chain = chain.context,
                             .filters = filters_,
                             .records = records_,
                             .client = sink.client(),
                             .snapshot = chain.pool.get(),
                             .received = request.received,
                             .long_replies = LongReplies::stream};
    Answer answer = co_await run_single(scope, request, plan, head);
    item.answer = &answer;
    head.attempts += answer.attempts;
    Passed passed = Passed::whole;
    if (answer.kind() == Answer::Kind::long_result) {
        const core::TimePoint deadline =
            request.received + chain.context.config.timeouts.slow_request;
        passed = co_await pass_on(services_, answer.long_result(), call.id, head, deadline, sink);
        if (passed == Passed::broken_off && answer.upstream) {
            // It counted as an answer when it began.
            Judged broken;
            broken.verdict = {.disposition = routing::Disposition::give_up,
                              .blame = routing::Blame::upstream,
                              .cause = routing::Cause::connection_lost,
                              .retry_after = std::nullopt};
            broken.at = services_.worker.clock.now();
            report_attempt(services_, chain.context, plan, *answer.upstream, broken);
        }
    } else {
        if (answer.kind() == Answer::Kind::gateway_error) {
            head.status = http_status_of(answer.error());
            head.retry_after_seconds = answer.error().retry_after_seconds;
        }
        const ResponseBody body = assemble_single(call.id, answer);
        const bool left = sink.client().gone();
        const ResponseSink::Sent sent = sink.send_now(head, body.pieces);
        bool whole = sent == ResponseSink::Sent::all;
        if (sent == ResponseSink::Sent::blocked) {
            whole = co_await sink.send_rest();
        }
        passed = left || !whole ? Passed::client_gone : Passed::whole;
        head.status = left ? kClientClosedRequest : head.status;
    }
    account(services_, chain.context,
            {.request = request,
             .head = head,
             .items = {&item, 1},
             .passed = passed,
             .at = sink.finished_at()});
}

runtime::Task<> Handler::handle_batch(const ClientRequest& request, jsonrpc::Request calls,
                                      ServedChain& chain, ClientPlace /*held*/,
                                      ResponseSink& sink) {
    const upstream::CallsInFlight::Held in_flight(chain.context.pool.calls_in_flight(),
                                                  calls.calls.size(), request.received);
    // Before anything is sent: an answer that there is no room for could not be given.
    runtime::Charge held(services_.worker.buffers);
    if (!held.add(frame_size(calls.calls))) {
        GatewayError error;
        error.type = ErrorType::overloaded;
        error.message = "the gateway has no memory left for this batch; retry in a second";
        error.retry_after_seconds = 1;
        co_await refuse(request, std::move(error), chain, sink);
        co_return;
    }
    std::vector<CallPlan> plans;
    plans.reserve(calls.calls.size());
    for (const jsonrpc::Call& call : calls.calls) {
        plans.push_back(plan_call(call, chain.rules, *request.route.client));
    }
    if (request.route.client->is_limited()) {
        co_await wait_for_rate(services_, chain.context, request, plans, sink.client());
    }
    const RequestScope scope{.services = services_,
                             .chain = chain.context,
                             .filters = filters_,
                             .records = records_,
                             .client = sink.client(),
                             .snapshot = chain.pool.get(),
                             .received = request.received,
                             .long_replies = LongReplies::buffer};
    const PinWish* const pin = pin_of(request, chain.context.config);
    PinnedAnswers result;
    if (pin != nullptr) {
        result = co_await run_pinned(scope, request, *pin, plans, held);
    } else {
        BatchResult plain = co_await run_batch(scope, plans, held);
        result.answers = std::move(plain.answers);
        result.messages = plain.messages;
    }
    const Answers& answers = result.answers;
    std::vector<BatchItem> items(plans.size());
    bool anything = false;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        items[i] = {.plan = &plans[i], .answer = answers[i] ? &*answers[i] : nullptr};
        anything = anything || answers[i];
    }
    ResponseHead head = batch_head(items);
    head.attempts += result.messages;
    head.block = std::move(result.block);
    const bool left = sink.client().gone();
    bool whole = false;
    if (anything) {
        const ResponseBody body = assemble_batch(items);
        whole = co_await sink.send(head, body.pieces);
    } else {
        head.status = 204;
        whole = co_await sink.send(head, kNoBody);
    }
    head.status = left ? kClientClosedRequest : head.status;
    account(services_, chain.context,
            {.request = request,
             .head = head,
             .items = items,
             .passed = left || !whole ? Passed::client_gone : Passed::whole,
             .at = sink.finished_at()});
}

}  // namespace weir::proxy
