/* test_chains.c -- chains of elementwise operations (ops/math/fused_elementwise.h) have the bits of
 * their operations one by one: every step, every operand, every number of elements behind the last
 * whole vector, with each instruction set, in place, and in sessions. */
#include "build/gen/table.h"
#include "graph/base/cpu.h"
#include "ops/math/fused_elementwise.h"
#include "ops/short_names.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <string.h>

Suite *chains_suite(void);

enum { MOST = 4200, SIZES = 300 };

static uint64_t seed;

static uint64_t next(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

/* Whole vectors of 4, 8 and 16 elements, eight of them, and rows of a loop, with what is left. */
static int64_t size_of(int i)
{
    static const int64_t near[] = { 512, 1024, 2048, 4096 };
    return i < 280 ? i : near[(i - 280) / 5] + (i - 280) % 5 - 2;
}

/* ------------------------------------------------------------------ kernels -- */

static void apply(const eddy_op_def *op, eddy_type t, int64_t n, void *y, const void *a,
                  const void *b)
{
    const eddy_type types[] = { t, t };
    ck_assert_int_eq(op->tile(types, &t)(n, y, (const void *[]){ a, b }, NULL), EDDY_OK);
}

static const struct { const eddy_op_def *op; bool swapped; } step_ops[] = {
    [EDDY_CHAIN_ADD] = { &eddy_op_add, false }, [EDDY_CHAIN_SUB] = { &eddy_op_sub, false },
    [EDDY_CHAIN_SUB_FROM] = { &eddy_op_sub, true }, [EDDY_CHAIN_MUL] = { &eddy_op_mul, false },
    [EDDY_CHAIN_DIV] = { &eddy_op_div, false }, [EDDY_CHAIN_DIV_INTO] = { &eddy_op_div, true },
    [EDDY_CHAIN_MIN] = { &eddy_op_minimum, false }, [EDDY_CHAIN_MAX] = { &eddy_op_maximum, false },
    [EDDY_CHAIN_NEG] = { &eddy_op_neg, false }, [EDDY_CHAIN_SQUARE] = { &eddy_op_square, false },
    [EDDY_CHAIN_SQRT] = { &eddy_op_sqrt, false },
};

/* One by one. */
static void run_steps(eddy_type t, int64_t n, void *y, const void *const *x, uint64_t steps)
{
    static double product[MOST];
    memcpy(y, x[0], (size_t)n * eddy_dtype_size(t.dtype));
    for (; steps > 0; steps >>= EDDY_CHAIN_BITS) {
        const void *b = x[eddy__chain_operand(steps)];
        int         op = eddy__chain_op(steps);
        if (eddy__chain_reads(op) == 2) {
            apply(&eddy_op_mul, t, n, product, b, x[eddy__chain_factor(steps)]);
            b = product, op += EDDY_CHAIN_ADD - EDDY_CHAIN_ADD_PRODUCT;
        }
        const bool swapped = step_ops[op].swapped;
        apply(step_ops[op].op, t, n, y, swapped ? b : y, swapped ? y : b);
    }
}

static void fill(eddy_dtype d, int64_t n, void *x)
{
    static const double edges[] = { 0, -0.0, 1, -1, INFINITY, NAN, 1e-320, 1e300 };
    for (int64_t i = 0; i < n; i++) {
        const double v = next(8) == 0 ? edges[next(8)] : (double)next(2000) / 250 - 4;
        if (d == EDDY_FLOAT32) ((float *)x)[i] = (float)v;
        else ((double *)x)[i] = v;
    }
}

static double element(eddy_dtype d, const void *x, int64_t i)
{
    return d == EDDY_FLOAT32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

/* Equal numbers, with equal signs of zeros, or no numbers. */
static bool same(double a, double b)
{
    return a != a ? b != b : a == b && signbit(a) == signbit(b);
}

static void check_chain(eddy_type t, int64_t n, const void *const *x, uint64_t steps, int in_place)
{
    static double wanted[MOST], got[MOST + 1], shared[MOST];
    const size_t  bytes = (size_t)n * eddy_dtype_size(t.dtype);
    const void   *in[EDDY_CHAIN_OPERANDS];
    char         *y = (char *)got;
    memcpy(in, x, sizeof in);
    memset(got, 0x55, sizeof got);
    run_steps(t, n, wanted, x, steps);
    if (in_place >= 0) in[in_place] = y = memcpy(shared, x[in_place], bytes);
    const eddy_chain_attrs a = { (int64_t)steps };
    ck_assert_int_eq(eddy_op_chain.tile(&t, &t)(n, y, in, &a), EDDY_OK);
    for (int64_t i = 0; i < n; i++)
        ck_assert_msg(same(element(t.dtype, y, i), element(t.dtype, wanted, i)),
                      "%s, steps %llx, element %lld of %lld: %a instead of %a",
                      eddy_dtype_name(t.dtype), (unsigned long long)steps, (long long)i,
                      (long long)n, element(t.dtype, y, i), element(t.dtype, wanted, i));
    if (in_place < 0) ck_assert_int_eq(y[bytes], 0x55);
}

/* The first step is `first`, with the operands of the round; the others are random. */
static uint64_t random_steps(int first, int round)
{
    uint64_t  steps = 0;
    const int length = 1 + (int)next(EDDY_CHAIN_MOST);
    for (int i = 0; i < length; i++) {
        const uint64_t op = i == 0 ? (uint64_t)first : 1 + next(EDDY_CHAIN_OPS - 1);
        const uint64_t n = EDDY_CHAIN_OPERANDS, b = i == 0 ? (uint64_t)round % n : next(n);
        const uint64_t c = i == 0 ? (uint64_t)round / n : next(n);
        steps |= (op | b << 4 | c << 7) << i * EDDY_CHAIN_BITS;
    }
    return steps;
}

static const char *const sets[] = { "baseline", "avx2", NULL };

START_TEST(steps_have_the_bits_of_operations)
{
    static double room[EDDY_CHAIN_OPERANDS][MOST + 1];
    const eddy_type t = { _i % 2 ? EDDY_FLOAT32 : EDDY_FLOAT64, { .rank = 0 } };
    const size_t    size = eddy_dtype_size(t.dtype);
    const void     *x[EDDY_CHAIN_OPERANDS];
    seed = 1;
    for (int k = 0; k < EDDY_CHAIN_OPERANDS; k++) {
        char *at = (char *)room[k] + (k % 2 ? size : 0);    /* not all begin a vector */
        fill(t.dtype, MOST, at);
        x[k] = at;
    }
    ck_assert(eddy_limit_instructions(sets[_i / 2]));
    for (int i = 0; i < SIZES; i++)
        for (int op = 1; op < EDDY_CHAIN_OPS; op++) {
            if (i >= 280 && op % 5 != i % 5) continue;      /* long ones take time */
            const int round = i % (EDDY_CHAIN_OPERANDS * EDDY_CHAIN_OPERANDS);
            check_chain(t, size_of(i), x, random_steps(op, round),
                        i % (EDDY_CHAIN_OPERANDS + 1) - 1);
        }
    ck_assert(eddy_limit_instructions(NULL));
}
END_TEST

/* ----------------------------------------------------------------- sessions -- */

static const eddy_dtype types[] = {
    EDDY_FLOAT32, EDDY_FLOAT64, EDDY_FLOAT16, EDDY_BFLOAT16, EDDY_INT32, EDDY_COMPLEX64,
    EDDY_COMPLEX128,
};
enum { TYPES = sizeof types / sizeof *types, OPERANDS = 7 };

static eddy_tensor step(int op, eddy_tensor y, eddy_tensor b, bool ordered)
{
    switch (op) {
    case 0: return Add(y, b);
    case 1: return Sub(b, y);
    case 2: return Mul(b, y);
    case 3: return Sub(y, b);
    case 4: return ordered ? Maximum(y, b) : Neg(y);
    case 5: return ordered ? Minimum(y, b) : Square(y);
    default: return Square(y);
    }
}

/* A whole operand, a row, a column or one element. */
static eddy_shape part_of(int64_t rows, int64_t columns, int kind)
{
    return kind == 0 ? EDDY_SHAPE(rows, columns) : kind == 1 ? EDDY_SHAPE(columns)
         : kind == 2 ? EDDY_SHAPE(rows, 1) : EDDY_SCALAR;
}

/* Seven steps, of which one chain has room for six, and six operands beside the first, of which it
 * has room for four; operand `small` is not whole. */
static void check_session(eddy_dtype d, int64_t rows, int64_t columns, int small, int kind)
{
    eddy_graph *graph = eddy_graph_new();
    eddy_feed   feeds[OPERANDS];
    eddy_array *out[3] = { NULL };
    eddy_tensor y = EDDY_ZERO_TENSOR;
    const bool  ordered = !eddy_dtype_is_complex(d);
    for (int i = 0; i < OPERANDS; i++) {
        const eddy_shape s = part_of(rows, columns, i == small ? kind : 0);
        eddy_array *a = eddy_array_new(d, s);
        for (int64_t j = 0; j < eddy_shape_count(s); j++)
            eddy_array_set(a, j, (double)next(9) - 4);
        feeds[i] = (eddy_feed){ eddy_placeholder(graph, NULL, d, s), a };
        y = i == 0 ? feeds[0].tensor : step((i + small) % 6, y, feeds[i].tensor, ordered);
    }
    y = step(0, y, feeds[1].tensor, ordered);
    static const unsigned without[] = { 0, EDDY_PASS_FUSE, EDDY_PASS_FUSE | EDDY_PASS_CHAINS };
    for (int k = 0; k < 3; k++) {
        eddy_session *s = eddy_session_new(graph, .without = without[k], .threads = 2);
        ck_assert_msg(eddy_run(s, (eddy_feeds){ OPERANDS, feeds }, EDDY_FETCH(y), &out[k]) ==
                      EDDY_OK, "%s", eddy_session_message(s));
        const int found = eddy_session_plan_info(s).instructions;
        if (k == 1 && small == 6 && (d == EDDY_FLOAT32 || d == EDDY_FLOAT64))
            ck_assert_int_eq(found, 2);
        if (k == 2) ck_assert_int_ge(found, OPERANDS - 1);
        eddy_session_free(s);
    }
    for (int k = 0; k < 2; k++)
        ck_assert_msg(eddy_array_equal(out[k], out[2]), "%s, %lld by %lld, operand %d of kind %d",
                      eddy_dtype_name(d), (long long)rows, (long long)columns, small, kind);
    for (int k = 0; k < 3; k++) eddy_array_free(out[k]);
    for (int i = 0; i < OPERANDS; i++) eddy_array_free((eddy_array *)feeds[i].value);
    eddy_graph_free(graph);
}

START_TEST(sessions_have_the_bits_of_operations)
{
    static const int64_t sizes[][2] = {
        { 1, 1 }, { 1, 7 }, { 1, 8 }, { 1, 9 }, { 1, 15 }, { 1, 16 }, { 1, 17 }, { 3, 5 }, { 5, 3 },
        { 1, 63 }, { 8, 8 }, { 5, 13 }, { 1, 127 }, { 2, 64 }, { 3, 43 }, { 31, 33 }, { 2, 512 },
        { 25, 41 }, { 3, 1365 }, { 64, 64 }, { 17, 241 }, { 3, 5461 }, { 128, 128 }, { 5, 3277 },
    };
    seed = 3;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int small = 0; small < OPERANDS; small++)
            if (i < 18 || (int)i % OPERANDS == small)
                check_session(types[_i], sizes[i][0], sizes[i][1], small, (int)i % 4);
}
END_TEST

Suite *chains_suite(void)
{
    Suite *s = suite_create("chains");
    TCase *c = tcase_create("chains");
    tcase_add_loop_test(c, steps_have_the_bits_of_operations, 0, 6);
    tcase_add_loop_test(c, sessions_have_the_bits_of_operations, 0, TYPES);
    suite_add_tcase(s, c);
    return s;
}
