/* test_dilation2d.c -- dilation and erosion: values and gradients against plain loops, and the
 * numbers of TensorFlow's own tests of Dilation2D. */
#include "tests/lib/element_checks.h"
#include "tests/lib/finite_differences.h"

Suite *dilation2d_suite(void);

typedef struct dilation {
    int64_t in[2], c, taps[2], step[2], gap[2], before[2], out[2];
    bool    same;
} dilation;

static void settle(dilation *d)
{
    for (int i = 0; i < 2; i++) {
        const int64_t n = d->in[i], s = d->step[i], span = (d->taps[i] - 1) * d->gap[i] + 1;
        const int64_t all = ((n + s - 1) / s - 1) * s + span - n;
        d->out[i] = d->same ? (n + s - 1) / s : (n - span) / s + 1;
        d->before[i] = d->same && all > 0 ? all / 2 : 0;
    }
}

/* y, and where each maximum is: of x and of the filter. */
static void reference(const dilation *d, int64_t batch, const double *x, const double *f,
                      double *y, int64_t *at, int64_t *tap)
{
    for (int64_t i = 0; i < batch * d->out[0] * d->out[1] * d->c; i++) {
        const int64_t c = i % d->c, w = i / d->c % d->out[1];
        const int64_t h = i / d->c / d->out[1] % d->out[0], n = i / d->c / d->out[1] / d->out[0];
        y[i] = -INFINITY;
        for (int64_t t = 0; t < d->taps[0] * d->taps[1]; t++) {
            const int64_t r = h * d->step[0] - d->before[0] + t / d->taps[1] * d->gap[0];
            const int64_t q = w * d->step[1] - d->before[1] + t % d->taps[1] * d->gap[1];
            if (r < 0 || q < 0 || r >= d->in[0] || q >= d->in[1]) continue;
            const int64_t place = ((n * d->in[0] + r) * d->in[1] + q) * d->c + c;
            if (!(x[place] + f[t * d->c + c] > y[i])) continue;
            y[i] = x[place] + f[t * d->c + c];
            at[i] = place, tap[i] = t * d->c + c;
        }
    }
}

static void compare(trial *t, const char *what, eddy_tensor got, const double *want, double sign)
{
    eddy_array *a = value(t, got);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(close_to(eddy_array_get(a, i), sign * want[i], 1e-12), "%s %d is %g, not %g",
                      what, (int)i, eddy_array_get(a, i), sign * want[i]);
    eddy_array_free(a);
}

enum { BATCH = 2 };

START_TEST(values_are_those_of_plain_loops)
{
    static double  x[1000], f[100], y[1000], dx[1000], df[100];
    static int64_t at[1000], tap[1000];
    trial    t = trial_begin((unsigned)_i);
    dilation d = { .same = pick(&t, 2), .c = 1 + pick(&t, 3) };
    for (int i = 0; i < 2; i++) {
        d.taps[i] = 1 + pick(&t, 3), d.step[i] = 1 + pick(&t, 2), d.gap[i] = 1 + pick(&t, 2);
        d.in[i] = (d.taps[i] - 1) * d.gap[i] + 1 + pick(&t, 4);
    }
    settle(&d);
    const eddy_shape  sx = EDDY_SHAPE(BATCH, d.in[0], d.in[1], d.c);
    const eddy_shape  sf = EDDY_SHAPE(d.taps[0], d.taps[1], d.c);
    const eddy_dims   steps = EDDY_DIMS(d.step[0], d.step[1]), gaps = EDDY_DIMS(d.gap[0], d.gap[1]);
    const char       *padding = d.same ? "SAME" : "VALID";
    for (int64_t i = 0; i < eddy_shape_count(sx); i++) x[i] = uniform(-1, 1), dx[i] = 0;
    for (int64_t i = 0; i < eddy_shape_count(sf); i++) f[i] = uniform(-1, 1), df[i] = 0;
    reference(&d, BATCH, x, f, y, at, tap);
    for (int64_t i = 0; i < BATCH * d.out[0] * d.out[1] * d.c; i++) dx[at[i]]++, df[tap[i]]++;
    g = t.graph;
    const eddy_tensor in = eddy_const(g, F64, sx, x), filter = eddy_const(g, F64, sf, f);
    const eddy_tensor out = eddy_dilation2d(in, filter, steps, gaps, padding);
    compare(&t, "y", out, y, 1);
    compare(&t, "dx", slope(out, in), dx, 1);
    compare(&t, "dfilter", slope(out, filter), df, 1);
    const eddy_tensor reversed = eddy_reverse(filter, EDDY_AXES(0, 1));
    compare(&t, "erosion", eddy_erosion2d(Neg(in), reversed, steps, gaps, padding), y, -1);
    trial_end(&t);
    g = NULL;
}
END_TEST

/* The values that morphological_ops_test.py of TensorFlow expects. */
START_TEST(values_are_those_of_tensorflow)
{
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(1, 2, 2, 1), (double[]){ .1, .2, .3, .4 });
    const eddy_tensor f = shaped(F64, EDDY_SHAPE(2, 2, 1), (double[]){ .4, .3, .1, .0 });
    NEAR(eddy_dilation2d(x, f), .5);
    NEAR(eddy_dilation2d(x, f, .padding = "SAME"), .5, .6, .7, .8);
    NEAR(eddy_erosion2d(x, f), .0);
    NEAR(eddy_erosion2d(x, f, .padding = "SAME"), .0, .1, .3, .4);
    ck_assert_str_eq(eddy_name_of(eddy_dilation2d(x, f, .name = "a")), "a");
    ck_assert_str_eq(eddy_name_of(eddy_erosion2d(x, f, .name = "b")), "b");
    ck_assert(!eddy_is_valid(eddy_dilation2d(EDDY_NO_TENSOR, f)));
    ck_assert(!eddy_is_valid(eddy_erosion2d(x, EDDY_NO_TENSOR)));
}
END_TEST

Suite *dilation2d_suite(void)
{
    Suite *s = suite_create("dilation2d");
    TCase *loops = tcase_create("loops"), *t = tcase_create("dilation2d");
    tcase_add_loop_test(loops, values_are_those_of_plain_loops, 0, 20);
    suite_add_tcase(s, loops);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, values_are_those_of_tensorflow);
    suite_add_tcase(s, t);
    return s;
}
