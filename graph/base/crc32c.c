/* crc32c.c -- CRC-32C by the instruction of SSE 4.2, elsewhere by eight tables, which take eight
 * bytes at a time. Both give the same numbers. */
#include "graph/base/crc32c.h"

#include <pthread.h>
#include <string.h>

enum { TABLES = 8 };

static uint32_t       table[TABLES][256];
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (0x82F63B78u & -(c & 1));
        table[0][b] = c;
    }
    for (int t = 1; t < TABLES; t++)
        for (int b = 0; b < 256; b++)
            table[t][b] = table[t - 1][b] >> 8 ^ table[0][table[t - 1][b] & 255];
}

uint32_t eddy__crc32c_by_table(uint32_t before, const void *p, size_t n)
{
    const unsigned char *at = p;
    uint32_t             c = ~before;
    pthread_once(&made, make_tables);
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t w;
        memcpy(&w, at, 8);
        w ^= c;
        c = 0;
        for (int k = 0; k < 8; k++) c ^= table[7 - k][w >> (8 * k) & 255];
    }
    for (; n > 0; n--, at++) c = c >> 8 ^ table[0][(c ^ *at) & 255];
    return ~c;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t before, const void *p,
                                                                 size_t n)
{
    const unsigned char *at = p;
    uint64_t             c = ~before;
    for (; n >= 8; n -= 8, at += 8) {
        unsigned long long w;
        memcpy(&w, at, 8);
        c = __builtin_ia32_crc32di(c, w);
    }
    for (; n > 0; n--, at++) c = __builtin_ia32_crc32qi((unsigned)c, *at);
    return ~(uint32_t)c;
}
#endif

uint32_t eddy__crc32c(uint32_t before, const void *p, size_t n)
{
    if (n == 0) return before;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return by_instruction(before, p, n);
#endif
    return eddy__crc32c_by_table(before, p, n);
}
