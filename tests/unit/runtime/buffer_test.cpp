#include "runtime/buffer.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace weir::runtime;

TEST_CASE("a buffer grows, keeps its bytes and gives its memory back") {
    MemoryBudget budget(1 << 20);
    BufferPool pool(budget);
    {
        Buffer buffer(pool);
        CHECK(buffer.empty());
        CHECK(budget.used() == 0);
        std::string expected;
        for (int i = 0; i < 5000; ++i) {
            const std::string piece = std::to_string(i);
            REQUIRE(buffer.append(piece));
            expected += piece;
        }
        CHECK(buffer.bytes() == expected);
        CHECK(budget.used() == buffer.capacity());
        buffer.consume(10'000);
        CHECK(buffer.bytes() == expected.substr(10'000));
        Buffer moved = std::move(buffer);
        CHECK(moved.bytes() == expected.substr(10'000));
    }
    CHECK(budget.used() == 0);
}

TEST_CASE("a buffer refuses to grow over the budget and keeps what it held") {
    MemoryBudget budget(BufferPool::kBlock);
    BufferPool pool(budget);
    Buffer buffer(pool);
    REQUIRE(buffer.append("kept"));
    CHECK_FALSE(buffer.reserve(BufferPool::kBlock));
    CHECK(buffer.bytes() == "kept");
    Buffer other(pool);
    CHECK_FALSE(other.append("x"));
    buffer.reset();
    CHECK(other.append("x"));
}

TEST_CASE("a consumed queue is moved to the front before it grows") {
    MemoryBudget budget(1 << 20);
    BufferPool pool(budget);
    Buffer buffer(pool);
    REQUIRE(buffer.append(std::string(BufferPool::kBlock, 'a')));
    buffer.consume(BufferPool::kBlock - 1);
    REQUIRE(buffer.append("b"));
    CHECK(buffer.bytes() == "ab");
    CHECK(buffer.capacity() == BufferPool::kBlock);
}

TEST_CASE("blocks of every size come back from the stock, which is bounded") {
    MemoryBudget budget(std::size_t{1} << 30);
    BufferPool pool(budget);
    for (std::size_t size = BufferPool::kBlock; size <= 4 << 20; size *= 2) {
        const char* first = nullptr;
        {
            Buffer buffer(pool);
            REQUIRE(buffer.reserve(size));
            CHECK(buffer.capacity() == size);
            first = buffer.data();
        }
        Buffer again(pool);
        REQUIRE(again.reserve(size));
        if (size <= 1 << 20) {
            CHECK(again.data() == first);
        }
    }
    // More than the stock takes is given back to the system.
    std::vector<Buffer> many;
    for (int i = 0; i < 20; ++i) {
        REQUIRE(many.emplace_back(pool).reserve(1 << 20));
    }
    many.clear();
    CHECK(budget.used() == 0);
}
