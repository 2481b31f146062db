/* inflate.c -- see file.h: compressed bytes, through zlib. */
#include "file.h"

#if __has_include(<zlib.h>)
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct inflater {
    const data_file *file;
    int64_t          at, left;           /* the bytes that zlib has not been given */
    z_stream         z;
    int              state;
};

inflater *eddy__inflate_begin(const data_file *f, int64_t at, int64_t n, deflated kind)
{
    inflater *i = calloc(1, sizeof *i);
    if (i) {
        i->file = f;
        i->at = at;
        i->left = n;
        if (inflateInit2(&i->z, kind == DEFLATED_GZIP ? 16 + MAX_WBITS : -MAX_WBITS) == Z_OK)
            return i;
        free(i);
    }
    eddy__input_fail(f->error, EDDY_NO_MEMORY, "%.800s: out of memory", f->path);
    return NULL;
}

/* zlib's counts have 32 bits. */
static void feed(inflater *i)
{
    if (i->z.avail_in > 0 || i->left == 0) return;
    const int64_t n = i->left < (1 << 30) ? i->left : 1 << 30;
    i->z.next_in = i->file->bytes + i->at;
    i->z.avail_in = (unsigned)n;
    i->at += n;
    i->left -= n;
}

/* A gzip file may have several members, one after another. */
static int step(inflater *i)
{
    feed(i);
    if (i->state == Z_STREAM_END) inflateReset(&i->z);   /* cannot fail after inflateInit2 */
    return i->state = inflate(&i->z, Z_NO_FLUSH);
}

static bool damaged(const inflater *i)
{
    char text[200];
    if (i->state == Z_MEM_ERROR)
        return eddy__input_fail(i->file->error, EDDY_NO_MEMORY, "%.800s: out of memory",
                                i->file->path);
    snprintf(text, sizeof text, "in the compressed bytes: %s",
             i->z.msg ? i->z.msg : "they end early");
    return eddy__file_damaged(i->file, i->at - i->z.avail_in, text);
}

bool eddy__inflate(inflater *i, void *to, size_t n)
{
    for (char *at = to;;) {
        const size_t part = n < (1u << 30) ? n : 1u << 30;
        i->z.next_out = (void *)at;
        i->z.avail_out = (unsigned)part;
        const int r = step(i);
        if (r != Z_OK && r != Z_STREAM_END) return damaged(i);
        at += part - i->z.avail_out;
        n -= part - i->z.avail_out;
        if (n == 0) return true;
    }
}

/* The end may follow the last byte. */
bool eddy__inflate_ended(inflater *i)
{
    uint8_t more;
    if (i->state != Z_STREAM_END) {
        i->z.next_out = &more;
        i->z.avail_out = 1;
        step(i);
        if (i->z.avail_out == 0)
            return eddy__file_damaged(i->file, i->at - i->z.avail_in,
                                      "there are more compressed bytes than expected");
        /* zlib reads the end of the stream together with the last byte, if it has both. */
        if (i->state != Z_STREAM_END) return damaged(i); /* unreached: an end behind 1 GiB */
    }
    return i->z.avail_in + i->left == 0 ||
           eddy__file_damaged(i->file, i->at - i->z.avail_in,
                              "there is more after the compressed bytes");
}

void eddy__inflate_free(inflater *i)
{
    if (i) inflateEnd(&i->z);
    free(i);
}

uint32_t eddy__crc32(uint32_t crc, const void *p, size_t n)
{
    for (const uint8_t *at = p; n > 0;) {
        const size_t part = n < (1u << 30) ? n : 1u << 30;
        crc = (uint32_t)crc32(crc, at, (unsigned)part);
        at += part;
        n -= part;
    }
    return crc;
}

#else
inflater *eddy__inflate_begin(const data_file *f, int64_t at, int64_t n, deflated kind)
{
    (void)at, (void)n, (void)kind;
    eddy__input_fail(f->error, EDDY_UNIMPLEMENTED,
                     "%.700s: the library was built without zlib (Debian: zlib1g-dev), which reads "
                     "compressed files", f->path);
    return NULL;
}

bool eddy__inflate(inflater *i, void *to, size_t n) { return (void)i, (void)to, (void)n, false; }
bool eddy__inflate_ended(inflater *i) { return (void)i, false; }
void eddy__inflate_free(inflater *i) { (void)i; }

/* A bit at a time: without zlib only stored arrays are checked. */
uint32_t eddy__crc32(uint32_t crc, const void *p, size_t n)
{
    crc = ~crc;
    for (const uint8_t *at = p; n-- > 0; at++) {
        crc ^= *at;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}
#endif

/* 258 bytes for a code of 2 bits, and a little for the headers of blocks. */
int64_t eddy__inflate_most(int64_t n) { return n * 1032 + 1032; }
