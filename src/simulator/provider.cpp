#include "simulator/provider.hpp"

#include "runtime/event.hpp"
#include "runtime/task_group.hpp"
#include "simulator/http_reader.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <utility>

namespace weir::simulator {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Tcp, runtime::Executor>;
using Acceptor = asio::basic_socket_acceptor<Tcp, runtime::Executor>;

constexpr auto kAsTuple = asio::as_tuple(asio::deferred);

}  // namespace

// Shared by the provider and its coroutines: these may be destroyed with the event loop, after it.
struct Provider::State : std::enable_shared_from_this<Provider::State> {
    State(asio::io_context& context, const runtime::Clock& time, const SimulatedChain& chain,
          Script script, const Settings& settings)
        : io(context),
          clock(time),
          responder(chain, time, std::move(script), settings.seed),
          acceptor(context.get_executor()),
          tasks(context) {}

    // Takes the port, for good: a bound socket that does not listen refuses connections and lets
    // nobody else have the port.
    void bind(std::uint16_t wanted) {
        acceptor.open(Tcp::v4());
        acceptor.set_option(Acceptor::reuse_address(true));
        acceptor.bind({asio::ip::address_v4::loopback(), wanted});
    }

    void come_up() {
        acceptor.listen();
        up = true;
        ++generation;
        tasks.spawn(accept(shared_from_this(), generation));
    }

    void go_down() {
        up = false;
        ++generation;
        boost::system::error_code ignored;
        acceptor.close(ignored);
        tasks.cancel();
    }

    void follow_script() {
        const bool wanted = !stopped && responder.script().availability == Availability::up;
        if (wanted && !up) {
            come_up();
        } else if (!wanted && up) {
            go_down();
            bind(port);
        }
    }

    static runtime::Task<> accept(std::shared_ptr<State> state, std::uint64_t generation);
    static runtime::Task<> serve(std::shared_ptr<State> state, Socket socket,
                                 std::uint64_t generation);
    static runtime::Task<bool> answer(State& state, Socket& socket, Message message);
    static runtime::Task<bool> write_wire(Socket& socket, const Wire& wire);

    asio::io_context& io;
    const runtime::Clock& clock;
    Responder responder;
    Acceptor acceptor;
    runtime::TaskGroup tasks;
    std::uint16_t port = 0;
    std::uint64_t generation = 0;  // tasks of an earlier one end
    bool up = false;
    bool stopped = false;
};

runtime::Task<> Provider::State::accept(std::shared_ptr<State> state, std::uint64_t generation) {
    co_await asio::this_coro::throw_if_cancelled(false);
    while (state->generation == generation) {
        Socket socket(state->io.get_executor());
        const auto [error] = co_await state->acceptor.async_accept(socket, kAsTuple);
        if (error) {
            // Out of descriptors, perhaps: no reason to turn in circles.
            const core::TimePoint later = state->clock.now() + core::milliseconds(10);
            co_await runtime::sleep_until(state->io, later);
        } else if (state->generation == generation) {
            boost::system::error_code ignored;
            socket.set_option(Tcp::no_delay(true), ignored);
            state->responder.connected();
            state->tasks.spawn(serve(state, std::move(socket), generation));
        }
    }
}

runtime::Task<> Provider::State::serve(std::shared_ptr<State> state, Socket socket,
                                       std::uint64_t generation) {
    co_await asio::this_coro::throw_if_cancelled(false);
    HttpReader reader;
    std::vector<char> piece(std::size_t{64} * 1024);
    while (state->generation == generation) {
        const HttpReader::State found = reader.next();
        if (found == HttpReader::State::broken) {
            co_return;
        }
        if (found == HttpReader::State::ready) {
            const bool keep_alive = reader.keep_alive();
            Message message = reader.take_message();
            const bool goes_on = co_await answer(*state, socket, std::move(message));
            if (!goes_on || !keep_alive) {
                co_return;
            }
            continue;
        }
        const auto [error, size] = co_await socket.async_read_some(asio::buffer(piece), kAsTuple);
        if (error) {
            co_return;
        }
        reader.feed({piece.data(), size});
    }
}

// False: the connection ends.
runtime::Task<bool> Provider::State::answer(State& state, Socket& socket, Message message) {
    const std::uint64_t generation = state.generation;
    const Reaction reaction = state.responder.react(message);
    if (reaction.delay > core::Duration::zero()) {
        const core::TimePoint until = state.clock.now() + reaction.delay;
        co_await runtime::sleep_until(state.io, until);
    }
    if (!reaction.wire || state.generation != generation) {
        co_return false;
    }
    const bool goes_on = co_await write_wire(socket, *reaction.wire);
    co_return goes_on;
}

runtime::Task<bool> Provider::State::write_wire(Socket& socket, const Wire& wire) {
    const auto bytes = asio::buffer(wire.bytes);
    const auto [error, size] = co_await asio::async_write(socket, bytes, kAsTuple);
    if (error || wire.then == Wire::Then::close) {
        co_return false;
    }
    if (wire.then == Wire::Then::stall) {
        std::array<char, 1024> ignored{};
        const auto into = asio::buffer(ignored);
        [[maybe_unused]] const auto heard = co_await socket.async_read_some(into, kAsTuple);
        co_return false;
    }
    while (wire.then == Wire::Then::go_on) {
        const auto again = asio::buffer(wire.bytes_again);
        const auto [gone, more] = co_await asio::async_write(socket, again, kAsTuple);
        if (gone) {
            co_return false;
        }
    }
    co_return true;
}

Provider::Provider(asio::io_context& io, const runtime::Clock& clock, const SimulatedChain& chain,
                   Script script, Settings settings)
    : state_(std::make_shared<State>(io, clock, chain, std::move(script), settings)) {
    state_->bind(settings.port);
    state_->port = state_->acceptor.local_endpoint().port();
    state_->follow_script();
}

Provider::Provider(asio::io_context& io, const runtime::Clock& clock, const SimulatedChain& chain,
                   Script script)
    : Provider(io, clock, chain, std::move(script), Settings{}) {}

Provider::~Provider() = default;

std::uint16_t Provider::port() const { return state_->port; }

std::string Provider::url() const {
    return "http://127.0.0.1:" + std::to_string(state_->port) + "/";
}

runtime::Task<> Provider::stop() {
    state_->stopped = true;
    state_->go_down();
    co_await state_->tasks.join();
}

void Provider::change(const std::function<void(Script&)>& edit) {
    state_->responder.change(edit);
    asio::post(state_->io, [state = state_] { state->follow_script(); });
}

Script Provider::script() const { return state_->responder.script(); }

Counts Provider::counts() const { return state_->responder.counts(); }

std::vector<Message> Provider::messages() const { return state_->responder.messages(); }

std::vector<std::string> Provider::raw_transactions() const {
    return state_->responder.raw_transactions();
}

}  // namespace weir::simulator
