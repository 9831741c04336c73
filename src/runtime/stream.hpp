// A connected stream socket that knows what it is ready for. Pulls Asio in; for .cpp files.
#pragma once

#include "runtime/ready_set.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <sys/types.h>
#include <type_traits>
#include <utility>

namespace weir::runtime {

// Lives on one worker. System calls other than receive() go to the descriptor directly.
class Stream final : private ReadySet::Entry {
  public:
    // `trouble`: both directions have ended, or an error.
    enum class Wait : std::uint8_t { read, write, trouble };

    explicit Stream(ReadySet& set) : set_(set) {}
    ~Stream();

    // Takes a connected, non-blocking socket over. False: it was closed, there is no memory for it.
    bool adopt(int descriptor);
    bool is_open() const { return descriptor_ >= 0; }
    int native_handle() const { return descriptor_; }

    // Waits end as operation_aborted, after these calls have returned.
    void cancel();
    void close();

    // May receive() find something? If not, only wait(read) will tell.
    bool readable() const { return readable_; }
    // Has nothing come that receive() would find, not even an end, up to this turn of the loop?
    // Nothing: nobody has asked the kernel in this turn.
    std::optional<bool> is_silent() const;
    // As ::recv(), goes on after an interruption; never blocks.
    ssize_t receive(std::span<char> room);

    // Completes with `void(error_code)` when the kernel next says that the socket has become so. To
    // be called after an attempt has found that it is not. One wait of each kind at a time.
    template <class Token>
    auto async_wait(Wait what, Token&& token) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(Start{this},
                                                                                   token, what);
    }

  private:
    using Error = boost::system::error_code;

    class Waiter {
      public:
        // Both end the waiter.
        virtual void complete(Error error) = 0;
        virtual void post(boost::asio::io_context& io, Error error) = 0;

      protected:
        ~Waiter() = default;
    };

    template <class Handler>
    class WaiterOf final : public Waiter {
      public:
        explicit WaiterOf(Handler&& handler) : handler_(std::move(handler)) {}

        void complete(Error error) override {
            Handler handler = take();
            std::move(handler)(error);
        }
        void post(boost::asio::io_context& io, Error error) override {
            Handler handler = take();
            boost::asio::post(io, Late{std::move(handler), error});
        }

      private:
        struct Late {
            Handler handler;
            Error error;
            void operator()() { std::move(handler)(error); }
        };

        Handler take() {
            const auto slot = boost::asio::get_associated_cancellation_slot(handler_);
            if (slot.is_connected()) {
                auto connected = slot;
                connected.clear();
            }
            Handler handler = std::move(handler_);
            this->~WaiterOf();
            return handler;
        }

        Handler handler_;
    };

    // A waiter has its place in the socket: a wait allocates nothing.
    struct Place {
        static constexpr std::size_t kRoom = 64;
        Waiter* waiter = nullptr;
        alignas(std::max_align_t) std::array<std::byte, kRoom> room;
    };

    struct Cancel {
        Stream* stream;
        Wait what;
        void operator()(boost::asio::cancellation_type type) const {
            if (type != boost::asio::cancellation_type::none) {
                stream->abort(what);
            }
        }
    };

    struct Start {
        Stream* stream;
        template <class Handler>
        void operator()(Handler&& handler, Wait what) const {
            stream->start(std::forward<Handler>(handler), what);
        }
    };

    template <class Handler>
    void start(Handler&& handler, Wait what) {
        using Kept = std::decay_t<Handler>;
        using Kind = WaiterOf<Kept>;
        static_assert(sizeof(Kind) <= Place::kRoom);
        Place& place = place_of(what);
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        place.waiter = new (place.room.data()) Kind(Kept(std::forward<Handler>(handler)));
        if (slot.is_connected()) {
            slot.assign(Cancel{this, what});
        }
        set_.begin_wait();
        if (!is_open()) {
            abort(what);
        }
    }

    Place& place_of(Wait what) { return places_[static_cast<std::size_t>(what)]; }
    Waiter* take(Wait what);
    void abort(Wait what);
    void on_ready(std::uint32_t events) override;

    ReadySet& set_;
    int descriptor_ = -1;
    bool readable_ = false;
    bool may_hold_more_ = false;  // even after a read that did not fill its room
    bool* gone_ = nullptr;        // where on_ready() is told that the stream was destroyed
    std::array<Place, 3> places_;
};

}  // namespace weir::runtime
