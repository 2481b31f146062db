/* plan_cache.c -- the plan cache of a session: looking up the plan for a run, compiling it,
 * evicting old ones. */
#include "session/plan_cache.h"
#include "session/eval_cache.h"
#include "session/compile/packed_operands.h"
#include "session/run/run_memory.h"

#include <string.h>

enum { MAX_PLANS = 1 << 14 };

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
static bool variables_fit(const eddy_plan *p, const eddy_stop *stop)
{
    if (!p->has_open) return true;
    if (!eddy__lock_state(p->session, false, stop, NULL)) return false;
    const bool fit = eddy__plan_fits(p);
    pthread_rwlock_unlock(&p->session->state_lock);
    return fit;
}

static bool plan_fits(const eddy_plan *p, eddy_feeds feeds, eddy_list fetches,
                      const eddy_stop *stop)
{
    if (is_busy(p) || p->n_feeds != feeds.count || p->n_fetches != fetches.count ||
        p->watch_version != p->session->watch_version)
        return false;
    for (int i = 0; i < p->n_fetches; i++)
        if (!eddy_same(p->fetches[i], fetches.at[i])) return false;
    for (int i = 0; i < p->n_feeds; i++)
        if (!eddy_same(p->feeds[i].tensor, feeds.at[i].tensor) ||
            !feed_fits(&p->feeds[i], feeds.at[i].value))
            return false;
    return variables_fit(p, stop);
}

/* ----------------------------------------------------------------- the key -- */

static uint32_t mix(uint32_t hash, uint64_t x)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    x = (x ^ hash) * odd;
    return (uint32_t)(x ^ (x >> 32));
}

static uint32_t mix_tensor(uint32_t hash, eddy_tensor t)
{
    return mix(hash, (uint64_t)(uint32_t)t.node << 32 | (uint32_t)t.output);
}

/* True if elements of t are part of the key of some plan. */
static bool is_keyed(const eddy_session *s, eddy_tensor t)
{
    for (int i = 0; i < s->n_keyed; i++)
        if (eddy_same(s->keyed[i], t)) return true;
    return false;
}

/* Remembers which feeds decide shapes, as far as there is room. */
static void note_keyed(eddy_session *s, const eddy_plan *p)
{
    const int most = (int)(sizeof s->keyed / sizeof *s->keyed);
    for (int i = 0; i < p->n_feeds; i++)
        if (p->feeds[i].keyed && s->n_keyed < most && !is_keyed(s, p->feeds[i].tensor))
            s->keyed[s->n_keyed++] = p->feeds[i].tensor;
}

static uint32_t mix_elements(uint32_t hash, const eddy_array *a)
{
    const size_t size = eddy_dtype_size(eddy_array_dtype(a));
    for (int64_t k = 0; k < eddy_array_count(a) && k < EDDY_MAX_RANK; k++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)eddy_array_data(a) + (size_t)k * size,
               size < sizeof bits ? size : sizeof bits);
        hash = mix(hash, bits);
    }
    return hash;
}

/* Elements that decide shapes are hashed if that is known of their tensor; they are compared in
 * any case. */
static uint32_t key_of(const eddy_session *s, const plan_request *r)
{
    uint32_t hash = 1;
    for (int i = 0; i < r->fetches.count; i++) hash = mix_tensor(hash, r->fetches.at[i]);
    for (int i = 0; i < r->feeds.count; i++) {
        const eddy_array *a = r->feeds.at[i].value;
        const eddy_shape  shape = eddy_array_shape(a);
        hash = mix_tensor(hash, r->feeds.at[i].tensor);
        for (int d = 0; d < shape.rank; d++) hash = mix(hash, (uint64_t)shape.dim[d]);
        if (is_keyed(s, r->feeds.at[i].tensor)) hash = mix_elements(hash, a);
    }
    return hash;
}

static eddy_plan **bucket_of(eddy_session *s, uint32_t key)
{
    return &s->plans_of_key[key % (sizeof s->plans_of_key / sizeof *s->plans_of_key)];
}

/* Takes the plan out of its bucket. */
static void leave_bucket(eddy_session *s, const eddy_plan *p)
{
    eddy_plan **at = bucket_of(s, p->key);
    while (*at != p) at = &(*at)->next_of_key;
    *at = p->next_of_key;
}

static void enter_bucket(eddy_session *s, eddy_plan *p)
{
    eddy_plan **first = bucket_of(s, p->key);
    p->next_of_key = *first;
    *first = p;
}

static eddy_plan *find(eddy_session *s, const plan_request *r, uint32_t key)
{
    eddy_plan *p = *bucket_of(s, key);
    while (p && (p->key != key || !plan_fits(p, r->feeds, r->fetches, r->stop))) p = p->next_of_key;
    return p;
}

/* ---------------------------------------------------------------- eviction -- */

enum { KEPT_BYTES = 1 << 30, KEPT_TIMES = 4 };

/* Values that a plan keeps, without the memory of runs, which plans share. */
static size_t value_bytes(const eddy_plan *p)
{
    return p->own_bytes + atomic_load_explicit(&p->open_memory->bytes, memory_order_relaxed);
}

static size_t bytes_of(const eddy_plan *p) { return p->arena.bytes + value_bytes(p); }

/* Makes p the newest plan; its memory may have grown since its last use. */
static void list_newest(eddy_session *s, eddy_plan *p)
{
    const size_t bytes = bytes_of(p);
    s->plan_bytes += bytes - p->counted;
    p->counted = bytes;
    p->next = s->plans;
    p->previous = NULL;
    if (s->plans) s->plans->previous = p;
    else s->oldest_plan = p;
    s->plans = p;
}

static void unlist(eddy_session *s, const eddy_plan *p)
{
    *(p->previous ? &p->previous->next : &s->plans) = p->next;
    *(p->next ? &p->next->previous : &s->oldest_plan) = p->previous;
}

/* The largest plan with the memory in which it computes and its packed operands. */
static size_t largest_plan(const eddy_session *s)
{
    size_t most = 0;
    for (const eddy_plan *p = s->plans; p; p = p->next) {
        const size_t bytes = bytes_of(p) + (size_t)p->memory_bytes + eddy__packed_bytes(p);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* True if plans, packed operands and the memory of runs are within the session's limit. */
static bool memory_fits(eddy_session *s)
{
    const size_t held =
        s->plan_bytes + eddy__run_memory_bytes(s) + eddy__packed_bytes_of_session(s);
    if (s->options.kept_bytes != SIZE_MAX) return held <= s->options.kept_bytes;
    return held <= KEPT_BYTES || held / KEPT_TIMES <= largest_plan(s);
}

static void drop(eddy_session *s, eddy_plan *p)
{
    leave_bucket(s, p);
    unlist(s, p);
    s->plan_bytes -= p->counted;
    s->n_plans--;
    for (eddy_callable *c = s->callables; c; c = c->next)
        if (c->plan == p) c->plan = NULL;
    eddy__plan_free(p);
}

/* Frees the oldest plans that are not busy while there are too many or they exceed the limit on
 * memory; `kept` stays. */
static void evict(eddy_session *s, const eddy_plan *kept)
{
    if (!memory_fits(s)) eddy__run_memory_trim(s);
    for (eddy_plan *p = s->oldest_plan, *previous; p; p = previous) {
        if (s->n_plans <= MAX_PLANS && memory_fits(s)) return;
        previous = p->previous;
        if (p != kept && !is_busy(p)) drop(s, p);
    }
}

eddy_memory_info eddy_session_memory_info(eddy_session *s)
{
    eddy_memory_info info = { 0 };
    if (!eddy__session_enter(s)) return info;
    pthread_mutex_lock(&s->lock);
    for (const eddy_plan *p = s->plans; p; p = p->next) {
        info.plans++;
        info.plan_bytes += p->arena.bytes;
        info.value_bytes += value_bytes(p);
    }
    info.value_bytes += eddy__packed_bytes_of_session(s);
    info.run_bytes = eddy__run_memory_bytes(s);
    pthread_rwlock_rdlock(&s->state_lock);
    for (int32_t i = 0; i < s->states_capacity; i++)
        if (s->states[i] && s->states[i]->initialized)
            info.variable_bytes += eddy_array_bytes(s->states[i]->value);
    pthread_rwlock_unlock(&s->state_lock);
    if (s->eval_cache) info.evaluated_bytes = s->eval_cache->bytes;
    pthread_mutex_unlock(&s->lock);
    return info;
}

/* A tensor that a stage has computed because its elements decide a shape. */
static bool is_size(const plan_request *r, eddy_tensor t)
{
    for (int i = 0; i < r->sizes.count; i++)
        if (eddy_same(r->sizes.at[i], t)) return true;
    return false;
}

/* missing: NULL for a plan that is compiled plainly, to explain the failure of another. */
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
        if (!may_be_shape(v) && !is_size(r, feeds.at[i].tensor)) continue;
        key[i].value = eddy_array_copy_of(key[i].type.dtype, key[i].type.shape, eddy_array_data(v));
    }
    eddy_running here;      /* operations on constants run now, and may call back */
    eddy__running_begin(&here, s);
    eddy_plan *p =
        missing ? eddy__compile(s, feeds.count, key, r->fetches, r->sizes, missing, e)
                : eddy__compile_plainly(s, feeds.count, key, r->fetches, r->sizes, e);
    eddy__running_end(&here);
    for (int i = 0; i < feeds.count; i++) eddy_array_free(key[i].value);
    eddy__release(&s->allocator, key, bytes);
    return p;
}

/* Marks p busy: a run has a plan for itself. */
static eddy_plan *mark_taken(eddy_session *s, eddy_plan *p)
{
    atomic_store_explicit(&p->busy, true, memory_order_relaxed);
    if (s->plans != p) {
        unlist(s, p);
        list_newest(s, p);
    }
    p->info.plans = s->n_plans;
    eddy__session_note_plan(s, &p->info);
    return p;
}

eddy_plan *eddy__take_plan(eddy_session *s, const plan_request *r, eddy_tensor *missing,
                           eddy_error *e)
{
    eddy_callable *c = r->callable;
    *missing = EDDY_NO_TENSOR;
    if (!eddy__lock_session(s, r->stop, e)) return NULL;
    eddy_plan *p = find(s, r, key_of(s, r));
    if (p) leave_bucket(s, p);
    else if (eddy__lock_state(s, true, r->stop, e)) {
        p = compile_for(s, r, missing, e);
        pthread_rwlock_unlock(&s->state_lock);
        if (p) {
            s->n_plans++;
            note_keyed(s, p);
            p->key = key_of(s, r);
            list_newest(s, p);
            evict(s, p);
        }
    }
    if (p) {
        enter_bucket(s, p);
        mark_taken(s, p);
        if (c) c->plan = r->stage ? NULL : p;
        if (c) c->info = p->info;
    }
    pthread_mutex_unlock(&s->lock);
    return p;
}

eddy_plan *eddy__plain_plan(eddy_session *s, const plan_request *r, eddy_error *e)
{
    if (!eddy__lock_session(s, r->stop, e)) return NULL;
    eddy_plan *p = NULL;
    if (eddy__lock_state(s, true, r->stop, e)) {
        p = compile_for(s, r, NULL, e);
        pthread_rwlock_unlock(&s->state_lock);
    }
    pthread_mutex_unlock(&s->lock);
    return p;
}

void eddy__give_plan(eddy_plan *p)
{
    atomic_store_explicit(&p->busy, false, memory_order_release);
}

/* True if the callable's last plan can run with these feeds, which have not been checked. */
static bool plan_serves(const eddy_callable *c, const eddy_array *const *feeds,
                        const eddy_stop *stop)
{
    const eddy_plan *p = c->plan;
    if (!p || is_busy(p) || p->watch_version != p->session->watch_version ||
        (c->n_feeds > 0 && !feeds))
        return false;
    for (int i = 0; i < c->n_feeds; i++) {
        const eddy_tensor t = c->feeds[i].tensor;
        const eddy_type   type = c->session->graph->nodes[t.node]->outputs[t.output];
        if (!feeds[i] || eddy_array_dtype(feeds[i]) != type.dtype ||
            !eddy_shape_compatible(eddy_array_shape(feeds[i]), type.shape) ||
            !feed_fits(&p->feeds[i], feeds[i]))
            return false;
    }
    return variables_fit(p, stop);
}

eddy_plan *eddy__take_again(eddy_callable *c, const eddy_array *const *feeds, const eddy_stop *stop)
{
    eddy_session *s = c->session;
    if (!eddy__lock_session(s, stop, NULL)) return NULL;
    eddy_plan *p = plan_serves(c, feeds, stop) ? mark_taken(s, c->plan) : NULL;
    pthread_mutex_unlock(&s->lock);
    return p;
}
