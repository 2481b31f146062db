/* weights.c -- tensors of the file as arrays: views of the file where Eddy has their type, else
 * converted to a wider one. */
#include "reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ external data -- */

static source *external_file(onnx_reader *r, const char *location)
{
    for (onnx_external *k = r->external; k; k = k->next)
        if (strcmp(k->location, location) == 0) return k->file;
    const char    *path = eddy__name_beside(&r->base.memory, r->base.path, location);
    onnx_external *k = eddy__region_take(&r->base.memory, 1, sizeof *k);
    if (!path || !k) {
        eddy__reading_no_memory(&r->base);
        return NULL;
    }
    eddy_error e = { 0 };
    source *s = eddy__source_read(path, r->options.files, r->options.max_bytes, &e);
    if (!s) {
        eddy__onnx_error(r, e.status, "%s", e.message);
        return NULL;
    }
    *k = (onnx_external){ .next = r->external, .location = location, .file = s };
    r->external = k;
    return s;
}

static source *external(onnx_reader *r, const onnx_tensor *t, wire_bytes *raw)
{
    if (!eddy__name_is_inside(t->location)) {
        eddy__onnx_error(
            r, EDDY_INVALID_ARGUMENT,
            "tensor '%s': external data must be in the folder of the model; '%s' is not", t->name,
            t->location ? t->location : "");
        return NULL;
    }
    source *s = external_file(r, t->location);
    if (!s) return NULL;
    const wire_bytes all = eddy__source_bytes(s);
    const uint64_t   from = (uint64_t)t->offset;
    const uint64_t   size = t->length < 0 ? (uint64_t)all.size - from : (uint64_t)t->length;
    if (from > all.size || size > all.size - from) {
        eddy__onnx_error(r, EDDY_CORRUPT, "tensor '%s': its data is not within '%s'", t->name,
                         t->location);
        return NULL;
    }
    *raw = (wire_bytes){ all.at + from, (size_t)size };
    return s;
}

/* -------------------------------------------------------------- conversion -- */

/* The value of an 8-bit float of so many bits of exponent; `finite` has no infinities, `unsigned
 * zero` types have one NaN, 0x80, and a bias that is one larger. */
static double float8(unsigned v, int exponent_bits, bool fn, bool uz)
{
    const int bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - (uz ? 0 : 1);
    const int exponent = (int)(v >> bits) & ((1 << exponent_bits) - 1);
    const int fraction = (int)v & ((1 << bits) - 1), last = (1 << exponent_bits) - 1;
    if (uz ? v == 0x80 : fn ? (v & 127) == 127 : exponent == last && fraction != 0) return NAN;
    const double sign = v & 128 ? -1 : 1;
    if (!uz && !fn && exponent == last) return sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - bits);
    return sign * ldexp(fraction + (1 << bits), exponent - bias - bits);
}

/* Bits of an element in the file. */
static int width(int type)
{
    static const int of[ONNX_TYPES] = {
        [ONNX_FLOAT] = 32, [ONNX_UINT8] = 8, [ONNX_INT8] = 8, [ONNX_UINT16] = 16, [ONNX_INT16] = 16,
        [ONNX_INT32] = 32, [ONNX_INT64] = 64, [ONNX_BOOL] = 8, [ONNX_FLOAT16] = 16,
        [ONNX_DOUBLE] = 64, [ONNX_UINT32] = 32, [ONNX_UINT64] = 64, [ONNX_COMPLEX64] = 32,
        [ONNX_COMPLEX128] = 64, [ONNX_BFLOAT16] = 16, [ONNX_FLOAT8E4M3FN] = 8,
        [ONNX_FLOAT8E4M3FNUZ] = 8, [ONNX_FLOAT8E5M2] = 8, [ONNX_FLOAT8E5M2FNUZ] = 8,
        [ONNX_UINT4] = 4, [ONNX_INT4] = 4,
    };
    return of[type];
}

static uint64_t bits_at(wire_bytes raw, int width, int64_t i)
{
    if (width == 4) return raw.at[i / 2] >> (i % 2 ? 4 : 0) & 15;
    return eddy__element_bits(raw, width, i);
}

/* Stores element i, given by its bits as the file has them. */
static void store(eddy_array *a, int type, int64_t i, uint64_t v)
{
    const bool fn = type == ONNX_FLOAT8E4M3FN, uz = type == ONNX_FLOAT8E4M3FNUZ;
    const bool is_signed = type == ONNX_INT8 || type == ONNX_INT16 || type == ONNX_INT32 ||
                           type == ONNX_INT64 || type == ONNX_INT4;
    if (eddy_array_dtype(a) == EDDY_FLOAT32 && type != ONNX_FLOAT)
        ((float *)eddy_array_data(a))[i] = (float)float8((unsigned)v & 255, fn || uz ? 4 : 5, fn,
                                                         uz || type == ONNX_FLOAT8E5M2FNUZ);
    else eddy__element_store(a, width(type), is_signed, i, type == ONNX_BOOL ? v != 0 : v);
}

static eddy_array *converted(const onnx_tensor *t, wire_bytes raw, bool has_raw, eddy_shape shape,
                             int64_t count)
{
    eddy_array  *a = eddy_array_new(eddy__onnx_stored(t->type), shape);
    wire_numbers numbers = t->numbers;
    uint64_t     v = 0;
    for (int64_t i = 0; a && i < count; i++) {
        if (has_raw) v = bits_at(raw, width(t->type), i);
        else eddy__wire_next_number(&numbers, &v);
        store(a, t->type, i, v);
    }
    return a;
}

static bool all_representable(const onnx_tensor *t, const eddy_array *a)
{
    if (t->type != ONNX_UINT64) return true;
    const int64_t *v = eddy_array_data(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        if (v[i] < 0) return false;
    return true;
}

/* ---------------------------------------------------------------- tensors -- */

static bool shape_of(onnx_reader *r, const onnx_tensor *t, eddy_shape *shape)
{
    *shape = eddy_shape_of_dims(t->dims, t->rank > 100 ? 100 : t->rank);
    if (t->rank > EDDY_MAX_RANK)
        return eddy__onnx_error(r, EDDY_LIMIT, "tensor '%s' has rank %zu; the limit is %d", t->name,
                                t->rank, EDDY_MAX_RANK);
    if (!eddy_shape_is_valid(*shape) || !eddy_shape_is_known(*shape))
        return eddy__onnx_error(r, EDDY_CORRUPT, "tensor '%s' has no valid shape", t->name);
    return true;
}

/* The bytes, moved to an address that suits their type. They may overwrite what comes before them
 * in the message of the tensor, which has been read and belongs to no other. */
static wire_bytes aligned(const onnx_tensor *t, wire_bytes raw)
{
    const size_t off = (uintptr_t)raw.at % ((size_t)width(t->type) / 8);
    if (off == 0 || (size_t)(raw.at - t->at) < off) return raw;
    uint8_t *to = (uint8_t *)(uintptr_t)(raw.at - off);
    memmove(to, raw.at, raw.size);
    return (wire_bytes){ to, raw.size };
}

eddy_array *eddy__onnx_elements(onnx_reader *r, onnx_tensor *t)
{
    eddy_shape shape;
    if (t->array) return t->array;
    if (!shape_of(r, t, &shape)) return NULL;
    if (eddy__onnx_stored(t->type) == EDDY_DEFAULT_DTYPE) {
        eddy__onnx_error(r, EDDY_UNIMPLEMENTED, "tensor '%s' has elements of type %s", t->name,
                         eddy__onnx_type_name(t->type));
        return NULL;
    }
    wire_bytes raw = t->raw;
    source    *file = t->external ? external(r, t, &raw) : r->base.file;
    if (!file) return NULL;
    const bool    has_raw = t->external || t->has_raw;
    const bool    parts = t->type == ONNX_COMPLEX64 || t->type == ONNX_COMPLEX128;
    const int64_t count = eddy_shape_count(shape) * (parts ? 2 : 1);
    const uint64_t bytes = ((uint64_t)count * (uint64_t)width(t->type) + 7) / 8;
    if (has_raw ? raw.size != bytes : t->count != (uint64_t)count) {
        eddy__onnx_error(r, EDDY_CORRUPT, "tensor '%s' does not have as many elements as its shape",
                         t->name);
        return NULL;
    }
    const bool  view = has_raw && eddy__element_is_same(eddy__onnx_stored(t->type), width(t->type));
    if (view && !t->external) raw = aligned(t, raw);
    eddy_array *a = view ? eddy__source_array(file, raw, eddy__onnx_stored(t->type), shape)
                         : converted(t, raw, has_raw, shape, count);
    if (!eddy__reading_keep(&r->base, a)) return NULL;
    if (all_representable(t, a)) return t->array = a;
    eddy__onnx_error(r, EDDY_UNIMPLEMENTED, "tensor '%s' has elements above 2^63 - 1", t->name);
    return NULL;
}

static onnx_value *new_value(onnx_reader *r)
{
    onnx_value *v = eddy__region_take(&r->base.memory, 1, sizeof *v);
    if (!v) eddy__reading_no_memory(&r->base);
    return v;
}

static bool strings(onnx_reader *r, const onnx_tensor *t, onnx_value *v)
{
    if (!shape_of(r, t, &v->strings_shape)) return false;
    if ((uint64_t)eddy_shape_count(v->strings_shape) != t->count)
        return eddy__onnx_error(r, EDDY_CORRUPT,
                                "tensor '%s' does not have as many elements as its shape", t->name);
    v->strings = t->strings;
    v->count = (int)t->count;
    return true;
}

onnx_value *eddy__onnx_tensor_value(onnx_reader *r, onnx_tensor *t)
{
    onnx_value *v = new_value(r);
    if (!v) return NULL;
    *v = (onnx_value){ .kind = ONNX_TENSOR, .constant = true, .type = t->type, .weight = t->name };
    if (t->type == ONNX_STRING) return strings(r, t, v) ? v : NULL;
    v->array = eddy__onnx_elements(r, t);
    return v->array ? v : NULL;
}

/* Indices are positions, or one row of coordinates for each value. */
static bool scatter(onnx_reader *r, const onnx_sparse *t, const eddy_array *values,
                    const eddy_array *indices, eddy_array *dense)
{
    const int64_t  n = eddy_array_count(values), rank = (int64_t)t->rank;
    const int64_t *at = eddy_array_data(indices);
    const bool     rows = eddy_array_shape(indices).rank == 2;
    const size_t   size = eddy_dtype_size(eddy_array_dtype(values));
    if (eddy_array_dtype(indices) != EDDY_INT64 ||
        eddy_array_count(indices) != n * (rows ? rank : 1))
        return eddy__onnx_error(r, EDDY_CORRUPT, "sparse tensor '%s' has wrong indices",
                                t->values.name);
    for (int64_t i = 0; i < n; i++) {
        int64_t to = rows ? 0 : at[i];
        bool    inside = true;
        for (int64_t k = 0; rows && k < rank; k++) {
            inside = inside && at[i * rank + k] >= 0 && at[i * rank + k] < t->dims[k];
            to = inside ? to * t->dims[k] + at[i * rank + k] : 0;
        }
        if (!inside || to < 0 || to >= eddy_array_count(dense))
            return eddy__onnx_error(r, EDDY_CORRUPT, "sparse tensor '%s' has an index out of range",
                                    t->values.name);
        memcpy((char *)eddy_array_data(dense) + (size_t)to * size,
               (char *)eddy_array_data(values) + (size_t)i * size, size);
    }
    return true;
}

onnx_value *eddy__onnx_sparse_value(onnx_reader *r, onnx_sparse *t)
{
    onnx_tensor like = t->values;
    like.dims = t->dims;
    like.rank = t->rank;
    eddy_shape        shape;
    const eddy_array *values = eddy__onnx_elements(r, &t->values);
    const eddy_array *indices = values ? eddy__onnx_elements(r, &t->indices) : NULL;
    onnx_value       *v = indices ? new_value(r) : NULL;
    if (!v || !shape_of(r, &like, &shape)) return NULL;
    *v = (onnx_value){ .kind = ONNX_TENSOR, .constant = true, .type = t->values.type,
                       .weight = t->values.name };
    v->array = eddy_array_new(eddy_array_dtype(values), shape);
    if (!eddy__reading_keep(&r->base, v->array) || !scatter(r, t, values, indices, v->array))
        return NULL;
    return v;
}
