#include "runtime/buffer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace weir::runtime {

bool MemoryBudget::try_charge(std::size_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes >
        limit_.load(std::memory_order_relaxed)) {
        release(bytes);
        return false;
    }
    return true;
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    if (this != &other) {
        reset();
        pool_ = other.pool_;
        block_ = std::move(other.block_);
        capacity_ = std::exchange(other.capacity_, 0);
        begin_ = std::exchange(other.begin_, 0);
        end_ = std::exchange(other.end_, 0);
    }
    return *this;
}

bool Buffer::reserve(std::size_t more) {
    if (capacity_ - end_ >= more) {
        return true;
    }
    const std::size_t held = size();
    // A queue that is mostly consumed is moved to the front rather than grown.
    if (held + more <= capacity_ && begin_ >= held) {
        std::memmove(block_.get(), block_.get() + begin_, held);
        begin_ = 0;
        end_ = held;
        return true;
    }
    const std::size_t wanted = std::max(BufferPool::kBlock, std::bit_ceil(held + more));
    std::unique_ptr<char[]> block = pool_->take(wanted);
    if (!block) {
        return false;
    }
    if (held != 0) {
        std::memcpy(block.get(), block_.get() + begin_, held);
    }
    if (block_) {
        pool_->give(std::move(block_), capacity_);
    }
    block_ = std::move(block);
    capacity_ = wanted;
    begin_ = 0;
    end_ = held;
    return true;
}

void Buffer::consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) {
        begin_ = end_ = 0;
    }
}

bool Buffer::append(std::string_view more) {
    if (more.empty()) {
        return true;
    }
    if (!reserve(more.size())) {
        return false;
    }
    std::memcpy(block_.get() + end_, more.data(), more.size());
    end_ += more.size();
    return true;
}

void Buffer::give_back() {
    pool_->give(std::move(block_), capacity_);
    block_ = nullptr;
    capacity_ = begin_ = end_ = 0;
}

std::size_t BufferPool::class_of(std::size_t capacity) {
    return static_cast<std::size_t>(std::bit_width(capacity / kBlock)) - 1;
}

std::unique_ptr<char[]> BufferPool::take(std::size_t capacity) {
    if (!budget_.try_charge(capacity)) {
        return nullptr;
    }
    const std::size_t size_class = class_of(capacity);
    if (size_class < kClasses && !free_[size_class].empty()) {
        std::unique_ptr<char[]> block = std::move(free_[size_class].back());
        free_[size_class].pop_back();
        kept_ -= capacity;
        return block;
    }
    // Not make_unique: a block needs no zeros.
    return std::unique_ptr<char[]>(new char[capacity]);
}

void BufferPool::give(std::unique_ptr<char[]> block, std::size_t capacity) {
    budget_.release(capacity);
    const std::size_t size_class = class_of(capacity);
    if (size_class < kClasses && kept_ + capacity <= kKept) {
        free_[size_class].push_back(std::move(block));
        kept_ += capacity;
    }
}

}  // namespace weir::runtime
