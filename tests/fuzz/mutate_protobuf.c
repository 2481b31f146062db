/* mutate_protobuf.c -- changes of a message of protobuf, whatever its schema: a field gets another
 * value, is left out, doubled, moved, or becomes another field of its number. The lengths of the
 * messages around it are repaired. Bytes that can be read as fields are taken for a message. */
#include "tests/fuzz/mutate.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS = 2048, DEPTH = 12, VARINT = 10 };        /* VARINT: the bytes of a number */
enum { VARINT_TYPE = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct field {
    size_t   begin, length, value, end;     /* the tag, the length of bytes, what is behind it */
    int      parent;                        /* the message around it; -1: the outermost */
    unsigned number, type;
    bool     message;
} field;

typedef struct fields {
    int   count;
    field at[FIELDS];
} fields;

/* The bytes of a varint; 0 if there is none. */
static size_t get_varint(const uint8_t *p, size_t left, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < left && i < VARINT; i++) {
        *v |= (uint64_t)(p[i] & 127) << 7 * i;
        if (p[i] < 128) return i + 1;
    }
    return 0;
}

static size_t put_varint(uint8_t *out, uint64_t v)
{
    size_t n = 0;
    for (; v > 127; v >>= 7) out[n++] = (uint8_t)(v | 128);
    out[n++] = (uint8_t)v;
    return n;
}

static bool next_field(const uint8_t *p, size_t at, size_t end, field *f)
{
    uint64_t     tag, size = 0;
    const size_t n = get_varint(p + at, end - at, &tag);
    if (n == 0 || tag >> 3 == 0 || tag >> 32 != 0) return false;
    *f = (field){ .begin = at, .length = at + n, .value = at + n, .number = (unsigned)(tag >> 3),
                  .type = (unsigned)tag & 7 };
    if (f->type == FIXED64 || f->type == FIXED32) size = f->type == FIXED64 ? 8 : 4;
    else if (f->type == VARINT_TYPE) size = get_varint(p + at + n, end - at - n, &tag);
    else if (f->type == BYTES) f->value += get_varint(p + at + n, end - at - n, &size);
    else return false;
    if ((f->type == VARINT_TYPE && size == 0) || (f->type == BYTES && f->value == f->length) ||
        size > end - f->value)
        return false;
    f->end = f->value + (size_t)size;
    return true;
}

static bool is_message(const uint8_t *p, size_t at, size_t end)
{
    field f;
    if (at == end) return false;
    for (; at < end; at = f.end)
        if (!next_field(p, at, end, &f)) return false;
    return true;
}

static void find_fields(fields *all, const uint8_t *p, size_t at, size_t end, int parent, int depth)
{
    field f;
    for (; at < end && all->count < FIELDS && next_field(p, at, end, &f); at = f.end) {
        const int i = all->count++;
        f.parent = parent;
        f.message = f.type == BYTES && depth < DEPTH && is_message(p, f.value, f.end);
        all->at[i] = f;
        if (f.message) find_fields(all, p, f.value, f.end, i, depth + 1);
    }
}

/* Replaces the bytes from begin to end inside of the message `parent`. */
static void replace(mutation *m, const fields *all, int parent, size_t begin, size_t end,
                    const void *p, size_t n)
{
    if (m->size - (end - begin) + n + VARINT * (DEPTH + 1) > m->most) return;
    ptrdiff_t more = (ptrdiff_t)n - (ptrdiff_t)(end - begin);
    splice(m, begin, end, p, n);
    for (; parent >= 0; parent = all->at[parent].parent) {
        const field *f = &all->at[parent];
        uint8_t      length[VARINT];
        const size_t bytes = put_varint(length, (uint64_t)((ptrdiff_t)(f->end - f->value) + more));
        splice(m, f->length, f->value, length, bytes);
        more += (ptrdiff_t)bytes - (ptrdiff_t)(f->value - f->length);
    }
}

static uint64_t other_number(mutation *m, uint64_t v)
{
    static const uint64_t edges[] = {
        0, 1, 2, 3, 4, 7, 8, 9, 127, 128, 255, 65536, INT32_MAX, UINT32_MAX, 1ull << 32, 1ull << 40,
        INT64_MAX, 1ull << 63, (uint64_t)INT32_MIN, UINT64_MAX, UINT64_MAX - 1,
        0x3f800000, 0x7f800000, 0x7fc00000, 0x3ff0000000000000, 0x7ff0000000000000,
    };
    const unsigned how = draw(m, 6);
    return how == 0 ? v + 1 : how == 1 ? v - 1 : edges[draw(m, sizeof edges / sizeof *edges)];
}

/* A copy of bytes, which splice may not overlap. */
static uint8_t *copy_of(const uint8_t *p, size_t n)
{
    uint8_t *copy = malloc(n + 1);
    if (!copy) abort();
    if (n > 0) memcpy(copy, p, n);
    return copy;
}

/* Puts what is in `from`, of another message or of this one, in the place of f's value. */
static void put_value(mutation *m, const fields *all, const field *f, const uint8_t *from, size_t n)
{
    uint8_t *out = malloc(n + VARINT);
    if (!out) abort();
    const size_t head = f->type == BYTES ? put_varint(out, n) : 0;
    if (n > 0) memcpy(out + head, from, n);
    replace(m, all, f->parent, f->length, f->end, out, head + n);
    free(out);
}

/* Another field like it: of its number if there is one, else of its type; NULL. */
static const field *other_field(mutation *m, const fields *all, const field *f)
{
    const field *found = NULL;
    const int    first = (int)draw(m, (size_t)all->count);
    for (int i = 0; i < all->count; i++) {
        const field *g = &all->at[(first + i) % all->count];
        if (g->type != f->type || g == f) continue;
        if (g->number == f->number && g->message == f->message) return g;
        if (!found && g->message == f->message) found = g;
    }
    return found;
}

static void change_value(mutation *m, const fields *all, const field *f)
{
    uint8_t      out[VARINT];
    const field *g = other_field(m, all, f);
    if (g && draw(m, 2) == 0) {
        put_value(m, all, f, m->at + g->value, g->end - g->value);
    } else if (f->type == VARINT_TYPE) {
        uint64_t v;
        get_varint(m->at + f->value, f->end - f->value, &v);
        put_value(m, all, f, out, put_varint(out, other_number(m, v)));
    } else if (f->type != BYTES) {
        const int bytes = f->type == FIXED64 ? 8 : 4;
        put_number(m, f->value, other_number(m, number_at(m, f->value, bytes)), bytes);
    } else if (!f->message) {
        const size_t size = f->end - f->value, most = size + 16;
        uint8_t     *text = malloc(most);
        if (!text) abort();
        if (size > 0) memcpy(text, m->at + f->value, size);
        put_value(m, all, f, text, LLVMFuzzerMutate(text, size, most));
        free(text);
    } else {
        put_value(m, all, f, NULL, 0);
    }
}

static void change_field(mutation *m, const fields *all)
{
    const field *f = &all->at[draw(m, (size_t)all->count)];
    const field *g = &all->at[draw(m, (size_t)all->count)];     /* of which it becomes a neighbor */
    uint8_t     *copy = copy_of(m->at + f->begin, f->end - f->begin);
    uint8_t      tag[VARINT];
    field        next;
    switch (draw(m, 10)) {
    case 0: replace(m, all, f->parent, f->begin, f->end, NULL, 0); break;
    case 1: replace(m, all, f->parent, f->end, f->end, copy, f->end - f->begin); break;
    case 2: replace(m, all, g->parent, g->begin, g->begin, copy, f->end - f->begin); break;
    case 3:                                                 /* behind the next one */
        if (!next_field(m->at, f->end, f->parent < 0 ? m->size : all->at[f->parent].end, &next))
            break;
        memmove(m->at + f->begin, m->at + next.begin, next.end - next.begin);
        memcpy(m->at + f->begin + (next.end - next.begin), copy, f->end - f->begin);
        break;
    case 4:
        replace(m, all, f->parent, f->begin, f->length, tag,
                put_varint(tag, (uint64_t)(1 + draw(m, 20)) << 3 | f->type));
        break;
    default: change_value(m, all, f); break;
    }
    free(copy);
}

void mutate_message(mutation *m)
{
    static fields all;
    for (unsigned i = draw(m, 3); i < 3; i++) {
        all.count = 0;
        find_fields(&all, m->at, 0, m->size, -1, 0);
        if (all.count == 0) mutate_bytes(m);
        else change_field(m, &all);
    }
}

size_t cross_protobuf(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                      uint8_t *out, size_t most, unsigned seed)
{
    static fields to, from;
    mutation      m = { out, a_size < most ? a_size : most, most, seed, NULL };
    if (m.size > 0) memcpy(out, a, m.size);
    to.count = from.count = 0;
    find_fields(&to, out, 0, m.size, -1, 0);
    find_fields(&from, b, 0, b_size, -1, 0);
    if (to.count == 0 || from.count == 0) return m.size;
    const field *f = &to.at[draw(&m, (size_t)to.count)], *g = other_field(&m, &from, f);
    if (g) put_value(&m, &to, f, b + g->value, g->end - g->value);
    return m.size;
}
