// An HTTP client for tests that sends exactly the bytes it is given and shows exactly what came.
#pragma once

#include "support/wait.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::test {

struct HttpResponse {
    int status = 0;
    std::string head;  // status line and fields as received
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;  // decoded when it came chunked
    enum class End {
        complete,
        cut,  // the connection closed before the message's end
    } end = End::complete;

    // The value of the first field of that name (any case); empty when there is none.
    std::string field(std::string_view name) const;
    bool has_field(std::string_view name) const;
};

// One connection. What fails by more than the peer's choice (no connection, nothing within the
// bound) throws std::runtime_error.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port);
    explicit RawClient(const std::string& address);  // 127.0.0.1:PORT
    ~RawClient();
    RawClient(RawClient&& other) noexcept;
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;

    void send(std::string_view bytes);
    void shut_down_sending();

    // The next response, interim ones (100) too. Further bytes are kept for the next call.
    HttpResponse read_response(std::chrono::milliseconds bound = kPatience);

    // Everything until the peer closes.
    std::string read_to_end(std::chrono::milliseconds bound = kPatience);

    // True when the peer closes within the bound without a further byte.
    bool is_closed(std::chrono::milliseconds bound = kPatience);

    // A whole exchange on this connection. `fields` are lines that end with CRLF.
    HttpResponse post(std::string_view path, std::string_view body, std::string_view fields = "");
    HttpResponse get(std::string_view path, std::string_view fields = "");

  private:
    bool receive(std::chrono::steady_clock::time_point deadline);  // false: the peer closed
    HttpResponse::End read_body(HttpResponse& response,
                                std::chrono::steady_clock::time_point deadline);
    HttpResponse::End read_chunks(std::string& body,
                                  std::chrono::steady_clock::time_point deadline);

    int socket_ = -1;
    std::string received_;
};

// An exchange on a connection of its own.
HttpResponse post(const std::string& address, std::string_view path, std::string_view body);
HttpResponse get(const std::string& address, std::string_view path);

}  // namespace weir::test
