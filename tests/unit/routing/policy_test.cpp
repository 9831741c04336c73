#include "routing/policy.hpp"

#include "support/catch.hpp"

using namespace weir::routing;

namespace {

bool allows(const MethodPolicy& policy, std::string_view name) {
    return policy.allows(find_method(name), name);
}

}  // namespace

TEST_CASE("no patterns allow everything") {
    CHECK(allows(MethodPolicy(), "eth_call"));
    CHECK(allows(MethodPolicy(), "admin_peers"));
}

TEST_CASE("deny patterns match known and unknown methods without regard to case") {
    const MethodPolicy policy({"admin_*", "debug_set*", "ETH_getlogs", "*Bundle"}, {});
    for (const char* denied : {"admin_peers", "ADMIN_peers", "admin_", "debug_setHead",
                               "DEBUG_SETHEAD", "eth_getLogs", "eth_GETLOGS", "eth_sendBundle"}) {
        INFO(denied);
        CHECK_FALSE(allows(policy, denied));
    }
    for (const char* allowed : {"eth_call", "debug_traceCall", "xadmin_peers", "eth_getLogsX"}) {
        INFO(allowed);
        CHECK(allows(policy, allowed));
    }
}

TEST_CASE("an allow list allows nothing else, and deny wins") {
    const MethodPolicy policy({"eth_sendRawTransaction"}, {"eth_*", "net_version"});
    CHECK(allows(policy, "eth_call"));
    CHECK(allows(policy, "eth_somethingNew"));
    CHECK(allows(policy, "net_version"));
    CHECK_FALSE(allows(policy, "eth_sendRawTransaction"));
    CHECK_FALSE(allows(policy, "net_peerCount"));
    CHECK_FALSE(allows(policy, "alchemy_x"));
}

TEST_CASE("an operator's read patterns hold for unknown methods only") {
    const MethodBook book({"alchemy_*", "eth_*"});
    CHECK(book.find("alchemy_getTokenBalances").access == Access::read);
    CHECK(book.find("eth_brandNew").access == Access::read);
    CHECK(book.find("eth_sendRawTransaction").access == Access::broadcast);
    CHECK(book.find("eth_sendTransaction").access == Access::write);
    CHECK(book.find("anvil_mine").access == Access::write);
    CHECK(MethodBook({}).find("alchemy_x").access == Access::write);
}
