// Known secrets, found and replaced in text that is about to be shown.
#pragma once

#include "core/published.hpp"
#include "core/secret.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weir::telemetry {

// Replaces every occurrence of a secret by `***`, in each form in which it may turn up: as it is,
// percent-decoded, percent-encoded (either case of the digits; all but unreserved characters,
// only what a path cannot hold, or everything) and with JSON escapes. Immutable; any thread. The
// cost is one table look-up for about every sixth byte of the text, whatever the number of secrets.
class Redactor {
  public:
    // Shorter secrets are not looked for: they would blot out words and numbers that are no
    // secrets (`${CHAIN_ID}` is a secret by its origin), and a reader could tell them from the
    // blots. Nothing that short is ever printed on purpose.
    static constexpr std::size_t kShortest = 8;

    explicit Redactor(const std::vector<core::Secret>& secrets);

    // The text to show: `text` itself where it holds no secret, else the masked copy in `scratch`.
    std::string_view apply(std::string_view text, std::string& scratch) const;

  private:
    struct Match {
        std::size_t begin;
        std::size_t end;
    };

    void add(std::string form);
    std::optional<Match> find(std::string_view text, std::size_t from) const;

    // Wu-Manber search (1994) over blocks of two bytes: how far the window may move when its last
    // block is the given one; 0 where a form may end its first kShortest bytes with it.
    static constexpr std::size_t kBlocks = 4096;
    std::array<std::uint8_t, kBlocks> shift_{};
    std::array<std::vector<std::uint32_t>, kBlocks> ends_with_;  // places in forms_
    std::vector<std::string> forms_;
};

// Replaces every piece of kShortest bytes or more of a secret, in each of its forms: for texts that
// a provider made, who may quote a part of a key. Such texts are also looked at with their escapes
// undone (JSON's, then percent-encoding), so that it does not matter which bytes of a secret are
// escaped and how. Immutable; any thread. Slower than Redactor.
class PieceRedactor {
  public:
    explicit PieceRedactor(const std::vector<core::Secret>& secrets);

    // Secrets beside those that it knows.
    void add(const std::vector<core::Secret>& secrets);

    // As Redactor::apply().
    std::string_view apply(std::string_view text, std::string& scratch) const;

  private:
    struct Unescaped;
    static Unescaped unescape(std::string_view text);
    std::vector<std::pair<std::size_t, std::size_t>> find(std::string_view text) const;

    using Pieces = std::unordered_set<std::string>;  // every kShortest bytes that stand together
    core::Published<Pieces> pieces_;
};

}  // namespace weir::telemetry
