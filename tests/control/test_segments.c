/* test_segments.c -- loops in segments compute what loops without them compute, and have the same
 * derivatives: all models, several numbers of iterations, lengths of segments and schemes. */
#include "build/gen/suites.h"
#include "tests/lib/control_models.h"
#include "tests/lib/finite_differences.h"
#include "tests/lib/bits/same_bits.h"
#include "tests/lib/third_rows.h"

typedef struct option {
    eddy_recompute recompute;
    int64_t        segment;
} option;
static const option options[] = { { EDDY_RECOMPUTE_NONE, 1 }, { EDDY_RECOMPUTE_NONE, 3 },
                                  { EDDY_RECOMPUTE_SQRT, 0 }, { EDDY_RECOMPUTE_LOG, 0 },
                                  { EDDY_RECOMPUTE_SQRT, 2 }, { EDDY_RECOMPUTE_NONE, 50 } };
static const int    counts[] = { 0, 1, 2, 7, 100 };
enum { OPTIONS = 6, COUNTS = 5 };

typedef struct model {
    trial       t;
    model_args  args;
    eddy_tensor fed[2];             /* what is fed for x and a */
    int         count;
} model;

/* With `open`, the number of rows is not known while the graph is built. */
static model begin(const control_model *c, int count, unsigned seed, bool open)
{
    model     m = { .t = trial_begin(seed), .count = count };
    const int rows = c->rows ? count : 3;
    m.args.count = count;
    m.args.n = integer(&m.t, count);
    m.fed[0] = fed_numbers(&m.t, EDDY_SHAPE(3), -0.8, 0.8);
    m.fed[1] = fed_numbers(&m.t, EDDY_SHAPE(rows, 3), -0.8, 0.8);
    m.args.x = eddy_set_shape(m.fed[0], EDDY_SHAPE(3));
    if (open) {
        m.t.tensor[m.t.n - 1] = m.args.a =
            eddy_placeholder(m.t.graph, NULL, F64, EDDY_SHAPE(EDDY_ANY, 3));
        m.fed[1] = m.args.a;
    } else m.args.a = eddy_set_shape(m.fed[1], EDDY_SHAPE(rows, 3));
    return m;
}

static eddy_tensor in_segments(const control_model *c, const model *m, option o)
{
    const eddy_tensor y = control_model_in_segments(c, &m->args, o.recompute, o.segment);
    ck_assert_msg(eddy_is_valid(y), "%s: %s", c->name, eddy_graph_message(m->t.graph));
    return y;
}

/* y is z, up to a multiple of rounding; 0: bit for bit. */
static void are_equal(model *m, eddy_tensor y, eddy_tensor z, double tolerance, const char *what)
{
    eddy_array *got = value(&m->t, y), *want = value(&m->t, z);
    ck_assert_int_eq(eddy_array_count(got), eddy_array_count(want));
    for (int64_t i = 0; i < eddy_array_count(want); i++) {
        const double a = eddy_array_get(got, i), b = eddy_array_get(want, i);
        ck_assert_msg(a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * (1 + fabs(b)),
                      "%s, %d iterations: element %lld is %.17g, not %.17g", what, m->count,
                      (long long)i, a, b);
    }
    eddy_array_free(got), eddy_array_free(want);
}

static eddy_tensor sum_of_gradients(eddy_tensor y, const model_args *m)
{
    eddy_tensor d[2];
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(m->x, m->a), d,
                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    return Add(Mul(d[0], 0.7), Sum(Mul(d[1], m->x)));
}

/* Values, gradients and, of few iterations, second derivatives. */
static void compare(const control_model *c, int count, option o, unsigned seed, bool open)
{
    model       m = begin(c, count, seed, open);
    eddy_tensor y = in_segments(c, &m, o), z = c->build(&m.args);
    are_equal(&m, y, z, 0, c->name);
    for (int order = 1; order <= (count < 10 ? 2 : 1); order++) {
        y = sum_of_gradients(y, &m.args), z = sum_of_gradients(z, &m.args);
        are_equal(&m, y, z, 1e-12, c->name);
    }
    trial_end(&m.t);
}

static int next_sum(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Add(x.at[0], x.at[1]);
    return 1;
}

/* The derivative by the initial value needs no row, and its own derivative stacks as many values as
 * there are rows. */
START_TEST(linear_bodies)
{
    const eddy_function f = { .build = next_sum };
    for (int segment = 1; segment < 4; segment++) {
        model       m = { .t = trial_begin(7), .count = _i };
        eddy_tensor x = fed_numbers(&m.t, EDDY_SHAPE(3), -1, 1), y[2];
        eddy_tensor rows = fed_numbers(&m.t, EDDY_SHAPE(_i, 3), -1, 1);
        for (int k = 0; k < 2; k++) {
            eddy_scan(f, EDDY_LIST(rows), &y[k], EDDY_LIST(x), .segment = k ? segment : 0);
            const eddy_tensor d = eddy_gradient(Sum(Square(y[k])), x);
            y[k] = Add(eddy_gradient(Sum(Square(d)), x),
                       Sum(eddy_gradient(Sum(Mul(d, d)), rows), EDDY_AXES(0)));
        }
        are_equal(&m, y[1], y[0], 1e-12, "a sum");
        trial_end(&m.t);
    }
}
END_TEST

START_TEST(like_loops_without)
{
    const control_model *c = &control_models[_i / COUNTS];
    for (int o = 0; o < OPTIONS; o++)
        compare(c, counts[_i % COUNTS], options[o], (unsigned)o, false);
}
END_TEST

START_TEST(unknown_lengths)
{
    const control_model *c = &control_models[_i / COUNTS];
    for (int o = 0; c->rows && o < OPTIONS; o++)
        compare(c, counts[_i % COUNTS], options[o], (unsigned)o, true);
}
END_TEST

START_TEST(derivatives_are_differences)
{
    const control_model *c = &control_models[_i / OPTIONS];
    model                m = begin(c, 5, (unsigned)_i, false);
    check_slopes(&m.t, in_segments(c, &m, options[_i % OPTIONS]), 2, m.fed, 2);
    trial_end(&m.t);
}
END_TEST

/* Forward mode, products with the Hessian, and maps over examples, as Jacobians are. */
START_TEST(other_derivatives)
{
    const control_model *c = &control_models[_i / OPTIONS];
    model                m = begin(c, 5, (unsigned)_i, false);
    const eddy_tensor    y[2] = { in_segments(c, &m, options[_i % OPTIONS]), c->build(&m.args) };
    const eddy_tensor    x = m.args.x, v = fed_numbers(&m.t, EDDY_SHAPE(3), -0.8, 0.8);
    eddy_tensor          jv[2], hv[2], j[2];
    for (int k = 0; k < 2; k++) {
        eddy_jvp(EDDY_LIST(y[k]), EDDY_LIST(x), EDDY_LIST(v), &jv[k]);
        eddy_hessian_vector_product(Sum(Sin(y[k])), EDDY_LIST(x), EDDY_LIST(v), &hv[k]);
        eddy_jacobian(y[k], EDDY_LIST(x), &j[k]);
    }
    are_equal(&m, jv[0], jv[1], 1e-12, c->name);
    are_equal(&m, hv[0], hv[1], 1e-12, c->name);
    are_equal(&m, j[0], j[1], 1e-12, c->name);
    trial_end(&m.t);
}
END_TEST

/* Fusing, in place, reuse, threads, folding and a file change no bit. */
START_TEST(options_and_files_change_no_bit)
{
    const control_model *c = &control_models[_i / 2];
    model                m = begin(c, 5, 1, false);
    fetches              f = { .title = c->name };
    const eddy_tensor    y = in_segments(c, &m, options[1 + _i % 2]);
    keep_fetch(&f, y), keep_fetch(&f, sum_of_gradients(y, &m.args));
    check_same_bits(&m.t, &f);
    trial_end(&m.t);
}
END_TEST

/* Rows without elements, one of whose sides is not known while the graph is built. */
BODY(running_sum, Add(x[0], x[1]))

START_TEST(empty_rows)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor x = eddy_placeholder(t.graph, "x", F64, EDDY_SHAPE(4, 0, EDDY_ANY));
    eddy_tensor       y;
    t.tensor[t.n] = x, t.array[t.n++] = eddy_array_new(F64, EDDY_SHAPE(4, 0, 3));
    ck_assert_int_eq(eddy_scan(PLAIN(running_sum), EDDY_LIST(x), &y,
                               .recompute = EDDY_RECOMPUTE_SQRT), 1);
    is_shaped(&t, y, EDDY_SHAPE(4, 0, 3));
    is_shaped(&t, slope(y, x), EDDY_SHAPE(4, 0, 3));
    trial_end(&t);
}
END_TEST

Suite *segments_suite(void)
{
    Suite *s = suite_create("segments");
    TCase *c = tcase_create("models");
    tcase_set_timeout(c, 60);
    TCase *many = tcase_create("other rows");
    tcase_set_tags(many, "many");
    tcase_set_timeout(many, 60);
    tcase_add_loop_test(c, linear_bodies, 1, 7);
    tcase_add_test(c, empty_rows);
    add_third_rows(c, many, like_loops_without, 0, CONTROL_MODELS * COUNTS);
    add_third_rows(c, many, unknown_lengths, 1, CONTROL_MODELS * COUNTS);
    tcase_add_loop_test(c, derivatives_are_differences, 0, CONTROL_MODELS * OPTIONS);
    tcase_add_loop_test(c, other_derivatives, 0, CONTROL_MODELS * OPTIONS);
    tcase_add_loop_test(c, options_and_files_change_no_bit, 0, 2 * CONTROL_MODELS);
    suite_add_tcase(s, c);
    suite_add_tcase(s, many);
    return s;
}
