/* test_linear_solvers.c -- conjugate gradients, GMRES and Lanczos's method against LAPACK, and
 * their implicit derivatives against those of dense solutions and finite differences. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"
#include "tests/lib/third_rows.h"

/* ------------------------------------------------------------------ operators -- */

/* A matrix c[0] times a vector. */
BODY(times, eddy_matvec(c[0], x[0]))
BODY(over_diagonal, Div(x[0], eddy_matrix_diag_part(c[0])))
/* The same of two tensors, [n - 2] and [1,2], which are the parts of a vector. */
static int times_parts(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    const int64_t      n = eddy_shape_of(c[0]).dim[0];
    const eddy_tensor  v = eddy_concat(EDDY_LIST(in.at[0], eddy_reshape(in.at[1], EDDY_SHAPE(2))));
    const eddy_tensor  image = eddy_matvec(c[0], v);
    y[0] = eddy_slice(image, EDDY_DIMS(0), EDDY_DIMS(n - 2));
    y[1] = eddy_reshape(eddy_slice(image, EDDY_DIMS(n - 2), EDDY_DIMS(2)), EDDY_SHAPE(1, 2));
    return 2;
}

static eddy_tensor fed_matrix(trial *t, int64_t n)
{
    return eddy_set_shape(fed_numbers(t, EDDY_SHAPE(n, n), -1, 1), EDDY_SHAPE(n, n));
}
static eddy_tensor fed_vector(trial *t, int64_t n)
{
    return eddy_set_shape(fed_numbers(t, EDDY_SHAPE(n), -1, 1), EDDY_SHAPE(n));
}

/* A symmetric matrix whose eigenvalues are not below 1; one that is only near the identity. */
static eddy_tensor definite(eddy_tensor m)
{
    const int64_t n = eddy_shape_of(m).dim[0];
    return Add(eddy_matmul(m, m, .transpose_b = true), eddy_eye(m.graph, n, .dtype = F64));
}
static eddy_tensor regular(eddy_tensor m)
{
    const int64_t n = eddy_shape_of(m).dim[0];
    return Add(m, Mul(0.6 * (double)n, eddy_eye(m.graph, n, .dtype = F64)));
}

/* As loops, and dense. */
static eddy_tensor by_gradients(eddy_tensor a, eddy_tensor b)
{
    eddy_tensor x = eddy_none(a.graph);
    ck_assert_msg(eddy_conjugate_gradient(FUNCTION(times, a), EDDY_LIST(b), &x,
                                          .tolerance = 1e-14) == 1,
                  "%s", eddy_graph_message(a.graph));
    return x;
}
static eddy_tensor by_gmres(eddy_tensor a, eddy_tensor b)
{
    eddy_tensor x = eddy_none(a.graph);
    ck_assert_msg(eddy_gmres(FUNCTION(times, a), EDDY_LIST(b), &x, .tolerance = 1e-14) == 1, "%s",
                  eddy_graph_message(a.graph));
    return x;
}
static eddy_tensor by_lapack(eddy_tensor a, eddy_tensor b)
{
    return Squeeze(eddy_solve(a, ExpandDims(b, 1)), EDDY_AXES(1));
}

static void are_equal(trial *t, eddy_tensor x, eddy_tensor want, double tolerance)
{
    eddy_array *got = value(t, x), *w = value(t, want);
    ck_assert_int_eq(eddy_array_count(got), eddy_array_count(w));
    for (int64_t i = 0; i < eddy_array_count(w); i++) {
        const double v = eddy_array_get(w, i);
        ck_assert_msg(fabs(eddy_array_get(got, i) - v) <= tolerance * (1 + fabs(v)),
                      "element %d is %.15g; %.15g expected", (int)i, eddy_array_get(got, i), v);
    }
    eddy_array_free(got), eddy_array_free(w);
}

/* -------------------------------------------------------------------- systems -- */

/* Values and derivatives to the third order, by the matrix and the right side. */
static void check_orders(trial *t, eddy_tensor x, eddy_tensor want, eddy_tensor m, eddy_tensor b)
{
    for (int order = 0; order < 4; order++) {
        are_equal(t, x, want, 1e-9);
        x = Add(Sum(slope(Square(x), m), EDDY_AXES(0)), slope(Square(x), b));
        want = Add(Sum(slope(Square(want), m), EDDY_AXES(0)), slope(Square(want), b));
    }
}

START_TEST(dense_gradients)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor m = fed_matrix(&t, 7), b = fed_vector(&t, 7), a = definite(m);
    check_orders(&t, by_gradients(a, b), by_lapack(a, b), m, b);
    trial_end(&t);
}
END_TEST

START_TEST(dense_gmres)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor m = fed_matrix(&t, 7), b = fed_vector(&t, 7), a = regular(m);
    check_orders(&t, by_gmres(a, b), by_lapack(a, b), m, b);
    trial_end(&t);
}
END_TEST

/* A diagonal preconditioner changes no result. */
START_TEST(preconditioned)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor m = fed_matrix(&t, 7), b = fed_vector(&t, 7);
    const eddy_tensor a = definite(m), other = regular(m);
    eddy_tensor       x[2];
    ck_assert_msg(eddy_conjugate_gradient(FUNCTION(times, a), EDDY_LIST(b), &x[0],
                                          .preconditioner = FUNCTION(over_diagonal, a),
                                          .tolerance = 1e-14) == 1,
                  "%s", eddy_graph_message(t.graph));
    ck_assert_msg(eddy_gmres(FUNCTION(times, other), EDDY_LIST(b), &x[1],
                             .preconditioner = FUNCTION(over_diagonal, other),
                             .tolerance = 1e-14) == 1,
                  "%s", eddy_graph_message(t.graph));
    check_orders(&t, x[0], by_lapack(a, b), m, b);
    check_orders(&t, x[1], by_lapack(other, b), m, b);
    trial_end(&t);
}
END_TEST

/* Parts of a vector as tensors of their own; theta and what is captured. */
START_TEST(several_tensors)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor m = fed_matrix(&t, 6), b = fed_vector(&t, 6), a = regular(m);
    const eddy_tensor first = eddy_slice(b, EDDY_DIMS(0), EDDY_DIMS(4));
    const eddy_tensor last = eddy_reshape(eddy_slice(b, EDDY_DIMS(4), EDDY_DIMS(2)),
                                          EDDY_SHAPE(1, 2));
    eddy_tensor       x[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_gmres(FUNCTION(times_parts, a), EDDY_LIST(first, last), x, EDDY_LIST(m),
                             .tolerance = 1e-14) == 2,
                  "%s", eddy_graph_message(t.graph));
    is_shaped(&t, x[1], EDDY_SHAPE(1, 2));
    const eddy_tensor all = eddy_concat(EDDY_LIST(x[0], eddy_reshape(x[1], EDDY_SHAPE(2))));
    check_orders(&t, all, by_lapack(a, b), m, b);
    trial_end(&t);
}
END_TEST

START_TEST(differences)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor in[2] = { fed_numbers(&t, EDDY_SHAPE(5, 5), -1, 1),
                                fed_numbers(&t, EDDY_SHAPE(5), -1, 1) };
    const eddy_tensor m = eddy_set_shape(in[0], EDDY_SHAPE(5, 5));
    const eddy_tensor b = eddy_set_shape(in[1], EDDY_SHAPE(5));
    check_slopes(&t, by_gradients(definite(m), b), 2, in, 2);
    check_slopes(&t, by_gmres(regular(m), b), 2, in, 2);
    trial_end(&t);
}
END_TEST

/* The second differences of a vector of zeros at both ends. */
static int laplacian(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor x = in.at[0];
    (void)context;
    y[0] = Sub(Mul(2, x), Add(eddy_pad(eddy_index(x, "1:"), EDDY_DIMS(0), EDDY_DIMS(1)),
                              eddy_pad(eddy_index(x, ":-1"), EDDY_DIMS(1), EDDY_DIMS(0))));
    return 1;
}

/* A large system, of which no matrix exists; also with short cycles, and of unknown size. */
START_TEST(without_a_matrix)
{
    enum { N = 60 };
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor b = fed_numbers(&t, EDDY_SHAPE(N), -1, 1);
    const eddy_tensor two = eddy_fill(eddy_constant(t.graph, EDDY_INTS(1, N)), constant(&t, 2));
    const eddy_tensor off = Neg(eddy_ones(t.graph, F64, EDDY_SHAPE(1, N)));
    const eddy_tensor diagonals = eddy_concat(EDDY_LIST(off, two, off), 0);
    const eddy_tensor want = Squeeze(eddy_tridiagonal_solve(diagonals, ExpandDims(b, 1)),
                                     EDDY_AXES(1));
    eddy_tensor       x;
    ck_assert_int_eq(eddy_conjugate_gradient(PLAIN(laplacian), EDDY_LIST(b), &x,
                                             .tolerance = 1e-13), 1);
    are_equal(&t, x, want, 1e-9);
    ck_assert_int_eq(eddy_gmres(PLAIN(laplacian), EDDY_LIST(b), &x, .restart = 25,
                                .tolerance = 1e-12, .maximum_iterations = 1000), 1);
    are_equal(&t, x, want, 1e-8);
    ck_assert_int_eq(eddy_gmres(PLAIN(laplacian), EDDY_LIST(b), &x, .restart = 100,
                                .tolerance = 1e-12, .maximum_iterations = 2), 1);
    are_equal(&t, x, want, 1e-8);
    trial_end(&t);
}
END_TEST

/* A guess changes only the iterations, and none are needed for the solution itself, or for b = 0;
 * the size of b is of no interest. */
START_TEST(guesses_and_sizes)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor m = fed_matrix(&t, 5), b = fed_vector(&t, 5), a = definite(m);
    const eddy_tensor want = by_lapack(a, b), guess = Mul(want, 1 + 1e-9);
    eddy_tensor       x;
    for (int k = 0; k < 4; k++) {
        const double      size = k == 0 ? 1 : k == 1 ? 0 : k == 2 ? 1e200 : 1e-200;
        const eddy_tensor side = Mul(size, b), start = k < 2 ? guess : Mul(size, guess);
        ck_assert_int_eq(eddy_conjugate_gradient(FUNCTION(times, a), EDDY_LIST(side), &x,
                                                 .x0 = EDDY_LIST(start), .tolerance = 1e-7,
                                                 .maximum_iterations = 1), 1);
        are_equal(&t, size == 0 ? x : Div(x, size), Mul(size == 0 ? 0 : 1, want), 1e-6);
        ck_assert_int_eq(eddy_gmres(FUNCTION(times, a), EDDY_LIST(side), &x,
                                    .tolerance = 1e-12), 1);
        are_equal(&t, size == 0 ? x : Div(x, size), Mul(size == 0 ? 0 : 1, want), 1e-8);
    }
    trial_end(&t);
}
END_TEST

/* ---------------------------------------------------------------- inside maps -- */

BODY(solution, by_gradients(c[0], x[0]))
BODY(solution_by_gmres, by_gmres(c[0], x[0]))
BODY(squares_slope, slope(Square(by_gmres(c[0], x[0])), x[0]))

/* Each example has its own number of iterations. */
START_TEST(maps)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor a = definite(fed_matrix(&t, 4));
    const eddy_tensor b = eddy_set_shape(fed_numbers(&t, EDDY_SHAPE(3, 4), -1, 1),
                                         EDDY_SHAPE(3, 4));
    const eddy_tensor   dense = Transpose(eddy_solve(a, Transpose(b)));
    const eddy_function fs[] = { FUNCTION(solution, a), FUNCTION(solution_by_gmres, a),
                                 FUNCTION(squares_slope, a) };
    for (int k = 0; k < 3; k++) {
        eddy_tensor       x[EDDY_MAX_RESULTS], rows[EDDY_MAX_RESULTS];
        const eddy_tensor want = k < 2 ? dense : slope(Square(dense), b);
        ck_assert_msg(eddy_vmap(fs[k], EDDY_LIST(b), x) == 1, "%s", eddy_graph_message(t.graph));
        ck_assert_msg(eddy_map_fn(fs[k], EDDY_LIST(b), rows) == 1, "%s",
                      eddy_graph_message(t.graph));
        are_equal(&t, x[0], want, 1e-9);
        are_equal(&t, rows[0], want, 1e-9);
        are_equal(&t, slope(Square(x[0]), b), slope(Square(want), b), 1e-8);
        are_equal(&t, slope(Square(rows[0]), b), slope(Square(want), b), 1e-8);
    }
    trial_end(&t);
}
END_TEST

BODY(damped, Mul(0.5, by_gmres(c[0], x[0])))

/* A loop whose steps are solutions, to the second order. */
START_TEST(in_a_loop)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor in[2] = { fed_numbers(&t, EDDY_SHAPE(3, 3), -1, 1),
                                fed_numbers(&t, EDDY_SHAPE(3), -1, 1) };
    const eddy_tensor a = regular(eddy_set_shape(in[0], EDDY_SHAPE(3, 3)));
    eddy_tensor       x[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_iterate(3, FUNCTION(damped, a),
                               EDDY_LIST(eddy_set_shape(in[1], EDDY_SHAPE(3))), x) == 1,
                  "%s", eddy_graph_message(t.graph));
    check_slopes(&t, x[0], 2, in, 2);
    trial_end(&t);
}
END_TEST

/* Values and gradients are in a file. */
START_TEST(files)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor m = eddy_reshape(eddy_constant(g, EDDY_DOUBLES(4, 1, 1, 3)), EDDY_SHAPE(2, 2));
    eddy_tensor b = eddy_constant(g, EDDY_DOUBLES(1, 2)), y[3];
    ck_assert_int_eq(eddy_lanczos(FUNCTION(times, m), EDDY_LIST(b), y), 2);
    y[2] = Add(by_gmres(m, b), by_gradients(m, b));
    eddy_tensor d = eddy_named("d", Add(slope(y[0], m), slope(Square(y[2]), m)));
    char       *text = eddy_graph_to_yaml(g);
    ck_assert_ptr_nonnull(text);
    eddy_graph *h = eddy_graph_load(.text = text, .path = "g.yaml");
    ck_assert_ptr_nonnull(h);
    eddy_session *s = eddy_session_new(g), *r = eddy_session_new(h);
    eddy_array   *want = eddy_fetch(s, d), *got = eddy_fetch(r, eddy_graph_tensor(h, "d:0"));
    ck_assert_ptr_nonnull(got);
    for (int i = 0; i < 4; i++) ck_assert(eddy_array_get(got, i) == eddy_array_get(want, i));
    eddy_array_free(want), eddy_array_free(got);
    eddy_session_free(s), eddy_session_free(r);
    eddy_graph_free(g), eddy_graph_free(h);
    eddy_string_free(text);
}
END_TEST

START_TEST(single_precision)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   a = eddy_constant(g, EDDY_FLOATS(4, 1, 1, 3));
    eddy_tensor   b = eddy_constant(g, EDDY_FLOATS(1, 2));
    eddy_tensor   m = eddy_reshape(a, EDDY_SHAPE(2, 2)), x[2], e[2];
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_conjugate_gradient(FUNCTION(times, m), EDDY_LIST(b), &x[0]), 1);
    ck_assert_int_eq(eddy_gmres(FUNCTION(times, m), EDDY_LIST(b), &x[1]), 1);
    ck_assert_int_eq(eddy_lanczos(FUNCTION(times, m), EDDY_LIST(ZerosLike(b)), e), 2);
    for (int k = 0; k < 2; k++) {
        eddy_array *d = eddy_fetch(s, slope(x[k], b));
        ck_assert_msg(d != NULL, "%s", eddy_session_message(s));
        ck_assert_double_eq_tol(eddy_array_get(d, 0), 2.0 / 11, 1e-5);
        ck_assert_double_eq_tol(eddy_array_get(d, 1), 3.0 / 11, 1e-5);
        eddy_array_free(d);
    }
    eddy_array *largest = eddy_fetch(s, e[0]);
    ck_assert_msg(largest != NULL, "%s", eddy_session_message(s));
    ck_assert_double_eq_tol(eddy_array_get(largest, 0), (7 + sqrt(5)) / 2, 1e-5);
    eddy_array_free(largest);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ----------------------------------------------------------------- eigenpairs -- */

/* A function of all pairs that does not depend on the signs of vectors. */
static eddy_tensor function_of(eddy_tensor e, eddy_tensor v, eddy_tensor b)
{
    return Sum(Mul(eddy_sin(e), Square(eddy_matvec(v, b))));
}

/* Eigenvalues are 2 apart, but for a small disturbance by m. */
static eddy_tensor separated(eddy_tensor m)
{
    const int64_t     n = eddy_shape_of(m).dim[0];
    const eddy_tensor zero = eddy_number(m.graph, F64, 0), end = NumberLike((double)(2 * n), zero);
    const eddy_tensor steps = eddy_matrix_diag(eddy_range(zero, end, NumberLike(2, zero)));
    return Add(steps, Mul(0.4, Add(m, Transpose(m))));
}

START_TEST(dense_eigenpairs)
{
    enum { N = 9, K = 3 };
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor m = fed_matrix(&t, N), b = fed_vector(&t, N), a = separated(m);
    const eddy_tensor e = eddy_eigh(a), v = Transpose(eddy_output(e, 1));
    for (int smallest = 0; smallest < 2; smallest++) {
        eddy_tensor y[EDDY_MAX_RESULTS];
        const char *part = smallest ? ":3" : ":-4:-1";
        ck_assert_msg(eddy_lanczos(FUNCTION(times, a), EDDY_LIST(b), y, K,
                                   .smallest = smallest != 0, .tolerance = 1e-14,
                                   .basis = _i % 2 ? 7 : 0) == 2,
                      "%s", eddy_graph_message(t.graph));
        are_equal(&t, y[0], eddy_index(e, part), 1e-10);
        eddy_tensor got = function_of(y[0], y[1], b);
        eddy_tensor want = function_of(eddy_index(e, part), eddy_index(v, part), b);
        for (int order = 0; order < 3; order++) {
            are_equal(&t, got, want, 1e-7);
            got = Sum(Mul(slope(got, m), m));
            want = Sum(Mul(slope(want, m), m));
        }
    }
    trial_end(&t);
}
END_TEST

START_TEST(eigenpairs_and_differences)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor in = fed_numbers(&t, EDDY_SHAPE(6, 6), -1, 1);
    const eddy_tensor m = eddy_set_shape(in, EDDY_SHAPE(6, 6)), b = fed_vector(&t, 6);
    eddy_tensor       y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_lanczos(FUNCTION(times, separated(m)), EDDY_LIST(b), y, 2,
                                  .tolerance = 1e-14), 2);
    check_slopes(&t, function_of(y[0], y[1], b), 1, &in, 2);
    trial_end(&t);
}
END_TEST

/* The gradient of a function of eigenvectors of c A, with eigenvalues 1 to 20 of A, times c. */
static eddy_array *scaled_slope(eddy_dtype type, double scale, bool smallest)
{
    enum { N = 20 };
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor zero = eddy_number(g, type, 0), end = NumberLike(N + 1, zero);
    const eddy_tensor d = eddy_range(NumberLike(1, zero), end, NumberLike(1, zero));
    const eddy_tensor u = Div(Sin(d), Sqrt(Sum(Square(Sin(d)))));
    const eddy_tensor mirror = Sub(eddy_eye(g, N, .dtype = type),
                                   Mul(Mul(2, ExpandDims(u, 0)), ExpandDims(u, 1)));
    const eddy_tensor a = Mul(scale, eddy_matmul(mirror, Mul(ExpandDims(d, 1), mirror)));
    eddy_tensor       y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_lanczos(FUNCTION(times, a), EDDY_LIST(ZerosLike(d)), y,
                                  .smallest = smallest), 2);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *da = eddy_fetch(s, Mul(scale, slope(Square(eddy_matvec(y[1], Cos(d))), a)));
    ck_assert_msg(da != NULL, "%s", eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return da;
}

static void check_scale(eddy_dtype type, double scale, bool smallest, double tolerance)
{
    eddy_array *want = scaled_slope(F64, 1, smallest), *got = scaled_slope(type, scale, smallest);
    double      wrong = 0, largest = 0;
    for (int64_t i = 0; i < 400; i++) {
        const double w = eddy_array_get(want, i);
        wrong = fmax(wrong, fabs(eddy_array_get(got, i) - w));
        largest = fmax(largest, fabs(w));
    }
    ck_assert_msg(wrong <= tolerance * largest, "scale %g, smallest %d: wrong by %g of %g", scale,
                  smallest, wrong, largest);
    eddy_array_free(want), eddy_array_free(got);
}

START_TEST(scales_of_operators)
{
    for (int smallest = 0; smallest < 2; smallest++) {
        for (int i = -12; i <= 12; i += 4) {
            check_scale(F64, pow(10, i), smallest != 0, 1e-8);
            check_scale(EDDY_FLOAT32, pow(10, i), smallest != 0, 2e-3);
        }
    }
}
END_TEST

/* An eigenvalue with vectors that are not all among the pairs: the gradient of the vector is not
 * defined, and that of the value is v v' for the v that was found. */
START_TEST(shared_eigenvalues)
{
    for (int smallest = 0; smallest < 2; smallest++) {
        eddy_graph       *g = eddy_graph_new();
        const eddy_tensor a = eddy_matrix_diag(eddy_constant(g, EDDY_DOUBLES(1, 1, 3, 5, 5)));
        const eddy_tensor b = eddy_constant(g, EDDY_DOUBLES(1, 2, 3, 4, 5));
        eddy_tensor       y[EDDY_MAX_RESULTS];
        ck_assert_int_eq(eddy_lanczos(FUNCTION(times, a), EDDY_LIST(ZerosLike(b)), y,
                                      .smallest = smallest != 0), 2);
        eddy_session *s = eddy_session_new(g);
        eddy_array   *of_value = eddy_fetch(s, slope(y[0], a));
        ck_assert_msg(of_value != NULL, "%s", eddy_session_message(s));
        double trace = 0;
        for (int i = 0; i < 5; i++) trace += eddy_array_get(of_value, 6 * i);
        ck_assert_double_eq_tol(trace, 1, 1e-9);
        ck_assert_ptr_null(eddy_fetch(s, slope(Square(eddy_matvec(y[1], b)), a)));
        const char *message = eddy_session_message(s);
        ck_assert_msg(strstr(message, "conjugate_gradient") != NULL ||
                      strstr(message, "lanczos: not all") != NULL, "%s", message);
        eddy_array_free(of_value);
        eddy_session_free(s);
        eddy_graph_free(g);
    }
}
END_TEST

/* Restarts, of an operator without a matrix, whose eigenvalues are known. */
START_TEST(restarts)
{
    enum { N = 80, K = 4 };
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor y[EDDY_MAX_RESULTS];
    double      want[K];
    eddy_tensor zeros = eddy_zeros(t.graph, F64, EDDY_SHAPE(N));
    ck_assert_int_eq(eddy_lanczos(PLAIN(laplacian), EDDY_LIST(zeros), y, K), 2);
    for (int i = 0; i < K; i++) want[i] = 2 - 2 * cos((N - i) * acos(-1) / (N + 1));
    is_shaped(&t, y[1], EDDY_SHAPE(K, N));
    are_equal(&t, y[0], eddy_const(t.graph, F64, EDDY_SHAPE(K), want), 1e-9);
    const eddy_tensor square = eddy_matmul(y[1], y[1], .transpose_b = true);
    are_equal(&t, square, eddy_eye(t.graph, K, .dtype = F64), 1e-9);
    trial_end(&t);
}
END_TEST

BODY(doubled, Mul(2, x[0]))
BODY(two_parts, Mul(3, x[0]), Sum(Mul(c[0], x[1])))

/* A space that A maps to itself is left; all pairs; several tensors. */
START_TEST(small_spaces)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor one = eddy_constant(t.graph, EDDY_DOUBLES(0, 1, 0));
    const eddy_tensor c = constant(&t, 5);
    eddy_tensor       y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_lanczos(PLAIN(doubled), EDDY_LIST(one), y, 3), 2);
    is(&t, y[0], V(2, 2, 2));
    are_equal(&t, eddy_matmul(y[1], y[1], .transpose_a = true),
              eddy_eye(t.graph, 3, .dtype = F64), 1e-10);
    ck_assert_int_eq(eddy_lanczos(FUNCTION(two_parts, c), EDDY_LIST(ZerosLike(one), ZerosLike(c)),
                                  y, 2, .tolerance = 1e-14), 3);
    is(&t, y[0], V(5, 3));
    is_shaped(&t, y[1], EDDY_SHAPE(2, 3));
    is_shaped(&t, y[2], EDDY_SHAPE(2));
    is(&t, slope(Square(y[0]), c), V(10));
    trial_end(&t);
}
END_TEST

/* A map over operators. */
static eddy_tensor largest_of(eddy_tensor m)
{
    const eddy_tensor first = Gather(m, eddy_number(m.graph, I32, 0));
    eddy_tensor       y[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_lanczos(FUNCTION(times, separated(m)), EDDY_LIST(first), y, 2,
                               .tolerance = 1e-13) == 2,
                  "%s", eddy_graph_message(m.graph));
    return function_of(y[0], y[1], eddy_ones(m.graph, F64, EDDY_SHAPE(4)));
}
BODY(mapped_pairs, largest_of(x[0]))

START_TEST(maps_of_eigenpairs)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor m = eddy_set_shape(fed_numbers(&t, EDDY_SHAPE(2, 4, 4), -1, 1),
                                         EDDY_SHAPE(2, 4, 4));
    eddy_tensor       y[EDDY_MAX_RESULTS], want[2];
    for (int i = 0; i < 2; i++) want[i] = largest_of(Gather(m, whole(&t, i)));
    ck_assert_msg(eddy_vmap(PLAIN(mapped_pairs), EDDY_LIST(m), y) == 1, "%s",
                  eddy_graph_message(t.graph));
    are_equal(&t, y[0], eddy_stack(EDDY_LIST(want[0], want[1])), 1e-9);
    are_equal(&t, slope(y[0], m), slope(Add(want[0], want[1]), m), 1e-8);
    trial_end(&t);
}
END_TEST

Suite *linear_solvers_suite(void)
{
    const TTest *const trials[] = {
        dense_gradients, dense_gmres, preconditioned, several_tensors, differences,
        without_a_matrix, guesses_and_sizes, maps, in_a_loop, dense_eigenpairs,
        eigenpairs_and_differences, restarts, small_spaces, maps_of_eigenpairs,
    };
    Suite *suite = suite_create("linear_solvers");
    TCase *c = tcase_create("linear_solvers"), *many = tcase_create("other seeds");
    tcase_set_tags(many, "many");
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        add_third_rows(c, many, trials[i], (int)(i % 3), SEEDS);
    tcase_add_test(c, files);
    tcase_add_test(c, single_precision);
    tcase_add_test(c, scales_of_operators);
    tcase_add_test(c, shared_eigenvalues);
    suite_add_tcase(suite, c);
    suite_add_tcase(suite, many);
    return suite;
}
