// How the framing table is written down; for its own .cpp files.
#pragma once

#include "support/framing_cases.hpp"

#include <string>
#include <utility>
#include <vector>

namespace weir::test {

using After = FramingCase::After;
using Layer = FramingCase::Layer;

class Table {
  public:
    std::vector<FramingCase> take() { return std::move(cases_); }

    void accept(std::string name, std::string bytes, std::string body, After after = After::open) {
        cases_.push_back(
            {std::move(name), std::move(bytes), 200, after, Layer::head, std::move(body)});
    }

    // A head that is refused; a smuggled request follows it.
    void refuse(std::string name, const std::string& head, int status = 400) {
        cases_.push_back(
            {std::move(name), head + plain_post(kSmuggled), status, After::closed, Layer::head});
    }

    void rule(std::string name, std::string bytes, int status, After after = After::open) {
        cases_.push_back({std::move(name), std::move(bytes), status, after, Layer::rules});
    }

    void refuse_body(std::string name, std::string bytes, int status = 400) {
        cases_.push_back({std::move(name), std::move(bytes) + plain_post(kSmuggled), status,
                          After::closed, Layer::body});
    }

  private:
    std::vector<FramingCase> cases_;
};

// A literal that holds NUL bytes.
template <std::size_t Size>
std::string with_nul(const char (&text)[Size]) {
    return {text, Size - 1};
}

// A POST with these header lines (each with its CRLF) and these bytes behind the head.
inline std::string post(const std::string& lines, const std::string& rest = {}) {
    return "POST / HTTP/1.1\r\nHost: localhost\r\n" + lines + "\r\n" + rest;
}

inline std::string chunked(const std::string& raw) {
    return post("Transfer-Encoding: chunked\r\n", raw);
}

void add_lines(Table& table);
void add_request_lines(Table& table);
void add_hosts(Table& table);
void add_headers(Table& table);

}  // namespace weir::test
