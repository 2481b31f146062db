/* batch_join.c -- records of different shapes as a batch: each is extended at its end, on every
 * axis, to the largest. */
#include "internal.h"

#include <string.h>

bool eddy__batch_components(eddy_dataset *batch, const eddy_dataset *d, int64_t size, bool padded,
                            bool lengths, const char *who)
{
    eddy_component c[EDDY_MAX_COMPONENTS + 1];
    for (int i = 0; i < d->n; i++) {
        eddy_shape s = d->components[i].shape;
        c[i].dtype = d->components[i].dtype;
        c[i].shape = (eddy_shape){ .rank = EDDY_UNKNOWN_RANK };
        if (s.rank == EDDY_MAX_RANK)
            return eddy__dataset_fail(batch, EDDY_BAD_SHAPE,
                                      "%s: component %d has %d dimensions already", who, i,
                                      EDDY_MAX_RANK);
        if (s.rank < 0) continue;
        c[i].shape.rank = s.rank + 1;
        c[i].shape.dim[0] = size;
        memcpy(c[i].shape.dim + 1, s.dim, (size_t)s.rank * sizeof *s.dim);
    }
    if (lengths && (!padded || d->n == EDDY_MAX_COMPONENTS))
        return eddy__dataset_fail(batch, EDDY_INVALID_ARGUMENT, "%s: lengths need %s", who,
                                  padded ? "one more component" : ".padded");
    if (lengths && d->components[0].shape.rank == 0)
        return eddy__dataset_fail(batch, EDDY_BAD_SHAPE, "%s: component 0 has no length", who);
    if (lengths)
        c[d->n] = (eddy_component){ EDDY_INT64, { .rank = 1, .dim = { size } } };
    return eddy__set_components(batch, c, d->n + lengths, who);
}

/* The elements of a smaller array, in the corner of a larger one, row by row. */
static void place(char *to, eddy_shape large, const char *from, eddy_shape small, size_t size)
{
    int64_t index[EDDY_MAX_RANK] = { 0 };
    if (eddy_shape_count(small) == 0) return;
    if (small.rank == 0) {
        memcpy(to, from, size);
        return;
    }
    const size_t row = (size_t)small.dim[small.rank - 1] * size;
    for (;;) {
        int64_t at = 0;
        for (int k = 0; k < small.rank; k++) at = at * large.dim[k] + index[k];
        memcpy(to + (size_t)at * size, from, row);
        from += row;
        int k = small.rank - 2;
        while (k >= 0 && ++index[k] == small.dim[k]) index[k--] = 0;
        if (k < 0) return;
    }
}

/* The padding as an element of the type, repeated. */
static void pad(char *to, int64_t count, eddy_dtype dtype, double value)
{
    eddy_array_room   room;
    const eddy_array *a = eddy_array_number(&room, dtype, value);
    const size_t      size = eddy_dtype_size(dtype);
    if (value == 0) memset(to, 0, (size_t)count * size);
    else
        for (int64_t i = 0; i < count; i++) memcpy(to + (size_t)i * size, eddy_array_data(a), size);
}

/* The smallest shape that holds component k of all records. */
static bool largest(eddy_record *const *records, int64_t n, int k, eddy_record *out, eddy_shape *s)
{
    *s = records[0]->slots[k].shape;
    for (int64_t i = 1; i < n; i++) {
        const slot *one = &records[i]->slots[k];
        if (one->shape.rank != s->rank || one->dtype != records[0]->slots[k].dtype) {
            char a[240], b[240];
            const eddy_component x = { one->dtype, one->shape },
                                 y = { records[0]->slots[k].dtype, records[0]->slots[k].shape };
            return eddy__input_fail(
                out->error, EDDY_BAD_SHAPE,
                "dataset_batch: component %d of record %lld is %s; %s cannot be "
                "padded to it",
                k, (long long)records[i]->number, eddy__component_print(x, a, sizeof a),
                eddy__component_print(y, b, sizeof b));
        }
        for (int axis = 0; axis < s->rank; axis++)
            if (one->shape.dim[axis] > s->dim[axis]) s->dim[axis] = one->shape.dim[axis];
    }
    return true;
}

static bool join(eddy_record *const *records, int64_t n, int k, double padding, eddy_record *out)
{
    const eddy_dtype dtype = records[0]->slots[k].dtype;
    const size_t     size = eddy_dtype_size(dtype);
    eddy_shape       one, all = { 0 };
    if (!largest(records, n, k, out, &one)) return false;
    if (one.rank == EDDY_MAX_RANK)
        return eddy__input_fail(out->error, EDDY_BAD_SHAPE,
                                "dataset_batch: component %d has %d dimensions already", k,
                                EDDY_MAX_RANK);
    all.rank = one.rank + 1;
    all.dim[0] = n;
    memcpy(all.dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
    char *to = eddy_record_make(out, k, dtype, all);
    if (!to) return false;
    const int64_t count = eddy_shape_count(one);
    for (int64_t i = 0; i < n; i++, to += (size_t)count * size) {
        const slot *s = &records[i]->slots[k];
        if (!eddy_shape_equal(s->shape, one)) pad(to, count, dtype, padding);
        place(to, one, s->at, s->shape, size);
    }
    return true;
}

bool eddy__join_padded(eddy_record *const *records, int64_t n, double padding, bool lengths,
                       eddy_record *out)
{
    const int components = records[0]->n;
    out->epoch = records[0]->epoch;
    out->number = records[0]->number;
    for (int k = 0; k < components; k++)
        if (!join(records, n, k, padding, out)) return false;
    if (!lengths) return true;
    int64_t *to = eddy_record_make(out, components, EDDY_INT64, EDDY_SHAPE(n));
    for (int64_t i = 0; to && i < n; i++) {
        const eddy_shape s = records[i]->slots[0].shape;
        if (s.rank == 0)
            return eddy__input_fail(out->error, EDDY_BAD_SHAPE,
                                    "dataset_batch: component 0 has no length");
        to[i] = s.dim[0];
    }
    return to != NULL;
}
