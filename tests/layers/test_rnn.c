/* test_rnn.c -- recurrent networks over any cell: loops against unrolled steps, eddy_lstm and
 * plain C; derivatives; lengths; cells of users. */
#include "build/gen/suites.h"
#include "layers/rnn.h"
#include "tests/lib/checks.h"
#include "tests/lib/layer_checks.h"

#include <math.h>

enum { N = 3, H = 4 };

/* ------------------------------------------------------- three ways, one network -- */

typedef struct way {
    eddy_tensor y, state[2], dx, dw, d2x;
} way;

/* A loss that every output and state has a part in, and its derivatives to the second order. */
static void differentiate(way *w, int n_state, eddy_tensor x, eddy_tensor kernel)
{
    eddy_tensor loss = Sum(Add(Square(w->y), Mul(0.3, w->y)));
    for (int k = 0; k < n_state; k++) loss = Add(loss, Sum(Mul(0.5 + k, Square(w->state[k]))));
    w->dx = eddy_gradient(loss, x);
    w->dw = eddy_gradient(loss, kernel);
    w->d2x = eddy_gradient(Add(Sum(Square(w->dx)), Sum(Square(w->dw))), x);
}

static eddy_array *numbers_of(eddy_dtype dtype, eddy_shape s)
{
    eddy_array *x = eddy_array_new(dtype, s);
    ck_assert_ptr_nonnull(x);
    for (int64_t k = 0; k < eddy_array_count(x); k++)
        eddy_array_set(x, k, sin(1 + 2.7 * (double)k));
    return x;
}

static void alike(const eddy_array *a, const eddy_array *b, double tolerance, const char *what)
{
    double largest = 1;
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        largest = fmax(largest, fabs(eddy_array_get(b, i)));
    for (int64_t i = 0; i < eddy_array_count(a); i++) {
        const double u = eddy_array_get(a, i), v = eddy_array_get(b, i);
        ck_assert_msg(fabs(u - v) <= tolerance * largest, "%s: element %d is %.17g and %.17g",
                      what, (int)i, u, v);
    }
}

static void same_ways(eddy_session *s, eddy_feeds feeds, const way *a, const way *b, int n_state,
                      double tolerance)
{
    static const char *const what[] = { "outputs", "dx", "dw", "d2x", "state", "state" };
    const eddy_tensor ta[] = { a->y, a->dx, a->dw, a->d2x, a->state[0], a->state[1] };
    const eddy_tensor tb[] = { b->y, b->dx, b->dw, b->d2x, b->state[0], b->state[1] };
    for (int k = 0; k < 4 + n_state; k++) {
        eddy_array *out[2] = { NULL };
        ck_assert_msg(eddy_run(s, feeds, EDDY_FETCH(ta[k], tb[k]), out) == EDDY_OK, "%s",
                      eddy_session_message(s));
        alike(out[0], out[1], tolerance, what[k]);
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
    }
}

/* Of no steps: outputs without elements, a state of zeros, no gradient. */
static void empty(eddy_session *s, eddy_feeds feeds, const way *w, int n_state)
{
    for (int k = 0; k < n_state + 2; k++) {
        const eddy_tensor t = k == 0 ? w->y : k == 1 ? w->dw : w->state[k - 2];
        eddy_array       *out = NULL;
        ck_assert_int_eq(eddy_run(s, feeds, EDDY_FETCH(t), &out), EDDY_OK);
        ck_assert_int_eq(eddy_array_count(out) == 0, k == 0);
        for (int64_t i = 0; i < eddy_array_count(out); i++) ck_assert(eddy_array_get(out, i) == 0);
        eddy_array_free(out);
    }
}

static eddy_rnn_cell cell_of(eddy_graph *g, eddy_cell_kind kind, bool reset_after)
{
    switch (kind) {
    case EDDY_BASIC_RNN_CELL: return eddy_basic_rnn_cell(g, H, .seed = 5);
    case EDDY_LSTM_CELL: return eddy_lstm_cell(g, H, .seed = 5);
    case EDDY_GRU_CELL: break;
    }
    return eddy_gru_cell(g, H, .reset_after = reset_after, .seed = 5);
}

static eddy_tensor unrolled(eddy_rnn_cell cell, eddy_tensor x, int steps, eddy_tensor lengths,
                            eddy_tensor *state)
{
    eddy_tensor in[8], out[8];
    char        at[16];
    for (int t = 0; t < steps; t++) {
        snprintf(at, sizeof at, ":, %d", t);
        in[t] = eddy_index(x, at);
    }
    ck_assert_int_eq(eddy_static_rnn(cell, ((eddy_list){ steps, in }), out, state, lengths), steps);
    return eddy_stack((eddy_list){ steps, out }, 1);
}

static void initialize(eddy_session *s, eddy_graph *g)
{
    eddy_tensor init = eddy_initializer(g);
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL) == EDDY_OK, "%s",
                  eddy_session_message(s));
}

/* The loop, the unrolled network and eddy_rnn, which runs an LSTM as one operation, with batch and
 * steps unknown while building, and lengths that are ragged or all steps. */
static void compare(eddy_cell_kind kind, bool reset_after, eddy_dtype dtype, int steps, bool ragged)
{
    enum { B = 5 };
    const double       tolerance = dtype == EDDY_FLOAT64 ? 1e-10 : 1e-5;
    const int          n_state = kind == EDDY_LSTM_CELL ? 2 : 1;
    const eddy_tensor  none = EDDY_NO_TENSOR;
    eddy_graph        *g = eddy_graph_new(.seed = 3);
    eddy_tensor x = eddy_placeholder(g, "x", dtype, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, N));
    eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor lengths = ragged ? n : none;
    eddy_rnn_cell cell = cell_of(g, kind, reset_after);
    way           loop = { .y = none }, flat = loop, packed = loop;
    loop.y = eddy_dynamic_rnn(cell, x, loop.state, lengths);
    layers_fit(loop.y, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, H), NULL);
    layers_fit(loop.state[0], EDDY_SHAPE(EDDY_ANY, H), NULL);
    if (steps > 0) {
        /* the second derivative of the one operation needs to know the number of steps */
        const bool      packs = kind == EDDY_LSTM_CELL;
        eddy_tensor     known = packs ? eddy_set_shape(x, EDDY_SHAPE(EDDY_ANY, steps, N)) : x;
        eddy_rnn_result r = eddy_rnn(known, EDDY_CELL(kind, H, .reset_after = reset_after), "other",
                                     lengths, .reuse = "rnn");
        packed = (way){ .y = r.outputs, .state = { r.h, r.c } };
        flat.y = unrolled(cell, x, steps, lengths, flat.state);
    }
    fits(g);

    eddy_tensor kernel = eddy_graph_operation(
        g, kind == EDDY_GRU_CELL ? "rnn/gru_cell/gates/kernel" : kind == EDDY_LSTM_CELL
               ? "rnn/lstm_cell/kernel" : "rnn/basic_rnn_cell/kernel");
    differentiate(&loop, n_state, x, kernel);
    if (steps > 0) {
        differentiate(&packed, n_state, x, kernel);
        differentiate(&flat, n_state, x, kernel);
    }
    fits(g);

    int32_t of[B];
    for (int i = 0; i < B; i++) of[i] = i * steps / (B - 1);
    eddy_array   *in = numbers_of(dtype, EDDY_SHAPE(B, steps, N));
    eddy_session *s = eddy_session_new(g);
    eddy_feeds    feeds = EDDY_FEED({ x, in }, { n, EDDY_VIEW(of, B) });
    if (!ragged) feeds.count = 1;
    initialize(s, g);
    same_ways(s, feeds, &loop, steps > 0 ? &packed : &loop, n_state, tolerance);
    if (steps > 0) same_ways(s, feeds, &loop, &flat, n_state, tolerance);
    else empty(s, feeds, &loop, n_state);
    eddy_session_free(s);
    eddy_array_free(in);
    eddy_graph_free(g);
}

START_TEST(three_ways)
{
    static const struct {
        eddy_cell_kind kind;
        bool           reset_after;
    } cells[] = { { EDDY_BASIC_RNN_CELL, false }, { EDDY_LSTM_CELL, false },
                  { EDDY_GRU_CELL, false }, { EDDY_GRU_CELL, true } };
    static const int steps[] = { 0, 1, 2, 7 };
    for (int k = 0; k < 4; k++)
        for (int ragged = 0; ragged < 2; ragged++)
            compare(cells[_i % 4].kind, cells[_i % 4].reset_after,
                    _i < 4 ? EDDY_FLOAT64 : EDDY_FLOAT32, steps[k], ragged);
}
END_TEST

/* ------------------------------------------------------------------- lengths -- */

static int32_t some_lengths[4] = { 0, 3, 1, 2 };

/* tf: testDynamicCalculation -- h' = h + x, so that the state is a sum. */
static int sum_step(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = y[1] = Add(x.at[0], x.at[1]);
    return 2;
}

/* Behind the end of a sequence there may be anything, and its gradient is 0. */
START_TEST(padding)
{
    enum { B = 4, T = 3 };
    const eddy_rnn_state one = { .shape = EDDY_SHAPE(1) };
    const eddy_rnn_cell  cell = { .f = { .build = sum_step, .name = "sums" }, .n_state = 1,
                                  .state = &one, .output = EDDY_SHAPE(1) };
    const bool  back = _i == 1;
    double      in[B][T], y[B][T] = { { 0 } }, last[B] = { 0 }, dx[B][T] = { { 0 } };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(T, EDDY_ANY, 1)), h;
    eddy_tensor n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(B), some_lengths);
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) in[b][t] = t < some_lengths[b] ? 10 * b + t + 1.0 : (double)NAN;
    for (int b = 0; b < B; b++) {
        for (int i = 0; i < some_lengths[b]; i++) {
            const int t = back ? some_lengths[b] - 1 - i : i;
            y[b][t] = last[b] += in[b][t];
        }
        for (int t = 0; t < some_lengths[b]; t++)
            dx[b][t] = back ? t + 1 : some_lengths[b] - t;
    }
    eddy_tensor out = eddy_dynamic_rnn(cell, x, &h, n, .time_major = true, .go_backwards = back);
    fits(g);
    double major[3][T * B];
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) {
            major[0][t * B + b] = in[b][t];
            major[1][t * B + b] = y[b][t];
            major[2][t * B + b] = dx[b][t];
        }
    eddy_array *fed = eddy_array_borrow(EDDY_FLOAT64, EDDY_SHAPE(T, B, 1), major[0]);
    layers_close(out, EDDY_FEED({ x, fed }), T * B, major[1]);
    layers_close(h, EDDY_FEED({ x, fed }), B, last);
    layers_close(eddy_gradient(out, x), EDDY_FEED({ x, fed }), T * B, major[2]);
    eddy_array_free(fed);
    eddy_graph_free(g);
}
END_TEST

/* Groups by length give what one group gives, also where there are fewer sequences than groups. */
START_TEST(groups_by_length)
{
    enum { T = 5, MOST = 7 };
    const bool    back = _i & 1, major = _i & 2;
    eddy_graph   *g = eddy_graph_new(.seed = 2);
    eddy_rnn_cell cell = eddy_lstm_cell(g, H);
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, major ? EDDY_SHAPE(T, EDDY_ANY, N)
                                                                   : EDDY_SHAPE(EDDY_ANY, T, N));
    eddy_tensor   c = eddy_placeholder(g, "c", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, H)), vars[4];
    eddy_tensor   n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_list first = _i < 4 ? (eddy_list){ 0 } : EDDY_LIST(c, Neg(c));
    way           one, many;
    one.y = eddy_dynamic_rnn(cell, x, one.state, n, first, .time_major = major,
                             .go_backwards = back);
    many.y = eddy_dynamic_rnn(cell, x, many.state, n, first, .time_major = major,
                              .go_backwards = back, .length_groups = 3);
    ck_assert_int_ge(eddy_collection_get(g, EDDY_TRAINABLE_VARIABLES, NULL, vars, 4), 1);
    differentiate(&one, 2, x, vars[0]);
    differentiate(&many, 2, x, vars[0]);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    for (int b = 1; b <= MOST; b += 2) {
        const eddy_shape shape = major ? EDDY_SHAPE(T, b, N) : EDDY_SHAPE(b, T, N);
        eddy_array *in = numbers_of(EDDY_FLOAT64, shape);
        eddy_array *state = numbers_of(EDDY_FLOAT64, EDDY_SHAPE(b, H));
        eddy_array *lengths = eddy_array_new(EDDY_INT32, EDDY_SHAPE(b));
        for (int k = 0; k < b; k++) eddy_array_set(lengths, k, (3 * k + 4) % (T + 1));
        same_ways(s, EDDY_FEED({ x, in }, { n, lengths }, { c, state }), &many, &one, 2, 1e-12);
        eddy_array_free(in);
        eddy_array_free(state);
        eddy_array_free(lengths);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* tf: testBidirectionalRNN -- the same as eddy_bidirectional_rnn, which reverses sequences. */
START_TEST(both_directions)
{
    enum { B = 4, T = 3 };
    eddy_graph *g = eddy_graph_new(.seed = 2);
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, N));
    eddy_tensor n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(B), some_lengths), fw[2], bw[2];
    eddy_bidirectional_rnn_result want = eddy_bidirectional_rnn(
        x, EDDY_CELL(EDDY_LSTM_CELL, H), .sequence_length = n, .seed = 4);
    eddy_rnn_outputs y = eddy_bidirectional_dynamic_rnn(
        eddy_lstm_cell(g, H, .reuse = "bidirectional_rnn/fw/lstm_cell"),
        eddy_lstm_cell(g, H, .reuse = "bidirectional_rnn/bw/lstm_cell"), x, fw, bw, n);
    fits(g);
    const eddy_tensor pairs[][2] = {
        { y.fw, want.fw.outputs }, { y.bw, want.bw.outputs }, { fw[0], want.fw.h },
        { fw[1], want.fw.c }, { bw[0], want.bw.h }, { bw[1], want.bw.c },
    };
    eddy_array   *in = numbers_of(EDDY_FLOAT64, EDDY_SHAPE(B, T, N));
    eddy_session *s = eddy_session_new(g);
    initialize(s, g);
    for (int k = 0; k < 6; k++) {
        eddy_array *out[2] = { NULL };
        ck_assert_msg(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(pairs[k][0], pairs[k][1]), out)
                      == EDDY_OK, "%s", eddy_session_message(s));
        alike(out[0], out[1], 1e-12, "both directions");
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
    }
    eddy_session_free(s);
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* A state that is given, and the first state of a cell. */
START_TEST(initial_states)
{
    const eddy_rnn_state states[] = { { .shape = EDDY_SHAPE(2) }, { .dtype = EDDY_INT32 } };
    const eddy_rnn_cell  cell = { .f = { .build = sum_step }, .n_state = 2, .state = states,
                                  .output = EDDY_SHAPE(2) };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 2)), zero[2];
    ck_assert_int_eq(eddy_zero_state(cell, x, zero), 2);
    layers_fit(zero[0], EDDY_SHAPE(EDDY_ANY, 2), NULL);
    layers_fit(zero[1], EDDY_SHAPE(EDDY_ANY), NULL);
    ck_assert_int_eq(eddy_dtype_of(zero[1]), EDDY_INT32);
    eddy_array *in = numbers_of(EDDY_FLOAT64, EDDY_SHAPE(3, 2));
    layers_close(zero[0], EDDY_FEED({ x, in }), 6, (double[6]){ 0 });
    layers_close(zero[1], EDDY_FEED({ x, in }), 3, (double[3]){ 0 });
    eddy_rnn_cell one = cell;
    one.n_state = 1;
    eddy_tensor h0 = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(1, 2), (double[]){ 100, 200 }), h;
    eddy_tensor v = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(1, 2, 2), (double[]){ 1, 2, 3, 4 });
    eddy_tensor y = eddy_dynamic_rnn(one, v, &h, .initial_state = EDDY_LIST(h0));
    layers_close(y, EDDY_FEED(), 4, (double[]){ 101, 202, 104, 206 });
    layers_close(h, EDDY_FEED(), 2, (double[]){ 104, 206 });
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------ cells of users -- */

/* Counts the steps and reads ids: the row of a table, decayed. */
static int reader(eddy_list x, eddy_tensor *y, void *table)
{
    y[0] = y[1] = Add(Mul(0.5, x.at[1]), Gather(*(eddy_tensor *)table, x.at[0]));
    y[2] = Add(x.at[2], 1);
    return 3;
}

START_TEST(user_cell)
{
    enum { B = 2, T = 3 };
    const eddy_rnn_state states[] = { { .shape = EDDY_SHAPE(2), .dtype = EDDY_FLOAT64 },
                                      { .dtype = EDDY_INT32 } };
    const double  rows[] = { 1, 2, 4, 8, 16, 32 };
    const int32_t ids[] = { 2, 0, 1, 1, 999, -7 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   table = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(3, 2), rows), state[2];
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(B, _i ? EDDY_ANY : T));
    eddy_array   *in = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(B, T), ids);
    eddy_tensor   n = eddy_const(g, EDDY_INT64, EDDY_SHAPE(B), (int64_t[]){ 3, 1 });
    eddy_rnn_cell cell = { .f = { .build = reader, .context = &table, .name = "reader" },
                           .n_state = 2, .state = states, .output = EDDY_SHAPE(2) };
    eddy_tensor   y = eddy_dynamic_rnn(cell, x, state, n);
    layers_close(y, EDDY_FEED({ x, in }), B * T * 2,
                 (double[]){ 16, 32, 9, 18, 8.5, 17, 4, 8, 0, 0, 0, 0 });
    layers_close(state[0], EDDY_FEED({ x, in }), B * 2, (double[]){ 8.5, 17, 4, 8 });
    layers_close(state[1], EDDY_FEED({ x, in }), B, (double[]){ 3, 1 });
    layers_close(eddy_gradient(state[0], table), EDDY_FEED({ x, in }), 6,
                 (double[]){ 0.5, 0.5, 2, 2, 0.25, 0.25 });
    eddy_tensor step[2];
    eddy_tensor once = eddy_rnn_step(cell, eddy_index(x, ":, 0"), state, step);
    layers_close(once, EDDY_FEED({ x, in }), B * 2, (double[]){ 20.25, 40.5, 6, 12 });
    layers_close(step[1], EDDY_FEED({ x, in }), B, (double[]){ 4, 2 });
    eddy_array_free(in);
    eddy_graph_free(g);
}
END_TEST

/* A graph file holds the network with its loop, and a length decides in each run anew. */
START_TEST(new_sizes_in_each_run)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, 1)), h;
    const eddy_rnn_state one = { .shape = EDDY_SHAPE(1) };
    const eddy_rnn_cell  cell = { .f = { .build = sum_step, .name = "sums" }, .n_state = 1,
                                  .state = &one, .output = EDDY_SHAPE(1) };
    eddy_dynamic_rnn(cell, x, &h);
    eddy_session *s = eddy_session_new(g);
    for (int batch = 1; batch < 4; batch++)
        for (int steps = 0; steps < 5; steps++) {
            eddy_array *in = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(batch, steps, 1)), *out = NULL;
            for (int k = 0; k < batch * steps; k++) eddy_array_set(in, k, 1);
            ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(h), &out), EDDY_OK);
            ck_assert_int_eq(eddy_array_count(out), batch);
            for (int b = 0; b < batch; b++) ck_assert(eddy_array_get(out, b) == steps);
            eddy_array_free(in);
            eddy_array_free(out);
        }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* The kinds of networks that take the lengths n of the sequences x. */
static eddy_tensor network_of(int kind, eddy_graph *g, eddy_tensor x, eddy_tensor n)
{
    if (kind < 2)
        return eddy_dynamic_rnn(eddy_gru_cell(g, 2), x, .sequence_length = n,
                                .length_groups = 1 + kind, .name = "net");
    if (kind == 2)
        return eddy_rnn(x, EDDY_CELL(EDDY_LSTM_CELL, 2), .sequence_length = n, .name = "net")
            .outputs;
    if (kind == 3) return unrolled(eddy_gru_cell(g, 2), x, 4, n, NULL);
    if (kind == 4) return eddy_multi_head_attention(x, .heads = 1, .lengths = n, .name = "net");
    if (kind == 5)
        return eddy_attention_alignments(
            eddy_luong_attention(2, x, .memory_sequence_length = n, .name = "net"),
            eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(1, 2), (float[]){ 1, 2 }));
    eddy_attention_cache cache = eddy_attention_cache_new(x, 9, n);
    eddy_position_layer(x, 9, .cache = &cache);
    return cache.at[0];
}

/* Lengths for another batch than the inputs are an error of the run: with and without groups, of
 * the layer, of unrolled steps, in attention, of a memory, and in a cache. */
START_TEST(lengths_of_another_batch)
{
    static const char *const place[] = {
        "net/sequence_length", "net/sequence_length", "net/sequence_length", "rnn/sequence_length",
        "net/lengths", "net/memory_sequence_length", "attention_cache/lengths"
    };
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, 3));
    eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor y = network_of(_i, g, x, n);
    char        node[80];
    snprintf(node, sizeof node, "[node '%s']", place[_i]);
    const float   zeros[2 * 4 * 3] = { 0 };
    const int32_t lengths[] = { 4, 2, 1 };
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL), EDDY_OK);
    for (int k = 1; k <= 3; k++) {
        eddy_array *got = eddy_fetch(s, y, EDDY_FEED({ x, EDDY_VIEW(zeros, 2, 4, 3) },
                                                     { n, EDDY_VIEW(lengths, k) }));
        ck_assert_msg((got != NULL) == (k == 2), "%d lengths: %s", k, eddy_session_message(s));
        if (k != 2) {
            ck_assert_int_eq(eddy_session_status(s), EDDY_BAD_SHAPE);
            ck_assert_msg(strstr(eddy_session_message(s), node), "%s", eddy_session_message(s));
        }
        eddy_array_free(got);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *rnn_suite(void)
{
    Suite *suite = suite_create("rnn");
    TCase *t = tcase_create("rnn");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, three_ways, 0, 8);
    tcase_add_loop_test(t, padding, 0, 2);
    tcase_add_loop_test(t, groups_by_length, 0, 8);
    tcase_add_test(t, both_directions);
    tcase_add_test(t, initial_states);
    tcase_add_loop_test(t, user_cell, 0, 2);
    tcase_add_test(t, new_sizes_in_each_run);
    tcase_add_loop_test(t, lengths_of_another_batch, 0, 7);
    suite_add_tcase(suite, t);
    return suite;
}
