/* page_out.c -- see page_out.h. */
#include "page_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void eddy__page_flush(page_out *p)
{
    eddy__sink_write(&p->file, p->buffer, p->used);
    p->used = 0;
}

void eddy__page_put(page_out *p, const char *text, size_t size)
{
    while (size > 0) {
        if (p->used == sizeof p->buffer) eddy__page_flush(p);
        const size_t room = sizeof p->buffer - p->used, n = size < room ? size : room;
        memcpy(p->buffer + p->used, text, n);
        p->used += n;
        text += n;
        size -= n;
    }
}

void eddy__page_text(page_out *p, const char *text) { eddy__page_put(p, text, strlen(text)); }

/* -------------------------------------------------------------------- JSON -- */

/* The bytes of the character at b in UTF-8; 0 if they are none. */
static size_t character(wire_bytes b)
{
    const uint8_t first = b.at[0];
    const size_t  n = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2
                    : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (n > b.size) return 0;
    for (size_t i = 1; i < n; i++)
        if ((b.at[i] & 0xc0) != 0x80) return 0;
    if ((first == 0xe0 && b.at[1] < 0xa0) || (first == 0xed && b.at[1] > 0x9f) ||
        (first == 0xf0 && b.at[1] < 0x90) || (first == 0xf4 && b.at[1] > 0x8f)) return 0;
    return n;
}

static void quoted(page_out *p, wire_bytes b)
{
    char code[8];
    eddy__page_put(p, "\"", 1);
    while (b.size > 0) {
        const size_t  n = character(b), step = n ? n : 1;
        const uint8_t c = b.at[0];
        if (n == 0) eddy__page_text(p, "\\ufffd");
        else if (c < 0x20 || c == '"' || c == '\\' || c == '<' || c == 0x7f) {
            snprintf(code, sizeof code, "\\u%04x", c);
            eddy__page_text(p, code);
        } else eddy__page_put(p, (const char *)b.at, n);
        b = (wire_bytes){ b.at + step, b.size - step };
    }
    eddy__page_put(p, "\"", 1);
}

static void begin_item(page_out *p, const char *key)
{
    if (!p->first) eddy__page_put(p, ",", 1);
    p->first = false;
    if (!key) return;
    quoted(p, (wire_bytes){ (const uint8_t *)key, strlen(key) });
    eddy__page_put(p, ":", 1);
}

void eddy__page_open(page_out *p, const char *key, char bracket)
{
    begin_item(p, key);
    eddy__page_put(p, &bracket, 1);
    p->first = true;
}

void eddy__page_close(page_out *p, char bracket)
{
    eddy__page_put(p, &bracket, 1);
    p->first = false;
}

void eddy__page_number(page_out *p, const char *key, double value)
{
    char digits[40] = "null";
    begin_item(p, key);
    if (isfinite(value)) {
        snprintf(digits, sizeof digits, "%.9g", value);
        if (strtod(digits, NULL) != value) snprintf(digits, sizeof digits, "%.17g", value);
    }
    eddy__page_text(p, digits);
}

void eddy__page_string(page_out *p, const char *key, wire_bytes text)
{
    begin_item(p, key);
    quoted(p, text);
}

void eddy__page_base64(page_out *p, const char *key, wire_bytes data)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    begin_item(p, key);
    eddy__page_put(p, "\"", 1);
    for (size_t i = 0; i < data.size; i += 3) {
        const size_t n = data.size - i < 3 ? data.size - i : 3;
        uint32_t     v = 0;
        char         four[4] = "====";
        for (size_t k = 0; k < 3; k++) v = v << 8 | (k < n ? data.at[i + k] : 0);
        for (size_t k = 0; k <= n; k++) four[k] = digits[v >> (18 - 6 * k) & 63];
        eddy__page_put(p, four, 4);
    }
    eddy__page_put(p, "\"", 1);
}
