#include "runtime/ready_set.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <sys/epoll.h>
#include <system_error>

namespace weir::runtime {
namespace {

constexpr std::uint32_t kEvents =
    EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | static_cast<std::uint32_t>(EPOLLET);
constexpr std::size_t kBatch = 128;

using Descriptor =
    boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;

int create() {
    const int descriptor = ::epoll_create1(EPOLL_CLOEXEC);
    if (descriptor < 0) {
        throw std::system_error(errno, std::generic_category(), "epoll_create1");
    }
    return descriptor;
}

}  // namespace

struct ReadySet::Impl {
    explicit Impl(boost::asio::io_context& io) : set(io.get_executor(), create()) {}

    Descriptor set;
    std::array<epoll_event, kBatch> events;
    std::size_t next = 0;  // of `count`, to be told
    std::size_t count = 0;
};

ReadySet::ReadySet(boost::asio::io_context& io) : io_(io), impl_(std::make_unique<Impl>(io)) {}

ReadySet::~ReadySet() = default;

bool ReadySet::add(Entry& entry, int descriptor) {
    epoll_event event{};
    event.events = kEvents;
    event.data.ptr = &entry;
    return ::epoll_ctl(impl_->set.native_handle(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

// What the kernel has already said of it must not reach it any more.
void ReadySet::forget(Entry& entry) {
    entry.upcoming_ = 0;
    for (std::size_t i = impl_->next; i < impl_->count; ++i) {
        if (impl_->events[i].data.ptr == &entry) {
            impl_->events[i].data.ptr = nullptr;
        }
    }
}

void ReadySet::begin_wait() {
    ++waiting_;
    listen();
}

void ReadySet::end_wait() {
    if (--waiting_ == 0 && listening_) {
        boost::system::error_code ignored;
        impl_->set.cancel(ignored);
    }
}

void ReadySet::listen() {
    if (listening_ || dispatching_ || waiting_ == 0) {
        return;
    }
    listening_ = true;
    impl_->set.async_wait(Descriptor::wait_read, [this](boost::system::error_code error) {
        listening_ = false;
        if (!error) {
            dispatch();
        }
        listen();
    });
}

void ReadySet::dispatch() {
    const int count =
        ::epoll_wait(impl_->set.native_handle(), impl_->events.data(), static_cast<int>(kBatch), 0);
    impl_->count = count > 0 ? static_cast<std::size_t>(count) : 0;
    impl_->next = 0;
    for (std::size_t i = 0; i < impl_->count; ++i) {
        static_cast<Entry*>(impl_->events[i].data.ptr)->upcoming_ = impl_->events[i].events;
    }
    dispatching_ = true;
    while (impl_->next < impl_->count) {
        const epoll_event& event = impl_->events[impl_->next++];
        if (auto* const entry = static_cast<Entry*>(event.data.ptr)) {
            entry->upcoming_ = 0;
            entry->on_ready(event.events);
        }
    }
    dispatching_ = false;
}

}  // namespace weir::runtime
