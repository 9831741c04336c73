#include "config/document.hpp"

#include "config/encoding.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <sstream>

namespace weir::config {
namespace {

struct Refused : std::exception {
    explicit Refused(Problem p) : problem(std::move(p)) {}
    Problem problem;
};

std::string at(std::size_t line, std::size_t column) {
    return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
}

[[noreturn]] void refuse(const YAML::Mark& mark, std::string what) {
    const auto line = static_cast<std::size_t>(mark.line + 1);
    const auto column = static_cast<std::size_t>(mark.column + 1);
    throw Refused({"", at(line, column) + std::move(what)});
}

// Builds the tree from the parser's events. The parser calls it within its own recursion, so the
// depth is checked here, before that recursion goes deep.
class Builder : public YAML::EventHandler {
  public:
    NodePtr take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (documents_++ > 0) {
            refuse(mark, "the file holds a second document; one is allowed");
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Node node;
        add(mark, anchor, std::move(node));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuse_tag(mark, tag);
        if (wants_key()) {
            open_.back().key = value;
            return;
        }
        Node node;
        node.kind = Node::Kind::scalar;
        node.text = value;
        add(mark, anchor, std::move(node));
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto known = anchors_.find(anchor);
        if (known == anchors_.end()) {
            refuse(mark, "an alias stands inside the value that it names");
        }
        attach(mark, known->second);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        start(mark, tag, anchor, Node::Kind::sequence);
    }
    void OnSequenceEnd() override { finish(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        start(mark, tag, anchor, Node::Kind::map);
    }
    void OnMapEnd() override { finish(); }

  private:
    struct Open {
        Node node;
        YAML::Mark mark;
        YAML::anchor_t anchor = 0;
        std::optional<std::string> key;  // of the map's entry whose value comes next
    };

    bool wants_key() const {
        return !open_.empty() && open_.back().node.kind == Node::Kind::map && !open_.back().key;
    }

    static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
        if (!tag.empty() && tag != "?" && tag != "!") {
            refuse(mark, "tags are not used here");
        }
    }

    void start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
               Node::Kind kind) {
        refuse_tag(mark, tag);
        if (wants_key()) {
            refuse(mark, "a key must be plain text");
        }
        if (open_.size() >= kMaxFileDepth) {
            refuse(mark, "nested too deep");
        }
        Open open;
        open.node.kind = kind;
        open.mark = mark;
        open.anchor = anchor;
        open_.push_back(std::move(open));
    }

    void finish() {
        Open done = std::move(open_.back());
        open_.pop_back();
        add(done.mark, done.anchor, std::move(done.node));
    }

    void add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
        node.line = static_cast<std::size_t>(mark.line + 1);
        NodePtr shared = std::make_shared<const Node>(std::move(node));
        if (anchor != 0) {
            anchors_[anchor] = shared;
        }
        attach(mark, std::move(shared));
    }

    void attach(const YAML::Mark& mark, NodePtr node) {
        if (wants_key()) {
            refuse(mark, "a key must be plain text");
        }
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        parent.node.weight += node->weight;
        if (parent.node.weight > kMaxFileValues) {
            refuse(mark, "too many values");
        }
        if (parent.node.kind == Node::Kind::map) {
            parent.node.entries.emplace_back(std::move(*parent.key), std::move(node));
            parent.key.reset();
        } else {
            parent.node.items.push_back(std::move(node));
        }
    }

    std::vector<Open> open_;
    std::map<YAML::anchor_t, NodePtr> anchors_;
    NodePtr root_;
    int documents_ = 0;
};

// The YAML parser takes 0x04 for the end of the file and guesses at other encodings; neither may
// happen unseen, so what is not printable UTF-8 is refused first.
std::optional<Problem> judge_bytes(std::string_view text) {
    if (text.size() > kMaxFileBytes) {
        return Problem{"", "larger than 1 MiB"};
    }
    std::size_t line = 1;
    std::size_t column = 1;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f) {
            return Problem{"", at(line, column) + "a control character"};
        }
        column = c == '\n' ? 1 : column + 1;
        line += c == '\n' ? 1 : 0;
    }
    if (!is_utf8(text)) {
        return Problem{"", "not UTF-8 text"};
    }
    return std::nullopt;
}

}  // namespace

core::Result<NodePtr, Problem> parse_document(std::string_view text) {
    if (auto problem = judge_bytes(text)) {
        return std::move(*problem);
    }
    try {
        std::istringstream in{std::string(text)};
        YAML::Parser parser(in);
        Builder builder;
        while (parser.HandleNextDocument(builder)) {
        }
        NodePtr root = builder.take();
        return root ? root : std::make_shared<const Node>();
    } catch (const Refused& refused) {
        return refused.problem;
    } catch (const YAML::Exception& error) {
        // Its text is one of the parser's own sentences; a few end in one character of the file.
        return Problem{"", at(static_cast<std::size_t>(error.mark.line + 1),
                              static_cast<std::size_t>(error.mark.column + 1)) +
                               "not YAML: " + error.msg};
    } catch (const std::exception&) {
        return Problem{"", "not YAML"};
    }
}

}  // namespace weir::config
