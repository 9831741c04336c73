#include "runtime/recycled.hpp"

#include "support/catch.hpp"

#include <cstring>
#include <thread>
#include <vector>

namespace weir::runtime {

TEST_CASE("blocks of every size can be used to their end and given back by any thread") {
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (std::size_t size = 0; size <= 5000; size += 7) {
        void* const block = take_block(size);
        REQUIRE(block != nullptr);
        std::memset(block, 0xa5, size);
        blocks.emplace_back(block, size);
    }
    std::thread other([&blocks] {
        for (const auto& [block, size] : blocks) {
            give_block(block, size);
        }
        // More than a thread keeps.
        std::vector<void*> many;
        for (int i = 0; i < 2000; ++i) {
            many.push_back(take_block(1024));
        }
        for (void* const block : many) {
            give_block(block, 1024);
        }
    });
    other.join();
}

TEST_CASE("two live blocks never overlap") {
    std::vector<unsigned char*> blocks;
    for (int round = 0; round < 3; ++round) {
        for (unsigned char i = 0; i < 100; ++i) {
            auto* const block = static_cast<unsigned char*>(take_block(100));
            std::memset(block, i, 100);
            blocks.push_back(block);
        }
        for (unsigned char i = 0; i < 100; ++i) {
            for (int k = 0; k < 100; ++k) {
                REQUIRE(blocks[i][k] == i);
            }
        }
        for (unsigned char* const block : blocks) {
            give_block(block, 100);
        }
        blocks.clear();
    }
}

}  // namespace weir::runtime
