/* checksum.c -- see checksum.h. Both are remainders of division by a polynomial, with tables of
 * their own; at[k] is for a byte that k zeros follow, so that eight bytes are looked up at a
 * time. */
#include "checksum.h"

#include <pthread.h>

typedef struct crc_tables {
    uint32_t at[8][256];
} crc_tables;

static crc_tables     zip_tables, castagnoli_tables;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The entries of a byte 0 are 0. */
static void fill(crc_tables *t, uint32_t polynomial)
{
    for (uint32_t i = 1; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? polynomial ^ c >> 1 : c >> 1;
        t->at[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 1; i < 256; i++)
            t->at[k][i] = t->at[k - 1][i] >> 8 ^ t->at[0][t->at[k - 1][i] & 255];
}

static void fill_tables(void)
{
    fill(&zip_tables, 0xedb88320u);
    fill(&castagnoli_tables, 0x82f63b78u);
}

static uint32_t checksum(const crc_tables *t, wire_bytes b)
{
    uint32_t       c = UINT32_MAX;
    const uint8_t *p = b.at;
    size_t         n = b.size;
    for (; n >= 8; n -= 8, p += 8) {
        const uint32_t low = c ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                                  (uint32_t)p[3] << 24);
        c = t->at[7][low & 255] ^ t->at[6][low >> 8 & 255] ^ t->at[5][low >> 16 & 255] ^
            t->at[4][low >> 24] ^ t->at[3][p[4]] ^ t->at[2][p[5]] ^ t->at[1][p[6]] ^
            t->at[0][p[7]];
    }
    for (; n; n--, p++) c = c >> 8 ^ t->at[0][(c ^ *p) & 255];
    return ~c;
}

uint32_t eddy__file_crc32(wire_bytes b)
{
    pthread_once(&once, fill_tables);
    return checksum(&zip_tables, b);
}

uint32_t eddy__file_crc32c(wire_bytes b)
{
    pthread_once(&once, fill_tables);
    return checksum(&castagnoli_tables, b);
}
