/* Bits of a word, with the one instruction that processors have for it. */
#if defined(_MSC_VER)
#include <intrin.h>
static __inline int lowest_bit(unsigned long long word) {
    unsigned long index; _BitScanForward64(&index, word); return (int) index;
}
static __inline int highest_bit(unsigned long long word) {
    unsigned long index; _BitScanReverse64(&index, word); return (int) index;
}
#else
static inline int lowest_bit(unsigned long long word) {
    return __builtin_ctzll(word);
}
static inline int highest_bit(unsigned long long word) {
    return 63 - __builtin_clzll(word);
}
#endif
