/* test_rnn_weights.c -- weights in the layouts of PyTorch, TensorFlow and Keras give the outputs
 * that those libraries document: plain loops written from their formulas, on kernels as they
 * store them, are the reference. */
#include "build/gen/suites.h"
#include "layers/layers.h"
#include "tests/lib/checks.h"
#include "tests/lib/layer_checks.h"

#include <math.h>

enum { B = 2, T = 4, N = 3, H = 2, P = 1 };

/* Element k of an array that is filled with `a` (layer_checks.h). */
static double element(int k, int a) { return (double)((7 * k + a) % 11 - 5) / 8; }
static double sigmoid(double z) { return 1 / (1 + exp(-z)); }

enum { W_X = 1, W_H = 2, B_X = 3, B_H = 4, X = 5, W_P = 6 };    /* what tensors are filled with */

/* sum of w[row, i] v[i], w [rows, n] as PyTorch stores it */
static double rows(int a, int row, const double *v, int n)
{
    double z = 0;
    for (int i = 0; i < n; i++) z += element(row * n + i, a) * v[i];
    return z;
}

/* sum of v[i] w[first + i, column], w [.., columns] as TensorFlow and Keras store it */
static double column(int a, int columns, int first, int at, const double *v, int n)
{
    double z = 0;
    for (int i = 0; i < n; i++) z += element((first + i) * columns + at, a) * v[i];
    return z;
}

/* One step of each: h, and c of an LSTM, are replaced. */
typedef void step_fn(const double *x, double *h, double *c);

/* pytorch.org, torch.nn.LSTM: i, f, g, o = W_ii x + b_ii + W_hi h + b_hi, ...; proj_size = P. */
static void torch_lstm(const double *x, double *h, double *c)
{
    double z[4][H], m[H];
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < H; j++)
            z[k][j] = rows(W_X, k * H + j, x, N) + element(k * H + j, B_X) +
                      rows(W_H, k * H + j, h, P) + element(k * H + j, B_H);
    for (int j = 0; j < H; j++) {
        c[j] = sigmoid(z[1][j]) * c[j] + sigmoid(z[0][j]) * tanh(z[2][j]);
        m[j] = sigmoid(z[3][j]) * tanh(c[j]);
    }
    for (int p = 0; p < P; p++) h[p] = rows(W_P, p, m, H);
}

/* torch.nn.GRU: r, z; n = tanh(W_in x + b_in + r (W_hn h + b_hn)); h' = (1 - z) n + z h. */
static void torch_gru(const double *x, double *h, double *c)
{
    double next[H];
    (void)c;
    for (int j = 0; j < H; j++) {
        double of_x[3], of_h[3];
        for (int k = 0; k < 3; k++) {
            of_x[k] = rows(W_X, k * H + j, x, N) + element(k * H + j, B_X);
            of_h[k] = rows(W_H, k * H + j, h, H) + element(k * H + j, B_H);
        }
        const double r = sigmoid(of_x[0] + of_h[0]), z = sigmoid(of_x[1] + of_h[1]);
        next[j] = (1 - z) * tanh(of_x[2] + r * of_h[2]) + z * h[j];
    }
    memcpy(h, next, sizeof next);
}

/* torch.nn.RNN: h' = tanh(W_ih x + b_ih + W_hh h + b_hh). */
static void torch_rnn(const double *x, double *h, double *c)
{
    double next[H];
    (void)c;
    for (int j = 0; j < H; j++)
        next[j] = tanh(rows(W_X, j, x, N) + element(j, B_X) + rows(W_H, j, h, H) + element(j, B_H));
    memcpy(h, next, sizeof next);
}

/* tf.nn.rnn_cell.LSTMCell: i, j, f, o = [x, h] kernel + bias; forget_bias is 1. */
static void tf_lstm(const double *x, double *h, double *c)
{
    double z[4][H];
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < H; j++)
            z[k][j] = column(W_X, 4 * H, 0, k * H + j, x, N) +
                      column(W_X, 4 * H, N, k * H + j, h, H) + element(k * H + j, B_X);
    for (int j = 0; j < H; j++) {
        c[j] = sigmoid(z[2][j] + 1) * c[j] + sigmoid(z[0][j]) * tanh(z[1][j]);
        h[j] = sigmoid(z[3][j]) * tanh(c[j]);
    }
}

/* tf.nn.rnn_cell.GRUCell: r, u; c = tanh([x, r h] kernel + bias); h' = u h + (1 - u) c. */
static void tf_gru(const double *x, double *h, double *c)
{
    double ru[2 * H], reset[H];
    (void)c;
    for (int k = 0; k < 2 * H; k++)
        ru[k] = sigmoid(column(W_X, 2 * H, 0, k, x, N) + column(W_X, 2 * H, N, k, h, H) +
                        element(k, B_X));
    for (int j = 0; j < H; j++) reset[j] = ru[j] * h[j];
    for (int j = 0; j < H; j++) {
        const double new = tanh(column(W_H, H, 0, j, x, N) + column(W_H, H, N, j, reset, H) +
                                element(j, B_H));
        h[j] = ru[H + j] * h[j] + (1 - ru[H + j]) * new;
    }
}

/* keras.layers.LSTM: i, f, c, o. */
static void keras_lstm(const double *x, double *h, double *c)
{
    double z[4][H];
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < H; j++)
            z[k][j] = column(W_X, 4 * H, 0, k * H + j, x, N) +
                      column(W_H, 4 * H, 0, k * H + j, h, H) + element(k * H + j, B_X);
    for (int j = 0; j < H; j++) {
        c[j] = sigmoid(z[1][j]) * c[j] + sigmoid(z[0][j]) * tanh(z[2][j]);
        h[j] = sigmoid(z[3][j]) * tanh(c[j]);
    }
}

/* keras.layers.GRU(reset_after=True): z, r, h, with a bias [2, 3 H]. */
static void keras_gru(const double *x, double *h, double *c)
{
    double next[H];
    (void)c;
    for (int j = 0; j < H; j++) {
        double of_x[3], of_h[3];
        for (int k = 0; k < 3; k++) {
            of_x[k] = column(W_X, 3 * H, 0, k * H + j, x, N) + element(k * H + j, B_X);
            of_h[k] = column(W_H, 3 * H, 0, k * H + j, h, H) + element(3 * H + k * H + j, B_X);
        }
        const double z = sigmoid(of_x[0] + of_h[0]), r = sigmoid(of_x[1] + of_h[1]);
        next[j] = z * h[j] + (1 - z) * tanh(of_x[2] + r * of_h[2]);
    }
    memcpy(h, next, sizeof next);
}

/* keras.layers.GRU(reset_after=False): the reset before the product, one bias. */
static void keras_gru_before(const double *x, double *h, double *c)
{
    double z[H], reset[H];
    (void)c;
    for (int j = 0; j < H; j++) {
        z[j] = sigmoid(column(W_X, 3 * H, 0, j, x, N) + column(W_H, 3 * H, 0, j, h, H) +
                       element(j, B_X));
        reset[j] = h[j] * sigmoid(column(W_X, 3 * H, 0, H + j, x, N) +
                                  column(W_H, 3 * H, 0, H + j, h, H) + element(H + j, B_X));
    }
    for (int j = 0; j < H; j++)
        h[j] = z[j] * h[j] + (1 - z[j]) * tanh(column(W_X, 3 * H, 0, 2 * H + j, x, N) +
                                               column(W_H, 3 * H, 0, 2 * H + j, reset, H) +
                                               element(2 * H + j, B_X));
}

/* keras.layers.SimpleRNN without a bias. */
static void keras_rnn(const double *x, double *h, double *c)
{
    double next[H];
    (void)c;
    for (int j = 0; j < H; j++)
        next[j] = tanh(column(W_X, H, 0, j, x, N) + column(W_H, H, 0, j, h, H));
    memcpy(h, next, sizeof next);
}

/* Shapes of the weights, rank 0 for those that there are not; W_H of TensorFlow's GRU is its
 * candidate/kernel, B_H the bias of that. */
typedef struct layout_row {
    step_fn        *step;
    eddy_cell_kind  kind;
    eddy_rnn_layout layout;
    bool            reset_after;
    int64_t         columns;                /* of h; 0: H */
    eddy_shape      w_x, w_h, b_x, b_h, w_p;
} layout_row;

#define S(...) { .rank = sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), .dim = { __VA_ARGS__ } }
static const layout_row table[] = {
    { .step = torch_lstm, .kind = EDDY_LSTM_CELL, .layout = EDDY_TORCH_LAYOUT, .columns = P,
      .w_x = S(4 * H, N), .w_h = S(4 * H, P), .b_x = S(4 * H), .b_h = S(4 * H), .w_p = S(P, H) },
    { .step = torch_gru, .kind = EDDY_GRU_CELL, .layout = EDDY_TORCH_LAYOUT, .reset_after = true,
      .w_x = S(3 * H, N), .w_h = S(3 * H, H), .b_x = S(3 * H), .b_h = S(3 * H) },
    { .step = torch_rnn, .kind = EDDY_BASIC_RNN_CELL, .layout = EDDY_TORCH_LAYOUT,
      .w_x = S(H, N), .w_h = S(H, H), .b_x = S(H), .b_h = S(H) },
    { .step = tf_lstm, .kind = EDDY_LSTM_CELL, .layout = EDDY_TENSORFLOW_LAYOUT,
      .w_x = S(N + H, 4 * H), .b_x = S(4 * H) },
    { .step = tf_gru, .kind = EDDY_GRU_CELL, .layout = EDDY_TENSORFLOW_LAYOUT,
      .w_x = S(N + H, 2 * H), .w_h = S(N + H, H), .b_x = S(2 * H), .b_h = S(H) },
    { .step = keras_lstm, .kind = EDDY_LSTM_CELL, .layout = EDDY_KERAS_LAYOUT,
      .w_x = S(N, 4 * H), .w_h = S(H, 4 * H), .b_x = S(4 * H) },
    { .step = keras_gru, .kind = EDDY_GRU_CELL, .layout = EDDY_KERAS_LAYOUT, .reset_after = true,
      .w_x = S(N, 3 * H), .w_h = S(H, 3 * H), .b_x = S(2, 3 * H) },
    { .step = keras_gru_before, .kind = EDDY_GRU_CELL, .layout = EDDY_KERAS_LAYOUT,
      .w_x = S(N, 3 * H), .w_h = S(H, 3 * H), .b_x = S(3 * H) },
    { .step = keras_rnn, .kind = EDDY_BASIC_RNN_CELL, .layout = EDDY_KERAS_LAYOUT,
      .w_x = S(N, H), .w_h = S(H, H) },
};
enum { LAYOUTS = sizeof table / sizeof *table };

static eddy_tensor weight(eddy_graph *g, eddy_shape s, int a)
{
    return s.rank > 0 ? layers_filled(g, s, a) : EDDY_NO_TENSOR;
}

static eddy_rnn_weights converted(eddy_graph *g, const layout_row *r)
{
    const bool candidate = r->kind == EDDY_GRU_CELL && r->layout == EDDY_TENSORFLOW_LAYOUT;
    const eddy_tensor none = EDDY_NO_TENSOR, w_h = weight(g, r->w_h, W_H);
    const eddy_tensor b_h = weight(g, r->b_h, B_H);
    return eddy_convert_rnn_weights(
        r->kind, r->layout, weight(g, r->w_x, W_X), candidate ? none : w_h,
        weight(g, r->b_x, B_X), candidate ? none : b_h, weight(g, r->w_p, W_P),
        candidate ? w_h : none, candidate ? b_h : none);
}

static eddy_rnn_cell cell_for(eddy_graph *g, const layout_row *r)
{
    switch (r->kind) {
    case EDDY_BASIC_RNN_CELL: return eddy_basic_rnn_cell(g, H, "cell");
    case EDDY_LSTM_CELL: return eddy_lstm_cell(g, H, "cell", .num_proj = r->columns);
    case EDDY_GRU_CELL: break;
    }
    return eddy_gru_cell(g, H, "cell", .reset_after = r->reset_after);
}

START_TEST(layouts)
{
    const layout_row *r = &table[_i];
    const int         n = r->columns ? (int)r->columns : H;
    double            y[B * T * H], x[N];
    eddy_graph       *g = eddy_graph_new();
    for (int b = 0; b < B; b++) {
        double h[H] = { 0 }, c[H] = { 0 };
        for (int t = 0; t < T; t++) {
            for (int i = 0; i < N; i++) x[i] = element((b * T + t) * N + i, X);
            r->step(x, h, c);
            for (int j = 0; j < n; j++) y[(b * T + t) * n + j] = h[j];
        }
    }
    eddy_tensor in = layers_filled(g, EDDY_SHAPE(B, T, N), X);
    eddy_tensor out = eddy_dynamic_rnn(cell_for(g, r), in);
    eddy_tensor load = eddy_assign_rnn_weights(g, "rnn/cell", converted(g, r));
    fits(g);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    runs(s, load);
    eddy_array *got = eddy_fetch(s, out);
    ck_assert_msg(got != NULL, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(got), B * T * n);
    for (int k = 0; k < B * T * n; k++)
        ck_assert_msg(fabs(eddy_array_get(got, k) - y[k]) < 1e-12, "element %d is %.17g, not %.17g",
                      k, eddy_array_get(got, k), y[k]);
    eddy_array_free(got);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(refusals)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor w = layers_filled(g, EDDY_SHAPE(4, 3), 1);
    eddy_convert_rnn_weights(EDDY_LSTM_CELL, 0, w, w);
    fails(g, EDDY_INVALID_ARGUMENT, "rnn_weights: unknown cell kind 2 or layout 0");
    eddy_convert_rnn_weights(EDDY_LSTM_CELL, EDDY_TORCH_LAYOUT, w);
    fails(g, EDDY_INVALID_ARGUMENT, "rnn_weights: recurrent_kernel is missing");
    eddy_convert_rnn_weights(EDDY_GRU_CELL, EDDY_TENSORFLOW_LAYOUT, w);
    fails(g, EDDY_INVALID_ARGUMENT, "rnn_weights: candidate_kernel is missing");
    eddy_convert_rnn_weights(EDDY_GRU_CELL, EDDY_TORCH_LAYOUT, w, w);
    fails(g, EDDY_BAD_SHAPE, "Split");
    eddy_assign_rnn_weights(g, "rnn", (eddy_rnn_weights){ .kernel = w });
    fails(g, EDDY_NOT_FOUND, "rnn_weights: there is no variable 'rnn/kernel'");
    eddy_assign_rnn_weights(g, "rnn", (eddy_rnn_weights){ .recurrent_bias = w });
    fails(g, EDDY_INVALID_ARGUMENT, "rnn_weights: there are no weights");
    ck_assert(!eddy_is_valid(eddy_convert_rnn_weights(EDDY_LSTM_CELL, EDDY_TORCH_LAYOUT).kernel));
    eddy_graph_free(g);
}
END_TEST

Suite *rnn_weights_suite(void)
{
    Suite *suite = suite_create("rnn_weights");
    TCase *t = tcase_create("rnn_weights");
    tcase_add_loop_test(t, layouts, 0, LAYOUTS);
    tcase_add_test(t, refusals);
    suite_add_tcase(suite, t);
    return suite;
}
