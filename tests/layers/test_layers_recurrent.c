/* test_layers_recurrent.c -- recurrent networks against PyTorch's and plain loops. */
#include "tests/lib/checks.h"
#include "tests/lib/layer_checks.h"

#include <math.h>
#include <stdlib.h>

Suite *layers_recurrent_suite(void);

static const eddy_dtype F64 = EDDY_FLOAT64;
enum { B = 2, T = 3, N = 3, H = 2 };

/* ----------------------------------------------------------- PyTorch's numbers -- */

/* Made with PyTorch 1.13.1, float64: element k of x is ((7 k + 3) % 11 - 5) / 8, of each kernel
 * that with 1 for 3, of each bias that with 2.  weight_ih and weight_hh are the rows of the
 * kernel for x and for h, transposed.  nn.LSTM(3, 2) and nn.GRU(3, 2, bidirectional) on packed
 * sequences of lengths 3 and 2; nn.RNN(3, 2, num_layers=2) with all steps first. */
static const double want_lstm[] = {
    0.04519992176831557, -0.05797930880348177, 0.06910367228219182, -0.05884110760826428,
    0.07699280127129028, -0.04136644582337008, 0.0228898734585705, 0,
    0.08032458461435246, -0.09985443756357243, 0, 0,
};
static const double want_lstm_h[] = {
    0.07699280127129028, -0.04136644582337008, 0.08032458461435246, -0.09985443756357243,
};
static const double want_lstm_c[] = {
    0.3239798583678748, -0.07429927020427146, 0.1738597529503938, -0.1811319291167335,
};
static const double want_gru[] = {
    -0.1739448002516048, 0.1549336072568325, -0.3591436172238216, 0.3304434425537783,
    -0.2831166709816382, 0.271154625877293, -0.2745954289550697, 0.2922276790900996,
    -0.3515878926820155, 0.361929796466263, -0.1590863527027221, 0.1879226960975529,
    -0.1495591785404172, 0.1985786789339981, -0.4084846290952625, 0.5347848286530923,
    -0.4348263347278223, 0.6216655305739008, -0.3669385293500956, 0.5235669880993343,
    0, 0, 0, 0,
};
static const double want_gru_h[] = {
    -0.3515878926820155, 0.361929796466263, -0.4348263347278223, 0.6216655305739008,
    -0.3591436172238216, 0.3304434425537783, -0.4084846290952625, 0.5347848286530923,
};
static const double want_rnn[] = {
    -0.2249101688244602, 0.3813137334178488, -0.2527944179535353, 0.3617344730786463,
    -0.02079227408608263, 0.4034748567921716, -0.07451564172404349, 0.3696472038971316,
    0.1817406125546252, -0.128676008108892, 0.1325077836583287, -0.1542838190351493,
};
static const double want_rnn_h[] = {
    -0.780545399601611, 0.6277139739682664, -0.7651532517882382, 0.6934849789621189,
    0.1817406125546252, -0.128676008108892, 0.1325077836583287, -0.1542838190351493,
};

/* An eddy_initializer_fn: kernels and biases as above. */
static eddy_tensor numbers(eddy_graph *g, eddy_dtype dtype, eddy_shape s, int64_t seed)
{
    (void)dtype, (void)seed;
    return layers_filled(g, s, s.rank == 1 ? 2 : 1);
}

static eddy_cell filled_cell(eddy_cell_kind kind)
{
    const eddy_init filled = { .build = numbers };
    return EDDY_CELL(kind, H, .kernel_initializer = filled, .bias_initializer = filled,
                     .forget_bias = 0, .reset_after = true);
}

static eddy_tensor lengths_of(eddy_graph *g)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(B), (int32_t[]){ 3, 2 });
}

static void close_to(eddy_tensor y, eddy_tensor x, eddy_shape s, int n, const double *want)
{
    eddy_array *in = layers_numbers(s, 3);
    layers_close(y, EDDY_FEED({ x, in }), n, want);
    eddy_array_free(in);
}

/* With everything known, and with the batch and, of the LSTM, the steps open. */
START_TEST(lstm)
{
    const eddy_shape s = EDDY_SHAPE(B, T, N);
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", F64, _i ? EDDY_SHAPE(EDDY_ANY, EDDY_ANY, N) : s);
    eddy_rnn_result r = eddy_rnn(x, filled_cell(EDDY_LSTM_CELL), .sequence_length = lengths_of(g));
    layers_fit(r.outputs, EDDY_SHAPE(B, _i ? EDDY_ANY : T, H), NULL);
    layers_variable(g, "rnn/lstm_cell/kernel", EDDY_SHAPE(N + H, 4 * H));
    layers_variable(g, "rnn/lstm_cell/bias", EDDY_SHAPE(4 * H));
    close_to(r.outputs, x, s, B * T * H, want_lstm);
    close_to(r.h, x, s, B * H, want_lstm_h);
    close_to(r.c, x, s, B * H, want_lstm_c);
    eddy_graph_free(g);
}
END_TEST

START_TEST(bidirectional_gru)
{
    const eddy_shape s = EDDY_SHAPE(B, T, N);
    eddy_graph *g = eddy_graph_new();
    eddy_tensor      x =
        eddy_placeholder(g, "x", F64, _i ? EDDY_SHAPE(EDDY_ANY, _i == 1 ? T : EDDY_ANY, N) : s);
    eddy_bidirectional_rnn_result r = eddy_bidirectional_rnn(x, filled_cell(EDDY_GRU_CELL),
                                                             .sequence_length = lengths_of(g));
    layers_fit(r.outputs, EDDY_SHAPE(B, _i < 2 ? T : EDDY_ANY, 2 * H), NULL);
    layers_variable(g, "bidirectional_rnn/fw/gru_cell/gates/kernel", EDDY_SHAPE(N + H, 2 * H));
    layers_variable(g, "bidirectional_rnn/bw/gru_cell/candidate/kernel", EDDY_SHAPE(N + H, H));
    layers_variable(g, "bidirectional_rnn/bw/gru_cell/candidate/recurrent_bias", EDDY_SHAPE(H));
    close_to(r.outputs, x, s, B * T * 2 * H, want_gru);
    close_to(r.fw.h, x, s, B * H, want_gru_h);
    close_to(r.bw.h, x, s, B * H, want_gru_h + B * H);
    eddy_bidirectional_rnn_result again = eddy_bidirectional_rnn(
        x, filled_cell(EDDY_GRU_CELL), .sequence_length = lengths_of(g),
        .reuse = "bidirectional_rnn");
    close_to(again.outputs, x, s, B * T * 2 * H, want_gru);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_GLOBAL_VARIABLES), 10);
    eddy_graph_free(g);
}
END_TEST

START_TEST(stacked_rnn)
{
    const eddy_shape s = EDDY_SHAPE(T, B, N);
    const eddy_cell  cells[2] = { filled_cell(EDDY_BASIC_RNN_CELL),
                                  filled_cell(EDDY_BASIC_RNN_CELL) };
    eddy_rnn_result each[2];
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", F64, s);
    eddy_rnn_result r = eddy_stacked_rnn(x, cells, 2, .time_major = true, .results = each);
    layers_variable(g, "rnn/cell_0/basic_rnn_cell/kernel", EDDY_SHAPE(N + H, H));
    layers_variable(g, "rnn/cell_1/basic_rnn_cell/bias", EDDY_SHAPE(H));
    close_to(r.outputs, x, s, B * T * H, want_rnn);
    close_to(each[0].h, x, s, B * H, want_rnn_h);
    close_to(each[1].h, x, s, B * H, want_rnn_h + B * H);
    ck_assert(eddy_same(each[1].h, r.h));
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------ plain loops -- */

static double element(int k, int a) { return (double)((7 * k + a) % 11 - 5) / 8; }
static double sigmoid(double z) { return 1 / (1 + exp(-z)); }

/* Column j of [x, h] w + b, w with so many columns. */
static double column(const double *x, const double *h, int columns, int j)
{
    double z = element(j, 2);
    for (int i = 0; i < N; i++) z += x[i] * element(i * columns + j, 1);
    for (int i = 0; i < H; i++) z += h[i] * element((N + i) * columns + j, 1);
    return z;
}

/* TensorFlow's GRU, the reset before the product. */
static void gru_step(const double *x, double *h)
{
    double reset[H], next[H];
    for (int j = 0; j < H; j++) reset[j] = sigmoid(column(x, h, 2 * H, j)) * h[j];
    for (int j = 0; j < H; j++) {
        const double u = sigmoid(column(x, h, 2 * H, H + j));
        next[j] = u * h[j] + (1 - u) * tanh(column(x, reset, H, j));
    }
    for (int j = 0; j < H; j++) h[j] = next[j];
}

/* An LSTM with `forget` added to what it keeps. */
static void lstm_step(const double *x, double *h, double *c, double forget)
{
    double z[4 * H];
    for (int j = 0; j < 4 * H; j++) z[j] = column(x, h, 4 * H, j);
    for (int j = 0; j < H; j++) {
        c[j] = sigmoid(z[H + j] + forget) * c[j] + sigmoid(z[j]) * tanh(z[2 * H + j]);
        h[j] = sigmoid(z[3 * H + j]) * tanh(c[j]);
    }
}

START_TEST(a_forget_bias_of_0_is_0)
{
    ck_assert_double_eq(EDDY_CELL(EDDY_LSTM_CELL, 4).forget_bias, 1);
    ck_assert_double_eq(EDDY_CELL(EDDY_LSTM_CELL, 4, .forget_bias = 0).forget_bias, 0);
}
END_TEST

/* Backwards, from a given state, with a sequence of length 0 among the two; an LSTM with a forget
 * bias of 1 and of 0. */
START_TEST(states_and_lengths)
{
    const bool  is_lstm = _i > 0;
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(EDDY_ANY, T, N)), none = { 0 };
    eddy_cell   cell = filled_cell(is_lstm ? EDDY_LSTM_CELL : EDDY_GRU_CELL);
    double      want[B * T * H] = { 0 }, h[B][H], c[B][H], in[B * T * N];
    cell.forget_bias = _i == 1;
    cell.reset_after = false;
    for (int k = 0; k < B * H; k++) {
        h[k / H][k % H] = element(k, 4);
        c[k / H][k % H] = element(k, 5);
    }
    for (int k = 0; k < B * T * N; k++) in[k] = element(k, 3);
    for (int t = 1; t >= 0; t--) {                  /* the second sequence has two steps */
        if (is_lstm) lstm_step(in + (T + t) * N, h[1], c[1], _i == 1);
        else gru_step(in + (T + t) * N, h[1]);
        for (int j = 0; j < H; j++) want[(T + t) * H + j] = h[1][j];
    }
    for (int k = 2 * N; k < 3 * N; k++) in[T * N + k] = NAN;        /* padding is not looked at */
    eddy_rnn_result r = eddy_rnn(
        x, cell, .go_backwards = true, .initial_h = layers_filled(g, EDDY_SHAPE(B, H), 4),
        .initial_c = is_lstm ? layers_filled(g, EDDY_SHAPE(B, H), 5) : none,
        .sequence_length = eddy_const(g, EDDY_INT64, EDDY_SHAPE(B), (int64_t[]){ 0, 2 }));
    eddy_array *fed = eddy_array_borrow(F64, EDDY_SHAPE(B, T, N), in);
    layers_close(r.outputs, EDDY_FEED({ x, fed }), B * T * H, want);
    layers_close(r.h, EDDY_FEED({ x, fed }), B * H, h[0]);
    if (is_lstm) layers_close(r.c, EDDY_FEED({ x, fed }), B * H, c[0]);
    else ck_assert(!r.c.graph);
    eddy_array_free(fed);
    eddy_graph_free(g);
}
END_TEST

START_TEST(gradients)
{
    const eddy_cell_kind kinds[] = { EDDY_BASIC_RNN_CELL, EDDY_LSTM_CELL, EDDY_GRU_CELL,
                                     EDDY_GRU_CELL };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(EDDY_ANY, 2, N)), none = { 0 };
    eddy_rnn_result r = eddy_rnn(
        x, EDDY_CELL(kinds[_i], H, .reset_after = _i == 3), .seed = 3,
        .go_backwards = _i == 0, .sequence_length = _i < 3 ? eddy_const(
            g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 2, 1 }) : none);
    eddy_array *in = layers_numbers(EDDY_SHAPE(2, 2, N), 3);
    layers_check(Add(Mul(eddy_sum(r.outputs, EDDY_AXES(1)), 2), r.h), x, in);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* The parity of the ones up to each step. */
START_TEST(parity)
{
    enum { ROWS = 16, STEPS = 4 };
    eddy_graph *g = eddy_graph_new(.seed = 1);
    float       bits[ROWS * STEPS];
    int32_t     truth[ROWS * STEPS];
    for (int i = 0; i < ROWS * STEPS; i++) {
        bits[i] = (float)(i / STEPS >> i % STEPS & 1);
        truth[i] = ((i % STEPS ? truth[i - 1] : 0) + (int)bits[i]) % 2;
    }
    const eddy_cell_kind kinds[] = { EDDY_BASIC_RNN_CELL, EDDY_LSTM_CELL, EDDY_GRU_CELL };
    eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(ROWS, STEPS, 1), bits);
    eddy_tensor y = eddy_const(g, EDDY_INT32, EDDY_SHAPE(ROWS, STEPS), truth);
    eddy_rnn_result r = eddy_rnn(x, EDDY_CELL(kinds[_i], 16));
    eddy_tensor logits = eddy_dense(r.outputs, 2, "logits");
    layers_learn(Mean(eddy_sparse_softmax_cross_entropy(y, logits)), EDDY_FEED(), 200, 0.03, 0.05);
    eddy_graph_free(g);
}
END_TEST

/* An unknown number of steps that is 0 in a run: the states are the initial ones. */
START_TEST(no_steps_in_a_run)
{
    static const eddy_cell_kind kinds[] = { EDDY_BASIC_RNN_CELL, EDDY_LSTM_CELL, EDDY_GRU_CELL };
    const bool   initial = _i % 2, lengths = _i / 2 % 2;
    const double given[] = { 1, -2, 3, 4 }, zeros[] = { 0, 0, 0, 0 }, ones[] = { 1, 1, 1, 1 };
    eddy_graph  *g = eddy_graph_new(.seed = 1);
    eddy_tensor  none = { 0 }, x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(2, EDDY_ANY, N));
    eddy_tensor  h = eddy_const(g, F64, EDDY_SHAPE(2, 2), given);
    eddy_tensor  n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 0 });
    const eddy_cell_kind kind = kinds[_i / 4];
    eddy_rnn_result r = eddy_rnn(x, EDDY_CELL(kind, 2), .sequence_length = lengths ? n : none,
                                 .initial_h = initial ? h : none,
                                 .initial_c = initial && kind == EDDY_LSTM_CELL ? Neg(h) : none);
    eddy_array *in = eddy_array_new(F64, EDDY_SHAPE(2, 0, N));
    layers_close(r.h, EDDY_FEED({ x, in }), 4, initial ? given : zeros);
    layers_close(eddy_sum(r.outputs, EDDY_AXES(1)), EDDY_FEED({ x, in }), 4, zeros);
    if (initial) layers_close(eddy_gradient(r.h, h), EDDY_FEED({ x, in }), 4, ones);
    if (r.c.graph) layers_close(Neg(r.c), EDDY_FEED({ x, in }), 4, initial ? given : zeros);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

START_TEST(refusals)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(2, EDDY_ANY, N));
    const eddy_cell gru = EDDY_CELL(EDDY_GRU_CELL, 2);
    eddy_rnn(eddy_zeros(g, F64, EDDY_SHAPE(2, 0, 3)), gru);
    fails(g, EDDY_BAD_SHAPE, "rnn: x has shape [2,0,3]; it has no steps");
    eddy_rnn(x, EDDY_CELL(.units = 3));
    fails(g, EDDY_INVALID_ARGUMENT, "rnn: unknown cell kind 0");
    eddy_rnn(x, EDDY_CELL(EDDY_LSTM_CELL));
    fails(g, EDDY_INVALID_ARGUMENT, "rnn: units is 0; it must be positive");
    eddy_stacked_rnn(x);
    fails(g, EDDY_INVALID_ARGUMENT, "rnn: there are no cells to stack");
    eddy_rnn(eddy_sum(x, EDDY_AXES(0)), EDDY_CELL(EDDY_LSTM_CELL, 2));
    fails(g, EDDY_BAD_SHAPE, "rnn: x has shape [?,3]; it must have rank 3");
    ck_assert(!eddy_is_valid(eddy_rnn(EDDY_NO_TENSOR, gru).outputs));
    ck_assert(!eddy_is_valid(eddy_bidirectional_rnn(EDDY_NO_TENSOR, gru).outputs));
    ck_assert(!eddy_is_valid(eddy_stacked_rnn(EDDY_NO_TENSOR, &gru, 1).outputs));
    eddy_graph_free(g);
}
END_TEST

Suite *layers_recurrent_suite(void)
{
    Suite *suite = suite_create("layers_recurrent");
    TCase *t = tcase_create("layers");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, lstm, 0, 2);
    tcase_add_loop_test(t, bidirectional_gru, 0, 3);
    tcase_add_test(t, stacked_rnn);
    tcase_add_test(t, a_forget_bias_of_0_is_0);
    tcase_add_loop_test(t, states_and_lengths, 0, 3);
    tcase_add_loop_test(t, gradients, 0, 4);
    tcase_add_loop_test(t, parity, 0, 3);
    tcase_add_loop_test(t, no_steps_in_a_run, 0, 12);
    tcase_add_test(t, refusals);
    suite_add_tcase(suite, t);
    return suite;
}
