/* rows_ops.c -- operations on the rows of a stack, which may differ in shape. */
#include "session/stages/rows_ops.h"
#include "ops/weak_ops.h"

#include <string.h>

static bool is_rowwise(const eddy_node *node)
{
    return node->op == &eddy_op_add_n || node->op == &eddy_op_identity ||
           node->op == &eddy_op_zeros_like;
}

/* The elements of all rows one after the other, as a matrix or a vector. */
static bool is_flat(const eddy_node *node)
{
    if (node->op != &eddy_op_reshape) return false;
    const eddy_shape s = *(const eddy_shape *)node->attrs;
    for (int d = 1; d < s.rank; d++)
        if (s.dim[d] < 0) return false;
    return s.rank >= 1 && s.dim[0] < 0;
}

bool eddy__reads_rows(const eddy_node *node)
{
    return is_rowwise(node) || is_flat(node) || node->op == &eddy_op_reshape_like ||
           node->op == &eddy_op_shape_tensor;
}

bool eddy__yields_rows(const eddy_node *node, const bool in[2])
{
    return node->op == &eddy_op_reshape_like ? in[1] : is_rowwise(node) && (in[0] || in[1]);
}

bool eddy__stack_row(node_run *r, const node_value *v, int64_t i, const char *name, node_value *out)
{
    if (v->rows && eddy__rows_have(v->rows, i)) {
        *out = eddy__value_retain(&v->rows->at[i]);
        return true;
    }
    if (v->rows || i >= v->type.shape.dim[0])
        return eddy__error_set(r->error, EDDY_INTERNAL,
                               "row %lld of a stack has no value [node '%.200s']", (long long)i,
                               name);
    eddy_type t = { v->type.dtype, { .rank = v->type.shape.rank - 1 } };
    for (int d = 0; d < t.shape.rank; d++) t.shape.dim[d] = v->type.shape.dim[d + 1];
    eddy_array  *a = eddy_array_new_in(&r->allocator, t.dtype, t.shape);
    const size_t bytes = a ? eddy_array_bytes(a) : 0;
    if (!a) return eddy__node_run_full(r, name);
    if (bytes > 0)
        memcpy(eddy_array_data(a), (char *)eddy_array_data(v->array) + (size_t)i * bytes, bytes);
    *out = eddy__value_of_array(a);
    return true;
}

/* -------------------------------------------------------------- row by row -- */

static bool each_row(node_run *r, const eddy_graph *g, const eddy_node *node, const node_value *in,
                     node_value *out, uint64_t step);

/* Row i of the result, from rows in b, which are of equal shapes. */
static eddy_array *compute_row(node_run *r, const eddy_graph *g, const eddy_node *node,
                               eddy_buffer *b, uint64_t step)
{
    const eddy_type t = { node->outputs[0].dtype, b[0].type.shape };
    char            one[120], other[120];
    for (int k = 1; k < node->n_inputs; k++) {
        if (eddy_shape_equal(b[k].type.shape, t.shape)) continue;
        eddy__error_set(r->error, EDDY_BAD_SHAPE,
                        "%s: rows of stacks differ in shape: %s and %s [node '%.200s']",
                        node->op->name, eddy_type_print(b[0].type, one, sizeof one),
                        eddy_type_print(b[k].type, other, sizeof other), node->name);
        return NULL;
    }
    eddy_array *y = eddy_array_new_in(&r->allocator, t.dtype, t.shape);
    if (!y) {
        eddy__node_run_full(r, node->name);
        return NULL;
    }
    if (node->op == &eddy_op_zeros_like || eddy_array_bytes(y) == 0) return y;
    b[node->n_inputs] = eddy__buffer_of(t, eddy_array_data(y));
    r->plan.error = (eddy_error){ 0 };
    if (eddy__run_single_op(&r->plan, g, node, b, step, r->error)) return y;
    eddy_array_free(y);
    return NULL;
}

/* Row i of the result from those of the inputs, which may be stacks themselves. */
static bool row_of_rows(node_run *r, const eddy_graph *g, const eddy_node *node,
                        const node_value *rows, eddy_buffer *b, node_value *y, uint64_t step)
{
    bool nested = false;
    for (int k = 0; k < node->n_inputs; k++) {
        nested = nested || rows[k].rows;
        b[k] = eddy__buffer_of(rows[k].type, eddy_array_data(rows[k].array));
    }
    if (node->op == &eddy_op_identity) *y = eddy__value_retain(&rows[0]);
    else if (nested) return each_row(r, g, node, rows, y, step);
    else *y = eddy__value_of_array(compute_row(r, g, node, b, step));
    return y->array || y->rows;
}

static bool run_row(node_run *r, const eddy_graph *g, const eddy_node *node, const node_value *in,
                    int64_t i, row_list *to, uint64_t step)
{
    const size_t n = (size_t)node->n_inputs;
    node_value   y = { 0 };
    node_value  *rows = eddy__allocate_zeroed(&r->session->allocator, n, sizeof *rows);
    eddy_buffer *b = eddy__allocate(&r->session->allocator, (n + 1) * sizeof *b);
    bool         ok = rows && b ? true : eddy__node_run_full(r, node->name);
    for (size_t k = 0; ok && k < n; k++)
        ok = eddy__stack_row(r, &in[k], i, node->name, &rows[k]);
    ok = ok && row_of_rows(r, g, node, rows, b, &y, step);
    for (size_t k = 0; rows && k < n; k++) eddy__value_free(&rows[k]);
    eddy__release(&r->session->allocator, rows, n * sizeof *rows);
    eddy__release(&r->session->allocator, b, (n + 1) * sizeof *b);
    eddy__arena_free(&r->plan.arena);
    return ok && (eddy__rows_set(to, i, y) || eddy__node_run_full(r, node->name));
}

/* Rows that were written in all inputs. */
static int64_t written_rows(const eddy_node *node, const node_value *in)
{
    int64_t n = INT64_MAX;
    for (int k = 0; k < node->n_inputs; k++) {
        const int64_t rows = in[k].rows ? in[k].rows->n : in[k].type.shape.dim[0];
        if (rows < n) n = rows;
    }
    return n;
}

static row_list *new_rows(node_run *r, const eddy_node *node, const node_value *like,
                          node_value *out)
{
    row_list *l = eddy__rows_new(&r->allocator);
    if (!l) {
        eddy__node_run_full(r, node->name);
        return NULL;
    }
    l->total = like->rows ? like->rows->total : like->type.shape.dim[0];
    *out = (node_value){ .type = { node->outputs[0].dtype, EDDY_UNKNOWN_SHAPE }, .rows = l };
    return l;
}

static bool each_row(node_run *r, const eddy_graph *g, const eddy_node *node, const node_value *in,
                     node_value *out, uint64_t step)
{
    row_list *to = new_rows(r, node, &in[0], out);
    bool      ok = to != NULL;
    const int64_t n = written_rows(node, in);
    for (int64_t i = 0; ok && i < n; i++) ok = run_row(r, g, node, in, i, to, step);
    return ok;
}

/* ---------------------------------------------------------- all rows as one -- */

/* The elements of all rows, which may be stacks themselves. Where the rows agree in shape, the
 * stack is an ordinary one, whose rows that no iteration wrote are 0. False if there are too
 * many. */
static bool count_elements(const row_list *rows, int64_t *count)
{
    bool    agree = rows->n > 0, fits = true;
    int64_t n = 0;
    for (int64_t i = 0; fits && i < rows->n; i++) {
        const node_value *row = &rows->at[i];
        int64_t           in_row = eddy_array_count(row->array);
        if (!row->array) fits = count_elements(row->rows, &in_row);
        agree = agree && row->array && eddy_shape_equal(row->type.shape, rows->at[0].type.shape);
        fits = fits && !__builtin_add_overflow(n, in_row, &n);
    }
    if (fits && agree)
        fits = !__builtin_mul_overflow(rows->total, eddy_array_count(rows->at[0].array), &n);
    *count = n;
    return fits;
}

/* Copies count_elements elements to `to`. */
static void copy_elements(const row_list *rows, size_t size, char *to)
{
    for (int64_t i = 0, n = 0; i < rows->n; i++, to += (size_t)n * size) {
        const eddy_array *row = rows->at[i].array;
        n = eddy_array_count(row);
        if (!row && count_elements(rows->at[i].rows, &n))
            copy_elements(rows->at[i].rows, size, to);
        if (row && n > 0) memcpy(to, eddy_array_data(row), (size_t)n * size);
    }
}

static bool flatten(node_run *r, const eddy_node *node, const row_list *rows, eddy_shape shape,
                    node_value *out)
{
    int64_t count, width = 1;
    if (!count_elements(rows, &count)) return eddy__node_run_full(r, node->name);
    for (int d = 1; d < shape.rank; d++) width *= shape.dim[d];
    if (shape.dim[0] < 0) shape.dim[0] = width > 0 ? count / width : 0;
    if (eddy_shape_count(shape) != count)
        return eddy__error_set(r->error, EDDY_BAD_SHAPE,
                               "%s: %lld elements of the rows of a stack do not fit the shape "
                               "[node '%.200s']", node->op->name, (long long)count, node->name);
    eddy_array *y = eddy_array_new_in(&r->allocator, node->outputs[0].dtype, shape);
    if (!y) return eddy__node_run_full(r, node->name);
    copy_elements(rows, eddy_dtype_size(node->outputs[0].dtype), eddy_array_data(y));
    *out = eddy__value_of_array(y);
    return true;
}

/* The elements from `from` on as rows of the shapes of `like`. */
static bool fill_rows(node_run *r, const eddy_node *node, const char *from, const node_value *like,
                      node_value *out)
{
    const eddy_dtype dtype = node->outputs[0].dtype;
    row_list        *to = new_rows(r, node, like, out);
    bool             ok = to != NULL;
    int64_t          n = 0;
    for (int64_t i = 0; ok && i < like->rows->n; i++, from += (size_t)n * eddy_dtype_size(dtype)) {
        const node_value *as = &like->rows->at[i];
        node_value        row = { 0 };
        if (!as->array) {
            ok = count_elements(as->rows, &n) && fill_rows(r, node, from, as, &row);
        } else {
            row = eddy__value_of_array(eddy_array_new_in(&r->allocator, dtype, as->type.shape));
            n = eddy_array_count(row.array);
            ok = row.array || eddy__node_run_full(r, node->name);
            if (ok && n > 0)
                memcpy(eddy_array_data(row.array), from, eddy_array_bytes(row.array));
        }
        ok = (eddy__rows_set(to, i, row) || eddy__node_run_full(r, node->name)) && ok;
    }
    return ok;
}

static bool unflatten(node_run *r, const eddy_node *node, const eddy_array *x,
                      const node_value *like, node_value *out)
{
    int64_t count;
    if (!count_elements(like->rows, &count)) return eddy__node_run_full(r, node->name);
    if (count != eddy_array_count(x))
        return eddy__error_set(r->error, EDDY_BAD_SHAPE,
                               "%s: the number of elements is %lld; the rows of the stack have "
                               "%lld [node '%.200s']", node->op->name,
                               (long long)eddy_array_count(x), (long long)count, node->name);
    return fill_rows(r, node, eddy_array_data(x), like, out);
}

/* The number of rows, and -1 for sizes in which they differ. */
static bool shape_of_rows(node_run *r, const eddy_node *node, const row_list *rows, node_value *out)
{
    eddy_shape s = { .rank = 1, .dim = { rows->total } };
    for (int64_t i = 0; i < rows->n; i++) {
        const eddy_shape row = rows->at[i].type.shape;
        if (i == 0) s.rank = row.rank + 1;
        for (int d = 0; d < row.rank && d + 1 < s.rank; d++)
            s.dim[d + 1] = i == 0 || s.dim[d + 1] == row.dim[d] ? row.dim[d] : -1;
    }
    const eddy_dtype dtype = node->outputs[0].dtype;
    eddy_array *y = eddy_array_new_in(&r->allocator, dtype, EDDY_SHAPE(s.rank));
    if (!y) return eddy__node_run_full(r, node->name);
    for (int d = 0; d < s.rank; d++) eddy_array_set(y, d, (double)s.dim[d]);
    *out = eddy__value_of_array(y);
    return true;
}

bool eddy__run_rows(node_run *r, const eddy_graph *g, const eddy_node *node, const node_value *in,
                    node_value *out, uint64_t step)
{
    if (is_rowwise(node)) return each_row(r, g, node, in, out, step);
    if (node->op == &eddy_op_shape_tensor) return shape_of_rows(r, node, in[0].rows, out);
    if (is_flat(node))
        return flatten(r, node, in[0].rows, *(const eddy_shape *)node->attrs, out);
    if (in[0].rows && in[1].rows) {
        *out = eddy__value_retain(&in[0]);
        return true;
    }
    return in[1].rows ? unflatten(r, node, in[0].array, &in[1], out)
                      : flatten(r, node, in[0].rows, in[1].type.shape, out);
}
