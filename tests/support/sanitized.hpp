// Are the program and its tests built with AddressSanitizer or ThreadSanitizer? Their memory and
// their time are far more than the program's own.
#pragma once

namespace weir::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEIR_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEIR_TEST_SANITIZED
#endif
#endif
#ifdef WEIR_TEST_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace weir::test
