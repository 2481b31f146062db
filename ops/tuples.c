/* tuples.c -- see tuples.h. */
#include "ops/tuples.h"

#include <string.h>

const eddy_attr_field eddy_tuples_fields[] = {
    { "batch_dims", EDDY_ATTR_INT, offsetof(eddy_tuples_attrs, batch_dims) },
    { NULL, EDDY_ATTR_END, 0 },
};

/* ---------------------------------------------------------------- shapes -- */

/* The leading dimensions that both have agree. */
static bool batches_fit(eddy_infer *c, int own, eddy_shape params, eddy_shape indices)
{
    char p[128], i[128];
    for (int d = 0; d < own; d++)
        if (!eddy_dim_unify(&params.dim[d], indices.dim[d]))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "the batches of %s and of the indices %s differ",
                                   eddy_shape_print(params, p, sizeof p),
                                   eddy_shape_print(indices, i, sizeof i));
    return true;
}

bool eddy_infer_tuples(eddy_infer *c, eddy_shape params, eddy_shape *out)
{
    const eddy_tuples_attrs *a = c->attrs;
    const eddy_shape         indices = c->in[1].shape;
    *out = EDDY_UNKNOWN_SHAPE;
    if (!eddy_infer_indices(c, 1)) return false;
    if (indices.rank == 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the indices are a scalar, not tuples");
    if (a->batch_dims < 0 || (indices.rank > 0 && a->batch_dims >= indices.rank))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "batch_dims = %lld in rank %d",
                               (long long)a->batch_dims, indices.rank);
    if (params.rank < 0 || indices.rank < 0 || indices.dim[indices.rank - 1] == EDDY_ANY)
        return true;
    const int64_t depth = indices.dim[indices.rank - 1], own = a->batch_dims;
    if (depth > params.rank - own)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "tuples of %lld indices for %lld dimensions",
                               (long long)depth, (long long)(params.rank - own));
    if (!batches_fit(c, (int)own, params, indices)) return false;
    const int left = (int)(own + depth), rank = indices.rank - 1 + params.rank - left;
    if (rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d, above %d", rank,
                               EDDY_MAX_RANK);
    out->rank = rank;
    for (int i = 0; i < rank; i++)
        out->dim[i] = i < indices.rank - 1 ? indices.dim[i]
                                           : params.dim[i - indices.rank + 1 + left];
    return true;
}

bool eddy_infer_tuple_rows(eddy_infer *c, int i, eddy_shape params)
{
    eddy_shape rows;
    char got[128], want[128];
    if (!eddy_infer_tuples(c, params, &rows)) return false;
    if (eddy_shape_compatible(rows, c->in[i].shape)) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the rows have the shape %s, but the indices name %s",
                           eddy_shape_print(c->in[i].shape, got, sizeof got),
                           eddy_shape_print(rows, want, sizeof want));
}

/* ---------------------------------------------------------------- places -- */

eddy_tuples eddy_tuples_of(eddy_shape params, const eddy_buffer *indices,
                           const eddy_tuples_attrs *a)
{
    const eddy_shape i = indices->type.shape;
    const int own = (int)a->batch_dims, depth = (int)i.dim[i.rank - 1];
    eddy_tuples l = { .batch = eddy_shape_product(params, 0, own), .depth = depth,
                      .count = eddy_shape_product(i, own, i.rank - 1), .places = 1,
                      .inner = eddy_shape_product(params, own + depth, params.rank),
                      .indices = indices };
    for (int d = depth - 1; d >= 0; d--) {
        l.dim[d] = params.dim[own + d];
        l.step[d] = l.places;
        l.places *= l.dim[d];
    }
    return l;
}

eddy_status eddy_check_tuples(eddy_kernel *k, const eddy_tuples *l)
{
    for (int64_t i = 0; i < l->indices->count; i++) {
        const int     d = (int)(i % l->depth);
        const int64_t v = eddy_index_at(l->indices, i);
        if (v < 0 || v >= l->dim[d])
            return eddy_kernel_fail(k, EDDY_OUT_OF_RANGE,
                                    "tuple %lld of the indices has %lld at %d, not in [0, %lld)",
                                    (long long)(i / l->depth), (long long)v, d,
                                    (long long)l->dim[d]);
    }
    return EDDY_OK;
}

/* ------------------------------------------------------------------ rows -- */

enum { COLUMNS = 16 };

typedef struct scattering {
    eddy_tuples l;
    const char *rows;
    char       *y;
    size_t      size;           /* of an element */
    eddy_row_fn combine;        /* NULL: a row replaces what was there */
} scattering;

/* Columns [from, to) of y, in units of COLUMNS: what comes to one place comes by one
 * thread, in the order of the tuples. */
static void scatter_columns(void *arg, int64_t from, int64_t to, int worker)
{
    const scattering *s = arg;
    const eddy_tuples *l = &s->l;
    const int64_t first = from * COLUMNS, end = to * COLUMNS < l->inner ? to * COLUMNS : l->inner;
    const int64_t n = end - first;
    (void)worker;
    for (int64_t t = 0; t < l->batch * l->count; t++) {
        const int64_t at = t / l->count * l->places + eddy_tuple_place(l, t);
        char       *y = s->y + (size_t)(at * l->inner + first) * s->size;
        const char *row = s->rows + (size_t)(t * l->inner + first) * s->size;
        if (s->combine) s->combine(n, y, row);
        else memcpy(y, row, (size_t)n * s->size);
    }
}

void eddy_tuples_put(const eddy_kernel *k, const eddy_tuples *l, const eddy_buffer *rows, void *y,
                     eddy_row_fn combine)
{
    enum { WORK = 1 << 16 };
    scattering s = { *l, rows->data, y, eddy_dtype_size(rows->type.dtype), combine };
    if (rows->count == 0) return;
    eddy_parallel(k, (l->inner + COLUMNS - 1) / COLUMNS,
                  WORK / (COLUMNS * (l->batch * l->count + 1)) + 1, scatter_columns, &s);
}
