// Host names to addresses, remembered for a while and asked again, without blocking the worker.
#pragma once

#include "core/result.hpp"
#include "core/time.hpp"
#include "runtime/event.hpp"
#include "runtime/worker.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weir::upstream {

// IP literals, best first.
using Addresses = std::vector<std::string>;

// A blocking look-up: addresses, or what went wrong. Called on a thread of its own.
using Lookup = std::function<core::Result<Addresses>(const std::string& host)>;

// getaddrinfo(), IPv6 and IPv4 in turn, beginning with the system's first choice.
core::Result<Addresses> system_lookup(const std::string& host);

// Belongs to one worker. Its destruction waits for look-ups that run (they cannot be stopped).
class Resolver {
  public:
    static constexpr core::Duration kFresh = core::seconds(30);
    static constexpr core::Duration kFailureKept = core::seconds(1);

    Resolver(runtime::Worker& worker, Lookup lookup, core::Duration fresh = kFresh);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // The addresses of `host` (an IP literal is its own), never none. Old ones are given once more
    // while new ones are looked up, and kept while the look-up fails. Setting `interrupt` ends the
    // waiting, with an error if nothing is known.
    runtime::Task<core::Result<Addresses>> resolve(const std::string& host,
                                                   runtime::Event& interrupt);

    // None of the addresses could be connected to: the next resolve() waits for new ones.
    void distrust(const std::string& host);

  private:
    struct Name;
    void start(const std::string& host, const std::shared_ptr<Name>& name);

    runtime::Worker& worker_;
    Lookup lookup_;
    core::Duration fresh_;
    std::map<std::string, std::shared_ptr<Name>> names_;
};

}  // namespace weir::upstream
