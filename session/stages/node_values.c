/* node_values.c -- values of nodes that run one by one. */
#include "session/stages/node_values.h"
#include "graph/base/new_array.h"

#include <string.h>

node_value eddy__value_of_array(eddy_array *a)
{
    node_value v = { .array = a };
    if (a) v.type = (eddy_type){ eddy_array_dtype(a), eddy_array_shape(a) };
    return v;
}

node_value eddy__value_retain(const node_value *v)
{
    if (v->rows) v->rows->references++;
    return (node_value){ v->type, v->array ? eddy_array_retain(v->array) : NULL, v->rows };
}

static void free_base(void *base, void *data)
{
    (void)data;
    eddy_array_free(base);
}

eddy_array *eddy__array_reshaped(eddy_array *a, eddy_shape shape)
{
    if (eddy_shape_equal(eddy_array_shape(a), shape)) return eddy_array_retain(a);
    eddy_array *v =
        eddy_array_adopt(eddy_array_dtype(a), shape, eddy_array_data(a), free_base, a);
    if (v) eddy_array_retain(a);
    return v;
}

static void free_rows(row_list *l)
{
    if (!l || --l->references > 0) return;
    const eddy_allocator a = l->allocator;
    for (int64_t i = 0; i < l->n; i++) eddy__value_free(&l->at[i]);
    eddy__release(&a, l->at, (size_t)l->room * sizeof *l->at);
    eddy__release(&a, l, sizeof *l);
}

void eddy__value_free(node_value *v) { eddy__value_free_late(v, NULL); }

void eddy__value_free_late(node_value *v, const eddy_stop *stop)
{
    eddy__array_free_late(v->array, stop);
    free_rows(v->rows);
    v->array = NULL;
    v->rows = NULL;
}

row_list *eddy__rows_new(const eddy_allocator *a)
{
    row_list *l = eddy__allocate_zeroed(a, 1, sizeof *l);
    if (l) *l = (row_list){ .references = 1, .allocator = *a };
    return l;
}

bool eddy__rows_set(row_list *l, int64_t i, node_value row)
{
    if (i >= l->room) {
        int64_t room = l->room > 0 ? 2 * l->room : 16;
        if (room <= i) room = i + 1;
        if (!eddy__grow(&l->allocator, (void **)&l->at, (size_t)l->room, (size_t)room,
                        sizeof *l->at)) {
            eddy__value_free(&row);
            return false;
        }
        l->room = room;
    }
    eddy__value_free(&l->at[i]);
    l->at[i] = row;
    if (i >= l->n) l->n = i + 1;
    return true;
}

/* Unknown dimensions of a stack without rows are 0. */
static eddy_type stack_type(const row_list *l, eddy_type row)
{
    eddy_type t = { row.dtype, { .rank = 1 } };
    if (eddy__rows_have(l, 0)) row.shape = l->at[0].type.shape;
    t.shape.dim[0] = l->total;
    for (int d = 0; d < row.shape.rank && d < EDDY_MAX_RANK - 1; d++)
        t.shape.dim[t.shape.rank++] = row.shape.dim[d] < 0 ? 0 : row.shape.dim[d];
    return t;
}

static bool rows_agree(const row_list *l, const char *name, eddy_error *error)
{
    char one[100], other[100];
    for (int64_t i = 0; i < l->n; i++) {
        const eddy_shape a = l->at[0].type.shape, b = l->at[i].type.shape;
        if (l->at[i].array && eddy_shape_equal(a, b)) continue;
        return eddy__error_set(error, EDDY_BAD_SHAPE,
                               "the rows of a stack differ in shape: %s in row 0 and %s in row "
                               "%lld; only loops read such rows [stacks of '%.200s']",
                               eddy_shape_print(a, one, sizeof one),
                               eddy_shape_print(b, other, sizeof other), (long long)i, name);
    }
    return true;
}

eddy_array *eddy__rows_stack(const row_list *l, eddy_type row, const eddy_allocator *a,
                             const char *name, eddy_error *error)
{
    if (!rows_agree(l, name, error)) return NULL;
    const eddy_type t = stack_type(l, row);
    eddy_array     *y = eddy_array_new_in(a, t.dtype, t.shape);
    if (!y) return NULL;
    for (int64_t i = 0; i < l->n; i++) {
        const size_t bytes = eddy_array_bytes(l->at[i].array);
        if (bytes > 0)
            memcpy((char *)eddy_array_data(y) + (size_t)i * bytes, eddy_array_data(l->at[i].array),
                   bytes);
    }
    return y;
}
