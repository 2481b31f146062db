/* safetensors.c -- safetensors files: writing named arrays, metadata and checksums. */
#include "graph/base/crc32c.h"
#include "graph/files/json.h"
#include "graph/files/safetensors.h"
#include "graph/files/safetensors_header.h"

#include <stdlib.h>
#include <string.h>

typedef struct item {
    const char       *name;
    const eddy_array *array;
} item;

/* The contents of a file. */
typedef struct contents {
    item                  *items;
    eddy_safetensors_text *metadata;    /* the caller's pairs and two with checksums */
    int                    n, n_metadata;
    char                  *crcs;        /* digits for each item, and a zero */
} contents;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const item *)a)->name, ((const item *)b)->name);
}

static int by_width_and_name(const void *a, const void *b)
{
    size_t wide = eddy_dtype_size(eddy_array_dtype(((const item *)a)->array));
    size_t other = eddy_dtype_size(eddy_array_dtype(((const item *)b)->array));
    return wide != other ? (wide > other ? -1 : 1) : by_name(a, b);
}

static bool item_is_valid(const item *it, int i, const char *path, eddy_error *e)
{
    if (!it->name || !it->array)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "%.600s: array %d has no name or no elements", path, i);
    size_t n = strlen(it->name);
    if (n > EDDY_MAX_NAME)
        return eddy__error_set(e, EDDY_LIMIT,
                               "%.300s: the name '%.100s...' has %zu bytes; the limit is %d", path,
                               it->name, n, EDDY_MAX_NAME);
    if (eddy__utf8_check(it->name, n) < n)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "%.600s: the name of array %d is not UTF-8", path, i);
    if (strcmp(it->name, "__metadata__") == 0)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "%.600s: the name '__metadata__' is reserved by the format", path);
    if (!eddy__safetensors_code_of(eddy_array_dtype(it->array)))
        return eddy__error_set(e, EDDY_UNIMPLEMENTED,
                               "%.300s: '%.300s': safetensors files do not support %s", path,
                               it->name, eddy_dtype_name(eddy_array_dtype(it->array)));
    return true;
}

/* Checks the items and puts them into the order of the file. */
static bool arrange(item *items, int n, const char *path, eddy_error *e)
{
    for (int i = 0; i < n; i++)
        if (!item_is_valid(&items[i], i, path, e)) return false;
    qsort(items, (size_t)n, sizeof *items, by_name);
    for (int i = 1; i < n; i++)
        if (strcmp(items[i - 1].name, items[i].name) == 0)
            return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                                   "%.300s: the name '%.300s' appears twice", path, items[i].name);
    qsort(items, (size_t)n, sizeof *items, by_width_and_name);
    return true;
}

static bool text_is_valid(const eddy_safetensors_text *t, int i, const char *path, eddy_error *e)
{
    if (!t->key || !t->value)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "%.600s: pair %d of the metadata has no key or no value", path, i);
    const size_t key = strlen(t->key), value = strlen(t->value);
    if (eddy__utf8_check(t->key, key) == key && eddy__utf8_check(t->value, value) == value)
        return true;
    return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                           "%.600s: pair %d of the metadata is not UTF-8", path, i);
}

/* Checks the metadata and sorts it by key. */
static bool arrange_metadata(eddy_safetensors_text *m, int n, const char *path, eddy_error *e)
{
    for (int i = 0; i < n; i++)
        if (!text_is_valid(&m[i], i, path, e)) return false;
    qsort(m, (size_t)n, sizeof *m, eddy__safetensors_by_key);
    for (int i = 1; i < n; i++)
        if (strcmp(m[i - 1].key, m[i].key) == 0)
            return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                                   "%.300s: the key '%.300s' appears twice in the metadata", path,
                                   m[i].key);
    return true;
}

/* `"__metadata__":{...}`; returns where the digits of the header's checksum are. */
static size_t put_metadata(eddy_text *t, const contents *c)
{
    size_t digits = 0;
    eddy__text_put(t, "\"__metadata__\":");
    for (int i = 0; i < c->n_metadata && !t->failed; i++) {
        eddy__text_add(t, i > 0 ? "," : "{", 1);
        eddy__json_put(t, c->metadata[i].key);
        eddy__text_add(t, ":", 1);
        if (strcmp(c->metadata[i].key, EDDY_SAFETENSORS_HEADER_CRC) == 0) digits = t->length + 1;
        eddy__json_put(t, c->metadata[i].value);
    }
    eddy__text_add(t, "}", 1);
    return digits;
}

static void put_crc(char *digits, uint32_t crc)
{
    char text[EDDY_CRC_DIGITS + 1];
    snprintf(text, sizeof text, "%08lx", (unsigned long)crc);
    memcpy(digits, text, EDDY_CRC_DIGITS);
}

/* The header, padded so that the elements begin at a multiple of 8, with its checksum. */
static void put_header(eddy_text *t, const contents *c)
{
    const item *items = c->items;
    uint64_t    at = 0;
    eddy__text_add(t, "{", 1);
    const size_t digits = put_metadata(t, c);
    for (int i = 0; i < c->n && !t->failed; i++) {
        eddy_shape s = eddy_array_shape(items[i].array);
        eddy__text_add(t, ",", 1);
        eddy__json_put(t, items[i].name);
        eddy__text_put(t, ":{\"dtype\":\"%s\",\"shape\":[",
                       eddy__safetensors_code_of(eddy_array_dtype(items[i].array)));
        for (int axis = 0; axis < s.rank; axis++)
            eddy__text_put(t, axis > 0 ? ",%lld" : "%lld", (long long)s.dim[axis]);
        uint64_t end = at + eddy_array_bytes(items[i].array);
        eddy__text_put(t, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
                       (unsigned long long)end);
        at = end;
    }
    eddy__text_add(t, "}", 1);
    while (t->length % 8 != 0 && !t->failed) eddy__text_add(t, " ", 1);
    const uint64_t length = t->length;
    if (!t->failed)
        put_crc(t->at + digits, eddy__crc32c(eddy__crc32c(0, &length, sizeof length), t->at,
                                             t->length));
}

static void compute_crcs(const contents *c)
{
    for (int i = 0; i < c->n; i++)
        put_crc(c->crcs + (size_t)i * EDDY_CRC_DIGITS,
                eddy__crc32c(0, eddy_array_data(c->items[i].array),
                             eddy_array_bytes(c->items[i].array)));
}

static void write_items(eddy_writer *out, const eddy_text *header, const item *items, int n)
{
    uint64_t length = header->length;        /* little-endian, as the machine */
    eddy__writer_write(out, &length, sizeof length);
    eddy__writer_write(out, header->at, header->length);
    for (int i = 0; i < n; i++)
        eddy__writer_write(out, eddy_array_data(items[i].array), eddy_array_bytes(items[i].array));
}

static void write_file(const eddy_files *files, const eddy_allocator *a, const char *path,
                       const contents *c, eddy_error *e)
{
    eddy_writer out;
    eddy_text   header = { .allocator = a };
    if (!arrange(c->items, c->n, path, e) ||
        !arrange_metadata(c->metadata, c->n_metadata, path, e))
        return;
    compute_crcs(c);
    put_header(&header, c);
    if (header.failed)
        eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory for the header", path);
    else if (header.length > EDDY_SAFETENSORS_HEADER)
        eddy__error_set(e, EDDY_LIMIT, "%.600s: the header has %zu bytes; the limit is %d",
                        path, header.length, EDDY_SAFETENSORS_HEADER);
    else if (eddy__writer_begin(&out, files, path, e)) {
        write_items(&out, &header, c->items, c->n);
        eddy__writer_end(&out);
    }
    eddy__text_free(&header);
}

/* Copies of the lists, which writing sorts, with room for the checksums. */
static bool copy_lists(contents *c, const eddy_allocator *a, const char *const *names,
                       const eddy_array *const *arrays, const eddy_safetensors_text *metadata)
{
    const int own = c->n_metadata;
    c->n_metadata += 2;
    c->items = eddy__allocate_zeroed(a, (size_t)c->n, sizeof *c->items);
    c->metadata = eddy__allocate_zeroed(a, (size_t)c->n_metadata, sizeof *c->metadata);
    c->crcs = eddy__allocate_zeroed(a, (size_t)c->n * EDDY_CRC_DIGITS + 1, 1);
    if (!c->items || !c->metadata || !c->crcs) return false;
    for (int i = 0; i < c->n; i++) c->items[i] = (item){ names[i], arrays[i] };
    for (int i = 0; i < own; i++) c->metadata[i] = metadata[i];
    c->metadata[own] = (eddy_safetensors_text){ EDDY_SAFETENSORS_CRCS, c->crcs };
    c->metadata[own + 1] = (eddy_safetensors_text){ EDDY_SAFETENSORS_HEADER_CRC, "00000000" };
    return true;
}

eddy_status eddy__safetensors_write(const eddy_files *files, const eddy_allocator *a,
                                    const char *path, int n, const char *const *names,
                                    const eddy_array *const *arrays, int n_metadata,
                                    const eddy_safetensors_text *metadata, eddy_error *error)
{
    eddy_error e = { 0 };
    contents   c = { .n = n, .n_metadata = n_metadata };
    if (!a) a = &eddy__libc;
    if (!path || n < 0 || (n > 0 && !(names && arrays)) || n_metadata < 0 ||
        (n_metadata > 0 && !metadata)) {
        eddy__error_set(error, EDDY_INVALID_ARGUMENT, "a path, names and arrays are required");
        return EDDY_INVALID_ARGUMENT;
    }
    if (copy_lists(&c, a, names, arrays, metadata)) write_file(files, a, path, &c, &e);
    else eddy__error_set(&e, EDDY_NO_MEMORY, "%.600s: out of memory (arrays: %d)", path, n);
    eddy__release(a, c.items, (size_t)n * sizeof *c.items);
    eddy__release(a, c.metadata, (size_t)c.n_metadata * sizeof *c.metadata);
    eddy__release(a, c.crcs, (size_t)n * EDDY_CRC_DIGITS + 1);
    if (e.status != EDDY_OK) eddy__error_set(error, e.status, "%s", e.message);
    return e.status;
}
