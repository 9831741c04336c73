// Reads any bytes as a wait, wherever one may be written: it is above zero and bounded, or none.
#include "core/text.hpp"
#include "routing/retry_after.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

using namespace weir;
using namespace weir::routing;

namespace {

void check(const std::optional<core::Duration>& wait) {
    if (wait && (*wait <= core::Duration::zero() || *wait > kMaxWait)) {
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    const std::string date = "Tue, 14 Nov 2023 22:13:20 GMT";
    check(parse_retry_after(text, date));
    check(parse_retry_after(text, text));
    check(parse_retry_after(date, text));
    check(wait_in_text(core::to_lower(text)));
    check(wait_in_value(text, date));
    check(wait_in_value('"' + text + '"', date));
    HttpHead head;
    head.date = date;
    head.limits = {{"ratelimit-reset", text}};
    Complaint complaint;
    complaint.data = text;
    check(find_wait({wait_source("ratelimit-reset"), wait_source("body.a_b")}, head, complaint));
    return 0;
}
