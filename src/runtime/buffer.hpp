// Buffers for what peers send: pooled, contiguous, growing, and counted against one budget.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::runtime {

// The bytes that all buffers of the process may take together. Any thread.
class MemoryBudget {
  public:
    explicit MemoryBudget(std::size_t limit) : limit_(limit) {}

    // What is taken already stays so.
    void set_limit(std::size_t limit) { limit_.store(limit, std::memory_order_relaxed); }

    bool try_charge(std::size_t bytes);
    void release(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
    std::size_t used() const { return used_.load(std::memory_order_relaxed); }

    // More than half is taken: what can wait should not take more.
    bool is_scarce() const { return used() > limit_.load(std::memory_order_relaxed) / 2; }

  private:
    std::atomic<std::size_t> limit_;
    std::atomic<std::size_t> used_ = 0;
};

class BufferPool;

// A contiguous byte queue: commit at the end, consume at the front. Empty until first reserved.
class Buffer {
  public:
    explicit Buffer(BufferPool& pool) : pool_(&pool) {}
    Buffer(Buffer&& other) noexcept
        : pool_(other.pool_),
          block_(std::move(other.block_)),
          capacity_(std::exchange(other.capacity_, 0)),
          begin_(std::exchange(other.begin_, 0)),
          end_(std::exchange(other.end_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer() { reset(); }

    std::string_view bytes() const { return {block_.get() + begin_, end_ - begin_}; }
    char* data() { return block_.get() + begin_; }
    std::size_t size() const { return end_ - begin_; }
    bool empty() const { return begin_ == end_; }
    std::size_t capacity() const { return capacity_; }

    // Makes room for `more` further bytes (at least one); moves what is held, so views into the
    // buffer end here. False when the process's budget does not allow it.
    bool reserve(std::size_t more);

    std::span<char> room() { return {block_.get() + end_, capacity_ - end_}; }
    void commit(std::size_t bytes) { end_ += bytes; }
    void consume(std::size_t bytes);
    bool append(std::string_view more);  // false as with reserve()
    void truncate(std::size_t size) { end_ = begin_ + size; }
    void clear() { begin_ = end_ = 0; }

    // Gives the memory back.
    void reset() {
        if (block_) {
            give_back();
        }
    }

  private:
    void give_back();

    BufferPool* pool_ = nullptr;
    std::unique_ptr<char[]> block_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

// A worker's stock of blocks, by their sizes, which are kBlock times a power of two. One thread.
class BufferPool {
  public:
    static constexpr std::size_t kBlock = 16 * 1024;

    explicit BufferPool(MemoryBudget& budget) : budget_(budget) {}
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    bool is_scarce() const { return budget_.is_scarce(); }

  private:
    friend class Buffer;
    friend class Charge;
    static constexpr std::size_t kClasses = 7;          // up to 1 MiB; larger blocks are not kept
    static constexpr std::size_t kKept = 256 * kBlock;  // bytes in stock

    static std::size_t class_of(std::size_t capacity);
    std::unique_ptr<char[]> take(std::size_t capacity);  // null: over the budget
    void give(std::unique_ptr<char[]> block, std::size_t capacity);

    MemoryBudget& budget_;
    std::array<std::vector<std::unique_ptr<char[]>>, kClasses> free_;
    std::size_t kept_ = 0;
};

// Bytes that are held outside of buffers, charged to the same budget. One thread.
class Charge {
  public:
    explicit Charge(BufferPool& pool) : budget_(pool.budget_) {}
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;
    ~Charge() { budget_.release(bytes_); }

    // False, and nothing is charged, when the budget does not allow it.
    bool add(std::size_t bytes) {
        if (!budget_.try_charge(bytes)) {
            return false;
        }
        bytes_ += bytes;
        return true;
    }

  private:
    MemoryBudget& budget_;
    std::size_t bytes_ = 0;
};

}  // namespace weir::runtime
