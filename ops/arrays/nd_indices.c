/* nd_indices.c -- index tuples of gather_nd and scatter_nd; see nd_indices.h. */
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "ops/arrays/nd_indices.h"

#include <string.h>

const eddy_attr_field eddy__tuples_fields[] = EDDY_FIELDS(eddy_tuples_attrs, batch_dims);

/* ---------------------------------------------------------------- shapes -- */

/* Checks that the leading dimensions of both agree. */
static bool batches_fit(eddy_infer *c, int own, eddy_shape params, eddy_shape indices)
{
    char p[128], i[128];
    for (int d = 0; d < own; d++)
        if (!eddy__dim_unify(&params.dim[d], indices.dim[d]))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "the batch dimensions of %s and of the indices %s differ",
                                   eddy_shape_print(params, p, sizeof p),
                                   eddy_shape_print(indices, i, sizeof i));
    return true;
}

bool eddy__infer_tuples(eddy_infer *c, eddy_shape params, eddy_shape *out)
{
    const eddy_tuples_attrs *a = c->attrs;
    const eddy_shape         indices = c->in[1].shape;
    *out = EDDY_UNKNOWN_SHAPE;
    if (a->batch_dims < 0 || (indices.rank > 0 && a->batch_dims >= indices.rank))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "batch_dims = %lld is out of range for rank %d",
                               (long long)a->batch_dims, indices.rank);
    if (params.rank < 0 || indices.rank < 0 || indices.dim[indices.rank - 1] == EDDY_ANY)
        return true;
    const int64_t depth = indices.dim[indices.rank - 1], own = a->batch_dims;
    if (depth > params.rank - own)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of entries of an index tuple is %lld; expected at most "
                               "%lld",
                               (long long)depth, (long long)(params.rank - own));
    if (!batches_fit(c, (int)own, params, indices)) return false;
    const int left = (int)(own + depth), rank = indices.rank - 1 + params.rank - left;
    if (rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               rank, EDDY_MAX_RANK);
    out->rank = rank;
    for (int i = 0; i < rank; i++)
        out->dim[i] = i < indices.rank - 1 ? indices.dim[i]
                                           : params.dim[i - indices.rank + 1 + left];
    return true;
}

bool eddy__infer_tuple_rows(eddy_infer *c, int i, eddy_shape params)
{
    eddy_shape rows;
    char got[128], want[128];
    if (!eddy__infer_tuples(c, params, &rows)) return false;
    if (eddy_shape_compatible(rows, c->in[i].shape)) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "the rows have shape %s; expected %s for these indices",
                           eddy_shape_print(c->in[i].shape, got, sizeof got),
                           eddy_shape_print(rows, want, sizeof want));
}

/* ---------------------------------------------------------------- tuples -- */

eddy_tuples eddy__tuples_of(eddy_shape params, const eddy_buffer *indices,
                            const eddy_tuples_attrs *a)
{
    const eddy_shape i = indices->type.shape;
    const int own = (int)a->batch_dims, depth = (int)i.dim[i.rank - 1];
    eddy_tuples l = { .batch = eddy__shape_product(params, 0, own), .depth = depth,
                      .count = eddy__shape_product(i, own, i.rank - 1), .places = 1,
                      .inner = eddy__shape_product(params, own + depth, params.rank),
                      .indices = indices };
    for (int d = depth - 1; d >= 0; d--) {
        l.dim[d] = params.dim[own + d];
        l.step[d] = l.places;
        l.places *= l.dim[d];
    }
    return l;
}

/* Whether all n indices are in [0, limit). */
static bool all_below(const int32_t *at, int64_t n, int64_t limit)
{
    const uint32_t bound = limit > INT32_MAX ? 1u << 31 : (uint32_t)limit;
    uint32_t       beyond = 0;
    for (int64_t i = 0; i < n; i++) beyond |= (uint32_t)at[i] >= bound;
    return beyond == 0;
}

/* Checks tuples [from, to). */
static eddy_status check_part(eddy_kernel *k, const eddy_tuples *l, int64_t from, int64_t to)
{
    if (l->depth == 1 && l->indices->type.dtype == EDDY_INT32 &&
        all_below((const int32_t *)l->indices->data + from, to - from, l->dim[0]))
        return EDDY_OK;
    for (int64_t t = from, i = from * l->depth; t < to; t++)
        for (int d = 0; d < l->depth; d++, i++) {
            const int64_t v = eddy__index_at(l->indices, i);
            if (v < 0 || v >= l->dim[d])
                return eddy_kernel_fail(
                    k, EDDY_OUT_OF_RANGE,
                    "tuple %lld of the indices has %lld at position %d, which is not in [0, %lld)",
                    (long long)t, (long long)v, d, (long long)l->dim[d]);
        }
    return EDDY_OK;
}

eddy_status eddy__check_tuples(eddy_kernel *k, const eddy_tuples *l)
{
    enum { PART = 1 << 16 };
    const int64_t n = l->depth > 0 ? l->indices->count / l->depth : 0;
    eddy_status   s = EDDY_OK;
    for (int64_t from = 0; from < n && s == EDDY_OK; from += PART) {
        if (eddy__stopped(k->stop))
            return eddy_kernel_fail(k, eddy_kernel_stopped(k),
                                    "the run was stopped while the indices were checked");
        s = check_part(k, l, from, eddy__min(from + PART, n));
    }
    return s;
}

/* ------------------------------------------------------------------ rows -- */

enum { COLUMNS = 16 };

typedef struct scattering {
    eddy_tuples l;
    const char *rows;
    char       *y;
    size_t      size;           /* of an element */
    const eddy_stop *stop;
    eddy_row_fn combine;        /* NULL: a row replaces what was there */
} scattering;

/* A call of memcpy would take longer than the work for a single element. */
static inline void put_row(eddy_row_fn combine, int64_t n, size_t size, char *y, const char *row)
{
    const size_t bytes = (size_t)n * size;
    if (combine) combine(n, y, row);
    else if (bytes == 4) memcpy(y, row, 4);
    else if (bytes == 8) memcpy(y, row, 8);
    else memcpy(y, row, bytes);
}

/* Columns [from, to) of y, in units of COLUMNS: one thread makes all updates of an element, in
 * the order of the tuples.  Local copies need not be reloaded after each store. */
static void scatter_columns(void *arg, int64_t from, int64_t to, int worker)
{
    const scattering   s = *(const scattering *)arg;
    const eddy_buffer  indices = *s.l.indices;
    eddy_tuples        l = s.l;
    const int64_t first = from * COLUMNS, end = to * COLUMNS < l.inner ? to * COLUMNS : l.inner;
    (void)worker;
    l.indices = &indices;
    const int64_t turns = eddy__turns_per_look(end - first);
    for (int64_t b = 0, t = 0; b < l.batch; b++)
        for (int64_t i = 0; i < l.count && !eddy__stopped(s.stop);)
            for (const int64_t last = eddy__min(l.count, i + turns); i < last; i++, t++) {
                const int64_t at = b * l.places + eddy__tuple_place(&l, t);
                put_row(s.combine, end - first, s.size,
                        s.y + (size_t)(at * l.inner + first) * s.size,
                        s.rows + (size_t)(t * l.inner + first) * s.size);
            }
}

/* The same for single elements of 4 bytes, each with one int32 index: the most common case. */
static bool put_words(const scattering *s)
{
    const eddy_tuples *l = &s->l;
    if (s->combine || s->size != 4 || l->inner != 1 || l->depth != 1 ||
        l->indices->type.dtype != EDDY_INT32)
        return false;
    const int32_t  *at = l->indices->data;
    const uint32_t *row = (const uint32_t *)s->rows;
    uint32_t       *y = (uint32_t *)s->y;
    const int64_t   n = l->count, places = l->places;
    for (int64_t b = 0; b < l->batch; b++, y += places, at += n, row += n)
        for (int64_t i = 0; i < n; i++) y[at[i]] = row[i];
    return true;
}

void eddy__tuples_put(const eddy_kernel *k, const eddy_tuples *l, const eddy_buffer *rows, void *y,
                      eddy_row_fn combine)
{
    enum { WORK = 1 << 16 };
    scattering s = { *l, rows->data, y, eddy_dtype_size(rows->type.dtype), k->stop,
                     combine };
    if (rows->count == 0 || put_words(&s)) return;
    eddy_parallel(k, (l->inner + COLUMNS - 1) / COLUMNS,
                           WORK / (COLUMNS * (l->batch * l->count + 1)) + 1, scatter_columns, &s);
}
