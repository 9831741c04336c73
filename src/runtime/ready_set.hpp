// Which of a worker's sockets may be read or written, as the kernel last said. A socket that knows
// this of itself makes no system call that finds nothing to do.
#pragma once

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <memory>

namespace weir::runtime {

// An edge-triggered epoll(7) set inside the worker's event loop. Lives on one worker, and so do its
// entries.
class ReadySet {
  public:
    class Entry {
      public:
        Entry() = default;
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

      protected:
        ~Entry() = default;
        // Runs from the event loop with epoll's event bits. May remove or destroy any entry.
        virtual void on_ready(std::uint32_t events) = 0;

        // What on_ready() will be told in this turn.
        std::uint32_t upcoming() const { return upcoming_; }

      private:
        friend class ReadySet;
        std::uint32_t upcoming_ = 0;
    };

    explicit ReadySet(boost::asio::io_context& io);
    ReadySet(const ReadySet&) = delete;
    ReadySet& operator=(const ReadySet&) = delete;
    ~ReadySet();

    // From now on the entry is told of `descriptor`, first of what it is ready for already. False:
    // the kernel takes no more.
    bool add(Entry& entry, int descriptor);
    // Before its descriptor is closed, which takes it out of the kernel's set.
    void forget(Entry& entry);

    // Entries know what the kernel knew when this turn of the event loop began. Elsewhere what they
    // know may be older: nobody may have asked the kernel since.
    bool is_current() const { return dispatching_; }

    // The event loop goes on while somebody waits.
    void begin_wait();
    void end_wait();

    boost::asio::io_context& io() { return io_; }

  private:
    struct Impl;

    void listen();
    void dispatch();

    boost::asio::io_context& io_;
    std::unique_ptr<Impl> impl_;
    std::size_t waiting_ = 0;
    bool listening_ = false;
    bool dispatching_ = false;
};

}  // namespace weir::runtime
