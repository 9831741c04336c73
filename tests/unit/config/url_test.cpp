#include "config/url.hpp"

#include "support/catch.hpp"

#include <algorithm>

using namespace weir::config;

namespace {

ParsedUrl good(const std::string& text, std::vector<std::string> pieces = {}) {
    INFO(text);
    auto parsed = parse_url({text, std::move(pieces)});
    REQUIRE(parsed.has_value());
    return *parsed;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

TEST_CASE("URLs are taken apart") {
    struct Row {
        std::string text;
        bool tls;
        std::string host;
        int port;
        std::string target;
        std::string header;
    };
    const std::vector<Row> table = {
        {"http://a", false, "a", 80, "/", "a"},
        {"https://a.example", true, "a.example", 443, "/", "a.example"},
        {"HTTPS://A.Example/V2/x", true, "a.example", 443, "/V2/x", "a.example"},
        {"https://a:443/", true, "a", 443, "/", "a"},
        {"http://a:443/", false, "a", 443, "/", "a:443"},
        {"http://a:8545?x=1", false, "a", 8545, "/?x=1", "a:8545"},
        {"http://a/b?c?d=/e", false, "a", 80, "/b?c?d=/e", "a"},
        {"http://[::1]:8545/x", false, "::1", 8545, "/x", "[::1]:8545"},
        {"http://[2001:DB8:0::1]", false, "2001:db8::1", 80, "/", "[2001:db8::1]"},
        {"http://10.0.0.1:1", false, "10.0.0.1", 1, "/", "10.0.0.1:1"},
        {"http://my_node-1:65535", false, "my_node-1", 65535, "/", "my_node-1:65535"},
        {"http://a/%41b/../c", false, "a", 80, "/%41b/../c", "a"},
        {"https://xn--bcher-kva.example", true, "xn--bcher-kva.example", 443, "/",
         "xn--bcher-kva.example"},
        {"http://1password.example", false, "1password.example", 80, "/", "1password.example"},
    };
    for (const Row& row : table) {
        const Url url = good(row.text).url;
        INFO(row.text);
        CHECK(url.tls == row.tls);
        CHECK(url.host == row.host);
        CHECK(url.label == row.host);
        CHECK(url.port == row.port);
        CHECK(url.target.reveal() == row.target);
        CHECK(url.host_header() == row.header);
        CHECK(url.authorization.empty());
    }
}

TEST_CASE("user-info becomes Basic authorization") {
    CHECK(good("http://Aladdin:open%20sesame@a").url.authorization.reveal() ==
          "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    CHECK(good("http://user@a").url.authorization.reveal() == "Basic dXNlcjo=");
    CHECK(good("http://u:a:b@a").url.authorization.reveal() == "Basic dTphOmI=");
    CHECK(good("http://u:p@x@a").url.host == "a");
    CHECK(good("http://@a").url.authorization.empty());
}

TEST_CASE("bad URLs are refused") {
    for (const char* bad : {"",
                            "a",
                            "a.example",
                            "/path",
                            "//a",
                            "ws://a",
                            "ftp://a",
                            "http:a",
                            "http:/a",
                            "http://",
                            "http:///x",
                            "http://?x",
                            "http://:80",
                            "http://a:",
                            "http://a:0",
                            "http://a:65536",
                            "http://a:x",
                            "http://a:-1",
                            "http://a:080080",
                            "http://a#f",
                            "http://a/#f",
                            "http://a b",
                            "http://a/b c",
                            " http://a",
                            "http://a ",
                            "http://a\n",
                            "http://a/\x01",
                            "http://b\xc3\xbc"
                            "cher.example",
                            "http://a/\xc3\xbc",
                            "http://-a",
                            "http://a-",
                            "http://a..b",
                            "http://.a",
                            "http://a.",
                            "http://a,b",
                            "http://1.2.3",
                            "http://1.2.3.4.5",
                            "http://256.1.1.1",
                            "http://0x7f.1",
                            "http://1",
                            "http://[::1",
                            "http://::1",
                            "http://[1.2.3.4]",
                            "http://[g::1]",
                            "http://[::1%25lo]",
                            "http://[]",
                            "http://a%41",
                            "http://u:%zz@a",
                            "http://u%3ax:p@a",
                            "http://u:%0d%0a@a",
                            "http://a/%zz",
                            "http://a/%4",
                            "http://a/{KEY}",
                            "http://a/<KEY>",
                            "http://a\\b",
                            "http://a/b\\c",
                            "http://a/\"",
                            "http://a/`",
                            "http://a/b|c",
                            "http://a/^"}) {
        INFO(bad);
        const auto parsed = parse_url({bad, {}});
        CHECK_FALSE(parsed.has_value());
    }
    CHECK_FALSE(parse_url({std::string("http://a/\0b", 11), {}}).has_value());
    CHECK_FALSE(parse_url({"http://a/" + std::string(9000, 'b'), {}}).has_value());
    CHECK_FALSE(parse_url({"http://" + std::string(64, 'b'), {}}).has_value());
}

TEST_CASE("secrets of a URL are found") {
    const auto secrets =
        good("https://user:pass%21word@a.example/v2/short/0123456789abcdef?key=query-value&flag")
            .secrets;
    for (const char* one : {"user", "pass!word", "user:pass!word", "user:pass%21word",
                            "0123456789abcdef", "query-value", "flag"}) {
        INFO(one);
        CHECK(has(secrets, one));
    }
    CHECK_FALSE(has(secrets, "v2"));
    CHECK_FALSE(has(secrets, "short"));
    CHECK_FALSE(has(secrets, "a.example"));
}

TEST_CASE("what came from the environment is secret, but the host") {
    SECTION("a key") {
        const auto parsed = good("https://a.example/v2/key-0123/x", {"key-0123"});
        CHECK(has(parsed.secrets, "key-0123"));
        CHECK(parsed.url.label == "a.example");
    }
    SECTION("the whole URL") {
        const auto parsed =
            good("https://a.example/ethereum/key-0123", {"https://a.example/ethereum/key-0123"});
        CHECK(has(parsed.secrets, "key-0123"));
        CHECK(has(parsed.secrets, "/ethereum/key-0123"));
        CHECK_FALSE(has(parsed.secrets, "ethereum"));
        CHECK(parsed.url.label == "a.example");
    }
    SECTION("the host") {
        const auto parsed = good("https://a.example:8545/", {"A.example"});
        CHECK_FALSE(has(parsed.secrets, "A.example"));
        CHECK(parsed.url.label == "a.example");
    }
    SECTION("the host and its port") {
        CHECK_FALSE(
            has(good("https://a.example:8545/", {"a.example:8545"}).secrets, "a.example:8545"));
    }
    SECTION("a part of the host") {
        const auto parsed = good("https://Key-01234.quiknode.pro/", {"Key-01234"});
        CHECK(has(parsed.secrets, "Key-01234"));
        CHECK(parsed.url.label == "***.quiknode.pro");
        CHECK(parsed.url.host == "key-01234.quiknode.pro");
    }
}
