/* test_lstm.c -- an LSTM over a sequence against PyTorch's nn.LSTM, and in float32 against
 * float64. */
#include "graph/base/cpu.h"
#include "tests/lib/array_trial.h"

#include <math.h>

Suite *lstm_suite(void);

static const eddy_dtype F32 = EDDY_FLOAT32, F64 = EDDY_FLOAT64;

/* ----------------------------------------------------------- PyTorch's numbers -- */

enum { STEPS = 3, BATCH = 2, IN = 3, H = 2 };

/* Made with PyTorch 1.13.1, float64: nn.LSTM(3, 2) with weight_ih_l0 = w', weight_hh_l0 =
 * u', bias_ih_l0 = b and no other bias; element k of tensor number a is
 * ((7 k + a) % 11 - 5) / 8.  Gradients are those of sum(y g) + sum(c of the last step). */
static const double want_y[] = {
    -0.2650099309743099, 0.1189905873345844, -0.1283694723354165, -0.06574339928620623,
    -0.1273273680058793, 0.149525846787615, -0.02399291133957455, 0.000912329235247307,
    -0.05013972605785173, 0.1031822330677687, -0.1214729550265258, 0.04593540958905824,
};
static const double want_cn[] = {
    -0.1084165148421683, 0.2470992866089393, -0.2813220847699867, 0.1807903568155259,
};
static const double want_dx[] = {
    0.02358254062456283, -0.05868655062631337, -0.007059557459917742, 0.1401011714922848,
    -0.0777731839607492, -0.05808301202239786, 0.07774204608846406, -0.1209643767289898,
    -0.09012504796711994, 0.1228997784426513, -0.1188239289385098, -0.08281910411227436,
    0.3386692962197096, -0.3324752701828815, -0.1936625455203717, 0.1536252097886571,
    -0.2043366329785272, -0.1315060856760052,
};
static const double want_dh0[] = {
    -0.05868655062631337, -0.007059557459917742, -0.0777731839607492, -0.05808301202239786,
};
static const double want_dc0[] = {
    0.1818691918634205, 0.1087637414282899, 0.2550079432019299, 0.06545973130908747,
};
static const double want_dw[] = {
    0.08082440306734998, 0.06537222072854156, -0.08262623857562702, 0.06557765844887216,
    0.3793295094724705, 0.293617852668879, 0.06774464514110262, 0.03144836716020635,
    -0.02082805775746194, -0.02250579961571602, 0.004212008950996179, 0.007879416490563607,
    -0.06119696486791319, -0.0483274637661416, -0.01677685379725014, -0.009817054723312858,
    -0.06376574355352813, 0.0280870874619716, 0.0806570241499748, -0.07711149298249206,
    -0.3866065704660422, -0.2133861343438732, 0.0216964590441353, 0.004702613874373395,
};
static const double want_du[] = {
    0.01224845251067968, -0.02858659467754032, 0.03502890094384295, -0.04149507278177064,
    -0.1838120466570432, -0.1446560296094015, -0.007386529851505944, 0.005395585531400313,
    0.01492542090932009, 0.02010862784408465, -0.03392445415937403, 0.04377673044375654,
    0.04480788752239322, 0.07948537773349497, 0.01111370924723169, -0.01244543526127029,
};
static const double want_db[] = {
    -0.1428702764780723, 0.2414498819086032, -0.1766001105072329, 0.1713852419871907,
    1.535873321560729, 1.074179847662046, 0.0393187494266698, -0.00557000697031389,
};

static eddy_tensor filled_by(eddy_graph *g, eddy_shape s, int a)
{
    eddy_array *x = eddy_array_new(F64, s);
    for (int64_t k = 0; k < eddy_array_count(x); k++)
        eddy_array_set(x, k, (double)((7 * k + a) % 11 - 5) / 8);
    const eddy_tensor t = eddy_constant(g, x, NULL);
    eddy_array_free(x);
    return t;
}

static void close_to_list(eddy_session *s, eddy_tensor y, const double *want, int n)
{
    eddy_array *a = eddy_fetch(s, y);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(eddy_array_get(a, i) - want[i]) < 1e-14, "%s: element %d is %.17g, not "
                      "%.17g", eddy_name_of(y), i, eddy_array_get(a, i), want[i]);
    eddy_array_free(a);
}
#define CLOSE(y, want) close_to_list(s, y, want, (int)(sizeof want / sizeof *want))

START_TEST(numbers_of_pytorch)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor x[] = {
        filled_by(g, EDDY_SHAPE(STEPS, BATCH, IN), 1), filled_by(g, EDDY_SHAPE(BATCH, H), 2),
        filled_by(g, EDDY_SHAPE(BATCH, H), 3), filled_by(g, EDDY_SHAPE(IN, 4 * H), 4),
        filled_by(g, EDDY_SHAPE(H, 4 * H), 5), filled_by(g, EDDY_SHAPE(4 * H), 6),
    };
    const double *const want[] = { want_dx, want_dh0, want_dc0, want_dw, want_du, want_db };
    const eddy_tensor y = eddy_lstm(x[0], x[1], x[2], x[3], x[4], x[5]);
    const eddy_tensor last = eddy_output(eddy_unstack(eddy_output(y, 1), 0), STEPS - 1);
    const eddy_tensor loss = Add(Sum(Mul(y, filled_by(g, EDDY_SHAPE(STEPS, BATCH, H), 7))),
                                 Sum(last));
    eddy_tensor dx[6];
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(loss), (eddy_list){ 6, x }, dx), EDDY_OK);
    eddy_session *s = eddy_session_new(g);
    CLOSE(y, want_y);
    CLOSE(last, want_cn);
    for (int i = 0; i < 6; i++)
        close_to_list(s, dx[i], want[i], (int)eddy_shape_count(eddy_shape_of(x[i])));
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------- float32 against float64 -- */

static eddy_tensor numbers(trial *t, eddy_shape s, double most)
{
    eddy_array *a = eddy_array_new(F64, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, most * (pick(t, 2001) - 1000) / 1000);
    return fed(t, a);
}

static void check_close(trial *t, eddy_tensor y, eddy_tensor want)
{
    eddy_array *a = value(t, y), *b = value(t, want);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double have = eddy_array_get(a, i), right = eddy_array_get(b, i);
        ck_assert_msg(fabs(have - right) <= 2e-5 * fmax(1, fabs(right)),
                      "%s: element %d is %g, not %g", eddy_name_of(y), (int)i, have, right);
    }
    eddy_array_free(a);
    eddy_array_free(b);
}

START_TEST(float32_against_float64)
{
    trial t = trial_begin((unsigned)_i);
    const int64_t sizes[] = { 1, 2, 5, 9, 11, 12, 16, 17, 33, 40 };
    const int64_t steps = 1 + pick(&t, 4), batch = sizes[pick(&t, 10)], h = sizes[pick(&t, 10)];
    eddy__instructions_limit((eddy_instructions)(_i % 3));
    const eddy_tensor x[] = {
        numbers(&t, EDDY_SHAPE(steps, batch, 4 * h), 2), numbers(&t, EDDY_SHAPE(batch, h), 1),
        numbers(&t, EDDY_SHAPE(batch, h), 1), numbers(&t, EDDY_SHAPE(h, 4 * h), 0.3),
    };
    const eddy_tensor w = numbers(&t, EDDY_SHAPE(steps, batch, h), 1);
    const eddy_tensor y = eddy_block_lstm(Cast(x[0], F32), Cast(x[1], F32), Cast(x[2], F32),
                                          Cast(x[3], F32));
    const eddy_tensor z = eddy_block_lstm(x[0], x[1], x[2], x[3]);
    for (int i = 0; i < 3; i++) check_close(&t, eddy_output(y, i), eddy_output(z, i));
    const eddy_tensor f = Add(Mul(y, Cast(w, F32)), eddy_output(y, 1));
    const eddy_tensor f64 = Add(Mul(z, w), eddy_output(z, 1));
    for (int i = 0; i < 4; i++)
        check_close(&t, gradient_with(f, OnesLike(f), x[i]),
                    gradient_with(f64, OnesLike(f64), x[i]));
    eddy__instructions_limit(EDDY_AVX512);
    trial_end(&t);
}
END_TEST

/* A sequence is one step after the other. */
START_TEST(sequence_is_its_steps)
{
    trial t = trial_begin((unsigned)_i);
    const eddy_tensor x = eddy_set_shape(numbers(&t, EDDY_SHAPE(3, 2, 12), 2),
                                         EDDY_SHAPE(3, 2, 12));
    const eddy_tensor u = numbers(&t, EDDY_SHAPE(3, 12), 1), xs = eddy_unstack(x, 0);
    eddy_tensor h = numbers(&t, EDDY_SHAPE(2, 3), 1), c = numbers(&t, EDDY_SHAPE(2, 3), 1);
    const eddy_tensor y = eddy_block_lstm(x, h, c, u);
    eddy_tensor hs[3];
    for (int i = 0; i < 3; i++) {
        hs[i] = h = eddy_lstm_gates(Add(eddy_output(xs, i), MatMul(h, u)), c);
        c = eddy_output(h, 1);
    }
    const eddy_tensor z = eddy_stack((eddy_list){ 3, hs }, 0);
    check_close(&t, y, z);
    check_close(&t, gradient_with(y, Square(y), u), gradient_with(z, Square(z), u));
    trial_end(&t);
}
END_TEST

/* The gates are computed in the memory of xw, and their gradients in that of the gates, where
 * nothing reads these afterwards. Sizes: with and without whole blocks of columns. */
START_TEST(gates_take_the_memory_of_their_inputs)
{
    const eddy_dtype d = _i % 2 ? F64 : F32;
    const int64_t h = _i < 2 ? 32 : 13, steps = 6, batch = 7;
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor x = Cast(filled_by(g, EDDY_SHAPE(steps, batch, 4 * h), 1), d);
    const eddy_tensor v = eddy_placeholder(g, "v", d, EDDY_SHAPE(batch, h)), xw = Mul(x, Sum(v));
    const eddy_tensor y = eddy_block_lstm(xw, v, v, Cast(filled_by(g, EDDY_SHAPE(h, 4 * h), 2), d));
    const eddy_tensor loss = Sum(Square(y)), act = eddy_output(y, 2);
    eddy_tensor dx;
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(loss), EDDY_LIST(xw), &dx), EDDY_OK);
    eddy_array *ones = eddy_array_new(d, EDDY_SHAPE(batch, h)), *out[4][3] = { { NULL } };
    for (int64_t i = 0; i < batch * h; i++) eddy_array_set(ones, i, 0.01);
    uint64_t bytes[4];
    for (int k = 0; k < 4; k++) {                   /* k & 2: the gates and xw are results, too */
        eddy_session *s = eddy_session_new(g, .without = k & 1 ? EDDY_PASS_IN_PLACE : 0);
        const eddy_list fetches = k & 2 ? EDDY_LIST(dx, act, xw) : EDDY_LIST(dx);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ v, ones }), fetches, out[k]), EDDY_OK);
        bytes[k] = eddy_session_plan_info(s).live_bytes;
        eddy_session_free(s);
    }
    for (int k = 1; k < 4; k++) ck_assert(eddy_array_equal(out[0][0], out[k][0]));
    for (int i = 1; i < 3; i++) ck_assert(eddy_array_equal(out[2][i], out[3][i]));
    ck_assert_uint_ge(bytes[1],
                      bytes[0] + (uint64_t)(steps * batch * 4 * h) * eddy_dtype_size(d));
    for (int i = 0; i < 12; i++) eddy_array_free(out[i / 3][i % 3]);
    eddy_array_free(ones);
    eddy_graph_free(g);
}
END_TEST

START_TEST(a_batch_may_be_empty)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor h = eddy_zeros(g, F32, EDDY_SHAPE(0, 8));
    const eddy_tensor x = eddy_placeholder(g, "x", F32, EDDY_SHAPE(3, 0, 32));
    const eddy_tensor u = eddy_ones(g, F32, EDDY_SHAPE(8, 32)), y = eddy_block_lstm(x, h, h, u);
    eddy_array       *none = eddy_array_new(F32, EDDY_SHAPE(3, 0, 32)), *out[2] = { NULL };
    eddy_session     *s = eddy_session_new(g);
    const eddy_list   fetches = EDDY_LIST(y, gradient_with(y, OnesLike(y), x));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, none }), fetches, out), EDDY_OK);
    ck_assert_int_eq(eddy_array_count(out[0]) + eddy_array_count(out[1]), 0);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_array_free(none);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* The memory of a plan suffices for the instructions of each run. */
START_TEST(instructions_change_between_runs)
{
    enum { ROWS = 60, UNITS = 130 };
    trial             t = trial_begin(0);
    const eddy_tensor u = Cast(numbers(&t, EDDY_SHAPE(UNITS, 4 * UNITS), 0.3), F32);
    const eddy_tensor x = Cast(numbers(&t, EDDY_SHAPE(3, ROWS, 4 * UNITS), 2), F32);
    const eddy_tensor h = eddy_zeros(t.graph, F32, EDDY_SHAPE(ROWS, UNITS));
    const eddy_tensor y = eddy_block_lstm(x, h, h, u);
    const eddy_tensor each[] = { y, gradient_with(y, OnesLike(y), u) };
    eddy_array       *out[3][2];
    for (int i = 0; i < 3; i++) {
        eddy__instructions_limit((eddy_instructions)i);
        for (int k = 0; k < 2; k++) {
            out[i][k] = value(&t, each[k]);
            for (int64_t j = 0; j < eddy_array_count(out[i][k]); j++)
                ck_assert_double_eq_tol(eddy_array_get(out[i][k], j),
                                        eddy_array_get(out[0][k], j), 1e-4);
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) eddy_array_free(out[i][k]);
    eddy__instructions_limit(EDDY_AVX512);
    trial_end(&t);
}
END_TEST

Suite *lstm_suite(void)
{
    Suite *suite = suite_create("lstm");
    TCase *all = tcase_create("lstm");
    tcase_add_test(all, numbers_of_pytorch);
    tcase_add_loop_test(all, float32_against_float64, 0, 120);
    tcase_add_loop_test(all, sequence_is_its_steps, 0, 5);
    tcase_add_loop_test(all, gates_take_the_memory_of_their_inputs, 0, 4);
    tcase_add_test(all, a_batch_may_be_empty);
    tcase_add_test(all, instructions_change_between_runs);
    suite_add_tcase(suite, all);
    return suite;
}
