// Memory for what comes and goes with every call: a thread keeps the blocks it frees, by their
// size, for its next ones. Under load many calls are open at once, and the C library keeps too few
// blocks of a size for that.
#pragma once

#include <cstddef>

namespace weir::runtime {

// As ::operator new and ::operator delete; any thread may give a block back. A thread keeps at most
// 64 KiB of each size, sizes being multiples of 64 bytes up to 2 KiB; what is larger is not kept.
void* take_block(std::size_t size);
void give_block(void* block, std::size_t size) noexcept;

// A base that gives a class such memory.
class Recycled {
  public:
    static void* operator new(std::size_t size) { return take_block(size); }
    static void operator delete(void* block, std::size_t size) noexcept { give_block(block, size); }
};

}  // namespace weir::runtime
