#include "server/response_head.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace weir::server {
namespace {

constexpr std::string_view kJson = "application/json";

void append_number(std::string& out, std::uint64_t value) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out.append(digits.data(), end.ptr);
}

void append_status_line(std::string& out, int status) {
    out += "HTTP/1.1 ";
    append_number(out, static_cast<std::uint64_t>(status));
    out += ' ';
    out += reason_of(status);
    out += "\r\n";
}

void append_type(std::string& out, std::string_view type) {
    if (!type.empty()) {
        out += "Content-Type: ";
        out += type;
        out += "\r\n";
    }
}

// IMF-fixdate (RFC 9110, 5.6.7).
std::string http_date(core::WallTime when) {
    constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::array<char, 64> text{};
    const int size = std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                   kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                                   kMonths[static_cast<std::size_t>(utc.tm_mon)],
                                   utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
    return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::string_view reason_of(int status) {
    switch (status) {
        case 200:
            return "OK";
        case 204:
            return "No Content";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 402:
            return "Payment Required";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 411:
            return "Length Required";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 422:
            return "Unprocessable Content";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        default:
            return "Unknown";
    }
}

void HeadWriter::refresh(core::TimePoint now) {
    const core::WallTime wall = clock_.wall_now();
    const auto second = std::chrono::floor<std::chrono::seconds>(wall);
    fresh_until_ =
        now + std::chrono::duration_cast<core::Duration>(second + std::chrono::seconds(1) - wall);
    date_ = "Date: " + http_date(wall) + "\r\nWeir-Request-Id: ";
    common_.clear();
    append_status_line(common_, 200);
    append_type(common_, kJson);
    common_ += date_;
}

std::string_view HeadWriter::write(const AnswerHead& head, core::TimePoint now) {
    if (now >= fresh_until_) {
        refresh(now);
    }
    text_.clear();
    if (head.status == 200 && head.content_type == kJson) {
        text_ += common_;
    } else {
        append_status_line(text_, head.status);
        append_type(text_, head.content_type);
        text_ += date_;
    }
    text_ += head.request_id;
    text_ += "\r\nWeir-Attempts: ";
    append_number(text_, head.attempts);
    if (head.retry_after_seconds != 0) {
        text_ += "\r\nRetry-After: ";
        append_number(text_, head.retry_after_seconds);
    }
    if (!head.block.empty()) {
        text_ += "\r\nWeir-Block: ";
        text_ += head.block;
    }
    text_ += "\r\n";
    if (!head.allow_origin.empty()) {
        text_ += "Access-Control-Allow-Origin: ";
        text_ += head.allow_origin;
        text_ +=
            "\r\nVary: Origin\r\nAccess-Control-Expose-Headers: "
            "Retry-After, Weir-Request-Id, Weir-Attempts, Weir-Block\r\n";
    }
    text_ += head.headers;
    if (head.persistence == Persistence::close) {
        text_ += "Connection: close\r\n";
    }
    switch (head.framing) {
        case BodyFraming::length:
            text_ += "Content-Length: ";
            append_number(text_, head.length);
            text_ += "\r\n";
            break;
        case BodyFraming::chunked:
            text_ += "Transfer-Encoding: chunked\r\n";
            break;
        case BodyFraming::none:
        case BodyFraming::until_close:
            break;
    }
    text_ += "\r\n";
    return text_;
}

}  // namespace weir::server
