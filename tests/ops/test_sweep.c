/* test_sweep.c -- the same checks for every operation: gradients against finite differences to the
 * third order; equal values in float32, with broadcasting, unknown sizes and sizes of 1, through a
 * graph file and with every option of a session. rows_*.c list the operations; an operation without
 * a row fails. */
#include "build/gen/table.h"
#include "tests/lib/bits/same_bits.h"
#include "tests/lib/sweep_rows.h"
#include "tests/lib/third_rows.h"

#include <math.h>

Suite *sweep_suite(void);

/* How a row is built this time. */
typedef struct variant {
    eddy_dtype dtype;
    eddy_shape shape[SWEEP_INPUTS];
    int        unknown;          /* while building: 1 the leading sizes, 2 the ranks */
    bool       same;             /* the first tensor is the second input too */
} variant;

/* f is a random-weighted sum of the outputs y, f2 one of its gradient dx, f3 one
 * of ddx, the gradient of f2. */
typedef struct sweep {
    trial            t;          /* its feeds are the inputs */
    const sweep_row *row;
    bool             flat;       /* the op has no gradient */
    char             title[96];
    eddy_tensor      y, f, f2, f3, dx[SWEEP_INPUTS], ddx[SWEEP_INPUTS], dddx[SWEEP_INPUTS];
    fetches          fetch;      /* all of them */
} sweep;

/* ------------------------------------------------------------------- building -- */

static const eddy_op_def *op_named(const char *name)
{
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++)
        if (strcmp((*op)->name, name) == 0) return *op;
    return NULL;
}

static bool is_constant(const sweep *c, int k) { return c->row->constant >> k & 1; }

static void check_status(const sweep *c)
{
    ck_assert_msg(eddy_graph_status(c->t.graph) == EDDY_OK, "%s: %s", c->fetch.title,
                  eddy_graph_message(c->t.graph));
}

/* Multiples of 1/1024, which every float type holds exactly.  Together the
 * inputs take each of as many places in their intervals as there are elements. */
static void draw_inputs(sweep *c, const variant *v)
{
    const int n = v->same ? 1 : c->row->n;
    int total = 0, place[256], next = 0;
    for (int k = 0; k < n; k++) total += (int)eddy_shape_count(v->shape[k]);
    ck_assert_int_le(total, 256);
    for (int i = 0; i < total; i++) {
        const int j = pick(&c->t, i + 1);
        place[i] = place[j];
        place[j] = i;
    }
    for (int k = 0; k < n; k++) {
        const double a = c->row->low[k], b = c->row->high[k];
        const double low = a == b ? -2 : a, high = a == b ? 2 : b;
        eddy_array *x = eddy_array_new(v->dtype, v->shape[k]);
        for (int64_t i = 0; i < eddy_array_count(x); i++) {
            const double at = low + (high - low) * (place[next++] + 0.25) / total;
            eddy_array_set(x, i, round(at * 1024) / 1024);
        }
        eddy_shape s = v->shape[k];
        if (v->unknown && s.rank > 0) s.dim[0] = EDDY_ANY;
        if (v->unknown == 2) s = EDDY_UNKNOWN_SHAPE;
        c->t.array[c->t.n] = x;
        c->t.tensor[c->t.n++] = eddy_placeholder(c->t.graph, NULL, v->dtype, s);
    }
}

/* The sum of y with random weights. */
static eddy_tensor weighted(sweep *c, eddy_tensor y, eddy_dtype d)
{
    eddy_array *shape = value(&c->t, y), *w = eddy_array_new(d, eddy_array_shape(shape));
    for (int64_t i = 0; i < eddy_array_count(w); i++)
        eddy_array_set(w, i, (pick(&c->t, 1024) - 512) / 512.0);
    const eddy_tensor sum = Sum(Mul(Cast(y, d), eddy_constant(c->t.graph, w, NULL)));
    eddy_array_free(shape);
    eddy_array_free(w);
    return sum;
}

static eddy_tensor plus(eddy_tensor sum, eddy_tensor term)
{
    return eddy_is_valid(sum) ? Add(sum, term) : term;
}

static void build_row(sweep *c, const variant *v)
{
    const sweep_row *r = c->row;
    eddy_tensor x[SWEEP_INPUTS] = { EDDY_ZERO_TENSOR };
    for (int k = 0; k < r->n; k++) x[k] = c->t.tensor[v->same ? 0 : k];
    c->y = r->unary ? r->unary(x[0])
         : r->binary ? r->binary(x[0], x[1]) : r->build(c->t.graph, x);
    check_status(c);
    for (int i = 0; i < eddy_outputs_of(c->y); i++) {
        const eddy_tensor y = eddy_output(c->y, i);
        keep_fetch(&c->fetch, y);
        if (c->flat || eddy_dtype_is_floating(eddy_dtype_of(y)))
            c->f = plus(c->f, weighted(c, y, v->dtype));
    }
    keep_fetch(&c->fetch, c->f);
}

static void build_gradients(sweep *c, eddy_dtype d)
{
    const eddy_list xs = { c->t.n, c->t.tensor };
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(c->f), xs, c->dx), EDDY_OK);
    for (int k = 0; k < c->t.n; k++) {
        const bool none = c->flat || is_constant(c, k);
        ck_assert_msg(eddy_is_valid(c->dx[k]) == !none, "%s: %s gradient of input %d",
                      c->fetch.title, none ? "a" : "no", k);
        keep_fetch(&c->fetch, c->dx[k]);
        if (!none) c->f2 = plus(c->f2, weighted(c, c->dx[k], d));
    }
    check_status(c);
    if (!eddy_is_valid(c->f2)) return;
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(c->f2), xs, c->ddx,
                                    .unconnected_gradients = EDDY_UNCONNECTED_ZERO), EDDY_OK);
    for (int k = 0; k < c->t.n; k++) {
        keep_fetch(&c->fetch, c->ddx[k]);
        if (eddy_is_valid(c->dx[k])) c->f3 = plus(c->f3, weighted(c, c->ddx[k], d));
    }
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(c->f3), xs, c->dddx,
                                    .unconnected_gradients = EDDY_UNCONNECTED_ZERO), EDDY_OK);
}

static bool has_op(const sweep *c)
{
    for (int32_t i = 1; i <= eddy_graph_size(c->t.graph); i++)
        if (strcmp(eddy_type_of(eddy_node_at(c->t.graph, i)), c->row->op) == 0) return true;
    return false;
}

/* False if the row is not differentiated. */
static bool sweep_begin(sweep *c, int row, const variant *v)
{
    const sweep_row *r = sweep_row_at(row);
    *c = (sweep){ .row = r, .t = { .graph = eddy_graph_new(), .random = sweep_seed(r) } };
    c->t.session = eddy_session_new(c->t.graph);
    snprintf(c->title, sizeof c->title, "%s %s", r->op, r->how ? r->how : "");
    c->fetch.title = c->title;
    c->flat = op_named(r->op)->gradient == eddy_not_differentiable;
    draw_inputs(c, v);
    build_row(c, v);
    ck_assert_msg(has_op(c), "%s is not in its row", c->fetch.title);
    if (r->options & SWEEP_REFUSES) return false;
    build_gradients(c, v->dtype);
    return true;
}

static variant usual(const sweep_row *r, eddy_dtype d)
{
    variant v = { .dtype = d };
    memcpy(v.shape, r->shape, sizeof v.shape);
    return v;
}

/* -------------------------------------------------------------------- running -- */

/* The largest difference of a and b, over the largest element or 1. */
static double distance(const eddy_array *a, const eddy_array *b)
{
    double most = 0, largest = 1;
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double x = eddy_array_get(a, i), y = eddy_array_get(b, i), d = fabs(x - y);
        largest = fmax(largest, fabs(x));
        if (x != y && !(d <= most)) most = d;      /* a NaN stays */
    }
    return most / largest;
}

static void check_close(const sweep *a, const sweep *b, double tolerance, const char *what)
{
    const int n = a->fetch.n;
    eddy_array *x[FETCHES] = { NULL }, *y[FETCHES] = { NULL };
    ck_assert_int_eq(n, b->fetch.n);
    run_fetches(&a->t, &a->fetch, a->t.graph, *EDDY_ARGS(eddy_session_args, .threads = 0), x);
    run_fetches(&b->t, &b->fetch, b->t.graph, *EDDY_ARGS(eddy_session_args, .threads = 0), y);
    for (int i = 0; i < n; i++)
        ck_assert_msg(distance(x[i], y[i]) <= tolerance, "%s: %s of %s off by %g", a->fetch.title,
                      what, eddy_name_of(a->fetch.at[i]), distance(x[i], y[i]));
    free_arrays(n, x);
    free_arrays(n, y);
}

/* Every gradient has the shape of its input. */
static void check_shapes(sweep *c)
{
    for (int k = 0; k < c->t.n; k++)
        for (int order = 0; order < 2; order++) {
            const eddy_tensor t = order ? c->ddx[k] : c->dx[k];
            if (!eddy_is_valid(t)) continue;
            eddy_array *d = value(&c->t, t);
            ck_assert_msg(eddy_shape_equal(eddy_array_shape(d), eddy_array_shape(c->t.array[k])),
                          "%s: shape of derivative %d of input %d", c->fetch.title, order + 1, k);
            eddy_array_free(d);
        }
}

/* --------------------------------------------------------------------- slopes -- */

static double number_at(sweep *c, eddy_tensor f, int k, int64_t i, double x)
{
    eddy_array_set(c->t.array[k], i, x);
    eddy_array *a = value(&c->t, f);
    const double v = eddy_array_item(a);
    eddy_array_free(a);
    return v;
}

/* The derivative by five points; steps are powers of 2, so that they are exact. */
static double slope_at(sweep *c, eddy_tensor f, int k, int64_t i)
{
    const double x = eddy_array_get(c->t.array[k], i);
    const double h = 0x1p-10 * exp2(floor(log2(fmax(1, fabs(x)))));
    const double near = number_at(c, f, k, i, x + h) - number_at(c, f, k, i, x - h);
    const double far = number_at(c, f, k, i, x + 2 * h) - number_at(c, f, k, i, x - 2 * h);
    eddy_array_set(c->t.array[k], i, x);
    return (8 * near - far) / (12 * h);
}

static void check_slope(sweep *c, eddy_tensor f, const eddy_tensor *dx, double tolerance)
{
    for (int k = 0; k < c->t.n; k++) {
        if (!eddy_is_valid(dx[k])) continue;
        eddy_array *d = value(&c->t, dx[k]);
        for (int64_t i = 0; i < eddy_array_count(d); i++) {
            const double got = eddy_array_get(d, i), want = slope_at(c, f, k, i);
            ck_assert_msg(fabs(got - want) <= tolerance * fmax(1, fabs(want)),
                          "%s: derivative %d of input %d at %d is %.14g, differences give %.14g",
                          c->fetch.title, dx == c->dx ? 1 : dx == c->ddx ? 2 : 3, k, (int)i, got,
                          want);
        }
        eddy_array_free(d);
    }
}

static void check_slopes(sweep *c)
{
    check_shapes(c);
    check_slope(c, c->f, c->dx, 1e-9);
    if (eddy_is_valid(c->f2)) check_slope(c, c->f2, c->ddx, 1e-7);
    if (eddy_is_valid(c->f3)) check_slope(c, c->f3, c->dddx, 1e-6);
}

/* ---------------------------------------------------------------------- tests -- */

START_TEST(gradients_are_slopes)
{
    sweep c;
    const variant v = usual(sweep_row_at(_i), EDDY_FLOAT64);
    if (sweep_begin(&c, _i, &v)) check_slopes(&c);
    else ck_assert_int_eq(eddy_gradients(EDDY_LIST(c.f), EDDY_LIST(c.t.tensor[0]), c.dx),
                          EDDY_NO_GRADIENT);
    trial_end(&c.t);
}
END_TEST

START_TEST(float32_agrees)
{
    sweep wide, narrow;
    const variant v = usual(sweep_row_at(_i), EDDY_FLOAT64);
    const variant w = usual(sweep_row_at(_i), EDDY_FLOAT32);
    if (sweep_row_at(_i)->options & SWEEP_RANDOM) return;
    sweep_begin(&wide, _i, &v);
    sweep_begin(&narrow, _i, &w);
    check_close(&wide, &narrow, 1e-5, "float32");
    trial_end(&wide.t);
    trial_end(&narrow.t);
}
END_TEST

/* Random numbers depend on where in the graph they are made. */
START_TEST(unknown_shapes_agree)
{
    const bool random = sweep_row_at(_i)->options & SWEEP_RANDOM;
    sweep known, open;
    variant v = usual(sweep_row_at(_i), EDDY_FLOAT64);
    sweep_begin(&known, _i, &v);
    for (v.unknown = 1; v.unknown <= 2; v.unknown++) {
        sweep_begin(&open, _i, &v);
        check_shapes(&open);
        if (!random) check_close(&known, &open, 1e-12, "unknown shape");
        trial_end(&open.t);
    }
    trial_end(&known.t);
}
END_TEST

/* Operands of different shapes, each broadcast to the other. */
START_TEST(broadcasting)
{
    static const eddy_shape shapes[][2] = {
        { { 2, { 3, 4 } }, { 1, { 4 } } },        { { 1, { 4 } }, { 2, { 3, 4 } } },
        { { 2, { 3, 1 } }, { 2, { 1, 4 } } },     { { 0, { 0 } }, { 2, { 2, 3 } } },
        { { 2, { 2, 3 } }, { 0, { 0 } } },        { { 3, { 2, 1, 3 } }, { 2, { 4, 1 } } },
        { { 2, { 1, 1 } }, { 1, { 3 } } },        { { 2, { 0, 3 } }, { 1, { 3 } } },
        { { 1, { 1 } }, { 2, { 2, 0 } } },
    };
    for (size_t i = 0; sweep_row_at(_i)->binary && i < sizeof shapes / sizeof *shapes; i++) {
        sweep c;
        variant v = { .dtype = EDDY_FLOAT64, .shape = { shapes[i][0], shapes[i][1] } };
        v.unknown = (int)(i % 3);
        sweep_begin(&c, _i, &v);
        check_slopes(&c);
        trial_end(&c.t);
    }
}
END_TEST

START_TEST(same_operand)
{
    sweep c;
    variant v = usual(sweep_row_at(_i), EDDY_FLOAT64);
    v.same = sweep_row_at(_i)->n == 2 && eddy_shape_equal(v.shape[0], v.shape[1]);
    if (!v.same) return;
    sweep_begin(&c, _i, &v);
    check_slopes(&c);
    trial_end(&c.t);
}
END_TEST

/* v with 1 in place of the size `from` everywhere; false if the row settles it. */
static bool resize(const sweep_row *r, variant *v, int64_t from)
{
    for (size_t i = 0; i < sizeof r->keep / sizeof *r->keep; i++)
        if (from == r->keep[i] || from == 1) return false;
    for (int k = 0; k < r->n; k++)
        for (int d = 0; d < v->shape[k].rank; d++)
            if (v->shape[k].dim[d] == from) v->shape[k].dim[d] = 1;
    return true;
}

START_TEST(size_1)
{
    const sweep_row *r = sweep_row_at(_i);
    for (int64_t from = 2; from <= 7; from++) {
        sweep c;
        variant v = usual(r, EDDY_FLOAT64);
        if (!resize(r, &v, from) || memcmp(v.shape, r->shape, sizeof v.shape) == 0) continue;
        if (sweep_begin(&c, _i, &v)) check_slopes(&c);
        trial_end(&c.t);
    }
}
END_TEST

START_TEST(files_and_options)
{
    sweep c;
    variant v = usual(sweep_row_at(_i), _i % 2 ? EDDY_FLOAT64 : EDDY_FLOAT32);
    v.unknown = _i % 3;
    sweep_begin(&c, _i, &v);
    check_same_bits(&c.t, &c.fetch);
    trial_end(&c.t);
}
END_TEST

/* ------------------------------------------------------------------- coverage -- */

static bool has_row(const char *op)
{
    for (int i = 0; i < sweep_count(); i++)
        if (strcmp(sweep_row_at(i)->op, op) == 0) return true;
    return false;
}

static bool is_exempt(const char *op)
{
    for (int i = 0; i < sweep_exempt_count(); i++)
        if (strcmp(sweep_exempt_at(i)->op, op) == 0) return true;
    return false;
}

/* Each op has a row or a reason to have none, and not both. */
START_TEST(every_op)
{
    char missing[1024] = "";
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++) {
        const size_t n = strlen(missing);
        if (has_row((*op)->name) == is_exempt((*op)->name))
            snprintf(missing + n, sizeof missing - n, " %s", (*op)->name);
    }
    ck_assert_msg(!*missing, "rows of tests/rows_*.c are missing:%s", missing);
    for (int i = 0; i < sweep_exempt_count(); i++)
        ck_assert_ptr_nonnull(op_named(sweep_exempt_at(i)->op));
    for (int i = 0; i < sweep_count(); i++) {
        const eddy_op_def *op = op_named(sweep_row_at(i)->op);
        ck_assert_msg(op, "no op %s", sweep_row_at(i)->op);
        ck_assert(op->gradient || sweep_row_at(i)->options & SWEEP_REFUSES);
    }
}
END_TEST

Suite *sweep_suite(void)
{
    Suite *s = suite_create("sweep");
    TCase *c = tcase_create("ops"), *many = tcase_create("other rows");
    tcase_set_tags(many, "many");
    tcase_add_test(c, every_op);
    tcase_add_loop_test(c, gradients_are_slopes, 0, sweep_count());
    tcase_add_loop_test(c, float32_agrees, 0, sweep_count());
    add_third_rows(c, many, unknown_shapes_agree, 0, sweep_count());
    tcase_add_loop_test(c, broadcasting, 0, sweep_count());
    tcase_add_loop_test(c, same_operand, 0, sweep_count());
    add_third_rows(c, many, size_1, 1, sweep_count());
    add_third_rows(c, many, files_and_options, 2, sweep_count());
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    return s;
}
