// A blocking TCP client that sends exactly the bytes it is given; every wait is bounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::test {

struct HttpAnswer {
    int status = 0;
    std::string head;  // with its line ends
    std::string body;  // decoded

    // The value of the first header of this name; empty if there is none.
    std::string header(std::string_view name) const;
};

class HttpClient {
  public:
    explicit HttpClient(std::uint16_t port);
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    // False if the peer does not take all of it within the bound.
    bool send(std::string_view bytes);
    void half_close();
    void reset();                    // closes with RST
    void receive_buffer(int bytes);  // SO_RCVBUF
    // From now on each read of a piece waits so long first.
    void read_slowly(std::chrono::milliseconds pause) { pause_ = pause; }

    // The next answer, with Content-Length, chunked, or until the connection's end; nothing if
    // none is complete within the bound. `to_head`: the answer is to HEAD and has no body.
    enum class Expect { body, head_only };
    std::optional<HttpAnswer> read_answer(Expect expect = Expect::body);

    // Reads one piece; empty at the end, at an error or after the bound.
    std::string read_some();

    // True if the peer closes (FIN or RST) within the bound without a further byte.
    bool is_closed_by_peer();

  private:
    bool fill();

    int socket_;
    std::chrono::milliseconds pause_{0};
    std::string held_;
};

}  // namespace weir::test
