// What an endpoint under test says.
#pragma once

#include "probe/endpoint.hpp"

#include <string>
#include <utility>

namespace weir::test {

inline const std::string kHash = "0x" + std::string(64, 'a');

inline probe::Heard failed(routing::Cause cause, std::string words = "words") {
    probe::Heard heard;
    heard.cause = cause;
    heard.words = std::move(words);
    return heard;
}

inline probe::Heard result(std::string json) {
    probe::Heard heard;
    heard.result = std::move(json);
    heard.latency = std::chrono::milliseconds(5);
    heard.wall = 1'700'000'010;
    return heard;
}

}  // namespace weir::test
