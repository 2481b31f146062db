/* tape.c -- gradient tapes, stored as intervals of node ids.
 *
 * Ids grow as nodes are built, so a recording is a list of intervals, and "was on the tape when
 * it was used" is a comparison of ids. The nodes on a tape are determined when a gradient is
 * requested, in one pass over its intervals. */
#include "autodiff/tape.h"
#include "graph/call_options.h"
#include "autodiff/internal.h"
#include "ops/ops.h"

#include <string.h>

/* Nodes with begin < id <= end. */
typedef struct interval {
    int32_t begin, end;
} interval;

/* Watched for nodes with id > after. */
typedef struct watched {
    eddy_tensor tensor;
    int32_t     after;
} watched;

struct eddy_tape {
    eddy_allocator allocator;
    eddy_graph    *graph;
    bool           persistent, automatic;
    bool           entered, recording, paused, spent;
    interval      *intervals;
    int            n_intervals, intervals_capacity;
    watched       *watches;
    int            n_watches, watches_capacity;
};

enum { OPEN = INT32_MAX };

/* The tape's graph if both live and the graph has no error. */
static eddy_graph *ready_graph(const eddy_tape *t)
{
    return eddy__live(t, EDDY_LIVE_TAPE) && eddy__graph_ready(t->graph) ? t->graph : NULL;
}

/* The same; if the tape is invalid, an error on the graph of the lists, and NULL. */
static eddy_graph *graph_of_call(const eddy_tape *t, const char *who, eddy_list a, eddy_list b)
{
    if (eddy__live(t, EDDY_LIVE_TAPE)) return ready_graph(t);
    eddy_graph *g = eddy__graph_of_any(a);
    if (!g) g = eddy__graph_of_any(b);
    if (eddy__graph_ready(g)) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: the tape is NULL", who);
    return NULL;
}

/* The status after the call. */
static eddy_status status_of(const eddy_tape *t)
{
    return eddy__live(t, EDDY_LIVE_TAPE) ? eddy__status_of(t->graph) : EDDY_INVALID_ARGUMENT;
}

static void drop_arrays(eddy_tape *t)
{
    eddy__release(&t->allocator, t->intervals,
                  (size_t)t->intervals_capacity * sizeof *t->intervals);
    eddy__release(&t->allocator, t->watches, (size_t)t->watches_capacity * sizeof *t->watches);
    t->intervals = NULL;
    t->watches = NULL;
    t->n_intervals = t->intervals_capacity = t->n_watches = t->watches_capacity = 0;
}

static void release(void *object)
{
    eddy_tape     *t = object;
    eddy_allocator memory = t->allocator;
    eddy__live_remove(t);
    drop_arrays(t);
    eddy__release(&memory, t, sizeof *t);
}

eddy_tape *eddy_tape_new_with(const eddy_tape_args *given)
{
    eddy_tape_args args = EDDY_TAKE(eddy_tape_args, given);
    eddy_graph *g = args.graph;
    if (!eddy__graph_ready(g)) return NULL;
    eddy_tape *t = eddy__allocate_zeroed(eddy__graph_allocator(g), 1, sizeof *t);
    if (!t || !eddy__live_add(t, EDDY_LIVE_TAPE)) {
        eddy__release(eddy__graph_allocator(g), t, sizeof *t);
        eddy_fail(g, EDDY_NO_MEMORY, "tape_new: out of memory");
        return NULL;
    }
    t->allocator = *eddy__graph_allocator(g);
    t->graph = g;
    t->persistent = args.persistent;
    t->automatic = !args.no_watch_accessed_variables;
    return eddy_graph_own(g, t, release) ? t : NULL;
}

/* The object exists until its graph is freed, because the graph holds its address. */
void eddy_tape_free(eddy_tape *t)
{
    if (!eddy__live(t, EDDY_LIVE_TAPE)) return;
    eddy__live_remove(t);
    drop_arrays(t);
}

/* ------------------------------------------------------------- recording -- */

static bool grow_list(eddy_tape *t, void **list, int count, int *capacity, size_t size)
{
    if (count < *capacity) return true;
    int bigger = *capacity ? 2 * *capacity : 8;
    if (!eddy__grow(&t->allocator, list, (size_t)*capacity, (size_t)bigger, size)) {
        eddy_fail(t->graph, EDDY_NO_MEMORY, "tape: out of memory");
        return false;
    }
    *capacity = bigger;
    return true;
}

static bool open_interval(eddy_tape *t)
{
    if (!grow_list(t, (void **)&t->intervals, t->n_intervals, &t->intervals_capacity,
                   sizeof *t->intervals))
        return false;
    t->intervals[t->n_intervals++] = (interval){ t->graph->size, OPEN };
    return true;
}

static void close_interval(eddy_tape *t)
{
    if (t->n_intervals > 0 && t->intervals[t->n_intervals - 1].end == OPEN)
        t->intervals[t->n_intervals - 1].end = t->graph->size;
}

eddy_tape *eddy_tape_begin(eddy_tape *t)
{
    eddy_graph *g = ready_graph(t);
    if (!g) return NULL;
    if (t->recording) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Tape is already recording.");
        return NULL;
    }
    if (t->spent) {                     /* used once and not persistent: a new recording */
        t->n_intervals = t->n_watches = 0;
        t->spent = false;
    }
    if (!open_interval(t)) return NULL;
    t->entered = t->recording = true;
    return t;
}

void eddy_tape_end(eddy_tape *t)
{
    if (!eddy__live(t, EDDY_LIVE_TAPE) || !eddy__graph_alive(t->graph)) return;
    close_interval(t);
    t->recording = t->paused = false;
}

eddy_tape *eddy_tape_pause(eddy_tape *t)
{
    eddy_graph *g = ready_graph(t);
    if (!g) return NULL;
    if (!t->entered)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Trying to stop recording a tape which is not recording.");
    else if (!t->recording || t->paused)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Tape is not recording.");
    else {
        close_interval(t);
        t->paused = true;
        return t;
    }
    return NULL;
}

void eddy_tape_stop_recording(eddy_tape *t) { eddy_tape_pause(t); }

void eddy_tape_resume(eddy_tape *t)
{
    if (!eddy__live(t, EDDY_LIVE_TAPE) || !eddy__graph_alive(t->graph)) return;
    if (!t->paused)
        eddy_fail(t->graph, EDDY_INVALID_ARGUMENT, "tape_resume: the tape is not stopped");
    else if (open_interval(t)) t->paused = false;
}

bool eddy_tape_is_recording(const eddy_tape *t)
{
    return eddy__live(t, EDDY_LIVE_TAPE) && t->recording && !t->paused;
}

void eddy_tape_block_end(eddy_tape_block *block)
{
    if (block) eddy_tape_end(block->tape);
}

/* The recording may have ended within the block: then there is nothing to resume. */
void eddy_tape_pause_end(eddy_tape_block *block)
{
    if (block && eddy__live(block->tape, EDDY_LIVE_TAPE) && block->tape->paused)
        eddy_tape_resume(block->tape);
}

void eddy_tape_watch(eddy_tape *t, eddy_list tensors)
{
    eddy_graph *g = graph_of_call(t, "tape_watch", tensors, tensors);
    if (!g || !eddy__list_is_of(g, "tape_watch", "tensors", tensors)) return;
    if (!t->recording)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "tape_watch: Tape is not recording.");
    for (int i = 0; i < tensors.count && eddy__graph_ready(g); i++)
        if (grow_list(t, (void **)&t->watches, t->n_watches, &t->watches_capacity,
                      sizeof *t->watches))
            t->watches[t->n_watches++] = (watched){ tensors.at[i], g->size };
}

void eddy_tape_reset(eddy_tape *t)
{
    eddy_graph *g = ready_graph(t);
    if (!g) return;
    if (!t->recording || t->paused) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "tape_reset: Tape is not recording.");
        return;
    }
    t->n_intervals = t->n_watches = 0;
    open_interval(t);
}

/* ---------------------------------------------------------- recorded nodes -- */

enum { PARTLY = 4, TRAINABLE = 8, LISTED = 16 };

typedef struct tape_marks {
    eddy_recording seen;
    uint8_t       *marks;
    int32_t       *since;
    eddy_tensor   *variables;           /* watched ones, in the order of first use; or NULL */
    int            n_variables, room;
} tape_marks;

static void list_variable(tape_marks *r, eddy_tensor v)
{
    if (r->marks[v.node] & LISTED) return;
    r->marks[v.node] |= LISTED;
    if (r->n_variables < r->room) r->variables[r->n_variables] = v;
    r->n_variables++;
}

static void mark_watched(tape_marks *r, const eddy_tape *t, eddy_tensor x)
{
    r->marks[x.node] |= EDDY_TAPED;
    if (t->graph->nodes[x.node]->op->flags & EDDY_OP_VARIABLE) list_variable(r, x);
}

/* Watches an output for nodes that are built later; other outputs of its node are not watched. */
static void watch(tape_marks *r, const eddy_tape *t, const watched *w)
{
    const int32_t id = w->tensor.node;
    if (!(r->marks[id] & EDDY_TAPED)) {
        if (t->graph->nodes[id]->n_outputs > 1) r->marks[id] |= PARTLY;
        else r->since[id] = w->after;
    }
    mark_watched(r, t, w->tensor);
}

bool eddy__on_tape(const eddy_recording *r, eddy_tensor x, int32_t user)
{
    if (x.node > r->size || !(r->marks[x.node] & EDDY_TAPED)) return false;
    if (!(r->marks[x.node] & PARTLY)) return user > r->since[x.node];
    const eddy_tape *t = r->tape;
    for (int i = 0; i < t->n_watches; i++)
        if (t->watches[i].tensor.node == x.node && t->watches[i].tensor.output == x.output &&
            user > t->watches[i].after)
            return true;
    return false;
}

static void mark_node(tape_marks *r, const eddy_tape *t, const eddy_node *node)
{
    /* an update does not access its variable: TensorFlow watches variables that are read */
    const int first = node->op->flags & EDDY_OP_UPDATES ? 1 : 0;
    for (int i = first; t->automatic && i < node->n_inputs; i++)
        if (r->marks[node->inputs[i].node] & TRAINABLE) mark_watched(r, t, node->inputs[i]);
    for (int i = 0; i < node->n_inputs; i++)
        if (eddy_dtype_is_differentiable(eddy_dtype_of(node->inputs[i])) &&
            eddy__on_tape(&r->seen, node->inputs[i], node->id)) {
            r->marks[node->id] =
                (uint8_t)((r->marks[node->id] & ~PARTLY) | EDDY_RECORDED | EDDY_TAPED);
            return;
        }
}

/* Watches take effect between the nodes around them. */
static void mark_all(tape_marks *r, const eddy_tape *t)
{
    int at = 0;
    for (int i = 0; i < t->n_intervals; i++) {
        int32_t end = t->intervals[i].end < t->graph->size ? t->intervals[i].end : t->graph->size;
        for (int32_t id = t->intervals[i].begin + 1; id <= end; id++) {
            while (at < t->n_watches && t->watches[at].after < id)
                watch(r, t, &t->watches[at++]);
            mark_node(r, t, t->graph->nodes[id]);
        }
    }
    while (at < t->n_watches) watch(r, t, &t->watches[at++]);
}

static bool marks_begin(tape_marks *r, const eddy_tape *t, eddy_tensor *variables, int room)
{
    eddy_graph *g = t->graph;
    *r = (tape_marks){ .variables = variables, .room = room };
    r->marks = eddy__allocate_zeroed(&t->allocator, (size_t)g->size + 1, 1);
    r->since = eddy__allocate_zeroed(&t->allocator, (size_t)g->size + 1, sizeof *r->since);
    r->seen = (eddy_recording){ .marks = r->marks, .since = r->since, .size = g->size, .tape = t };
    if (!r->marks || !r->since) {
        eddy_fail(g, EDDY_NO_MEMORY, "tape: out of memory (nodes: %d)", (int)g->size);
        return false;
    }
    int n = eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES);
    for (int i = 0; t->automatic && i < n; i++)
        r->marks[eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, i).node] |= TRAINABLE;
    mark_all(r, t);
    return true;
}

static void marks_end(tape_marks *r, const eddy_tape *t, int32_t size)
{
    eddy__release(&t->allocator, r->marks, (size_t)size + 1);
    eddy__release(&t->allocator, r->since, ((size_t)size + 1) * sizeof *r->since);
}

int eddy_tape_watched_variables(eddy_tape *t, eddy_tensor *out, int room)
{
    tape_marks r;
    if (!ready_graph(t)) return 0;
    if (room < 0 || (room > 0 && !out)) {
        eddy_fail(t->graph, EDDY_INVALID_ARGUMENT,
                  "tape_watched_variables: the number of variables is %d, but out is NULL", room);
        return 0;
    }
    const bool ok = marks_begin(&r, t, out, room);
    marks_end(&r, t, t->graph->size);
    return ok ? r.n_variables : 0;
}

/* --------------------------------------------------- requesting gradients -- */

/* True if the tape may compute a gradient now; then marks it as used. */
static bool begin_gradient(eddy_tape *t, const char *what)
{
    eddy_graph *g = t->graph;
    if (!t->entered || t->spent) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "GradientTape.%s can only be called once on non-persistent tapes.", what);
        return false;
    }
    if (!t->persistent) {
        eddy_tape_end(t);
        t->spent = true;
    }
    return true;
}

/* Stores the differentiable targets in t, followed by their output gradients if there are any.
 * Returns the number of targets. */
static int keep_targets(const eddy_tape_gradient_args *a, eddy_tensor *t)
{
    int n = 0;
    for (int i = 0; i < a->target.count; i++) {
        if (!eddy_dtype_is_differentiable(eddy_dtype_of(a->target.at[i]))) continue;
        t[n] = a->target.at[i];
        if (a->output_gradients.count > 0) t[a->target.count + n] = a->output_gradients.at[i];
        n++;
    }
    return n;
}

/* Replaces missing results by zeros if requested. Sums of sparse and dense gradients are dense
 * already. */
static void finish_results(const eddy_tape_gradient_args *a)
{
    for (int k = 0; k < a->sources.count; k++) {
        eddy_tensor x = a->sources.at[k];
        if (!eddy_dtype_is_differentiable(eddy_dtype_of(x))) a->out[k] = eddy_none(x.graph);
        if (!eddy_is_valid(a->out[k]) && a->unconnected_gradients == EDDY_UNCONNECTED_ZERO)
            a->out[k] = eddy_zeros_like(x);
    }
}

static bool lists_fit(eddy_graph *g, const eddy_tape_gradient_args *a)
{
    static const char   who[] = "tape_gradient";
    const eddy_weighted w = { who, "output_gradients", "target", a->output_gradients, a->target };
    if (!eddy__list_is_of(g, who, "target", a->target) ||
        !eddy__list_is_of(g, who, "sources", a->sources))
        return false;
    if (!a->out && a->sources.count > 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: out is NULL", who);
    else if ((unsigned)a->unconnected_gradients > EDDY_UNCONNECTED_ZERO)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Unknown value for unconnected_gradients: '%d'",
                  (int)a->unconnected_gradients);
    return eddy__graph_ready(g) && eddy__weights_fit(g, &w);
}

static void gradient(eddy_tape *t, const eddy_tape_gradient_args *a, const eddy_recording *seen)
{
    eddy_graph   *g = t->graph;
    const int64_t most = 2 * (int64_t)a->target.count;
    eddy_tensor  *kept = eddy__tensors_new(g, most);
    if (!kept) return;
    const int n = keep_targets(a, kept);
    eddy_gradients_args s = { .ys = { n, kept }, .xs = a->sources, .out = a->out,
                              .name = a->name };
    if (a->output_gradients.count > 0) s.grad_ys = (eddy_list){ n, kept + a->target.count };
    if (n == 0 || eddy__sweep(&s, seen) == EDDY_OK) finish_results(a);
    eddy__tensors_free(g, kept, most);
}

eddy_status eddy_tape_gradient_with(const eddy_tape_gradient_args *given)
{
    eddy_tape_gradient_args a = EDDY_TAKE(eddy_tape_gradient_args, given);
    eddy_tape  *t = a.tape;
    eddy_graph *g = graph_of_call(t, "tape_gradient", a.target, a.sources);
    tape_marks  r;
    eddy__tensors_clear(g, a.out, eddy__list_length(a.sources));
    if (!g) return status_of(t);
    if (!lists_fit(g, &a) || !begin_gradient(t, "gradient")) return eddy_graph_status(g);
    const int32_t size = g->size;
    if (marks_begin(&r, t, NULL, 0)) gradient(t, &a, &r.seen);
    marks_end(&r, t, size);
    return eddy_graph_status(g);
}

/* Jacobians: of a tape that rests. */
static bool begin_jacobian(eddy_tape *t, const char *what)
{
    if (t->recording) {
        eddy_fail(t->graph, EDDY_INVALID_ARGUMENT, "tape_%s: Tape is already recording.", what);
        return false;
    }
    return begin_gradient(t, what);
}

eddy_status eddy__tape_jacobian(eddy_tape *t, const char *what, const eddy_tape_jacobian_call *call)
{
    char who[32];
    snprintf(who, sizeof who, "tape_%s", what);
    eddy_graph *g = graph_of_call(t, who, EDDY_LIST(call->y), call->xs);
    tape_marks  r;
    if (!g) return status_of(t);
    if (call->y.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: y is not a tensor of the tape's graph", who);
    else if (begin_jacobian(t, what)) {
        const int32_t size = g->size;
        if (marks_begin(&r, t, NULL, 0)) call->build(&r.seen, call->context);
        marks_end(&r, t, size);
    }
    return eddy_graph_status(g);
}

eddy_graph *eddy__tape_graph(const eddy_tape *t)
{
    return eddy__live(t, EDDY_LIVE_TAPE) ? t->graph : NULL;
}
