/* wire.c -- see wire.h. A number of a varint ends at the first byte without the top bit; all
 * fixed numbers are little-endian. Groups, which protobuf has given up, are damage. */
#include "wire.h"

#include <string.h>

wire eddy__wire_of(wire_bytes b)
{
    return (wire){ .at = b.at, .end = b.at ? b.at + b.size : NULL };
}

wire eddy__wire_enter(wire *w, const wire_field *f)
{
    wire inner = eddy__wire_of(f->bytes);
    inner.depth = w->depth + 1;
    inner.bad = f->type != WIRE_BYTES || inner.depth > WIRE_MAX_DEPTH;
    if (inner.bad) w->bad = true;
    return inner;
}

static bool varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 70 && *at < end; shift += 7) {
        const uint8_t byte = *(*at)++;
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *value = v;
            return true;
        }
    }
    return false;
}

static bool fixed(const uint8_t **at, const uint8_t *end, int size, uint64_t *value)
{
    if (end - *at < size) return false;
    *value = 0;
    for (int i = 0; i < size; i++) *value |= (uint64_t)(*at)[i] << (8 * i);
    *at += size;
    return true;
}

static bool number(const uint8_t **at, const uint8_t *end, wire_type type, uint64_t *value)
{
    if (type == WIRE_VARINT) return varint(at, end, value);
    return fixed(at, end, type == WIRE_FIXED32 ? 4 : 8, value);
}

static bool length_delimited(wire *w, wire_field *f)
{
    uint64_t size;
    if (!varint(&w->at, w->end, &size) || size > (uint64_t)(w->end - w->at)) return false;
    f->bytes = (wire_bytes){ w->at, (size_t)size };
    w->at += size;
    return true;
}

bool eddy__wire_next(wire *w, wire_field *f)
{
    if (w->bad || w->at == w->end) return false;
    *f = (wire_field){ .at = w->at };
    uint64_t tag = 0;
    bool     ok = varint(&w->at, w->end, &tag) && tag >> 3 != 0 && tag >> 3 <= 536870911;
    f->number = (uint32_t)(tag >> 3);
    f->type = (wire_type)(tag & 7);
    if (ok && f->type == WIRE_BYTES) ok = length_delimited(w, f);
    else if (f->type == WIRE_VARINT || f->type == WIRE_FIXED64 || f->type == WIRE_FIXED32)
        ok = ok && number(&w->at, w->end, f->type, &f->value);
    else ok = false;
    w->bad = !ok;
    return ok;
}

size_t eddy__wire_count(wire w, uint32_t number)
{
    size_t     n = 0;
    wire_field f;
    while (eddy__wire_next(&w, &f)) n += f.number == number;
    return n;
}

bool eddy__wire_unpack(wire_bytes *b, wire_type as_type, uint64_t *value)
{
    if (b->size == 0) return false;
    const uint8_t *end = b->at + b->size, *at = b->at;
    const bool     ok = number(&at, end, as_type, value);
    *b = ok ? (wire_bytes){ at, (size_t)(end - at) } : (wire_bytes){ NULL, 0 };
    return ok;
}

size_t eddy__wire_skip_packed(wire_numbers *n)
{
    const wire_bytes b = n->packed;
    const size_t     size = n->as == WIRE_FIXED32 ? 4 : n->as == WIRE_FIXED64 ? 8 : 1;
    size_t           count = b.size / size;
    if (n->as == WIRE_VARINT) {
        int more = 0;                   /* bytes of the last number so far */
        count = 0;
        for (size_t i = 0; i < b.size && more < 10; i++) {
            more = b.at[i] < 128 ? 0 : more + 1;
            count += more == 0;
        }
        if (more) return 0;
    }
    if (b.size % size) return 0;
    n->packed.size = 0;
    return count;
}

bool eddy__wire_next_number(wire_numbers *n, uint64_t *value)
{
    wire_field f;
    while (n->packed.size == 0) {
        if (n->damaged || !eddy__wire_next(&n->left, &f)) return false;
        if (f.number != n->field) continue;
        if (f.type == n->as) return *value = f.value, true;
        n->packed = f.bytes;
        n->at = f.at;
        if (f.type != WIRE_BYTES) n->damaged = f.at;
    }
    if (n->as == WIRE_VARINT && n->packed.at[0] < 128) {        /* most integers are small */
        *value = *n->packed.at++;
        n->packed.size--;
        return true;
    }
    if (eddy__wire_unpack(&n->packed, n->as, value)) return true;
    n->damaged = n->at;
    return false;
}

float eddy__wire_float(uint64_t value)
{
    const uint32_t bits = (uint32_t)value;
    float          x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double eddy__wire_double(uint64_t value)
{
    double x;
    memcpy(&x, &value, sizeof x);
    return x;
}
