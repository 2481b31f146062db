/* session.c -- sessions: checking a run's arguments, finding its plan, keeping
 * the state of variables. */
#include "session/internal.h"
#include "session/pool.h"
#include "session/stages.h"
#include "session/ticks.h"

#include <string.h>

enum { MAX_PLANS = 64, KEY_ELEMENTS = 64 };

struct eddy_callable {
    struct eddy_callable *next;
    eddy_session *session;
    int           n_feeds, n_fetches;
    eddy_feed    *feeds;
    eddy_tensor  *fetches;
    eddy_plan    *plan;          /* of its last run; NULL if that had stages, or it was dropped */
    eddy_plan_info info;         /* of the last plan that a full run took */
};

static bool make_locks(eddy_session *s)
{
    if (pthread_mutex_init(&s->lock, NULL) != 0) return false;
    if (pthread_mutex_init(&s->report_lock, NULL) == 0) {
        if (pthread_rwlock_init(&s->state_lock, NULL) == 0) return true;
        pthread_mutex_destroy(&s->report_lock);
    }
    pthread_mutex_destroy(&s->lock);
    return false;
}

static void destroy_locks(eddy_session *s)
{
    pthread_rwlock_destroy(&s->state_lock);
    pthread_mutex_destroy(&s->report_lock);
    pthread_mutex_destroy(&s->lock);
}

eddy_session *eddy_session_new_with(eddy_session_args args)
{
    if (!eddy_graph_alive(args.graph)) return NULL;
    const eddy_allocator *a = eddy_graph_allocator(args.graph);
    eddy_session *s = eddy_allocate_zeroed(a, 1, sizeof *s);
    if (!s) return NULL;
    s->graph = args.graph;
    s->options = args;
    if (s->options.threads == 0) s->options.threads = eddy_cores();
    s->allocator = *a;
    if (args.profile) {
        s->began_ticks = eddy_ticks();
        s->began_nanoseconds = eddy_nanoseconds();
    }
    atomic_init(&s->step, 0);
    atomic_init(&s->closed, false);
    if (!make_locks(s)) {
        eddy_release(a, s, sizeof *s);
        return NULL;
    }
    if (!eddy_live_add(s, EDDY_LIVE_SESSION)) {
        destroy_locks(s);
        eddy_release(a, s, sizeof *s);
        return NULL;
    }
    eddy_graph_hold(s->graph);
    if (!s->graph->whole) s->error = s->graph->error;
    return s;
}

void eddy_session_close(eddy_session *s)
{
    if (eddy_live(s, EDDY_LIVE_SESSION)) atomic_store(&s->closed, true);
}

static void free_callable(eddy_callable *c)
{
    eddy_live_remove(c);
    const eddy_allocator *a = &c->session->allocator;
    eddy_release(a, c->feeds, (size_t)c->n_feeds * sizeof *c->feeds);
    eddy_release(a, c->fetches, (size_t)c->n_fetches * sizeof *c->fetches);
    eddy_release(a, c, sizeof *c);
}

void eddy_session_free(eddy_session *s)
{
    if (eddy_session_enter(s) && !s->of_graph) eddy_session_destroy(s);
}

void eddy_session_destroy(eddy_session *s)
{
    eddy_live_remove(s);
    eddy_evaluation_free(s);
    for (eddy_callable *c = s->callables, *next; c; c = next) {
        next = c->next;
        free_callable(c);
    }
    for (eddy_plan *p = s->plans, *next; p; p = next) {
        next = p->next;
        eddy_plan_free(p);
    }
    for (stages *t = s->stages, *next; t; t = next) {
        next = t->next;
        eddy_stages_free(s, t);
    }
    for (int32_t id = 0; id < s->states_capacity; id++) {
        if (!s->states[id]) continue;
        eddy_array_free(s->states[id]->value);
        eddy_release(&s->allocator, s->states[id], sizeof **s->states);
    }
    eddy_release(&s->allocator, s->states, (size_t)s->states_capacity * sizeof *s->states);
    destroy_locks(s);
    eddy_graph *holds = s->of_graph ? NULL : s->graph;
    eddy_allocator a = s->allocator;
    eddy_release(&a, s, sizeof *s);
    if (holds) eddy_graph_drop(holds);
}

eddy_state *eddy_session_state(eddy_session *s, int32_t node)
{
    if (node >= s->states_capacity) {
        int32_t bigger = s->states_capacity ? s->states_capacity * 2 : 64;
        if (bigger <= node) bigger = node + 1;
        if (!eddy_grow(&s->allocator, (void **)&s->states, (size_t)s->states_capacity,
                       (size_t)bigger, sizeof *s->states))
            return NULL;
        s->states_capacity = bigger;
    }
    if (!s->states[node])
        s->states[node] = eddy_allocate_zeroed(&s->allocator, 1, sizeof **s->states);
    return s->states[node];
}

/* -------------------------------------------------------------- checking -- */

bool eddy_session_check(const eddy_session *s, eddy_error *e)
{
    if (atomic_load(&s->closed))
        return eddy_error_set(e, EDDY_CLOSED, "Attempted to use a closed Session.");
    if (!eddy_graph_alive(s->graph))
        return eddy_error_set(e, EDDY_CLOSED, "the session's graph was freed");
    if (s->options.threads < 1 || s->options.threads > EDDY_MOST_THREADS)
        return eddy_error_set(e, EDDY_INVALID_ARGUMENT, "a session uses 1 to %d threads, not %d",
                              (int)EDDY_MOST_THREADS, s->options.threads);
    if (s->graph->error.status != EDDY_OK && !s->graph->whole) {
        *e = s->graph->error;
        return false;
    }
    if (s->graph->size == 0)
        return eddy_error_set(
            e, EDDY_INVALID_ARGUMENT,
            "The Session graph is empty.  Add operations to the graph before calling run().");
    return true;
}

static bool is_element(const eddy_session *s, eddy_tensor t)
{
    return t.graph == s->graph && eddy_is_valid(t);
}

/* Why it cannot be fed, or fetched. */
static const char *what_is(const eddy_session *s, eddy_tensor t)
{
    if (is_element(s, t)) return "an operation without a value";
    return t.node > 0 ? "not an element of this graph"
                      : "no tensor: a gradient that there is not, or what an error left unbuilt";
}

static bool can_be_fed(const eddy_session *s, eddy_tensor t, int i, eddy_error *e)
{
    return (is_element(s, t) && eddy_outputs_of(t) > 0) ||
           eddy_error_set(e, EDDY_INVALID_ARGUMENT,
                          "Cannot interpret feed %d as Tensor: it is %s", i, what_is(s, t));
}

bool eddy_session_check_feed(const eddy_session *s, const eddy_feed *f, int i, eddy_error *e)
{
    char have[100], want[100];
    if (!can_be_fed(s, f->tensor, i, e)) return false;
    const eddy_node *node = eddy_node_of(f->tensor);
    if (!f->value)
        return eddy_error_set(e, EDDY_INVALID_ARGUMENT, "feed %d, '%s:%d', has no value", i,
                              node->name, (int)f->tensor.output);
    eddy_type t = node->outputs[f->tensor.output];
    if (eddy_array_dtype(f->value) != t.dtype)
        return eddy_error_set(
            e, EDDY_BAD_DTYPE,
            "Type of feed value %s is not compatible with Tensor '%s:%d' of type %s",
            eddy_dtype_name(eddy_array_dtype(f->value)), node->name, (int)f->tensor.output,
            eddy_dtype_name(t.dtype));
    if (!eddy_shape_compatible(eddy_array_shape(f->value), t.shape))
        return eddy_error_set(
            e, EDDY_BAD_SHAPE,
            "Cannot feed value of shape %s for Tensor '%s:%d', which has shape %s",
            eddy_shape_print(eddy_array_shape(f->value), have, sizeof have), node->name,
            (int)f->tensor.output, eddy_shape_print(t.shape, want, sizeof want));
    return true;
}

static bool check_run(const eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_error *e)
{
    if (feeds.count < 0 || (feeds.count > 0 && !feeds.at))
        return eddy_error_set(e, EDDY_INVALID_ARGUMENT, "the feeds are not a list");
    if (fetches.count < 0 || (fetches.count > 0 && !fetches.at))
        return eddy_error_set(e, EDDY_INVALID_ARGUMENT, "the fetches are not a list");
    for (int i = 0; i < feeds.count; i++) {
        if (!eddy_session_check_feed(s, &feeds.at[i], i, e)) return false;
        for (int j = 0; j < i; j++)
            if (eddy_same(feeds.at[i].tensor, feeds.at[j].tensor))
                return eddy_error_set(e, EDDY_INVALID_ARGUMENT, "'%s:%d' is fed twice",
                                      eddy_name_of(feeds.at[i].tensor),
                                      (int)feeds.at[i].tensor.output);
    }
    for (int i = 0; i < fetches.count; i++)
        if (!is_element(s, fetches.at[i]))
            return eddy_error_set(e, EDDY_INVALID_ARGUMENT,
                                  "Fetch argument %d cannot be interpreted as a Tensor: it is %s",
                                  i, what_is(s, fetches.at[i]));
    return true;
}

/* ------------------------------------------------------------ the cache -- */

/* Asked under the lock.  What the last run did with a plan that is free is then seen. */
static bool is_busy(const eddy_plan *p)
{
    return atomic_load_explicit(&p->busy, memory_order_acquire);
}

/* Integers few enough to be dimensions, axes or counts. */
static bool may_be_shape(const eddy_array *a)
{
    return eddy_dtype_is_integer(eddy_array_dtype(a)) && eddy_array_count(a) <= KEY_ELEMENTS &&
           eddy_array_shape(a).rank <= 1;
}

static bool feed_fits(const plan_feed *f, const eddy_array *value)
{
    return eddy_shape_equal(f->type.shape, eddy_array_shape(value)) &&
           (!f->keyed || eddy_array_equal(f->value, value));
}

/* Shapes may still change before the run has the state's lock; it asks again. */
static bool variables_fit(const eddy_plan *p)
{
    if (!p->has_open) return true;
    pthread_rwlock_rdlock(&p->session->state_lock);
    const bool fit = eddy_plan_fits(p);
    pthread_rwlock_unlock(&p->session->state_lock);
    return fit;
}

static bool plan_fits(const eddy_plan *p, eddy_feeds feeds, eddy_list fetches)
{
    if (is_busy(p) || p->n_feeds != feeds.count || p->n_fetches != fetches.count) return false;
    for (int i = 0; i < p->n_fetches; i++)
        if (!eddy_same(p->fetches[i], fetches.at[i])) return false;
    for (int i = 0; i < p->n_feeds; i++)
        if (!eddy_same(p->feeds[i].tensor, feeds.at[i].tensor) ||
            !feed_fits(&p->feeds[i], feeds.at[i].value))
            return false;
    return variables_fit(p);
}

enum { KEPT_BYTES = 1 << 30, KEPT_TIMES = 4 };

/* What plans may hold together, the largest of which takes so many bytes. */
static size_t most_bytes(const eddy_session *s, size_t largest)
{
    if (s->options.kept_bytes > 0) return s->options.kept_bytes;
    return largest > KEPT_BYTES / KEPT_TIMES ? KEPT_TIMES * largest : KEPT_BYTES;
}

/* Of those that are free, the plan that was not used for longest; what all hold, and what the
 * largest does. */
static eddy_plan **oldest_plan(eddy_session *s, size_t *held, size_t *largest)
{
    eddy_plan **oldest = NULL;
    for (eddy_plan **at = &s->plans; *at; at = &(*at)->next) {
        *held += (*at)->memory_bytes;
        if ((*at)->memory_bytes > *largest) *largest = (*at)->memory_bytes;
        if (!is_busy(*at) && (!oldest || (*at)->used < (*oldest)->used)) oldest = at;
    }
    return oldest;
}

/* Frees plans, while there are too many beside p or all hold too much. */
static void evict(eddy_session *s, const eddy_plan *p)
{
    for (;;) {
        size_t      held = p->memory_bytes, largest = held;
        eddy_plan **oldest = oldest_plan(s, &held, &largest);
        if (!oldest || (s->n_plans < MAX_PLANS && held <= most_bytes(s, largest))) return;
        eddy_plan *old = *oldest;
        *oldest = old->next;
        s->n_plans--;
        for (eddy_callable *c = s->callables; c; c = c->next)
            if (c->plan == old) c->plan = NULL;
        eddy_plan_free(old);
    }
}

static eddy_plan *compile_for(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_error *e)
{
    size_t     bytes = (size_t)feeds.count * sizeof(plan_feed);
    plan_feed *key = eddy_allocate_zeroed(&s->allocator, (size_t)feeds.count, sizeof *key);
    if (!key) {
        eddy_error_set(e, EDDY_NO_MEMORY, "out of memory for a plan");
        return NULL;
    }
    for (int i = 0; i < feeds.count; i++) {
        const eddy_array *v = feeds.at[i].value;
        key[i].tensor = feeds.at[i].tensor;
        key[i].type = (eddy_type){ eddy_array_dtype(v), eddy_array_shape(v) };
        if (!may_be_shape(v)) continue;
        key[i].value = eddy_array_copy_of(key[i].type.dtype, key[i].type.shape, eddy_array_data(v));
    }
    eddy_plan *p = eddy_compile(s, feeds.count, key, fetches, e);
    for (int i = 0; i < feeds.count; i++) eddy_array_free(key[i].value);
    eddy_release(&s->allocator, key, bytes);
    return p;
}

/* Marks p busy: a run has a plan for itself. */
static eddy_plan *take(eddy_session *s, eddy_plan *p)
{
    atomic_store_explicit(&p->busy, true, memory_order_relaxed);
    p->used = ++s->takings;
    p->info.plans = s->n_plans;
    eddy_session_note_plan(s, &p->info);
    return p;
}

/* The plan for this run, which the callable, if there is one, then remembers; but not
 * that of a stage, which has other feeds. */
static eddy_plan *take_plan(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_callable *c,
                            bool stage, eddy_error *e)
{
    pthread_mutex_lock(&s->lock);
    eddy_plan **at = &s->plans;
    while (*at && !plan_fits(*at, feeds, fetches)) at = &(*at)->next;
    eddy_plan *p = *at;
    if (p) *at = p->next;
    else {
        pthread_rwlock_wrlock(&s->state_lock);
        p = compile_for(s, feeds, fetches, e);
        pthread_rwlock_unlock(&s->state_lock);
        if (p) {
            evict(s, p);
            s->n_plans++;
        }
    }
    if (p) {
        p->next = s->plans;
        s->plans = take(s, p);
        if (c) c->plan = stage ? NULL : p;
        if (c) c->info = p->info;
    }
    pthread_mutex_unlock(&s->lock);
    return p;
}

static void give_plan(eddy_plan *p)
{
    atomic_store_explicit(&p->busy, false, memory_order_release);
}

/* --------------------------------------------------------------- running -- */

static eddy_status record(eddy_session *s, const eddy_error *e)
{
    eddy_session_note(s, e);
    return e->status;
}

/* Whether variables have changed since the first stage. */
static bool is_overtaken(eddy_session *s, const run_moment *moment)
{
    if (!moment || !moment->begun) return false;
    pthread_rwlock_rdlock(&s->state_lock);
    const bool changed = moment->changes != s->changes;
    pthread_rwlock_unlock(&s->state_lock);
    return changed;
}

/* A run of one plan, of the callable if there is one. */
static bool run_plan(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out,
                     eddy_callable *c, run_moment *moment, bool *overtaken, eddy_error *e)
{
    enum { FEW = 16 };
    const eddy_array *few[FEW], **values = few;
    const size_t      bytes = (size_t)feeds.count * sizeof *values;
    if (feeds.count > FEW) values = eddy_allocate(&s->allocator, bytes);
    if (!values)
        return eddy_error_set(e, EDDY_NO_MEMORY, "out of memory for %d feeds", feeds.count);
    for (int i = 0; i < feeds.count; i++) values[i] = feeds.at[i].value;
    for (bool again = true; again;) {
        eddy_plan *p = take_plan(s, feeds, fetches, c, moment != NULL, e);
        if (p) eddy_plan_run(p, values, out, moment, e);
        again = p && p->stale;
        if (p ? p->overtaken : is_overtaken(s, moment)) {
            *overtaken = true;      /* no plan: what was made before may not fit any more */
            *e = (eddy_error){ 0 };
        }
        if (p) give_plan(p);
    }
    if (values != few) eddy_release(&s->allocator, values, bytes);
    return e->status == EDDY_OK;
}

/* The stages once, all of which see the variables of one moment: only the last may update
 * them, so one that finds them changed has nothing to undo. */
static bool try_stages(eddy_session *s, const stages *t, int n_feeds, eddy_feed *all,
                       eddy_array **made, eddy_list fetches, eddy_array **out,
                       eddy_callable *c, uint64_t step, bool *overtaken, eddy_error *e)
{
    run_moment moment = { .step = step };
    bool       ok = true;
    *overtaken = false;
    for (int i = 0, from = 0; ok && !*overtaken && i < t->n; from = t->end[i++]) {
        ok = run_plan(s, (eddy_feeds){ n_feeds + from, all },
                      (eddy_list){ t->end[i] - from, t->cut + from }, made + from, NULL, &moment,
                      overtaken, e);
        for (int k = from; ok && !*overtaken && k < t->end[i]; k++)
            all[n_feeds + k] = (eddy_feed){ t->cut[k], made[k] };
    }
    return ok && (*overtaken || run_plan(s, (eddy_feeds){ n_feeds + t->n_cut, all }, fetches, out,
                                         c, &moment, overtaken, e));
}

/* One plan after the other, each fed with what those before it made.  To random
 * operations they are one run; if variables change between two of them, all begin again. */
static bool run_stages(eddy_session *s, const stages *t, eddy_feeds feeds, eddy_list fetches,
                       eddy_array **out, eddy_callable *c, eddy_error *e)
{
    const int      n = feeds.count + t->n_cut;
    const uint64_t step = atomic_fetch_add(&s->step, 1);
    eddy_feed     *all = eddy_allocate_zeroed(&s->allocator, (size_t)n, sizeof *all);
    eddy_array   **made = eddy_allocate_zeroed(&s->allocator, (size_t)t->n_cut, sizeof *made);
    bool           ok = all && made, again = true;
    if (!ok) eddy_error_set(e, EDDY_NO_MEMORY, "out of memory for the stages of a run");
    if (ok && feeds.count > 0) memcpy(all, feeds.at, (size_t)feeds.count * sizeof *all);
    while (ok && again)
        ok = try_stages(s, t, feeds.count, all, made, fetches, out, c, step, &again, e);
    for (int k = 0; made && k < t->n_cut; k++) eddy_array_free(made[k]);
    eddy_release(&s->allocator, all, (size_t)n * sizeof *all);
    eddy_release(&s->allocator, made, (size_t)t->n_cut * sizeof *made);
    return ok;
}

/* A run, of the callable if there is one. */
static eddy_status run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out,
                       eddy_callable *c)
{
    eddy_error e = { 0 };
    stages    *t;
    if (!eddy_session_check(s, &e) || !check_run(s, feeds, fetches, &e) ||
        !eddy_stages_of(s, feeds, fetches, &t, &e))
        return record(s, &e);
    if (t && t->n > 0) run_stages(s, t, feeds, fetches, out, c, &e);
    else run_plan(s, feeds, fetches, out, c, NULL, NULL, &e);
    if (t && !t->kept) eddy_stages_free(s, t);
    return e.status == EDDY_OK ? EDDY_OK : record(s, &e);
}

eddy_status eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out)
{
    return eddy_session_enter(s) ? run(s, feeds, fetches, out, NULL) : EDDY_INVALID_ARGUMENT;
}

eddy_array *eddy_fetch(eddy_session *s, eddy_tensor t)
{
    eddy_array *out = NULL;
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), &out);
    return out;
}

/* ------------------------------------------------------------- callables -- */

eddy_callable *eddy_callable_new(eddy_session *s, eddy_list feeds, eddy_list fetches)
{
    eddy_error e = { 0 };
    if (!eddy_session_enter(s)) return NULL;
    bool ok = eddy_session_check(s, &e) && check_run(s, (eddy_feeds){ 0 }, fetches, &e);
    if (ok && (feeds.count < 0 || (feeds.count > 0 && !feeds.at)))
        ok = eddy_error_set(&e, EDDY_INVALID_ARGUMENT, "the feeds are not a list");
    for (int i = 0; ok && i < feeds.count; i++)
        ok = can_be_fed(s, feeds.at[i], i, &e);
    eddy_callable *c = ok ? eddy_allocate_zeroed(&s->allocator, 1, sizeof *c) : NULL;
    if (c) {
        c->feeds = eddy_allocate_zeroed(&s->allocator, (size_t)feeds.count, sizeof *c->feeds);
        c->fetches = eddy_allocate_zeroed(&s->allocator, (size_t)fetches.count, sizeof *c->fetches);
        c->session = s;
        c->n_feeds = feeds.count;
        c->n_fetches = fetches.count;
    }
    if (c && (!c->feeds || !c->fetches || !eddy_live_add(c, EDDY_LIVE_CALLABLE))) {
        free_callable(c);
        c = NULL;
    }
    if (!c) {
        eddy_error_set(&e, EDDY_NO_MEMORY, "out of memory for a callable");
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

/* Whether the callable's last plan serves these feeds, which were never checked. */
static bool plan_serves(const eddy_callable *c, const eddy_array *const *feeds)
{
    const eddy_plan *p = c->plan;
    if (!p || is_busy(p) || (c->n_feeds > 0 && !feeds)) return false;
    for (int i = 0; i < c->n_feeds; i++) {
        const eddy_tensor t = c->feeds[i].tensor;
        const eddy_type   type = c->session->graph->nodes[t.node]->outputs[t.output];
        if (!feeds[i] || eddy_array_dtype(feeds[i]) != type.dtype ||
            !eddy_shape_compatible(eddy_array_shape(feeds[i]), type.shape) ||
            !feed_fits(&p->feeds[i], feeds[i]))
            return false;
    }
    return variables_fit(p);
}

/* The callable's last plan if it will do again; NULL leaves it to a full run. */
static eddy_plan *take_again(eddy_callable *c, const eddy_array *const *feeds)
{
    eddy_session *s = c->session;
    pthread_mutex_lock(&s->lock);
    eddy_plan *p = plan_serves(c, feeds) ? take(s, c->plan) : NULL;
    pthread_mutex_unlock(&s->lock);
    return p;
}

static bool is_open(const eddy_session *s)
{
    return !atomic_load(&s->closed) && eddy_graph_alive(s->graph) &&
           (s->graph->whole || eddy_graph_ready(s->graph));
}

eddy_status eddy_callable_run(eddy_callable *c, const eddy_array *const *feeds, eddy_array **out)
{
    enum { FEW = 16 };
    eddy_feed few[FEW], *at = few;
    if (!eddy_live(c, EDDY_LIVE_CALLABLE) || !eddy_session_enter(c->session))
        return EDDY_INVALID_ARGUMENT;
    eddy_plan *p = is_open(c->session) ? take_again(c, feeds) : NULL;
    if (p) {
        eddy_error e;
        e.status = EDDY_OK;
        eddy_plan_run(p, feeds, out, NULL, &e);
        const bool stale = p->stale;
        give_plan(p);
        if (!stale) return e.status == EDDY_OK ? EDDY_OK : record(c->session, &e);
    }
    size_t bytes = (size_t)c->n_feeds * sizeof *at;
    if (c->n_feeds > FEW) at = eddy_allocate(&c->session->allocator, bytes);
    if (!at) {
        eddy_error e = { 0 };
        eddy_error_set(&e, EDDY_NO_MEMORY, "out of memory for %d feeds", c->n_feeds);
        return record(c->session, &e);
    }
    for (int i = 0; i < c->n_feeds; i++)
        at[i] = (eddy_feed){ c->feeds[i].tensor, feeds ? feeds[i] : NULL };
    eddy_status status = run(c->session, (eddy_feeds){ c->n_feeds, at },
                             (eddy_list){ c->n_fetches, c->fetches }, out, c);
    if (at != few) eddy_release(&c->session->allocator, at, bytes);
    return status;
}

eddy_plan_info eddy_callable_plan_info(const eddy_callable *c)
{
    eddy_plan_info info = { 0 };
    if (!eddy_live(c, EDDY_LIVE_CALLABLE)) return info;
    pthread_mutex_lock(&c->session->lock);
    info = c->plan ? c->plan->info : c->info;
    pthread_mutex_unlock(&c->session->lock);
    return info;
}

void eddy_callable_free(eddy_callable *c)
{
    if (!eddy_live(c, EDDY_LIVE_CALLABLE) || !eddy_session_enter(c->session)) return;
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
