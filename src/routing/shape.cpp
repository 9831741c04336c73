#include "routing/shape.hpp"

#include "core/harmless.hpp"
#include "core/text.hpp"
#include "routing/complaint.hpp"

#include <algorithm>

namespace weir::routing {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word_char(char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '-'; }
bool is_url_char(char c) { return c > ' ' && c != '"' && c != '\'' && c != '<' && c != '>'; }

constexpr std::size_t kKeyLength = 12;     // with a digit in it, a word so long is no word
constexpr std::size_t kLongestPlain = 32;  // nor is any longer one

// One word as it is shown.
std::string_view shown(std::string_view word) {
    const bool digits = std::any_of(word.begin(), word.end(), is_digit);
    const bool letters = std::any_of(word.begin(), word.end(), is_letter);
    const bool hex = word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
    if (hex || word.size() > kLongestPlain || (digits && letters && word.size() >= kKeyLength)) {
        return "***";
    }
    return digits && !letters ? "#" : word;
}

// A word in which numbers stand beside letters: `10s`, `block5`.
void append_mixed(std::string& out, std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (!is_digit(word[i])) {
            out.push_back(word[i]);
        } else if (i == 0 || !is_digit(word[i - 1])) {
            out.push_back('#');
        }
    }
}

template <class Is>
std::size_t run(std::string_view text, Is is) {
    const auto end = std::find_if_not(text.begin(), text.end(), is);
    return static_cast<std::size_t>(end - text.begin());
}

std::string title_of(std::string_view page) {
    const std::string lower = core::to_lower(page.substr(0, 4096));
    const auto begin = lower.find("<title>");
    const auto end = lower.find("</title>");
    if (begin == lower.npos || end == lower.npos || end < begin + 7) {
        return {};
    }
    return std::string(page.substr(begin + 7, end - begin - 7));
}

}  // namespace

std::string scrub(std::string_view given) {
    const std::string seen = core::harmless(given);
    std::string_view text = seen;
    std::string out;
    while (!text.empty() && out.size() < kLongestWording) {
        if (text.starts_with("http://") || text.starts_with("https://")) {
            text.remove_prefix(run(text, is_url_char));
            out += "<url>";
        } else if (is_word_char(text.front())) {
            const std::string_view word = text.substr(0, run(text, is_word_char));
            text.remove_prefix(word.size());
            const std::string_view instead = shown(word);
            if (instead == word) {
                append_mixed(out, word);
            } else {
                out += instead;
            }
        } else if (text.front() == ' ') {
            text.remove_prefix(1);
            if (!out.empty() && out.back() != ' ') {
                out.push_back(' ');
            }
        } else {
            out.push_back(text.front());
            text.remove_prefix(1);
        }
    }
    core::cut_between_characters(out, kLongestWording);
    while (!out.empty() && out.back() == ' ') {
        out.pop_back();
    }
    return out;
}

Shape shape_of(const HttpReply& reply) {
    return shape_of(reply, [](std::string_view text) { return std::string(text); });
}

Shape shape_of(const HttpReply& reply, const Mask& mask) {
    Shape shape;
    shape.status = reply.head.status;
    const auto first = reply.body.find_first_not_of(" \t\r\n");
    const char begins = first == reply.body.npos ? '\0' : reply.body[first];
    if (!reply.reply && begins == '<') {
        shape.wording = scrub("page: " + mask(title_of(reply.body)));
        return shape;
    }
    const Complaint complaint =
        reply.reply ? read_complaint(reply.reply->error) : read_stray_complaint(reply.body);
    shape.code = complaint.code;
    const bool plain = !reply.reply && complaint.object.empty() && (begins == '{' || begins == '[');
    if (!complaint.texts.empty() && !plain) {
        shape.wording = scrub(mask(complaint.texts.front()));
    }
    return shape;
}

}  // namespace weir::routing
