// Deadlines without a timer per operation: owners embed an entry and move its time with a store;
// one coarse timer per worker walks the entries that may be due.
#pragma once

#include "core/time.hpp"
#include "runtime/task.hpp"

#include <array>
#include <cstddef>
#include <memory>

namespace weir::runtime {

// Lives on one worker; so do its entries. An entry fires at most `kTick` late (under load, later).
// After a standstill (a suspended machine, SIGSTOP) no entry fires before the event loop has seen
// what came meanwhile: an answer that is here is not late because nobody looked.
class DeadlineWheel {
  public:
    static constexpr core::Duration kTick = core::milliseconds(16);

    // Embedded in what has a deadline. Destroying a linked entry unlinks it.
    class Entry {
      public:
        explicit Entry(DeadlineWheel& wheel) : wheel_(wheel) {}
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        virtual ~Entry() { unlink(); }

        // Sets the time at which on_deadline() runs, once. A later time than before costs one
        // store, and so does disarming: the wheel finds out when it next looks.
        void arm(core::TimePoint when);
        void disarm() { due_ = core::TimePoint::max(); }
        bool armed() const { return due_ != core::TimePoint::max(); }

      protected:
        // Runs on the worker's thread, from the event loop. May arm again or destroy the entry.
        virtual void on_deadline() = 0;

      private:
        friend class DeadlineWheel;
        void unlink();

        DeadlineWheel& wheel_;
        core::TimePoint due_ = core::TimePoint::max();
        std::size_t tick_ = 0;  // the tick whose slot holds the entry
        Entry* previous_ = nullptr;
        Entry* next_ = nullptr;
    };

    explicit DeadlineWheel(boost::asio::io_context& io);
    DeadlineWheel(const DeadlineWheel&) = delete;
    DeadlineWheel& operator=(const DeadlineWheel&) = delete;
    ~DeadlineWheel();

  private:
    static constexpr std::size_t kSlots = 512;      // a horizon of about 8 s
    static constexpr std::size_t kLongestNap = 16;  // ticks between two looks while entries exist
    static constexpr std::size_t kStandstill = 16;  // ticks: a look that late has stood still
    static constexpr std::size_t kCatchUp = 6;      // ticks that the event loop then has

    std::size_t tick_of(core::TimePoint when) const;
    std::size_t current_tick() const;
    void link(Entry& entry, std::size_t tick);
    void wake_at(std::size_t tick);
    void run();

    struct Timer;
    std::unique_ptr<Timer> timer_;
    core::TimePoint epoch_;
    std::size_t now_tick_ = 0;   // every earlier tick has been run
    std::size_t wake_tick_ = 0;  // when the timer fires; meaningful while `sleeping_`
    std::size_t linked_ = 0;
    bool sleeping_ = false;
    bool catching_up_ = false;  // the look after a standstill is put off, once
    std::array<Entry*, kSlots> slots_{};
};

}  // namespace weir::runtime
