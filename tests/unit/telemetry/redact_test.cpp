#include "telemetry/redact.hpp"

#include "support/catch.hpp"

#include <random>
#include <string>

using namespace weir::telemetry;
using weir::core::Secret;

namespace {

std::string redacted(const std::vector<std::string>& secrets, std::string_view text) {
    std::vector<Secret> wrapped;
    for (const std::string& secret : secrets) {
        wrapped.emplace_back(secret);
    }
    std::string scratch;
    return std::string(Redactor(wrapped).apply(text, scratch));
}

}  // namespace

TEST_CASE("a secret is replaced in every form") {
    struct Case {
        std::vector<std::string> secrets;
        std::string text;
        std::string expected;
    };
    const std::vector<Case> cases = {
        {{}, "nothing to hide", "nothing to hide"},
        {{"s3cr3t-key"}, "no key here", "no key here"},
        {{"s3cr3t-key"}, "s3cr3t-key", "***"},
        {{"s3cr3t-key"}, "a s3cr3t-key, twice: s3cr3t-keys3cr3t-key!", "a ***, twice: ******!"},
        {{"s3cr3t-key"}, "s3cr3t-ke", "s3cr3t-ke"},
        {{"s3cr3t-key"}, "s3cr3t-ks3cr3t-key", "s3cr3t-k***"},
        // Short ones are not looked for.
        {{"1234567"}, "1234567", "1234567"},
        {{"12345678"}, "x12345678y", "x***y"},
        // Percent-encoding: all but unreserved characters, or what a path cannot hold.
        {{"pa/ss+wo rd"}, "at pa%2Fss%2Bwo%20rd", "at ***"},
        {{"pa/ss+wo rd"}, "at pa%2fss%2bwo%20rd", "at ***"},
        {{"pa/ss+wo rd"}, "at pa/ss+wo%20rd", "at ***"},
        {{"pa%2Fss%2Bwo"}, "decoded pa/ss+wo", "decoded ***"},
        {{"pa%2Fss%2Bwo"}, "raw pa%2Fss%2Bwo", "raw ***"},
        {{"gr\xC3\xBC\xC3\x9F-secret"}, "gr%C3%BC%C3%9F-secret", "***"},
        {{"100%-secret"}, "100%-secret or 100%25-secret", "*** or ***"},
        {{"s3cr3t-key"}, "%73%33%63%72%33%74%2d%6b%65%79!", "***!"},
        {{"s3cr3t-key"}, "at %73%33%63%72%33%74%2D%6B%65%79", "at ***"},
        {{"s3cr3t-key"}, "%73%33%63", "%73%33%63"},
        // JSON escapes.
        {{"quo\"te\\back"}, R"({"k":"quo\"te\\back"})", R"({"k":"***"})"},
        {{"sla/sh/es"}, R"("sla\/sh\/es")", R"("***")"},
        {{"line\nbreak"}, R"(line\nbreak)", "***"},
        // The longest of several, and overlapping ones as one piece.
        {{"abcdefgh", "abcdefghijkl"}, "abcdefghijkl", "***"},
        {{"abcdefgh1234", "gh1234567890"}, "<abcdefgh1234567890>", "<***>"},
        {{"aaaaaaaa"}, "aaaaaaaaaaaa", "***"},
        // Bytes that are no text.
        {{std::string("\0\xFF\x01\x80-binary", 11)},
         std::string("a\0\xFF\x01\x80-binaryz", 13),
         "a***z"},
    };
    for (const Case& c : cases) {
        CAPTURE(c.text);
        CHECK(redacted(c.secrets, c.text) == c.expected);
    }
}

TEST_CASE("pieces of a secret are replaced where a provider quotes them") {
    const PieceRedactor redactor(
        {Secret("abcdefghijklmnop"), Secret("wo/rds \"here"), Secret("short")});
    struct Case {
        std::string text;
        std::string expected;
    };
    const std::vector<Case> cases = {
        {"", ""},
        {"nothing", "nothing"},
        {"key abcdefghijklmnop.", "key ***."},
        {"key ijklmnop...", "key ***..."},
        {"key abcdefg...", "key abcdefg..."},  // seven
        {"abcdefgh-ijklmnop", "***-***"},
        {"abcdefghijklmnopabcdefgh!", "******!"},
        {"xabcdefghix", "x***x"},
        {"short", "short"},
        {R"({"message":"bad wo\/rds \"he"})", R"({"message":"bad ***"})"},
        {"wo%2Frds%20%22here", "***"},
        // Some bytes encoded and some not, digits of either case.
        {"key a%62c%64efg%68, %61%62", "key ***, %61%62"},
        {"key %69%6A%6b%6Cmno%70.", "key ***."},
        {"%61bcdefgh%69jklmno%70", "***"},
        {"wo%2frds%20\"here", "***"},
        {R"(wo\/rds%20\"h%65re)", "***"},
        {R"(wo\u002frds%20\u0022here)", "***"},
        {R"(\u0025\u0036\u0031bcdefgh-%)", "***-%"},
        {"100% of abc%64efg", "100% of abc%64efg"},  // seven
        {"%61bcdefg%6", "%61bcdefg%6"},              // an encoding that was cut off
    };
    for (const Case& c : cases) {
        CAPTURE(c.text);
        std::string scratch;
        CHECK(redactor.apply(c.text, scratch) == c.expected);
    }
    std::string scratch;
    const std::string clean = "a clean text";
    CHECK(redactor.apply(clean, scratch).data() == clean.data());
    CHECK(PieceRedactor({}).apply(clean, scratch).data() == clean.data());
}

TEST_CASE("text without a secret is not copied") {
    std::string scratch;
    const Redactor redactor({Secret("s3cr3t-key")});
    const std::string text = "a line about nothing in particular";
    CHECK(redactor.apply(text, scratch).data() == text.data());
}

TEST_CASE("no secret is missed wherever it stands among others like it") {
    std::mt19937_64 random(7);  // fixed: the same texts in every run
    const auto word = [&random](std::size_t length) {
        std::string out;
        for (std::size_t i = 0; i < length; ++i) {
            out += static_cast<char>('a' + random() % 3);  // few letters: many near misses
        }
        return out;
    };
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> secrets;
        for (std::size_t i = 0; i < 5; ++i) {
            secrets.push_back(word(8 + random() % 6));
        }
        std::string text = word(random() % 40);
        text += secrets[random() % secrets.size()] + word(random() % 40);
        const std::string shown = redacted(secrets, text);
        CHECK(shown.find("***") != std::string::npos);
        for (const std::string& secret : secrets) {
            CHECK(shown.find(secret) == std::string::npos);
        }
    }
}
