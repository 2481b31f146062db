/* message.c -- see message.h. */
#include "message.h"

#include <stdlib.h>
#include <string.h>

void eddy__message_free(message *m)
{
    free(m->at);
    *m = (message){ 0 };
}

void eddy__message_append(message *m, const void *p, size_t size)
{
    if (m->full || size == 0) return;
    if (size > m->room - m->size) {
        size_t   room = m->room ? m->room : 256;
        while (room - m->size < size && room < SIZE_MAX / 4) room *= 2;
        uint8_t *at = room - m->size < size ? NULL : realloc(m->at, room);
        if (!at) {
            m->full = true;
            return;
        }
        m->at = at;
        m->room = room;
    }
    memcpy(m->at + m->size, p, size);
    m->size += size;
}

static void varint(message *m, uint64_t v)
{
    uint8_t b[10];
    int     n = 0;
    for (; v >= 128; v >>= 7) b[n++] = (uint8_t)(v | 128);
    b[n++] = (uint8_t)v;
    eddy__message_append(m, b, (size_t)n);
}

static void tag(message *m, uint32_t field, wire_type type)
{
    varint(m, (uint64_t)field << 3 | (uint64_t)type);
}

void eddy__message_number(message *m, uint32_t field, int64_t value)
{
    tag(m, field, WIRE_VARINT);
    varint(m, (uint64_t)value);
}

void eddy__message_float(message *m, uint32_t field, float value)
{
    uint32_t bits;
    uint8_t  b[4];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++) b[i] = (uint8_t)(bits >> 8 * i);
    tag(m, field, WIRE_FIXED32);
    eddy__message_append(m, b, sizeof b);
}

static void fixed64(message *m, double value)
{
    uint64_t bits;
    uint8_t  b[8];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++) b[i] = (uint8_t)(bits >> 8 * i);
    eddy__message_append(m, b, sizeof b);
}

void eddy__message_double(message *m, uint32_t field, double value)
{
    tag(m, field, WIRE_FIXED64);
    fixed64(m, value);
}

void eddy__message_doubles(message *m, uint32_t field, const double *values, size_t n)
{
    eddy__message_head(m, field, 8 * n);
    for (size_t i = 0; i < n; i++) fixed64(m, values[i]);
}

void eddy__message_head(message *m, uint32_t field, uint64_t size)
{
    tag(m, field, WIRE_BYTES);
    varint(m, size);
}

void eddy__message_bytes(message *m, uint32_t field, const void *p, size_t size)
{
    eddy__message_head(m, field, size);
    eddy__message_append(m, p, size);
}

void eddy__message_text(message *m, uint32_t field, const char *s)
{
    eddy__message_bytes(m, field, s, strlen(s));
}

void eddy__message_inner(message *m, uint32_t field, message *inner)
{
    m->full = m->full || inner->full;
    eddy__message_bytes(m, field, inner->at, inner->size);
    eddy__message_free(inner);
}
