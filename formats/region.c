/* region.c -- see region.h. Blocks of 64 KiB, and a block of its own for anything larger. Where
 * EDDY_SMALL_BLOCKS is defined, each piece has a block, so that tests can let any piece fail; so it
 * has under AddressSanitizer, which finds what touches the memory behind a block. */
#include "region.h"
#include "../graph/base/sanitizer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16 };        /* of blocks, whatever the size of a piece */
#if defined EDDY_SMALL_BLOCKS || defined EDDY_ADDRESS_SANITIZER
enum { BLOCK = 0, UNIT = 1 };
#else
enum { BLOCK = 65536, UNIT = ALIGN };
#endif

struct region_block {
    _Alignas(ALIGN) struct region_block *next;
};

static void *block(region *a, size_t bytes)
{
    struct region_block *b = calloc(1, sizeof *b + bytes);
    if (!b) {
        a->full = true;
        return NULL;
    }
    b->next = a->blocks;
    a->blocks = b;
    a->size = bytes;
    return b + 1;
}

void *eddy__region_take(region *a, size_t count, size_t size)
{
    if (count > (SIZE_MAX / 2 - BLOCK) / size) {
        a->full = true;
        return NULL;
    }
    const size_t bytes = (count * size + UNIT - 1) / UNIT * UNIT;
    if (bytes <= a->size - a->used && a->blocks) {
        void *p = (char *)(a->blocks + 1) + a->used;
        a->used += bytes;
        return p;
    }
    void *p = block(a, bytes > BLOCK ? bytes : BLOCK);
    if (p) a->used = bytes;
    return p;
}

const char *eddy__region_text(region *a, wire_bytes b)
{
    char *s = eddy__region_take(a, b.size + 1, 1);
    if (s && b.size) memcpy(s, b.at, b.size);
    return s;
}

const char *eddy__region_print(region *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    char     *s = eddy__region_take(a, (size_t)n + 2, 1);       /* n is -1 above 2 GiB */
    if (s) vsnprintf(s, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return s;
}

void eddy__region_free(region *a)
{
    for (struct region_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (region){ 0 };
}
