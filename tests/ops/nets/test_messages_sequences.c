/* test_messages_sequences.c -- error messages of sequence losses, decoders and samplers. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"
#include "ops/short_names.h"

#include <string.h>

Suite *messages_sequences_suite(void);

static eddy_tensor of(eddy_dtype d, eddy_shape s) { return eddy_placeholder(g, NULL, d, s); }
static eddy_tensor ints(eddy_shape s, const int32_t *v) { return eddy_const(g, EDDY_INT32, s, v); }

/* The message of a run. */
static void run_of(eddy_tensor t)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = eddy_fetch(s, t);
    golden_line(eddy_session_message(s));
    eddy_array_free(a);
    eddy_session_free(s);
}

/* Decoders, sampled classes, distances. */
static void classes(eddy_tensor x, eddy_tensor labels, eddy_tensor n, eddy_tensor some,
                    eddy_tensor five)
{
    const eddy_tensor open = of(EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor wide = of(EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor three = of(EDDY_INT32, EDDY_SHAPE(3)), one = of(EDDY_INT32, EDDY_SCALAR);
    eddy_collapse_repeated(one, one), golden_graph(g);
    eddy_collapse_repeated(labels, three), golden_graph(g);
    run_of(eddy_collapse_repeated(some, five));
    eddy_ctc_greedy_decoder(open, n, 0, true), golden_graph(g);
    eddy_ctc_greedy_decoder(x, n, -4, true), golden_graph(g);
    eddy_ctc_beam_search_decoder(wide, n, 5, 1, 0), golden_graph(g);
    eddy_ctc_beam_search_decoder(x, n, 5, 6, 0), golden_graph(g);
    eddy_ctc_beam_search_decoder(x, n, 5, 1, 3), golden_graph(g);
    eddy_ctc_beam_search_decoder(x, three, 5, 1, 0), golden_graph(g);
    const eddy_shape long_one = EDDY_SHAPE(1 << 30, 2, 3);
    eddy_ctc_beam_search_decoder(of(EDDY_FLOAT32, long_one), n, 5, 1, 0), golden_graph(g);
    const eddy_node  *beams = eddy_node_of(eddy_ctc_beam_search_decoder(x, n, 5, 1, 0));
    const eddy_tensor whole[] = { labels, n };
    eddy_apply(beams->op, beams->attrs, 2, whole, (eddy_apply_args){ 0 }), golden_graph(g);
    const eddy_tensor zeros = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(4, 2, 3));
    run_of(eddy_ctc_beam_search_decoder(zeros, five, 5, 1, 0));
    eddy_sequence_loss(wide, labels, wide), golden_graph(g);
    eddy_uniform_candidate_sampler(labels, 5, false, 0), golden_graph(g);
    eddy_uniform_candidate_sampler(labels, -5, false, 9), golden_graph(g);
    eddy_log_uniform_candidate_sampler(labels, 10, true, 9), golden_graph(g);
    run_of(eddy_log_uniform_candidate_sampler(some, 1, true, 2));
    eddy_nce_loss(wide, n, n, wide, 3, 9), golden_graph(g);
    eddy_nce_loss(wide, n, (eddy_tensor){ .graph = g }, wide, 3, 9), golden_graph(g);
    eddy_nce_loss(wide, n, of(EDDY_INT32, EDDY_SHAPE(2, 0)), wide, 3, 9), golden_graph(g);
    eddy_edit_distance(one, one, labels, n, true), golden_graph(g);
    eddy_edit_distance(labels, three, labels, n, true), golden_graph(g);
    eddy_edit_distance(labels, n, of(EDDY_INT32, EDDY_SHAPE(3, 4)), three, true), golden_graph(g);
    run_of(eddy_edit_distance(some, five, some, five, true));
}

/* The derivative of the loss refuses directions that do not fit. */
static void directions(eddy_tensor x, eddy_tensor labels, eddy_tensor n)
{
    const eddy_tensor slope = eddy_gradient(eddy_ctc_loss(labels, x, n, n), x);
    const eddy_node  *p = NULL;
    for (int i = slope.node; i > 0 && (!p || strcmp(p->op->name, "CTCPosteriors")); i--)
        p = eddy_node_of((eddy_tensor){ .graph = g, .node = i });
    const eddy_tensor in[] = { x, labels, n, n, Cast(x, EDDY_FLOAT64) };
    const eddy_tensor other[] = { x, labels, n, n, Reshape(x, EDDY_SHAPE(2, 5, 3)) };
    const eddy_tensor many[] = { x, labels, n, n, x, x, x, x, x };
    eddy_apply(p->op, p->attrs, 5, in, (eddy_apply_args){ 0 }), golden_graph(g);
    eddy_apply(p->op, p->attrs, 5, other, (eddy_apply_args){ 0 }), golden_graph(g);
    eddy_apply(p->op, p->attrs, 9, many, (eddy_apply_args){ 0 }), golden_graph(g);
}

static void frames(eddy_tensor open, eddy_tensor x, eddy_tensor one)
{
    const eddy_tensor flag = of(EDDY_BOOL, EDDY_SHAPE(3, 5));
    eddy_frame(x, 0, 2), golden_graph(g);
    eddy_frame(open, 3, 2, .axis = EDDY_AXES(0)), golden_graph(g);
    eddy_frame(x, 3, 2, .axis = EDDY_AXES(2)), golden_graph(g);
    eddy_frame(one, 3, 2), golden_graph(g);
    eddy_frame(of(EDDY_FLOAT32, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 9)), 3, 2), golden_graph(g);
    eddy_overlap_and_add(x, 0), golden_graph(g);
    eddy_overlap_and_add(flag, 1), golden_graph(g);
    eddy_overlap_and_add(x, (int64_t)1 << 62), golden_graph(g);
    eddy_overlap_and_add(of(EDDY_FLOAT32, EDDY_SHAPE(9, 2)), (int64_t)1 << 62), golden_graph(g);
    const eddy_node  *f = eddy_node_of(eddy_frame(x, 3, 2));
    const eddy_node  *o = eddy_node_of(eddy_overlap_and_add(x, 2));
    const eddy_tensor pair[] = { x, one };
    eddy_apply(f->op, f->attrs, 2, pair, (eddy_apply_args){ 0 }), golden_graph(g);
    eddy_apply(o->op, o->attrs, 2, pair, (eddy_apply_args){ 0 }), golden_graph(g);
}

static void signals(eddy_tensor open)
{
    const eddy_tensor x = of(EDDY_FLOAT32, EDDY_SHAPE(2, 9));
    const eddy_tensor z = of(EDDY_COMPLEX64, EDDY_SHAPE(3, 5));
    const eddy_tensor one = of(EDDY_FLOAT32, EDDY_SCALAR);
    frames(open, x, one);
    eddy_dct(x, 5), golden_graph(g);
    eddy_dct(x, 1, .norm = "ortho"), golden_graph(g);
    eddy_idct(x, 2, .norm = "other"), golden_graph(g);
    eddy_dct(open), golden_graph(g);
    eddy_dct(x, 1, 1), golden_graph(g);
    eddy_analytic_signal(open), golden_graph(g);
    eddy_stft(x, 0, 1), golden_graph(g);
    eddy_stft(x, 4, 1, .window = of(EDDY_FLOAT32, EDDY_SHAPE(5))), golden_graph(g);
    eddy_inverse_stft(z, 8, 0), golden_graph(g);
    eddy_inverse_stft_window(x, 2), golden_graph(g);
    eddy_linear_to_mel_weight_matrix(g, -1), golden_graph(g);
    eddy_linear_to_mel_weight_matrix(g, .sample_rate = 1000), golden_graph(g);
    eddy_linear_to_mel_weight_matrix(g, .dtype = EDDY_INT32), golden_graph(g);
    eddy_linear_to_mel_weight_matrix(g, INT32_MAX, INT32_MAX), golden_graph(g);
}

START_TEST(sequences)
{
    const eddy_tensor x = of(EDDY_FLOAT32, EDDY_SHAPE(5, 2, 3));
    const eddy_tensor wide = of(EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor labels = of(EDDY_INT32, EDDY_SHAPE(2, 4)), n = of(EDDY_INT32, EDDY_SHAPE(2));
    const eddy_tensor three = of(EDDY_INT32, EDDY_SHAPE(3));
    const eddy_tensor open = of(EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    golden_begin("ops/sequences");
    eddy_ctc_loss(labels, wide, n, n), golden_graph(g);
    eddy_ctc_loss(x, x, n, n), golden_graph(g);
    eddy_ctc_loss(n, x, n, n), golden_graph(g);
    eddy_ctc_loss(labels, x, n, three), golden_graph(g);
    eddy_ctc_loss(labels, x, n, n, 3), golden_graph(g);
    const eddy_op_def *loss = eddy_node_of(eddy_ctc_loss(labels, x, n, n))->op;
    const void *attrs = eddy_node_of(eddy_ctc_loss(labels, x, n, n))->attrs;
    const eddy_tensor whole[] = { Cast(x, EDDY_INT32), labels, n, n };
    eddy_apply(loss, attrs, 4, whole, (eddy_apply_args){ 0 }), golden_graph(g);
    const eddy_tensor zeros = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(5, 2, 3));
    const int32_t l[] = { 1, 1, 2, 2, 1, 0, 2, 2 };
    const eddy_tensor some = ints(EDDY_SHAPE(2, 4), l);
    const eddy_tensor five = ints(EDDY_SHAPE(2), (int32_t[]){ 5, 5 });
    directions(x, labels, n);
    run_of(eddy_ctc_loss(some, zeros, five, five));
    run_of(eddy_ctc_loss(some, zeros));
    const eddy_tensor huge = of(EDDY_INT32, EDDY_SHAPE(2, (int64_t)1 << 40));
    eddy_ctc_loss(huge, x, n, n), golden_graph(g);
    classes(x, labels, n, some, five);
    signals(open);
    golden_end();
}
END_TEST

Suite *messages_sequences_suite(void)
{
    Suite *suite = suite_create("messages_sequences");
    TCase *c = tcase_create("sequences");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, sequences);
    suite_add_tcase(suite, c);
    return suite;
}
