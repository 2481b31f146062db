/* test_vmap_random.c -- random numbers in mapped functions: each example has its own, the seed
 * repeats them, and gradients, Jacobians and Hessians do not draw them again. */
#include "autodiff/functions.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <stdlib.h>

Suite *vmap_random_suite(void);

enum { EXAMPLES = 5, LENGTH = 6, ALL = EXAMPLES * LENGTH };

static eddy_graph   *g;
static eddy_session *s;

static void begin(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
}

static void end(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* The values of n tensors in one run. */
static void values(int n, const eddy_tensor *t, eddy_feeds feeds, eddy_array **a)
{
    fits(g);
    for (int i = 0; i < n; i++) a[i] = NULL;
    ck_assert_msg(eddy_run(s, feeds, (eddy_list){ n, t }, a) == EDDY_OK, "%s",
                  eddy_session_message(s));
}

static bool equal(const eddy_array *a, int64_t from_a, const eddy_array *b, int64_t from_b,
                  int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (eddy_array_get(a, from_a + i) != eddy_array_get(b, from_b + i)) return false;
    return true;
}

static eddy_tensor numbers(void)
{
    double x[ALL];
    for (int i = 0; i < ALL; i++) x[i] = 1 + 0.01 * i;
    return matrix(g, EXAMPLES, LENGTH, x);
}

/* ------------------------------------------------------- what is drawn -- */

typedef eddy_tensor draw(eddy_tensor x);

static eddy_tensor constant(eddy_tensor x, double v)
{
    double c[LENGTH];
    for (int i = 0; i < LENGTH; i++) c[i] = v;
    return vector(x.graph, LENGTH, c);
}

#define DRAW(name, formula) static eddy_tensor name(eddy_tensor x) { return formula; }
#define SHAPED EDDY_SHAPE(LENGTH)
DRAW(uniform, eddy_random_uniform(x.graph, SHAPED, .dtype = EDDY_FLOAT64))
DRAW(seeded, eddy_random_uniform(x.graph, SHAPED, .seed = 4))
DRAW(uniform_like, eddy_random_uniform_like(x))
DRAW(integers, eddy_random_uniform_int(x.graph, SHAPED, 0, 1 << 30))
DRAW(normal, eddy_random_normal(x.graph, SHAPED))
DRAW(normal_like, eddy_random_normal_like(x, 1, 2))
DRAW(truncated, eddy_truncated_normal(x.graph, SHAPED))
DRAW(truncated_like, eddy_truncated_normal_like(x))
DRAW(ordered, eddy_random_shuffle(x))
DRAW(permuted, eddy_random_permutation(x.graph, 40))
DRAW(orthogonal, eddy_init_orthogonal(x.graph, EDDY_FLOAT64, EDDY_SHAPE(2, 3), 0))
DRAW(standing, eddy_init_orthogonal(x.graph, EDDY_FLOAT32, EDDY_SHAPE(3, 2), 0))
DRAW(dropped, eddy_dropout(eddy_random_normal_like(x), 0.5))
DRAW(noisy, eddy_gaussian_noise(constant(x, 1), 1))
DRAW(exponential, eddy_random_exponential(constant(x, 2)))
DRAW(gumbel, eddy_random_gumbel(constant(x, 2), constant(x, 1)))
DRAW(gamma_of, eddy_random_gamma(constant(x, 3)))
DRAW(gamma_of_example, eddy_random_gamma(x, .seed = 3))
DRAW(beta_of, eddy_random_beta(constant(x, 3), constant(x, 1)))
DRAW(poisson, eddy_random_poisson(constant(x, 1e6)))
DRAW(binomial, eddy_random_binomial(constant(x, 1e6), constant(x, 0.5)))
DRAW(classes, Cast(eddy_random_categorical(constant(x, 1), 40), EDDY_FLOAT64))
DRAW(chosen, eddy_random_choice(x, 30))
DRAW(boxes, eddy_random_crop(Reshape(eddy_random_normal(x.graph, EDDY_SHAPE(50)),
                                     EDDY_SHAPE(50)), EDDY_DIMS(6)))

static draw *const draws[] = {
    uniform, seeded, uniform_like, integers, normal, normal_like, truncated, truncated_like,
    ordered, permuted, orthogonal, standing, dropped, noisy, exponential, gumbel, gamma_of,
    gamma_of_example, beta_of, poisson, binomial, classes, chosen, boxes,
};
enum { DRAWS = sizeof draws / sizeof *draws };

static int build_draw(eddy_list x, eddy_tensor *y, void *context)
{
    y[0] = (*(draw *const *)context)(x.at[0]);
    return 1;
}

static eddy_tensor mapped(draw *const *how, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS] = { EDDY_ZERO_TENSOR };
    eddy_vmap((eddy_function){ .build = build_draw, .context = (void *)(uintptr_t)how },
              EDDY_LIST(x), y);
    return y[0];
}

/* Examples differ, runs differ, and another session repeats them; so with one number of
 * examples after the other that was not known. */
START_TEST(examples_have_their_own)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, LENGTH));
    const eddy_tensor y = mapped(&draws[_i], x);
    eddy_array *a[3], *in = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(EXAMPLES, LENGTH));
    for (int i = 0; i < ALL; i++) eddy_array_set(in, i, 1 + i);
    for (int run = 0; run < 3; run++) {
        eddy_session *other = run == 2 ? eddy_session_new(g) : NULL, *old = s;
        if (other) s = other;
        values(1, &y, EDDY_FEED({ x, in }), &a[run]);
        s = old;
        eddy_session_free(other);
    }
    const int64_t n = eddy_array_count(a[0]) / EXAMPLES;
    ck_assert_int_eq(eddy_array_shape(a[0]).dim[0], EXAMPLES);
    for (int i = 0; i < EXAMPLES; i++)
        for (int j = 0; j < i; j++)
            ck_assert_msg(!equal(a[0], i * n, a[0], j * n, n), "examples %d and %d", i, j);
    ck_assert(!equal(a[0], 0, a[1], 0, n * EXAMPLES));
    ck_assert(equal(a[0], 0, a[2], 0, n * EXAMPLES));
    for (int run = 0; run < 3; run++) eddy_array_free(a[run]);
    eddy_array_free(in);
    in = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(0, LENGTH));
    values(1, &y, EDDY_FEED({ x, in }), a);
    ck_assert_int_eq(eddy_array_count(a[0]), 0);
    eddy_array_free(in), eddy_array_free(a[0]);
}
END_TEST

/* Element i of example e is element e LENGTH + i of one larger tensor of that seed. */
START_TEST(numbers_are_those_of_the_seed)
{
    static draw *const one[] = { seeded };
    const eddy_tensor whole = eddy_random_uniform(g, EDDY_SHAPE(EXAMPLES, LENGTH), .seed = 4);
    const eddy_tensor t[] = { mapped(one, numbers()), whole };
    eddy_array *a[2];
    values(2, t, EDDY_FEED(), a);
    ck_assert(equal(a[0], 0, a[1], 0, ALL));
    eddy_array_free(a[0]), eddy_array_free(a[1]);
}
END_TEST

/* Means and variances of examples, and products of neighbors, as of independent numbers. */
static eddy_tensor many(eddy_tensor x)
{
    return eddy_random_normal(x.graph, EDDY_SHAPE(20000), .dtype = EDDY_FLOAT64, .seed = 9);
}

START_TEST(examples_are_independent)
{
    static draw *const how[] = { many };
    const eddy_tensor y = mapped(how, numbers());
    const eddy_tensor products = MatMul(y, Transpose(y));
    eddy_array *a;
    values(1, &products, EDDY_FEED(), &a);
    for (int i = 0; i < EXAMPLES; i++)
        for (int j = 0; j < EXAMPLES; j++)          /* within 4.5 standard deviations */
            ck_assert_double_eq_tol(eddy_array_get(a, i * EXAMPLES + j) / 20000, i == j, 0.045);
    eddy_array_free(a);
}
END_TEST

/* ------------------------------------------------------- what is shared -- */

static int from_outside(eddy_list x, eddy_tensor *y, void *context)
{
    y[0] = Mul(Sum(x.at[0]), *(eddy_tensor *)context);
    y[1] = *(eddy_tensor *)context;
    return 2;
}

START_TEST(what_was_drawn_before_is_shared)
{
    eddy_tensor z = eddy_random_normal_like(vector(g, 3, (double[3]){ 0 })), y[2];
    const eddy_tensor x = numbers();
    eddy_vmap((eddy_function){ .build = from_outside, .context = &z }, EDDY_LIST(x), y);
    const eddy_tensor t[] = { z, y[1], y[0], Sum(x, EDDY_AXES(1)) };
    eddy_array *a[4];
    values(4, t, EDDY_FEED(), a);
    for (int e = 0; e < EXAMPLES; e++) {
        ck_assert(equal(a[0], 0, a[1], 3 * e, 3));
        ck_assert_double_eq_tol(eddy_array_get(a[2], 3 * e + 1),
                                eddy_array_get(a[3], e) * eddy_array_get(a[0], 1), 1e-12);
    }
    for (int i = 0; i < 4; i++) eddy_array_free(a[i]);
}
END_TEST

#define SEED(x) eddy_const((x).graph, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 3, 5 })
DRAW(stateless_uniform, eddy_stateless_random_uniform_like(constant(x, 1), SEED(x)))
DRAW(stateless_normal, eddy_stateless_random_normal(SHAPED, SEED(x)))
DRAW(stateless_gamma, eddy_random_gamma(constant(x, 3), .stateless_seed = SEED(x)))
DRAW(stateless_classes, eddy_random_categorical(constant(x, 1), 40, .stateless_seed = SEED(x)))
DRAW(stateless_poisson, eddy_random_poisson(Add(Mul(x, 0), 1e6), .stateless_seed = SEED(x)))

START_TEST(one_stateless_seed_is_one_draw)
{
    static draw *const how[] = { stateless_uniform, stateless_normal, stateless_gamma,
                                 stateless_classes, stateless_poisson };
    const eddy_tensor x = numbers();
    const eddy_tensor row = Squeeze(eddy_slice(x, EDDY_DIMS(0, 0), EDDY_DIMS(1, -1)), EDDY_AXES(0));
    const eddy_tensor t[] = { mapped(&how[_i], x), how[_i](row) };
    eddy_array *a[2];
    values(2, t, EDDY_FEED(), a);
    const int64_t n = eddy_array_count(a[1]);
    for (int e = 0; e < EXAMPLES; e++) ck_assert(equal(a[0], e * n, a[1], 0, n));
    eddy_array_free(a[0]), eddy_array_free(a[1]);
}
END_TEST

static int sampled(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor classes = eddy_const(x.at[0].graph, EDDY_INT32, EDDY_SHAPE(2),
                                           (int32_t[]){ 3, 50 });
    (void)context;
    y[0] = eddy_log_uniform_candidate_sampler(classes, 8, .range_max = 100);
    y[1] = eddy_output(y[0], 1);
    y[2] = eddy_output(y[0], 2);
    return 3;
}

/* Candidates are drawn for all examples together, as for a batch. */
START_TEST(candidates_are_shared)
{
    eddy_tensor y[3];
    eddy_array *a[3];
    eddy_vmap((eddy_function){ .build = sampled }, EDDY_LIST(numbers()), y);
    values(3, y, EDDY_FEED(), a);
    for (int k = 0; k < 3; k++) {
        const int64_t n = k == 1 ? 2 : 8;
        ck_assert(eddy_shape_equal(eddy_array_shape(a[k]), EDDY_SHAPE(EXAMPLES, n)));
        for (int e = 1; e < EXAMPLES; e++) ck_assert(equal(a[k], 0, a[k], e * n, n));
        eddy_array_free(a[k]);
    }
}
END_TEST

/* --------------------------------------------------------- derivatives -- */

/* The tensors are the same, in one run. */
static void same(eddy_tensor got, eddy_tensor want)
{
    const eddy_tensor t[] = { got, want };
    eddy_array *a[2];
    values(2, t, EDDY_FEED(), a);
    ck_assert(eddy_shape_equal(eddy_array_shape(a[0]), eddy_array_shape(a[1])));
    for (int64_t i = 0; i < eddy_array_count(a[0]); i++)
        ck_assert_double_eq_tol(eddy_array_get(a[0], i), eddy_array_get(a[1], i), 1e-12);
    eddy_array_free(a[0]), eddy_array_free(a[1]);
}

static void halved(eddy_rule *r)
{
    const eddy_tensor z = *(eddy_tensor *)r->context;
    r->dx[0] = Mul(Mul(r->dy[0], z), 0.5);
}

/* y = x z with a gradient of half of that, z drawn within. */
static int custom(eddy_list x, eddy_tensor *y, void *context)
{
    static eddy_tensor z;
    (void)context;
    z = eddy_random_normal_like(x.at[0]);
    const eddy_tensor product = Mul(x.at[0], z);
    eddy_custom_gradient(EDDY_LIST(product), x, y, .gradient = halved, .context = &z);
    return 1;
}

/* The rule sees the numbers that each example drew. */
START_TEST(custom_gradients_do_not_draw_again)
{
    const eddy_tensor x = numbers();
    eddy_tensor y[1];
    eddy_vmap((eddy_function){ .build = custom }, EDDY_LIST(x), y);
    same(Mul(eddy_gradient(Sum(y[0]), x), Mul(x, 2)), y[0]);
}
END_TEST

static int recomputed(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor d = Mul(eddy_random_gamma(OnesLike(x.at[0])), eddy_dropout(x.at[0], 0.5));
    eddy_recompute_grad(EDDY_LIST(d), x, y);
    return 1;
}

START_TEST(recomputed_gradients_do_not_draw_again)
{
    const eddy_tensor x = numbers();
    eddy_tensor y[1];
    eddy_vmap((eddy_function){ .build = recomputed }, EDDY_LIST(x), y);
    same(Mul(eddy_gradient(Sum(y[0]), x), x), y[0]);
}
END_TEST

static int own_gradient(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_dropout(Square(x.at[0]), 0.5);
    y[1] = eddy_gradient(Sum(y[0]), x.at[0]);
    eddy_jacobian(y[0], x, &y[2]);
    eddy_hessians(Sum(y[0]), x, &y[3]);
    return 4;
}

/* Gradients, Jacobians and Hessians of each example are those of its own mask. */
START_TEST(derivatives_of_examples)
{
    const eddy_tensor x = numbers();
    eddy_tensor y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_vmap((eddy_function){ .build = own_gradient }, EDDY_LIST(x), y), 4);
    same(Mul(y[1], x), Mul(y[0], 2));
    same(y[2], eddy_matrix_diag(y[1]));
    same(Mul(y[3], ExpandDims(x, 1)), y[2]);
}
END_TEST

/* Without a map: one drawing for all rows of a matrix, as row by row. */
START_TEST(jacobians_draw_nothing)
{
    const eddy_tensor x = vector(g, 4, (double[]){ 1, 2, 3, 4 });
    const eddy_tensor y = Mul(eddy_dropout(Square(x), 0.5), eddy_random_gamma(x));
    eddy_tensor whole, rows, h, h_rows;
    eddy_jacobian(y, EDDY_LIST(x), &whole);
    eddy_jacobian(y, EDDY_LIST(x), &rows, .no_pfor = true);
    same(whole, rows);
    eddy_hessians(Sum(y), EDDY_LIST(x), &h);
    eddy_jacobian(eddy_gradient(Sum(y), x), EDDY_LIST(x), &h_rows, .no_pfor = true);
    same(h, h_rows);
}
END_TEST

/* ------------------------------------------------------ maps within maps -- */

static int inner(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_random_uniform(x.at[0].graph, EDDY_SCALAR, .dtype = EDDY_FLOAT64);
    y[1] = Mul(x.at[0], eddy_random_gamma(eddy_scalar(x.at[0].graph, 3)));
    return 2;
}

static int outer(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    return eddy_vmap((eddy_function){ .build = inner }, x, y);
}

START_TEST(maps_within_maps)
{
    const eddy_shape  open = EDDY_SHAPE(EDDY_ANY, EDDY_ANY);
    const eddy_tensor x = _i ? eddy_placeholder(g, "x", EDDY_FLOAT32, open)
                             : Cast(numbers(), EDDY_FLOAT32);
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_array *in = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(EXAMPLES, LENGTH)), *a[2];
    for (int i = 0; i < ALL; i++) eddy_array_set(in, i, 1);
    ck_assert_int_eq(eddy_vmap((eddy_function){ .build = outer }, EDDY_LIST(x), y), 2);
    values(2, y, EDDY_FEED({ x, in }), a);
    for (int k = 0; k < 2; k++) {
        ck_assert(eddy_shape_equal(eddy_array_shape(a[k]), EDDY_SHAPE(EXAMPLES, LENGTH)));
        for (int i = 0; i < ALL; i++)
            for (int j = 0; j < i; j++) ck_assert(!equal(a[k], i, a[k], j, 1));
        eddy_array_free(a[k]);
    }
    eddy_array_free(in);
}
END_TEST

static void with_noise(eddy_rule *r)
{
    r->dx[0] = Mul(r->dy[0], *(const eddy_tensor *)r->context);
}

/* Only the gradient uses what was drawn before, or the value too what was drawn behind. */
static eddy_tensor noise;
static int noise_before(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    noise = eddy_random_normal_like(x.at[0]);
    const eddy_tensor p = Mul(x.at[0], 1);
    eddy_custom_gradient(EDDY_LIST(p), x, y, .gradient = with_noise, .context = &noise);
    return 1;
}
static int noise_behind(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor p = Mul(x.at[0], 1);
    eddy_custom_gradient(EDDY_LIST(p), x, y, .gradient = with_noise, .context = &noise);
    noise = eddy_random_normal_like(x.at[0]);
    y[0] = Add(y[0], noise);
    return 1;
}

START_TEST(gradients_know_all_draws)
{
    int (*const build[])(eddy_list, eddy_tensor *, void *) = { noise_before, noise_behind };
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(4, 3));
    eddy_tensor       y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_vmap((eddy_function){ .build = build[_i] }, EDDY_LIST(x), y), 1);
    const eddy_tensor both[] = { y[0], eddy_gradient(Sum(y[0]), x) };
    eddy_array       *a[2];
    values(2, both, EDDY_FEED(), a);
    for (int e = 1; e < 4; e++)
        for (int i = 0; i < 3; i++)
            ck_assert_double_ne(eddy_array_get(a[1], 3 * e + i), eddy_array_get(a[1], i));
    for (int i = 0; _i == 1 && i < 12; i++)
        ck_assert_double_eq(eddy_array_get(a[1], i), eddy_array_get(a[0], i));
    eddy_array_free(a[0]);
    eddy_array_free(a[1]);
}
END_TEST

/* The orders of a shuffle: each equally likely in every example. */
static eddy_tensor shuffled(eddy_tensor x)
{
    return eddy_random_shuffle(eddy_range(eddy_number(x.graph, EDDY_INT32, 0),
                                          eddy_number(x.graph, EDDY_INT32, 3),
                                          eddy_number(x.graph, EDDY_INT32, 1)));
}

START_TEST(all_orders_are_as_likely)
{
    enum { N = 6000 };
    static draw *const how[] = { shuffled };
    const eddy_tensor y = mapped(how, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(N, 2)));
    int seen[27] = { 0 };
    eddy_array *a;
    values(1, &y, EDDY_FEED(), &a);
    for (int e = 0; e < N; e++)
        seen[(int)(9 * eddy_array_get(a, 3 * e) + 3 * eddy_array_get(a, 3 * e + 1) +
                   eddy_array_get(a, 3 * e + 2))]++;
    const int orders[] = { 5, 7, 11, 15, 19, 21 };
    for (int i = 0; i < 6; i++) ck_assert_int_lt(abs(seen[orders[i]] - N / 6), 140);
    eddy_array_free(a);
}
END_TEST

Suite *vmap_random_suite(void)
{
    Suite *suite = suite_create("vmap_random");
    TCase *c = tcase_create("random");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_loop_test(c, examples_have_their_own, 0, DRAWS);
    tcase_add_test(c, numbers_are_those_of_the_seed);
    tcase_add_test(c, examples_are_independent);
    tcase_add_test(c, what_was_drawn_before_is_shared);
    tcase_add_loop_test(c, one_stateless_seed_is_one_draw, 0, 5);
    tcase_add_test(c, candidates_are_shared);
    tcase_add_test(c, custom_gradients_do_not_draw_again);
    tcase_add_test(c, recomputed_gradients_do_not_draw_again);
    tcase_add_test(c, derivatives_of_examples);
    tcase_add_test(c, jacobians_draw_nothing);
    tcase_add_loop_test(c, maps_within_maps, 0, 2);
    tcase_add_loop_test(c, gradients_know_all_draws, 0, 2);
    tcase_add_test(c, all_orders_are_as_likely);
    suite_add_tcase(suite, c);
    return suite;
}
