/* safetensors_parse.c -- parser for the JSON header of a safetensors file.
 *
 * It reads only the form that the format allows, so that these functions limit the depth, not
 * the file: an object of objects of short lists, and one object of strings. */
#include "graph/files/json.h"
#include "graph/files/safetensors_header.h"

#include <stdlib.h>
#include <string.h>

enum { PREFIX = 8 };                 /* bytes of the file before the header */
static const int64_t MOST_ELEMENTS = (int64_t)1 << 48;

static bool no_memory(tokens *p)
{
    return eddy__error_set(p->error, EDDY_NO_MEMORY, "%.600s: out of memory for the header",
                           p->path);
}

/* ------------------------------------------------------------- entries -- */

static bool has_zero(json_text t) { return strlen(t.at) != t.length; }

/* A type that is not known is an error only for who asks for the value. */
static bool read_dtype(tokens *p, eddy_safetensors_entry *entry)
{
    json_text text;
    if (!eddy__json_string(p, &text)) return false;
    entry->code = text.at;
    entry->element = has_zero(text) ? NULL : eddy__safetensors_element_of(text.at);
    if (entry->element) entry->type.dtype = entry->element->dtype;
    return true;
}

static bool read_shape(tokens *p, eddy_safetensors_entry *entry)
{
    eddy_shape *s = &entry->type.shape;
    bool        ok = eddy__json_expect(p, '[');
    int64_t     dim;
    entry->count = 1;
    if (!ok || accept_char(p, ']')) return ok;
    do {
        if (!eddy__json_natural(p, &dim)) return false;
        if (__builtin_mul_overflow(entry->count, dim, &entry->count) || dim > MOST_ELEMENTS)
            return damaged(p, "the shape is too large");
        if (entry->rank++ < EDDY_MAX_RANK) s->dim[s->rank++] = dim;
    } while (eddy__json_next(p, ']', &ok));
    return ok && ((entry->count <= MOST_ELEMENTS &&
                   (entry->rank > EDDY_MAX_RANK || eddy_shape_is_valid(*s))) ||
                  damaged(p, "the shape is too large"));
}

static bool read_offsets(tokens *p, eddy_safetensors_entry *entry)
{
    return eddy__json_expect(p, '[') && eddy__json_natural(p, &entry->begin) &&
           eddy__json_expect(p, ',') && eddy__json_natural(p, &entry->end) &&
           eddy__json_expect(p, ']') &&
           (entry->end >= entry->begin || damaged(p, "data_offsets end before they begin"));
}

static bool check_entry(tokens *p, const eddy_safetensors_entry *entry, unsigned seen)
{
    if (seen != 7) return damaged(p, "dtype, shape or data_offsets is missing");
    if (!entry->element) return true;
    const int64_t bits = entry->count * entry->element->bits;    /* at most 2^54 */
    if (bits % 8 == 0 && entry->end - entry->begin == bits / 8) return true;
    char shape[100];
    return eddy__error_set(
        p->error, EDDY_CORRUPT,
        "%.400s: byte %zu: '%.200s' has the length %lld in bytes; expected %lld for %s%s", p->path,
        offset(p), entry->name, (long long)(entry->end - entry->begin), (long long)(bits + 7) / 8,
        entry->code, eddy_shape_print(entry->type.shape, shape, sizeof shape));
}

/* {"dtype": ..., "shape": ..., "data_offsets": ...}, each once, in any order. */
static bool read_entry(tokens *p, eddy_safetensors_entry *entry)
{
    static const char *const keys[] = { "dtype", "shape", "data_offsets" };
    static bool (*const readers[])(tokens *, eddy_safetensors_entry *) = { read_dtype, read_shape,
                                                                           read_offsets };
    unsigned seen = 0;
    bool     ok = eddy__json_expect(p, '{');
    if (!ok) return false;
    if (accept_char(p, '}')) return check_entry(p, entry, seen);
    do {
        json_text key;
        size_t    i = 0, where;
        skip_space(p);
        where = offset(p);
        if (!eddy__json_string(p, &key)) return false;
        while (i < 3 && (strlen(keys[i]) != key.length || memcmp(keys[i], key.at, key.length) != 0))
            i++;
        if (i == 3) return damaged_at(p, where, "unknown key");
        if (seen >> i & 1) return damaged_at(p, where, "duplicate key");
        seen |= 1u << i;
        if (!eddy__json_expect(p, ':') || !readers[i](p, entry)) return false;
    } while (eddy__json_next(p, '}', &ok));
    return ok && check_entry(p, entry, seen);
}

static bool add_entry(tokens *p, json_text name, size_t where)
{
    eddy_safetensors *s = p->out;
    if (has_zero(name)) return damaged_at(p, where, "a name contains a zero byte");
    if (name.length > EDDY_MAX_NAME) return damaged_at(p, where, "a name has more than 4096 bytes");
    if (s->count == s->capacity) {
        int bigger = s->capacity ? s->capacity * 2 : 16;
        if (!eddy__grow(s->allocator, (void **)&s->entries, (size_t)s->capacity, (size_t)bigger,
                        sizeof *s->entries))
            return no_memory(p);
        s->capacity = bigger;
    }
    s->entries[s->count] = (eddy_safetensors_entry){ .name = name.at, .offset = where };
    return read_entry(p, &s->entries[s->count++]);
}

/* ------------------------------------------------------------ metadata -- */

/* Pairs that contain a zero byte are left out: C strings would cut them. */
static bool add_text(tokens *p, json_text key, json_text value)
{
    eddy_safetensors *s = p->out;
    if (has_zero(key) || has_zero(value)) return true;
    if (s->metadata_count == s->metadata_capacity) {
        const int bigger = s->metadata_capacity ? s->metadata_capacity * 2 : 16;
        if (!eddy__grow(s->allocator, (void **)&s->metadata, (size_t)s->metadata_capacity,
                        (size_t)bigger, sizeof *s->metadata))
            return no_memory(p);
        s->metadata_capacity = bigger;
    }
    s->metadata[s->metadata_count++] = (eddy_safetensors_text){ key.at, value.at };
    return true;
}

static bool read_strings(tokens *p)
{
    bool      ok = eddy__json_expect(p, '{');
    json_text key, value;
    if (!ok || accept_char(p, '}')) return ok;
    do {
        if (!eddy__json_string(p, &key) || !eddy__json_expect(p, ':') ||
            !eddy__json_string(p, &value) || !add_text(p, key, value))
            return false;
    } while (eddy__json_next(p, '}', &ok));
    return ok;
}

static bool read_metadata(tokens *p)
{
    eddy_safetensors *s = p->out;
    const size_t      where = offset(p);
    if (!read_strings(p)) return false;
    if (s->metadata_count > 1)
        qsort(s->metadata, (size_t)s->metadata_count, sizeof *s->metadata,
              eddy__safetensors_by_key);
    for (int i = 1; i < s->metadata_count; i++)
        if (eddy__safetensors_by_key(&s->metadata[i - 1], &s->metadata[i]) == 0)
            return damaged_at(p, where, "duplicate key in __metadata__");
    return true;
}

/* ---------------------------------------------------------- the object -- */

static bool read_pair(tokens *p, bool *metadata)
{
    json_text   name;
    size_t where;
    skip_space(p);
    where = offset(p);
    if (!eddy__json_string(p, &name) || !eddy__json_expect(p, ':')) return false;
    if (name.length != 12 || memcmp(name.at, "__metadata__", 12) != 0)
        return add_entry(p, name, where);
    if (*metadata) return damaged_at(p, where, "__metadata__ appears twice");
    *metadata = true;
    return read_metadata(p);
}

static bool read_object(tokens *p)
{
    bool ok = true, metadata = false;
    if (p->at == p->end || *p->at != '{') return damaged(p, "the header does not begin with '{'");
    p->at++;
    if (accept_char(p, '}')) return true;
    do {
        if (!read_pair(p, &metadata)) return false;
    } while (eddy__json_next(p, '}', &ok));
    return ok;
}

static bool names_are_different(tokens *p)
{
    eddy_safetensors *s = p->out;
    if (s->count > 1)
        qsort(s->entries, (size_t)s->count, sizeof *s->entries, eddy__safetensors_by_name);
    for (int i = 1; i < s->count; i++) {
        const eddy_safetensors_entry *a = &s->entries[i - 1], *b = &s->entries[i];
        if (eddy__safetensors_by_name(a, b) == 0)
            return damaged_at(p, a->offset > b->offset ? a->offset : b->offset,
                              "duplicate name");
    }
    return true;
}

bool eddy__safetensors_parse(eddy_safetensors *s, const char *path, char *text, size_t n,
                             eddy_error *e)
{
    tokens p = { .path = path, .place = "byte", .error = e, .start = text, .at = text,
                 .end = text + n, .prefix = PREFIX, .out = s };
    size_t bad = eddy__utf8_check(text, n);
    char  *zero = memchr(text, 0, n);
    if (bad < n) return damaged_at(&p, PREFIX + bad, "the header is not UTF-8");
    if (zero)
        return damaged_at(&p, PREFIX + (size_t)(zero - text), "the header contains a zero byte");
    if (!read_object(&p)) return false;
    accept_char(&p, 0);
    if (p.at < p.end) return damaged(&p, "unexpected text after the header's object");
    return names_are_different(&p);
}
