#include "telemetry/redact.hpp"

#include "telemetry/escape.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace weir::telemetry {
namespace {

constexpr std::string_view kMask = "***";

std::size_t block_of(char first, char second) {
    const auto a = static_cast<std::uint8_t>(first);
    const auto b = static_cast<std::uint8_t>(second);
    return (static_cast<std::size_t>(a) * 67 + b) & 4095U;
}

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~").find(c) != std::string_view::npos;
}

bool never(char) { return false; }

bool stands_in_a_path(char c) {
    return is_unreserved(c) || std::string_view("!$&'()*+,;=:@/").find(c) != std::string_view::npos;
}

std::string percent_encode(std::string_view text, bool (*keep)(char), std::string_view digits) {
    std::string out;
    for (const char c : text) {
        if (keep(c)) {
            out += c;
        } else {
            const auto byte = static_cast<std::uint8_t>(c);
            out += '%';
            out += digits[byte >> 4U];
            out += digits[byte & 0x0FU];
        }
    }
    return out;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The first byte of a text and what it takes there.
struct Unit {
    char byte;
    std::size_t length;
};

Unit percent_unit(std::string_view text) {
    const int high = text.size() >= 3 && text[0] == '%' ? hex_digit(text[1]) : -1;
    const int low = high >= 0 ? hex_digit(text[2]) : -1;
    return low >= 0 ? Unit{static_cast<char>(high * 16 + low), 3} : Unit{text[0], 1};
}

// Of JSON's escapes those that a secret may hold: no control characters, nothing beyond ASCII.
Unit json_unit(std::string_view text) {
    constexpr std::size_t kUnicode = 6;  // \u0041
    if (text.size() < 2 || text[0] != '\\') {
        return {text[0], 1};
    }
    if (text.size() >= kUnicode && text.starts_with("\\u00")) {
        const int high = hex_digit(text[4]);
        const int low = hex_digit(text[5]);
        if (high >= 0 && high < 8 && low >= 0) {
            return {static_cast<char>(high * 16 + low), kUnicode};
        }
    }
    const bool quoted = text[1] == '"' || text[1] == '\\' || text[1] == '/';
    return quoted ? Unit{text[1], 2} : Unit{text[0], 1};
}

std::string percent_decode(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto [byte, length] = percent_unit(text);
        out += byte;
        text.remove_prefix(length);
    }
    return out;
}

std::string json_escape(std::string_view text) {
    std::string out;
    append_escaped(out, text);
    return out;
}

// As some writers of JSON do it: `/` escaped too.
std::string json_escape_with_solidus(std::string_view text) {
    std::string out;
    for (const char c : json_escape(text)) {
        out += c == '/' ? "\\/" : std::string(1, c);
    }
    return out;
}

std::set<std::string> forms_of(const std::string& secret) {
    constexpr std::string_view kUpper = "0123456789ABCDEF";
    constexpr std::string_view kLower = "0123456789abcdef";
    std::set<std::string> forms;
    for (const std::string& plain : {secret, percent_decode(secret)}) {
        forms.insert(plain);
        for (const auto keep : {is_unreserved, stands_in_a_path, never}) {
            forms.insert(percent_encode(plain, keep, kUpper));
            forms.insert(percent_encode(plain, keep, kLower));
        }
    }
    for (const std::string& form : std::set<std::string>(forms)) {
        forms.insert(json_escape(form));
        forms.insert(json_escape_with_solidus(form));
    }
    return forms;
}

// Those of all secrets that are long enough to be looked for.
std::set<std::string> forms_of_all(const std::vector<core::Secret>& secrets) {
    std::set<std::string> all;
    for (const core::Secret& secret : secrets) {
        if (secret.reveal().size() >= Redactor::kShortest) {
            all.merge(forms_of(secret.reveal()));
        }
    }
    std::erase_if(all, [](const std::string& form) { return form.size() < Redactor::kShortest; });
    return all;
}

}  // namespace

Redactor::Redactor(const std::vector<core::Secret>& secrets) {
    shift_.fill(static_cast<std::uint8_t>(kShortest - 1));
    for (const std::string& form : forms_of_all(secrets)) {
        add(form);
    }
}

void Redactor::add(std::string form) {
    const auto place = static_cast<std::uint32_t>(forms_.size());
    for (std::size_t i = 0; i + 1 < kShortest; ++i) {
        const std::size_t block = block_of(form[i], form[i + 1]);
        const auto distance = static_cast<std::uint8_t>(kShortest - 2 - i);
        shift_[block] = std::min(shift_[block], distance);
    }
    ends_with_[block_of(form[kShortest - 2], form[kShortest - 1])].push_back(place);
    forms_.push_back(std::move(form));
}

// The longest form at the first place at or after `from` where any stands.
std::optional<Redactor::Match> Redactor::find(std::string_view text, std::size_t from) const {
    std::size_t at = from;
    while (at + kShortest <= text.size()) {
        const std::size_t block = block_of(text[at + kShortest - 2], text[at + kShortest - 1]);
        if (shift_[block] != 0) {
            at += shift_[block];
            continue;
        }
        std::size_t longest = 0;
        for (const std::uint32_t place : ends_with_[block]) {
            const std::string& form = forms_[place];
            if (form.size() > longest && text.compare(at, form.size(), form) == 0) {
                longest = form.size();
            }
        }
        if (longest != 0) {
            return Match{at, at + longest};
        }
        ++at;
    }
    return std::nullopt;
}

std::string_view Redactor::apply(std::string_view text, std::string& scratch) const {
    if (forms_.empty()) {
        return text;
    }
    std::optional<Match> match = find(text, 0);
    if (!match) {
        return text;
    }
    scratch.clear();
    std::size_t shown = 0;
    while (match) {
        // Secrets may overlap: what stands in any of them is masked, as one piece.
        Match masked = *match;
        match = find(text, masked.begin + 1);
        while (match && match->begin < masked.end) {
            masked.end = std::max(masked.end, match->end);
            match = find(text, match->begin + 1);
        }
        scratch += text.substr(shown, masked.begin - shown);
        scratch += kMask;
        shown = masked.end;
    }
    scratch += text.substr(shown);
    return scratch;
}

PieceRedactor::PieceRedactor(const std::vector<core::Secret>& secrets)
    : pieces_(std::make_shared<const Pieces>()) {
    add(secrets);
}

void PieceRedactor::add(const std::vector<core::Secret>& secrets) {
    Pieces next = *pieces_.get();
    for (const std::string& form : forms_of_all(secrets)) {
        for (std::size_t i = 0; i + Redactor::kShortest <= form.size(); ++i) {
            next.insert(form.substr(i, Redactor::kShortest));
        }
    }
    pieces_.publish(std::make_shared<const Pieces>(std::move(next)));
}

// A text without its escapes, and where each of its bytes begins in the text.
struct PieceRedactor::Unescaped {
    std::string bytes;
    std::vector<std::size_t> begins;  // and, last, the text's end
};

PieceRedactor::Unescaped PieceRedactor::unescape(std::string_view text) {
    Unescaped json;
    for (std::size_t i = 0; i < text.size();) {
        const auto [byte, length] = json_unit(text.substr(i));
        json.bytes += byte;
        json.begins.push_back(i);
        i += length;
    }
    json.begins.push_back(text.size());
    Unescaped plain;
    for (std::size_t i = 0; i < json.bytes.size();) {
        const auto [byte, length] = percent_unit(std::string_view(json.bytes).substr(i));
        plain.bytes += byte;
        plain.begins.push_back(json.begins[i]);
        i += length;
    }
    plain.begins.push_back(text.size());
    return plain;
}

// Where pieces stand, as they come; those that overlap are one.
std::vector<std::pair<std::size_t, std::size_t>> PieceRedactor::find(std::string_view text) const {
    const std::shared_ptr<const Pieces> pieces = pieces_.get();
    std::vector<std::pair<std::size_t, std::size_t>> places;
    std::string window;
    for (std::size_t at = 0; !pieces->empty() && at + Redactor::kShortest <= text.size(); ++at) {
        window = text.substr(at, Redactor::kShortest);
        if (!pieces->contains(window)) {
            continue;
        }
        if (!places.empty() && at < places.back().second) {
            places.back().second = at + Redactor::kShortest;
        } else {
            places.emplace_back(at, at + Redactor::kShortest);
        }
    }
    return places;
}

std::string_view PieceRedactor::apply(std::string_view text, std::string& scratch) const {
    auto places = find(text);
    if (text.find_first_of("%\\") != std::string_view::npos) {
        const Unescaped plain = unescape(text);
        for (const auto& [begin, end] : find(plain.bytes)) {
            places.emplace_back(plain.begins[begin], plain.begins[end]);
        }
        std::sort(places.begin(), places.end());
    }
    if (places.empty()) {
        return text;
    }
    scratch.clear();
    std::size_t shown = 0;  // the text up to here is in `scratch`, masked
    for (const auto& [begin, end] : places) {
        if (begin >= shown) {
            scratch += text.substr(shown, begin - shown);
            scratch += kMask;
        }
        shown = std::max(shown, end);
    }
    scratch += text.substr(shown);
    return scratch;
}

}  // namespace weir::telemetry
