// A ResponseSink that keeps what it is given.
#pragma once

#include "proxy/exchange.hpp"
#include "runtime/ports.hpp"

#include <span>
#include <string>
#include <string_view>

namespace weir::test {

class RecordingSink final : public proxy::ResponseSink {
  public:
    explicit RecordingSink(const runtime::Clock& clock) : clock_(&clock) {}

    Sent send_now(const proxy::ResponseHead& answer_head,
                  std::span<const std::string_view> pieces) override {
        head = answer_head;
        add(pieces);
        complete = true;
        return Sent::all;
    }
    runtime::Task<bool> send_rest() override { co_return true; }
    runtime::Task<bool> begin(const proxy::ResponseHead& answer_head) override {
        head = answer_head;
        streamed = true;
        co_return true;
    }
    runtime::Task<bool> write(std::span<const std::string_view> pieces) override {
        add(pieces);
        co_return true;
    }
    runtime::Task<bool> end() override {
        complete = true;
        co_return true;
    }
    void abort() override { aborted = true; }
    core::TimePoint finished_at() const override { return clock_->now(); }

    proxy::ResponseHead head;
    std::string body;
    bool complete = false;
    bool streamed = false;
    bool aborted = false;

  private:
    void add(std::span<const std::string_view> pieces) {
        for (const std::string_view piece : pieces) {
            body += piece;
        }
    }

    const runtime::Clock* clock_;
};

}  // namespace weir::test
