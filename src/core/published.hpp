// An immutable value that one side replaces and many threads read.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace weir::core {

// Writers replace the whole value; a reader keeps the one it took for as long as it likes.
template <class T>
class Published {
  public:
    explicit Published(std::shared_ptr<const T> first) : value_(std::move(first)) {}

    void publish(std::shared_ptr<const T> next) {
        const std::lock_guard lock(mutex_);
        value_ = std::move(next);
        version_.fetch_add(1, std::memory_order_release);
    }

    std::shared_ptr<const T> get() const {
        const std::lock_guard lock(mutex_);
        return value_;
    }

    // One per reading thread: locks only after a change.
    class Reader {
      public:
        explicit Reader(const Published& source) : source_(source) {}

        const std::shared_ptr<const T>& get() {
            const std::uint64_t version = source_.version_.load(std::memory_order_acquire);
            if (version != seen_) {
                value_ = source_.get();
                seen_ = version;
            }
            return value_;
        }

      private:
        const Published& source_;
        std::uint64_t seen_ = 0;
        std::shared_ptr<const T> value_;
    };

  private:
    mutable std::mutex mutex_;
    std::atomic<std::uint64_t> version_ = 1;
    std::shared_ptr<const T> value_;
};

}  // namespace weir::core
