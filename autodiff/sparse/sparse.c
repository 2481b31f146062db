/* sparse.c -- sparse Jacobians and Hessians: their patterns, products with a vector for each color,
 * and the elements among the results. */
#include "autodiff/sparse/sparse.h"
#include "autodiff/jacobians/unit_vectors.h"
#include "autodiff/sparse/coloring.h"
#include "autodiff/sparse/dependence.h"
#include "graph/internal.h"
#include "ops/ops.h"

/* Everything until the matrix is built. */
typedef struct plan {
    const char         *who;
    eddy_tensor         y, x;
    eddy_dependence     found;
    eddy_sparse_pattern pattern;
    int64_t             colors;
    int64_t            *color;            /* of each column, or row */
    bool                by_columns;
    int64_t            *place;            /* of each entry among the products */
} plan;

static void *reserve(plan *p, int64_t n, size_t size)
{
    return eddy__subgraph_alloc(&p->found.nodes, n + 1, size);
}

/* The sets of the rows as a pattern. */
static bool set_pattern(plan *p, const int32_t *of, int64_t rows)
{
    const eddy_index_set *sets = p->found.sets.sets;
    eddy_sparse_pattern  *q = &p->pattern;
    *q = (eddy_sparse_pattern){ rows, p->found.columns, reserve(p, rows + 1, sizeof *q->splits),
                                NULL };
    if (!q->splits) return false;
    for (int64_t i = 0; i < rows; i++) {
        q->splits[i + 1] = q->splits[i] + sets[of[i]].n;
        if (q->splits[i + 1] <= EDDY_MOST_MEMBERS) continue;
        eddy__too_many_elements(p->y.graph, p->who);
        return false;
    }
    q->column = reserve(p, q->splits[rows], sizeof *q->column);
    for (int64_t i = 0; i < rows && q->column; i++)
        for (int64_t k = 0; k < sets[of[i]].n; k++)
            q->column[q->splits[i] + k] = sets[of[i]].at[k];
    p->place = reserve(p, q->splits[rows], sizeof *p->place);
    return q->column && p->place;
}

static bool out_of_memory(plan *p)
{
    if (eddy__graph_ready(p->y.graph))
        eddy_fail(p->y.graph, EDDY_NO_MEMORY, "%s: out of memory", p->who);
    return false;
}

/* ------------------------------------------------------------------- colors -- */

/* The columns or the rows, whichever need fewer products. */
static bool color_jacobian(plan *p)
{
    const eddy_sparse_pattern *q = &p->pattern;
    eddy_arena                *a = &p->found.nodes.arena;
    eddy_sparse_pattern        across;
    int64_t *columns = reserve(p, q->columns, sizeof *columns);
    int64_t *rows = reserve(p, q->rows, sizeof *rows);
    if (!columns || !rows || !eddy__pattern_transpose(q, a, &across)) return out_of_memory(p);
    const int64_t by_columns = eddy__color_columns(q, &across, a, columns);
    const int64_t by_rows = eddy__color_columns(&across, q, a, rows);
    if (by_columns < 0 || by_rows < 0) return out_of_memory(p);
    p->by_columns = by_columns < by_rows && !eddy__subgraph_has_registered(&p->found.nodes);
    p->colors = p->by_columns ? by_columns : by_rows;
    p->color = p->by_columns ? columns : rows;
    for (int64_t i = 0; i < q->rows; i++)
        for (int64_t e = q->splits[i]; e < q->splits[i + 1]; e++)
            p->place[e] = p->by_columns ? columns[q->column[e]] * q->rows + i
                                        : rows[i] * q->columns + q->column[e];
    return true;
}

/* Element (i, j) stands alone in column i of the products if j is the only neighbor of i with its
 * color, otherwise (j, i) does in column j. `seen` counts the neighbors of i by their colors. */
static bool color_hessian(plan *p)
{
    const eddy_sparse_pattern *q = &p->pattern;
    p->color = reserve(p, q->columns, sizeof *p->color);
    int64_t *seen = reserve(p, q->columns, sizeof *seen);
    if (p->color) p->colors = eddy__color_star(q, &p->found.nodes.arena, p->color);
    if (!p->color || !seen || p->colors < 0) return out_of_memory(p);
    for (int64_t i = 0; i < q->rows; i++) {
        for (int64_t e = q->splits[i]; e < q->splits[i + 1]; e++) seen[p->color[q->column[e]]]++;
        for (int64_t e = q->splits[i]; e < q->splits[i + 1]; e++) {
            const int64_t j = q->column[e];
            p->place[e] = seen[p->color[j]] == 1 ? p->color[j] * q->columns + i
                                                 : p->color[i] * q->columns + j;
        }
        for (int64_t e = q->splits[i]; e < q->splits[i + 1]; e++) seen[p->color[q->column[e]]] = 0;
    }
    return true;
}

/* ---------------------------------------------------------------- the matrix -- */

static eddy_tensor constant(plan *p, int64_t n, const int64_t *at)
{
    return eddy_const(p->y.graph, EDDY_INT64, EDDY_SHAPE(n), at);
}

/* [colors, ...t]: one for each element of a color. */
static eddy_tensor seeds_of(plan *p, eddy_tensor t)
{
    const int64_t n = eddy_shape_count(eddy_shape_of(t));
    eddy_shape    s = eddy_shape_of(t);
    for (int i = s.rank++; i > 0; i--) s.dim[i] = s.dim[i - 1];
    s.dim[0] = p->colors;
    const eddy_tensor one = eddy_one_hot(constant(p, n, p->color), p->colors,
                                         .axis = EDDY_AXES(0), .dtype = eddy_dtype_of(t));
    return eddy_reshape(one, s);
}

/* The products of the derivative of y with the seeds. */
static eddy_tensor products(plan *p, eddy_tensor y)
{
    eddy_unit_vectors v = { .y = y, .xs = EDDY_LIST(p->x) };
    eddy_tensor       out = eddy_none(y.graph);
    if (!p->by_columns || eddy__forward_begin(&v, false))
        eddy__for_seeds(&v, 0, seeds_of(p, p->by_columns ? p->x : y), &out);
    eddy__forward_end(&v);
    return out;
}

static bool emit_matrix(plan *p, eddy_tensor y, eddy_sparse_matrix *out)
{
    const eddy_sparse_pattern *q = &p->pattern;
    const int64_t              n = q->splits[q->rows];
    const eddy_dtype           d = eddy_dtype_of(p->x);
    eddy_graph                *g = p->x.graph;
    eddy_tensor all = n > 0 ? products(p, y) : eddy_none(g), values = all;
    if (eddy_is_valid(all)) {
        if (eddy_dtype_of(all) != d) all = eddy_cast(all, d);
        values = eddy_gather(eddy_reshape(all, EDDY_SHAPE(-1)), constant(p, n, p->place));
    } else if (eddy__graph_ready(g)) values = eddy_zeros(g, d, EDDY_SHAPE(n));
    if (!eddy__graph_ready(g)) return false;
    const eddy_sparse_matrix whole = {
        .values = values, .column = constant(p, n, q->column),
        .row_splits = constant(p, q->rows + 1, q->splits), .rows = q->rows, .columns = q->columns,
        .entries = n, .colors = n > 0 ? p->colors : 0,
    };
    if (eddy__graph_ready(g)) *out = whole;
    return eddy__graph_ready(g);
}

/* ------------------------------------------------------------------- the calls -- */

/* y may be of a graph that was freed; then g is that of x. */
static bool is_valid(plan *p, eddy_graph *g, const eddy_sparse_matrix *out)
{
    char text[256];
    if (!eddy__list_is_of(g, p->who, "y", EDDY_LIST(p->y)) ||
        !eddy__list_is_of(g, p->who, "x", EDDY_LIST(p->x)))
        return false;
    if (!out) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: out is NULL", p->who);
    for (int k = 0; k < 2 && eddy__graph_ready(g); k++) {
        const eddy_tensor t = k == 0 ? p->y : p->x;
        const eddy_shape  s = eddy_shape_of(t);
        snprintf(text, sizeof text, "'%.200s'", eddy_name_of(t));
        if (!eddy__expect_type(g, p->who, text, eddy_dtype_of(t), EDDY_TAKES_FLOATS)) return false;
        if (!eddy_shape_is_known(s))
            eddy_fail(g, EDDY_BAD_SHAPE,
                      "%s: the shape of '%.200s' is %s; all sizes between x and y must be known",
                      p->who, eddy_name_of(t), eddy_shape_print(s, text, sizeof text));
        else if (s.rank == EDDY_MAX_RANK)
            eddy_fail(g, EDDY_LIMIT, "%s: '%.200s' has rank %d; the limit is %d", p->who,
                      eddy_name_of(t), s.rank, EDDY_MAX_RANK - 1);
    }
    return eddy__graph_ready(g);
}

static eddy_status sparse(const char *who, eddy_tensor y, eddy_tensor x, bool second,
                          eddy_sparse_matrix *out)
{
    plan        p = { .who = who, .y = y, .x = x };
    eddy_graph *g = eddy__graph_alive(y.graph) ? y.graph : eddy__graph_of_any(EDDY_LIST(x));
    if (out) *out = (eddy_sparse_matrix){ eddy_none(g), eddy_none(g), eddy_none(g), 0, 0, 0, 0 };
    if (!eddy__graph_ready(g)) return eddy__status_of(g);
    if (!is_valid(&p, g, out)) return eddy_graph_status(g);
    eddy_scope_begin(g, who);
    bool ok = eddy__dependence_begin(&p.found, who, y, x, second);
    eddy_tensor of = y;
    ok = ok && (set_pattern(&p, second ? p.found.partners : p.found.of_y,
                            second ? p.found.columns : p.found.rows) || out_of_memory(&p));
    ok = ok && (second ? color_hessian(&p) : color_jacobian(&p));
    if (ok && second)
        ok = eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &of,
                            .unconnected_gradients = EDDY_UNCONNECTED_ZERO) == EDDY_OK;
    if (ok) emit_matrix(&p, of, out);
    eddy__dependence_end(&p.found);
    eddy_scope_end(g);
    return eddy_graph_status(g);
}

eddy_status eddy_sparse_jacobian(eddy_tensor y, eddy_tensor x, eddy_sparse_matrix *out)
{
    return sparse("sparse_jacobian", y, x, false, out);
}

eddy_status eddy_sparse_hessian(eddy_tensor y, eddy_tensor x, eddy_sparse_matrix *out)
{
    return sparse("sparse_hessian", y, x, true, out);
}
