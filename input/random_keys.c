/* random_keys.c -- random numbers as functions of keys: Philox4x32-10 (J. K. Salmon et al.,
 * Parallel random numbers: as easy as 1, 2, 3, SC 2011), as the random operations of graphs use
 * it. */
#include "internal.h"

uint64_t eddy__random(uint64_t seed, uint64_t a, uint64_t b)
{
    uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    uint32_t c[4] = { (uint32_t)b, (uint32_t)(b >> 32), (uint32_t)a, (uint32_t)(a >> 32) };
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)0xd2511f53u * c[0], q = (uint64_t)0xcd9e8d57u * c[2];
        const uint32_t old[2] = { c[1], c[3] };
        c[0] = (uint32_t)(q >> 32) ^ old[0] ^ key[0];
        c[1] = (uint32_t)q;
        c[2] = (uint32_t)(p >> 32) ^ old[1] ^ key[1];
        c[3] = (uint32_t)p;
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return (uint64_t)c[0] << 32 | c[1];
}

/* The upper part of the product of a random fraction with n; it favors no number by more than
 * n / 2^64. */
uint64_t eddy__random_below(uint64_t seed, uint64_t a, uint64_t b, uint64_t n)
{
    const uint64_t r = eddy__random(seed, a, b);
    return ((r >> 32) * n + ((r & 0xffffffffu) * n >> 32)) >> 32;
}
