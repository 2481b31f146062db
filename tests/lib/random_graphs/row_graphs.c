/* row_graphs.c -- see row_graphs.h. */
#include "tests/lib/random_graphs/row_graphs.h"
#include "build/gen/table.h"

#include <ctype.h>
#include <stdio.h>

/* -------------------------------------------------------------------- shapes -- */

static void add_shapes(row_shapes *v, const sweep_row *r, const eddy_shape *s)
{
    bool added = memcmp(s, r->shape, sizeof r->shape) != 0;
    for (int i = 0; i < v->n; i++) added = added && memcmp(v->of[i], s, sizeof v->of[i]) != 0;
    if (!added) return;
    ck_assert_int_lt(v->n, ROW_SHAPES);
    memcpy(v->of[v->n++], s, sizeof v->of[0]);
}

/* In place of the dimensions of `from` of the inputs [first, last); of any size if it is 0. */
static void replace(row_shapes *v, const sweep_row *r, int first, int last, int64_t from,
                    int64_t to)
{
    eddy_shape s[SWEEP_INPUTS];
    memcpy(s, r->shape, sizeof s);
    for (int k = first; k < last; k++)
        for (int d = 0; d < s[k].rank; d++)
            if (from == 0 || s[k].dim[d] == from) s[k].dim[d] = to;
    add_shapes(v, r, s);
}

row_shapes row_shapes_with(const sweep_row *r, int64_t to)
{
    enum { LARGEST = 12 };
    row_shapes v = { .n = 0 };
    eddy_shape s[SWEEP_INPUTS];
    for (int64_t from = 0; from <= LARGEST; from++) replace(&v, r, 0, r->n, from, to);
    for (int k = 0; k < r->n; k++) {
        replace(&v, r, k, k + 1, 0, to);
        for (int d = 0; d < r->shape[k].rank; d++) {
            memcpy(s, r->shape, sizeof s);
            s[k].dim[d] = to;
            add_shapes(&v, r, s);
        }
    }
    for (int k = 0; k < SWEEP_INPUTS; k++) s[k] = k < r->n ? EDDY_SHAPE(to) : r->shape[k];
    add_shapes(&v, r, s);
    return v;
}

/* -------------------------------------------------------------------- graphs -- */

void row_graph_begin(row_graph *b, const sweep_row *r, const eddy_shape *shape, const char *what,
                     const eddy_allocator *allocator)
{
    char text[100];
    *b = (row_graph){ .row = r, .t.random = sweep_seed(r) };
    b->t.graph = eddy_graph_new(.allocator = allocator);
    snprintf(b->title, sizeof b->title, "%s %s, %s", r->op, r->how ? r->how : "", what);
    for (int k = 0; k < r->n; k++) {
        const size_t n = strlen(b->title);
        snprintf(b->title + n, sizeof b->title - n, " %s",
                 eddy_shape_print(shape[k], text, sizeof text));
    }
    b->fetch.title = b->title;
}

static bool is_differentiable(const sweep_row *r)
{
    if (r->options & SWEEP_REFUSES) return false;
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++)
        if (strcmp((*op)->name, r->op) == 0)
            return (*op)->gradient != eddy_not_differentiable;
    return false;
}

/* The sum of y's elements, added to `sum`. */
static eddy_tensor plus(eddy_tensor sum, eddy_tensor y)
{
    const eddy_tensor own = Sum(Cast(y, EDDY_FLOAT64));
    return eddy_is_valid(sum) ? Add(sum, own) : own;
}

bool row_graph_build(row_graph *b)
{
    const sweep_row   *r = b->row;
    const eddy_graph  *g = b->t.graph;
    const eddy_tensor *x = b->t.tensor;
    const eddy_list    xs = { r->n, x };
    const eddy_tensor  y = r->unary ? r->unary(x[0]) : r->binary ? r->binary(x[0], x[1])
                                                               : r->build(b->t.graph, x);
    if (eddy_graph_status(g) != EDDY_OK) return false;
    for (int i = 0; i < eddy_outputs_of(y) && b->fetch.n < FETCHES / 2; i++) {
        const eddy_tensor out = eddy_output(y, i);
        keep_fetch(&b->fetch, out);
        if (eddy_dtype_is_floating(eddy_dtype_of(out))) b->f = plus(b->f, out);
    }
    if (!is_differentiable(r) || !eddy_is_valid(b->f)) return eddy_graph_status(g) == EDDY_OK;
    eddy_gradients(EDDY_LIST(b->f), xs, b->dx);
    for (int k = 0; k < r->n; k++) {
        keep_fetch(&b->fetch, b->dx[k]);
        if (eddy_is_valid(b->dx[k])) b->f2 = plus(b->f2, b->dx[k]);
    }
    if (!eddy_is_valid(b->f2)) return eddy_graph_status(g) == EDDY_OK;
    eddy_gradients(EDDY_LIST(b->f2), xs, b->ddx, .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    for (int k = 0; k < r->n; k++) keep_fetch(&b->fetch, b->ddx[k]);
    return eddy_graph_status(g) == EDDY_OK;
}

void row_message_is_clear(const row_graph *b, const char *message)
{
    const char *at = message;
    while (isalnum((unsigned char)*at) || *at == '_') at++;
    if (strncmp(message, "Cannot feed value of shape", 26) == 0) return;
    if (strncmp(message, "the run needs", 13) == 0) return;
    if (strncmp(message, "out of memory: the run needs", 28) == 0 &&
        strstr(message, "; largest values: '")) return;
    ck_assert_msg(at > message && (*at == '(' || *at == ':') && strpbrk(at, "0123456789["),
                  "%s: %s", b->title, message);
}
