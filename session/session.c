/* session.c -- sessions: checking the arguments of a run, running plans, keeping the state of
 * variables. */
#include "graph/base/cpu.h"
#include "graph/base/interruptible.h"
#include "graph/call_options.h"
#include "session/state/internal.h"
#include "graph/base/thread_pool.h"
#include "session/plan_cache.h"
#include "session/stages/dynamic_shapes.h"
#include "session/explain_numerics.h"
#include "session/stages/stage_runs.h"
#include "session/profile/node_times.h"
#include "session/run/run_memory.h"
#include "session/state/cpu_clock.h"
#include "session/state/run_events.h"
#include "session/state/watches.h"

#include <string.h>

enum { LOCKS = 6 };

/* The first n locks. */
static void destroy_locks(eddy_session *s, int n)
{
    pthread_mutex_t *locks[] = { &s->lock, &s->report_lock, &s->memory_lock, &s->packed_lock,
                                 &s->draws.lock };
    for (int i = 0; i < n && i < LOCKS - 1; i++) pthread_mutex_destroy(locks[i]);
    if (n == LOCKS) pthread_rwlock_destroy(&s->state_lock);
}

static bool make_locks(eddy_session *s)
{
    pthread_mutex_t *locks[] = { &s->lock, &s->report_lock, &s->memory_lock, &s->packed_lock,
                                 &s->draws.lock };
    int              n = 0;
    while (n < LOCKS - 1 && pthread_mutex_init(locks[n], NULL) == 0) n++;
    if (n == LOCKS - 1 && pthread_rwlock_init(&s->state_lock, NULL) == 0) return true;
    destroy_locks(s, n);
    return false;
}

/* About 31 years; the number of nanoseconds is then below 2^60. */
static const double MOST_SECONDS = 1e9;

/* 0 means no timeout, so a positive number is at least 1. */
static int64_t nanoseconds_of(double seconds)
{
    const int64_t n = (int64_t)(seconds * 1e9 + 0.5);
    return seconds > 0 && n == 0 ? 1 : n;
}

eddy_session *eddy_session_new_with(const eddy_session_args *given)
{
    eddy_session_args args = EDDY_TAKE(eddy_session_args, given);
    if (!eddy__graph_alive(args.graph)) return NULL;
    const eddy_allocator *a = eddy__graph_allocator(args.graph);
    eddy_session *s = eddy__allocate_zeroed(a, 1, sizeof *s);
    if (!s) return NULL;
    s->graph = args.graph;
    s->options = args;
    s->draws.first = (uint64_t)args.first_run;
    s->draws.stride = args.run_stride > 0 ? (uint64_t)args.run_stride : 1;
    if (s->options.threads == 0) s->options.threads = eddy__cores();
    s->allocator = *a;
    s->options.profile = args.profile || args.trace;
    if (s->options.profile) {
        s->began_ticks = eddy__ticks();
        s->began_nanoseconds = eddy__monotonic_nanoseconds();
    }
    atomic_init(&s->closed, false);
    atomic_init(&s->stop_requests, 0);
    const bool usable = args.timeout >= 0 && args.timeout <= MOST_SECONDS;
    atomic_init(&s->timeout, usable ? nanoseconds_of(args.timeout) : 0);
    if (!make_locks(s)) {
        eddy__release(a, s, sizeof *s);
        return NULL;
    }
    if (!eddy__live_add(s, EDDY_LIVE_SESSION)) {
        destroy_locks(s, LOCKS);
        eddy__release(a, s, sizeof *s);
        return NULL;
    }
    eddy__graph_hold(s->graph);
    if (!s->graph->whole) s->error = s->graph->error;
    return s;
}

void eddy_session_close(eddy_session *s)
{
    if (!eddy__live(s, EDDY_LIVE_SESSION)) return;
    atomic_store(&s->closed, true);
    atomic_fetch_add(&s->stop_requests, 1);
}

void eddy_session_cancel(eddy_session *s)
{
    if (s) atomic_fetch_add(&s->stop_requests, 1);
}

eddy_status eddy_session_set_timeout(eddy_session *s, double seconds)
{
    eddy_error e = { 0 };
    if (!eddy__live(s, EDDY_LIVE_SESSION)) return EDDY_INVALID_ARGUMENT;
    if (seconds >= 0 && seconds <= MOST_SECONDS)
        return atomic_store(&s->timeout, nanoseconds_of(seconds)), EDDY_OK;
    eddy__error_set(&e, EDDY_INVALID_ARGUMENT,
                    "session_set_timeout: %g seconds; expected 0, for none, to %g", seconds,
                    MOST_SECONDS);
    eddy__session_note(s, &e);
    return e.status;
}

static void free_callable(eddy_callable *c)
{
    eddy__live_remove(c);
    const eddy_allocator *a = &c->session->allocator;
    eddy__release(a, c->feeds, (size_t)c->n_feeds * sizeof *c->feeds);
    eddy__release(a, c->fetches, (size_t)c->n_fetches * sizeof *c->fetches);
    eddy__release(a, c, sizeof *c);
}

void eddy_session_free(eddy_session *s)
{
    if (eddy__session_enter(s) && !s->of_graph) eddy__session_destroy(s);
}

void eddy__session_destroy(eddy_session *s)
{
    eddy__live_remove(s);
    eddy__interruptible_wait(&s->stop_requests);
    eddy__call_blocks_free(&s->stop_requests);
    eddy__eval_cache_free(s);
    for (eddy_callable *c = s->callables, *next; c; c = next) {
        next = c->next;
        free_callable(c);
    }
    for (eddy_plan *p = s->plans, *next; p; p = next) {
        next = p->next;
        eddy__plan_free(p);
    }
    eddy__run_memory_free(s);
    for (stages *t = s->stages, *next; t; t = next) {
        next = t->next;
        eddy__stages_free(s, t);
    }
    for (int32_t id = 0; id < s->states_capacity; id++) {
        if (!s->states[id]) continue;
        eddy_array_free(s->states[id]->value);
        eddy__release(&s->allocator, s->states[id], sizeof **s->states);
    }
    eddy__release(&s->allocator, s->states, (size_t)s->states_capacity * sizeof *s->states);
    eddy__draws_free(s);
    eddy__node_times_free(s);
    eddy__trace_free(s);
    eddy__watches_free(s);
    destroy_locks(s, LOCKS);
    eddy_graph *holds = s->of_graph ? NULL : s->graph;
    eddy_allocator a = s->allocator;
    eddy__release(&a, s, sizeof *s);
    if (holds) eddy__graph_drop(holds);
}

/* -------------------------------------------------------------- checking -- */

bool eddy__session_check(const eddy_session *s, eddy_error *e)
{
    if (atomic_load(&s->closed))
        return eddy__error_set(e, EDDY_CLOSED, "Attempted to use a closed Session.");
    if (!eddy__graph_alive(s->graph))
        return eddy__error_set(e, EDDY_CLOSED, "the session's graph has been freed");
    if (s->options.threads < 1 || s->options.threads > EDDY_MOST_THREADS)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "session_new: threads is %d; expected 1 to %d", s->options.threads,
                               (int)EDDY_MOST_THREADS);
    if (!(s->options.timeout >= 0 && s->options.timeout <= MOST_SECONDS))
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "session_new: timeout is %g seconds; expected 0, for none, to %g",
                               s->options.timeout, MOST_SECONDS);
    if (s->options.first_run < 0 || s->options.run_stride < 1)
        return eddy__error_set(
            e, EDDY_INVALID_ARGUMENT,
            "session_new: first_run is %lld and run_stride %lld; expected 0 and 1, "
            "or more",
            (long long)s->options.first_run, (long long)s->options.run_stride);
    if (s->options.check_numerics < 0 || s->options.check_numerics > EDDY_NUMERICS_ALL)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "session_new: check_numerics is %d; expected 0 to %d",
                               s->options.check_numerics, (int)EDDY_NUMERICS_ALL);
    if (!eddy__instructions_are_known())
        return eddy__error_set(
            e, EDDY_INVALID_ARGUMENT,
            "the environment variable EDDY_CPU must be baseline, avx2 or avx512");
    if (s->graph->error.status != EDDY_OK && !s->graph->whole) {
        *e = s->graph->error;
        return false;
    }
    if (s->graph->size == 0)
        return eddy__error_set(
            e, EDDY_INVALID_ARGUMENT,
            "The Session graph is empty.  Add operations to the graph before calling run().");
    return true;
}

static bool is_element(const eddy_session *s, eddy_tensor t)
{
    return t.graph == s->graph && eddy_is_valid(t);
}

/* Why it cannot be fed, or fetched. */
static const char *role_name(const eddy_session *s, eddy_tensor t)
{
    if (is_element(s, t)) return "an operation without a value";
    return t.node > 0 ? "not an element of this graph"
                      : "not a tensor; perhaps a missing gradient or the result of a failed call";
}

static bool can_be_fed(const eddy_session *s, eddy_tensor t, int i, eddy_error *e)
{
    return (is_element(s, t) && eddy_outputs_of(t) > 0) ||
           eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                           "Cannot interpret feed %d as Tensor: it is %s", i, role_name(s, t));
}

bool eddy__session_check_feed(const eddy_session *s, const eddy_feed *f, int i, eddy_error *e)
{
    char have[100], want[100];
    if (!can_be_fed(s, f->tensor, i, e)) return false;
    const eddy_node *node = eddy_node_of(f->tensor);
    const eddy_type  t = node->outputs[f->tensor.output];
    if (!f->value)
        return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                               "feed %d, '%s:%d' of shape %s, has no value; its array is NULL, "
                               "perhaps because its elements do not match its shape",
                               i, node->name, (int)f->tensor.output,
                               eddy_shape_print(t.shape, want, sizeof want));
    if (eddy_array_dtype(f->value) != t.dtype)
        return eddy__error_set(
            e, EDDY_BAD_DTYPE,
            "Type of feed value %s is not compatible with Tensor '%s:%d' of type %s",
            eddy_dtype_name(eddy_array_dtype(f->value)), node->name, (int)f->tensor.output,
            eddy_dtype_name(t.dtype));
    if (!eddy_shape_compatible(eddy_array_shape(f->value), t.shape))
        return eddy__error_set(
            e, EDDY_BAD_SHAPE,
            "Cannot feed value of shape %s for Tensor '%s:%d', which has shape %s",
            eddy_shape_print(eddy_array_shape(f->value), have, sizeof have), node->name,
            (int)f->tensor.output, eddy_shape_print(t.shape, want, sizeof want));
    return true;
}

static bool check_run(const eddy_session *s, const char *who, eddy_feeds feeds, eddy_list fetches,
                      eddy_error *e)
{
    if (!eddy__check_list(who, "feeds", feeds.count, feeds.at, e) ||
        !eddy__check_list(who, "fetches", fetches.count, fetches.at, e))
        return false;
    for (int i = 0; i < feeds.count; i++) {
        if (!eddy__session_check_feed(s, &feeds.at[i], i, e)) return false;
        for (int j = 0; j < i; j++)
            if (eddy_same(feeds.at[i].tensor, feeds.at[j].tensor))
                return eddy__error_set(e, EDDY_INVALID_ARGUMENT, "'%s:%d' is fed twice",
                                       eddy_name_of(feeds.at[i].tensor),
                                       (int)feeds.at[i].tensor.output);
    }
    for (int i = 0; i < fetches.count; i++)
        if (!is_element(s, fetches.at[i]))
            return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                                   "Fetch argument %d cannot be interpreted as a Tensor: it is %s",
                                   i, role_name(s, fetches.at[i]));
    return true;
}

/* --------------------------------------------------------------- running -- */

static eddy_status record(eddy_session *s, const eddy_error *e)
{
    eddy__session_note(s, e);
    return e->status;
}

/* True if variables have changed since the first stage. */
static bool has_conflict(eddy_session *s, const run_snapshot *snapshot)
{
    if (!snapshot || !snapshot->begun) return false;
    pthread_rwlock_rdlock(&s->state_lock);
    const bool changed = snapshot->changes != s->changes;
    pthread_rwlock_unlock(&s->state_lock);
    return changed;
}

/* The arguments of a run. */
typedef struct run_request {
    eddy_session  *session;
    eddy_feeds     feeds;
    eddy_list      fetches;
    eddy_array   **out;
    eddy_callable *callable;     /* the callable that runs; NULL: none */
    eddy_list      sizes;        /* tensors whose elements decide shapes */
    eddy_stop      stop;
    bool           prepares;     /* compiles only */
    eddy_tensor   *missing;      /* if a plan cannot be compiled: see eddy__take_plan */
    eddy_error    *error;
} run_request;

/* Runs one plan. For a stage, `snapshot` is the state that it shares with the others. */
static bool run_plan(const run_request *r, run_snapshot *snapshot)
{
    enum { FEW = 16 };
    eddy_session     *s = r->session;
    const eddy_array *few[FEW], **values = few;
    const int         n = r->feeds.count;
    const size_t      bytes = (size_t)n * sizeof *values;
    if (n > FEW) values = eddy__allocate(&s->allocator, bytes);
    if (!values) return eddy__error_set(r->error, EDDY_NO_MEMORY, "out of memory (feeds: %d)", n);
    for (int i = 0; i < n; i++) values[i] = r->feeds.at[i].value;
    const plan_request request = { .feeds = r->feeds, .fetches = r->fetches, .sizes = r->sizes,
                                   .callable = r->callable, .stop = &r->stop,
                                   .stage = snapshot != NULL };
    for (bool again = true; again;) {
        eddy_plan *p = eddy__take_plan(s, &request, r->missing, r->error);
        if (p && !r->prepares) eddy__plan_run(p, values, r->out, snapshot, r->stop, r->error);
        if (p && r->error->status == EDDY_CHECK_FAILED)
            eddy__explain_numerics(&request, p, values, r->error);
        again = p && p->stale && !r->prepares;
        if (p ? snapshot && p->conflict : has_conflict(s, snapshot)) {
            /* Even without a plan: results of earlier stages may not match the variables. */
            snapshot->conflict = true;
            *r->error = (eddy_error){ 0 };
        }
        if (p) eddy__give_plan(p);
    }
    if (values != few) eddy__release(&s->allocator, values, bytes);
    return r->error->status == EDDY_OK;
}

/* A run in stages. */
typedef struct stages_run {
    const run_request *whole;
    const stages      *t;
    eddy_feed         *feeds;    /* the feeds of the run, followed by the results of stages */
    int                n_feeds;
    node_value        *made;     /* by cut */
    eddy_array       **arrays;   /* of the plan of a stage */
    node_run          *nodes;
    uint64_t          *taken;    /* see run_snapshot */
} stages_run;

/* Results cut[from] to cut[to] are fed to the plans that follow, as far as these read them. */
static void feed_results(stages_run *a, int from, int to)
{
    for (int k = from; k < to; k++)
        if (a->t->use[k] == CUT_FED || a->t->use[k] == CUT_RUN)
            a->feeds[a->n_feeds++] = (eddy_feed){ a->t->cut[k], a->made[k].array };
}

/* The plan of stage i. */
static bool run_planned(stages_run *a, int i, run_snapshot *snapshot)
{
    const stages *t = a->t;
    const int     from = i > 0 ? t->end[i - 1] : 0, n = t->planned[i] - from;
    run_request   r = { .session = a->whole->session, .error = a->whole->error, .out = a->arrays,
                        .sizes = a->whole->sizes, .missing = a->whole->missing,
                        .stop = a->whole->stop,
                        .feeds = { a->n_feeds, a->feeds }, .fetches = { n, t->cut + from } };
    if (n == 0) return true;
    if (!run_plan(&r, snapshot)) return false;
    for (int k = 0; k < n && !snapshot->conflict; k++) {
        eddy__value_free(&a->made[from + k]);
        a->made[from + k] = eddy__value_of_array(a->arrays[k]);
        a->arrays[k] = NULL;
    }
    feed_results(a, from, t->planned[i]);
    return true;
}

/* Runs all stages once. All of them see the variables at the time of the first: only the last
 * stage may update variables, so a stage that finds them changed has nothing to undo. */
static bool try_stages(stages_run *a, bool *conflict)
{
    const stages *t = a->t;
    run_snapshot  snapshot = { .taken = a->taken };
    run_request   r = *a->whole;
    bool          ok = true;
    a->n_feeds = a->whole->feeds.count;
    for (int i = 0; ok && !snapshot.conflict && i < t->n; i++) {
        ok = run_planned(a, i, &snapshot);
        if (!ok || snapshot.conflict) break;
        ok = eddy__stage_runs(a->nodes, t, i, a->whole->feeds, a->made, a->taken);
        feed_results(a, t->planned[i], t->end[i]);
    }
    r.feeds = (eddy_feeds){ a->n_feeds, a->feeds };
    if (ok && !snapshot.conflict) ok = run_plan(&r, &snapshot);
    *conflict = snapshot.conflict;
    return ok;
}

static bool make_stage_room(stages_run *a, const eddy_allocator *in, int n)
{
    a->feeds = eddy__allocate_zeroed(in, (size_t)n, sizeof *a->feeds);
    a->made = eddy__allocate_zeroed(in, (size_t)a->t->n_cut, sizeof *a->made);
    a->arrays = eddy__allocate_zeroed(in, (size_t)a->t->n_cut, sizeof *a->arrays);
    if (a->feeds && a->made && a->arrays) return true;
    return eddy__error_set(a->whole->error, EDDY_NO_MEMORY,
                           "out of memory for the stages of a run");
}

/* Runs the plans in sequence, each with the results of earlier ones as feeds. For random
 * operations they are one run. If variables change between two plans, the run starts again. */
static bool run_stages(const run_request *r, const stages *t, uint64_t *taken)
{
    const eddy_allocator *in = &r->session->allocator;
    const int             n = r->feeds.count + t->n_cut;
    node_run              nodes;
    stages_run a = { .whole = r, .t = t, .taken = taken, .nodes = &nodes };
    bool       ok = make_stage_room(&a, in, n), again = true;
    eddy__node_run_begin(&nodes, r->session, true, r->stop, r->error);
    for (int i = 0; ok && i < r->feeds.count; i++) a.feeds[i] = r->feeds.at[i];
    while (ok && again) ok = try_stages(&a, &again);
    for (int k = 0; a.made && k < t->n_cut; k++) eddy__value_free_late(&a.made[k], &r->stop);
    for (int k = 0; a.arrays && k < t->n_cut; k++) eddy_array_free(a.arrays[k]);
    eddy__node_run_end(&nodes);
    eddy__release(in, a.feeds, (size_t)n * sizeof *a.feeds);
    eddy__release(in, a.made, (size_t)t->n_cut * sizeof *a.made);
    eddy__release(in, a.arrays, (size_t)t->n_cut * sizeof *a.arrays);
    return ok;
}

/* Room for what the stages of a run share. */
static bool make_draw_room(eddy_session *s, const eddy_stop *stop, uint64_t **taken, int32_t *n,
                           eddy_error *e)
{
    if (!eddy__lock_session(s, stop, e)) return false;
    const bool ok = eddy__draws_room(s, taken, n, e);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

/* A run, of the callable if there is one. It begins again with one more stage as long as a plan
 * cannot be compiled without the elements of a tensor; nothing has changed a variable by then. */
static eddy_status run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out,
                       eddy_callable *c, bool prepares, eddy_stop stop)
{
    eddy_error  e = { 0 };
    eddy_tensor missing = EDDY_NO_TENSOR;
    run_request r = { .session = s, .feeds = feeds, .fetches = fetches, .out = out,
                      .callable = c, .missing = &missing, .stop = stop,
                      .prepares = prepares, .error = &e };
    stages     *t;
    uint64_t   *taken = NULL;
    int32_t     n_taken = 0;
    if (!eddy__session_check(s, &e) || !check_run(s, "run", feeds, fetches, &e) ||
        !eddy__stages_of(s, feeds, fetches, &stop, &t, &e))
        return record(s, &e);
    do {
        if (t) r.sizes = (eddy_list){ t->n_sizes, t->sizes };
        if (t && t->n > 0 && prepares) {
            missing = EDDY_NO_TENSOR;
            e = (eddy_error){ 0 };
            eddy__error_set(&e, EDDY_UNIMPLEMENTED, "prepare: shapes depend on values that only a "
                            "run computes, such as '%.200s'", eddy_name_of(t->cut[0]));
        } else if (t && t->n > 0 && make_draw_room(s, &stop, &taken, &n_taken, &e))
            run_stages(&r, t, taken);
        else if (!t || t->n == 0) run_plan(&r, NULL);
    } while (missing.node > 0 && e.status != EDDY_NOT_FED &&
             eddy__stages_add_size(s, feeds, fetches, &stop, &t, missing, &e));
    eddy__stages_release(s, t);
    eddy__release(&s->allocator, taken, (size_t)n_taken * sizeof *taken);
    return e.status == EDDY_OK ? EDDY_OK : record(s, &e);
}

eddy_status eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out)
{
    return eddy__session_enter(s) ? run(s, feeds, fetches, out, NULL, false, eddy__stop_begin(s))
                                  : EDDY_INVALID_ARGUMENT;
}

eddy_status eddy_prepare(eddy_session *s, eddy_feeds feeds, eddy_list fetches)
{
    return eddy__session_enter(s) ? run(s, feeds, fetches, NULL, NULL, true, eddy__stop_begin(s))
                                  : EDDY_INVALID_ARGUMENT;
}

/* ------------------------------------------------------------- callables -- */

eddy_callable *eddy_callable_new(eddy_session *s, eddy_list feeds, eddy_list fetches)
{
    eddy_error e = { 0 };
    if (!eddy__session_enter(s)) return NULL;
    bool ok = eddy__session_check(s, &e) &&
              check_run(s, "callable_new", (eddy_feeds){ 0 }, fetches, &e) &&
              eddy__check_list("callable_new", "feeds", feeds.count, feeds.at, &e);
    for (int i = 0; ok && i < feeds.count; i++)
        ok = can_be_fed(s, feeds.at[i], i, &e);
    eddy_callable *c = ok ? eddy__allocate_zeroed(&s->allocator, 1, sizeof *c) : NULL;
    if (c) {
        c->feeds = eddy__allocate_zeroed(&s->allocator, (size_t)feeds.count, sizeof *c->feeds);
        c->fetches =
            eddy__allocate_zeroed(&s->allocator, (size_t)fetches.count, sizeof *c->fetches);
        c->session = s;
        c->n_feeds = feeds.count;
        c->n_fetches = fetches.count;
    }
    if (c && (!c->feeds || !c->fetches || !eddy__live_add(c, EDDY_LIVE_CALLABLE))) {
        free_callable(c);
        c = NULL;
    }
    if (!c) {
        eddy__error_set(&e, EDDY_NO_MEMORY, "out of memory for a callable");
        record(s, &e);
        return NULL;
    }
    for (int i = 0; i < feeds.count; i++) c->feeds[i].tensor = feeds.at[i];
    for (int i = 0; i < fetches.count; i++) c->fetches[i] = fetches.at[i];
    pthread_mutex_lock(&s->lock);
    c->next = s->callables;
    s->callables = c;
    pthread_mutex_unlock(&s->lock);
    return c;
}

static bool is_open(const eddy_session *s)
{
    return !atomic_load(&s->closed) && eddy__graph_alive(s->graph) &&
           (s->graph->whole || eddy__graph_ready(s->graph));
}

/* Of a failed run of the callable. */
static void explain(const eddy_callable *c, eddy_plan *p, const eddy_array *const *feeds,
                    const eddy_stop *stop, eddy_error *e)
{
    const size_t bytes = (size_t)c->n_feeds * sizeof(eddy_feed);
    eddy_feed   *at = eddy__allocate(&c->session->allocator, bytes);
    for (int i = 0; at && i < c->n_feeds; i++) at[i] = (eddy_feed){ c->feeds[i].tensor, feeds[i] };
    const plan_request request = { .feeds = { c->n_feeds, at },
                                   .fetches = { c->n_fetches, c->fetches }, .stop = stop };
    if (at) eddy__explain_numerics(&request, p, feeds, e);
    eddy__release(&c->session->allocator, at, bytes);
}

eddy_status eddy_callable_run(eddy_callable *c, const eddy_array *const *feeds, eddy_array **out)
{
    enum { FEW = 16 };
    eddy_feed few[FEW], *at = few;
    if (!eddy__live(c, EDDY_LIVE_CALLABLE) || !eddy__session_enter(c->session))
        return EDDY_INVALID_ARGUMENT;
    const eddy_stop stop = eddy__stop_begin(c->session);
    eddy_plan *p = is_open(c->session) ? eddy__take_again(c, feeds, &stop) : NULL;
    if (p) {
        eddy_error e;
        e.status = EDDY_OK;
        eddy__plan_run(p, feeds, out, NULL, stop, &e);
        if (e.status == EDDY_CHECK_FAILED) explain(c, p, feeds, &stop, &e);
        const bool stale = p->stale;
        eddy__give_plan(p);
        if (!stale) return e.status == EDDY_OK ? EDDY_OK : record(c->session, &e);
    }
    size_t bytes = (size_t)c->n_feeds * sizeof *at;
    if (c->n_feeds > FEW) at = eddy__allocate(&c->session->allocator, bytes);
    if (!at) {
        eddy_error e = { 0 };
        eddy__error_set(&e, EDDY_NO_MEMORY, "out of memory (feeds: %d)", c->n_feeds);
        return record(c->session, &e);
    }
    for (int i = 0; i < c->n_feeds; i++)
        at[i] = (eddy_feed){ c->feeds[i].tensor, feeds ? feeds[i] : NULL };
    eddy_status status = run(c->session, (eddy_feeds){ c->n_feeds, at },
                             (eddy_list){ c->n_fetches, c->fetches }, out, c, false, stop);
    if (at != few) eddy__release(&c->session->allocator, at, bytes);
    return status;
}

eddy_plan_info eddy_callable_plan_info(const eddy_callable *c)
{
    eddy_plan_info info = { 0 };
    if (!eddy__live(c, EDDY_LIVE_CALLABLE) || !eddy__session_enter(c->session)) return info;
    pthread_mutex_lock(&c->session->lock);
    info = c->plan ? c->plan->info : c->info;
    pthread_mutex_unlock(&c->session->lock);
    return info;
}

void eddy_callable_free(eddy_callable *c)
{
    if (!eddy__live(c, EDDY_LIVE_CALLABLE) || !eddy__session_enter(c->session)) return;
    eddy_session *s = c->session;
    pthread_mutex_lock(&s->lock);
    for (eddy_callable **at = &s->callables; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    pthread_mutex_unlock(&s->lock);
    free_callable(c);
}
