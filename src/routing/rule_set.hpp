// A provider's rules, compiled: from what it says to a cause. Immutable; any thread.
#pragma once

#include "config/providers.hpp"
#include "routing/complaint.hpp"
#include "routing/methods.hpp"
#include "routing/verdict.hpp"
#include "routing/wording.hpp"
#include "routing/words.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

// What was sent: a call of its own, or calls in an array.
enum class Message : std::uint8_t { single, batch };

// How a text came: in JSON, plain, or as a page for browsers, of which few rules read anything.
enum class Medium : std::uint8_t { json, plain, page };

// The call that an answer is for. Words that it brought itself prove nothing.
struct CallSent {
    std::string_view method;  // as the client wrote it
    const MethodTraits& traits;
    std::string_view params;  // raw JSON, checked; may be empty
    Message message = Message::single;
};

// The order in which rules are tried, whatever their place in the file; a rule's cause decides to
// which it belongs. What the call came to goes before what it asked for, that before the account's
// limits, and those before passing trouble. A rule that reads a status alone comes after those that
// read words of the same kind; of one stage, rules that read words come before those that do not.
enum class Stage : std::uint8_t {
    revert,
    pool,
    range,
    batch,
    state,
    params,
    quota,
    plan,
    auth,
    quota_status,
    unsupported,
    rate,
    auth_status,
    timeout,
    trouble,
    trouble_status,
};
constexpr std::size_t kStages = static_cast<std::size_t>(Stage::trouble_status) + 1;

// What the rules are asked about.
struct Evidence {
    const CallSent& call;
    const HttpHead& head;
    int status = 0;
    std::optional<std::int64_t> code;
    std::string_view data;
    const std::vector<std::string>& texts;
    Medium medium = Medium::json;
};

class RuleSet {
  public:
    // `layers`: the provider's own rules first, those that it shares with all others last. Their
    // memory is not needed afterwards.
    explicit RuleSet(const std::vector<const std::vector<config::ProviderRule>*>& layers);

    // Did the call bring any of the words of `text` that some wording has?
    bool is_brought(const CallSent& call, std::string_view text) const;

    enum class Rules : std::uint8_t { all, with_wordings };

    // One look at one piece of evidence; asked stage by stage, it reads the words once.
    class Look {
      public:
        Look(const RuleSet& rules, const Evidence& evidence);

        // The cause of the first rule that holds, of the stages from `first` to `last`.
        std::optional<Cause> cause(Stage first, Stage last, Rules which = Rules::all) const;

      private:
        void find_wordings();
        bool void_what_the_call_brought();

        const RuleSet& rules_;
        const Evidence& evidence_;
        std::vector<WordId> words_;
        std::vector<bool> said_;  // by rule
        bool any_said_ = false;
    };

  private:
    struct Rule {
        Stage stage;
        Cause cause;
        std::vector<Wording> says;
        std::vector<Wording> unless;
        config::ProviderRule conditions;
    };
    struct Place {
        std::uint16_t rule;
        std::uint16_t wording;
    };

    bool holds(const Rule& rule, const Evidence& evidence, std::span<const WordId> words) const;
    void add(Stage stage, Cause cause, const config::ProviderRule& rule);
    void add_places(std::size_t rule);

    Vocabulary vocabulary_;
    std::vector<Rule> rules_;                     // by stage
    std::vector<std::vector<Place>> begin_with_;  // by word: wordings that can begin with it
};

}  // namespace weir::routing
