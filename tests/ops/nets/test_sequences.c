/* test_sequences.c -- sequence losses and sampled losses against PyTorch 1.13, samplers against
 * their probabilities, decoders and distances against loops. */
#include "tests/lib/element_checks.h"

Suite *sequences_suite(void);

static eddy_tensor ints(int n, const double *v) { return vec(EDDY_INT32, n, v); }
static eddy_tensor logits(eddy_dtype d)
{
    double v[24];
    for (int i = 0; i < 24; i++) v[i] = ((i * 7919 + 31) % 1009) / 250.0 - 2;
    return shaped(d, EDDY_SHAPE(2, 3, 4), v);
}

/* ----------------------------------------------------------------- sequence_loss -- */

START_TEST(sequence_losses)
{
    const eddy_dtype d = _i ? F32 : F64;
    const double     tolerance = _i ? 1e-6 : 1e-14;
    const eddy_tensor x = logits(d), t = shaped(EDDY_INT32, EDDY_SHAPE(2, 3),
                                                (double[]){ 0, 3, 1, 2, 2, 0 });
    const eddy_tensor w = shaped(d, EDDY_SHAPE(2, 3), (double[]){ 1, 0.5, 0, 2, 1, 0.25 });
    near("one", tolerance, eddy_sequence_loss(x, t, w), V(1.5185144972464073));
    near("steps", tolerance, eddy_sequence_loss(x, t, w, .keep_timesteps = true),
         V(1.6775171715129105, 1.3384231724510551, 0.6910303548204857));
    near("examples", tolerance, eddy_sequence_loss(x, t, w, .keep_batch = true),
         V(2.761302488886971, 0.9449200395661472));
    near("all", tolerance, eddy_sequence_loss(x, t, w, true, true),
         V(4.04934932947436, 0.09260440385609707, 0, 0.9832021850643712, 1.9150303548204857,
           0.17275758870512142));
    near("count", tolerance, eddy_sequence_loss(x, t, w, .over_count = true), V(1.442588772384087));
    near("count", tolerance, eddy_sequence_loss(x, t, w, true, .over_count = true),
         V(2.5162757572693657, 1.0038173793382914, 0.17275758870512142));
    const eddy_tensor nothing = eddy_sequence_loss(x, t, ZerosLike(w));
    IS(nothing, 0);
    IS(Sum(Abs(slope(nothing, x))), 0);
}
END_TEST

/* ---------------------------------------------------------------- sampled classes -- */

typedef struct sampled {
    eddy_tensor w, b, x, labels, values;
} sampled;

static sampled build_sampled(eddy_dtype d)
{
    double w[18];
    for (int i = 0; i < 18; i++) w[i] = ((i * 104729 + 7) % 997) / 250.0 - 2;
    const double drawn[] = { 3, 0, 5 }, often[] = { 0.3, 0.75, 0.1 };
    const double b[] = { 0.5, -1, 0.25, 2, -0.75, 1.5 };
    const double of_true[] = { 0.5, 0.25, 0.75, 0.3 }, x[] = { 1, -0.5, 2, 0.25, 1.5, -1 };
    const double labels[] = { 1, 4, 0, 3 };
    const eddy_tensor list[] = { vec(EDDY_INT64, 3, drawn), shaped(d, EDDY_SHAPE(2, 2), of_true),
                                 vec(d, 3, often) };
    return (sampled){ shaped(d, EDDY_SHAPE(6, 3), w), vec(d, 6, b), shaped(d, EDDY_SHAPE(2, 3), x),
                      shaped(EDDY_INT64, EDDY_SHAPE(2, 2), labels),
                      eddy_identity_n((eddy_list){ 3, list }, 3) };
}

START_TEST(sampled_losses)
{
    static const double w[] = { -0.12358815644901078, -0.7419417616505148, 0.4947336931404586,
        -0.49992042644966705, 0.24996021322483353, -0.9998408528993341, 0, 0, 0,
        -0.03811291654905886, -0.4713115337450018, 0.37642154415068035, -0.4892804019783313,
        0.24464020098916564, -0.9785608039566626, 1.150901901426068, 0.7186528811815176,
        1.1072464195648575 };
    static const double b[] = { -0.4945431594682509, -0.49992042644966705, 0, -0.2644366051734579,
        -0.4892804019783313, 1.7481805930697072 };
    static const double x[] = { 1.2745856247547307, 1.2745856247547305, 1.2745856247547307,
        1.624425364210879, 1.6244253642108788, 1.6244253642108792 };
    const double  tolerance = _i ? 4e-6 : 1e-13;
    const sampled s = build_sampled(_i ? F32 : F64);
    const eddy_tensor y = eddy_sampled_softmax_loss(s.w, s.b, s.labels, s.x, 3, 6, s.values);
    near("loss", tolerance, y, V(6.9872552123011875, 3.42044703649598));
    near("weights", tolerance, slope(y, s.w), 18, w);
    near("biases", tolerance, slope(y, s.b), 6, b);
    near("inputs", tolerance, slope(y, s.x), 6, x);
    near("hits", tolerance,
         eddy_sampled_softmax_loss(s.w, s.b, s.labels, s.x, 3, 6, s.values, true),
         V(6.9872552123011875, 3.6057877071272397));
}
END_TEST

START_TEST(nce_losses)
{
    static const double b[] = { 0.15750642469202192, -0.4644580558635286, 0, 2.3333382440612818,
        0.33233880951383865, 1.9831876324454982 };
    static const double x[] = { 0.9605645681912873, 1.28431782834508, 1.6080710884988734,
        -0.13452827190726568, 0.3058951655923845, 0.7463186030920351 };
    const double  tolerance = _i ? 4e-6 : 1e-13;
    const sampled s = build_sampled(_i ? F32 : F64);
    const eddy_tensor y = eddy_nce_loss(s.w, s.b, s.labels, s.x, 3, 6, s.values);
    near("loss", tolerance, y, V(11.697325587272967, 9.727712047658809));
    near("biases", tolerance, slope(y, s.b), 6, b);
    near("inputs", tolerance, slope(y, s.x), 6, x);
    near("hits", tolerance, eddy_nce_loss(s.w, s.b, s.labels, s.x, 3, 6, s.values, true),
         V(11.697325587272967, 6.467562730579974));
}
END_TEST

/* With every class certain to be drawn, the sampled softmax is the softmax. */
START_TEST(all_classes)
{
    const sampled s = build_sampled(F64);
    const eddy_tensor label = shaped(EDDY_INT32, EDDY_SHAPE(2, 1), (double[]){ 4, 1 });
    const eddy_tensor list[] = { vec(EDDY_INT64, V(0, 1, 2, 3, 4, 5)),
                                 OnesLike(Cast(label, F32)), vec(F32, V(1, 1, 1, 1, 1, 1)) };
    const eddy_tensor y = eddy_sampled_softmax_loss(s.w, s.b, label, s.x, 6, 6,
                                                    eddy_identity_n((eddy_list){ 3, list }, 3));
    const eddy_tensor all = Add(MatMul(s.x, s.w, .transpose_b = true), s.b);
    double want[2];
    values(eddy_sparse_softmax_cross_entropy(eddy_squeeze(label, EDDY_AXES(1)), all), want);
    near("softmax", 1e-13, y, 2, want);
    ck_assert(connected(eddy_sampled_softmax_loss(s.w, s.b, label, s.x, 6, 6), s.w));
}
END_TEST

/* ------------------------------------------------------------------------- draws -- */

enum { CLASSES = 20, DRAWS = 20000 };

static double log_uniform(int class)
{
    return (log(class + 2) - log(class + 1)) / log(CLASSES + 1);
}

static int64_t *integers(const eddy_array *a) { return (int64_t *)eddy_array_data(a); }

/* Within five standard deviations. */
START_TEST(draws_are_as_likely)
{
    const eddy_tensor labels = ints(V(0, 1, 19));
    for (int is_log = 0; is_log < 2; is_log++) {
        const eddy_tensor y = is_log ? eddy_log_uniform_candidate_sampler(labels, DRAWS, false,
                                                                          CLASSES, 7)
                                     : eddy_uniform_candidate_sampler(labels, DRAWS, false,
                                                                      CLASSES, 7);
        eddy_array *a = NULL;
        int count[CLASSES] = { 0 };
        ck_assert_int_eq(evaluate(y, 0, NULL, &a), EDDY_OK);
        for (int i = 0; i < DRAWS; i++) {
            ck_assert(integers(a)[i] >= 0 && integers(a)[i] < CLASSES);
            count[integers(a)[i]]++;
        }
        for (int c = 0; c < CLASSES; c++) {
            const double p = is_log ? log_uniform(c) : 1.0 / CLASSES, mean = p * DRAWS;
            ck_assert_msg(fabs(count[c] - mean) < 5 * sqrt(mean), "class %d: %d, not %g", c,
                          count[c], mean);
        }
        eddy_array_free(a);
        const double want[] = { is_log ? log_uniform(0) * DRAWS : DRAWS / CLASSES,
                                is_log ? log_uniform(1) * DRAWS : DRAWS / CLASSES,
                                is_log ? log_uniform(19) * DRAWS : DRAWS / CLASSES };
        near("expected", 1e-6, eddy_output(y, 1), 3, want);
    }
}
END_TEST

/* Of draws without repetition, each class comes as often as expected, over many runs. */
START_TEST(different_classes)
{
    enum { RUNS = 2000, TAKEN = 5 };
    const eddy_tensor labels = ints(V(0, 3, 19));
    const eddy_tensor y = eddy_log_uniform_candidate_sampler(labels, TAKEN, true, CLASSES, 3);
    eddy_session *s = eddy_session_new(g);
    double often[3] = { 0 }, expected[3] = { 0 };
    const int of[] = { 0, 3, 19 };
    for (int run = 0; run < RUNS; run++) {
        eddy_array *out[2] = { NULL };
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y, eddy_output(y, 1)), out), EDDY_OK);
        for (int i = 0; i < TAKEN; i++)
            for (int j = 0; j < i; j++) ck_assert(integers(out[0])[i] != integers(out[0])[j]);
        for (int j = 0; j < 3; j++) {
            for (int i = 0; i < TAKEN; i++) often[j] += integers(out[0])[i] == of[j];
            expected[j] += eddy_array_get(out[1], j);
        }
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
    }
    eddy_session_free(s);
    for (int j = 0; j < 3; j++)
        ck_assert_msg(fabs(often[j] - expected[j]) < 0.1 * expected[j] + 30, "class %d: %g, not %g",
                      of[j], often[j], expected[j]);
}
END_TEST

/* corner: as many different classes as there are; the same numbers in another session */
START_TEST(every_class)
{
    const eddy_tensor y = eddy_uniform_candidate_sampler(ints(V(0)), CLASSES, true, CLASSES, 5);
    double got[ROOM], again[ROOM], seen = 0;
    ck_assert_int_eq(values(y, got), CLASSES);
    ck_assert_int_eq(values(y, again), CLASSES);
    for (int i = 0; i < CLASSES; i++) seen += ldexp(1, (int)got[i]);
    ck_assert(seen == ldexp(1, CLASSES) - 1);
    ck_assert_mem_eq(got, again, CLASSES * sizeof *got);
    IS(eddy_output(eddy_uniform_candidate_sampler(ints(V(0)), 1, true, 1), 1), 1);
    ck_assert_int_eq(values(eddy_uniform_candidate_sampler(ints(V(0)), 0, true, 5), got), 0);
}
END_TEST

/* ---------------------------------------------------------------------- decoding -- */

START_TEST(collapsed)
{
    const eddy_tensor x = shaped(EDDY_INT32, EDDY_SHAPE(2, 6), (double[]){ 1, 1, 2, 2, 1, 1,
                                                                           3, 3, 3, 3, 4, 4 });
    const eddy_tensor y = eddy_collapse_repeated(x, ints(V(6, 4)));
    IS(y, 1, 2, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0);
    IS(eddy_output(y, 1), 3, 1);
}
END_TEST

/* Two examples of five steps and three classes; the largest are 1 1 0 1 2 and 2 0 0 1 1. */
START_TEST(greedy)
{
    const double v[] = {
        0, 3, 1,  1, 0, 4,   2, 5, 1,  6, 0, 1,   4, 3, 1,  7, 5, 2,   0, 2, 1,  0, 8, 1,
        1, 0, 9,  1, 4, 0,
    };
    const eddy_tensor x = shaped(F32, EDDY_SHAPE(5, 2, 3), v), n = ints(V(5, 4));
    const eddy_tensor y = eddy_ctc_greedy_decoder(x, n, 0, true);
    IS(y, 1, 1, 2, -1, -1, 2, 1, -1, -1, -1);
    IS(eddy_output(y, 1), 3, 2);
    IS(eddy_output(y, 2), -23, -25);
    IS(eddy_ctc_greedy_decoder(x, n, 0, false), 1, 1, 1, 2, -1, 2, 1, -1, -1, -1);
    IS(eddy_ctc_greedy_decoder(x, n, -1, true), 1, 0, 1, -1, -1, 0, 1, -1, -1, -1);
    ck_assert(connected(eddy_output(y, 2), x));
}
END_TEST

/* --------------------------------------------------------------------- distances -- */

/* By the definition, without a table. */
static int far_apart(int n, const int32_t *a, int m, const int32_t *b)
{
    if (n == 0 || m == 0) return n + m;
    const int change = far_apart(n - 1, a + 1, m - 1, b + 1) + (a[0] != b[0]);
    const int drop = far_apart(n - 1, a + 1, m, b) + 1, put = far_apart(n, a, m - 1, b + 1) + 1;
    const int least = drop < put ? drop : put;
    return change < least ? change : least;
}

START_TEST(distances)
{
    enum { ROWS = 40, N = 5, M = 6 };
    int32_t a[ROWS * N], b[ROWS * M], n[ROWS], m[ROWS];
    double  plain[ROWS], normal[ROWS];
    for (int i = 0; i < ROWS * N; i++) a[i] = (int32_t)uniform(0, 3);
    for (int i = 0; i < ROWS * M; i++) b[i] = (int32_t)uniform(0, 3);
    for (int i = 0; i < ROWS; i++) {
        n[i] = (int32_t)uniform(0, N + 1), m[i] = (int32_t)uniform(0, M + 1);
        plain[i] = far_apart(n[i], a + i * N, m[i], b + i * M);
        normal[i] = m[i] > 0 ? plain[i] / m[i] : plain[i] > 0 ? INFINITY : 0;
    }
    const eddy_shape rows = EDDY_SHAPE(2, ROWS / 2);
    const eddy_tensor x = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2, ROWS / 2, N), a);
    const eddy_tensor y = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2, ROWS / 2, M), b);
    const eddy_tensor xs = eddy_const(g, EDDY_INT32, rows, n);
    const eddy_tensor ys = eddy_const(g, EDDY_INT32, rows, m);
    near("distance", 0, eddy_edit_distance(x, xs, y, ys, false), ROWS, plain);
    near("normalized", 1e-7, eddy_edit_distance(x, xs, y, ys, true), ROWS, normal);
}
END_TEST

Suite *sequences_suite(void)
{
    Suite *s = suite_create("sequences");
    TCase *t = tcase_create("losses");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, sequence_losses, 0, 2);
    tcase_add_loop_test(t, sampled_losses, 0, 2);
    tcase_add_loop_test(t, nce_losses, 0, 2);
    tcase_add_test(t, all_classes);
    tcase_add_test(t, draws_are_as_likely);
    tcase_add_test(t, different_classes);
    tcase_add_test(t, every_class);
    tcase_add_test(t, collapsed);
    tcase_add_test(t, greedy);
    tcase_add_test(t, distances);
    suite_add_tcase(s, t);
    return s;
}
