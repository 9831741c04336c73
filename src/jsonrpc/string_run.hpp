// The inner loop of everything that reads or writes JSON strings: how far do plain bytes go?
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <bit>
#include <emmintrin.h>
#endif

namespace weir::jsonrpc {

// Plain: printable ASCII that may stand in a string as it is.
constexpr bool is_plain(char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

#if defined(__SSE2__)
// Marks the bytes that are not plain. One signed comparison finds both controls and bytes >= 0x80.
inline __m128i odd_bytes(__m128i bytes) {
    const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const __m128i outside = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
    return _mm_or_si128(_mm_or_si128(quote, backslash), outside);
}

inline __m128i odd_bytes(const char* p) {
    return odd_bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

inline unsigned mask(__m128i marks) { return static_cast<unsigned>(_mm_movemask_epi8(marks)); }
#endif

// The first byte of [p, end) that is not plain, or `end`.
inline const char* skip_plain(const char* p, const char* end) {
#if defined(__SSE2__)
    while (end - p >= 16) {
        if (const unsigned odd = mask(odd_bytes(p)); odd != 0) {
            return p + std::countr_zero(odd);
        }
        p += 16;
        while (end - p >= 64) {  // long data: one test for four blocks
            const __m128i low = _mm_or_si128(odd_bytes(p), odd_bytes(p + 16));
            const __m128i high = _mm_or_si128(odd_bytes(p + 32), odd_bytes(p + 48));
            if (mask(_mm_or_si128(low, high)) != 0) break;
            p += 64;
        }
    }
    if (end - p >= 8) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        if (const unsigned odd = mask(odd_bytes(bytes)) & 0xFF; odd != 0) {
            return p + std::countr_zero(odd);
        }
        p += 8;
    }
#endif
    while (p != end && is_plain(*p)) ++p;
    return p;
}

}  // namespace weir::jsonrpc
