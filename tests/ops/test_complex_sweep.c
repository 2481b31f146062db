/* test_complex_sweep.c -- the rows of the sweep with complex inputs, for every operation that takes
 * them. The gradient of a real function L must be dL/dRe x + i dL/dIm x, and likewise for the
 * gradient of the gradient. */
#include "tests/lib/bits/same_bits.h"
#include "tests/lib/sweep_rows.h"
#include "tests/lib/third_rows.h"

#include <math.h>

Suite *complex_sweep_suite(void);

/* ------------------------------------------------------------------- the rows -- */

/* Real rows choose by an order, which complex numbers do not have. */
static eddy_tensor chosen(eddy_tensor a, eddy_tensor b)
{
    return Where(Less(Imag(a), Real(b)), a, b);
}
static eddy_tensor adjoint(eddy_graph *g, const eddy_tensor *x)
{
    (void)g;
    return MatMul(x[0], x[1], .adjoint_a = true, .adjoint_b = true);
}
static eddy_tensor hermitian(eddy_graph *g, const eddy_tensor *x)
{
    (void)g;
    return MatMul(x[0], x[0], .adjoint_b = true);
}

#define UNARY(type, fn, from, to)                                               \
    { .op = type, .unary = fn, .n = 1, .shape = { { 2, { 3, 4 } } },            \
      .low = { from }, .high = { to } }
static const sweep_row more_rows[] = {
    UNARY("Conj", eddy_conj, -2, 2),
    UNARY("Real", eddy_real, -2, 2),
    UNARY("Imag", eddy_imag, -2, 2),
    UNARY("ComplexAbs", eddy_abs, 0.5, 2),
    UNARY("Angle", eddy_angle, 0.5, 2),
    { .op = "SelectV2", .binary = chosen, .n = 2,
      .shape = { { 2, { 3, 4 } }, { 2, { 3, 4 } } } },
    { .op = "MatMul", .how = "adjoints", .build = adjoint, .n = 2,
      .shape = { { 2, { 3, 2 } }, { 2, { 4, 3 } } } },
    { .op = "MatMul", .how = "a a'", .build = hermitian, .n = 1, .shape = { { 2, { 3, 4 } } } },
};
enum { MORE = sizeof more_rows / sizeof *more_rows };

static const sweep_row *row_at(int i)
{
    return i < MORE ? &more_rows[i] : sweep_row_at(i - MORE);
}

/* All rows of these must take complex inputs; of another op they may. */
static bool must_take(const sweep_row *r)
{
    static const char *const ops[] = {
        "Neg", "Abs", "Sign", "Square", "Reciprocal", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log",
        "Log1p", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh",
        "Atanh", "Tanh", "Sigmoid", "Identity", "StopGradient", "ZerosLike",
        "OnesLike", "Rank", "Add", "Sub", "Mul", "RealDiv", "DivNoNan", "MulNoNan", "Xlogy",
        "Xdivy", "Pow", "SquaredDifference", "Equal", "NotEqual", "Cast", "AddN",
        "PlaceholderWithDefault", "Fill",
        "Sum", "Mean", "Prod", "Cumsum", "Cumprod", "LinearScan", "Shift", "MatMul",
        "BatchMatMulV2", "BiasAdd", "MatrixTranspose", "Cross", "Cholesky", "MatrixSolve",
        "MatrixTriangularSolve", "MatrixInverse", "MatrixDeterminant", "SelfAdjointEigV2",
        "BroadcastTo", "BroadcastLike", "SumLike", "BroadcastAlong", "Reshape", "ReshapeTo",
        "ReshapeLike", "MergeLeading", "ExpandDims", "Squeeze", "Transpose", "Tile", "TileGrad",
        "Slice", "SliceLike", "SliceGrad", "PadV2", "ConcatV2", "Pack", "Unpack", "Split", "SplitV",
        "SplitLike", "GatherV2", "GatherGrad", "IndexedSlices", "InplaceAdd", "SumDuplicates",
        "OneHot", "Shape", "Size", "RowNumbers", "SegmentSum", "SegmentMean", "SegmentProd",
        "UnsortedSegmentSum", "UnsortedSegmentProd",
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(r->op, ops[i]) == 0) return !(r->options & SWEEP_REAL);
    return r >= more_rows && r < more_rows + MORE;
}

/* ------------------------------------------------------------------- building -- */

typedef struct variant {
    eddy_dtype dtype;
    eddy_shape shape[SWEEP_INPUTS];
    int        unknown;          /* while building: 1 the leading sizes, 2 the ranks */
} variant;

/* f and f2 are real: of the row's outputs, and of its gradient dx. */
typedef struct sweep {
    trial            t;
    const sweep_row *row;
    char             title[96];
    eddy_tensor      f, f2, dx[SWEEP_INPUTS], ddx[SWEEP_INPUTS];
    fetches          fetch;
} sweep;

/* Real parts as the row wants them, imaginary ones that keep off 0 and off the
 * poles of tanh; all are multiples of 1/1024. */
static void draw_inputs(sweep *c, const variant *v)
{
    for (int k = 0; k < c->row->n; k++) {
        const double a = c->row->low[k], b = c->row->high[k];
        const double low = a == b ? -2 : a, high = a == b ? 2 : b;
        eddy_array *x = eddy_array_new(v->dtype, v->shape[k]);
        for (int64_t i = 0; i < eddy_array_count(x); i++) {
            const double re = low + (high - low) * (pick(&c->t, 1000) + 0.5) / 1000;
            const double im = (pick(&c->t, 2) ? 1 : -1) * (0.6 + 0.3 * pick(&c->t, 1000) / 1000);
            eddy_array_set_complex(x, i, round(re * 1024) / 1024, round(im * 1024) / 1024);
        }
        eddy_shape s = v->shape[k];
        if (v->unknown && s.rank > 0) s.dim[0] = EDDY_ANY;
        if (v->unknown == 2) s = EDDY_UNKNOWN_SHAPE;
        c->t.array[c->t.n] = x;
        c->t.tensor[c->t.n++] = eddy_placeholder(c->t.graph, NULL, v->dtype, s);
    }
}

/* sum + the real part of a sum of y with random complex weights. */
static eddy_tensor plus_weighted(sweep *c, eddy_tensor sum, eddy_tensor y, eddy_dtype d)
{
    eddy_array *shape = value(&c->t, y), *w = eddy_array_new(d, eddy_array_shape(shape));
    for (int64_t i = 0; i < eddy_array_count(w); i++)
        eddy_array_set_complex(w, i, (pick(&c->t, 1024) - 512) / 512.0,
                               (pick(&c->t, 1024) - 512) / 512.0);
    const eddy_tensor term = Real(Sum(Mul(eddy_constant(c->t.graph, w, NULL), Cast(y, d))));
    eddy_array_free(shape);
    eddy_array_free(w);
    return eddy_is_valid(sum) ? Add(sum, term) : term;
}

static bool is_differentiable(eddy_tensor y)
{
    return eddy_dtype_is_differentiable(eddy_dtype_of(y));
}

static void build_gradients(sweep *c, eddy_dtype d)
{
    const eddy_list xs = { c->t.n, c->t.tensor };
    ck_assert_msg(eddy_gradients(EDDY_LIST(c->f), xs, c->dx) == EDDY_OK, "%s: %s", c->title,
                  eddy_graph_message(c->t.graph));
    for (int k = 0; k < c->t.n; k++) {
        keep_fetch(&c->fetch, c->dx[k]);
        if (eddy_is_valid(c->dx[k])) c->f2 = plus_weighted(c, c->f2, c->dx[k], d);
    }
    if (!eddy_is_valid(c->f2)) return;
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(c->f2), xs, c->ddx,
                                    .unconnected_gradients = EDDY_UNCONNECTED_ZERO), EDDY_OK);
    for (int k = 0; k < c->t.n; k++) keep_fetch(&c->fetch, c->ddx[k]);
}

/* False, with everything freed, if the row takes no complex numbers. */
static bool sweep_begin(sweep *c, const sweep_row *r, const variant *v)
{
    *c = (sweep){ .row = r, .t = { .graph = eddy_graph_new(), .random = 7 } };
    c->t.session = eddy_session_new(c->t.graph);
    snprintf(c->title, sizeof c->title, "complex %s %s", r->op, r->how ? r->how : "");
    c->fetch.title = c->title;
    draw_inputs(c, v);
    const eddy_tensor *x = c->t.tensor;
    const eddy_tensor y = r->unary ? r->unary(x[0])
                        : r->binary ? r->binary(x[0], x[1]) : r->build(c->t.graph, x);
    const bool refused = eddy_graph_status(c->t.graph) == EDDY_BAD_DTYPE;
    ck_assert_msg(!refused || !must_take(r), "%s", eddy_graph_message(c->t.graph));
    ck_assert_msg(refused || eddy_graph_status(c->t.graph) == EDDY_OK, "%s",
                  eddy_graph_message(c->t.graph));
    if (refused || r->options & (SWEEP_REFUSES | SWEEP_RANDOM | SWEEP_REAL)) {
        trial_end(&c->t);
        return false;
    }
    for (int i = 0; i < eddy_outputs_of(y); i++) {
        const eddy_tensor one = eddy_output(y, i);
        keep_fetch(&c->fetch, one);
        if (is_differentiable(one)) c->f = plus_weighted(c, c->f, one, v->dtype);
    }
    keep_fetch(&c->fetch, c->f);
    if (eddy_is_valid(c->f)) build_gradients(c, v->dtype);
    return true;
}

static variant usual(const sweep_row *r, eddy_dtype d, int unknown)
{
    variant v = { .dtype = d, .unknown = unknown };
    memcpy(v.shape, r->shape, sizeof v.shape);
    return v;
}

/* --------------------------------------------------------------------- slopes -- */

static double number_at(sweep *c, eddy_tensor f, double *part, double x)
{
    *part = x;
    eddy_array *a = value(&c->t, f);
    const double v = eddy_array_item(a);
    eddy_array_free(a);
    return v;
}

/* The derivative of f with respect to one part of an element, by five points. */
static double slope_at(sweep *c, eddy_tensor f, int k, int64_t i, int part)
{
    double *at = (double *)eddy_array_data(c->t.array[k]) + 2 * i + part;
    const double x = *at, h = 0x1p-10 * exp2(floor(log2(fmax(1, fabs(x)))));
    const double near = number_at(c, f, at, x + h) - number_at(c, f, at, x - h);
    const double far = number_at(c, f, at, x + 2 * h) - number_at(c, f, at, x - 2 * h);
    *at = x;
    return (8 * near - far) / (12 * h);
}

static void check_slope(sweep *c, eddy_tensor f, const eddy_tensor *dx, double tolerance)
{
    for (int k = 0; k < c->t.n; k++) {
        if (!eddy_is_valid(dx[k])) continue;
        eddy_array *d = value(&c->t, dx[k]);
        ck_assert_int_eq(eddy_array_dtype(d), EDDY_COMPLEX128);
        ck_assert(eddy_shape_equal(eddy_array_shape(d), eddy_array_shape(c->t.array[k])));
        for (int64_t i = 0; i < eddy_array_count(d); i++)
            for (int part = 0; part < 2; part++) {
                const double want = slope_at(c, f, k, i, part);
                const double got = part ? eddy_array_get_imag(d, i) : eddy_array_get(d, i);
                ck_assert_msg(fabs(got - want) <= tolerance * fmax(1, fabs(want)),
                              "%s: derivative %d of input %d at %d, %s part, is %.14g, "
                              "differences give %.14g", c->title, dx == c->dx ? 1 : 2, k, (int)i,
                              part ? "imaginary" : "real", got, want);
            }
        eddy_array_free(d);
    }
}

static void check_slopes(const sweep_row *r, const variant *v)
{
    sweep c;
    if (!sweep_begin(&c, r, v)) return;
    if (eddy_is_valid(c.f)) check_slope(&c, c.f, c.dx, 1e-9);
    if (eddy_is_valid(c.f2)) check_slope(&c, c.f2, c.ddx, 1e-7);
    trial_end(&c.t);
}

START_TEST(gradients_are_slopes)
{
    for (int unknown = 0; unknown <= 2; unknown += 2) {
        const variant v = usual(row_at(_i), EDDY_COMPLEX128, unknown);
        check_slopes(row_at(_i), &v);
    }
}
END_TEST

START_TEST(broadcasting)
{
    static const eddy_shape shapes[][2] = {
        { { 2, { 3, 2 } }, { 1, { 2 } } }, { { 2, { 3, 1 } }, { 2, { 1, 2 } } },
        { { 0, { 0 } }, { 1, { 3 } } },    { { 2, { 0, 3 } }, { 1, { 3 } } },
    };
    for (size_t i = 0; row_at(_i)->binary && i < sizeof shapes / sizeof *shapes; i++) {
        const variant v = { .dtype = EDDY_COMPLEX128, .shape = { shapes[i][0], shapes[i][1] },
                            .unknown = (int)(i % 3) };
        check_slopes(row_at(_i), &v);
    }
}
END_TEST

/* ------------------------------------------------------------------ same values -- */

/* The largest difference of parts, over the largest part or 1. */
static double distance(const eddy_array *a, const eddy_array *b)
{
    double most = 0, largest = 1;
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double re = eddy_array_get(a, i) - eddy_array_get(b, i);
        const double im = eddy_array_get_imag(a, i) - eddy_array_get_imag(b, i);
        largest = fmax(largest, hypot(eddy_array_get(a, i), eddy_array_get_imag(a, i)));
        if (!(hypot(re, im) <= most)) most = hypot(re, im);
    }
    return most / largest;
}

START_TEST(complex64_agrees)
{
    sweep wide, narrow;
    eddy_array *x[FETCHES] = { NULL }, *y[FETCHES] = { NULL };
    const variant v = usual(row_at(_i), EDDY_COMPLEX128, 0);
    const variant w = usual(row_at(_i), EDDY_COMPLEX64, 0);
    if (!sweep_begin(&wide, row_at(_i), &v)) return;
    ck_assert(sweep_begin(&narrow, row_at(_i), &w));
    run_fetches(&wide.t, &wide.fetch, wide.t.graph, *EDDY_ARGS(eddy_session_args, .threads = 0), x);
    run_fetches(&narrow.t, &narrow.fetch, narrow.t.graph,
                *EDDY_ARGS(eddy_session_args, .threads = 0), y);
    for (int i = 0; i < wide.fetch.n; i++)
        ck_assert_msg(distance(x[i], y[i]) <= 1e-5, "%s: %s off by %g", wide.title,
                      eddy_name_of(wide.fetch.at[i]), distance(x[i], y[i]));
    free_arrays(wide.fetch.n, x);
    free_arrays(narrow.fetch.n, y);
    trial_end(&wide.t);
    trial_end(&narrow.t);
}
END_TEST

START_TEST(files_and_options)
{
    sweep c;
    const variant v = usual(row_at(_i), _i % 2 ? EDDY_COMPLEX128 : EDDY_COMPLEX64, _i % 3);
    if (!sweep_begin(&c, row_at(_i), &v)) return;
    check_same_bits(&c.t, &c.fetch);
    trial_end(&c.t);
}
END_TEST

Suite *complex_sweep_suite(void)
{
    Suite *s = suite_create("complex_sweep");
    TCase *t = tcase_create("ops"), *many = tcase_create("other rows");
    tcase_set_tags(many, "many");
    const int rows = MORE + sweep_count();
    tcase_add_loop_test(t, gradients_are_slopes, 0, rows);
    tcase_add_loop_test(t, broadcasting, 0, rows);
    tcase_add_loop_test(t, complex64_agrees, 0, rows);
    add_third_rows(t, many, files_and_options, 0, rows);
    suite_add_tcase(s, t);
    suite_add_tcase(s, many);
    return s;
}
