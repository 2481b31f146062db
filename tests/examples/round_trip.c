/* round_trip.c -- writes the graphs of an example to a file and reads them back.
 *
 * The Makefile links it to an example with the linker's --wrap, so that the
 * program, as it is, calls the __wrap_ functions below.  They
 *   - write, read and write again every graph: the same bytes;
 *   - repeat every run of the program on a session of the graph that was read:
 *     the same values, messages and, in the end, variables, bit for bit (eddy_fetch is
 *     a run too: session/fetch.c calls eddy_run);
 *   - fetch every node of both graphs before the program frees its own.
 * The exit status is 1 if something differs, or if there was nothing to compare;
 * the program's own checks of its results do not count here. */
#include "build/gen/table.h"
#include "../../eddy.h"
#include "graph/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, TOGETHER = 16 };    /* TOGETHER: outputs that one run fetches */

/* ------------------------------------------------- what the linker wraps -- */

int           __wrap_main(int argc, char **argv);
int           __real_main(int argc, char **argv);
eddy_session *__wrap_eddy_session_new_with(const eddy_session_args *given);
eddy_session *__real_eddy_session_new_with(const eddy_session_args *given);
void          __wrap_eddy_session_free(eddy_session *s);
void          __real_eddy_session_free(eddy_session *s);
eddy_status   __wrap_eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches,
                              eddy_array **out);
eddy_status   __real_eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches,
                              eddy_array **out);
eddy_status   __wrap_eddy_restore(eddy_session *s, const char *path, eddy_list variables);
eddy_status   __real_eddy_restore(eddy_session *s, const char *path, eddy_list variables);
eddy_status   __wrap_eddy_restore_checkpoint_with(const eddy_restore_checkpoint_args *given);
eddy_status   __real_eddy_restore_checkpoint_with(const eddy_restore_checkpoint_args *given);
eddy_status   __wrap_eddy_variable_set(eddy_session *s, eddy_tensor variable,
                                       const eddy_array *value);
eddy_status   __real_eddy_variable_set(eddy_session *s, eddy_tensor variable,
                                       const eddy_array *value);
void          __wrap_eddy_graph_free(eddy_graph *g);
void          __real_eddy_graph_free(eddy_graph *g);

/* -------------------------------------------------------------- findings -- */

static struct {
    int graphs, nodes, runs, values, wrong;
} count;

static void complain(const char *what, const char *about)
{
    if (count.wrong++ < 20) fprintf(stderr, "round trip: %s: %s\n", what, about);
}

static void compare(const eddy_array *a, const eddy_array *b, eddy_tensor t)
{
    count.values += a != NULL;
    if (a || b) {
        if (!a || !b || !eddy_array_equal(a, b)) complain("another value", eddy_name_of(t));
    }
}

/* ------------------------------------------------------------------ copies -- */

static bool is_among(const eddy_op_def *op, const eddy_op_def *const *ops)
{
    while (*ops && *ops != op) ops++;
    return *ops != NULL;
}

/* The operations of g that are the program's own, ended by NULL. */
static void find_own(eddy_graph *g, const eddy_op_def **own)
{
    int n = 0;
    own[0] = NULL;
    for (int32_t id = 1; id <= eddy_graph_size(g) && n < MOST - 1; id++) {
        const eddy_op_def *op = eddy_node_of(eddy_node_at(g, id))->op;
        if (is_among(op, eddy_op_table) || is_among(op, own)) continue;
        own[n++] = op;
        own[n] = NULL;
    }
}

static bool same_node(const eddy_node *a, const eddy_node *b)
{
    bool same = a->op == b->op && strcmp(a->name, b->name) == 0 && a->n_inputs == b->n_inputs &&
                a->n_controls == b->n_controls && a->n_outputs == b->n_outputs &&
                a->origin == b->origin && a->colocate == b->colocate;
    for (int i = 0; same && i < a->n_inputs; i++)
        same = a->inputs[i].node == b->inputs[i].node && a->inputs[i].output == b->inputs[i].output;
    for (int i = 0; same && i < a->n_controls; i++) same = a->controls[i] == b->controls[i];
    for (int i = 0; same && i < a->n_outputs; i++)
        same = a->outputs[i].dtype == b->outputs[i].dtype &&
               eddy_shape_equal(a->outputs[i].shape, b->outputs[i].shape);
    return same;
}

/* The graph that was written and read; NULL if it did not come back. */
static eddy_graph *through_file(eddy_graph *g)
{
    const eddy_op_def *own[MOST];
    eddy_error         e = { 0 };
    char              *text = eddy_graph_to_yaml(g);
    find_own(g, own);
    eddy_graph *copy = text ? eddy_graph_load("graph.yaml", text, .ops = own, .error = &e) : NULL;
    char       *again = copy ? eddy_graph_to_yaml(copy) : NULL;
    if (!copy) complain("not read", text ? e.message : "not written");
    else if (!again || strcmp(text, again) != 0) complain("other bytes", "written again");
    for (int32_t id = 1; copy && id <= eddy_graph_size(g); id++)
        if (!same_node(eddy_node_of(eddy_node_at(g, id)), eddy_node_of(eddy_node_at(copy, id))))
            complain("another node", eddy_name_of(eddy_node_at(g, id)));
    eddy_string_free(text);
    eddy_string_free(again);
    return copy;
}

/* The same tensor of the copy. */
static eddy_tensor in(eddy_graph *copy, eddy_tensor t)
{
    return (eddy_tensor){ .graph = copy, .node = t.node, .output = t.output };
}

/* -------------------------------------------------------------------- runs -- */

/* A session of the program and one that does the same on a copy of its graph. */
typedef struct twin {
    struct twin      *next;
    eddy_session_args args;
    eddy_session     *session, *other;      /* other is NULL before the first run */
    eddy_graph       *copy;
} twin;

static twin *twins;

static twin *twin_of(eddy_session *s)
{
    twin *t = twins;
    while (t && t->session != s) t = t->next;
    return t;
}

/* Copies the graph when the program first uses the session: it is whole by then. */
static bool has_other(twin *t)
{
    if (!t) return false;
    if (!t->other && (t->copy = through_file(t->args.graph)) != NULL) {
        eddy_session_args args = t->args;
        args.graph = t->copy;
        t->other = __real_eddy_session_new_with(&args);
    }
    if (t->other && eddy_graph_size(t->copy) == eddy_graph_size(t->args.graph)) return true;
    complain("a run is not repeated", t->other ? "the graph has grown" : "there is no copy");
    return false;
}

/* Compares the results of a run on t->session with the same run on the copy. */
static void repeat(twin *t, eddy_status status, eddy_feeds feeds, eddy_list fetches,
                   eddy_array *const *out)
{
    eddy_feed   feed[MOST];
    eddy_tensor fetch[MOST];
    eddy_array *got[MOST] = { NULL };
    if (!has_other(t) || feeds.count > MOST || fetches.count > MOST) return;
    for (int i = 0; i < feeds.count; i++)
        feed[i] = (eddy_feed){ in(t->copy, feeds.at[i].tensor), feeds.at[i].value };
    for (int i = 0; i < fetches.count; i++) fetch[i] = in(t->copy, fetches.at[i]);
    const eddy_status other = __real_eddy_run(t->other, (eddy_feeds){ feeds.count, feed },
                                              (eddy_list){ fetches.count, fetch }, got);
    if (other != status ||
        strcmp(eddy_session_message(t->session), eddy_session_message(t->other)) != 0)
        complain("another answer", eddy_session_message(t->other));
    for (int i = 0; i < fetches.count; i++) {
        if (out && status == EDDY_OK) compare(out[i], got[i], fetches.at[i]);
        eddy_array_free(got[i]);
    }
    count.runs++;
}

static void compare_variables(twin *t)
{
    for (int32_t id = 1; id <= eddy_graph_size(t->copy); id++) {
        eddy_tensor v = eddy_node_at(t->args.graph, id);
        if (!(eddy_node_of(v)->op->flags & EDDY_OP_VARIABLE)) continue;
        eddy_array *a = eddy_variable_value(t->session, v);
        eddy_array *b = eddy_variable_value(t->other, in(t->copy, v));
        compare(a, b, v);
        eddy_array_free(a);
        eddy_array_free(b);
    }
}

eddy_session *__wrap_eddy_session_new_with(const eddy_session_args *given)
{
    eddy_session_args args = *given;
    eddy_session *s = __real_eddy_session_new_with(&args);
    twin         *t = s ? calloc(1, sizeof *t) : NULL;
    if (t) {
        *t = (twin){ .next = twins, .args = args, .session = s };
        twins = t;
    }
    return s;
}

void __wrap_eddy_session_free(eddy_session *s)
{
    for (twin **at = &twins; *at; at = &(*at)->next) {
        twin *t = *at;
        if (t->session != s) continue;
        if (t->other) compare_variables(t);
        __real_eddy_session_free(t->other);
        __real_eddy_graph_free(t->copy);
        *at = t->next;
        free(t);
        break;
    }
    __real_eddy_session_free(s);
}

eddy_status __wrap_eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out)
{
    eddy_status status = __real_eddy_run(s, feeds, fetches, out);
    repeat(twin_of(s), status, feeds, fetches, out);
    return status;
}

eddy_status __wrap_eddy_restore(eddy_session *s, const char *path, eddy_list variables)
{
    twin       *t = twin_of(s);
    eddy_tensor v[MOST];
    eddy_status status = __real_eddy_restore(s, path, variables);
    if (!has_other(t) || variables.count > MOST) return status;
    for (int i = 0; i < variables.count; i++) v[i] = in(t->copy, variables.at[i]);
    if (__real_eddy_restore(t->other, path, (eddy_list){ variables.count, v }) != status)
        complain("another answer of restore", eddy_session_message(t->other));
    return status;
}

eddy_status __wrap_eddy_restore_checkpoint_with(const eddy_restore_checkpoint_args *given)
{
    twin       *t = twin_of(given->session);
    eddy_tensor v[MOST];
    eddy_status status = __real_eddy_restore_checkpoint_with(given);
    if (!has_other(t) || given->variables.count > MOST || given->n_named > 0) return status;
    eddy_restore_checkpoint_args again = *given;
    for (int i = 0; i < given->variables.count; i++) v[i] = in(t->copy, given->variables.at[i]);
    again.session = t->other;
    again.variables.at = v;
    again.report = NULL;
    if (__real_eddy_restore_checkpoint_with(&again) != status)
        complain("another answer of restore_checkpoint", eddy_session_message(t->other));
    return status;
}

/* L-BFGS drives the graph and sets its variables; its intermediate runs leave no trace. */
eddy_status __wrap_eddy_variable_set(eddy_session *s, eddy_tensor variable, const eddy_array *value)
{
    twin       *t = twin_of(s);
    eddy_status status = __real_eddy_variable_set(s, variable, value);
    if (!has_other(t)) return status;
    if (__real_eddy_variable_set(t->other, in(t->copy, variable), value) != status)
        complain("another answer of variable_set", eddy_session_message(t->other));
    return status;
}

/* -------------------------------------------------------------- every node -- */

/* Ones for every placeholder; a size that is left open is 2. */
static int feed_all(eddy_graph *g, eddy_feed *feeds, eddy_array **arrays)
{
    int n = 0;
    for (int32_t id = 1; id <= eddy_graph_size(g) && n < MOST; id++) {
        eddy_tensor t = eddy_node_at(g, id);
        if (!(eddy_node_of(t)->op->flags & EDDY_OP_PLACEHOLDER)) continue;
        eddy_shape s = eddy_shape_of(t);
        if (s.rank < 0) s = EDDY_SCALAR;
        for (int i = 0; i < s.rank; i++)
            if (s.dim[i] == EDDY_ANY) s.dim[i] = 2;
        eddy_array *a = eddy_array_new(eddy_dtype_of(t), s);
        for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, 1);
        arrays[n] = a;
        feeds[n++] = (eddy_feed){ t, a };
    }
    return n;
}

static bool fetch_both(twin *t, eddy_feeds feeds, eddy_list fetches)
{
    eddy_array *out[TOGETHER] = { NULL };
    eddy_status status = __real_eddy_run(t->session, feeds, fetches, out);
    repeat(t, status, feeds, fetches, out);
    for (int i = 0; i < fetches.count; i++) eddy_array_free(out[i]);
    return status == EDDY_OK;
}

/* Several outputs in one run, since a graph may have thousands; one by one after an error, which
 * some nodes give on purpose, so that the others have values. */
static void fetch_group(twin *t, eddy_feeds feeds, eddy_list fetches)
{
    if (fetch_both(t, feeds, fetches) || fetches.count == 1) return;
    for (int i = 0; i < fetches.count; i++) fetch_both(t, feeds, EDDY_FETCH(fetches.at[i]));
}

static void run_every_node(eddy_graph *g, eddy_graph *copy)
{
    eddy_feed        at[MOST];
    eddy_array      *arrays[MOST];
    const int32_t    nodes = eddy_graph_size(g);
    const eddy_feeds feeds = { feed_all(g, at, arrays), at };
    twin             t = { .args.graph = g, .copy = copy };
    t.session = __real_eddy_session_new_with(EDDY_ARGS(eddy_session_args, .graph = g));
    t.other = __real_eddy_session_new_with(EDDY_ARGS(eddy_session_args, .graph = copy));
    eddy_tensor init = eddy_initializer(g);
    eddy_initializer(copy);
    fetch_both(&t, feeds, EDDY_FETCH(init));
    eddy_tensor group[TOGETHER];
    int         n = 0;
    for (int32_t id = 1; id <= nodes; id++)
        for (int k = 0; k == 0 || k < eddy_outputs_of(eddy_node_at(g, id)); k++) {
            group[n++] = (eddy_tensor){ .graph = g, .node = id, .output = k };
            if (n == TOGETHER) fetch_group(&t, feeds, (eddy_list){ n, group });
            n %= TOGETHER;
        }
    if (n > 0) fetch_group(&t, feeds, (eddy_list){ n, group });
    compare_variables(&t);
    for (int i = 0; i < feeds.count; i++) eddy_array_free(arrays[i]);
    __real_eddy_session_free(t.session);
    __real_eddy_session_free(t.other);
}

/* A graph with an error, which some programs make to show it, is not a file; what
 * stands before the error is. */
void __wrap_eddy_graph_free(eddy_graph *g)
{
    if (g && eddy_graph_status(g) != EDDY_OK) {
        char *text = eddy_graph_to_yaml(g);
        if (text) complain("written in spite of an error", eddy_graph_message(g));
        eddy_string_free(text);
        eddy_graph_clear_error(g);
    }
    eddy_graph *copy = g ? through_file(g) : NULL;
    if (copy) {
        count.graphs++;
        count.nodes += eddy_graph_size(g);
        run_every_node(g, copy);
    }
    __real_eddy_graph_free(copy);
    __real_eddy_graph_free(g);
}

int __wrap_main(int argc, char **argv)
{
    __real_main(argc, argv);
    fflush(stdout);
    fprintf(stderr, "%s: %d graphs of %d nodes, %d runs, %d values, %d wrong\n", argv[0],
            count.graphs, count.nodes, count.runs, count.values, count.wrong);
    return count.wrong != 0 || count.graphs == 0 || count.values == 0;
}
