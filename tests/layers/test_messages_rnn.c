/* test_messages_rnn.c -- messages of recurrent networks and beam search. */
#include "build/gen/suites.h"
#include "layers/beam_search.h"
#include "layers/layers.h"
#include "layers/rnn_cells.h"
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/files/memory_files.h"

#include <math.h>

static eddy_tensor given(eddy_shape s) { return eddy_placeholder(g, NULL, EDDY_FLOAT32, s); }

/* Results that do not fit, by the number in the context. */
static int wrong(eddy_list x, eddy_tensor *y, void *context)
{
    const int how = *(int *)context;
    y[0] = x.at[0];
    y[1] = how == 1 ? Cast(x.at[1], EDDY_INT32) : how == 2 ? Sum(x.at[1]) : x.at[1];
    if (how == 3) y[0] = EDDY_NO_TENSOR;
    return how == 0 ? 1 : 2;
}

static const eddy_rnn_state one = { .shape = { .rank = 1, .dim = { 4 } } };
static const eddy_rnn_state open = { .shape = { .rank = 1, .dim = { EDDY_ANY } } };
static const eddy_rnn_state deep = { .shape = { .rank = 100 } };

static eddy_rnn_cell wrong_cell(int *how)
{
    return (eddy_rnn_cell){ .f = { .build = wrong, .context = how, .name = "wrong" }, .n_state = 1,
                            .state = &one, .output = EDDY_SHAPE(4) };
}

static void check_cells(eddy_tensor x)
{
    int           how[] = { 0, 1, 2, 3, 4 };
    eddy_rnn_cell cell = { .f = { .name = "empty" } };
    eddy_tensor   state[1] = { EDDY_NO_TENSOR }, h;
    eddy_dynamic_rnn(cell, x), golden_graph(g);
    cell = wrong_cell(how + 4);
    cell.n_state = 61;
    eddy_dynamic_rnn(cell, x), golden_graph(g);
    cell = wrong_cell(how + 4);
    cell.state = NULL;
    eddy_dynamic_rnn(cell, x), golden_graph(g);
    cell.state = &open;
    eddy_dynamic_rnn(cell, x), golden_graph(g);
    cell.state = &deep;
    eddy_dynamic_rnn(cell, x), golden_graph(g);
    for (int k = 0; k < 4; k++) eddy_dynamic_rnn(wrong_cell(how + k), x), golden_graph(g);
    cell = wrong_cell(how + 4);
    eddy_dynamic_rnn(cell, x, .length_groups = 0), golden_graph(g);
    eddy_dynamic_rnn(cell, x, .length_groups = 3), golden_graph(g);
    eddy_rnn_step(cell, given(EDDY_SHAPE(2, 4)), state, state), golden_graph(g);
    state[0] = given(EDDY_SHAPE(2, 4));
    eddy_rnn_step(cell, state[0], state, NULL), golden_graph(g);
    eddy_zero_state(cell, x, NULL), golden_graph(g);
    eddy_zero_state(cell, given(EDDY_UNKNOWN_SHAPE), &h), golden_graph(g);
}

/* Every call that takes lengths: of the other dtype, number, rank, graph. */
static void check_lengths(eddy_rnn_cell cell, eddy_tensor x, eddy_graph *other)
{
    const eddy_cell   gru = EDDY_CELL(EDDY_GRU_CELL, 2);
    const eddy_tensor long_x = given(EDDY_SHAPE(2, EDDY_ANY, 4));
    const eddy_tensor step = given(EDDY_SHAPE(2, 4));
    const eddy_tensor n[] = {
        given(EDDY_SHAPE(2)), eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(3)),
        eddy_zeros(g, EDDY_INT64, EDDY_SHAPE(1)), eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(2, 2)),
        eddy_zeros(other, EDDY_INT32, EDDY_SHAPE(2)), { .graph = g },
    };
    eddy_tensor out[1];
    for (int k = 0; k < 6; k++) {
        eddy_dynamic_rnn(cell, k % 2 ? x : long_x, .sequence_length = n[k]), golden_graph(g);
        eddy_static_rnn(cell, EDDY_LIST(step), out, .sequence_length = n[k]), golden_graph(g);
        eddy_rnn(x, gru, .sequence_length = n[k]), golden_graph(g);
        eddy_multi_head_attention(long_x, 2, .lengths = n[k]), golden_graph(g);
        ck_assert(!eddy_luong_attention(2, x, n[k])), golden_graph(g);
    }
    ck_assert_int_eq(eddy_graph_status(other), EDDY_OK);
    eddy_dynamic_rnn(cell, given(EDDY_SHAPE(3, 2, 4)), .sequence_length = n[1], .time_major = true);
    golden_graph(g);
    eddy_dynamic_rnn(cell, given(EDDY_SHAPE(EDDY_ANY, 3, 4)), .sequence_length = n[0]);
    golden_graph(g);
    eddy_dynamic_rnn(cell, x, .sequence_length = Cast(given(EDDY_UNKNOWN_SHAPE), EDDY_INT32));
    golden_graph(g);
}

START_TEST(networks)
{
    int               how = 4;
    eddy_graph       *other = eddy_graph_new();
    const eddy_tensor x = given(EDDY_SHAPE(2, 3, 4));
    const eddy_tensor foreign = eddy_zeros(other, EDDY_FLOAT32, EDDY_SHAPE(2, 4));
    const eddy_rnn_cell cell = wrong_cell(&how), none = { .f = { .name = "none" } };
    eddy_tensor         out[2];
    eddy_rnn_outputs    y;
    golden_begin("layers/recurrent");
    check_cells(x);
    check_lengths(cell, x, other);
    eddy_dynamic_rnn(cell, given(EDDY_SHAPE(3)), .name = "reader"), golden_graph(g);
    eddy_dynamic_rnn(cell, x, .initial_state = EDDY_LIST(x, x)), golden_graph(g);
    eddy_dynamic_rnn(cell, x, .initial_state = EDDY_LIST(foreign)), golden_graph(g);
    eddy_dynamic_rnn(cell, x, .initial_state = EDDY_LIST(given(EDDY_SHAPE(2, 5))));
    golden_graph(g);
    eddy_static_rnn(cell, EDDY_LIST(x)), golden_graph(g);
    eddy_static_rnn(cell, EDDY_LIST(EDDY_NO_TENSOR, x), out), golden_graph(g);
    y = eddy_bidirectional_dynamic_rnn(cell, none, x), golden_graph(g);
    ck_assert(!eddy_is_valid(y.fw) && !eddy_is_valid(y.bw));
    golden_end();
    ck_assert(!eddy_is_valid(eddy_dynamic_rnn(cell, EDDY_NO_TENSOR)));
    ck_assert_int_eq(eddy_static_rnn(cell, EDDY_LIST()), 0);
    ck_assert(!eddy_is_valid(eddy_bidirectional_dynamic_rnn(cell, cell, EDDY_NO_TENSOR).fw));
    eddy_graph_free(other);
}
END_TEST

/* Twice as many rows of state as there are beams. */
static int doubled(eddy_list x, eddy_tensor *y, void *logits)
{
    y[0] = *(eddy_tensor *)logits;
    y[1] = eddy_concat(EDDY_LIST(x.at[1], x.at[1]), 0);
    return 2;
}

static int two(eddy_list x, eddy_tensor *y, void *logits)
{
    y[0] = *(eddy_tensor *)logits;
    y[1] = x.at[0];
    return 2;
}

static int stores_nothing(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x, (void)y, (void)context;
    return 2;
}

static int stores_logits(eddy_list x, eddy_tensor *y, void *logits)
{
    (void)x;
    y[0] = *(eddy_tensor *)logits;
    return 2;
}

START_TEST(searches)
{
    eddy_tensor         first = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(2)), state[60];
    eddy_tensor         logits = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4, 3));
    const eddy_function f = { .build = two, .context = &logits }, none = { .build = NULL };
    const eddy_function more = { .build = doubled, .context = &logits };
    const eddy_function nothing = { .build = stores_nothing };
    const eddy_function less = { .build = stores_logits, .context = &logits };
    for (int k = 0; k < 60; k++) state[k] = first;
    golden_begin("layers/beam_search");
    eddy_beam_search(f, EDDY_LIST(first), first, 0, 0, 3), golden_graph(g);
    eddy_beam_search(none, EDDY_LIST(), first, 0, 2, 3), golden_graph(g);
    eddy_beam_search(f, EDDY_LIST(), Cast(first, EDDY_INT64), 0, 2, 3), golden_graph(g);
    eddy_beam_search(f, EDDY_LIST(), first, 0, 2, 3), golden_graph(g);
    eddy_beam_search(f, EDDY_LIST(first), first, 3, 2, 3), golden_graph(g);
    eddy_beam_search(f, EDDY_LIST(first), first, 1, 2, 3, .dtype = EDDY_FLOAT64), golden_graph(g);
    eddy_beam_search(f, ((eddy_list){ 60, state }), first, 1, 2, 3), golden_graph(g);
    eddy_beam_search(f, EDDY_LIST(given(EDDY_SHAPE(3, 2))), first, 1, 2, 3), golden_graph(g);
    eddy_beam_search(f, EDDY_LIST(given(EDDY_SHAPE(1, 2))), first, 1, 2, 3), golden_graph(g);
    eddy_beam_search(f, EDDY_LIST(given(EDDY_SCALAR)), first, 1, 2, 3), golden_graph(g);
    eddy_beam_search(f, EDDY_LIST(first), first, 1, 2, 3, .length_penalty_weight = INFINITY);
    golden_graph(g);
    eddy_beam_search(more, EDDY_LIST(first), first, 1, 2, 3), golden_graph(g);
    eddy_beam_search(nothing, EDDY_LIST(first), first, 1, 2, 3), golden_graph(g);
    eddy_beam_search(less, EDDY_LIST(first), first, 1, 2, 3), golden_graph(g);
    logits = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_beam_search(f, EDDY_LIST(first), first, 1, 2, 3), golden_graph(g);
    logits = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4, 3));
    golden_end();
    ck_assert(!eddy_is_valid(eddy_beam_search(f).ids));
    eddy_beam_search(f, EDDY_LIST(first), first, 1, 2, 3, .length_penalty_weight = (double)NAN);
    fails(g, EDDY_INVALID_ARGUMENT, "length_penalty_weight");
    ck_assert(eddy_is_valid(eddy_beam_search(f, EDDY_LIST(first), first, 1, 2, 3).ids));
}
END_TEST

/* Only what cells say themselves. */
static void keep_own(eddy_error *e)
{
    if (!strstr(e->message, "for a cell")) *e = (eddy_error){ 0 };
}

static void without_memory(failing_allocator *f, eddy_error *e)
{
    eddy_graph *h = eddy_graph_new(&f->table);
    if (h) {
        eddy_tensor   x = eddy_placeholder(h, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4)), state[60];
        eddy_rnn_cell many[9];
        for (int i = 0; i < 9; i++) many[i] = eddy_lstm_cell(h, 2);
        eddy_rnn_cell cell = eddy_multi_rnn_cell(h, many, 9);
        cell = eddy_dropout_wrapper(h, cell, 0.5, .training = true);
        cell = eddy_residual_wrapper(h, cell);
        cell = eddy_attention_wrapper(cell, eddy_bahdanau_attention(2, x));
        eddy_dynamic_rnn(cell, x, state);
        e->status = eddy_graph_status(h);
        snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    }
    keep_own(e);
    eddy_graph_free(h);
}

START_TEST(no_memory)
{
    golden_begin("layers/recurrent_memory");
    golden_no_memory(without_memory);
    golden_end();
}
END_TEST

Suite *messages_rnn_suite(void)
{
    Suite *suite = suite_create("messages_rnn");
    TCase *c = tcase_create("rnn");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, networks);
    tcase_add_test(c, searches);
    tcase_add_test(c, no_memory);
    suite_add_tcase(suite, c);
    return suite;
}
