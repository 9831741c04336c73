// The head of an answer, written into a worker's scratch memory from parts that are kept ready.
#pragma once

#include "runtime/ports.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::server {

enum class BodyFraming : std::uint8_t { none, length, chunked, until_close };
enum class Persistence : std::uint8_t { keep_alive, close };

struct AnswerHead {
    int status = 200;
    std::string_view content_type = "application/json";
    BodyFraming framing = BodyFraming::length;
    std::uint64_t length = 0;  // with BodyFraming::length
    Persistence persistence = Persistence::keep_alive;
    std::string_view request_id;
    unsigned attempts = 0;
    unsigned retry_after_seconds = 0;    // 0: none
    std::string_view block = {};         // Weir-Block; empty: none
    std::string_view allow_origin = {};  // empty: no CORS headers
    std::string_view headers = {};       // further lines, each with its CRLF
};

std::string_view reason_of(int status);

// One per worker.
class HeadWriter {
  public:
    explicit HeadWriter(const runtime::Clock& clock) : clock_(clock) {}

    // The text is valid until the next call. `now` is the monotonic time.
    std::string_view write(const AnswerHead& head, core::TimePoint now);

  private:
    void refresh(core::TimePoint now);

    const runtime::Clock& clock_;
    core::TimePoint fresh_until_ = core::TimePoint::min();
    std::string date_;    // "Date: ...\r\nWeir-Request-Id: "
    std::string common_;  // the beginning of the usual answer, up to the request's id
    std::string text_;
};

}  // namespace weir::server
