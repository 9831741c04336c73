#include "runtime/recycled.hpp"

#include <array>
#include <new>
#include <utility>

namespace weir::runtime {
namespace {

constexpr std::size_t kStep = 64;
constexpr std::size_t kClasses = 32;
constexpr std::size_t kKept = 64 * 1024;  // bytes of a class

// The sanitizers are to see every use of freed memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kRecycle = false;
#elif defined(__has_feature)
constexpr bool kRecycle = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kRecycle = true;
#endif

struct Free {
    Free* next;
};

// What a thread has to spare. After its end nothing more is kept.
class Stock {
  public:
    Stock() = default;
    Stock(const Stock&) = delete;
    Stock& operator=(const Stock&) = delete;
    ~Stock() {
        for (Class& each : classes_) {
            while (each.first != nullptr) {
                ::operator delete(std::exchange(each.first, each.first->next));
            }
            each.room = 0;
        }
    }

    void* take(std::size_t which) {
        Class& from = classes_[which];
        if (from.first == nullptr) {
            return nullptr;
        }
        ++from.room;
        return std::exchange(from.first, from.first->next);
    }

    bool keep(void* block, std::size_t which) {
        Class& to = classes_[which];
        if (to.room == 0) {
            return false;
        }
        --to.room;
        to.first = new (block) Free{to.first};
        return true;
    }

  private:
    struct Class {
        Free* first = nullptr;
        std::size_t room = 0;  // for further blocks
    };

    static std::array<Class, kClasses> empty_classes() {
        std::array<Class, kClasses> classes;
        for (std::size_t i = 0; i < kClasses; ++i) {
            classes[i].room = kKept / ((i + 1) * kStep);
        }
        return classes;
    }

    std::array<Class, kClasses> classes_ = empty_classes();
};

thread_local Stock stock;

std::size_t class_of(std::size_t size) { return size == 0 ? 0 : (size - 1) / kStep; }

}  // namespace

void* take_block(std::size_t size) {
    const std::size_t which = class_of(size);
    if (!kRecycle || which >= kClasses) {
        return ::operator new(size);
    }
    void* const kept = stock.take(which);
    return kept != nullptr ? kept : ::operator new((which + 1) * kStep);
}

void give_block(void* block, std::size_t size) noexcept {
    const std::size_t which = class_of(size);
    if (!kRecycle || which >= kClasses || !stock.keep(block, which)) {
        ::operator delete(block);
    }
}

}  // namespace weir::runtime
