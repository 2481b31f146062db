/* safetensors_read.c -- reader of safetensors files: the header is checked against the size of
 * the file before any element is read. */
#include "graph/files/safetensors_header.h"

#include <stdlib.h>
#include <string.h>

static bool read_header(eddy_reader *in, eddy_safetensors *s)
{
    uint64_t n;
    if (!eddy__reader_read(in, &n, sizeof n)) return false;
    if (n > (uint64_t)(in->size - in->at))
        return eddy__error_set(in->error, EDDY_CORRUPT,
                               "%.600s: the header has %llu bytes, but the file has %lld", in->path,
                               (unsigned long long)n, (long long)in->size);
    if (n > EDDY_SAFETENSORS_HEADER)
        return eddy__error_set(in->error, EDDY_LIMIT,
                               "%.600s: the header has %llu bytes; the limit is %d", in->path,
                               (unsigned long long)n, EDDY_SAFETENSORS_HEADER);
    s->header = eddy__allocate(s->allocator, (size_t)n);
    s->header_size = (size_t)n;
    if (!s->header)
        return eddy__error_set(in->error, EDDY_NO_MEMORY,
                               "%.600s: out of memory for the header (bytes: %llu)", in->path,
                               (unsigned long long)n);
    return eddy__reader_read(in, s->header, (size_t)n) &&
           eddy__safetensors_parse(s, in->path, s->header, (size_t)n, in->error);
}

static int by_place(const void *a, const void *b)
{
    const eddy_safetensors_entry *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Each begins where the one before ends, and the last ends with the file. */
static bool ranges_are_valid(const eddy_reader *in, const eddy_safetensors *s)
{
    int64_t at = 0, have = in->size - in->at;
    for (int i = 0; i < s->count; i++) {
        const eddy_safetensors_entry *e = &s->entries[i];
        if (e->begin != at)
            return eddy__error_set(in->error, EDDY_CORRUPT,
                                   "%.400s: byte %zu: '%.200s' begins at %lld; expected %lld",
                                   in->path, e->offset, e->name, (long long)e->begin,
                                   (long long)at);
        at = e->end;
    }
    return at == have ||
           eddy__error_set(
               in->error, EDDY_CORRUPT,
               "%.600s: the data has the length %lld in bytes; the header describes %lld", in->path,
               (long long)have, (long long)at);
}

static bool bools_are_clean(const eddy_reader *in, const eddy_safetensors_entry *e)
{
    const unsigned char *b = eddy_array_data(e->array);
    for (int64_t i = 0; i < eddy_array_count(e->array); i++)
        if (b[i] > 1)
            return eddy__error_set(in->error, EDDY_CORRUPT,
                                   "%.400s: '%.200s': element %lld is %d; a bool must be 0 or 1",
                                   in->path, e->name, (long long)i, b[i]);
    return true;
}

static bool read_elements(eddy_reader *in, eddy_safetensors *s)
{
    for (int i = 0; i < s->count; i++) {
        eddy_safetensors_entry *e = &s->entries[i];
        e->array = eddy_array_new_in(s->allocator, e->type.dtype, e->type.shape);
        if (!e->array)
            return eddy__error_set(in->error, EDDY_NO_MEMORY,
                                   "%.400s: '%.200s': out of memory (bytes: %lld)", in->path,
                                   e->name, (long long)(e->end - e->begin));
        if (!eddy__reader_read(in, eddy_array_data(e->array), (size_t)(e->end - e->begin)))
            return false;
        if (e->type.dtype == EDDY_BOOL && !bools_are_clean(in, e)) return false;
    }
    return true;
}

eddy_status eddy__safetensors_read(const eddy_files *files, const eddy_allocator *a,
                                   const char *path, eddy_safetensors *out, eddy_error *error)
{
    eddy_error  e = { 0 };
    eddy_reader in;
    *out = (eddy_safetensors){ .allocator = a ? a : &eddy__libc };
    if (eddy__reader_open(&in, files, path, &e) && read_header(&in, out)) {
        if (out->count > 1) qsort(out->entries, (size_t)out->count, sizeof *out->entries, by_place);
        if (ranges_are_valid(&in, out)) read_elements(&in, out);
        if (out->count > 1)
            qsort(out->entries, (size_t)out->count, sizeof *out->entries,
                  eddy__safetensors_by_name);
    }
    eddy__reader_close(&in);
    if (e.status == EDDY_OK) return EDDY_OK;
    eddy__safetensors_free(out);
    eddy__error_set(error, e.status, "%s", e.message);
    return e.status;
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

eddy_array *eddy__safetensors_find(const eddy_safetensors *s, const char *name)
{
    int low = 0, high = name ? s->count : 0;
    while (low < high) {
        int middle = low + (high - low) / 2, order = strcmp(s->entries[middle].name, name);
        if (order == 0) return s->entries[middle].array;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
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
    for (int i = 0; i < s->count; i++) eddy_array_free(s->entries[i].array);
    eddy__release(s->allocator, s->entries, (size_t)s->capacity * sizeof *s->entries);
    eddy__release(s->allocator, s->metadata, (size_t)s->metadata_capacity * sizeof *s->metadata);
    eddy__release(s->allocator, s->header, s->header_size);
    *s = (eddy_safetensors){ .allocator = s->allocator };
}
