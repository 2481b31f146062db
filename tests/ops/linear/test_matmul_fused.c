/* test_matmul_fused.c -- matrix products with everything fused into them, against plain loops in
 * float64; and the operations made of several products. */
#include "tests/lib/checks.h"
#include "tests/lib/levels.h"
#include "ops/kernels/matmul/gemm.h"
#include "ops/linear/fused_matmul.h"
#include "build/gen/table.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

Suite *matmul_fused_suite(void);

enum { GUARD = 64 };

/* A product with operands of its own, in float32 or float64. */
typedef struct subject {
    eddy_product p;
    eddy_gemm    gemm;
    void        *a, *b, *y, *first, *bias, *residual;
    double       (*activation)(double x);
    int64_t      y_count;
    size_t       room;              /* of scratch, before the guard behind it */
} subject;

static uint64_t state = 1;
static uint64_t draw(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}
static double draw_number(void) { return (double)draw(4001) / 1000 - 2; }

static double get(eddy_dtype d, const void *x, int64_t i)
{
    return d == EDDY_FLOAT32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}
static void put(eddy_dtype d, void *x, int64_t i, double v)
{
    if (d == EDDY_FLOAT32) ((float *)x)[i] = (float)v;
    else ((double *)x)[i] = v;
}

static void *numbers(eddy_dtype d, int64_t n)
{
    void *x = malloc((size_t)(n + 1) * eddy_dtype_size(d));
    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < n; i++) put(d, x, i, draw_number());
    return x;
}

static double relu(double x)    { return x < 0 ? 0 : x; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void choose_activation(subject *s, int which)
{
    static const eddy_op_def *const ops[] = { NULL, &eddy_op_relu, &eddy_op_tanh,
                                              &eddy_op_sigmoid };
    static double (*const exact[])(double) = { NULL, relu, tanh, sigmoid };
    const eddy_type t = { s->p.dtype, { 0 } };
    s->activation = exact[which];
    s->p.activation = which > 0 ? ops[which]->tile(&t, &t) : NULL;
}

/* extra: what rows have beyond their elements; how: bits for transposes, bias, residual. */
static subject subject_new(eddy_dtype d, int how, int64_t m, int64_t n, int64_t k, int64_t extra)
{
    subject       s = { .p = eddy__product_of(d, how & 1, how & 2, m, n, k) };
    eddy_product *p = &s.p;
    p->lda += extra, p->ldb += extra, p->ldy += extra, p->ldr += extra;
    s.y_count = m * p->ldy;
    s.a = numbers(d, (p->transpose_a ? k : m) * p->lda);
    s.b = numbers(d, (p->transpose_b ? n : k) * p->ldb);
    s.y = numbers(d, s.y_count);
    s.first = malloc((size_t)(s.y_count + 1) * eddy_dtype_size(d));
    memcpy(s.first, s.y, (size_t)s.y_count * eddy_dtype_size(d));
    s.bias = how & 4 ? numbers(d, n) : NULL;
    s.residual = how & 8 ? numbers(d, m * p->ldr) : NULL;
    p->a = s.a, p->b = s.b, p->y = s.y, p->bias = s.bias, p->residual = s.residual;
    return s;
}

static void subject_free(subject *s)
{
    free(s->a), free(s->b), free(s->y), free(s->first), free(s->bias), free(s->residual);
}

/* The product on so many threads; nothing is written outside y and the scratch memory. */
static void run(subject *s, int threads)
{
    eddy_kernel k = { .threads = threads, .deterministic = true };
    const bool  tiles = s->p.k > 0 && eddy__gemm_plan(&s->gemm, &s->p);
    s->room = tiles ? eddy__gemm_scratch(&s->gemm) * (size_t)threads : 0;
    char *scratch = malloc(s->room + GUARD);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0x5a, s->room + GUARD);
    s->p.plan = tiles ? &s->gemm : NULL;
    s->p.scratch = scratch;
    memcpy(s->y, s->first, (size_t)s->y_count * eddy_dtype_size(s->p.dtype));
    eddy__product_run(&k, &s->p);
    for (size_t i = 0; i < GUARD; i++) ck_assert_int_eq(scratch[s->room + i], 0x5a);
    free(scratch);
}

/* Element (i,j) before the activation; *size is the sum of the terms without signs. */
static double exact_element(const subject *s, int64_t i, int64_t j, double *size)
{
    const eddy_product *p = &s->p;
    const eddy_dtype    d = p->dtype;
    double sum = 0;
    *size = 0;
    for (int64_t q = 0; q < p->k; q++) {
        const double v = get(d, s->a, p->transpose_a ? q * p->lda + i : i * p->lda + q) *
                         get(d, s->b, p->transpose_b ? j * p->ldb + q : q * p->ldb + j);
        sum += v, *size += fabs(v);
    }
    const double before = p->beta == 0 ? 0 : p->beta * get(d, s->first, i * p->ldy + j);
    const double bias = s->bias ? get(d, s->bias, j) : 0;
    const double residual = s->residual ? get(d, s->residual, i * p->ldr + j) : 0;
    *size = fabs(p->alpha) * *size + fabs(before) + fabs(bias) + fabs(residual);
    return p->alpha * sum + before + bias + residual;
}

static void check_element(const subject *s, int64_t i, int64_t j)
{
    const eddy_product *p = &s->p;
    const double eps = p->dtype == EDDY_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
    double       size, want = exact_element(s, i, j, &size);
    const double got = get(p->dtype, s->y, i * p->ldy + j);
    const double most = eps * ((double)(p->k + 8) * size + 4);
    if (s->activation) want = s->activation(want);
    if (isnan(want) || isinf(want))
        ck_assert_msg(isnan(want) ? isnan(got) : got == want, "%g is not %g", got, want);
    else ck_assert_msg(fabs(got - want) <= most,
                       "[%lld,%lld] of %lldx%lldx%lld (transposes %d %d, alpha %g, beta %g): "
                       "%.9g is not %.9g", (long long)i, (long long)j, (long long)p->m,
                       (long long)p->n, (long long)p->k, p->transpose_a, p->transpose_b, p->alpha,
                       p->beta, got, want);
}

/* At most `most` elements; the memory between the rows is unchanged. */
static void check(const subject *s, int64_t most)
{
    const eddy_product *p = &s->p;
    const int64_t count = p->m * p->n, step = count > most ? count / most * 2 + 1 : 1;
    for (int64_t i = 0; i < count; i += step) check_element(s, i / p->n, i % p->n);
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = p->n; j < p->ldy; j++)
            ck_assert(get(p->dtype, s->y, i * p->ldy + j) ==
                      get(p->dtype, s->first, i * p->ldy + j));
}

static void check_one(eddy_dtype d, int64_t m, int64_t n, int64_t k, int64_t extra, int64_t most)
{
    static const double scales[] = { 1, 1, 1, 0.5, -2, 0 };
    static const double befores[] = { 0, 0, 1, -0.5 };
    subject s = subject_new(d, (int)draw(16), m, n, k, extra);
    s.p.alpha = scales[draw(6)];
    s.p.beta = befores[draw(4)];
    choose_activation(&s, (int)draw(4));
    run(&s, 1);
    check(&s, most);
    subject_free(&s);
}

/* ------------------------------------------------------------------- values -- */

START_TEST(every_size)
{
    static const int64_t sizes[] = { 1, 2, 3, 5, 15, 16, 17, 31, 33, 63, 65, 127 };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    if (!limit_to(_i)) return;
    for (int i = 0; i < SIZES * SIZES * SIZES; i++)
        for (int rows = 0; rows < 2; rows++)
            check_one(EDDY_FLOAT32, sizes[i % SIZES], sizes[i / SIZES % SIZES],
                      sizes[i / SIZES / SIZES], rows == 0 ? 0 : (int64_t)draw(9), 300);
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

/* Inner sizes of several blocks, and rows a page apart, for every transpose. */
START_TEST(long_and_wide)
{
    static const int64_t sizes[][4] = {
        { 7, 5, 1030, 0 },     { 40, 70, 385, 0 },     { 20, 33, 769, 3 },   { 90, 100, 1024, 0 },
        { 1, 40, 1100, 0 },    { 40, 1, 1100, 0 },     { 130, 1500, 40, 0 }, { 1500, 130, 40, 0 },
        { 30, 90, 500, 524 },  { 200, 1024, 3, 0 },    { 1024, 10, 129, 0 }, { 14, 32, 2000, 0 },
        { 1, 1, 5000, 0 },     { 600, 700, 1, 0 },     { 6, 4, 512, 0 },     { 100, 100, 100, 924 },
    };
    if (!limit_to(_i)) return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int draws = 0; draws < 12; draws++)
            check_one(EDDY_FLOAT32, sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], 200);
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

START_TEST(in_float64)
{
    for (int i = 0; i < 300; i++)
        check_one(EDDY_FLOAT64, 1 + (int64_t)draw(70), 1 + (int64_t)draw(70), (int64_t)draw(70),
                  (int64_t)draw(4), 400);
    check_one(EDDY_FLOAT64, 300, 40, 100, 0, 1000);
    check_one(EDDY_FLOAT64, 40, 300, 100, 1, 1000);
}
END_TEST

/* No rows, no columns, nothing to add up. */
START_TEST(empty)
{
    for (int d = 0; d < 2; d++)
        for (int none = 1; none < 8; none++)
            check_one(d ? EDDY_FLOAT32 : EDDY_FLOAT64, none & 1 ? 0 : 3, none & 2 ? 0 : 4,
                      none & 4 ? 0 : 5, 2, 100);
}
END_TEST

/* An infinite or NaN element reaches its row or column, and no other; 0 inf is NaN. */
START_TEST(not_finite)
{
    static const double odd[] = { INFINITY, -INFINITY, NAN };
    if (!limit_to(_i)) return;
    for (int i = 0; i < 400; i++) {
        const int64_t m = 1 + (int64_t)draw(40), n = 1 + (int64_t)draw(40);
        const int64_t k = 1 + (int64_t)draw(i < 390 ? 60 : 900);
        subject s = subject_new(EDDY_FLOAT32, (int)draw(16), m, n, k, 0);
        ((float *)s.a)[draw((uint64_t)(m * k))] = (float)odd[draw(3)];
        ((float *)s.b)[draw((uint64_t)(k * n))] = (float)odd[draw(3)];
        ((float *)s.b)[draw((uint64_t)(k * n))] = 0;
        ((float *)s.a)[draw((uint64_t)(m * k))] = 0;
        s.p.beta = (double)draw(2);
        run(&s, 1);
        check(&s, 2000);
        memset(s.first, 0xff, (size_t)s.y_count * sizeof(float));   /* NaN, not read */
        s.p.beta = 0;
        run(&s, 1);
        check(&s, 2000);
        subject_free(&s);
    }
    eddy__instructions_limit(EDDY_AVX512);
}
END_TEST

/* An inner size beyond int: all rows of both operands are the same one. */
START_TEST(beyond_int)
{
    const int64_t k = (int64_t)INT32_MAX + 6;
    const float   ones[2] = { 1, 1 };
    float         y[4] = { 0 };
    eddy_gemm     g;
    eddy_kernel   one = { .threads = 1 };
    eddy_product  p = eddy__product_of(EDDY_FLOAT32, true, false, 2, 2, k);
    p.lda = p.ldb = 0;
    p.a = p.b = ones, p.y = y;
    if (!eddy__gemm_plan(&g, &p)) return;
    p.plan = &g;
    p.scratch = malloc(eddy__gemm_scratch(&g) + 1);
    eddy__product_run(&one, &p);
    free(p.scratch);
    for (int i = 0; i < 4; i++) ck_assert(y[i] == 0x1p24f);   /* where adding 1 ends */
}
END_TEST

/* ------------------------------------------------------------------ threads -- */

static void same_on_threads(eddy_dtype d, int how, int64_t m, int64_t n, int64_t k)
{
    subject      s = subject_new(d, how, m, n, k, 0);
    const size_t bytes = (size_t)s.y_count * eddy_dtype_size(d);
    void        *one = malloc(bytes);
    choose_activation(&s, (int)draw(4));
    run(&s, 1);
    check(&s, 500);
    memcpy(one, s.y, bytes);
    for (int threads = 2; threads < 6; threads++) {
        run(&s, threads);
        ck_assert_msg(memcmp(one, s.y, bytes) == 0, "%lldx%lldx%lld on %d threads", (long long)m,
                      (long long)n, (long long)k, threads);
    }
    free(one);
    subject_free(&s);
}

START_TEST(same_bits_on_threads)
{
    static const int64_t sizes[][3] = {
        { 128, 512, 300 }, { 300, 10, 400 }, { 37, 900, 401 }, { 900, 65, 70 },
        { 20, 30, 2000 },  { 700, 1, 800 },  { 1, 700, 800 },  { 260, 260, 260 },
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int how = 0; how < 16; how += 3)
            same_on_threads(_i ? EDDY_FLOAT64 : EDDY_FLOAT32, how, sizes[i][0], sizes[i][1],
                            sizes[i][2]);
}
END_TEST

/* Where the rows of an operand begin in memory changes nothing, also if they are packed because all
 * begin at the same offset in a page. */
START_TEST(same_bits_of_rows_apart)
{
    enum { M = 32, N = 40, K = 2048 };
    subject s = subject_new(EDDY_FLOAT32, 2 + 4, M, N, K, 0);
    float  *first = malloc(M * N * sizeof *first);
    run(&s, 1);
    check(&s, 500);
    memcpy(first, s.y, M * N * sizeof *first);
    if (s.p.plan && s.gemm.dots) ck_assert(s.gemm.pack_s);
    s.p.a = numbers(EDDY_FLOAT32, M * (K + 8));
    for (int64_t i = 0; i < M; i++)
        memcpy((float *)s.p.a + i * (K + 8), (float *)s.a + i * K, K * sizeof(float));
    s.p.lda = K + 8;
    run(&s, 1);
    if (s.p.plan && s.gemm.dots) ck_assert(!s.gemm.pack_s);
    ck_assert_int_eq(memcmp(first, s.y, M * N * sizeof *first), 0);
    free((void *)(uintptr_t)s.p.a);
    free(first);
    subject_free(&s);
}
END_TEST

static eddy_tensor drawn(eddy_graph *g, eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, draw_number());
    const eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

/* Many small ones, whichever thread makes them. */
START_TEST(many_on_threads)
{
    static const bool transposes[][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };
    for (int i = 0; i < 4; i++) {
        eddy_graph *g = eddy_graph_new();
        const eddy_tensor x = drawn(g, EDDY_FLOAT32, EDDY_SHAPE(3, 8, 48, 48));
        const eddy_tensor y = eddy_matmul(x, x, .transpose_a = transposes[i][0],
                                          .transpose_b = transposes[i][1]);
        eddy_array *first = NULL;
        for (int threads = 1; threads < 4; threads++) {
            eddy_session *s = eddy_session_new(g, .threads = threads);
            eddy_array   *a = eddy_fetch(s, y);
            ck_assert_ptr_nonnull(a);
            if (first) ck_assert(eddy_array_equal(a, first));
            eddy_array_free(threads == 1 ? NULL : a);
            if (threads == 1) first = a;
            eddy_session_free(s);
        }
        eddy_array_free(first);
        eddy_graph_free(g);
    }
}
END_TEST

/* ---------------------------------------------------------------- fused ops -- */

static void same_values(eddy_graph *g, eddy_tensor x, eddy_tensor y)
{
    fits(g);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = eddy_fetch(s, x), *b = eddy_fetch(s, y);
    ck_assert_msg(a && b, "%s", eddy_session_message(s));
    ck_assert(eddy_array_equal(a, b));
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_session_free(s);
}

/* With alpha 1 the bits are those of the separate operations. */
START_TEST(fused)
{
    static eddy_tensor (*const builders[])(eddy_tensor) = { NULL, eddy_relu, eddy_tanh,
                                                            eddy_sigmoid };
    const eddy_dtype d = _i ? EDDY_FLOAT64 : EDDY_FLOAT32;
    for (int how = 0; how < 64; how++) {
        eddy_graph *g = eddy_graph_new();
        const bool ta = how & 1, tb = how & 2, bias = how & 4, residual = how & 8;
        const int64_t m = 33, n = 40, k = 21;
        eddy_tensor x[4] = { drawn(g, d, ta ? EDDY_SHAPE(k, m) : EDDY_SHAPE(m, k)),
                             drawn(g, d, tb ? EDDY_SHAPE(n, k) : EDDY_SHAPE(k, n)) };
        eddy_tensor y = eddy_matmul(x[0], x[1], .transpose_a = ta, .transpose_b = tb);
        const eddy_fused_matmul_attrs f = { { ta, tb }, 1, how >> 4, bias, residual };
        int count = 2;
        if (bias) x[count++] = drawn(g, d, EDDY_SHAPE(n)), y = BiasAdd(y, x[count - 1]);
        if (residual) x[count++] = drawn(g, d, EDDY_SHAPE(m, n)), y = Add(y, x[count - 1]);
        if (how >> 4) y = builders[how >> 4](y);
        same_values(g, eddy_apply(&eddy_op_fused_matmul, &f, count, x, (eddy_apply_args){ 0 }), y);
        eddy_graph_free(g);
    }
    ck_assert_int_eq(eddy__fused_activation(&eddy_op_tanh), 2);
    ck_assert_int_eq(eddy__fused_activation(&eddy_op_exp), -1);
}
END_TEST

static eddy_tensor accumulate(eddy_tensor c, eddy_tensor a, eddy_tensor b, double alpha)
{
    const eddy_matmul_accumulate_attrs t = { { false, false }, alpha };
    return eddy_apply(&eddy_op_matmul_accumulate, &t, 3, (eddy_tensor[]){ c, a, b },
                      (eddy_apply_args){ 0 });
}

/* In the memory of c or beside it; also where a factor is in that memory. */
START_TEST(accumulated)
{
    for (int i = 0; i < 2; i++) {
        const eddy_dtype d = i ? EDDY_FLOAT64 : EDDY_FLOAT32;
        eddy_graph *g = eddy_graph_new();
        const eddy_tensor x = drawn(g, d, EDDY_SHAPE(12, 12)), w = drawn(g, d, EDDY_SHAPE(12, 12));
        const eddy_tensor c = Round(Mul(x, 3)), a = Round(Mul(w, 3));
        const eddy_tensor want = Add(c, Mul(2, MatMul(c, a)));
        same_values(g, accumulate(c, a, a, 1), Add(c, MatMul(a, a)));
        same_values(g, accumulate(Round(Mul(x, 3)), a, a, -0.5),
                    Sub(c, Mul(0.5, MatMul(a, a))));
        const eddy_tensor last = Round(Mul(x, 3)), again = Round(Mul(w, 3));
        same_values(g, accumulate(last, last, again, 2), want);
        const eddy_tensor twice = Round(Mul(x, 3));
        same_values(g, accumulate(twice, eddy_reshape(twice, EDDY_SHAPE(12, 12)), twice, 1),
                    Add(c, MatMul(c, c)));
        eddy_graph_free(g);
    }
}
END_TEST

Suite *matmul_fused_suite(void)
{
    Suite *suite = suite_create("matmul_fused");
    TCase *values = tcase_create("values"), *ops = tcase_create("ops");
    TCase *slow = tcase_create("slow");
    tcase_set_timeout(values, 120);
    tcase_set_timeout(slow, 120);
    tcase_set_tags(slow, "slow");
    tcase_add_loop_test(values, every_size, EDDY_BASELINE, EDDY_AVX512 + 1);
    tcase_add_loop_test(values, long_and_wide, EDDY_BASELINE, EDDY_AVX512 + 1);
    tcase_add_loop_test(values, not_finite, EDDY_BASELINE, EDDY_AVX512 + 1);
    tcase_add_test(values, in_float64);
    tcase_add_test(values, empty);
    tcase_add_loop_test(values, same_bits_on_threads, 0, 2);
    tcase_add_test(values, same_bits_of_rows_apart);
    tcase_add_test(values, many_on_threads);
    tcase_add_loop_test(ops, fused, 0, 2);
    tcase_add_test(ops, accumulated);
    tcase_add_test(slow, beyond_int);
    suite_add_tcase(suite, values);
    suite_add_tcase(suite, ops);
    suite_add_tcase(suite, slow);
    return suite;
}
