/* test_messages_rnn_cells.c -- messages of recurrent cells, their wrappers, attention and weights
 * about arguments that do not fit. */
#include "build/gen/suites.h"
#include "layers/layers.h"
#include "layers/rnn_cells.h"
#include "layers/rnn_weights.h"
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"

#include <math.h>

static eddy_tensor given(eddy_shape s) { return eddy_placeholder(g, NULL, EDDY_FLOAT32, s); }

static void check_attention(eddy_tensor x, eddy_rnn_cell gru)
{
    eddy_attention_mechanism *m = eddy_luong_attention(2, x);
    eddy_attention_mechanism *added = eddy_bahdanau_attention(2, x);
    eddy_rnn_cell             cell = gru;
    eddy_attention_alignments(NULL, x), golden_graph(g);
    eddy_attention_alignments(m, given(EDDY_SHAPE(2))), golden_graph(g);
    eddy_attention_alignments(m, x), golden_graph(g);
    eddy_attention_alignments(added, given(EDDY_SHAPE(2, 0))), golden_graph(g);
    eddy_attention_alignments(added, given(EDDY_SHAPE(2, EDDY_ANY))), golden_graph(g);
    eddy_attention_alignments(m, given(EDDY_SHAPE(2, 0))), golden_graph(g);
    eddy_attention_alignments(added, x);
    eddy_attention_alignments(added, given(EDDY_SHAPE(2, 3))), golden_graph(g);
    eddy_dynamic_rnn(eddy_attention_wrapper(gru, m), given(EDDY_SHAPE(2, 3))), golden_graph(g);
    eddy_attention_wrapper(gru, m, -1), golden_graph(g);
    cell.output = EDDY_SCALAR;
    eddy_attention_wrapper(cell, m), golden_graph(g);
    cell = gru;
    cell.n_state = 60;
    eddy_attention_wrapper(cell, m), golden_graph(g);
    ck_assert(!eddy_attention_wrapper(gru, NULL).f.build);
}

/* A cell in another graph is an error there, and can still be used in its own. */
static void check_foreign(eddy_rnn_cell used)
{
    eddy_graph         *other = eddy_graph_new();
    const eddy_tensor   x = given(EDDY_SHAPE(2, 3, 4));
    const eddy_tensor   foreign = eddy_zeros(other, EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
    const eddy_rnn_cell lstm = eddy_lstm_cell(g, 2, .name = "new");
    const eddy_rnn_cell cells[] = {
        used, eddy_gru_cell(g, 2, .name = "new"), eddy_multi_rnn_cell(g, &lstm, 1),
        eddy_dropout_wrapper(g, lstm, 0.5, .variational_recurrent = true, .training = true),
    };
    eddy_dynamic_rnn(used, x);
    for (int k = 0; k < 4; k++) {
        eddy_dynamic_rnn(cells[k], foreign), golden_graph(other);
        ck_assert(eddy_is_valid(eddy_dynamic_rnn(cells[k], x, .name = "net")));
    }
    ck_assert(eddy_graph_has(g, "net_2/multi_rnn_cell/cell_0/new/kernel:0"));
    eddy_graph_free(other);
}

START_TEST(cells)
{
    const eddy_tensor   x = given(EDDY_SHAPE(2, 3, 4)), whole = Cast(x, EDDY_INT32);
    const eddy_rnn_cell gru = eddy_gru_cell(g, 2), none = { .f = { .name = "none" } };
    eddy_rnn_cell       many[3] = { gru, gru, gru };
    golden_begin("layers/recurrent_cells");
    eddy_gru_cell(g, 0), golden_graph(g);
    eddy_lstm_cell(g, 2, .num_proj = -1), golden_graph(g);
    eddy_lstm_cell(g, 2, .cell_clip = -1), golden_graph(g);
    eddy_lstm_cell(g, 2, .num_proj = 1, .proj_clip = -0.5), golden_graph(g);
    eddy_gru_cell(g, INT64_MAX / 2), golden_graph(g);
    eddy_lstm_cell(g, 2, .num_proj = INT64_MAX), golden_graph(g);
    eddy_rnn(x, EDDY_CELL(EDDY_LSTM_CELL, INT64_MAX / 2)), golden_graph(g);
    eddy_dynamic_rnn(gru, whole), golden_graph(g);
    eddy_dynamic_rnn(gru, given(EDDY_SHAPE(2, 3))), golden_graph(g);
    eddy_dynamic_rnn(gru, given(EDDY_SHAPE(2, 3, EDDY_ANY))), golden_graph(g);
    eddy_dynamic_rnn(gru, x);
    eddy_dynamic_rnn(gru, given(EDDY_SHAPE(2, 3, 5))), golden_graph(g);
    check_foreign(gru);
    eddy_multi_rnn_cell(g), golden_graph(g);
    eddy_multi_rnn_cell(g, &none, 1), golden_graph(g);
    many[1].n_state = many[2].n_state = 30;
    eddy_multi_rnn_cell(g, many, 3), golden_graph(g);
    eddy_dropout_wrapper(g, gru, 0.0), golden_graph(g);
    eddy_dynamic_rnn(eddy_residual_wrapper(g, eddy_gru_cell(g, 3)), x), golden_graph(g);
    check_attention(x, gru);
    eddy_convert_rnn_weights(EDDY_GRU_CELL, 0, x), golden_graph(g);
    eddy_convert_rnn_weights(EDDY_GRU_CELL, EDDY_TENSORFLOW_LAYOUT, x), golden_graph(g);
    eddy_assign_rnn_weights(g, "rnn", (eddy_rnn_weights){ .kernel = x }), golden_graph(g);
    eddy_assign_rnn_weights(g, "rnn", (eddy_rnn_weights){ .kernel = EDDY_NO_TENSOR });
    golden_graph(g);
    golden_end();
    ck_assert(!eddy_lstm_cell(NULL, 2).f.build);
    eddy_lstm_cell(g, 2, .proj_clip = (double)NAN);
    fails(g, EDDY_INVALID_ARGUMENT, "proj_clip");
    ck_assert(!eddy_multi_rnn_cell(NULL).f.build);
}
END_TEST

Suite *messages_rnn_cells_suite(void)
{
    Suite *suite = suite_create("messages_rnn_cells");
    TCase *c = tcase_create("rnn_cells");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, cells);
    suite_add_tcase(suite, c);
    return suite;
}
