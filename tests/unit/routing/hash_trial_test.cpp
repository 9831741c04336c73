#include "routing/hash_trial.hpp"

#include "jsonrpc/value.hpp"
#include "routing/block_words.hpp"
#include "support/catch.hpp"

#include <string>

using namespace weir;
using routing::Cause;
using Trial = routing::HashReads::Trial;

TEST_CASE("every method that takes a hash is tried with params that name a made-up one") {
    std::size_t tried = 0;
    for (std::size_t i = 1; i < routing::method_count(); ++i) {
        const routing::MethodTraits& traits = routing::method_at(i);
        if (traits.by_hash != routing::ByHash::object &&
            traits.by_hash != routing::ByHash::filter) {
            continue;
        }
        const std::string params = routing::trial_params(traits, 0);
        INFO(traits.name << ' ' << params);
        CHECK(jsonrpc::is_valid(params));
        CHECK(routing::trial_params(traits, 1) != params);
        CHECK(routing::trial_params(traits, 1).size() == params.size());
        const std::string_view place = jsonrpc::element(params, traits.block_position);
        REQUIRE(jsonrpc::is_object(place));
        CHECK(routing::is_hash_word(jsonrpc::member(place, "blockHash")));
        CHECK(jsonrpc::member(place, "requireCanonical").empty() ==
              (traits.by_hash == routing::ByHash::filter));
        for (std::size_t j = 0; j < traits.block_position; ++j) {
            CHECK_FALSE(jsonrpc::element(params, j).empty());
        }
        ++tried;
    }
    CHECK(tried > 25);
    CHECK(routing::trial_params(routing::find_method("eth_call"), 0) ==
          R"([{"to":"0x7765697200000000000000000000000000000001"},{"blockHash":)"
          R"("0x776569723a206120626c6f636b2074686174206e6f20636861696e206861732e",)"
          R"("requireCanonical":true}])");
}

TEST_CASE("only that it knows no such block is trust in a node") {
    struct Row {
        const char* method;
        std::optional<std::string_view> result;
        Cause cause;
        Trial trial;
    };
    for (const Row& row : {
             Row{"eth_getCode", std::nullopt, Cause::block_unknown, Trial::unknown_block},
             Row{"eth_getCode", "\"0x\"", Cause::answered, Trial::answered},
             Row{"eth_getCode", "null", Cause::answered, Trial::refused},
             Row{"eth_getLogs", "[]", Cause::answered, Trial::answered},
             Row{"eth_getLogs", "null", Cause::answered, Trial::refused},
             Row{"eth_getBlockReceipts", "null", Cause::answered, Trial::unknown_block},
             Row{"eth_getBlockReceipts", "[]", Cause::answered, Trial::answered},
             Row{"eth_getCode", std::nullopt, Cause::invalid_params, Trial::refused},
             Row{"eth_getCode", std::nullopt, Cause::method_unsupported, Trial::refused},
             Row{"eth_getCode", std::nullopt, Cause::plan_lacks_method, Trial::refused},
             Row{"eth_getCode", std::nullopt, Cause::state_missing, Trial::unclear},
             Row{"eth_getCode", std::nullopt, Cause::server_error, Trial::unclear},
             Row{"eth_getCode", std::nullopt, Cause::unknown, Trial::unclear},
             Row{"eth_getCode", std::nullopt, Cause::rate_limited, Trial::unclear},
             Row{"eth_call", std::nullopt, Cause::reverted, Trial::unclear},
         }) {
        INFO(row.method << ' ' << row.result.value_or("error"));
        CHECK(routing::trial_of(routing::find_method(row.method), row.result, row.cause) ==
              row.trial);
    }
}
