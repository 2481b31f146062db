/* test_vmap.c -- every operation mapped over examples, real and complex, against one example at a
 * time. */
#include "autodiff/functions.h"
#include "build/gen/table.h"
#include "tests/lib/golden.h"
#include "tests/lib/sweep_rows.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/third_rows.h"

#include <math.h>
#include <stdlib.h>

Suite *vmap_suite(void);

/* Ops with inputs that vmap loops over, and why; an unknown number of examples
 * is then refused. */
static const struct { const char *op, *why; } looped[] = {
    { "Range",         "each example has its own length" },
    { "StatelessRandomUniform",   "each example has its own seed" },
    { "StatelessRandomNormal",    "each example has its own seed" },
    { "StatelessTruncatedNormal", "each example has its own seed" },
};

/* ---------------------------------------------------------------- more rows -- */

/* Cases that the rows of the sweep lack: indices and positions given as tensors. */
#define BUILD(name, formula)                                                    \
    static eddy_tensor name(eddy_graph *g, const eddy_tensor *x)                \
    {                                                                           \
        (void)g;                                                                \
        return formula;                                                         \
    }
#define AT(x) Cast(Floor(x), EDDY_INT32)
BUILD(gather_first, Gather(x[0], AT(x[1])))
BUILD(gather_last, Gather(x[0], AT(x[1]), .axis = -1))
BUILD(gather_some, Gather(x[0], AT(x[1]), .axis = 1, .skip_negative = true))
BUILD(gather_each, Gather(x[0], AT(x[1]), .batch_dims = 1))
BUILD(gather_each_grad, eddy_gather_grad(x[0], AT(x[1]), x[2], .batch_dims = 1, .axis = 2))
BUILD(gather_grad, eddy_gather_grad(x[0], AT(x[1]), x[2], .axis = 1))
BUILD(rows_at, eddy_indexed_slices(x[0], AT(x[1]), x[2]))
BUILD(rows_added, eddy_inplace_add(x[2], AT(x[1]), x[0]))
BUILD(rows_of, eddy_indexed_slices_of(x[0], AT(x[1]), EDDY_SHAPE(4, 2)))
BUILD(unique_rows, eddy_slices_sum_duplicates(x[0], AT(x[1])))
BUILD(first_places, eddy_first_positions(AT(x[0])))
BUILD(classes, OneHot(AT(x[0]), 4, .dtype = EDDY_FLOAT64))
BUILD(classes_first, OneHot(AT(x[0]), 4, .axis = EDDY_AXES(0)))
BUILD(sparse_loss, eddy_sparse_softmax_cross_entropy(AT(x[0]), x[1]))
BUILD(bias, BiasAdd(x[0], x[1]))
BUILD(no_axes, Sum(x[0], EDDY_NO_DIMS))
BUILD(log_sum_exp, LogSumExp(x[0], EDDY_AXES(0)))
BUILD(dropped, eddy_dropout(x[0], 0.5))
BUILD(norm, eddy_clip_by_norm(x[0], NumberLike(1, x[0])))
BUILD(pass_through, eddy_grad_pass_through(Round(x[0]), x[0]))
BUILD(adjoint, MatMul(x[0], x[1], .adjoint_a = true, .adjoint_b = true))
BUILD(column, MatMul(x[0], x[1]))
BUILD(column_turned, MatMul(x[0], x[1], .transpose_a = true, .transpose_b = true))
BUILD(row_turned, MatMul(x[0], x[1], .transpose_a = true))
BUILD(times_vector, eddy_matvec(x[0], x[1]))
BUILD(conjugate, Neg(Conj(x[0])))
BUILD(real_part, Neg(Real(x[0])))
BUILD(lower, Where(Less(Imag(x[0]), Real(x[1])), x[0], x[1]))
BUILD(both_of, eddy_output(eddy_identity_n((eddy_list){ 2, x }, 2), 1))

#define S(...) { (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), { __VA_ARGS__ } }
static const sweep_row more_rows[] = {
    { .op = "GatherV2", .how = "first", .build = gather_first, .n = 2,
      .shape = { S(4, 2), S(3) }, .low = { -2, 0 }, .high = { 2, 4 } },
    { .op = "GatherV2", .how = "last", .build = gather_last, .n = 2,
      .shape = { S(2, 4), S(2, 3) }, .low = { -2, 0 }, .high = { 2, 4 } },
    { .op = "GatherV2", .how = "skip", .build = gather_some, .n = 2,
      .shape = { S(2, 4), S(2, 3) }, .low = { -2, -2 }, .high = { 2, 4 } },
    { .op = "GatherV2", .how = "batch_dims", .build = gather_each, .n = 2,
      .shape = { S(3, 4, 2), S(3, 2) }, .low = { -2, 0 }, .high = { 2, 4 } },
    { .op = "GatherGrad", .how = "batch_dims", .build = gather_each_grad, .n = 3,
      .shape = { S(3, 2, 5), S(3, 5), S(3, 2, 4) }, .low = { -2, 0, -2 }, .high = { 2, 4, 2 } },
    { .op = "GatherGrad", .how = "", .build = gather_grad, .n = 3,
      .shape = { S(2, 3), S(3), S(2, 4) }, .low = { -2, 0, -2 }, .high = { 2, 4, 2 } },
    { .op = "IndexedSlices", .how = "", .build = rows_at, .n = 3,
      .shape = { S(3, 2), S(3), S(4, 2) }, .low = { -2, -1, -2 }, .high = { 2, 4, 2 } },
    { .op = "IndexedSlices", .how = "dense_shape", .build = rows_of, .n = 2,
      .shape = { S(3, 2), S(3) }, .low = { -2, -1 }, .high = { 2, 4 } },
    { .op = "InplaceAdd", .how = "", .build = rows_added, .n = 3,
      .shape = { S(3, 2), S(3), S(4, 2) }, .low = { -2, -1, -2 }, .high = { 2, 4, 2 } },
    { .op = "SumDuplicates", .how = "", .build = unique_rows, .n = 2,
      .shape = { S(5, 2), S(5) }, .low = { -2, 0 }, .high = { 2, 3 } },
    { .op = "FirstPositions", .how = "", .build = first_places, .n = 1,
      .shape = { S(5) }, .low = { 0 }, .high = { 3 } },
    { .op = "OneHot", .how = "last", .build = classes, .n = 1,
      .shape = { S(2, 3) }, .low = { -1 }, .high = { 5 } },
    { .op = "OneHot", .how = "first", .build = classes_first, .n = 1,
      .shape = { S(2, 3) }, .low = { -1 }, .high = { 5 } },
    { .op = "SparseSoftmaxCrossEntropyWithLogits", .how = "", .build = sparse_loss, .n = 2,
      .shape = { S(3), S(3, 4) }, .low = { 0, -2 }, .high = { 4, 2 } },
    { .op = "BiasAdd", .how = "to a vector", .build = bias, .n = 2, .shape = { S(4), S(4) } },
    { .op = "Sum", .how = "no axes", .build = no_axes, .n = 1, .shape = { S(3, 4) } },
    { .op = "Sum", .how = "of a scalar", .unary = eddy_l2_loss, .n = 1, .shape = { { 0, { 0 } } } },
    { .op = "Max", .how = "logsumexp", .build = log_sum_exp, .n = 1, .shape = { S(3, 4) } },
    { .op = "RandomUniform", .how = "dropout", .build = dropped, .n = 1, .shape = { S(3, 4) },
      .options = SWEEP_RANDOM },
    { .op = "Sum", .how = "clip_by_norm", .build = norm, .n = 1, .shape = { S(3, 4) } },
    { .op = "GradPassThrough", .how = "", .build = pass_through, .n = 1, .shape = { S(3, 4) } },
    { .op = "IdentityN", .how = "", .build = both_of, .n = 2, .shape = { S(3), S(2, 2) } },
    { .op = "Conj", .how = "", .build = conjugate, .n = 1, .shape = { S(2, 3) } },
    { .op = "Real", .how = "", .build = real_part, .n = 1, .shape = { S(2, 3) } },
    { .op = "Imag", .how = "", .unary = eddy_imag, .n = 1, .shape = { S(2, 3) } },
    { .op = "ComplexAbs", .how = "", .unary = eddy_abs, .n = 1, .shape = { S(2, 3) } },
    { .op = "Angle", .how = "", .unary = eddy_angle, .n = 1, .shape = { S(2, 3) } },
    { .op = "MatMul", .how = "adjoints", .build = adjoint, .n = 2,
      .shape = { S(3, 2), S(4, 3) } },
    { .op = "MatMul", .how = "column", .build = column, .n = 2, .shape = { S(3, 4), S(4, 1) } },
    { .op = "MatMul", .how = "column of transposes", .build = column_turned, .n = 2,
      .shape = { S(4, 3), S(1, 4) } },
    { .op = "MatMul", .how = "row of a transpose", .build = row_turned, .n = 2,
      .shape = { S(4, 1), S(4, 3) } },
    { .op = "BatchMatMulV2", .how = "vector", .build = times_vector, .n = 2,
      .shape = { S(3, 4), S(4) } },
    { .op = "SelectV2", .how = "complex", .build = lower, .n = 2,
      .shape = { S(2, 3), S(2, 3) } },
    { .op = "Add", .how = "ranks", .binary = eddy_add, .n = 2, .shape = { S(3, 4), S(4) } },
    { .op = "Mul", .how = "ranks", .binary = eddy_mul, .n = 2, .shape = { { 0, { 0 } }, S(2, 3) } },
};
enum { MORE_ROWS = (int)(sizeof more_rows / sizeof *more_rows) };

static const sweep_row *row_at(int i)
{
    return i < sweep_count() ? sweep_row_at(i) : &more_rows[i - sweep_count()];
}

/* ------------------------------------------------------------ a row, mapped -- */

/* The mapped function: the row, its gradient, or the row mapped over two examples. */
typedef enum way { ITSELF, ITS_GRADIENT, ITS_MAP } way;

/* One row over n examples; bit k of `mapped`: input k has its own each. */
typedef struct mapping {
    trial            t;
    const sweep_row *row;
    way              how;
    int64_t          n;
    unsigned         mapped;
    bool             open;                  /* sizes are unknown while building */
    eddy_dtype       dtype;                 /* of the inputs: float64 or complex128 */
    char             title[128];
    int              results;
    eddy_tensor      y[EDDY_MAX_RESULTS], loop[EDDY_MAX_RESULTS];
} mapping;

static int build_row(eddy_list x, eddy_tensor *y, void *context)
{
    const sweep_row *r = ((mapping *)context)->row;
    eddy_tensor in[SWEEP_INPUTS] = { EDDY_ZERO_TENSOR };
    for (int k = 0; k < r->n; k++) in[k] = x.at[k];
    eddy_tensor out = r->unary ? r->unary(in[0])
                    : r->binary ? r->binary(in[0], in[1]) : r->build(in[0].graph, in);
    int n = eddy_outputs_of(out);
    for (int i = 0; i < n; i++) y[i] = eddy_output(out, i);
    return n;
}

static bool is_double(eddy_tensor y)
{
    return eddy_dtype_of(y) == EDDY_FLOAT64 || eddy_dtype_of(y) == EDDY_COMPLEX128;
}

static eddy_tensor squared(eddy_tensor y) { return Sum(Real(Mul(y, Conj(y)))); }

static int build_gradient(eddy_list x, eddy_tensor *y, void *context)
{
    eddy_tensor one[EDDY_MAX_RESULTS], sum = eddy_number(x.at[0].graph, EDDY_FLOAT64, 0);
    int n = build_row(x, one, context);
    for (int i = 0; i < n; i++)
        if (is_double(one[i])) sum = Add(sum, squared(one[i]));
    eddy_gradients(EDDY_LIST(sum), x, y, .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    return x.count;
}

static int map(const mapping *m, int (*build)(eddy_list, eddy_tensor *, void *), eddy_list x,
               eddy_tensor *y)
{
    int axes[SWEEP_INPUTS];
    for (int k = 0; k < x.count; k++) axes[k] = m->mapped >> k & 1 ? 0 : EDDY_SHARED;
    eddy_function f = { .build = build, .context = (void *)(uintptr_t)m, .name = "row" };
    return eddy_vmap(f, x, y, .axes = axes);
}

static int build_map(eddy_list x, eddy_tensor *y, void *context)
{
    return map(context, build_row, x, y);
}

static int build(eddy_list x, eddy_tensor *y, void *context)
{
    const mapping *m = context;
    return (m->how == ITSELF ? build_row : m->how == ITS_MAP ? build_map : build_gradient)
        (x, y, context);
}

static bool is_mapped(const mapping *m, int k) { return m->mapped >> k & 1; }

static void check_status(const mapping *m)
{
    ck_assert_msg(eddy_graph_status(m->t.graph) == EDDY_OK, "%s: %s", m->title,
                  eddy_graph_message(m->t.graph));
}

static eddy_shape whole_shape(const mapping *m, int k)
{
    const eddy_shape one = m->row->shape[k];
    const int more = !is_mapped(m, k) ? 0 : m->how == ITS_MAP ? 2 : 1;
    eddy_shape s = { one.rank + more, { m->n, 2 } };
    for (int i = 0; i < one.rank; i++) s.dim[i + more] = one.dim[i];
    return s;
}

/* Elements that are all different if their intervals are the same. */
static void draw_inputs(mapping *m)
{
    static int place[4096];
    int total = 0, next = 0;
    for (int k = 0; k < m->row->n; k++) total += (int)eddy_shape_count(whole_shape(m, k));
    ck_assert_int_le(total, 4096);
    for (int i = 0; i < total; i++) {
        const int j = pick(&m->t, i + 1);
        place[i] = place[j];
        place[j] = i;
    }
    for (int k = 0; k < m->row->n; k++) {
        const double a = m->row->low[k], b = m->row->high[k];
        const double low = a == b ? -2 : a, high = a == b ? 2 : b;
        eddy_shape   s = whole_shape(m, k);
        eddy_array  *x = eddy_array_new(m->dtype, s);
        for (int64_t i = 0; i < eddy_array_count(x); i++) {
            const double part = (place[next++] + 0.25) / total;
            eddy_array_set(x, i, low + (high - low) * part);
            if (m->dtype == EDDY_COMPLEX128)
                eddy_array_set_complex(x, i, eddy_array_get(x, i), 0.9 - 0.7 * part);
        }
        for (int d = 0; m->open && d < s.rank && d <= s.rank - m->row->shape[k].rank; d++)
            s.dim[d] = EDDY_ANY;
        m->t.array[m->t.n] = x;
        m->t.tensor[m->t.n++] = eddy_placeholder(m->t.graph, NULL, m->dtype, s);
    }
}

/* The row on one example after the other, and their results stacked. */
static void loop_row(mapping *m)
{
    eddy_tensor whole[SWEEP_INPUTS], x[SWEEP_INPUTS], *y;
    const int   n = (int)m->n;
    y = calloc((size_t)n * EDDY_MAX_RESULTS, sizeof *y);
    for (int k = 0; k < m->row->n; k++)
        whole[k] = is_mapped(m, k) ? eddy_unstack(m->t.tensor[k], .num = n) : m->t.tensor[k];
    for (int e = 0; e < n; e++) {
        eddy_tensor one[EDDY_MAX_RESULTS];
        for (int k = 0; k < m->row->n; k++)
            x[k] = is_mapped(m, k) ? eddy_output(whole[k], e) : whole[k];
        ck_assert_int_eq(build((eddy_list){ m->row->n, x }, one, m), m->results);
        for (int i = 0; i < m->results; i++) y[i * n + e] = one[i];
    }
    for (int i = 0; i < m->results; i++) m->loop[i] = eddy_stack((eddy_list){ n, y + i * n }, 0);
    free(y);
    check_status(m);
}

/* ---------------------------------------------------------------- comparing -- */

static void check_part(const mapping *m, const char *what, int i, int64_t at, double x, double y)
{
    ck_assert_msg(fabs(x - y) <= 1e-13 * fmax(1, fabs(y)) || (isnan(x) && isnan(y)),
                  "%s: %s %d at %d is %.17g, one at a time %.17g", m->title, what, i, (int)at, x,
                  y);
}

static void check_same(const mapping *m, eddy_tensor got, eddy_tensor want, const char *what, int i)
{
    const eddy_tensor at[] = { got, want };
    eddy_array *a[2] = { NULL };
    const bool  random = m->row->options & SWEEP_RANDOM;
    eddy_feed   feeds[SWEEP_INPUTS];
    for (int k = 0; k < m->t.n; k++) feeds[k] = (eddy_feed){ m->t.tensor[k], m->t.array[k] };
    const eddy_status s = eddy_run(m->t.session, (eddy_feeds){ m->t.n, feeds },
                                   (eddy_list){ 2, at }, a);
    ck_assert_msg(s == EDDY_OK, "%s: %s", m->title, eddy_session_message(m->t.session));
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(a[0]), eddy_array_shape(a[1])) &&
                  eddy_array_dtype(a[0]) == eddy_array_dtype(a[1]), "%s: shape of %s %d",
                  m->title, what, i);
    for (int64_t j = 0; j < eddy_array_count(a[0]) && !random; j++) {
        check_part(m, what, i, j, eddy_array_get(a[0], j), eddy_array_get(a[1], j));
        check_part(m, what, i, j, eddy_array_get_imag(a[0], j), eddy_array_get_imag(a[1], j));
    }
    eddy_array_free(a[0]);
    eddy_array_free(a[1]);
}

/* A sum of the floating ys with weights. */
static eddy_tensor weighted(mapping *m, const eddy_tensor *y)
{
    eddy_tensor sum = eddy_number(m->t.graph, EDDY_FLOAT64, 0);
    uint64_t    random = m->t.random;
    for (int i = 0; i < m->results; i++) {
        if (!is_double(y[i])) continue;
        eddy_array *shape = value(&m->t, y[i]), *w = eddy_array_new(eddy_dtype_of(y[i]),
                                                                    eddy_array_shape(shape));
        for (int64_t j = 0; j < eddy_array_count(w); j++) {
            const double re = (pick(&m->t, 1024) - 512) / 512.0;
            eddy_array_set(w, j, re);
            if (m->dtype == EDDY_COMPLEX128) eddy_array_set_complex(w, j, re, 0.5 - re * re);
        }
        sum = Add(sum, Sum(Real(Mul(y[i], eddy_constant(m->t.graph, w, NULL)))));
        eddy_array_free(shape);
        eddy_array_free(w);
    }
    m->t.random = random;                        /* the same weights the next time */
    return sum;
}

static void gradients(mapping *m, const eddy_tensor *y, eddy_tensor *dx)
{
    eddy_gradients(EDDY_LIST(weighted(m, y)), ((eddy_list){ m->t.n, m->t.tensor }), dx,
                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    check_status(m);
}

static void check_row(mapping *m)
{
    eddy_tensor dx[SWEEP_INPUTS], want[SWEEP_INPUTS];
    if (m->n > 0) loop_row(m);
    for (int i = 0; i < m->results; i++)
        check_same(m, m->y[i], m->n > 0 ? m->loop[i] : m->y[i], "result", i);
    if (m->row->options & (SWEEP_REFUSES | SWEEP_RANDOM)) return;
    gradients(m, m->y, dx);
    if (m->n > 0) gradients(m, m->loop, want);
    for (int k = 0; k < m->t.n; k++)
        check_same(m, dx[k], m->n > 0 ? want[k] : ZerosLike(m->t.tensor[k]), "gradient", k);
}

static bool is_looped(const char *op)
{
    for (size_t i = 0; i < sizeof looped / sizeof *looped; i++)
        if (strcmp(looped[i].op, op) == 0) return true;
    return false;
}

/* The row is refused without a map too, when its inputs are complex. */
static bool takes_no_complex(mapping *m)
{
    eddy_tensor x[SWEEP_INPUTS], y[EDDY_MAX_RESULTS];
    if (m->dtype == EDDY_FLOAT64 || eddy_graph_status(m->t.graph) != EDDY_BAD_DTYPE) return false;
    eddy_graph_clear_error(m->t.graph);
    for (int k = 0; k < m->row->n; k++)
        x[k] = eddy_placeholder(m->t.graph, NULL, m->dtype, m->row->shape[k]);
    (m->how == ITS_GRADIENT ? build_gradient : build_row)((eddy_list){ m->row->n, x }, y, m);
    return eddy_graph_status(m->t.graph) == EDDY_BAD_DTYPE;
}

/* Nothing is checked if the row takes no complex numbers. */
static void try_row_of(eddy_dtype dtype, int row, way how, unsigned mapped, int64_t n, bool open)
{
    static const char *const ways[] = { "", "gradient of ", "map of " };
    const sweep_row *r = row_at(row);
    mapping m = { .row = r, .how = how, .n = n, .mapped = mapped, .open = open, .dtype = dtype };
    if (how == ITS_GRADIENT && r->options & (SWEEP_REFUSES | SWEEP_RANDOM)) return;
    m.t = (trial){ .graph = eddy_graph_new(), .random = sweep_seed(r) };
    m.t.session = eddy_session_new(m.t.graph);
    snprintf(m.title, sizeof m.title, "%s%s%s %s, inputs %u, %d examples%s",
             dtype == EDDY_FLOAT64 ? "" : "complex ", ways[how], r->op, r->how ? r->how : "",
             mapped, (int)n, open ? " unknown" : "");
    draw_inputs(&m);
    m.results = map(&m, build, (eddy_list){ r->n, m.t.tensor }, m.y);
    const bool refused = m.results == 0 &&
                         ((open && is_looped(r->op)) || takes_no_complex(&m));
    if (!refused) {
        check_status(&m);
        ck_assert_int_gt(m.results, 0);
        for (int i = 0; i < m.results; i++)
            ck_assert_msg(eddy_is_valid(m.y[i]), "%s: no result %d", m.title, i);
        check_row(&m);
    }
    trial_end(&m.t);
}

static void try_row(int row, way how, unsigned mapped, int64_t n, bool open)
{
    try_row_of(EDDY_FLOAT64, row, how, mapped, n, open);
}

START_TEST(rows_are_mapped)
{
    const unsigned all = 1u << row_at(_i)->n;
    for (unsigned mapped = 1; mapped < all; mapped++) {
        try_row(_i, ITSELF, mapped, 3, false);
        try_row(_i, ITSELF, mapped, 1, false);
    }
}
END_TEST

START_TEST(rows_are_mapped_over_unknown_numbers)
{
    const unsigned all = 1u << row_at(_i)->n;
    for (unsigned mapped = 1; mapped < all; mapped++)
        for (int64_t n = 0; n <= 3; n++) try_row(_i, ITSELF, mapped, n, true);
}
END_TEST

START_TEST(gradients_are_mapped)
{
    try_row(_i, ITS_GRADIENT, (1u << row_at(_i)->n) - 1, 2, false);
}
END_TEST

/* Some of the inputs are mapped, or an unknown number of examples. */
START_TEST(other_gradients_are_mapped)
{
    const unsigned all = (1u << row_at(_i)->n) - 1;
    for (unsigned mapped = 1; mapped <= all; mapped++)
        for (int open = mapped == all; open < 2; open++)
            try_row(_i, ITS_GRADIENT, mapped, 2, open);
}
END_TEST

START_TEST(maps_are_mapped)
{
    const unsigned all = 1u << row_at(_i)->n;
    for (unsigned mapped = 1; mapped < all; mapped++)
        for (int open = 0; open < 2; open++) try_row(_i, ITS_MAP, mapped, 3, open);
}
END_TEST

START_TEST(complex_rows_are_mapped)
{
    const unsigned all = 1u << row_at(_i)->n;
    for (unsigned mapped = 1; mapped < all; mapped++)
        for (way how = ITSELF; how <= ITS_MAP; how++)
            for (int open = 0; open < 2; open++)
                try_row_of(EDDY_COMPLEX128, _i, how, mapped, 3, open);
}
END_TEST

/* ------------------------------------------------------------------ coverage -- */

static bool takes_values(const eddy_op_def *op)
{
    const int n = op->max_inputs == EDDY_MANY || op->max_inputs > 32 ? 32 : op->max_inputs;
    for (int i = 0; i < n; i++)
        if (!(op->shape_inputs >> i & 1)) return true;
    return false;
}

/* Each op that takes values has a rule, or a reason to have none, and not both. */
START_TEST(every_op)
{
    char missing[1024] = "";
    for (const eddy_op_def *const *at = eddy_op_table; *at; at++) {
        const eddy_op_def *op = *at;
        const size_t n = strlen(missing);
        const bool rule = op->batch || op->flags & EDDY_OP_ELEMENTWISE;
        const bool needs = takes_values(op) && !(op->flags & EDDY_OP_REFERENCE);
        if (needs ? rule == is_looped(op->name) : is_looped(op->name))
            snprintf(missing + n, sizeof missing - n, " %s", op->name);
    }
    ck_assert_msg(!*missing, "batching rules are missing (or listed as looped):%s", missing);
}
END_TEST

Suite *vmap_suite(void)
{
    Suite *s = suite_create("vmap");
    TCase *c = tcase_create("ops"), *many = tcase_create("other rows");
    TCase *slow = tcase_create("nested and complex");
    tcase_set_tags(many, "many");
    tcase_set_tags(slow, "slow");
    tcase_add_test(c, every_op);
    const int rows = sweep_count() + MORE_ROWS;
    add_third_rows(c, many, rows_are_mapped, 0, rows);
    add_third_rows(c, many, rows_are_mapped_over_unknown_numbers, 1, rows);
    add_third_rows(c, many, gradients_are_mapped, 2, rows);
    tcase_add_loop_test(many, other_gradients_are_mapped, 0, rows);
    tcase_add_loop_test(slow, maps_are_mapped, 0, rows);
    tcase_add_loop_test(slow, complex_rows_are_mapped, 0, rows);
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    suite_add_tcase(s, slow);
    return s;
}
