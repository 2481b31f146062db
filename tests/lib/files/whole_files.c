/* whole_files.c -- see whole_files.h. */
#include "tests/lib/files/whole_files.h"

#include <string.h>

bool file_read(const eddy_files *files, const eddy_allocator *a, const char *path, size_t limit,
               void **data, size_t *size, eddy_error *e)
{
    eddy_reader in;
    bool       ok = eddy__reader_open(&in, files, path, e);
    *data = NULL;
    *size = 0;
    if (ok && (uint64_t)in.size > limit)
        ok = eddy__error_set(e, EDDY_LIMIT, "%.600s: the file has %lld bytes; the limit is %zu",
                             path, (long long)in.size, limit);
    if (ok) {
        *size = (size_t)in.size;
        *data = eddy__allocate(a, *size);
        ok = *data ||
             eddy__error_set(e, EDDY_NO_MEMORY, "%.600s: out of memory for %zu bytes", path, *size);
    }
    if (ok && !eddy__reader_read(&in, *data, *size)) {
        eddy__release(a, *data, *size);
        *data = NULL;
        ok = false;
    }
    eddy__reader_close(&in);
    return ok;
}

bool file_replace(const eddy_files *files, const char *path, const void *p, size_t n,
                  eddy_error *e)
{
    eddy_writer out;
    eddy__writer_begin(&out, files, path, e);
    eddy__writer_write(&out, p, n);
    return eddy__writer_end(&out);
}

static bool dims_equal(eddy_dims a, eddy_dims b)
{
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; i++)
        if (a.at[i] != b.at[i]) return false;
    return true;
}

static bool ints_equal(eddy_ints a, eddy_ints b)
{
    return a.count == b.count &&
           (a.count == 0 || memcmp(a.at, b.at, (size_t)a.count * sizeof *a.at) == 0);
}

static bool members_equal(const eddy_attr_field *f, const void *a, const void *b)
{
    switch (f->kind) {
    case EDDY_ATTR_INT:    return *(const int64_t *)a == *(const int64_t *)b;
    case EDDY_ATTR_FLOAT:  return memcmp(a, b, sizeof(double)) == 0;
    case EDDY_ATTR_BOOL:   return *(const bool *)a == *(const bool *)b;
    case EDDY_ATTR_STRING: return strcmp(*(const char *const *)a, *(const char *const *)b) == 0;
    case EDDY_ATTR_DTYPE:  return *(const eddy_dtype *)a == *(const eddy_dtype *)b;
    case EDDY_ATTR_SHAPE:  return eddy_shape_equal(*(const eddy_shape *)a, *(const eddy_shape *)b);
    case EDDY_ATTR_DIMS:   return dims_equal(*(const eddy_dims *)a, *(const eddy_dims *)b);
    case EDDY_ATTR_INTS:   return ints_equal(*(const eddy_ints *)a, *(const eddy_ints *)b);
    case EDDY_ATTR_ARRAY: return eddy_array_equal(*(eddy_array *const *)a, *(eddy_array *const *)b);
    case EDDY_ATTR_GRAPH:  return *(eddy_graph *const *)a == *(eddy_graph *const *)b;
    case EDDY_ATTR_END:    return true;
    }
    return false;
}

bool attrs_equal(const eddy_op_def *op, const void *a, const void *b)
{
    for (const eddy_attr_field *f = op->attrs; f && f->name; f++)
        if (!members_equal(f, (const char *)a + f->offset, (const char *)b + f->offset))
            return false;
    return true;
}
