/* png_write.c -- images as PNG, in blocks that are stored and not compressed: event files hold few
 * and small images, and libeddy_formats needs no other library. */
#include "writer.h"
#include "../checksum.h"

#include <string.h>

static void put_whole(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* A chunk: length, type, data, and the checksum of type and data. */
static void put_chunk(message *m, const char *type, const message *data)
{
    uint8_t number[4];
    message body = { 0 };
    put_whole(number, (uint32_t)data->size);
    eddy__message_append(m, number, 4);
    eddy__message_append(&body, type, 4);
    eddy__message_append(&body, data->at, data->size);
    eddy__message_append(m, body.at, body.size);
    put_whole(number, eddy__file_crc32((wire_bytes){ body.at, body.size }));
    eddy__message_append(m, number, 4);
    m->full = m->full || data->full || body.full;
    eddy__message_free(&body);
}

/* The checksum of zlib's format (RFC 1950). */
static uint32_t adler32(const uint8_t *p, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

/* Bytes in zlib's format, in stored blocks (RFC 1951). */
static void put_stored(message *m, const message *from)
{
    enum { LONGEST = 65535 };
    uint8_t number[4];
    eddy__message_append(m, "\x78\x01", 2);
    size_t at = 0;
    do {
        const size_t  n = from->size - at < LONGEST ? from->size - at : LONGEST;
        const uint8_t head[5] = { at + n == from->size, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n,
                                  (uint8_t)(~n >> 8) };
        eddy__message_append(m, head, sizeof head);
        eddy__message_append(m, from->at + at, n);
        at += n;
    } while (at < from->size);
    put_whole(number, adler32(from->at, from->size));
    eddy__message_append(m, number, 4);
}

void eddy__png_put(message *m, const uint8_t *pixels, int64_t height, int64_t width, int channels)
{
    static const uint8_t colors[] = { 0, 0, 4, 2, 6 };     /* grey, grey and alpha, RGB, RGBA */
    uint8_t              head[13] = { [8] = 8, [9] = colors[channels] };
    message              lines = { 0 }, data = { 0 }, ihdr = { 0 };
    put_whole(head, (uint32_t)width);
    put_whole(head + 4, (uint32_t)height);
    eddy__message_append(&ihdr, head, sizeof head);
    for (int64_t y = 0; y < height; y++) {
        eddy__message_append(&lines, "\0", 1);              /* no filter */
        eddy__message_append(&lines, pixels + y * width * channels, (size_t)(width * channels));
    }
    put_stored(&data, &lines);
    data.full = data.full || lines.full;
    eddy__message_append(m, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(m, "IHDR", &ihdr);
    put_chunk(m, "IDAT", &data);
    put_chunk(m, "IEND", &(message){ 0 });
    eddy__message_free(&lines);
    eddy__message_free(&data);
    eddy__message_free(&ihdr);
}
