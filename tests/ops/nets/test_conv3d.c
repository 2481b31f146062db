/* test_conv3d.c -- 3-D convolutions with groups and explicit paddings, and transposed ones: against
 * plain loops, gradients, and results of PyTorch 1.13. */
#include "tests/lib/element_checks.h"
#include "tests/lib/finite_differences.h"

Suite *conv3d_suite(void);

typedef struct volume {
    int64_t in[3], c, groups, taps[3], out_c, step[3], gap[3], zeros[6], out[3];
    int     how;                         /* SAME, VALID, EXPLICIT */
} volume;
static const char *const paddings[] = { "SAME", "VALID", "EXPLICIT" };

static void settle(volume *v)
{
    for (int i = 0; i < 3; i++) {
        const int64_t span = (v->taps[i] - 1) * v->gap[i] + 1, s = v->step[i];
        if (v->how < 2) v->zeros[2 * i] = v->zeros[2 * i + 1] = 0;
        if (v->how == 0) {
            int64_t all = ((v->in[i] + s - 1) / s - 1) * s + span - v->in[i];
            if (all < 0) all = 0;
            v->zeros[2 * i] = all / 2, v->zeros[2 * i + 1] = all - all / 2;
        }
        v->out[i] = v->how == 0 ? (v->in[i] + s - 1) / s
                                : (v->in[i] + v->zeros[2 * i] + v->zeros[2 * i + 1] - span) / s + 1;
    }
}

/* y[n, at, o] by its definition. */
static double sum_at(const volume *v, const double *x, const double *w, int64_t n,
                     const int64_t *at, int64_t o)
{
    const int64_t each = v->c / v->groups, group = o / (v->out_c / v->groups);
    double sum = 0;
    for (int64_t t = 0; t < v->taps[0] * v->taps[1] * v->taps[2]; t++) {
        const int64_t tap[] = { t / v->taps[2] / v->taps[1], t / v->taps[2] % v->taps[1],
                                t % v->taps[2] };
        int64_t place = n;
        bool    in = true;
        for (int i = 0; i < 3; i++) {
            const int64_t p = at[i] * v->step[i] + tap[i] * v->gap[i] - v->zeros[2 * i];
            in = in && p >= 0 && p < v->in[i];
            place = place * v->in[i] + p;
        }
        for (int64_t c = 0; c < each && in; c++)
            sum += x[place * v->c + group * each + c] * w[(t * each + c) * v->out_c + o];
    }
    return sum;
}

static volume some_volume(trial *t, int groups)
{
    volume v = { .groups = groups, .how = pick(t, 3) };
    v.c = groups * (1 + pick(t, 2)), v.out_c = groups * (1 + pick(t, 2));
    for (int i = 0; i < 3; i++) {
        v.taps[i] = 1 + pick(t, 3), v.step[i] = 1 + pick(t, 3), v.gap[i] = 1 + pick(t, 2);
        const int span = (int)((v.taps[i] - 1) * v.gap[i] + 1);
        v.zeros[2 * i] = pick(t, span), v.zeros[2 * i + 1] = pick(t, span);
        v.in[i] = span + pick(t, 4);
    }
    settle(&v);
    return v;
}

static eddy_dims three(const int64_t *d) { return EDDY_DIMS(d[0], d[1], d[2]); }
static eddy_dims around(const volume *v)
{
    const int64_t *z = v->zeros;
    return v->how == 2 ? EDDY_DIMS(z[0], z[1], z[2], z[3], z[4], z[5]) : EDDY_OMITTED_DIMS;
}

static eddy_shape shape_of(const int64_t *d, int64_t c)
{
    return EDDY_SHAPE(2, d[0], d[1], d[2], c);
}

static eddy_tensor drawn(trial *t, eddy_shape s, double *v)
{
    for (int64_t i = 0; i < eddy_shape_count(s); i++) v[i] = uniform(-1, 1);
    eddy_array *a = array(F64, s, v);
    const eddy_tensor x = eddy_placeholder_with_default(eddy_constant(t->graph, a, NULL), NULL, s);
    eddy_array_free(a);
    return x;
}

START_TEST(groups_and_paddings)
{
    static double x[4096], w[4096];
    trial        t = trial_begin((unsigned)_i);
    const volume v = some_volume(&t, 1 + _i % 3);
    g = t.graph;
    const eddy_tensor in = drawn(&t, shape_of(v.in, v.c), x);
    const eddy_tensor f = drawn(&t, EDDY_SHAPE(v.taps[0], v.taps[1], v.taps[2], v.c / v.groups,
                                               v.out_c), w);
    eddy_array *got = value(&t, eddy_conv3d(in, f, three(v.step), paddings[v.how], NULL,
                                            three(v.gap), around(&v)));
    const eddy_shape s = eddy_array_shape(got);
    ck_assert(eddy_shape_equal(s, shape_of(v.out, v.out_c)));
    for (int64_t i = 0; i < eddy_array_count(got); i++) {
        int64_t at[EDDY_MAX_RANK];
        position(s, i, at);
        ck_assert(close_to(eddy_array_get(got, i), sum_at(&v, x, w, at[0], at + 1, at[4]), 1e-12));
    }
    eddy_array_free(got);
    trial_end(&t);
    g = NULL;
}
END_TEST

/* The gradient of the convolution with respect to its input, to the bit of rounding. */
START_TEST(transposed_is_the_gradient)
{
    static double x[4096], w[4096], z[65536];
    trial        t = trial_begin((unsigned)(100 + _i));
    const volume v = some_volume(&t, 1);
    const bool   planes = _i % 2;
    const eddy_dims back = EDDY_DIMS(0, 4, 1, 2, 3);
    g = t.graph;
    const eddy_shape  large = shape_of(v.in, v.c);
    const eddy_tensor from = drawn(&t, large, z), dy = drawn(&t, shape_of(v.out, v.out_c), x);
    const eddy_tensor f = drawn(&t, EDDY_SHAPE(v.taps[0], v.taps[1], v.taps[2], v.c, v.out_c), w);
    const eddy_tensor y = eddy_conv3d(from, f, three(v.step), paddings[v.how], NULL, three(v.gap),
                                      around(&v));
    const eddy_tensor want = gradient_with(y, dy, from);
    const eddy_shape  second = EDDY_SHAPE(EDDY_ANY, v.c, v.in[0], v.in[1], v.in[2]);
    const eddy_tensor got = eddy_conv3d_transpose(
        planes ? Transpose(dy, back) : dy, f, planes ? second : large, three(v.step),
        paddings[v.how], planes ? "NCDHW" : NULL, three(v.gap), around(&v));
    const eddy_tensor off = Sub(planes ? Transpose(want, back) : want, got);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    ck_assert_double_lt(scalar_value(&t, Max(Abs(off))), 1e-12);
    trial_end(&t);
    g = NULL;
}
END_TEST

/* PyTorch: conv_transpose3d, and conv3d of two groups with padding (1, 0, 0). */
START_TEST(volumes_are_those_of_pytorch)
{
    const double      v[] = { 1, 2, -1, 3, 0, 1, 2, -2 };
    const double      both[] = { 1, 3, 2, 1, -1, 0, 3, 1, 0, 1, 1, 1, 2, -1, -2, 2 };
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(1, 2, 2, 2, 1), (double[]){ 1, 2, 3, 4, 5, 6, 7,
                                                                             8 });
    const eddy_tensor f = shaped(F64, EDDY_SHAPE(2, 2, 2, 1, 1), v);
    const eddy_tensor two = shaped(F64, EDDY_SHAPE(1, 2, 2, 2, 2), (double[]){
        1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 8, 16 });
    const eddy_tensor filters = shaped(F64, EDDY_SHAPE(2, 2, 2, 1, 2), both);
    near("smallest", 0, eddy_conv3d_transpose(x, f), 27, (double[]){
         1, 4, 4, 2, 11, 14, -3, 5, 12, 5, 17, 14, 4, 36, 34, -1, 15, 16, 0, 5, 6, 10, 9, -4, 14, 2,
         -16 });
    near("larger", 0, eddy_conv3d_transpose(x, f, EDDY_SHAPE(1, 3, 3, 1, 1), EDDY_DIMS(2, 1, 1),
                                            .explicit_paddings = EDDY_DIMS(1, 0, 0, 0, 1, 1)),
         9, (double[]){ 1, 5, 2, 16, 31, 13, 5, 9, 2 });
    near("groups", 0, eddy_conv3d(two, filters, .explicit_paddings = EDDY_DIMS(1, 1, 0, 0, 0, 0)),
         6, (double[]){ 0, 32, 18, 93, 34, 69 });
}
END_TEST

START_TEST(shapes_follow_from_options)
{
    char text[64];
    const eddy_tensor x = eddy_placeholder(g, "x", F32, EDDY_SHAPE(EDDY_ANY, 3, 4, 5, 6));
    const eddy_tensor f = eddy_placeholder(g, "f", F32, EDDY_SHAPE(3, 2, 1, 7, 6));
#define PRINTS(t, want) \
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(t), text, sizeof text), want)
    PRINTS(eddy_conv3d_transpose(x, f), "[?,5,5,5,7]");
    PRINTS(eddy_conv3d_transpose(x, f, .strides = EDDY_DIMS(2), .padding = "SAME"), "[?,6,8,10,7]");
    ck_assert_str_eq(eddy_name_of(eddy_conv3d_transpose(x, f, .name = "up")), "up");
    ck_assert(!eddy_is_valid(eddy_conv3d_transpose(EDDY_NO_TENSOR, f)));
    ck_assert(!eddy_is_valid(eddy_conv3d_transpose(x, EDDY_NO_TENSOR)));
}
END_TEST

Suite *conv3d_suite(void)
{
    Suite *s = suite_create("conv3d");
    TCase *loops = tcase_create("loops"), *t = tcase_create("conv3d");
    tcase_add_loop_test(loops, groups_and_paddings, 0, 18);
    tcase_add_loop_test(loops, transposed_is_the_gradient, 0, 18);
    suite_add_tcase(s, loops);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, volumes_are_those_of_pytorch);
    tcase_add_test(t, shapes_follow_from_options);
    suite_add_tcase(s, t);
    return s;
}
