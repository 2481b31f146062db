/* weights.c -- the elements of constants: of protobuf, and of the manifest of TensorFlow.js. */
#include "reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- protobuf -- */

static bool is_complex(int type) { return type == TF_COMPLEX64 || type == TF_COMPLEX128; }

static bool same_bytes(int type)
{
    return eddy__element_is_same(eddy__tf_stored(type), eddy__tf_bits(type));
}

/* The elements as they are written: the last one stands for all that follow; none are zeros. */
static eddy_array *converted(const tf_tensor *t)
{
    eddy_array   *a = eddy_array_new(eddy__tf_stored(t->type), t->shape);
    const int     bits = eddy__tf_bits(t->type), parts = is_complex(t->type) ? 2 : 1;
    const int64_t count = eddy_shape_count(t->shape) * parts;
    wire_numbers  numbers = t->numbers;
    uint64_t     last[2] = { 0, 0 };    /* the parts of an element */
    if (!t->has_content && t->count == 0) return a;
    for (int64_t i = 0; a && i < count; i++) {
        uint64_t *v = &last[i % parts];
        if (t->has_content) *v = eddy__element_bits(t->content, bits, i);
        else if (i < (int64_t)t->count) eddy__wire_next_number(&numbers, v);
        eddy__tf_store(a, t->type, i, *v);
    }
    return a;
}

/* A constant may have fewer elements in the file than in its shape, so that a short file could ask
 * for any amount of memory. */
static bool repeats_few(tf_reader *r, const char *name, const tf_tensor *t, int64_t count)
{
    const int64_t size = (int64_t)eddy_dtype_size(eddy__tf_stored(t->type));
    const int64_t parts = is_complex(t->type) ? 2 : 1, written = (int64_t)t->count / parts;
    const int64_t more = t->has_content ? 0 : count - written;
    if (more > (TF_MAX_REPEATED - r->repeated) / size) {
        eddy__tf_error(r, EDDY_LIMIT,
                       "constant '%s' has %lld elements, %lld of them in the file; all constants "
                       "together may leave out %d MiB", name,
                       (long long)count, (long long)written, TF_MAX_REPEATED >> 20);
        return false;
    }
    r->repeated += more * size;
    return true;
}

eddy_array *eddy__tf_elements(tf_reader *r, const char *name, tf_tensor *t)
{
    if (t->array) return t->array;
    const int bits = eddy__tf_bits(t->type);
    if (bits == 0) {
        eddy__tf_error(r, EDDY_UNIMPLEMENTED, "constant '%s' has elements of type %s", name,
                       eddy__tf_type_name(t->type));
        return NULL;
    }
    if (t->rank > EDDY_MAX_RANK) {
        eddy__tf_error(r, EDDY_LIMIT, "constant '%s' has rank %d; the limit is %d", name, t->rank,
                       EDDY_MAX_RANK);
        return NULL;
    }
    const int64_t parts = is_complex(t->type) ? 2 : 1, elements = eddy_shape_count(t->shape);
    if (!eddy_shape_is_valid(t->shape) || elements < 0) {
        eddy__tf_error(r, EDDY_CORRUPT, "constant '%s' has no valid shape", name);
        return NULL;
    }
    const int64_t count = elements * parts;
    if (t->has_content ? t->content.size != (uint64_t)count * (uint64_t)(bits / 8)
                       : t->count > (uint64_t)count || t->count % (uint64_t)parts) {
        eddy__tf_error(r, EDDY_CORRUPT, "constant '%s' does not have as many elements as its shape",
                       name);
        return NULL;
    }
    if (!repeats_few(r, name, t, elements)) return NULL;
    eddy_array *a =
        t->has_content && same_bytes(t->type)
            ? eddy__source_array(r->base.file, t->content, eddy__tf_stored(t->type), t->shape)
            : converted(t);
    return eddy__reading_keep(&r->base, a) ? t->array = a : NULL;
}

/* ----------------------------------------------------------- TensorFlow.js -- */

int eddy__tf_weight_bits(const char *dtype)
{
    if (strcmp(dtype, "float32") == 0 || strcmp(dtype, "int32") == 0) return 32;
    if (strcmp(dtype, "float16") == 0 || strcmp(dtype, "uint16") == 0) return 16;
    if (strcmp(dtype, "uint8") == 0 || strcmp(dtype, "bool") == 0) return 8;
    return strcmp(dtype, "complex64") == 0 ? 64 : 0;
}

static int type_named(const char *dtype)
{
    return strcmp(dtype, "float32") == 0     ? TF_FLOAT
           : strcmp(dtype, "int32") == 0     ? TF_INT32
           : strcmp(dtype, "bool") == 0      ? TF_BOOL
           : strcmp(dtype, "uint8") == 0     ? TF_UINT8
           : strcmp(dtype, "complex64") == 0 ? TF_COMPLEX64 : TF_NO_TYPE;
}

/* Quantized: 8 or 16 bits with a scale and a smallest value, in double precision as in
 * JavaScript; or float16. */
static eddy_array *dequantized(const tf_weight *w, int type, wire_bytes b, int64_t count)
{
    const int       bits = eddy__tf_weight_bits(w->stored);
    const tf_tensor half = { .type = TF_HALF, .shape = w->shape, .content = b,
                             .has_content = true };
    if (strcmp(w->stored, "float16") == 0) return converted(&half);
    eddy_array *a = eddy_array_new(eddy__tf_dtype(type), w->shape);
    for (int64_t i = 0; a && i < count; i++) {
        const double v = (double)eddy__element_bits(b, bits, i) * w->scale + w->min;
        eddy_array_set(a, i, type == TF_INT32 ? floor(v + 0.5) : v);
    }
    return a;
}

/* It is inside the files of its group, since open_model.c has placed it. */
static eddy_array *weight_array(tf_reader *r, const tf_weight *w)
{
    const int  type = type_named(w->dtype);
    const char *stored = w->stored ? w->stored : w->dtype;
    const int  bits = eddy__tf_weight_bits(stored);
    if (type == TF_NO_TYPE ||
        (w->stored &&
         (strcmp(stored, "bool") == 0 || bits > 16 ||
          (type != TF_FLOAT && (type != TF_INT32 || strcmp(stored, "float16") == 0))))) {
        eddy__tf_error(r, EDDY_UNIMPLEMENTED, "weight '%s' has elements of type %s", w->name,
                       stored);
        return NULL;
    }
    const wire_bytes group = eddy__source_bytes(r->groups[w->group]);
    const int64_t    count = eddy_shape_count(w->shape);
    const wire_bytes b = { group.at + w->offset, (size_t)count * (size_t)(bits / 8) };
    if (w->stored) return dequantized(w, type, b, count);
    if (same_bytes(type))
        return eddy__source_array(r->groups[w->group], b, eddy__tf_stored(type), w->shape);
    const tf_tensor t = { .type = type, .shape = w->shape, .content = b, .has_content = true };
    return converted(&t);
}

static int by_name(const void *name, const void *weight)
{
    return strcmp(name, ((const tf_weight *)weight)->name);
}

/* The manifest has been sorted by name. */
eddy_array *eddy__tf_weight(tf_reader *r, const char *name)
{
    const tf_manifest *m = &r->manifest;
    tf_weight         *w =
        m->n_weights ? bsearch(name, m->weights, m->n_weights, sizeof *w, by_name) : NULL;
    if (!w || w->array || strcmp(w->dtype, "string") == 0) return w ? w->array : NULL;
    w->array = weight_array(r, w);
    if (r->base.failed || !eddy__reading_keep(&r->base, w->array)) w->array = NULL;
    return w->array;
}
