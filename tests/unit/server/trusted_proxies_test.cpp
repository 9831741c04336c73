#include "server/trusted_proxies.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

using weir::server::TrustedProxies;

namespace {

using Fields = std::vector<std::string_view>;

}  // namespace

TEST_CASE("nobody's X-Forwarded-For is believed unless a proxy is trusted") {
    const TrustedProxies none({});
    CHECK(none.origin_of("127.0.0.1", Fields{"1.2.3.4"}) == "127.0.0.1");
    const TrustedProxies some({"10.0.0.0/8"});
    CHECK(some.origin_of("192.0.2.1", Fields{"1.2.3.4"}) == "192.0.2.1");
    CHECK(some.origin_of("10.1.2.3", Fields{}) == "10.1.2.3");
}

TEST_CASE("the last address that is not a trusted proxy's is the origin") {
    const TrustedProxies proxies({"10.0.0.0/8", "2001:db8::/32", "192.0.2.7/32"});
    struct Row {
        std::string_view peer;
        Fields fields;
        std::string_view origin;
    };
    const std::vector<Row> rows = {
        {"10.1.2.3", {"1.2.3.4"}, "1.2.3.4"},
        {"10.1.2.3", {"6.6.6.6, 1.2.3.4"}, "1.2.3.4"},
        {"10.1.2.3", {"6.6.6.6 ,1.2.3.4,\t10.9.9.9"}, "1.2.3.4"},
        {"10.1.2.3", {"1.2.3.4", "192.0.2.7"}, "1.2.3.4"},
        {"10.1.2.3", {"10.0.0.1, 10.0.0.2"}, "10.0.0.1"},
        {"10.1.2.3", {"2a00::1"}, "2a00::1"},
        {"2001:db8::1", {"1.2.3.4"}, "1.2.3.4"},
        {"::ffff:10.1.2.3", {"1.2.3.4"}, "1.2.3.4"},
        {"192.0.2.8", {"1.2.3.4"}, "192.0.2.8"},
        // What is no address is not repeated.
        {"10.1.2.3", {"secret-text"}, "10.1.2.3"},
        {"10.1.2.3", {"1.2.3.4, unknown"}, "10.1.2.3"},
        {"10.1.2.3", {"nonsense, 10.0.0.2"}, "10.0.0.2"},
        {"10.1.2.3", {""}, "10.1.2.3"},
        {"10.1.2.3", {",,"}, "10.1.2.3"},
        // A port is not of interest.
        {"10.1.2.3", {"1.2.3.4:4444"}, "1.2.3.4"},
        {"10.1.2.3", {"6.6.6.6:1, 1.2.3.4:0 ,10.0.0.9:65535"}, "1.2.3.4"},
        {"10.1.2.3", {"[2a00::1]:443"}, "2a00::1"},
        {"10.1.2.3", {"1.2.3.4, [2001:db8::7]:80, [2001:db8::8]"}, "1.2.3.4"},
        {"10.1.2.3", {"2a00::1:80"}, "2a00::1:80"},  // all of it is the address
        {"10.1.2.3", {"::ffff:1.2.3.4"}, "::ffff:1.2.3.4"},
        {"10.1.2.3", {"[::ffff:1.2.3.4]:5"}, "::ffff:1.2.3.4"},
        {"10.1.2.3", {"1.2.3.4:"}, "10.1.2.3"},
        {"10.1.2.3", {"1.2.3.4:x"}, "10.1.2.3"},
        {"10.1.2.3", {"1.2.3.4:65536"}, "10.1.2.3"},
        {"10.1.2.3", {"1.2.3.4:99999999999999999999999"}, "10.1.2.3"},
        {"10.1.2.3", {"1.2.3.4:1:2"}, "10.1.2.3"},
        {"10.1.2.3", {"[1.2.3.4]:80"}, "10.1.2.3"},
        {"10.1.2.3", {"[2a00::1]x"}, "10.1.2.3"},
        {"10.1.2.3", {"[2a00::1]:"}, "10.1.2.3"},
        {"10.1.2.3", {"[2a00::1"}, "10.1.2.3"},
        {"10.1.2.3", {"[]:80"}, "10.1.2.3"},
        {"10.1.2.3", {"["}, "10.1.2.3"},
        {"10.1.2.3", {":80"}, "10.1.2.3"},
        {"10.1.2.3", {std::string_view("1.2.3.4\0x", 9)}, "10.1.2.3"},
        {"", {"1.2.3.4"}, ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.peer, row.fields);
        CHECK(proxies.origin_of(row.peer, row.fields) == row.origin);
    }
}

TEST_CASE("a prefix of no bits is everybody of all families") {
    const TrustedProxies all({"::/0"});
    CHECK(all.origin_of("10.1.2.3", Fields{"1.2.3.4, 5.6.7.8"}) == "1.2.3.4");
    const TrustedProxies v4({"0.0.0.0/0"});
    CHECK(v4.origin_of("2001:db8::1", Fields{"1.2.3.4"}) == "2001:db8::1");
    CHECK(v4.origin_of("9.9.9.9", Fields{"2001:db8::1"}) == "2001:db8::1");
}
