/* plan_cache.c -- the plan cache of a session: looking up the plan for a run, compiling it,
 * evicting old ones. */
#include "session/plan_cache.h"

enum { MAX_PLANS = 64 };

/* Called under the lock, so that the effects of the last run of a plan that is free are
 * visible. */
static bool is_busy(const eddy_plan *p)
{
    return atomic_load_explicit(&p->busy, memory_order_acquire);
}

/* Integers few enough to be the dimensions of a tensor, or the limit of a range. */
static bool may_be_shape(const eddy_array *a)
{
    const int rank = eddy_array_shape(a).rank;
    return rank == 0 || (rank == 1 && eddy_array_count(a) <= EDDY_MAX_RANK &&
                         eddy_dtype_is_integer(eddy_array_dtype(a)));
}

static bool feed_fits(const plan_feed *f, const eddy_array *value)
{
    return eddy_shape_equal(f->type.shape, eddy_array_shape(value)) &&
           (!f->keyed || eddy_array_equal(f->value, value));
}

/* True if the plan has the current shapes of variables. They may change before the run has the
 * state lock; the run checks again. */
static bool variables_fit(const eddy_plan *p)
{
    if (!p->has_open) return true;
    pthread_rwlock_rdlock(&p->session->state_lock);
    const bool fit = eddy__plan_fits(p);
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

/* The limit on the memory of all plans, given the bytes of the largest. */
static size_t most_bytes(const eddy_session *s, size_t largest)
{
    if (s->options.kept_bytes != SIZE_MAX) return s->options.kept_bytes;
    return largest > KEPT_BYTES / KEPT_TIMES ? KEPT_TIMES * largest : KEPT_BYTES;
}

static size_t bytes_of(const eddy_plan *p)
{
    return p->memory_bytes + atomic_load_explicit(&p->open_memory->bytes, memory_order_relaxed);
}

/* The least recently used plan that is not busy; also the bytes of all plans and of the
 * largest. */
static eddy_plan **oldest_plan(eddy_session *s, size_t *held, size_t *largest)
{
    eddy_plan **oldest = NULL;
    for (eddy_plan **at = &s->plans; *at; at = &(*at)->next) {
        const size_t bytes = bytes_of(*at);
        *held += bytes;
        if (bytes > *largest) *largest = bytes;
        if (!is_busy(*at) && (!oldest || (*at)->used < (*oldest)->used)) oldest = at;
    }
    return oldest;
}

/* Frees plans other than p while there are too many or they exceed the limit on memory. */
static void evict(eddy_session *s, const eddy_plan *p)
{
    for (;;) {
        size_t      held = bytes_of(p), largest = held;
        eddy_plan **oldest = oldest_plan(s, &held, &largest);
        if (!oldest || (s->n_plans < MAX_PLANS && held <= most_bytes(s, largest))) return;
        eddy_plan *old = *oldest;
        *oldest = old->next;
        s->n_plans--;
        for (eddy_callable *c = s->callables; c; c = c->next)
            if (c->plan == old) c->plan = NULL;
        eddy__plan_free(old);
    }
}

static eddy_plan *compile_for(eddy_session *s, const plan_request *r, eddy_tensor *missing,
                              eddy_error *e)
{
    const eddy_feeds feeds = r->feeds;
    size_t     bytes = (size_t)feeds.count * sizeof(plan_feed);
    plan_feed *key = eddy__allocate_zeroed(&s->allocator, (size_t)feeds.count, sizeof *key);
    if (!key) {
        eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for a plan");
        return NULL;
    }
    for (int i = 0; i < feeds.count; i++) {
        const eddy_array *v = feeds.at[i].value;
        key[i].tensor = feeds.at[i].tensor;
        key[i].type = (eddy_type){ eddy_array_dtype(v), eddy_array_shape(v) };
        if (!may_be_shape(v)) continue;
        key[i].value = eddy_array_copy_of(key[i].type.dtype, key[i].type.shape, eddy_array_data(v));
    }
    eddy_plan *p = eddy__compile(s, feeds.count, key, r->fetches, r->sizes, missing, e);
    for (int i = 0; i < feeds.count; i++) eddy_array_free(key[i].value);
    eddy__release(&s->allocator, key, bytes);
    return p;
}

/* Marks p busy: a run has a plan for itself. */
static eddy_plan *mark_taken(eddy_session *s, eddy_plan *p)
{
    atomic_store_explicit(&p->busy, true, memory_order_relaxed);
    p->used = ++s->use_clock;
    p->info.plans = s->n_plans;
    eddy__session_note_plan(s, &p->info);
    return p;
}

eddy_plan *eddy__take_plan(eddy_session *s, const plan_request *r, eddy_tensor *missing,
                           eddy_error *e)
{
    eddy_callable *c = r->callable;
    *missing = EDDY_NO_TENSOR;
    pthread_mutex_lock(&s->lock);
    eddy_plan **at = &s->plans;
    while (*at && !plan_fits(*at, r->feeds, r->fetches)) at = &(*at)->next;
    eddy_plan *p = *at;
    if (p) *at = p->next;
    else {
        pthread_rwlock_wrlock(&s->state_lock);
        p = compile_for(s, r, missing, e);
        pthread_rwlock_unlock(&s->state_lock);
        if (p) {
            evict(s, p);
            s->n_plans++;
        }
    }
    if (p) {
        p->next = s->plans;
        s->plans = mark_taken(s, p);
        if (c) c->plan = r->stage ? NULL : p;
        if (c) c->info = p->info;
    }
    pthread_mutex_unlock(&s->lock);
    return p;
}

void eddy__give_plan(eddy_plan *p)
{
    atomic_store_explicit(&p->busy, false, memory_order_release);
}

/* True if the callable's last plan can run with these feeds, which have not been checked. */
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

eddy_plan *eddy__take_again(eddy_callable *c, const eddy_array *const *feeds)
{
    eddy_session *s = c->session;
    pthread_mutex_lock(&s->lock);
    eddy_plan *p = plan_serves(c, feeds) ? mark_taken(s, c->plan) : NULL;
    pthread_mutex_unlock(&s->lock);
    return p;
}
