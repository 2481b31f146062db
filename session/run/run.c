/* run.c -- execution of a plan: a loop over its instructions. */
#include "session/run/run_memory.h"
#include "graph/base/new_array.h"
#include "ops/kernels/libraries/blas_threads.h"
#include "session/compile/numerics.h"
#include "session/compile/shared_operands.h"
#include "session/state/cpu_clock.h"
#include "session/state/run_events.h"

#include <string.h>

static bool check_initialized(const eddy_plan *p, eddy_error *error)
{
    for (int32_t v = 0; v < p->n_variables; v++)
        if (p->variables[v].read && !p->variables[v].state->initialized)
            return eddy__error_set(error, EDDY_UNINITIALIZED,
                                   "Attempting to use uninitialized value %s",
                                   p->variables[v].node->name);
    return true;
}

static const eddy_array *array_of(const eddy_plan *p, const plan_root *r,
                                  const eddy_array *const *feeds)
{
    if (r->kind == VALUE_FEED) return feeds[r->index];
    if (r->kind == VALUE_RESULT) return p->outputs[r->index].next;
    return p->variables[r->index].state->value;
}

/* Sets the addresses that are known only now: feeds, variables and results. */
static void patch_buffers(eddy_plan *p, const eddy_array *const *feeds)
{
    for (int32_t i = 0; i < p->n_patches; i++) {
        const plan_root *r = &p->roots[p->patches[i].root];
        p->buffers[p->patches[i].buffer].data =
            eddy__buffer_in(p, p->patches[i].buffer, eddy_array_data(array_of(p, r, feeds)));
    }
}

/* True if a later instruction was compiled for the variable's current shape. */
static bool is_used_later(const eddy_plan *p, const instruction *i, const plan_variable *v)
{
    for (const instruction *j = i + 1; j < p->code + p->n_code; j++)
        for (int k = 0; k < j->kernel.n_in; k++)
            if (j->kernel.in[k] == v->reference && !(k == 0 && j->resizes >= 0)) return true;
    return false;
}

/* Allocates memory for the new value of a variable without a fixed shape. */
static eddy_status resize(eddy_plan *p, instruction *i)
{
    plan_variable     *v = &p->variables[i->resizes];
    const eddy_buffer *value = i->kernel.in[1];
    if (!eddy_shape_equal(eddy_array_shape(v->state->value), value->type.shape)) {
        if (is_used_later(p, i, v))
            return eddy_kernel_fail(&i->kernel, EDDY_UNIMPLEMENTED,
                                    "'%.200s' is used in the same run after its shape changes",
                                    v->node->name);
        eddy_array *a = eddy_array_new_in(p->allocator, value->type.dtype, value->type.shape);
        if (!a)
            return eddy_kernel_fail(&i->kernel, EDDY_NO_MEMORY,
                                    "out of memory for the new value of '%.200s'", v->node->name);
        eddy_array_free(v->state->value);
        v->state->value = a;
    }
    v->reference->data = eddy_array_data(v->state->value);
    v->reference->type = value->type;
    v->reference->count = value->count;
    return EDDY_OK;
}

static eddy_status stop_before(eddy_plan *p, instruction *i)
{
    eddy_error e = { 0 };
    eddy__must_stop(p->session, p->stop, ", which ends before this operation", &e);
    return eddy_kernel_fail(&i->kernel, e.status, "%s", e.message);
}

/* Another thread, or an operation of the run, may close the session or cancel the run. */
static inline eddy_status execute_one(eddy_plan *p, instruction *i)
{
    if (eddy__stopped(p->stop)) return stop_before(p, i);
    const eddy_status s = i->resizes >= 0 ? resize(p, i) : EDDY_OK;
    return s == EDDY_OK ? eddy__execute(i, &p->error) : s;
}

static eddy_status execute_all(eddy_plan *p, int32_t first)
{
    eddy_status  s = EDDY_OK;
    instruction *i = p->code + first;
    for (instruction *end = p->code + p->n_code; i < end && s == EDDY_OK; i++)
        s = execute_one(p, i);
    p->begun = (int32_t)(i - p->code);
    return s;
}

static eddy_status execute_timed(eddy_plan *p, int32_t first)
{
    eddy_status s = EDDY_OK;
    int64_t     last = eddy__ticks();
    int32_t     i = first;
    for (; i < p->n_code && s == EDDY_OK; i++) {
        s = execute_one(p, &p->code[i]);
        eddy__profile_count(p, i, &last);
    }
    p->begun = i;
    return s;
}

/* A run of fewer operations has no product for which OpenBLAS would use several threads. */
static eddy_status execute(eddy_plan *p, int32_t first)
{
    const double few = 16384;
    const bool   many = p->has_lapack || p->info.flops >= few;
    if (many) eddy__blas_begin();
    const int64_t begun = p->has_parallel_groups ? eddy__ticks() : 0;
    if (p->has_parallel_groups) p->runs_parallel = eddy__autotune_choice(&p->autotuner);
    eddy__shared_begin(p, true);
    eddy_status s = p->profile ? execute_timed(p, first) : execute_all(p, first);
    if (p->has_parallel_groups && s == EDDY_OK)
        eddy__autotune_record(&p->autotuner, eddy__ticks() - begun);
    if (many) eddy__blas_end();
    return s;
}

/* True if the values that are computed once exist and match the variables. Records the versions
 * of the variables for the next run. */
static bool has_invariants(eddy_plan *p)
{
    bool invariants_computed = p->invariants_computed;
    for (int32_t i = 0; i < p->n_sources; i++) {
        plan_source *s = &p->sources[i];
        invariants_computed = invariants_computed && s->version == s->state->version;
        s->version = s->state->version;
    }
    return invariants_computed;
}

/* before the first update, because a run that fails may have applied some */
static void note_updates(const eddy_plan *p)
{
    p->session->changes++;
    for (int32_t v = 0; v < p->n_variables; v++)
        if (p->variables[v].updated) p->variables[v].state->version++;
}

/* True if a value of b can be written to `old`, which has no other reference. */
static bool can_hold(const eddy_buffer *b, const eddy_array *old)
{
    return old && eddy_array_dtype(old) == b->type.dtype &&
           eddy_shape_equal(eddy_array_shape(old), eddy__value_type(b).shape) &&
           !eddy__array_is_shared(old) && !eddy__array_is_borrowed(old);
}

/* False if the run must stop. */
static bool copy_unless_stopped(eddy_plan *p, void *to, const void *from, size_t n)
{
    enum { PIECE = 1 << 20 };
    for (size_t at = 0; at < n; at += PIECE) {
        if (at > 0 && eddy__must_stop(p->session, p->stop, ", at its end", &p->error)) return false;
        memcpy((char *)to + at, (const char *)from + at, n - at < PIECE ? n - at : PIECE);
    }
    return true;
}

/* A copy of the value of b, in the old array if possible; NULL without memory, or if the run must
 * stop. */
static eddy_array *copy_of_value(eddy_plan *p, const eddy_buffer *b, eddy_array *old,
                                 const eddy_array *const *feeds)
{
    bool fits = can_hold(b, old);
    for (int i = 0; i < p->n_feeds; i++) fits = fits && feeds[i] != old;
    if (fits) {
        if (eddy_array_bytes(old) > 0) memcpy(eddy_array_data(old), b->data, eddy_array_bytes(old));
        return old;
    }
    eddy_array *a = eddy__array_unset(NULL, b->type.dtype, eddy__value_type(b).shape);
    if (a && !copy_unless_stopped(p, eddy_array_data(a), b->data, eddy_array_bytes(a))) {
        eddy__array_free_late(a, p->stop);
        return NULL;
    }
    return a;
}

static bool no_memory(eddy_plan *p, int fetch)
{
    return eddy__error_set(&p->error, EDDY_NO_MEMORY, "out of memory for fetch %d", fetch);
}

/* The arrays that results are written to. */
static bool make_results(eddy_plan *p)
{
    for (int i = 0; i < p->n_fetches; i++) {
        plan_fetch *f = &p->outputs[i];
        if (!f->direct || f->next) continue;
        const eddy_type t = p->buffers[f->buffer].type;
        f->next = eddy__array_unset(NULL, t.dtype, t.shape);
        if (!f->next) return no_memory(p, i);
    }
    return true;
}

/* The caller gets the array that the run has written. The next run may write to the caller's
 * old array, even if that was a feed of this run. */
static void swap_results(const eddy_plan *p, plan_fetch *f, eddy_array **out)
{
    eddy_array *made = f->next, *old = *out;
    const bool  usable = can_hold(&p->buffers[f->buffer], old);
    f->next = usable ? old : NULL;
    f->dropped = usable ? NULL : old;
    *out = made;
}

/* Stores the result of fetch i in *out; false if it cannot be copied. */
static bool return_result(eddy_plan *p, plan_fetch *f, const eddy_array *const *feeds,
                          eddy_array **out)
{
    eddy_array *a = NULL, *old = *out;
    if (f->direct) {
        swap_results(p, f, out);
        return true;
    }
    if (f->buffer >= 0) a = copy_of_value(p, &p->buffers[f->buffer], old, feeds);
    if (f->buffer >= 0 && !a) return false;
    f->dropped = a == old ? NULL : old;
    *out = a;
    return true;
}

/* Returns the results. The only possible errors are a lack of memory and a stop while a large
 * result is copied; the results before the missing one are then set. Old arrays are released last,
 * because they may be feeds, and a feed may be fetched. */
static bool collect(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out)
{
    int n = 0;
    while (n < p->n_fetches && return_result(p, &p->outputs[n], feeds, &out[n])) n++;
    for (int i = 0; i < n; i++) {
        if (p->outputs[i].dropped) eddy_array_free(p->outputs[i].dropped);
        p->outputs[i].dropped = NULL;
    }
    return n == p->n_fetches || no_memory(p, n);
}

bool eddy__plan_fits(const eddy_plan *p)
{
    for (int32_t v = 0; v < p->n_variables; v++) {
        const plan_variable *pv = &p->variables[v];
        if (pv->open && !eddy_shape_equal(pv->shape, eddy_array_shape(pv->state->value)))
            return false;
    }
    return true;
}

static eddy_status run_in_memory(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                                 const run_snapshot *given)
{
    patch_buffers(p, feeds);
    if (p->writes) note_updates(p);
    eddy__draws_begin(p, given ? given->taken : NULL);
    const int32_t  first = p->n_invariant > 0 && has_invariants(p) ? p->n_invariant : 0;
    eddy_status    status = execute(p, first);
    /* The last instruction may have been left unfinished. */
    if (status == EDDY_OK && eddy__must_stop(p->session, p->stop, ", at its end", &p->error))
        status = p->error.status;
    p->invariants_computed = first > 0 || status == EDDY_OK;
    if (status == EDDY_OK && out && !collect(p, feeds, out)) return p->error.status;
    return status;
}

eddy_status eddy__plan_run_locked(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                                  const run_snapshot *given)
{
    if (!check_initialized(p, &p->error)) return EDDY_UNINITIALIZED;
    if (p->has_results && !make_results(p)) return EDDY_NO_MEMORY;
    if (!eddy__run_memory_take(p)) {
        eddy__error_set(&p->error, EDDY_NO_MEMORY, "out of memory: the run needs %llu bytes",
                        (unsigned long long)p->memory_bytes);
        return EDDY_NO_MEMORY;
    }
    const eddy_status status = run_in_memory(p, feeds, out, given);
    eddy__run_memory_give(p);
    return status;
}

eddy_status eddy__plan_run(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                           run_snapshot *snapshot, eddy_stop stop, eddy_error *error)
{
    eddy_session *s = p->session;
    p->own_stop = stop;
    p->error = (eddy_error){ 0 };
    p->stale = p->conflict = false;
    if (p->numerics) {
        atomic_store(&p->numerics->found, false);
        atomic_store(&p->numerics->infinite, false);
    }
    const int64_t asked = p->profile ? eddy__ticks() : 0;
    if (!eddy__lock_state(s, p->writes, &stop, &p->error)) {
        *error = p->error;
        return error->status;
    }
    eddy_running here;
    eddy__running_begin(&here, s);
    p->conflict = snapshot && snapshot->begun && snapshot->changes != s->changes;
    if (snapshot && !snapshot->begun)
        *snapshot =
            (run_snapshot){ .taken = snapshot->taken, .changes = s->changes, .begun = true };
    p->stale = !p->conflict && p->has_open && !eddy__plan_fits(p);
    const int64_t begun = p->profile ? eddy__ticks() : 0;
    eddy_status   status =
        p->stale || p->conflict ? EDDY_OK : eddy__plan_run_locked(p, feeds, out, snapshot);
    if (p->profile && !p->stale && !p->conflict) {
        const int64_t ended = eddy__ticks();
        p->profile->ticks += ended - begun;
        p->profile->runs++;
        if (eddy__traces(s)) {
            eddy__trace_add(s, (trace_event){ .kind = TRACE_WAIT, .begin = asked, .end = begun });
            eddy__trace_add(s, (trace_event){ .kind = TRACE_RUN, .begin = begun, .end = ended });
        }
    }
    if (p->numerics) p->numerics->changes = s->changes;
    eddy__running_end(&here);
    pthread_rwlock_unlock(&s->state_lock);
    if (status != EDDY_OK) *error = p->error;
    return status;
}
