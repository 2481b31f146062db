/* idx.c -- IDX files, the format of MNIST: two zeros, a code of the type, the rank, the
 * dimensions as big-endian 32-bit numbers, and big-endian elements. */
#include "file.h"

#include <string.h>

static const struct {
    uint8_t    code;
    int        size;                     /* of an element in the file */
    eddy_dtype dtype;
} types[] = {
    { 0x08, 1, EDDY_UINT8 },   { 0x09, 1, EDDY_INT32 },   { 0x0b, 2, EDDY_INT32 },
    { 0x0c, 4, EDDY_INT32 },   { 0x0d, 4, EDDY_FLOAT32 }, { 0x0e, 8, EDDY_FLOAT64 },
};
enum { TYPES = sizeof types / sizeof *types };

/* Bytes of the file, or of its decompressed contents. */
typedef struct input {
    data_file f;
    inflater *z;
    int64_t   at, most;                  /* bytes taken; of all there can be */
} input;

static bool take(input *in, void *to, int64_t n)
{
    if (n == 0) return true;
    if (in->z) {
        if (!eddy__inflate(in->z, to, (size_t)n)) return false;
    } else if (n > in->f.size - in->at)
        return eddy__file_damaged(&in->f, in->f.size, "the file ends early");
    else memcpy(to, in->f.bytes + in->at, (size_t)n);
    in->at += n;
    return true;
}

/* The type's row and the shape; -1 with the error. */
static int header(input *in, eddy_shape *s)
{
    uint8_t b[4];
    int     type = 0;
    if (!take(in, b, 4)) return -1;
    while (type < TYPES && types[type].code != b[2]) type++;
    if (b[0] != 0 || b[1] != 0 || type == TYPES)
        return eddy__file_damaged(&in->f, 0, "not an IDX file"), -1;
    if (b[3] > EDDY_MAX_RANK)
        return eddy__file_damaged(&in->f, 3, "more than 8 dimensions"), -1;
    int64_t bytes = types[type].size;
    s->rank = b[3];
    for (int i = 0; i < s->rank; i++) {
        if (!take(in, b, 4)) return -1;
        s->dim[i] = (int64_t)eddy__big(b, 4);
        if (__builtin_mul_overflow(bytes, s->dim[i], &bytes)) bytes = INT64_MAX;
    }
    if (bytes > in->most - in->at || !eddy_shape_is_valid(*s) ||
        (!in->z && bytes != in->most - in->at))
        return eddy__file_damaged(&in->f, 4, "the dimensions do not fit the size of the file"), -1;
    return type;
}

/* Big-endian elements at the end of the array, where they were read, become those of the array. */
static void convert(eddy_array *a, const uint8_t *from, int type)
{
    const int     size = types[type].size;
    const int64_t n = eddy_array_count(a);
    for (int64_t i = 0; i < n; i++, from += size) {
        const uint64_t v = eddy__big(from, size);
        if (size == 8) memcpy((uint64_t *)eddy_array_data(a) + i, &v, sizeof v);
        else {
            const uint32_t w = size == 4 ? (uint32_t)v
                             : (uint32_t)(size == 2 ? (int16_t)(uint16_t)v : (int8_t)(uint8_t)v);
            memcpy((uint32_t *)eddy_array_data(a) + i, &w, sizeof w);
        }
    }
}

static eddy_array *load(input *in)
{
    eddy_shape s = { 0 };
    const int  type = header(in, &s);
    if (type < 0) return NULL;
    eddy_array *a = eddy__file_array(&in->f, types[type].dtype, s);
    if (!a) return NULL;
    const int64_t bytes = eddy_array_count(a) * types[type].size;
    uint8_t      *end = (uint8_t *)eddy_array_data(a) + (eddy_array_bytes(a) - (size_t)bytes);
    if (!take(in, end, bytes) || (in->z && !eddy__inflate_ended(in->z))) {
        eddy_array_free(a);
        return NULL;
    }
    if (types[type].code != 0x08 && bytes > 0) convert(a, end, type);
    return a;
}

eddy_array *eddy_idx_load(const char *path, const eddy_files *files, eddy_error *error)
{
    input       in = { .at = 0 };
    eddy_array *a = NULL;
    if (!eddy__file_read(&in.f, path, files, error)) return NULL;
    in.most = in.f.size;
    const bool gzip = in.f.size >= 2 && in.f.bytes[0] == 0x1f && in.f.bytes[1] == 0x8b;
    if (gzip) {
        in.most = eddy__inflate_most(in.f.size);
        in.z = eddy__inflate_begin(&in.f, 0, in.f.size, DEFLATED_GZIP);
    }
    if (!gzip || in.z) a = load(&in);
    eddy__inflate_free(in.z);
    eddy__file_free(&in.f);
    return a;
}
