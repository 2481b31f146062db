/* safetensors_parse.c -- parser for the JSON header of a safetensors file.
 *
 * It reads only the form that the format allows, so that these functions limit the depth, not
 * the file: an object of objects of short lists, and one object of strings. */
#include "graph/files/safetensors_header.h"
#include "graph/files/token.h"

#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *at;
    size_t      length;
} span;

enum { PREFIX = 8 };                 /* bytes of the file before the header */

static bool no_memory(tokens *p)
{
    return eddy__error_set(p->error, EDDY_NO_MEMORY, "%.600s: out of memory for the header",
                           p->path);
}

/* -------------------------------------------------------------- tokens -- */

static bool expect(tokens *p, char c)
{
    char what[] = "expected '?'";
    what[sizeof what - 3] = c;
    return accept_char(p, c) || damaged(p, what);
}

/* After an item: true if another one follows, false after the closing sign or after an error. */
static bool has_next_item(tokens *p, char close, bool *ok)
{
    if (accept_char(p, close)) return false;
    *ok = expect(p, ',');
    return *ok;
}

/* Four hexadecimal digits; -1 if they are not there. */
static int32_t hex4(tokens *p)
{
    int32_t v = 0;
    if (p->end - p->at < 4) return -1;
    for (int i = 0; i < 4; i++, p->at++) {
        char c = *p->at;
        int  digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                   : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return -1;
        v = v << 4 | digit;
    }
    return v;
}

/* Behind "\u": one character, which may take a second escape. */
static bool read_unicode(tokens *p, uint32_t *out)
{
    int32_t high = hex4(p), low;
    if (high < 0) return damaged(p, "expected four hexadecimal digits");
    *out = (uint32_t)high;
    if (high < 0xD800 || high > 0xDFFF) return true;
    if (high > 0xDBFF || p->end - p->at < 2 || p->at[0] != '\\' || p->at[1] != 'u')
        return damaged(p, "unpaired surrogate");
    p->at += 2;
    low = hex4(p);
    if (low < 0xDC00 || low > 0xDFFF) return damaged(p, "unpaired surrogate");
    *out = 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
    return true;
}

static bool read_escape(tokens *p, uint32_t *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char        c = p->at < p->end ? *p->at : 0;
    const char *which = c ? strchr(names, c) : NULL;
    if (c == 'u') {
        p->at++;
        return read_unicode(p, out);
    }
    if (!which) return damaged(p, "unknown escape sequence");
    p->at++;
    *out = (unsigned char)values[which - names];
    return true;
}

/* True if a quotation mark ends the string that begins at p->at. */
static bool string_ends(const tokens *p)
{
    for (const char *c = p->at; c < p->end; c++) {
        if (*c == '"') return true;
        if (*c == '\\') c++;
    }
    return false;
}

/* A string, decoded where it stands, which it never outgrows; its final zero
 * takes the place of the quotation mark. */
static bool read_string(tokens *p, span *out)
{
    if (!expect(p, '"')) return false;
    if (!string_ends(p)) return damaged(p, "unterminated string");
    char *to = p->at;
    *out = (span){ to, 0 };
    while (*p->at != '"') {
        uint32_t c = 0;
        if ((unsigned char)*p->at < 0x20) return damaged(p, "control character in a string");
        if (*p->at != '\\') {
            to[out->length++] = *p->at++;
            continue;
        }
        p->at++;
        if (!read_escape(p, &c)) return false;
        out->length += eddy__utf8_put(c, to + out->length);
    }
    to[out->length] = 0;
    p->at++;
    return true;
}

static bool has_zero(span t) { return strlen(t.at) != t.length; }

static bool read_natural(tokens *p, int64_t *out)
{
    size_t digits;
    skip_space(p);
    char *first = p->at;
    if (!take_natural(p, out, &digits)) return damaged(p, "a number is too large");
    if (digits == 0) return damaged(p, "expected a non-negative integer");
    if (*first != '0' || digits == 1) return true;
    p->at = first;
    return damaged(p, "a number has a leading zero");
}

/* ------------------------------------------------------------- entries -- */

static bool read_dtype(tokens *p, eddy_safetensors_entry *entry)
{
    span text;
    if (!read_string(p, &text)) return false;
    entry->type.dtype = eddy__safetensors_dtype(text.at);
    if (entry->type.dtype != EDDY_DEFAULT_DTYPE && !has_zero(text)) return true;
    return eddy__error_set(
        p->error, EDDY_UNIMPLEMENTED,
        "%.400s: byte %zu: '%.200s' has the element type '%.40s', which is not supported", p->path,
        offset(p), entry->name, text.at);
}

static bool read_shape(tokens *p, eddy_safetensors_entry *entry)
{
    bool ok = expect(p, '[');
    if (!ok || accept_char(p, ']')) return ok;
    do {
        if (entry->type.shape.rank == EDDY_MAX_RANK) return damaged(p, "more than 8 dimensions");
        if (!read_natural(p, &entry->type.shape.dim[entry->type.shape.rank])) return false;
        entry->type.shape.rank++;
    } while (has_next_item(p, ']', &ok));
    return ok && (eddy_shape_is_valid(entry->type.shape) || damaged(p, "the shape is too large"));
}

static bool read_offsets(tokens *p, eddy_safetensors_entry *entry)
{
    return expect(p, '[') && read_natural(p, &entry->begin) && expect(p, ',') &&
           read_natural(p, &entry->end) && expect(p, ']') &&
           (entry->end >= entry->begin || damaged(p, "data_offsets end before they begin"));
}

static bool check_entry(tokens *p, const eddy_safetensors_entry *entry, unsigned seen)
{
    if (seen != 7) return damaged(p, "dtype, shape or data_offsets is missing");
    int64_t count = eddy_shape_count(entry->type.shape);         /* at most 2^48 */
    int64_t bytes = count * (int64_t)eddy_dtype_size(entry->type.dtype);
    if (entry->end - entry->begin == bytes) return true;
    char type[100];
    return eddy__error_set(
        p->error, EDDY_CORRUPT,
        "%.400s: byte %zu: '%.200s' has the length %lld in bytes; expected %lld for %s", p->path,
        offset(p), entry->name, (long long)(entry->end - entry->begin), (long long)bytes,
        eddy_type_print(entry->type, type, sizeof type));
}

/* {"dtype": ..., "shape": ..., "data_offsets": ...}, each once, in any order. */
static bool read_entry(tokens *p, eddy_safetensors_entry *entry)
{
    static const char *const keys[] = { "dtype", "shape", "data_offsets" };
    static bool (*const readers[])(tokens *, eddy_safetensors_entry *) = { read_dtype, read_shape,
                                                                           read_offsets };
    unsigned seen = 0;
    bool     ok = expect(p, '{');
    if (!ok) return false;
    if (accept_char(p, '}')) return check_entry(p, entry, seen);
    do {
        span   key;
        size_t i = 0, where;
        skip_space(p);
        where = offset(p);
        if (!read_string(p, &key)) return false;
        while (i < 3 && (strlen(keys[i]) != key.length || memcmp(keys[i], key.at, key.length) != 0))
            i++;
        if (i == 3) return damaged_at(p, where, "unknown key");
        if (seen >> i & 1) return damaged_at(p, where, "duplicate key");
        seen |= 1u << i;
        if (!expect(p, ':') || !readers[i](p, entry)) return false;
    } while (has_next_item(p, '}', &ok));
    return ok && check_entry(p, entry, seen);
}

static bool add_entry(tokens *p, span name, size_t where)
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
static bool add_text(tokens *p, span key, span value)
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
    bool ok = expect(p, '{');
    span key, value;
    if (!ok || accept_char(p, '}')) return ok;
    do {
        if (!read_string(p, &key) || !expect(p, ':') || !read_string(p, &value) ||
            !add_text(p, key, value))
            return false;
    } while (has_next_item(p, '}', &ok));
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
    span   name;
    size_t where;
    skip_space(p);
    where = offset(p);
    if (!read_string(p, &name) || !expect(p, ':')) return false;
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
    } while (has_next_item(p, '}', &ok));
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
