#include "upstream/resolver.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <utility>

namespace weir::upstream {

struct Resolver::Name {
    Addresses addresses;  // the last that were found
    std::string error;    // of the last look-up, if it failed
    core::TimePoint looked_up;
    bool looking = false;
    bool distrusted = false;
    std::thread thread;
    std::vector<runtime::Event*> waiting;

    ~Name() {
        if (thread.joinable()) {
            thread.join();
        }
    }

    void finish(core::Result<Addresses> found, core::TimePoint now) {
        looking = false;
        looked_up = now;
        if (found && !found->empty()) {
            addresses = std::move(*found);
            distrusted = false;
            error.clear();
        } else {
            // What was known before may still be true.
            error = found ? "the host name has no address" : found.error().message;
        }
        for (runtime::Event* event : waiting) {
            event->set();
        }
    }
};

core::Result<Addresses> system_lookup(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
        return core::Error{std::string("the host name does not resolve: ") + gai_strerror(error)};
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
    std::array<Addresses, 2> families;  // the first one's family, and the other
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                        NI_NUMERICHOST) == 0) {
            families[each->ai_family == found->ai_family ? 0 : 1].emplace_back(text.data());
        }
    }
    Addresses in_turn;
    for (std::size_t i = 0; i < std::max(families[0].size(), families[1].size()); ++i) {
        for (const Addresses& family : families) {
            if (i < family.size()) {
                in_turn.push_back(family[i]);
            }
        }
    }
    return in_turn;
}

Resolver::Resolver(runtime::Worker& worker, Lookup lookup, core::Duration fresh)
    : worker_(worker), lookup_(std::move(lookup)), fresh_(fresh) {}

Resolver::~Resolver() = default;

runtime::Task<core::Result<Addresses>> Resolver::resolve(const std::string& host,
                                                         runtime::Event& interrupt) {
    boost::system::error_code not_literal;
    boost::asio::ip::make_address(host, not_literal);
    if (!not_literal) {
        co_return Addresses{host};
    }
    std::shared_ptr<Name>& slot = names_[host];
    if (!slot) {
        slot = std::make_shared<Name>();
    }
    const std::shared_ptr<Name> name = slot;
    const bool never = name->looked_up == core::TimePoint();
    const core::Duration kept = name->error.empty() && !name->distrusted ? fresh_ : kFailureKept;
    if (!name->looking && (never || worker_.clock.now() - name->looked_up >= kept)) {
        start(host, name);
    }
    if (name->looking && (name->addresses.empty() || name->distrusted)) {
        name->waiting.push_back(&interrupt);
        co_await interrupt.wait();
        std::erase(name->waiting, &interrupt);
    }
    if (!name->addresses.empty()) {
        co_return name->addresses;
    }
    co_return core::Error{name->error.empty() ? "the host name was not resolved in time"
                                              : name->error};
}

void Resolver::distrust(const std::string& host) {
    const auto found = names_.find(host);
    if (found != names_.end()) {
        found->second->distrusted = true;
    }
}

void Resolver::start(const std::string& host, const std::shared_ptr<Name>& name) {
    if (name->thread.joinable()) {
        name->thread.join();  // it has ended: its result was its last act
    }
    // The guard keeps the event loop alive until the result is there.
    auto look_up = [host, lookup = lookup_, &clock = worker_.clock, known = std::weak_ptr(name),
                    work = boost::asio::make_work_guard(worker_.io)] {
        auto deliver = [known, &clock, found = lookup(host)]() mutable {
            if (const std::shared_ptr<Name> still = known.lock()) {
                still->finish(std::move(found), clock.now());
            }
        };
        boost::asio::post(work.get_executor(), std::move(deliver));
    };
    try {
        name->thread = std::thread(std::move(look_up));
        name->looking = true;
    } catch (const std::system_error&) {
        name->finish(core::Error{"no thread for resolving the host name"}, worker_.clock.now());
    }
}

}  // namespace weir::upstream
