/* test_sparse.c -- sparse Jacobians and Hessians against dense ones, the number of products that
 * they take, and derivatives of their elements. */
#include "autodiff/autodiff.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <stdlib.h>

Suite *sparse_suite(void);

static trial t;

static void begin(void)
{
    t = (trial){ .graph = eddy_graph_new(), .random = 9 };
    t.session = eddy_session_new(t.graph);
}

static void end(void)
{
    fits(t.graph);
    trial_end(&t);
}

static eddy_tensor given(eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(&t, 2000) + 1) / 1000.0);
    t.array[t.n] = a;
    return t.tensor[t.n++] = eddy_placeholder(t.graph, NULL, d, s);
}

/* The whole matrix, for the caller to free. */
static double *dense_of(const eddy_sparse_matrix *m)
{
    double     *whole = calloc((size_t)(m->rows * m->columns) + 1, sizeof *whole);
    eddy_array *v = value(&t, m->values), *c = value(&t, m->column), *s = value(&t, m->row_splits);
    ck_assert_int_eq(eddy_array_count(v), m->entries);
    ck_assert_int_eq(eddy_array_count(c), m->entries);
    ck_assert_int_eq(eddy_array_count(s), m->rows + 1);
    ck_assert_int_eq((int64_t)eddy_array_get(s, m->rows), m->entries);
    for (int64_t i = 0; i < m->rows; i++)
        for (double e = eddy_array_get(s, i); e < eddy_array_get(s, i + 1); e++) {
            const int64_t at = (int64_t)e, j = (int64_t)eddy_array_get(c, at);
            ck_assert(e == eddy_array_get(s, i) || j > (int64_t)eddy_array_get(c, at - 1));
            whole[i * m->columns + j] = eddy_array_get(v, at);
        }
    eddy_array_free(v);
    eddy_array_free(c);
    eddy_array_free(s);
    return whole;
}

static void compare(const eddy_sparse_matrix *m, eddy_tensor want, double tolerance)
{
    double     *got = dense_of(m);
    eddy_array *a = value(&t, want);
    ck_assert_int_eq(eddy_array_count(a), m->rows * m->columns);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(fabs(got[i] - eddy_array_get(a, i)) <=
                          tolerance * fmax(1, fabs(eddy_array_get(a, i))),
                      "element %d is %g, not %g", (int)i, got[i], eddy_array_get(a, i));
    eddy_array_free(a);
    free(got);
}

/* Equal to the dense Jacobian, with so many entries and products; -1: any number. */
static eddy_sparse_matrix jacobian(eddy_tensor y, eddy_tensor x, int64_t entries, int64_t colors)
{
    eddy_sparse_matrix m;
    eddy_tensor        want;
    const bool         wide = eddy_dtype_of(x) == EDDY_FLOAT64 && eddy_dtype_of(y) == EDDY_FLOAT64;
    ck_assert_msg(eddy_sparse_jacobian(y, x, &m) == EDDY_OK, "%s", eddy_graph_message(t.graph));
    eddy_jacobian(y, EDDY_LIST(x), &want, EDDY_UNCONNECTED_ZERO, .mode = EDDY_JACOBIAN_REVERSE);
    fits(t.graph);
    compare(&m, want, wide ? 1e-12 : 1e-4);
    ck_assert_int_eq(eddy_dtype_of(m.values), eddy_dtype_of(x));
    if (entries >= 0) ck_assert_int_eq(m.entries, entries);
    if (colors >= 0) ck_assert_int_eq(m.colors, colors);
    return m;
}

static eddy_sparse_matrix hessian(eddy_tensor y, eddy_tensor x, int64_t entries, int64_t colors)
{
    eddy_sparse_matrix m;
    eddy_tensor        want;
    ck_assert_msg(eddy_sparse_hessian(y, x, &m) == EDDY_OK, "%s", eddy_graph_message(t.graph));
    eddy_hessians(y, EDDY_LIST(x), &want, .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    fits(t.graph);
    compare(&m, want, 1e-12);
    if (entries >= 0) ck_assert_int_eq(m.entries, entries);
    if (colors >= 0) ck_assert_int_eq(m.colors, colors);
    return m;
}

static eddy_tensor part(eddy_tensor x, int64_t first, int64_t n)
{
    return eddy_slice(x, EDDY_DIMS(first), EDDY_DIMS(n));
}

/* x[i - 1] - 2 x[i] + x[i + 1] + x[i]^3, with zeros outside. */
static eddy_tensor chain(eddy_tensor x, int64_t n)
{
    const eddy_tensor padded = eddy_pad(x, EDDY_DIMS(1), EDDY_DIMS(1));
    const eddy_tensor sides = Add(part(padded, 0, n), part(padded, 2, n));
    return Add(Sub(sides, Mul(2, x)), Mul(Square(x), x));
}

/* ------------------------------------------------------------------- jacobians -- */

START_TEST(bands)
{
    begin();
    const eddy_tensor x = given(EDDY_FLOAT64, EDDY_SHAPE(20));
    jacobian(chain(x, 20), x, 3 * 20 - 2, 3);
    jacobian(Exp(x), x, 20, 1);
    jacobian(x, x, 20, 1);
    const eddy_tensor single = given(EDDY_FLOAT32, EDDY_SHAPE(6));
    jacobian(Cast(Sin(single), EDDY_FLOAT64), single, 6, 1);
    eddy_sparse_matrix m = jacobian(Mul(Square(x), x), x, 20, 1);
    eddy_array *got = value(&t, eddy_gradient(m.values, x)), *at = value(&t, Mul(6, x));
    for (int i = 0; i < 20; i++)
        ck_assert_double_eq_tol(eddy_array_get(got, i), eddy_array_get(at, i), 1e-12);
    eddy_array_free(got);
    eddy_array_free(at);
    end();
}
END_TEST

/* An arrow: one dense row, which makes rows cheaper than columns, or one dense column. */
START_TEST(arrows)
{
    begin();
    const eddy_tensor x = given(EDDY_FLOAT64, EDDY_SHAPE(9));
    const eddy_tensor first = part(x, 0, 1);
    jacobian(Mul(x, first), x, 2 * 9 - 1, 2);
    const eddy_tensor row = Reshape(Sum(Square(x)), EDDY_SHAPE(1));
    jacobian(eddy_concat(EDDY_LIST(row, Sin(part(x, 1, 8))), 0), x, 9 + 8, 2);
    end();
}
END_TEST

START_TEST(kinds_of_operations)
{
    begin();
    const eddy_tensor x = given(EDDY_FLOAT64, EDDY_SHAPE(3, 4));
    const eddy_tensor w = given(EDDY_FLOAT64, EDDY_SHAPE(4, 2));
    const int32_t     rows[] = { 2, 0, 2 };
    const eddy_tensor at = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(3), rows);
    jacobian(MatMul(x, w), x, 6 * 4, 2);
    jacobian(MatMul(w, x, .transpose_a = true, .transpose_b = true), x, 6 * 4, 2);
    jacobian(MatMul(x, x, .transpose_b = true), x, -1, -1);
    jacobian(eddy_matvec(x, part(Reshape(w, EDDY_SHAPE(8)), 0, 4)), x, 12, 1);
    jacobian(Gather(x, at), x, 12, 1);
    const eddy_tensor corner = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 2 });
    const eddy_tensor square = eddy_zeros(t.graph, EDDY_FLOAT64, EDDY_SHAPE(2, 2));
    jacobian(eddy_slice_at(Square(x), corner, square), x, 4, 1);
    jacobian(eddy_pad_at(eddy_slice_at(x, corner, square), corner, x), x, 4, 1);
    jacobian(Transpose(Mul(x, Sum(x, EDDY_AXES(0)))), x, 12 * 3, 3);
    jacobian(eddy_max(x, .axes = EDDY_AXES(1), .keepdims = true), x, 12, 1);
    jacobian(eddy_tile(x, EDDY_DIMS(2, 1)), x, 24, 1);
    jacobian(eddy_reverse(Reshape(x, EDDY_SHAPE(2, 6)), EDDY_AXES(1)), x, 12, 1);
    jacobian(eddy_stack(EDDY_LIST(x, Exp(x)), 1), x, 24, 1);
    jacobian(eddy_output(eddy_split(Square(x), 2, 1), 1), x, 6, 1);
    jacobian(Softmax(x), x, -1, -1);
    jacobian(eddy_cumsum(x, .axis = 1), x, -1, -1);
    jacobian(Sum(Square(x)), x, 12, 1);
    jacobian(eddy_stop_gradient(x), x, 0, 0);
    jacobian(eddy_grad_pass_through(eddy_cast(Greater(x, 0), EDDY_FLOAT64), x), x, 12, 1);
    jacobian(eddy_grad_pass_through(Transpose(Transpose(Square(x))), x), x, 12, 1);
    jacobian(w, x, 0, 0);
    jacobian(Where(Less(x, 1), Square(x), 3), x, 12, 1);
    jacobian(Add(x, eddy_placeholder_with_default(eddy_zeros(t.graph, EDDY_FLOAT64, EDDY_SHAPE(4)),
                                                  NULL, EDDY_SHAPE(EDDY_ANY))), x, -1, -1);
    const eddy_tensor none = given(EDDY_FLOAT64, EDDY_SHAPE(0, 3));
    jacobian(Exp(none), none, 0, 0);
    end();
}
END_TEST

/* Random compositions: the pattern has every element that is not zero. */
START_TEST(random_compositions)
{
    begin();
    const eddy_tensor x = given(EDDY_FLOAT64, EDDY_SHAPE(6));
    for (int round = 0; round < 20; round++) {
        eddy_tensor y = x;
        for (int step = 0; step < 5; step++) {
            const int k = pick(&t, 6), n = (int)eddy_shape_of(y).dim[0];
            if (k == 0) y = Mul(y, eddy_reverse(y, EDDY_AXES(0)));
            else if (k == 1) y = eddy_concat(EDDY_LIST(Sin(y), part(y, 0, 1)), 0);
            else if (k == 2) y = part(y, n > 2, n - (n > 2));
            else if (k == 3) y = Add(y, part(x, pick(&t, 6), 1));
            else if (k == 4) y = eddy_roll(Tanh(y), 1);
            else y = Div(y, Add(2, Square(y)));
        }
        jacobian(y, x, -1, -1);
        hessian(y, x, -1, -1);
    }
    end();
}
END_TEST

/* -------------------------------------------------------------------- hessians -- */

/* The extended Rosenbrock function couples neighbors: a tridiagonal matrix. */
START_TEST(rosenbrock)
{
    enum { N = 12 };
    begin();
    const eddy_tensor x = given(EDDY_FLOAT64, EDDY_SHAPE(N));
    const eddy_tensor a = part(x, 0, N - 1), b = part(x, 1, N - 1);
    const eddy_tensor y = Sum(Add(Mul(100, Square(Sub(b, Square(a)))), Square(Sub(1, a))));
    const eddy_sparse_matrix h = hessian(y, x, 3 * N - 2, 3);
    eddy_tensor third = eddy_gradient(h.values, x), dense[1];
    eddy_hessians(y, EDDY_LIST(x), dense);
    eddy_array *got = value(&t, third), *want = value(&t, eddy_gradient(Sum(dense[0]), x));
    for (int i = 0; i < N; i++)
        ck_assert_double_eq_tol(eddy_array_get(got, i), eddy_array_get(want, i), 1e-9);
    eddy_array_free(got);
    eddy_array_free(want);
    end();
}
END_TEST

/* In a star coloring an arrow takes two products, whatever its size. */
START_TEST(second_derivatives)
{
    begin();
    const eddy_tensor x = given(EDDY_FLOAT64, EDDY_SHAPE(10));
    const eddy_tensor w = given(EDDY_FLOAT64, EDDY_SHAPE(10));
    hessian(Sum(Mul(Mul(x, x), part(x, 0, 1))), x, 3 * 10 - 2, 2);
    hessian(Sum(Mul(w, x)), x, 0, 0);
    hessian(Sum(Exp(Mul(w, x))), x, 10, 1);
    hessian(eddy_logsumexp(x), x, 100, 10);
    hessian(Sum(Div(x, w)), x, 0, 0);
    hessian(Sum(Div(w, x)), x, 10, 1);
    const eddy_tensor m = given(EDDY_FLOAT64, EDDY_SHAPE(2, 3));
    hessian(Sum(MatMul(m, m, .transpose_b = true)), m, -1, -1);
    hessian(Sum(Square(chain(x, 10))), x, 10 + 2 * (9 + 8), 5);
    end();
}
END_TEST

START_TEST(many)
{
    enum { N = 20000 };
    begin();
    const eddy_tensor  x = given(EDDY_FLOAT64, EDDY_SHAPE(N));
    eddy_sparse_matrix m;
    ck_assert_int_eq(eddy_sparse_jacobian(chain(x, N), x, &m), EDDY_OK);
    ck_assert_int_eq(m.entries, 3 * N - 2);
    ck_assert_int_eq(m.colors, 3);
    eddy_array *v = value(&t, m.values);
    for (int64_t i = 1; i < N; i++) {
        ck_assert_double_eq(eddy_array_get(v, 3 * i - 1), 1);
        const double at = eddy_array_get(t.array[0], i);
        ck_assert_double_eq_tol(eddy_array_get(v, 3 * i), 3 * at * at - 2, 1e-12);
    }
    eddy_array_free(v);
    end();
}
END_TEST

/* --------------------------------------------------- a user's operations -- */

/* y[i] = sum(x). */
static eddy_status sums_kernel(eddy_kernel *k)
{
    const double *x = k->in[0]->data;
    double       *y = k->out[0]->data, sum = 0;
    for (int64_t i = 0; i < k->in[0]->count; i++) sum += x[i];
    for (int64_t i = 0; i < k->out[0]->count; i++) y[i] = sum;
    return EDDY_OK;
}
/* y = sum(x)^2 / 2. */
static eddy_status square_kernel(eddy_kernel *k)
{
    const eddy_status s = sums_kernel(k);
    double           *y = k->out[0]->data;
    *y = *y * *y / 2;
    return s;
}
static bool like_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static bool scalar_infer(eddy_infer *c)
{
    c->out[0] = (eddy_type){ c->in[0].dtype, EDDY_SCALAR };
    return true;
}
static void sums_gradient(eddy_rule *r) { r->dx[0] = BroadcastLike(Sum(r->dy[0]), r->x[0]); }
static void square_gradient(eddy_rule *r)
{
    r->dx[0] = BroadcastLike(Mul(r->dy[0], Sum(r->x[0])), r->x[0]);
}

/* A name says nothing about the elements on which an operation depends. */
START_TEST(names_of_the_library)
{
    static const char *const names[] = { "Roll", "Slice", "BiasAdd", "AddN", "Cast", "StopGradient",
                                         "GradPassThrough" };
    static const char *const linear[] = { "Sum", "Mean", "Cumsum", "Add", "Neg", "Mul" };
    eddy_op_def sums[sizeof names / sizeof *names], squares[sizeof linear / sizeof *linear];
    begin();
    const eddy_tensor x = given(EDDY_FLOAT64, EDDY_SHAPE(4));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        sums[i] = (eddy_op_def){ .name = names[i], .min_inputs = 1, .max_inputs = 1, .outputs = 1,
                                 .infer = like_infer, .kernel = sums_kernel,
                                 .gradient = sums_gradient };
        jacobian(eddy_apply1(&sums[i], NULL, x), x, 16, -1);
    }
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++) {
        squares[i] = (eddy_op_def){ .name = linear[i], .min_inputs = 1, .max_inputs = 1,
                                    .outputs = 1, .infer = scalar_infer, .kernel = square_kernel,
                                    .gradient = square_gradient };
        hessian(eddy_apply1(&squares[i], NULL, x), x, 16, -1);
    }
    end();
}
END_TEST

/* x reversed. */
static eddy_status turned_kernel(eddy_kernel *k)
{
    const double *x = k->in[0]->data;
    double       *y = k->out[0]->data;
    const int64_t n = k->in[0]->count;
    for (int64_t i = 0; i < n; i++) y[i] = x[n - 1 - i];
    return EDDY_OK;
}
static void turned_gradient(eddy_rule *r) { r->dx[0] = eddy_reverse(r->dy[0], EDDY_DIMS(0)); }

START_TEST(declared_moves)
{
    static const eddy_op_def turned = { .name = "Turned", .min_inputs = 1, .max_inputs = 1,
                                        .outputs = 1, .flags = EDDY_OP_MOVES, .infer = like_infer,
                                        .kernel = turned_kernel, .gradient = turned_gradient };
    begin();
    const eddy_tensor x = given(EDDY_FLOAT64, EDDY_SHAPE(5));
    jacobian(eddy_apply1(&turned, NULL, Square(x)), x, 5, 1);
    hessian(Sum(eddy_apply1(&turned, NULL, Square(x))), x, 5, 1);
    end();
}
END_TEST

START_TEST(what_does_not_fit)
{
    begin();
    const eddy_tensor  x = given(EDDY_FLOAT64, EDDY_SHAPE(3));
    const eddy_tensor  open = eddy_placeholder(t.graph, "open", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor  whole = eddy_placeholder(t.graph, "whole", EDDY_INT32, EDDY_SHAPE(3));
    eddy_sparse_matrix m;
    eddy_sparse_jacobian(Square(x), x, NULL);
    fails(t.graph, EDDY_INVALID_ARGUMENT, "sparse_jacobian: out is NULL");
    eddy_sparse_jacobian(Square(open), open, &m);
    fails(t.graph, EDDY_BAD_SHAPE, "all sizes between x and y must be known");
    ck_assert(!eddy_is_valid(m.values));
    eddy_sparse_hessian(whole, x, &m);
    fails(t.graph, EDDY_BAD_DTYPE,
          "'whole' is int32; float32, float64, float16 or bfloat16 expected");
    const eddy_tensor nodes = eddy_boolean_mask(x, Less(x, 1));
    eddy_sparse_jacobian(Sum(nodes), x, &m);
    fails(t.graph, EDDY_BAD_SHAPE, "must be known");
    /* A tensor of a graph that was freed, with a number that a node of this one has. */
    eddy_graph       *gone = eddy_graph_new();
    const eddy_tensor freed = eddy_scalar(gone, 1);
    eddy_graph_free(gone);
    eddy_sparse_jacobian(freed, x, &m);
    fails(t.graph, EDDY_INVALID_ARGUMENT, "sparse_jacobian: y");
    eddy_sparse_hessian(x, freed, &m);
    fails(t.graph, EDDY_INVALID_ARGUMENT, "sparse_hessian: x");
    end();
}
END_TEST

Suite *sparse_suite(void)
{
    Suite *s = suite_create("sparse");
    TCase *c = tcase_create("sparse");
    tcase_add_test(c, bands);
    tcase_add_test(c, arrows);
    tcase_add_test(c, kinds_of_operations);
    tcase_add_test(c, random_compositions);
    tcase_add_test(c, rosenbrock);
    tcase_add_test(c, second_derivatives);
    tcase_add_test(c, many);
    tcase_add_test(c, names_of_the_library);
    tcase_add_test(c, declared_moves);
    tcase_add_test(c, what_does_not_fit);
    suite_add_tcase(s, c);
    return s;
}
