/* test_rnn_cells.c -- recurrent cells and their wrappers against plain C, and their derivatives. */
#include "build/gen/suites.h"
#include "layers/rnn_cells.h"
#include "tests/lib/checks.h"
#include "tests/lib/layer_checks.h"

#include <math.h>

static const eddy_dtype F64 = EDDY_FLOAT64;
enum { B = 2, T = 3, N = 3, H = 2, P = 1 };

/* Element k of a tensor that is filled with `a` (layer_checks.h). */
static double element(int k, int a) { return (double)((7 * k + a) % 11 - 5) / 8; }
static double sigmoid(double z) { return 1 / (1 + exp(-z)); }

/* An eddy_initializer_fn: kernels with 1, vectors with 2. */
static eddy_tensor filling(eddy_graph *g, eddy_dtype dtype, eddy_shape s, int64_t seed)
{
    (void)dtype, (void)seed;
    return layers_filled(g, s, s.rank == 1 ? 2 : 1);
}
static const eddy_init filled = { .build = filling };

static eddy_tensor fed_x(eddy_graph *g)
{
    return eddy_placeholder(g, "x", F64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, N));
}

static void close_to(eddy_tensor y, eddy_tensor x, int n, const double *want)
{
    eddy_array *in = layers_numbers(EDDY_SHAPE(B, T, N), 3);
    layers_close(y, EDDY_FEED({ x, in }), n, want);
    eddy_array_free(in);
}

/* -------------------------------------------------------- LSTM, all of its parts -- */

/* Sak et al. 2014, equations 1 to 6, with one column of h: parts i, f, g, o of the kernel. */
static void lstm_step(const double *x, double *h, double *c, double clip)
{
    double z[4 * H], m[H];
    for (int j = 0; j < 4 * H; j++) {
        z[j] = element(j, 2);
        for (int i = 0; i < N; i++) z[j] += x[i] * element(i * 4 * H + j, 1);
        for (int i = 0; i < P; i++) z[j] += h[i] * element((N + i) * 4 * H + j, 1);
    }
    for (int j = 0; j < H; j++) {
        const double w = element(j, 2);               /* all three peepholes */
        const double keep = sigmoid(z[H + j] + 0.5 + w * c[j]), in = sigmoid(z[j] + w * c[j]);
        c[j] = fmax(-clip, fmin(clip, keep * c[j] + in * tanh(z[2 * H + j])));
        m[j] = sigmoid(z[3 * H + j] + w * c[j]) * tanh(c[j]);
    }
    for (int p = 0; p < P; p++) {
        h[p] = 0;
        for (int j = 0; j < H; j++) h[p] += m[j] * element(j * P + p, 1);
        h[p] = fmax(-0.05, fmin(0.05, h[p]));
    }
}

START_TEST(lstm)
{
    double      y[B * T * P], h[B * P] = { 0 }, c[B * H] = { 0 }, x[N];
    eddy_graph *g = eddy_graph_new();
    eddy_tensor in = fed_x(g), state[2];
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) {
            for (int i = 0; i < N; i++) x[i] = element((b * T + t) * N + i, 3);
            lstm_step(x, h + b * P, c + b * H, 0.3);
            for (int p = 0; p < P; p++) y[(b * T + t) * P + p] = h[b * P + p];
        }
    eddy_rnn_cell cell = eddy_lstm_cell(
        g, H, .use_peepholes = true, .num_proj = P, .forget_bias = 0.5, .cell_clip = 0.3,
        .proj_clip = 0.05, .kernel_initializer = filled, .bias_initializer = filled);
    eddy_tensor out = eddy_dynamic_rnn(cell, in, state);
    layers_variable(g, "rnn/lstm_cell/kernel", EDDY_SHAPE(N + P, 4 * H));
    layers_variable(g, "rnn/lstm_cell/w_o_diag", EDDY_SHAPE(H));
    layers_variable(g, "rnn/lstm_cell/projection/kernel", EDDY_SHAPE(H, P));
    close_to(out, in, B * T * P, y);
    close_to(state[0], in, B * P, h);
    close_to(state[1], in, B * H, c);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- attention -- */

enum { M = 4, D = 3, U = 2 };      /* steps and columns of the memory, columns of keys */
static const int32_t memory_lengths[B] = { 2, 4 };

static double memory_at(int b, int m, int d) { return element((b * M + m) * D + d, 6); }

/* The weights of the steps of memory b for a query of U columns. */
static void align(int b, const double *query, bool additive, bool normalize, double *weight)
{
    double score[M], sum = 0, v[U], norm = 0;
    for (int u = 0; u < U; u++) norm += element(u, 2) * element(u, 2);
    for (int u = 0; u < U; u++)
        v[u] = element(u, 2) * (normalize ? 1 / sqrt((double)U) / sqrt(norm) : 1);
    for (int m = 0; m < memory_lengths[b]; m++) {
        score[m] = 0;
        for (int u = 0; u < U; u++) {
            double key = 0, q = 0;
            for (int d = 0; d < D; d++) key += memory_at(b, m, d) * element(d * U + u, 1);
            for (int i = 0; i < U; i++) q += query[i] * element(i * U + u, 1);
            score[m] += additive ? v[u] * tanh(key + q) : query[u] * key;
        }
        sum += exp(score[m]);
    }
    for (int m = 0; m < M; m++) weight[m] = m < memory_lengths[b] ? exp(score[m]) / sum : 0;
}

static eddy_attention_mechanism *mechanism(eddy_graph *g, bool additive, bool normalize)
{
    eddy_tensor memory = layers_filled(g, EDDY_SHAPE(B, M, D), 6);
    eddy_tensor n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(B), memory_lengths);
    return additive ? eddy_bahdanau_attention(U, memory, n, normalize, .kernel_initializer = filled)
                    : eddy_luong_attention(U, memory, n, normalize, .kernel_initializer = filled);
}

/* A basic cell of U units that attends; the weights by plain loops, step by step. */
START_TEST(attends)
{
    const bool  additive = _i & 1, layer = _i & 2, normalize = _i & 4;
    enum { A = 2 };
    const int   a = layer ? A : D;
    double      y[B * T * D], weights[B * T * M];
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = fed_x(g), state[2];
    eddy_attention_mechanism *m = mechanism(g, additive, normalize);
    eddy_rnn_cell inner = eddy_basic_rnn_cell(g, U, .kernel_initializer = filled,
                                              .bias_initializer = filled);
    eddy_rnn_cell cell = eddy_attention_wrapper(inner, m, layer ? A : 0,
                                                .kernel_initializer = filled);
    eddy_tensor   out = eddy_dynamic_rnn(cell, x, state);
    for (int b = 0; b < B; b++) {
        double h[U] = { 0 }, attention[D] = { 0 };
        for (int t = 0; t < T; t++) {
            double next[U], in[N + D + U], context[D] = { 0 }, *w = weights + (b * T + t) * M;
            for (int i = 0; i < N; i++) in[i] = element((b * T + t) * N + i, 3);
            for (int i = 0; i < a; i++) in[N + i] = attention[i];
            for (int i = 0; i < U; i++) in[N + a + i] = h[i];
            for (int u = 0; u < U; u++) {
                next[u] = element(u, 2);
                for (int i = 0; i < N + a + U; i++) next[u] += in[i] * element(i * U + u, 1);
                next[u] = tanh(next[u]);
            }
            memcpy(h, next, sizeof h);
            align(b, h, additive, normalize, w);
            for (int k = 0; k < M; k++)
                for (int d = 0; d < D; d++) context[d] += w[k] * memory_at(b, k, d);
            for (int i = 0; i < a; i++) {
                attention[i] = layer ? 0 : context[i];
                for (int u = 0; layer && u < U; u++) attention[i] += h[u] * element(u * A + i, 1);
                for (int d = 0; layer && d < D; d++)
                    attention[i] += context[d] * element((U + d) * A + i, 1);
                y[(b * T + t) * a + i] = attention[i];
            }
        }
    }
    close_to(out, x, B * T * a, y);
    fits(g);
    /* the queries are the outputs without attention: all alignments at once */
    eddy_rnn_cell queries = eddy_attention_wrapper(
        eddy_basic_rnn_cell(g, U, .reuse = "rnn/attention_wrapper/basic_rnn_cell"), m,
        layer ? A : 0, false, .kernel_initializer = filled);
    eddy_tensor all = eddy_attention_alignments(m, eddy_dynamic_rnn(queries, x, state));
    close_to(all, x, B * T * M, weights);
    eddy_graph_free(g);
}
END_TEST

/* A memory without steps gives 0, and its gradient is no NaN. */
START_TEST(empty_memory)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor memory = layers_filled(g, EDDY_SHAPE(1, M, D), 6);
    eddy_tensor n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 0 });
    eddy_tensor q = layers_filled(g, EDDY_SHAPE(1, U), 3);
    eddy_attention_mechanism *m = eddy_luong_attention(U, memory, n);
    eddy_tensor y = eddy_attention_alignments(m, q);
    layers_close(y, EDDY_FEED(), M, (double[M]){ 0 });
    layers_close(eddy_gradient(Sum(y), q), EDDY_FEED(), U, (double[U]){ 0 });
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------ derivatives -- */

static eddy_rnn_cell plain(eddy_graph *g) { return eddy_basic_rnn_cell(g, H, .seed = 1); }
static eddy_rnn_cell lstm_with_all(eddy_graph *g)
{
    return eddy_lstm_cell(g, 3, .use_peepholes = true, .num_proj = 2, .seed = 2);
}
static eddy_rnn_cell gru(eddy_graph *g) { return eddy_gru_cell(g, H, .seed = 3); }
static eddy_rnn_cell gru_after(eddy_graph *g)
{
    return eddy_gru_cell(g, H, .reset_after = true, .seed = 3, .activation = eddy_sigmoid);
}
static eddy_rnn_cell stacked(eddy_graph *g)
{
    const eddy_rnn_cell cells[] = { gru(g), lstm_with_all(g) };
    return eddy_multi_rnn_cell(g, cells, 2);
}
static eddy_rnn_cell residual(eddy_graph *g)
{
    const eddy_rnn_cell cells[] = { eddy_residual_wrapper(g, eddy_gru_cell(g, N, .seed = 4)),
                                    eddy_residual_wrapper(g, eddy_lstm_cell(g, N, .seed = 5)) };
    return eddy_multi_rnn_cell(g, cells, 2);
}
static eddy_rnn_cell additive(eddy_graph *g)
{
    return eddy_attention_wrapper(eddy_lstm_cell(g, H, .seed = 6), mechanism(g, true, true), 2,
                                  .seed = 7);
}
static eddy_rnn_cell multiplicative(eddy_graph *g)
{
    return eddy_attention_wrapper(gru(g), mechanism(g, false, true));
}

START_TEST(gradients)
{
    static eddy_rnn_cell (*const cells[])(eddy_graph *g) = {
        plain, lstm_with_all, gru, gru_after, stacked, residual, additive, multiplicative,
    };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, N));
    eddy_tensor n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(B), (int32_t[]){ 2, 1 }), state[8];
    eddy_tensor y = eddy_dynamic_rnn(cells[_i](g), x, state, n);
    eddy_array *in = layers_numbers(EDDY_SHAPE(B, 2, N), 3);
    fits(g);
    layers_check(Add(eddy_sum(Mul(y, y), EDDY_AXES(1, 2)), eddy_sum(state[0], EDDY_AXES(1))), x,
                 in);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- wrappers -- */

/* Stacked cells are networks one after the other; the sum of its input makes a cell residual. */
START_TEST(wrappers_are_what_they_are_made_of)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = fed_x(g), state[3], first[1], second[2];
    const eddy_rnn_cell a = eddy_gru_cell(g, N, .seed = 1), b = eddy_lstm_cell(g, H, .seed = 2);
    const eddy_rnn_cell both = eddy_multi_rnn_cell(g, (eddy_rnn_cell[]){ a, b }, 2);
    eddy_tensor y = eddy_dynamic_rnn(both, x, state);
    layers_variable(g, "rnn/multi_rnn_cell/cell_0/gru_cell/gates/kernel", EDDY_SHAPE(2 * N, 2 * N));
    layers_variable(g, "rnn/multi_rnn_cell/cell_1/lstm_cell/kernel", EDDY_SHAPE(N + H, 4 * H));
    eddy_tensor one = eddy_dynamic_rnn(a, x, first);
    eddy_tensor other = eddy_dynamic_rnn(b, one, second);
    const eddy_tensor zero[] = { Sub(y, other), Sub(state[0], first[0]), Sub(state[1], second[0]),
                                 Sub(state[2], second[1]) };
    const int count[] = { B * T * H, B * N, B * H, B * H };
    for (int k = 0; k < 4; k++) close_to(zero[k], x, count[k], (double[B * T * N]){ 0 });
    eddy_tensor sum = eddy_dynamic_rnn(eddy_residual_wrapper(g, a), x);
    close_to(Sub(sum, Add(x, one)), x, B * T * N, (double[B * T * N]){ 0 });
    eddy_rnn_cell same = eddy_dropout_wrapper(g, a, 0.5, 0.5, 0.5);
    ck_assert(same.f.context == a.f.context);
    ck_assert_int_eq(eddy_collection_size(g, EDDY_GLOBAL_VARIABLES), 6);
    fits(g);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- dropout -- */

/* The output is the input, and the state adds it up; a second state is a memory. */
static int pass_on(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = x.at[0];
    y[1] = Add(x.at[1], x.at[0]);
    y[2] = Add(x.at[2], x.at[0]);
    return 3;
}

enum { ROWS = 8, STEPS = 40, COLUMNS = 25 };
static const eddy_rnn_state two_sums[] = { { .shape = { .rank = 1, .dim = { COLUMNS } } },
                                           { .shape = { .rank = 1, .dim = { COLUMNS } },
                                             .is_memory = true } };

static eddy_rnn_cell passing(void)
{
    return (eddy_rnn_cell){ .f = { .build = pass_on }, .n_state = 2, .state = two_sums,
                            .output = EDDY_SHAPE(COLUMNS) };
}

/* How often an element of y [ROWS, STEPS, COLUMNS] is 0; the others are `kept`. Whether steps and
 * rows have the same zeros is counted too. */
static double zeros_of(const eddy_array *y, double kept, bool *same_steps, bool *same_rows)
{
    int zeros = 0;
    *same_steps = *same_rows = true;
    for (int r = 0; r < ROWS; r++)
        for (int t = 0; t < STEPS; t++)
            for (int c = 0; c < COLUMNS; c++) {
                const double v = eddy_array_get(y, (r * STEPS + t) * COLUMNS + c);
                const bool   zero = v == 0;
                ck_assert_msg(zero || fabs(v - kept) < 1e-12, "%g", v);
                zeros += zero;
                *same_steps &= zero == (eddy_array_get(y, r * STEPS * COLUMNS + c) == 0);
                *same_rows &= zero == (eddy_array_get(y, t * COLUMNS + c) == 0);
            }
    return (double)zeros / (ROWS * STEPS * COLUMNS);
}

START_TEST(dropout)
{
    const bool  variational = _i & 1, of_output = _i & 2;
    bool        steps, rows;
    eddy_graph *g = eddy_graph_new(.seed = 3);
    eddy_tensor x = eddy_ones(g, F64, EDDY_SHAPE(ROWS, STEPS, COLUMNS)), state[2];
    eddy_tensor on = eddy_placeholder(g, "on", EDDY_BOOL, EDDY_SCALAR);
    eddy_rnn_cell cell =
        eddy_dropout_wrapper(g, passing(), of_output ? 1 : 0.6, of_output ? 0.6 : 1,
                             .variational_recurrent = variational, .training_when = on);
    eddy_tensor y = eddy_dynamic_rnn(cell, x, state);
    eddy_tensor dx = eddy_gradient(y, x);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[3] = { NULL }, *before = NULL;
    eddy_feeds    training = EDDY_FEED({ on, EDDY_NUMBER(EDDY_BOOL, 1) });
    for (int run = 0; run < 2; run++) {
        ck_assert_int_eq(eddy_run(s, training, EDDY_FETCH(y, dx, state[0]), out), EDDY_OK);
        const double zeros = zeros_of(out[0], 1 / 0.6, &steps, &rows);
        ck_assert_msg(fabs(zeros - 0.4) < (variational ? 0.35 : 0.03), "%g", zeros);
        ck_assert_int_eq(steps, variational);
        ck_assert_int_eq(rows, variational);
        ck_assert(eddy_array_equal(out[0], out[1]));     /* the gradient has the same masks */
        if (before) ck_assert(!eddy_array_equal(before, out[0]));
        eddy_array_free(before);
        before = out[0];
        out[0] = NULL;
    }
    eddy_array *plain_y = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ on, EDDY_NUMBER(EDDY_BOOL, 0) }), EDDY_FETCH(y),
                              &plain_y), EDDY_OK);
    ck_assert(zeros_of(plain_y, 1, &steps, &rows) == 0);
    eddy_array_free(plain_y);
    eddy_array_free(before);
    eddy_array_free(out[1]);
    eddy_array_free(out[2]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Of the state only what is no memory is dropped: with one step it is 0 or divided. Its dtype may
 * be written out. */
START_TEST(dropout_of_states)
{
    const bool           variational = _i % 2;
    const eddy_rnn_state typed[] = { { .shape = EDDY_SHAPE(COLUMNS), .dtype = F64 }, two_sums[1] };
    eddy_rnn_cell        inner = passing();
    bool                 steps, rows;
    if (_i / 2) inner.state = typed;
    eddy_graph *g = eddy_graph_new(.seed = 3);
    eddy_tensor x = eddy_ones(g, F64, EDDY_SHAPE(ROWS * STEPS, 1, COLUMNS)), state[2];
    eddy_rnn_cell cell = eddy_dropout_wrapper(g, inner, .state_keep_prob = 0.7,
                                              .variational_recurrent = variational,
                                              .training = true);
    eddy_dynamic_rnn(cell, x, state);
    eddy_array *h = layers_value(state[0], EDDY_FEED()), *c = layers_value(state[1], EDDY_FEED());
    const double zeros = zeros_of(h, 1 / 0.7, &steps, &rows);
    ck_assert_msg(fabs(zeros - 0.3) < (variational ? 0.3 : 0.03), "%g", zeros);
    ck_assert_int_eq(steps, variational);
    ck_assert(zeros_of(c, 1, &steps, &rows) == 0);
    eddy_array_free(h);
    eddy_array_free(c);
    eddy_graph_free(g);
}
END_TEST

Suite *rnn_cells_suite(void)
{
    Suite *suite = suite_create("rnn_cells");
    TCase *t = tcase_create("rnn_cells");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, lstm);
    tcase_add_loop_test(t, attends, 0, 8);
    tcase_add_test(t, empty_memory);
    tcase_add_loop_test(t, gradients, 0, 8);
    tcase_add_test(t, wrappers_are_what_they_are_made_of);
    tcase_add_loop_test(t, dropout, 0, 4);
    tcase_add_loop_test(t, dropout_of_states, 0, 4);
    suite_add_tcase(suite, t);
    return suite;
}
