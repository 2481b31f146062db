/* test_control_bits.c -- models with loops and branches, and their derivatives: options of a
 * session, graph files and earlier runs do not change them; large values that are overwritten in
 * place. */
#include "build/gen/suites.h"
#include "tests/lib/control_models.h"
#include "tests/lib/bits/same_bits.h"

/* The model with its first and second derivatives. */
static fetches model_of(const control_model *c, trial *t, int count)
{
    fetches    f = { .title = c->name };
    model_args m = { .count = count, .n = integer(t, count) };
    double     v[30];
    for (int i = 0; i < 30; i++) v[i] = 0.7 * sin(5 * i + 1);
    m.x = eddy_set_shape(given(t, F64, EDDY_SHAPE(3), v), EDDY_SHAPE(3));
    const eddy_shape s = EDDY_SHAPE(c->rows ? count : 3, 3);
    m.a = eddy_set_shape(given(t, F64, s, v + 3), s);
    const eddy_tensor y = c->build(&m), dx = slope(y, m.x), da = slope(y, m.a);
    keep_fetch(&f, y), keep_fetch(&f, dx), keep_fetch(&f, da);
    keep_fetch(&f, slope(Sum(Square(dx)), m.a));
    ck_assert_int_eq(f.n, 4);
    return f;
}

/* Fusing, in place, reuse, threads, folding and a file change no bit. */
START_TEST(options_and_files_change_no_bit)
{
    trial   t = trial_begin(1);
    fetches f = model_of(&control_models[_i], &t, 4);
    check_same_bits(&t, &f);
    trial_end(&t);
}
END_TEST

static void alike(const fetches *f, eddy_array *const *got, eddy_array *const *want,
                  const char *what)
{
    for (int i = 0; i < f->n; i++) {
        ck_assert_int_eq(eddy_array_count(got[i]), eddy_array_count(want[i]));
        for (int64_t k = 0; k < eddy_array_count(got[i]); k++) {
            const double a = eddy_array_get(got[i], k), b = eddy_array_get(want[i], k);
            ck_assert_msg(fabs(a - b) <= 1e-12 * (1 + fabs(b)), "%s: %s: %.17g, not %.17g",
                          f->title, what, a, b);
        }
    }
}

/* Without each pass, and with that pass alone. */
START_TEST(passes_change_nothing)
{
    trial       t = trial_begin(2);
    fetches     f = model_of(&control_models[_i], &t, 3);
    eddy_array *want[FETCHES] = { NULL }, *got[FETCHES] = { NULL };
    run_fetches(&t, &f, t.graph, *EDDY_ARGS(eddy_session_args, .without = EDDY_PASSES_ALL), want);
    for (int p = 0; p < 2 * EDDY_PASSES; p++) {
        char           what[40];
        const unsigned bit = 1u << p / 2, without = p % 2 ? EDDY_PASSES_ALL & ~bit : bit;
        snprintf(what, sizeof what, "without %#x", without);
        run_fetches(&t, &f, t.graph,
                    *EDDY_ARGS(eddy_session_args, .without = without, .threads = 1 + p % 3), got);
        alike(&f, got, want, what);
        free_arrays(f.n, got);
        memset(got, 0, sizeof got);
    }
    free_arrays(f.n, want);
    trial_end(&t);
}
END_TEST

/* A session that has run many times gives the same results as a new one. */
START_TEST(runs_do_not_depend_on_earlier_ones)
{
    trial       t = trial_begin(3);
    fetches     f = model_of(&control_models[_i], &t, 4);
    for (int k = 0; k < 12; k++) {
        const int   i = (k * 7) % f.n;
        eddy_array *want[FETCHES] = { NULL };
        if (!control_models[_i].rows) refeed(&t, t.tensor[0], (k * 5) % 9);
        for (int64_t j = 0; j < eddy_array_count(t.array[1]); j++)
            eddy_array_set(t.array[1], j, cos((double)(k * 3 + j)) / 2);
        run_fetches(&t, &f, t.graph, *EDDY_ARGS(eddy_session_args, .threads = 0), want);
        is(&t, f.at[i], (int)eddy_array_count(want[i]), eddy_array_data(want[i]));
        free_arrays(f.n, want);
    }
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------------- in place -- */

enum { LARGE = 5000, MANY = 60 };
BODY(multiply_add, Add(Mul(x[0], c[0]), c[1]))
BODY(turn, x[1], Sub(Mul(x[1], c[0]), x[0]))
BODY(shifted, eddy_roll(x[0], 1, 0))
BODY(differences, Sub(x[0], eddy_roll(x[0], 1, 0)))

static eddy_tensor large(trial *t, double phase, double *v)
{
    for (int i = 0; i < LARGE; i++) v[i] = sin(phase * i) / 2;
    return given(t, F64, EDDY_SHAPE(LARGE), v);
}

START_TEST(large_vectors)
{
    static double x[LARGE], a[LARGE], b[LARGE], da[LARGE];
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor tx = large(&t, 0.3, x), ta = large(&t, 0.7, a), tb = large(&t, 1.1, b), y[1];
    ck_assert_int_eq(eddy_iterate(MANY, FUNCTION(multiply_add, ta, tb), EDDY_LIST(tx), y), 1);
    eddy_tensor d = slope(y[0], ta);
    for (int i = 0; i < LARGE; i++)
        for (int k = 0; k < MANY; k++) {
            da[i] = da[i] * a[i] + x[i];
            x[i] = x[i] * a[i] + b[i];
        }
    for (int run = 0; run < 3; run++) is(&t, y[0], LARGE, x), is(&t, d, LARGE, da);
    trial_end(&t);
}
END_TEST

/* Two large values that trade places, by 2 cos(w) u - v. */
START_TEST(large_recurrences)
{
    static double u[LARGE], v[LARGE], w[LARGE];
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor tu = large(&t, 0.2, u), tv = large(&t, 0.4, v), tw = large(&t, 0.6, w), y[2];
    ck_assert_int_eq(eddy_iterate(MANY, FUNCTION(turn, tw), EDDY_LIST(tu, tv), y), 2);
    for (int k = 0; k < MANY; k++)
        for (int i = 0; i < LARGE; i++) {
            const double next = v[i] * w[i] - u[i];
            u[i] = v[i], v[i] = next;
        }
    is(&t, y[0], LARGE, u), is(&t, y[1], LARGE, v);
    trial_end(&t);
}
END_TEST

/* Elements that move: values must be read before they are overwritten. */
START_TEST(large_shifts)
{
    static double x[LARGE], next[LARGE];
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor tx = large(&t, 0.9, x), y[1], z[1];
    ck_assert_int_eq(eddy_iterate(MANY, PLAIN(shifted), EDDY_LIST(tx), y), 1);
    ck_assert_int_eq(eddy_iterate(5, PLAIN(differences), EDDY_LIST(tx), z), 1);
    for (int i = 0; i < LARGE; i++) next[(i + MANY) % LARGE] = x[i];
    is(&t, y[0], LARGE, next);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < LARGE; i++) next[i] = x[i] - x[(i + LARGE - 1) % LARGE];
        memcpy(x, next, sizeof x);
    }
    is(&t, z[0], LARGE, x);
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------------- callables -- */

BODY(fewer, Less(x[0], c[0]))
BODY(count_and_multiply, Add(x[0], 1), Mul(x[1], c[0]))
START_TEST(callables_run_loops)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = eddy_placeholder(t.graph, "n", I32, EDDY_SCALAR);
    eddy_tensor x = eddy_placeholder(t.graph, "x", F64, EDDY_SHAPE(EDDY_ANY)), y[2];
    eddy_while_loop(FUNCTION(fewer, n), FUNCTION(count_and_multiply, x),
                    EDDY_LIST(whole(&t, 0), OnesLike(x)), y, .maximum_iterations = 50);
    eddy_tensor    d = slope(y[1], x);
    eddy_array    *an = eddy_array_new(I32, EDDY_SCALAR), *out[2] = { NULL };
    eddy_callable *call = eddy_callable_new(t.session, EDDY_LIST(n, x), EDDY_LIST(y[1], d));
    for (int k = 0; k < 200; k++) {
        double    v[3] = { 0.5, 1.25, -0.75 };
        const int size = 1 + k % 3, power = k % 11;
        eddy_array_set(an, 0, power);
        const eddy_array *in[] = { an, EDDY_VIEW(v, size) };
        ck_assert_msg(eddy_callable_run(call, in, out) == EDDY_OK, "%s",
                      eddy_session_message(t.session));
        ck_assert_int_eq(eddy_array_count(out[0]), size);
        for (int i = 0; i < size; i++) {
            const double p = pow(v[i], power), dp = power ? power * pow(v[i], power - 1) : 0;
            ck_assert_double_le(fabs(eddy_array_get(out[0], i) - p), 1e-12 * (1 + fabs(p)));
            ck_assert_double_le(fabs(eddy_array_get(out[1], i) - dp), 1e-12 * (1 + fabs(dp)));
        }
    }
    eddy_array_free(out[0]), eddy_array_free(out[1]), eddy_array_free(an);
    trial_end(&t);
}
END_TEST

Suite *control_bits_suite(void)
{
    Suite *s = suite_create("control_bits");
    TCase *c = tcase_create("models");
    tcase_add_loop_test(c, options_and_files_change_no_bit, 0, CONTROL_MODELS);
    tcase_add_loop_test(c, passes_change_nothing, 0, CONTROL_MODELS);
    tcase_add_loop_test(c, runs_do_not_depend_on_earlier_ones, 0, CONTROL_MODELS);
    suite_add_tcase(s, c);
    c = tcase_create("in_place");
    tcase_add_loop_test(c, large_vectors, 0, SEEDS);
    tcase_add_loop_test(c, large_recurrences, 0, SEEDS);
    tcase_add_loop_test(c, large_shifts, 0, SEEDS);
    tcase_add_loop_test(c, callables_run_loops, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
