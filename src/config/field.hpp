// Tables of keys: each key of a section names the member that it fills, how its value is read and
// printed, and its type for the documentation. One table drives loading and documentation alike.
#pragma once

#include "config/kinds.hpp"
#include "config/reading.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::config {

enum class Need { optional, required };

// A key for the documentation. `path` is relative to its section until the tables are joined.
struct Key {
    std::string path;
    std::string type;
    std::string default_text;
};

template <class T>
struct Field {
    std::string_view name;
    Need need = Need::optional;
    std::function<void(Reading&, const Path&, const Node&, T&)> read;
    std::vector<Key> keys;  // itself, or those below it
};

template <class T>
using Section = std::vector<Field<T>>;

template <class T>
const Field<T>* find_field(const Section<T>& section, std::string_view name) {
    for (const Field<T>& field : section) {
        if (field.name == name) {
            return &field;
        }
    }
    return nullptr;
}

template <class T>
std::string unknown_key(const Section<T>& section, std::string_view key) {
    std::vector<std::string_view> known;
    for (const Field<T>& field : section) {
        known.push_back(field.name);
    }
    const auto near = nearest(key, known);
    return near ? "unknown key; did you mean " + std::string(*near) + "?" : "unknown key";
}

// Reads a map into `out`: every key that is unknown, repeated or missing is a
// problem, and so is whatever the fields find.
template <class T>
void read_section(const Section<T>& section, Reading& reading, const Path& path, const Node& node,
                  T& out) {
    if (node.kind != Node::Kind::map) {
        reading.problem(path, "must be a map of keys to values");
        return;
    }
    std::set<std::string_view> seen;
    for (const auto& [key, value] : node.entries) {
        const Path here = path.key(key);
        const Field<T>* const field = find_field(section, key);
        if (!field) {
            reading.problem(path.key(printable_key(key, value->line)), unknown_key(section, key));
        } else if (!seen.insert(key).second) {
            reading.problem(here, "is given more than once");
        } else {
            field->read(reading, here, *value, out);
        }
    }
    for (const Field<T>& field : section) {
        if (field.need == Need::required && !seen.contains(field.name)) {
            reading.problem(path.key(field.name), "is missing");
        }
    }
}

// A key with one value in `member`.
template <class T, class V>
Field<T> field(std::string_view name, V T::* member, Kind<V> kind, Need need = Need::optional) {
    const std::string shown = need == Need::required ? "required" : kind.print(T{}.*member);
    Field<T> result{name, need, {}, {{std::string(name), kind.type, shown}}};
    result.read = [member, kind = std::move(kind)](Reading& reading, const Path& path,
                                                   const Node& node, T& out) {
        if (auto value = kind.read(reading, path, node)) {
            out.*member = std::move(*value);
        }
    };
    return result;
}

inline std::vector<Key> below(std::string_view name, std::string_view mark,
                              const std::vector<Key>& keys) {
    std::vector<Key> result;
    for (const Key& key : keys) {
        result.push_back(
            {std::string(name) + std::string(mark) + "." + key.path, key.type, key.default_text});
    }
    return result;
}

template <class T>
std::vector<Key> keys_of(const Section<T>& section) {
    std::vector<Key> keys;
    for (const Field<T>& field : section) {
        keys.insert(keys.end(), field.keys.begin(), field.keys.end());
    }
    return keys;
}

// A key whose value is a map that fills the same object.
template <class T>
Field<T> group(std::string_view name, Section<T> section) {
    Field<T> result{name, Need::optional, {}, below(name, "", keys_of(section))};
    result.read = [section = std::move(section)](Reading& reading, const Path& path,
                                                 const Node& node, T& out) {
        read_section(section, reading, path, node, out);
    };
    return result;
}

// A key whose value is a map that fills the object in `member`.
template <class T, class U>
Field<T> object(std::string_view name, U T::* member, Section<U> section) {
    Field<T> result{name, Need::optional, {}, below(name, "", keys_of(section))};
    result.read = [member, section = std::move(section)](Reading& reading, const Path& path,
                                                         const Node& node, T& out) {
        read_section(section, reading, path, node, out.*member);
    };
    return result;
}

// A key whose value is a list of maps; of at least one where it is required.
template <class T, class U>
Field<T> objects(std::string_view name, std::vector<U> T::* member, Section<U> section, Need need) {
    Field<T> result{name, need, {}, below(name, "[]", keys_of(section))};
    result.read = [member, need, section = std::move(section)](Reading& reading, const Path& path,
                                                               const Node& node, T& out) {
        const bool empty = node.items.empty() && need == Need::required;
        if (node.kind != Node::Kind::sequence || empty) {
            reading.problem(path, empty ? "must be a list of at least one" : "must be a list");
            return;
        }
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            (out.*member).emplace_back();
            read_section(section, reading, path.item(i), *node.items[i], (out.*member).back());
        }
    };
    return result;
}

}  // namespace weir::config
