/* test_ctc.c -- the CTC loss against a sum over all paths, against sums in logarithms, and against
 * PyTorch 1.13; lengths, impossible paths, extreme logits; decoders. */
#include "tests/lib/element_checks.h"
#include "graph/base/cpu.h"

Suite *ctc_suite(void);

/* Logits that are all over [-2, 2). */
static double logit(int i) { return ((i * 7919 + 31) % 1009) / 250.0 - 2; }

static eddy_tensor logits_of(eddy_dtype d, int steps, int batch, int classes, double scale)
{
    const int   n = steps * batch * classes;
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(steps, batch, classes));
    for (int i = 0; i < n; i++) eddy_array_set(a, i, scale * logit(i));
    const eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}
static eddy_tensor ints(eddy_shape s, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, s, v);
}
#define INTS(...) ints(EDDY_SHAPE(sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)), \
                       (int32_t[]){ __VA_ARGS__ })

/* ------------------------------------------------------------ PyTorch's figures -- */

static const int32_t three[] = { 1, 1, 3, 2, 4, 1, 4, 4, 4 };

static eddy_tensor of_pytorch(eddy_tensor logits, bool batch_major)
{
    const eddy_tensor x = batch_major ? Transpose(logits, EDDY_DIMS(1, 0, 2)) : logits;
    return eddy_ctc_loss(ints(EDDY_SHAPE(3, 3), three), x, INTS(3, 2, 1), INTS(7, 5, 4),
                         .batch_major = batch_major);
}

START_TEST(figures_of_pytorch)
{
    static const double want[] = { 6.951933245513472, 4.4010627974396455, 3.2650742093489145 };
    static const double slopes[] = { 0.0006200095390556336, -0.4915458922194942,
        0.1412190737965967, 0.7103263659136044, -0.14913936789260748, -0.15593669382972872,
        0, 0, 0, 28.621600804766864, 1.590858113925194 };
    for (int single = 0; single < 2; single++) {
        const eddy_dtype  d = single ? F32 : F64;
        const double      tolerance = single ? 2e-6 : 1e-13;
        const eddy_tensor x = logits_of(d, 7, 3, 5, 1), y = of_pytorch(x, _i);
        near("loss", tolerance, y, 3, want);
        const eddy_tensor dx = slope(Mul(y, vec(d, V(1, 2, 3))), x);
        const eddy_tensor some = Gather(Reshape(dx, EDDY_SHAPE(-1)),
                                        INTS(0, 1, 17, 34, 50, 61, 73, 74, 104));
        near("slopes", tolerance, some, 9, slopes);
        near("slopes", tolerance, Sum(Abs(dx)), 1, slopes + 9);
        near("slopes", 10 * tolerance, Sum(Mul(dx, x)), 1, slopes + 10);
    }
}
END_TEST

START_TEST(blank_elsewhere)
{
    const int32_t labels[] = { 1, 1, 3, 2, 0, 1, 3, 3, 3 };
    const eddy_tensor x = logits_of(F64, 7, 3, 5, 1);
    const eddy_tensor y = eddy_ctc_loss(ints(EDDY_SHAPE(3, 3), labels), x, INTS(3, 2, 1),
                                        INTS(7, 5, 4), .blank_index = -1);
    near("blank 4", 1e-13, y, V(6.472883349497419, 4.486968410412263, 5.640782416292196));
}
END_TEST

/* --------------------------------------------------------- all paths, one by one -- */

enum { STEPS = 5, CLASSES = 3, PATHS = 243 };

static bool reads_as(int path, const int32_t *labels, int n)
{
    int at = 0, last = 0;
    for (int t = 0; t < STEPS; t++, path /= CLASSES) {
        const int class = path % CLASSES;
        if (class != last && class != 0 && (at == n || labels[at++] != class)) return false;
        last = class;
    }
    return at == n;
}

/* Of logits of one example; -ln Z, and how likely each class is at each step. */
static double by_hand(const int32_t *labels, int n, double *posterior)
{
    double z = 0, p[STEPS][CLASSES];
    memset(posterior, 0, STEPS * CLASSES * sizeof *posterior);
    for (int t = 0; t < STEPS; t++) {
        double all = 0;
        for (int c = 0; c < CLASSES; c++) all += exp(logit(t * CLASSES + c));
        for (int c = 0; c < CLASSES; c++) p[t][c] = exp(logit(t * CLASSES + c)) / all;
    }
    for (int path = 0; path < PATHS; path++) {
        double product = 1;
        if (!reads_as(path, labels, n)) continue;
        for (int t = 0, rest = path; t < STEPS; t++, rest /= CLASSES)
            product *= p[t][rest % CLASSES];
        for (int t = 0, rest = path; t < STEPS; t++, rest /= CLASSES)
            posterior[t * CLASSES + rest % CLASSES] += product;
        z += product;
    }
    for (int i = 0; i < STEPS * CLASSES; i++) posterior[i] = z > 0 ? posterior[i] / z : 0;
    return -log(z);
}

START_TEST(all_paths)
{
    static const struct { int n; int32_t labels[4]; } cases[] = {
        { 0, { 0 } }, { 1, { 1 } }, { 2, { 1, 2 } }, { 2, { 2, 2 } }, { 3, { 1, 2, 1 } },
        { 3, { 1, 1, 2 } }, { 3, { 2, 2, 2 } }, { 4, { 1, 2, 1, 2 } }, { 4, { 1, 1, 2, 2 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double posterior[STEPS * CLASSES], got[ROOM];
        const double      want = by_hand(cases[i].labels, cases[i].n, posterior);
        const eddy_tensor x = logits_of(F64, STEPS, 1, CLASSES, 1);
        const eddy_tensor y = eddy_ctc_loss(ints(EDDY_SHAPE(1, cases[i].n), cases[i].labels), x);
        near("loss", 1e-13, y, 1, &want);
        const eddy_tensor p = Sub(isfinite(want) ? Softmax(x) : ZerosLike(x), slope(y, x));
        ck_assert_int_eq(values(p, got), STEPS * CLASSES);
        near("posterior", 1e-13, p, STEPS * CLASSES, posterior);
    }
}
END_TEST

/* ------------------------------------------------------------- sums of logarithms -- */

static double log_add(double a, double b)
{
    const double top = fmax(a, b);
    return top == -INFINITY ? top : top + log(exp(a - top) + exp(b - top));
}

static double log_softmax(const double *x, int classes, int at)
{
    double all = -INFINITY;
    for (int c = 0; c < classes; c++) all = log_add(all, x[c]);
    return x[at] - all;
}

/* Over states blank, label, blank, .. of one example. */
static double in_logs(const double *x, int steps, int classes, int n, const int32_t *labels)
{
    double a[256], b[256];
    for (int i = 0; i <= 2 * n; i++) a[i] = i == 0 ? 0 : -INFINITY;
    for (int t = 0; t < steps; t++, x += classes) {
        for (int i = 0; i <= 2 * n; i++) {
            const int  id = i % 2 ? labels[i / 2] : 0;
            double     sum = a[i];
            if (i > 0) sum = log_add(sum, a[i - 1]);
            if (i > 1 && i % 2 && labels[i / 2] != labels[i / 2 - 1]) sum = log_add(sum, a[i - 2]);
            b[i] = sum + log_softmax(x, classes, id);
        }
        if (t == 0)
            for (int i = 2; i <= 2 * n; i++) b[i] = -INFINITY;
        memcpy(a, b, sizeof a);
    }
    return -log_add(a[2 * n], n > 0 ? a[2 * n - 1] : -INFINITY);
}

/* Confident and wrong: steps of which each costs a hundred or a thousand. */
START_TEST(long_sequences)
{
    enum { T = 300, C = 6, N = 40 };
    static const double scales[] = { 0.1, 1, 30, 700 };
    const double scale = scales[_i];
    static double x[T * C];
    int32_t labels[N];
    for (int i = 0; i < N; i++) labels[i] = 1 + (i * i / 3) % 5;
    for (int i = 0; i < T * C; i++) x[i] = scale * logit(i);
    const double      want = in_logs(x, T, C, N, labels);
    const eddy_tensor logits = logits_of(F64, T, 1, C, scale);
    const eddy_tensor y = eddy_ctc_loss(ints(EDDY_SHAPE(1, N), labels), logits);
    near("loss", 1e-12, y, 1, &want);
    const eddy_tensor p = Sum(Sub(Softmax(logits), slope(y, logits)), EDDY_AXES(1, 2));
    const eddy_tensor all = Max(Abs(Sub(p, 1)));
    near("each step has one class", 1e-9, all, V(0));
}
END_TEST

/* The losses and their gradient have the same bits for any threads and instructions. */
START_TEST(same_bits)
{
    enum { T = 60, BATCH = 16, C = 9, N = 12, COUNT = T * BATCH * C };
    static const struct { int threads; eddy_instructions set; } ways[] = {
        { 1, EDDY_AVX512 }, { 3, EDDY_AVX512 }, { 2, EDDY_AVX2 }, { 1, EDDY_BASELINE },
    };
    static float first[COUNT];
    int32_t labels[BATCH * N];
    for (int i = 0; i < BATCH * N; i++) labels[i] = 1 + (i * i / 3) % (C - 1);
    const eddy_tensor x = logits_of(F32, T, BATCH, C, 3);
    const eddy_tensor dx = slope(eddy_ctc_loss(ints(EDDY_SHAPE(BATCH, N), labels), x), x);
    for (int i = 0; i < 4; i++) {
        eddy__instructions_limit(ways[i].set);
        eddy_session *s = eddy_session_new(g, .threads = ways[i].threads);
        eddy_array   *a = eddy_fetch(s, dx);
        ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
        if (i == 0) memcpy(first, eddy_array_data(a), sizeof first);
        ck_assert_mem_eq(eddy_array_data(a), first, sizeof first);
        eddy_array_free(a);
        eddy_session_free(s);
    }
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

/* ------------------------------------------------------------------------ corners -- */

/* corner: too few steps make the loss infinite, and its gradient 0 */
START_TEST(impossible)
{
    const int32_t labels[] = { 1, 1, 1, 2, 2, 2 };
    const eddy_tensor x = logits_of(F64, 4, 2, 3, 1);
    const eddy_tensor y = eddy_ctc_loss(ints(EDDY_SHAPE(2, 3), labels), x, INTS(3, 1), INTS(4, 0));
    IS(y, INFINITY, INFINITY);
    IS(Sum(Abs(slope(y, x))), 0);
    IS(eddy_ctc_loss(ints(EDDY_SHAPE(2, 3), labels), x, INTS(0, 0), INTS(0, 0)), 0, 0);
    IS(Sum(Abs(eddy_gradient(Sum(Square(slope(y, x))), x))), 0);
}
END_TEST

START_TEST(extreme_logits)
{
    const eddy_tensor never = shaped(F64, EDDY_SHAPE(2, 1, 3), (double[]){ 0, -INFINITY, 0,
                                                                          0, 0, -INFINITY });
    const int32_t one[] = { 1 }, other[] = { 2 }, both[] = { 2, 1 }, reversed[] = { 1, 2 };
    const eddy_tensor y = eddy_ctc_loss(ints(EDDY_SHAPE(1, 1), one), never);
    near("one way", 1e-14, y, V(log(4)));
    near("one way", 1e-14, eddy_ctc_loss(ints(EDDY_SHAPE(1, 1), other), never), V(log(4)));
    near("one way", 1e-14, eddy_ctc_loss(ints(EDDY_SHAPE(1, 2), both), never), V(log(4)));
    IS(eddy_ctc_loss(ints(EDDY_SHAPE(1, 2), reversed), never), INFINITY);
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 1, 3), (double[]){ 1, NAN, 0, 1, 2, 3 });
    const eddy_tensor bad = eddy_ctc_loss(ints(EDDY_SHAPE(1, 1), one), x);
    IS(bad, NAN);
    IS(Sum(slope(bad, x)), NAN);
}
END_TEST

START_TEST(collapsed_labels)
{
    const int32_t twice[] = { 1, 1, 2, 2 }, once[] = { 1, 2 };
    const eddy_tensor x = logits_of(F64, 6, 1, 3, 1);
    double want[1];
    values(eddy_ctc_loss(ints(EDDY_SHAPE(1, 2), once), x), want);
    near("collapsed", 1e-14, eddy_ctc_loss(ints(EDDY_SHAPE(1, 4), twice), x,
                                           .collapse_repeated = true), 1, want);
}
END_TEST

START_TEST(sizes_of_0)
{
    const eddy_tensor none = eddy_zeros(g, F32, EDDY_SHAPE(4, 0, 3));
    const eddy_tensor y = eddy_ctc_loss(eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(0, 2)), none);
    double got[ROOM];
    ck_assert_int_eq(values(y, got), 0);
    ck_assert_int_eq(values(slope(y, none), got), 0);
    const eddy_tensor still = eddy_zeros(g, F32, EDDY_SHAPE(0, 2, 3));
    IS(eddy_ctc_loss(eddy_zeros(g, EDDY_INT64, EDDY_SHAPE(2, 0)), still), 0, 0);
}
END_TEST

/* The fifth order is the last. */
START_TEST(orders)
{
    const int32_t labels[] = { 1, 2 };
    const eddy_tensor x = logits_of(F64, 3, 1, 3, 1);
    eddy_tensor y = Sum(eddy_ctc_loss(ints(EDDY_SHAPE(1, 2), labels), x));
    for (int i = 0; i < 5; i++) y = Sum(Square(slope(y, x)));
    double got[ROOM];
    ck_assert_int_eq(values(y, got), 1);
    ck_assert(isfinite(got[0]));
    refused(slope(y, x), EDDY_LIMIT, "derivatives of order 5");
}
END_TEST

/* ------------------------------------------------------------------- beams -- */

typedef struct reading {
    int     n;
    int32_t labels[STEPS];
    double  log_probability;
} reading;

static int likelier(const void *a_, const void *b_)
{
    const reading *a = a_, *b = b_;
    return (a->log_probability < b->log_probability) - (a->log_probability > b->log_probability);
}

/* All lists of the labels 1 and 2, the likeliest first. */
static int all_readings(reading *r)
{
    double posterior[STEPS * CLASSES];
    int    n = 0;
    for (int length = 0; length <= STEPS; length++)
        for (int which = 0; which < 1 << length; which++, n++) {
            r[n].n = length;
            for (int i = 0; i < length; i++) r[n].labels[i] = 1 + (which >> i & 1);
            r[n].log_probability = -by_hand(r[n].labels, length, posterior);
        }
    qsort(r, (size_t)n, sizeof *r, likelier);
    return n;
}

START_TEST(beams)
{
    enum { TOP = 7 };
    reading r[1 << (STEPS + 1)];
    double  labels[ROOM], n[ROOM], p[ROOM];
    all_readings(r);
    const eddy_tensor x = logits_of(_i ? F32 : F64, STEPS, 1, CLASSES, 1);
    const eddy_tensor y = eddy_ctc_beam_search_decoder(x, INTS(STEPS), 100, TOP, 0);
    values(y, labels);
    values(eddy_output(y, 1), n);
    values(eddy_output(y, 2), p);
    for (int i = 0; i < TOP; i++) {
        ck_assert_double_eq_tol(p[i], r[i].log_probability, _i ? 2e-6 : 1e-13);
        ck_assert_int_eq((int)n[i], r[i].n);
        for (int j = 0; j < STEPS; j++)
            ck_assert_int_eq((int)labels[i * STEPS + j], j < r[i].n ? r[i].labels[j] : -1);
    }
}
END_TEST

/* A search for one beam finds something; one for more than there is says so. */
START_TEST(few_beams)
{
    reading r[1 << (STEPS + 1)];
    double  p[ROOM];
    all_readings(r);
    const eddy_tensor x = logits_of(F64, STEPS, 1, CLASSES, 1);
    values(eddy_output(eddy_ctc_beam_search_decoder(x, INTS(STEPS), 1, 1, 0), 2), p);
    ck_assert(p[0] <= r[0].log_probability + 1e-12 && p[0] > -20);
    const eddy_tensor none = eddy_ctc_beam_search_decoder(x, INTS(0), 9, 2, 0);
    IS(none, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    IS(eddy_output(none, 1), 0, 0);
    IS(eddy_output(none, 2), 0, -INFINITY);
}
END_TEST

/* Many labels, long sequences: what is found has the probability that the loss says, or less. */
START_TEST(beams_and_the_loss)
{
    enum { T = 30, BATCH = 3, C = 8 };
    const eddy_tensor x = logits_of(F64, T, BATCH, C, 2);
    const eddy_tensor y = eddy_ctc_beam_search_decoder(x, INTS(T, T, 11), 200, 1, -1);
    const eddy_tensor labels = eddy_reshape(y, EDDY_SHAPE(BATCH, T));
    const eddy_tensor n = eddy_reshape(eddy_output(y, 1), EDDY_SHAPE(BATCH));
    const eddy_tensor loss = eddy_ctc_loss(labels, x, n, INTS(T, T, 11), .blank_index = -1);
    double want[BATCH], got[BATCH];
    values(loss, want);
    values(eddy_output(y, 2), got);
    for (int i = 0; i < BATCH; i++)
        ck_assert_msg(-got[i] >= want[i] - 1e-9 && -got[i] < want[i] + 0.05, "%g, not %g", -got[i],
                      want[i]);
}
END_TEST

Suite *ctc_suite(void)
{
    Suite *s = suite_create("ctc");
    TCase *t = tcase_create("loss");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, figures_of_pytorch, 0, 2);
    tcase_add_test(t, blank_elsewhere);
    tcase_add_test(t, all_paths);
    tcase_add_loop_test(t, long_sequences, 0, 4);
    tcase_add_test(t, same_bits);
    tcase_add_test(t, impossible);
    tcase_add_test(t, extreme_logits);
    tcase_add_test(t, collapsed_labels);
    tcase_add_test(t, sizes_of_0);
    tcase_add_test(t, orders);
    tcase_add_loop_test(t, beams, 0, 2);
    tcase_add_test(t, few_beams);
    tcase_add_test(t, beams_and_the_loss);
    suite_add_tcase(s, t);
    return s;
}
