#include "routing/rule_set.hpp"

#include "core/text.hpp"
#include "jsonrpc/value.hpp"
#include "routing/brought_words.hpp"

#include <algorithm>
#include <array>

namespace weir::routing {
namespace {

Cause cause_named(std::string_view name) {
    for (std::size_t i = 0; i < kCauses; ++i) {
        if (to_string(static_cast<Cause>(i)) == name) {
            return static_cast<Cause>(i);
        }
    }
    return Cause::unknown;
}

// Does the rule read anything but the status?
bool reads_status_only(const config::ProviderRule& rule) {
    return rule.says.empty() && rule.codes.empty() && rule.members.empty() && !rule.hex_data &&
           rule.headers.empty();
}

Stage stage_of(const config::ProviderRule& rule, Cause cause) {
    const bool bare = reads_status_only(rule);
    switch (cause) {
        case Cause::reverted:
            return Stage::revert;
        case Cause::already_known:
        case Cause::nonce_too_low:
        case Cause::underpriced:
        case Cause::tx_rejected:
            return Stage::pool;
        case Cause::range_too_large:
        case Cause::response_too_large:
            return Stage::range;
        case Cause::batch_too_large:
            return Stage::batch;
        case Cause::state_missing:
        case Cause::block_unknown:
            return Stage::state;
        case Cause::invalid_params:
            return Stage::params;
        case Cause::quota_exhausted:
            return bare ? Stage::quota_status : Stage::quota;
        case Cause::plan_lacks_method:
            return Stage::plan;
        case Cause::auth_failed:
            return bare ? Stage::auth_status : Stage::auth;
        case Cause::method_unsupported:
            return Stage::unsupported;
        case Cause::rate_limited:
            return Stage::rate;
        case Cause::timeout:
            return bare ? Stage::trouble_status : Stage::timeout;
        default:
            return bare ? Stage::trouble_status : Stage::trouble;
    }
}

// Beyond so many, words are not looked for run together: a word has a number of 16 bits.
constexpr std::size_t kMostWords = 20'000;

std::vector<Wording> compile(const std::vector<std::string>& texts, Vocabulary& vocabulary) {
    std::vector<Wording> wordings;
    wordings.reserve(texts.size());
    for (const std::string& text : texts) {
        wordings.emplace_back(text, vocabulary);
        if (vocabulary.size() > kMostWords) {
            continue;
        }
        for (const std::string& form : run_together(text)) {
            wordings.emplace_back(form, vocabulary, Vocabulary::Spelling::run_together);
        }
    }
    return wordings;
}

bool is_status(const std::vector<config::StatusRange>& ranges, int status) {
    return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), [status](const auto& range) {
               return status >= range.first && status <= range.last;
           });
}

bool is_code(const std::vector<std::int64_t>& codes, std::optional<std::int64_t> code) {
    return codes.empty() || (code && std::find(codes.begin(), codes.end(), *code) != codes.end());
}

bool is_about_logs(const MethodTraits& traits) {
    return traits.block_param == BlockParam::log_filter || traits.access == Access::read_filter ||
           traits.access == Access::poll_filter;
}

bool is_on(const std::vector<std::string>& classes, const CallSent& call) {
    const bool sends =
        call.traits.access == Access::broadcast || call.traits.access == Access::write;
    return classes.empty() ||
           std::any_of(classes.begin(), classes.end(), [&](const std::string& name) {
               if (name == "sends") return sends;
               if (name == "reads") return !sends;
               if (name == "logs") return is_about_logs(call.traits);
               return core::glob_match(name, call.method);
           });
}

bool has_members(const std::vector<std::string>& names, std::string_view data) {
    return std::all_of(names.begin(), names.end(), [data](const std::string& name) {
        return jsonrpc::is_object(data) && !jsonrpc::member(data, name).empty();
    });
}

std::string_view header(const HttpHead& head, std::string_view name) {
    if (name == "retry-after") return head.retry_after;
    const auto at = std::find_if(head.limits.begin(), head.limits.end(),
                                 [name](const auto& field) { return field.first == name; });
    return at != head.limits.end() ? std::string_view(at->second) : std::string_view();
}

bool has_headers(const std::vector<std::pair<std::string, std::string>>& wanted,
                 const HttpHead& head) {
    return std::all_of(wanted.begin(), wanted.end(), [&head](const auto& field) {
        const std::string_view value = header(head, field.first);
        return !value.empty() && (field.second == "*" || core::iequals(value, field.second));
    });
}

bool is_hex_data(std::string_view data) { return data.size() > 4 && data.starts_with(R"("0x)"); }

}  // namespace

RuleSet::RuleSet(const std::vector<const std::vector<config::ProviderRule>*>& layers) {
    for (std::size_t stage = 0; stage < kStages; ++stage) {
        for (const bool worded : {true, false}) {
            for (const auto* layer : layers) {
                for (const config::ProviderRule& rule : *layer) {
                    const Cause cause = cause_named(rule.cause);
                    if (stage_of(rule, cause) == static_cast<Stage>(stage) &&
                        rule.says.empty() != worded) {
                        add(static_cast<Stage>(stage), cause, rule);
                    }
                }
            }
        }
    }
    begin_with_.resize(vocabulary_.size());
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        add_places(i);
    }
}

void RuleSet::add(Stage stage, Cause cause, const config::ProviderRule& rule) {
    Rule& added = rules_.emplace_back(Rule{stage, cause, compile(rule.says, vocabulary_),
                                           compile(rule.unless, vocabulary_), rule});
    added.conditions.says.clear();
    added.conditions.unless.clear();
}

void RuleSet::add_places(std::size_t rule) {
    const std::vector<Wording>& wordings = rules_[rule].says;
    for (std::size_t k = 0; k < wordings.size(); ++k) {
        for (const WordId word : wordings[k].first_words()) {
            begin_with_[word].push_back(
                {static_cast<std::uint16_t>(rule), static_cast<std::uint16_t>(k)});
        }
    }
}

bool RuleSet::holds(const Rule& rule, const Evidence& evidence,
                    std::span<const WordId> words) const {
    const config::ProviderRule& wanted = rule.conditions;
    if (wanted.batch && evidence.call.message != Message::batch) {
        return false;
    }
    if (evidence.medium == Medium::page && !wanted.pages) {
        return false;
    }
    return is_status(wanted.status, evidence.status) && is_code(wanted.codes, evidence.code) &&
           (!wanted.hex_data || is_hex_data(evidence.data)) && is_on(wanted.on, evidence.call) &&
           has_members(wanted.members, evidence.data) &&
           has_headers(wanted.headers, evidence.head) &&
           std::none_of(rule.unless.begin(), rule.unless.end(), [&](const Wording& wording) {
               return wording.matches(words, vocabulary_);
           });
}

bool RuleSet::is_brought(const CallSent& call, std::string_view text) const {
    std::vector<WordId> words;
    append_words(words, vocabulary_, text);
    const BroughtWords brought(call, vocabulary_);
    return std::any_of(words.begin(), words.end(),
                       [&brought](WordId word) { return word >= kFirstWord && brought.has(word); });
}

RuleSet::Look::Look(const RuleSet& rules, const Evidence& evidence)
    : rules_(rules), evidence_(evidence) {
    for (const std::string& text : evidence.texts) {
        if (!words_.empty()) {
            words_.push_back(kBarrier);
        }
        append_words(words_, rules.vocabulary_, text, evidence.call.method);
    }
    find_wordings();
    if (any_said_ && void_what_the_call_brought()) {
        find_wordings();
    }
}

void RuleSet::Look::find_wordings() {
    said_.assign(rules_.rules_.size(), false);
    any_said_ = false;
    for (std::size_t at = 0; at < words_.size(); ++at) {
        const WordId word = words_[at];
        if (word == kOtherWord || word == kBarrier) {
            continue;
        }
        // A number begins the wordings that name it and those that name any.
        const bool named = word != kNumberWord && rules_.vocabulary_.is_number(word);
        for (const WordId key : {word, named ? kNumberWord : kOtherWord}) {
            for (const Place& place : rules_.begin_with_[key]) {
                if (!said_[place.rule] && rules_.rules_[place.rule].says[place.wording].matches_at(
                                              words_, at, rules_.vocabulary_)) {
                    said_[place.rule] = true;
                    any_said_ = true;
                }
            }
        }
    }
}

bool RuleSet::Look::void_what_the_call_brought() {
    const BroughtWords brought(evidence_.call, rules_.vocabulary_);
    bool changed = false;
    for (WordId& word : words_) {
        if (word >= kFirstWord && brought.has(word)) {
            word = kOtherWord;
            changed = true;
        }
    }
    return changed;
}

std::optional<Cause> RuleSet::Look::cause(Stage first, Stage last, Rules which) const {
    for (std::size_t i = 0; i < rules_.rules_.size(); ++i) {
        const Rule& rule = rules_.rules_[i];
        if (rule.stage < first) {
            continue;
        }
        if (rule.stage > last) {
            break;
        }
        const bool asked = rule.says.empty() ? which == Rules::all : said_[i];
        if (asked && rules_.holds(rule, evidence_, words_)) {
            return rule.cause;
        }
    }
    return std::nullopt;
}

}  // namespace weir::routing
