#include "upstream/destinations.hpp"

#include "config/files.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace weir::upstream {
namespace {

core::Hash256 digest_of(const std::string& file) {
    constexpr std::size_t kMost = std::size_t{64} * 1024 * 1024;
    const auto bytes = config::read_file(file, config::FileKind::regular, kMost);
    return core::keccak256(bytes ? *bytes : std::string());
}

bool same(const Destination& a, const Destination& b) {
    return a.url == b.url && a.tls == b.tls && a.connect == b.connect &&
           a.request_head.bytes == b.request_head.bytes && a.ca_digest == b.ca_digest;
}

// The contexts made so far, by what they trust.
using Contexts = std::map<std::string, std::shared_ptr<const TlsContext>>;

core::Result<std::shared_ptr<const TlsContext>> context_for(const std::string& ca_file,
                                                            Contexts& contexts) {
    std::shared_ptr<const TlsContext>& context = contexts[ca_file];
    if (!context) {
        core::Result<std::shared_ptr<TlsContext>> created = TlsContext::create(ca_file);
        if (!created) {
            return created.error();
        }
        context = std::move(*created);
    }
    return context;
}

}  // namespace

core::Result<std::vector<Destinations>> make_destinations(const std::vector<config::Chain>& chains,
                                                          const Destinations& known) {
    Contexts contexts;
    std::vector<Destinations> all;
    std::string problems;
    const auto report = [&problems](const std::string& key, const core::Error& error) {
        problems += (problems.empty() ? "" : "\n") + key + ": " + error.message;
    };
    for (std::size_t c = 0; c < chains.size(); ++c) {
        Destinations& of_chain = all.emplace_back();
        for (std::size_t u = 0; u < chains[c].upstreams.size(); ++u) {
            const config::Upstream& upstream = chains[c].upstreams[u];
            const std::string key =
                "chains[" + std::to_string(c) + "].upstreams[" + std::to_string(u) + "]";
            Destination made{.url = upstream.url,
                             .tls = upstream.tls,
                             .connect = chains[c].timeouts.connect,
                             .request_head = {},
                             .trust = nullptr};
            core::Result<RequestHead> head = make_request_head(upstream);
            if (head) {
                made.request_head = std::move(*head);
            } else {
                report(key + ".headers", head.error());
            }
            if (upstream.url.tls && !upstream.tls.ca_file.empty()) {
                made.ca_digest = digest_of(upstream.tls.ca_file);
            }
            const auto as_before =
                std::find_if(known.begin(), known.end(),
                             [&made](const auto& each) { return same(*each, made); });
            if (as_before != known.end()) {
                of_chain.push_back(*as_before);
                continue;
            }
            if (upstream.url.tls) {
                auto context = context_for(upstream.tls.ca_file, contexts);
                if (context) {
                    made.trust = std::move(*context);
                } else {
                    report(key + ".tls.ca_file", context.error());
                }
            }
            of_chain.push_back(std::make_shared<const Destination>(std::move(made)));
        }
    }
    if (!problems.empty()) {
        return core::Error{problems};
    }
    return all;
}

void DestinationTable::put(std::size_t chain, Destinations destinations) {
    Map next = *map_.get();
    next.insert_or_assign(chain, std::move(destinations));
    map_.publish(std::make_shared<const Map>(std::move(next)));
}

void DestinationTable::drop(std::size_t chain) {
    Map next = *map_.get();
    next.erase(chain);
    map_.publish(std::make_shared<const Map>(std::move(next)));
}

}  // namespace weir::upstream
