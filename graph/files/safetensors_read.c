/* safetensors_read.c -- reader of safetensors files: the header is checked against the size of
 * the file and its checksum; elements are read when a value is asked for. */
#include "graph/base/crc32c.h"
#include "graph/base/file_bytes.h"
#include "graph/files/safetensors_header.h"

#include <stdlib.h>
#include <string.h>

enum { PREFIX = sizeof(uint64_t) };

static bool read_header(eddy_safetensors *s, eddy_error *e)
{
    const eddy_file_bytes *b = s->bytes;
    uint64_t n;
    if (b->size < PREFIX)
        return eddy__error_set(e, EDDY_CORRUPT,
                               "%.600s: the file ends at byte %zu; bytes missing: %zu", s->path,
                               b->size, PREFIX - b->size);
    memcpy(&n, b->at, PREFIX);
    if (n > b->size - PREFIX)
        return eddy__error_set(e, EDDY_CORRUPT,
                               "%.600s: the header has %llu bytes, but the file has %zu", s->path,
                               (unsigned long long)n, b->size);
    if (n > EDDY_SAFETENSORS_HEADER)
        return eddy__error_set(e, EDDY_LIMIT,
                               "%.600s: the header has %llu bytes; the limit is %d", s->path,
                               (unsigned long long)n, EDDY_SAFETENSORS_HEADER);
    s->header = eddy__allocate(s->allocator, (size_t)n);
    s->header_size = (size_t)n;
    if (!s->header)
        return eddy__error_set(e, EDDY_NO_MEMORY,
                               "%.600s: out of memory for the header (bytes: %llu)", s->path,
                               (unsigned long long)n);
    memcpy(s->header, b->at + PREFIX, (size_t)n);
    return eddy__safetensors_parse(s, s->path, s->header, (size_t)n, e);
}

static int by_place(const void *a, const void *b)
{
    const eddy_safetensors_entry *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Each begins where the one before ends, and the last ends with the file. */
static bool ranges_are_valid(const eddy_safetensors *s, eddy_error *e)
{
    int64_t at = 0, have = (int64_t)(s->bytes->size - PREFIX - s->header_size);
    for (int i = 0; i < s->count; i++) {
        const eddy_safetensors_entry *entry = &s->entries[i];
        if (entry->begin != at)
            return eddy__error_set(e, EDDY_CORRUPT,
                                   "%.400s: byte %zu: '%.200s' begins at %lld; expected %lld",
                                   s->path, entry->offset, entry->name, (long long)entry->begin,
                                   (long long)at);
        at = entry->end;
    }
    return at == have ||
           eddy__error_set(
               e, EDDY_CORRUPT,
               "%.600s: the data has the length %lld in bytes; the header describes %lld", s->path,
               (long long)have, (long long)at);
}

/* ------------------------------------------------------------ checksums -- */

/* The number of those digits; false unless all are lower-case hexadecimal. */
static bool parse_crc(const char *digits, uint32_t *crc)
{
    *crc = 0;
    for (int i = 0; i < EDDY_CRC_DIGITS; i++) {
        const char c = digits[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) return false;
        *crc = *crc << 4 | (uint32_t)digit;
    }
    return true;
}

static uint32_t header_crc(const eddy_safetensors *s, const char *digits)
{
    const size_t   before = PREFIX + (size_t)(digits - s->header);
    const size_t   after = PREFIX + s->header_size - before - EDDY_CRC_DIGITS;
    const uint32_t crc = eddy__crc32c(eddy__crc32c(0, s->bytes->at, before), "00000000",
                                      EDDY_CRC_DIGITS);
    return eddy__crc32c(crc, s->bytes->at + before + EDDY_CRC_DIGITS, after);
}

/* Removes the pair; its value, NULL if there is none. */
static const char *take_text(eddy_safetensors *s, const char *key)
{
    const char *value = eddy__safetensors_find_text(s, key);
    int         n = 0;
    for (int i = 0; value && i < s->metadata_count; i++)
        if (s->metadata[i].value != value) s->metadata[n++] = s->metadata[i];
    if (value) s->metadata_count = n;
    return value;
}

/* Both checksums or none; with the entries in the order of the data. Who compares none need not
 * have one for each array: another program may have removed some. */
static bool take_crcs(eddy_safetensors *s, eddy_error *e)
{
    const char *crcs = take_text(s, EDDY_SAFETENSORS_CRCS);
    const char *own = take_text(s, EDDY_SAFETENSORS_HEADER_CRC);
    uint32_t    crc;
    if ((!crcs && !own) || s->unchecked) return true;
    bool ok = crcs && own && strlen(own) == EDDY_CRC_DIGITS && parse_crc(own, &crc) &&
              crc == header_crc(s, own) &&
              strlen(crcs) == (size_t)s->count * EDDY_CRC_DIGITS;
    for (int i = 0; ok && i < s->count; i++)
        ok = parse_crc(crcs + (size_t)i * EDDY_CRC_DIGITS, &s->entries[i].crc);
    s->has_crcs = ok;
    return ok || eddy__error_set(e, EDDY_CORRUPT,
                                 "%.600s: byte %d: the header does not have its checksum", s->path,
                                 PREFIX);
}

/* --------------------------------------------------------------- opening -- */

static bool copy_path(eddy_safetensors *s, const char *path, eddy_error *e)
{
    const size_t n = strlen(path) + 1;
    s->path = eddy__allocate(s->allocator, n);
    if (s->path) memcpy(s->path, path, n);
    return s->path || eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory", path);
}

static bool open_file(eddy_safetensors *s, const eddy_files *files, const char *path, eddy_error *e)
{
    s->bytes = eddy__file_bytes(files, s->allocator, path, e);
    if (!s->bytes || !copy_path(s, path, e) || !read_header(s, e)) return false;
    if (s->count > 1) qsort(s->entries, (size_t)s->count, sizeof *s->entries, by_place);
    if (!ranges_are_valid(s, e) || !take_crcs(s, e)) return false;
    if (s->count > 1)
        qsort(s->entries, (size_t)s->count, sizeof *s->entries, eddy__safetensors_by_name);
    return true;
}

eddy_status eddy__safetensors_open(const eddy_files *files, const eddy_allocator *a,
                                   const char *path, bool unchecked, eddy_safetensors *out,
                                   eddy_error *error)
{
    eddy_error e = { 0 };
    *out = (eddy_safetensors){ .allocator = a ? a : &eddy__libc, .unchecked = unchecked };
    if (open_file(out, files, path, &e)) return EDDY_OK;
    eddy__safetensors_free(out);
    eddy__error_set(error, e.status, "%s", e.message);
    return e.status;
}

/* ---------------------------------------------------------------- values -- */

static char *data_of(const eddy_safetensors *s, const eddy_safetensors_entry *entry)
{
    return s->bytes->at + PREFIX + s->header_size + entry->begin;
}

static bool fail_value(const eddy_safetensors *s, const eddy_safetensors_entry *entry,
                       eddy_status status, const char *what, eddy_error *e)
{
    return eddy__error_set(e, status, "%.300s: byte %zu: '%.200s' %s", s->path,
                           (size_t)(data_of(s, entry) - s->bytes->at), entry->name, what);
}

static bool can_read(const eddy_safetensors *s, const eddy_safetensors_entry *entry, eddy_error *e)
{
    char what[100];
    snprintf(what, sizeof what, "has the element type '%.40s', which is not supported",
             entry->code);
    if (entry->type.dtype == EDDY_DEFAULT_DTYPE)
        return fail_value(s, entry, EDDY_UNIMPLEMENTED, what, e);
    snprintf(what, sizeof what, "has %d dimensions; the limit is %d", entry->rank, EDDY_MAX_RANK);
    return entry->rank <= EDDY_MAX_RANK || fail_value(s, entry, EDDY_UNIMPLEMENTED, what, e);
}

static bool bools_are_clean(const eddy_safetensors *s, const eddy_safetensors_entry *entry,
                            eddy_error *e)
{
    const unsigned char *b = (const unsigned char *)data_of(s, entry);
    char what[100];
    for (int64_t i = 0; i < entry->count; i++) {
        if (b[i] <= 1) continue;
        snprintf(what, sizeof what, "has %d as element %lld; a bool must be 0 or 1", b[i],
                 (long long)i);
        return fail_value(s, entry, EDDY_CORRUPT, what, e);
    }
    return true;
}

static void release_view(void *context, void *data)
{
    (void)data;
    eddy__file_bytes_release(context);
}

/* A view of the file if the elements are aligned. */
static eddy_array *view_or_copy(const eddy_safetensors *s, const eddy_safetensors_entry *entry)
{
    char        *data = data_of(s, entry);
    const size_t width = eddy_dtype_size(entry->type.dtype);
    if (entry->end == entry->begin || (uintptr_t)data % width != 0)
        return eddy_array_copy_of(entry->type.dtype, entry->type.shape, data);
    eddy_array *a = eddy_array_adopt(entry->type.dtype, entry->type.shape, data, release_view,
                                     eddy__file_bytes_retain(s->bytes));
    if (!a) eddy__file_bytes_release(s->bytes);
    return a;
}

static eddy_array *decoded(const eddy_safetensors *s, const eddy_safetensors_entry *entry,
                           eddy_error *e)
{
    char        what[100];
    int64_t     bad = 0;
    eddy_array *a = eddy_array_new_in(s->allocator, entry->type.dtype, entry->type.shape);
    if (!a || entry->element->decode(data_of(s, entry), eddy_array_data(a), entry->count, &bad))
        return a;
    snprintf(what, sizeof what, "has element %lld above 2^63 - 1", (long long)bad);
    fail_value(s, entry, EDDY_OUT_OF_RANGE, what, e);
    eddy_array_free(a);
    return NULL;
}

eddy_array *eddy__safetensors_value(const eddy_safetensors *s, const eddy_safetensors_entry *entry,
                                    eddy_error *error)
{
    eddy_error   e = { 0 };
    eddy_array  *a = NULL;
    const size_t n = (size_t)(entry->end - entry->begin);
    bool         ok = can_read(s, entry, &e);
    if (ok && s->has_crcs && eddy__crc32c(0, data_of(s, entry), n) != entry->crc)
        ok = fail_value(s, entry, EDDY_CORRUPT, "does not have its checksum", &e);
    if (ok && entry->type.dtype == EDDY_BOOL) ok = bools_are_clean(s, entry, &e);
    if (ok) a = entry->element->decode ? decoded(s, entry, &e) : view_or_copy(s, entry);
    if (!a && e.status == EDDY_OK)
        fail_value(s, entry, EDDY_NO_MEMORY, "finds no memory", &e);
    if (!a) eddy__error_set(error, e.status, "%s", e.message);
    return a;
}

/* -------------------------------------------------------- the read file -- */

int eddy__safetensors_by_name(const void *a, const void *b)
{
    return strcmp(((const eddy_safetensors_entry *)a)->name,
                  ((const eddy_safetensors_entry *)b)->name);
}

int eddy__safetensors_by_key(const void *a, const void *b)
{
    return strcmp(((const eddy_safetensors_text *)a)->key, ((const eddy_safetensors_text *)b)->key);
}

const eddy_safetensors_entry *eddy__safetensors_find(const eddy_safetensors *s, const char *name)
{
    const eddy_safetensors_entry wanted = { .name = name };
    if (!name || s->count == 0) return NULL;
    return bsearch(&wanted, s->entries, (size_t)s->count, sizeof wanted, eddy__safetensors_by_name);
}

const char *eddy__safetensors_find_text(const eddy_safetensors *s, const char *key)
{
    const eddy_safetensors_text wanted = { .key = key }, *found = NULL;
    if (key && s->metadata_count > 0)
        found = bsearch(&wanted, s->metadata, (size_t)s->metadata_count, sizeof wanted,
                        eddy__safetensors_by_key);
    return found ? found->value : NULL;
}

void eddy__safetensors_free(eddy_safetensors *s)
{
    eddy__release(s->allocator, s->entries, (size_t)s->capacity * sizeof *s->entries);
    eddy__release(s->allocator, s->metadata, (size_t)s->metadata_capacity * sizeof *s->metadata);
    eddy__release(s->allocator, s->header, s->header_size);
    if (s->path) eddy__release(s->allocator, s->path, strlen(s->path) + 1);
    eddy__file_bytes_release(s->bytes);
    *s = (eddy_safetensors){ .allocator = s->allocator };
}
