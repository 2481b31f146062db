/* test_tf_rnn.c -- TensorFlow's own cases of recurrent cells and of static_rnn, dynamic_rnn and
 * bidirectional_dynamic_rnn (rnn_test.py, core_rnn_cell_test.py). Cells have weights of 0.5 and
 * states of 0.1; the numbers there have six digits, and here those of the formulas. */
#include "build/gen/suites.h"
#include "layers/rnn_cells.h"
#include "tests/lib/tf_cases.h"

static eddy_tensor fill(trial *t, int64_t columns, double v)
{
    return eddy_broadcast_to(constant(t, v), EDDY_SHAPE(1, columns));
}
static eddy_init half(void) { return eddy_constant_initializer(0.5); }

/* -------------------------------------------------------------------- cells -- */

static int basic_rnn(trial *t, eddy_tensor *y)
{
    const eddy_rnn_cell cell = eddy_basic_rnn_cell(t->graph, 2, .kernel_initializer = half());
    const eddy_tensor   h = fill(t, 2, 0.1);
    y[0] = eddy_rnn_step(cell, fill(t, 2, 1), &h, &y[1]);
    return 2;
}
static int gru(trial *t, int inputs, eddy_tensor *y)
{
    const eddy_rnn_cell cell = eddy_gru_cell(t->graph, 2, .kernel_initializer = half());
    const eddy_tensor   h = fill(t, 2, 0.1);
    y[0] = eddy_rnn_step(cell, fill(t, inputs, 1), &h, &y[1]);
    return 1;
}
static int gru_two_inputs(trial *t, eddy_tensor *y) { return gru(t, 2, y); }
static int gru_three_inputs(trial *t, eddy_tensor *y) { return gru(t, 3, y); }
static int stacked(trial *t, eddy_rnn_cell a, eddy_rnn_cell b, eddy_tensor *y)
{
    const eddy_rnn_cell both[] = { a, b };
    const eddy_rnn_cell cell = eddy_multi_rnn_cell(t->graph, both, 2);
    eddy_tensor         state[4];
    for (int k = 0; k < 4; k++) state[k] = fill(t, 2, 0.1);
    y[0] = eddy_rnn_step(cell, fill(t, 2, 1), state, &y[1]);
    return cell.n_state + 1;
}
static int multi_gru(trial *t, eddy_tensor *y)
{
    return stacked(t, eddy_gru_cell(t->graph, 2, .kernel_initializer = half()),
                   eddy_gru_cell(t->graph, 2, .kernel_initializer = half()), y);
}
static int basic_lstm(trial *t, eddy_tensor *y)
{
    return stacked(t, eddy_lstm_cell(t->graph, 2, .kernel_initializer = half()),
                   eddy_lstm_cell(t->graph, 2, .kernel_initializer = half()), y);
}
static eddy_rnn_cell gru_3(trial *t)
{
    return eddy_gru_cell(t->graph, 3, .kernel_initializer = half());
}
static int step_of_three(trial *t, eddy_rnn_cell cell, eddy_tensor *y)
{
    const eddy_tensor h = fill(t, 3, 0.1);
    y[0] = eddy_rnn_step(cell, fill(t, 3, 1), &h, &y[1]);
    return 2;
}
static int dropout_wrapper(trial *t, eddy_tensor *y)
{
    return step_of_three(t, eddy_dropout_wrapper(t->graph, gru_3(t), .training = true), y);
}
static int residual_wrapper(trial *t, eddy_tensor *y)
{
    return step_of_three(t, eddy_residual_wrapper(t->graph, gru_3(t)), y);
}

/* ----------------------------------------------------------------- networks -- */

/* TensorFlow's Plus1RNNCell: the input and the state plus one; and a cell with a scalar state. */
BODY(plus_one, Add(x[0], 1), Add(x[1], 1))
BODY(counts, x[0], Add(x[1], 1))

enum { BATCH = 2, INPUTS = 2, STEPS = 4 };
static const eddy_rnn_state wide = { .shape = { .rank = 1, .dim = { INPUTS } } };
static const eddy_rnn_cell  plus1 = { .f = { .build = plus_one, .name = "plus1" }, .n_state = 1,
                                      .state = &wide,
                                      .output = { .rank = 1, .dim = { INPUTS } } };

static eddy_tensor ones_of(trial *t, int steps)
{
    return eddy_ones(t->graph, F64, EDDY_SHAPE(BATCH, steps, INPUTS));
}
static eddy_tensor lengths(trial *t, int a, int b)
{
    return eddy_const(t->graph, I32, EDDY_SHAPE(BATCH), (int32_t[]){ a, b });
}
static int rnn(trial *t, eddy_tensor *y)
{
    y[0] = eddy_dynamic_rnn(plus1, ones_of(t, 2), &y[1]);
    return 2;
}
static int dynamic_calculation(trial *t, eddy_tensor *y)
{
    y[0] = eddy_dynamic_rnn(plus1, ones_of(t, STEPS), &y[1], lengths(t, 2, 3));
    return 2;
}
static int static_calculation(trial *t, eddy_tensor *y)
{
    eddy_tensor in[STEPS], out[STEPS];
    for (int k = 0; k < STEPS; k++) in[k] = eddy_ones(t->graph, F64, EDDY_SHAPE(BATCH, INPUTS));
    eddy_static_rnn(plus1, ((eddy_list){ STEPS, in }), out, &y[1], lengths(t, 2, 3));
    y[0] = eddy_stack(((eddy_list){ STEPS, out }), 1);
    return 2;
}
static int scalar_state(trial *t, eddy_tensor *y)
{
    static const eddy_rnn_state one = { .shape = { .rank = 1, .dim = { 1 } } };
    const eddy_rnn_cell cell = { .f = { .build = counts, .name = "counts" }, .n_state = 1,
                                 .state = &one, .output = EDDY_SHAPE(1) };
    const double        in[] = { 1, 2, 3, 4 };
    y[0] = eddy_dynamic_rnn(cell, eddy_const(t->graph, F64, EDDY_SHAPE(1, 4, 1), in), &y[1]);
    return 2;
}
static int time_major(trial *t, eddy_tensor *y)
{
    const eddy_tensor x = eddy_transpose(ones_of(t, STEPS), EDDY_DIMS(1, 0, 2));
    y[0] = eddy_transpose(eddy_dynamic_rnn(plus1, x, &y[1], lengths(t, 2, 3), .time_major = true),
                          EDDY_DIMS(1, 0, 2));
    return 2;
}
static int bidirectional(trial *t, eddy_tensor *y)
{
    const eddy_rnn_outputs r = eddy_bidirectional_dynamic_rnn(plus1, plus1, ones_of(t, 2), &y[1],
                                                              &y[2], lengths(t, 1, 2));
    y[0] = eddy_concat(EDDY_LIST(r.fw, r.bw), 2);
    return 3;
}
/* The gradient of a state that counts steps, and of outputs behind the end, which are 0. */
static int gradients(trial *t, eddy_tensor *y)
{
    const double      in[] = { 1, 2, 3, 4, 5, 6 };
    const eddy_tensor x = eddy_const(t->graph, F64, EDDY_SHAPE(1, 3, 2), in);
    const eddy_tensor n = eddy_const(t->graph, I32, EDDY_SHAPE(1), (int32_t[]){ 2 });
    const eddy_tensor h = eddy_ones(t->graph, F64, EDDY_SHAPE(1, 2));
    const eddy_tensor out = eddy_dynamic_rnn(plus1, x, &y[1], n, EDDY_LIST(h));
    y[0] = slope(Square(out), x), y[1] = slope(y[1], h);
    return 2;
}

static const tf_case cases[] = {
    TF_CASE("testBasicRNNCell", basic_rnn, 0.8004990217606297, 0.8004990217606297,
            0.8004990217606297, 0.8004990217606297),
    TF_CASE("testGRUCell", gru_two_inputs, 0.17599094164201326, 0.17599094164201326),
    TF_CASE("testGRUCell, other input size", gru_three_inputs, 0.1567364518431832,
            0.1567364518431832),
    TF_CASE("testMultiRNNCell", multi_gru, 0.132480171918148, 0.132480171918148,
            0.17599094164201326, 0.17599094164201326, 0.132480171918148, 0.132480171918148),
    TF_CASE("testBasicLSTMCell", basic_lstm, 0.2402470661020097, 0.2402470661020097,
            0.4484843033113804, 0.4484843033113804, 0.6896727984753572, 0.6896727984753572,
            0.2402470661020097, 0.2402470661020097, 0.39897059151843495, 0.39897059151843495),
    TF_CASE("testDropoutWrapper", dropout_wrapper, 0.1546050327045625, 0.1546050327045625,
            0.1546050327045625, 0.1546050327045625, 0.1546050327045625, 0.1546050327045625),
    TF_CASE("testResidualWrapper", residual_wrapper, 1.1546050327045625, 1.1546050327045625,
            1.1546050327045625, 0.1546050327045625, 0.1546050327045625, 0.1546050327045625),
    TF_CASE("testRNN", rnn, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2),
    TF_CASE("testDynamicCalculation", dynamic_calculation, 2, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2,
            0, 0, 2, 2, 3, 3),
    TF_CASE("testDynamicCalculation, static", static_calculation, 2, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2,
            2, 2, 2, 0, 0, 2, 2, 3, 3),
    TF_CASE("testDynamicCalculation, time major", time_major, 2, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2, 2,
            2, 0, 0, 2, 2, 3, 3),
    TF_CASE("testScalarStateIsAccepted", scalar_state, 1, 2, 3, 4, 4),
    TF_CASE("testBidirectionalDynamicRNN", bidirectional, 2, 2, 2, 2, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2,
            2, 2, 1, 1, 2, 2, 1, 1, 2, 2),
    TF_CASE("testDynamicRNN, gradients", gradients, 4, 6, 8, 10, 0, 0, 1, 1),
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(rnn_cases) { check_tf_case(&cases[_i % CASES], (unsigned)_i / CASES); }
END_TEST

Suite *tf_rnn_suite(void)
{
    Suite *s = suite_create("tf_rnn");
    TCase *c = tcase_create("tf");
    tcase_add_loop_test(c, rnn_cases, 0, CASES * SEEDS);
    suite_add_tcase(s, c);
    return s;
}
