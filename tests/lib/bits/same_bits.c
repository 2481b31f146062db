/* same_bits.c -- see same_bits.h. */
#include "tests/lib/bits/same_bits.h"

void keep_fetch(fetches *f, eddy_tensor x)
{
    ck_assert_int_lt(f->n, FETCHES);
    if (eddy_is_valid(x)) f->at[f->n++] = x;
}

void run_fetches(const trial *t, const fetches *f, eddy_graph *g, eddy_session_args options,
                 eddy_array **out)
{
    eddy_feed feeds[TRIAL_FEEDS];
    eddy_tensor fetch[FETCHES];
    for (int k = 0; k < t->n; k++)
        feeds[k] = (eddy_feed){ eddy_node_at(g, t->tensor[k].node), t->array[k] };
    for (int i = 0; i < f->n; i++)
        fetch[i] = eddy_output(eddy_node_at(g, f->at[i].node), f->at[i].output);
    options.graph = g;
    eddy_session *s = eddy_session_new_with(&options);
    const eddy_status status = eddy_run(s, (eddy_feeds){ t->n, feeds }, (eddy_list){ f->n, fetch },
                                        out);
    ck_assert_msg(status == EDDY_OK, "%s: %s", f->title, eddy_session_message(s));
    eddy_session_free(s);
}

void free_arrays(int n, eddy_array **a)
{
    for (int i = 0; i < n; i++) eddy_array_free(a[i]);
}

static void check_run(const trial *t, const fetches *f, eddy_graph *g, eddy_session_args options,
                      eddy_array *const *want, const char *what)
{
    eddy_array *got[FETCHES] = { NULL };
    run_fetches(t, f, g, options, got);
    for (int i = 0; i < f->n; i++)
        ck_assert_msg(eddy_array_equal(got[i], want[i]), "%s: %s changes %s", f->title, what,
                      eddy_name_of(f->at[i]));
    free_arrays(f->n, got);
}

static void check_file(const trial *t, const fetches *f, eddy_array *const *want)
{
    eddy_error error = { 0 };
    char *text = eddy_graph_to_yaml(t->graph);
    ck_assert_ptr_nonnull(text);
    eddy_graph *g = eddy_graph_load(.text = text, .path = "graph.yaml", .error = &error);
    ck_assert_msg(g, "%s: %s", f->title, error.message);
    char *again = eddy_graph_to_yaml(g);
    ck_assert_msg(again && strcmp(text, again) == 0, "%s: written again, it differs", f->title);
    check_run(t, f, g, *EDDY_ARGS(eddy_session_args, .threads = 0), want, "a file");
    eddy_string_free(text);
    eddy_string_free(again);
    eddy_graph_free(g);
}

/* Folding keeps the bits, unless the folded value leads to another formula. */
static void check_folding(const trial *t, const fetches *f)
{
    enum { FORMULAS = EDDY_PASS_SIMPLIFY | EDDY_PASS_STABILIZE | EDDY_PASS_PATTERNS |
                      EDDY_PASS_PRODUCTS | EDDY_PASS_EPILOGUES };
    eddy_array *want[FETCHES] = { NULL };
    run_fetches(t, f, t->graph, *EDDY_ARGS(eddy_session_args, .without = FORMULAS), want);
    check_run(t, f, t->graph, *EDDY_ARGS(eddy_session_args, .without = FORMULAS | EDDY_PASS_FOLD),
              want, "FOLD");
    free_arrays(f->n, want);
}

void check_same_bits(const trial *t, const fetches *f)
{
    eddy_graph *g = t->graph;
    eddy_array *want[FETCHES] = { NULL };
    run_fetches(t, f, g, *EDDY_ARGS(eddy_session_args, .threads = 0), want);
    check_folding(t, f);
    check_run(t, f, g, *EDDY_ARGS(eddy_session_args, .without = EDDY_PASS_FUSE), want, "FUSE");
    check_run(t, f, g, *EDDY_ARGS(eddy_session_args, .without = EDDY_PASS_IN_PLACE), want,
              "IN_PLACE");
    check_run(t, f, g, *EDDY_ARGS(eddy_session_args, .without = EDDY_PASS_REUSE), want, "REUSE");
    enum { ALL = EDDY_PASS_FUSE | EDDY_PASS_IN_PLACE | EDDY_PASS_REUSE | EDDY_PASS_SCHEDULE };
    check_run(t, f, g, *EDDY_ARGS(eddy_session_args, .threads = 1), want, "one thread");
    check_run(t, f, g, *EDDY_ARGS(eddy_session_args, .threads = 3), want, "three threads");
    check_run(t, f, g, *EDDY_ARGS(eddy_session_args, .without = ALL), want, "each of these");
    check_file(t, f, want);
    free_arrays(f->n, want);
}
