/* test_fixed_point.c -- fixed points: their values, and implicit derivatives against formulas and
 * finite differences, to the third order; maps, loops, layers and files. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"

static eddy_tensor point_from(eddy_function f, eddy_tensor x0)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_fixed_point(f, EDDY_LIST(x0), y, .tolerance = 1e-14) == 1, "%s",
                  eddy_graph_message(x0.graph));
    return y[0];
}

#define KNOWN(t, ...) eddy_set_shape(fed_numbers(t, EDDY_SHAPE(__VA_ARGS__), -0.3, 0.3), \
                                     EDDY_SHAPE(__VA_ARGS__))

/* --------------------------------------------------------------- values -- */

BODY(cosine, Cos(x[0]))
BODY(of_theta, Cos(Mul(x[0], x[1])))
BODY(affine, Add(Squeeze(MatMul(c[0], ExpandDims(x[0], 1)), EDDY_AXES(1)), c[1]))
/* Two tensors of different shapes, each a function of both. */
BODY(coupled, Add(Mul(0.3, Tanh(Add(x[0], Sum(x[1])))), c[0]),
     Mul(0.2, Sin(Add(x[1], Mul(c[1], Sum(x[0]))))))

START_TEST(known_points)
{
    trial t = trial_begin((unsigned)_i);
    is(&t, point_from(PLAIN(cosine), fed_real(&t, 3)), V(0.73908513321516064));
    /* the number whose cosine it is; and -sin / (1 + sin) */
    eddy_tensor y, theta = fed_real(&t, 1);
    ck_assert_int_eq(eddy_fixed_point(PLAIN(of_theta), EDDY_LIST(fed_real(&t, 1)), &y,
                                      EDDY_LIST(theta), 1e-14), 1);
    const double d = 0.73908513321516064, s = sin(d);
    is(&t, slope(y, theta), V(-d * s / (1 + s)));
    ck_assert_int_eq(eddy_fixed_point(PLAIN(of_theta), EDDY_LIST(fed_real(&t, 1)), &y,
                                      EDDY_LIST(theta), 1e-14, INT64_MAX), 1);
    is(&t, slope(y, theta), V(-d * s / (1 + s)));
    trial_end(&t);
}
END_TEST

/* x = A x + b has the solution (I - A)^-1 b, to any order of derivative. */
START_TEST(linear)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = KNOWN(&t, 3, 3), b = KNOWN(&t, 3);
    eddy_tensor x = point_from(FUNCTION(affine, a, b), eddy_zeros(t.graph, F64, EDDY_SHAPE(3)));
    eddy_tensor identity = eddy_eye(t.graph, 3, .dtype = F64);
    eddy_tensor want = Squeeze(eddy_solve(Sub(identity, a), ExpandDims(b, 1)), EDDY_AXES(1));
    for (int order = 0; order < 3; order++) {
        eddy_array *w = value(&t, want), *got = value(&t, x);
        for (int64_t i = 0; i < eddy_array_count(w); i++)
            ck_assert_double_eq_tol(eddy_array_get(got, i), eddy_array_get(w, i), 1e-10);
        eddy_array_free(w), eddy_array_free(got);
        x = Add(slope(Square(x), a), Sum(slope(x, b)));
        want = Add(slope(Square(want), a), Sum(slope(want, b)));
    }
    trial_end(&t);
}
END_TEST

START_TEST(derivatives_are_differences)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor         c[2] = { fed_numbers(&t, EDDY_SHAPE(3), -1, 1),
                                 fed_numbers(&t, EDDY_SHAPE(2, 2), -1, 1) };
    eddy_tensor y[EDDY_MAX_RESULTS], x0 = eddy_zeros(t.graph, F64, EDDY_SHAPE(3));
    eddy_tensor x1 = eddy_zeros(t.graph, F64, EDDY_SHAPE(2, 2));
    const eddy_function f = { .build = coupled,
                              .context =
                                  (eddy_tensor[]){ eddy_set_shape(c[0], EDDY_SHAPE(3)),
                                                   eddy_set_shape(c[1], EDDY_SHAPE(2, 2)) } };
    ck_assert_msg(eddy_fixed_point(f, EDDY_LIST(x0, x1), y, .tolerance = 1e-15) == 2, "%s",
                  eddy_graph_message(t.graph));
    check_slopes(&t, Add(Sum(Square(y[1])), y[0]), 2, c, 3);
    trial_end(&t);
}
END_TEST

/* The guess has no gradient, and that of the rest does not depend on it. */
START_TEST(guesses)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor guess = fed_real(&t, 0.2), theta = fed_real(&t, 1), y[2];
    eddy_fixed_point(PLAIN(of_theta), EDDY_LIST(guess), &y[0], EDDY_LIST(theta), 1e-14);
    ck_assert(!eddy_is_valid(eddy_gradient(y[0], guess)));
    eddy_fixed_point(PLAIN(of_theta), EDDY_LIST(eddy_stop_gradient(y[0])), &y[1], EDDY_LIST(theta),
                     1e-14);
    is(&t, slope(y[1], theta), V(scalar_value(&t, slope(y[0], theta))));
    trial_end(&t);
}
END_TEST

/* float32 with its own tolerance; an unknown number of rows; none. */
START_TEST(types_and_shapes)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2)), y;
    ck_assert_int_eq(eddy_fixed_point(PLAIN(of_theta), EDDY_LIST(ZerosLike(x)), &y, EDDY_LIST(x)),
                     1);
    eddy_tensor   d = slope(y, x);
    eddy_session *s = eddy_session_new(g);
    for (int rows = 0; rows < 3; rows++) {
        const float ones[4] = { 1, 1, 1, 1 };
        eddy_array *out[2] = { NULL };
        ck_assert_msg(eddy_run(s, EDDY_FEED({ x, EDDY_VIEW(ones, rows, 2) }), EDDY_FETCH(y, d),
                               out) == EDDY_OK,
                      "%s", eddy_session_message(s));
        ck_assert_int_eq(eddy_array_count(out[0]), 2 * rows);
        for (int i = 0; i < 2 * rows; i++) {
            ck_assert_double_eq_tol(eddy_array_get(out[0], i), 0.7390851, 1e-5);
            ck_assert_double_eq_tol(eddy_array_get(out[1], i), -0.2974743, 1e-4);
        }
        eddy_array_free(out[0]), eddy_array_free(out[1]);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ----------------------------------------------------- inside other calls -- */

BODY(of_own, Cos(Mul(x[0], c[0])))
BODY(point_of, point_from(FUNCTION(of_own, x[0]), ZerosLike(x[0])))
BODY(slope_of_point, slope(point_from(FUNCTION(of_own, x[0]), ZerosLike(x[0])), x[0]))
BODY(next_point, Add(Mul(0.5, point_from(FUNCTION(of_own, x[0]), ZerosLike(x[0]))), c[0]))
static const double inputs[4] = { 0.3, 0.9, 1.2, -0.5 };

static eddy_tensor each(trial *t, eddy_function f, eddy_tensor x)
{
    eddy_tensor one[EDDY_MAX_RESULTS], rows[4];
    for (int i = 0; i < 4; i++) {
        const eddy_tensor in = eddy_gather(x, whole(t, i));
        ck_assert_int_eq(f.build(EDDY_LIST(in), one, f.context), 1);
        rows[i] = one[0];
    }
    return eddy_stack(EDDY_LIST(rows[0], rows[1], rows[2], rows[3]));
}

/* Each example of a map, and each row of a loop, has its own number of iterations. */
START_TEST(maps)
{
    trial               t = trial_begin((unsigned)_i);
    const eddy_tensor   x = eddy_set_shape(numbers(&t, 4, inputs), EDDY_SHAPE(4));
    const eddy_function fs[2] = { PLAIN(point_of), PLAIN(slope_of_point) };
    for (int k = 0; k < 2; k++) {
        eddy_tensor by_map[EDDY_MAX_RESULTS], by_loop[EDDY_MAX_RESULTS], want = each(&t, fs[k], x);
        ck_assert_msg(eddy_vmap(fs[k], EDDY_LIST(x), by_map) == 1, "%s",
                      eddy_graph_message(t.graph));
        ck_assert_msg(eddy_map_fn(fs[k], EDDY_LIST(x), by_loop) == 1, "%s",
                      eddy_graph_message(t.graph));
        eddy_tensor j, h = slope(Square(want), x);
        eddy_jacobian(by_map[0], EDDY_LIST(x), &j);
        eddy_array *w = value(&t, want), *dw = value(&t, h);
        is(&t, by_map[0], 4, eddy_array_data(w));
        is(&t, by_loop[0], 4, eddy_array_data(w));
        is(&t, slope(Square(by_map[0]), x), 4, eddy_array_data(dw));
        is(&t, slope(Square(by_loop[0]), x), 4, eddy_array_data(dw));
        is(&t, Mul(2, Mul(want, eddy_matrix_diag_part(j))), 4, eddy_array_data(dw));
        eddy_array_free(w), eddy_array_free(dw);
    }
    trial_end(&t);
}
END_TEST

/* A loop whose steps are fixed points, to the second order. */
START_TEST(in_a_loop)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 0.4), a = fed_real(&t, 0.3), y[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_iterate(3, FUNCTION(next_point, a), EDDY_LIST(x), y) == 1, "%s",
                  eddy_graph_message(t.graph));
    eddy_tensor in[2] = { x, a };
    check_slopes(&t, y[0], 2, in, 2);
    trial_end(&t);
}
END_TEST

/* A layer inside creates its variables once, and they have gradients. */
static int layer(eddy_list x, eddy_tensor *y, void *context)
{
    y[0] = Tanh(Add(eddy_dense(x.at[0], 3, "inside"), *(eddy_tensor *)context));
    return 1;
}

START_TEST(layers)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor b = KNOWN(&t, 2, 3), y[1];
    const eddy_function f = { .build = layer, .context = &b };
    ck_assert_msg(eddy_fixed_point(f, EDDY_LIST(ZerosLike(b)), y, .tolerance = 1e-9,
                                   .maximum_iterations = 100000) == 1,
                  "%s", eddy_graph_message(t.graph));
    ck_assert_int_eq(eddy_collection_size(t.graph, EDDY_TRAINABLE_VARIABLES), 2);
    for (int i = 0; i < 2; i++)
        slope(y[0], eddy_collection_at(t.graph, EDDY_TRAINABLE_VARIABLES, i));
    trial_end(&t);
}
END_TEST

/* Values and gradients are in a file; the function behind further ones is not. */
START_TEST(files)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_number(g, F64, 1), y;
    eddy_fixed_point(PLAIN(of_theta), EDDY_LIST(x), &y, EDDY_LIST(x), .tolerance = 1e-14);
    eddy_tensor d = eddy_named("d", slope(y, x));
    char       *text = eddy_graph_to_yaml(g);
    ck_assert_ptr_nonnull(text);
    eddy_graph *h = eddy_graph_load(.text = text, .path = "g.yaml");
    ck_assert_ptr_nonnull(h);
    eddy_session *s = eddy_session_new(g), *r = eddy_session_new(h);
    eddy_array   *a = eddy_fetch(s, d), *b = eddy_fetch(r, eddy_graph_tensor(h, "d:0"));
    ck_assert_ptr_nonnull(b);
    ck_assert(eddy_array_item(a) == eddy_array_item(b));
    eddy_array_free(a), eddy_array_free(b);
    eddy_session_free(s), eddy_session_free(r);
    eddy_graph_free(g), eddy_graph_free(h);
    eddy_string_free(text);
}
END_TEST

Suite *fixed_point_suite(void)
{
    Suite *suite = suite_create("fixed_point");
    TCase *c = tcase_create("fixed_point");
    tcase_add_loop_test(c, known_points, 0, SEEDS);
    tcase_add_loop_test(c, linear, 0, SEEDS);
    tcase_add_loop_test(c, derivatives_are_differences, 0, SEEDS);
    tcase_add_loop_test(c, guesses, 0, SEEDS);
    tcase_add_test(c, types_and_shapes);
    tcase_add_loop_test(c, maps, 0, SEEDS);
    tcase_add_loop_test(c, in_a_loop, 0, SEEDS);
    tcase_add_loop_test(c, layers, 0, SEEDS);
    tcase_add_test(c, files);
    suite_add_tcase(suite, c);
    return suite;
}
