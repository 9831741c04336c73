#include "upstream/transport.hpp"

#include <utility>

namespace weir::upstream {

void Cancellation::cancel() {
    cancelled_ = true;
    if (Target* target = std::exchange(target_, nullptr)) {
        target->on_cancel();
    }
}

}  // namespace weir::upstream
