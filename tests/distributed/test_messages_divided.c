/* test_messages_divided.c -- messages about layers and variables that are divided among ranks. */
#include "build/gen/suites.h"
#include "tests/lib/golden.h"
#include "tests/lib/ranks/ranks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static eddy_tensor squares(eddy_tensor x) { return eddy_sum(eddy_square(x)); }

/* Rank 0's messages; both ranks make the same mistakes. */
static void note(const eddy_communicator *c, eddy_graph *g)
{
    if (eddy_communicator_rank(c) == 0) golden_graph(g);
    else eddy_graph_clear_error(g);
}

static bool wrong_layers(eddy_communicator *c, void *context)
{
    eddy_graph      *g = eddy_graph_new();
    eddy_tensor      x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
    eddy_tensor      ids = eddy_ints(g, 1, 5), flat = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 4));
    eddy_regularizer l2 = { .l2 = 1 };
    eddy_copy_to_ranks(NULL, x), note(c, g);
    eddy_reduce_from_ranks(c, ids), note(c, g);
    eddy_gather_from_ranks(NULL, x), note(c, g);
    eddy_gather_from_ranks(c, eddy_scalar(g, 1)), note(c, g);
    eddy_gather_from_ranks(c, ids), note(c, g);
    eddy_column_dense(NULL, x, 4), note(c, g);
    eddy_column_dense(c, x, 3), note(c, g);
    eddy_column_dense(c, x, 4, .reuse = "dense"), note(c, g);
    eddy_column_dense(c, x, 4, .kernel_regularizer = l2), note(c, g);
    eddy_column_dense(c, x, 0), note(c, g);
    eddy_column_dense(c, x, -4), note(c, g);
    eddy_row_dense(NULL, x, 4), note(c, g);
    eddy_row_dense(c, x, 4, .bias_regularizer = { .build = squares }), note(c, g);
    eddy_row_dense(c, ids, 4), note(c, g);
    eddy_parallel_embedding(c, ids, 1, 4), note(c, g);
    eddy_parallel_embedding(c, ids, 7, 0), note(c, g);
    eddy_parallel_embedding(c, x, 7, 3), note(c, g);
    eddy_parallel_attention(c, x, 1), note(c, g);
    eddy_parallel_attention(c, x, 2, .units = 5), note(c, g);
    eddy_parallel_attention(c, x, 4, .units = 6), note(c, g);
    eddy_parallel_attention(c, x, -2), note(c, g);
    eddy_parallel_attention(c, x, 2, .units = -6), note(c, g);
    eddy_parallel_attention(c, x, 4,
                            .mask = eddy_ones(g, EDDY_BOOL, EDDY_SHAPE(2, 3, 3, 3))), note(c, g);
    eddy_parallel_attention(c, x, 2, .dropout = 0.1, .training = true), note(c, g);
    eddy_parallel_attention(c, flat, 2), note(c, g);
    eddy_parallel_attention(
        c, x, 2, .mask = eddy_placeholder(g, "mask", EDDY_BOOL, EDDY_SHAPE(1, EDDY_ANY, 3, 3))),
        note(c, g);
    eddy_parallel_embedding(c, ids, 5, 2), note(c, g);
    ck_assert(!eddy_is_valid(eddy_sync_batch_norm_layer_with(c, EDDY_NO_TENSOR, NULL)));
    eddy_sync_batch_norm_layer(NULL, EDDY_NO_TENSOR, x, .training = true), note(c, g);
    eddy_sync_batch_norm_layer(c, flat, x, .training = true), note(c, g);
    eddy_sync_batch_norm_layer(c, EDDY_NO_TENSOR, ids, .training = true), note(c, g);
    eddy_sync_batch_norm_layer(c, EDDY_NO_TENSOR, x, .momentum = 2), note(c, g);
    eddy_tensor   fed = eddy_placeholder(g, "ids", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor   rows = eddy_parallel_embedding(c, fed, 5, 2, "words");
    eddy_session *s = eddy_session_new(g);
    const bool    ran =
        eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK;
    const eddy_status status =
        eddy_run(s, EDDY_FEED({ fed, EDDY_INTS(2, -1) }), EDDY_FETCH(rows), NULL);
    if (eddy_communicator_rank(c) == 0) golden_line(eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return ran && status == EDDY_CHECK_FAILED && context == NULL;
}

/* Optimizers that need whole variables, or an optimizer of the ranks around them. */
static void refused_outside(eddy_communicator *c, eddy_optimizer *o, eddy_tensor loss)
{
    eddy_graph        *g = loss.graph;
    const eddy_tensor  one = eddy_scalar(g, 1);
    eddy_gradient_pair pairs[2];
    eddy_optimizer    *around[] = {
        eddy_clipped_gradients(eddy_sharded(o, c), .global_norm = one),
        eddy_loss_scale(eddy_sharded(o, c)), eddy_clipped_gradients(o, .norm = one), eddy_lamb(g),
        eddy_distributed(eddy_prodigy(g), c), eddy_distributed(eddy_adafactor(g), c),
        eddy_distributed(eddy_muon(g, one), c), eddy_distributed(eddy_shampoo(g, one), c),
        eddy_distributed(eddy_sm3(g, one), c),
    };
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        eddy_minimize(around[i], loss), golden_graph(g);
    eddy_sharpness_aware_gradients(o, loss, .out = pairs, .max_out = 2), golden_graph(g);
    eddy_compute_gradients(o, loss, pairs, 2);
    eddy_clip_gradients_by_norm(pairs, 2, one), golden_graph(g);
    eddy_clip_gradients_by_global_norm(pairs, 2, one), golden_graph(g);
    eddy_clip_gradients_adaptively(pairs, 2), golden_graph(g);
}

static bool wrong_variables(eddy_communicator *c, void *context)
{
    char          path[100];
    eddy_error    e = { 0 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_session *s = eddy_session_new(g);
    eddy_divide_variables_begin(NULL, g, 0), golden_graph(g);
    eddy_divide_variables_begin(c, g, -1), golden_graph(g);
    eddy_divide_variables_end(g), golden_graph(g);
    eddy_divide_variables_begin(c, g, 0);
    eddy_tensor     y = eddy_dense(x, 4, "line");
    eddy_divide_variables_end(g);
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 1));
    eddy_minimize(eddy_distributed(o, c, .examples = eddy_scalar(g, 2)), squares(y));
    golden_graph(g);
    eddy_minimize(eddy_sharded(o, c, .examples = eddy_scalar(g, 2)), squares(y)), golden_graph(g);
    refused_outside(c, o, squares(y));
    eddy_restore_part(NULL, s, "m", &e), golden_error(&e);
    eddy_restore_part(g, s, "/none/m.safetensors", &e), golden_error(&e);
    snprintf(path, sizeof path, "/tmp/eddy-parts-%d.safetensors", (int)getpid());
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    const eddy_tensor whole = eddy_collection_at(g, EDDY_DIVIDED_VARIABLES, 0);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(whole), NULL), golden_line(eddy_session_message(s));
    eddy_save(s, path, EDDY_LIST());
    eddy_restore_part(g, s, path, &e);
    char *at = strstr(e.message, path);
    if (at) memmove(at, at + strlen(path), strlen(at + strlen(path)) + 1);
    golden_error(&e);
    unlink(path);
    eddy_session_free(s);
    eddy_graph_free(g);
    return context == NULL;
}

/* The communicator is freed before variables are saved and gradients gather again. */
static bool freed_early(eddy_communicator *c, void *context)
{
    const int          only[] = { 0 };
    eddy_graph        *g = eddy_graph_new();
    eddy_tensor        x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_communicator *group = eddy_communicator_group(c, only, 1, NULL);
    eddy_divide_variables_begin(group, g, 0);
    eddy_tensor y = squares(eddy_dense(x, 4, "line", .activation = eddy_tanh));
    eddy_divide_variables_end(g);
    eddy_communicator_free(group);
    eddy_error    e = { 0 };
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    char path[100], part[100];
    snprintf(path, sizeof path, "/tmp/eddy-freed-%d.safetensors.index.json", (int)getpid());
    snprintf(part, sizeof part, "/tmp/eddy-freed-%d.1-00001-of-00002.safetensors", (int)getpid());
    eddy_save_ranks(c, g, s, path, &e), golden_error(&e);
    const bool left = access(part, F_OK) == 0;
    eddy_session_free(s);
    eddy_gradient(y, eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, 0)), golden_graph(g);
    const eddy_tensor        v = eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, 0);
    const eddy_gradient_pair pair = { eddy_ones_like(v), v };
    eddy_apply_gradients(eddy_sharded(eddy_lamb(g), c), &pair, 1), golden_graph(g);
    eddy_graph_free(g);
    return !left && context == NULL;
}

/* Ranks with different graphs, one of which has the layer alone. */
static bool saves_both(eddy_communicator *c, void *context)
{
    const int          me = eddy_communicator_rank(c);
    eddy_error         e = { 0 };
    eddy_graph        *g = eddy_graph_new();
    eddy_tensor        x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_communicator *alone = me == 0 ? eddy_communicator_group(c, (int[]){ 0 }, 1, &e) : NULL;
    if (alone) eddy_column_dense(alone, x, 4, "line");
    else eddy_dense(x, 4, "line");
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    const bool saved = eddy_save_ranks(c, g, s, "/none/m.safetensors.index.json", &e);
    const bool refused = !saved && e.status == EDDY_INVALID_ARGUMENT;
    if (me == 0) golden_error(&e);
    eddy_session_free(s);
    eddy_graph_free(g);
    eddy_communicator_free(alone);
    return refused && context == NULL;
}

START_TEST(divided)
{
    eddy_error e = { 0 };
    golden_begin("distributed/divided");
    ck_assert_msg(eddy_run_threads(2, wrong_layers, NULL, &e), "%s", e.message);
    ck_assert(eddy_run_threads(1, wrong_variables, NULL, &e));
    ck_assert(eddy_run_threads(1, freed_early, NULL, &e));
    ck_assert_msg(eddy_run_threads(2, saves_both, NULL, &e), "%s", e.message);
    golden_end();
}
END_TEST

Suite *messages_divided_suite(void)
{
    Suite *s = suite_create("messages_divided");
    TCase *c = tcase_create("divided");
    tcase_set_tags(c, "threads");
    tcase_add_test(c, divided);
    suite_add_tcase(s, c);
    return s;
}
