/* The high half of a 128-bit product, without a 128-bit type. */
static inline unsigned long long high_product(unsigned long long a, unsigned long long b) {
    unsigned long long a0 = a & 0xFFFFFFFFu, a1 = a >> 32;
    unsigned long long b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
    unsigned long long middle = a1 * b0 + (a0 * b0 >> 32);
    return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xFFFFFFFFu)) >> 32);
}
