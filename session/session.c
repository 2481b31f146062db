/* session.c -- sessions: checking a run's arguments, finding its plan, keeping
 * the state of variables. */
#include "session/internal.h"

#include <string.h>

enum { MAX_PLANS = 64, KEY_ELEMENTS = 64 };

struct eddy_callable {
    struct eddy_callable *next;
    eddy_session *session;
    int           n_feeds, n_fetches;
    eddy_feed    *feeds;
    eddy_tensor  *fetches;
};

eddy_session *eddy_session_new_with(eddy_session_args args)
{
    if (!eddy_graph_alive(args.graph)) return NULL;
    const eddy_allocator *a = eddy_graph_allocator(args.graph);
    eddy_session *s = eddy_allocate_zeroed(a, 1, sizeof *s);
    if (!s) return NULL;
    s->graph = args.graph;
    s->options = args;
    s->allocator = *a;
    atomic_init(&s->step, 0);
    atomic_init(&s->closed, false);
    bool locks = pthread_mutex_init(&s->lock, NULL) == 0;
    if (locks && pthread_rwlock_init(&s->state_lock, NULL) != 0) {
        pthread_mutex_destroy(&s->lock);
        locks = false;
    }
    if (!locks || !eddy_live_add(s, EDDY_LIVE_SESSION)) {
        eddy_release(a, s, sizeof *s);
        return NULL;
    }
    eddy_graph_hold(s->graph);
    s->error = s->graph->error;
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
    if (!eddy_live(s, EDDY_LIVE_SESSION)) return;
    eddy_live_remove(s);
    for (eddy_callable *c = s->callables, *next; c; c = next) {
        next = c->next;
        free_callable(c);
    }
    for (eddy_plan *p = s->plans, *next; p; p = next) {
        next = p->next;
        eddy_plan_free(p);
    }
    for (int32_t id = 0; id < s->states_capacity; id++) {
        if (!s->states[id]) continue;
        eddy_array_free(s->states[id]->value);
        eddy_release(&s->allocator, s->states[id], sizeof **s->states);
    }
    eddy_release(&s->allocator, s->states, (size_t)s->states_capacity * sizeof *s->states);
    pthread_mutex_destroy(&s->lock);
    pthread_rwlock_destroy(&s->state_lock);
    eddy_graph *g = s->graph;
    eddy_allocator a = s->allocator;
    eddy_release(&a, s, sizeof *s);
    eddy_graph_drop(g);
}

eddy_status eddy_session_status(const eddy_session *s)
{
    return eddy_live(s, EDDY_LIVE_SESSION) ? s->error.status : EDDY_INVALID_ARGUMENT;
}
const char *eddy_session_message(const eddy_session *s)
{
    return eddy_live(s, EDDY_LIVE_SESSION) ? s->error.message : "not a session";
}

eddy_plan_info eddy_session_plan_info(const eddy_session *s)
{
    return eddy_live(s, EDDY_LIVE_SESSION) ? s->last_info : (eddy_plan_info){ 0 };
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

static bool check_session(const eddy_session *s, eddy_error *e)
{
    if (atomic_load(&s->closed))
        return eddy_error_set(e, EDDY_CLOSED, "Attempted to use a closed Session.");
    if (!eddy_graph_alive(s->graph))
        return eddy_error_set(e, EDDY_CLOSED, "the session's graph was freed");
    if (s->graph->error.status != EDDY_OK) {
        *e = s->graph->error;
        return false;
    }
    if (s->graph->size == 0)
        return eddy_error_set(
            e, EDDY_INVALID_ARGUMENT,
            "The Session graph is empty.  Add operations to the graph before calling run().");
    return true;
}

static bool check_feed(const eddy_session *s, const eddy_feed *f, int i, eddy_error *e)
{
    char have[100], want[100];
    if (f->tensor.graph != s->graph || eddy_outputs_of(f->tensor) == 0)
        return eddy_error_set(
            e, EDDY_INVALID_ARGUMENT,
            "Cannot interpret feed %d as Tensor: it is not an element of this graph", i);
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
    if (feeds.count < 0 || (feeds.count > 0 && !feeds.at) || fetches.count < 0 ||
        (fetches.count > 0 && !fetches.at))
        return eddy_error_set(e, EDDY_INVALID_ARGUMENT, "the feeds or the fetches are not a list");
    for (int i = 0; i < feeds.count; i++) {
        if (!check_feed(s, &feeds.at[i], i, e)) return false;
        for (int j = 0; j < i; j++)
            if (eddy_same(feeds.at[i].tensor, feeds.at[j].tensor))
                return eddy_error_set(e, EDDY_INVALID_ARGUMENT, "'%s:%d' is fed twice",
                                      eddy_name_of(feeds.at[i].tensor),
                                      (int)feeds.at[i].tensor.output);
    }
    for (int i = 0; i < fetches.count; i++)
        if (fetches.at[i].graph != s->graph || !eddy_is_valid(fetches.at[i]))
            return eddy_error_set(e, EDDY_INVALID_ARGUMENT,
                                  "Fetch argument %d cannot be interpreted as a Tensor: it is not "
                                  "an element of this graph",
                                  i);
    return true;
}

/* ------------------------------------------------------------ the cache -- */

/* Integers few enough to be dimensions, axes or counts. */
static bool may_be_shape(const eddy_array *a)
{
    return eddy_dtype_is_integer(eddy_array_dtype(a)) && eddy_array_count(a) <= KEY_ELEMENTS &&
           eddy_array_shape(a).rank <= 1;
}

static bool plan_fits(const eddy_plan *p, eddy_feeds feeds, eddy_list fetches)
{
    if (p->busy || p->n_feeds != feeds.count || p->n_fetches != fetches.count) return false;
    for (int i = 0; i < p->n_fetches; i++)
        if (!eddy_same(p->fetches[i], fetches.at[i])) return false;
    for (int i = 0; i < p->n_feeds; i++) {
        const plan_feed *f = &p->feeds[i];
        if (!eddy_same(f->tensor, feeds.at[i].tensor)) return false;
        if (!eddy_shape_equal(f->type.shape, eddy_array_shape(feeds.at[i].value))) return false;
        if (f->keyed && !eddy_array_equal(f->value, feeds.at[i].value)) return false;
    }
    for (int32_t v = 0; v < p->n_variables; v++)
        if (!eddy_shape_equal(p->variables[v].shape,
                              eddy_array_shape(p->variables[v].state->value)))
            return false;
    return true;
}

/* Frees the plan that was not used for longest, if there are too many. */
static void evict(eddy_session *s)
{
    eddy_plan **last = NULL;
    if (s->n_plans < MAX_PLANS) return;
    for (eddy_plan **at = &s->plans; *at; at = &(*at)->next)
        if (!(*at)->busy) last = at;
    if (!last) return;
    eddy_plan *p = *last;
    *last = p->next;
    s->n_plans--;
    eddy_plan_free(p);
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

/* The plan for this run, marked busy: a run has a plan for itself. */
static eddy_plan *take_plan(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_error *e)
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
            evict(s);
            s->n_plans++;
        }
    }
    if (p) {
        p->next = s->plans;
        s->plans = p;
        p->busy = true;
        p->info.plans = s->n_plans;
        s->last_info = p->info;
    }
    pthread_mutex_unlock(&s->lock);
    return p;
}

static void give_plan(eddy_session *s, eddy_plan *p)
{
    pthread_mutex_lock(&s->lock);
    p->busy = false;
    pthread_mutex_unlock(&s->lock);
}

/* --------------------------------------------------------------- running -- */

static eddy_status record(eddy_session *s, const eddy_error *e)
{
    pthread_mutex_lock(&s->lock);
    s->error = *e;
    pthread_mutex_unlock(&s->lock);
    return e->status;
}

eddy_status eddy_run(eddy_session *s, eddy_feeds feeds, eddy_list fetches, eddy_array **out)
{
    enum { FEW = 16 };
    eddy_error        e = { 0 };
    const eddy_array *few[FEW], **values = few;
    if (!eddy_live(s, EDDY_LIVE_SESSION)) return EDDY_INVALID_ARGUMENT;
    if (!check_session(s, &e) || !check_run(s, feeds, fetches, &e)) return record(s, &e);
    eddy_plan *p = take_plan(s, feeds, fetches, &e);
    if (!p) return record(s, &e);
    size_t bytes = (size_t)feeds.count * sizeof *values;
    if (feeds.count > FEW) values = eddy_allocate(&s->allocator, bytes);
    if (!values) eddy_error_set(&e, EDDY_NO_MEMORY, "out of memory for %d feeds", feeds.count);
    for (int i = 0; values && i < feeds.count; i++) values[i] = feeds.at[i].value;
    if (values) eddy_plan_run(p, values, out, &e);
    if (values != few) eddy_release(&s->allocator, values, bytes);
    give_plan(s, p);
    return e.status == EDDY_OK ? EDDY_OK : record(s, &e);
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
    if (!eddy_live(s, EDDY_LIVE_SESSION)) return NULL;
    bool ok = check_session(s, &e) && check_run(s, (eddy_feeds){ 0 }, fetches, &e);
    if (ok && (feeds.count < 0 || (feeds.count > 0 && !feeds.at)))
        ok = eddy_error_set(&e, EDDY_INVALID_ARGUMENT, "the feeds are not a list");
    for (int i = 0; ok && i < feeds.count; i++)
        if (feeds.at[i].graph != s->graph || eddy_outputs_of(feeds.at[i]) == 0)
            ok = eddy_error_set(
                &e, EDDY_INVALID_ARGUMENT,
                "Cannot interpret feed %d as Tensor: it is not an element of this graph", i);
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

eddy_status eddy_callable_run(eddy_callable *c, const eddy_array *const *feeds, eddy_array **out)
{
    enum { FEW = 16 };
    eddy_feed few[FEW], *at = few;
    if (!eddy_live(c, EDDY_LIVE_CALLABLE)) return EDDY_INVALID_ARGUMENT;
    size_t bytes = (size_t)c->n_feeds * sizeof *at;
    if (c->n_feeds > FEW) at = eddy_allocate(&c->session->allocator, bytes);
    if (!at)
        return record(c->session, &(eddy_error){ EDDY_NO_MEMORY, "out of memory for the feeds" });
    for (int i = 0; i < c->n_feeds; i++)
        at[i] = (eddy_feed){ c->feeds[i].tensor, feeds ? feeds[i] : NULL };
    eddy_status status = eddy_run(c->session, (eddy_feeds){ c->n_feeds, at },
                                  (eddy_list){ c->n_fetches, c->fetches }, out);
    if (at != few) eddy_release(&c->session->allocator, at, bytes);
    return status;
}

void eddy_callable_free(eddy_callable *c)
{
    if (!eddy_live(c, EDDY_LIVE_CALLABLE)) return;
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
