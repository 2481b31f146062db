/* run.c -- executing a plan: a loop over its instructions. */
#include "session/internal.h"
#include "session/pool.h"

#include <string.h>

static bool check_initialized(const eddy_plan *p, eddy_error *error)
{
    for (int32_t v = 0; v < p->n_variables; v++)
        if (p->variables[v].read && !p->variables[v].state->initialized)
            return eddy_error_set(error, EDDY_UNINITIALIZED,
                                  "Attempting to use uninitialized value %s",
                                  p->variables[v].node->name);
    return true;
}

/* Memory that is known only now: what is fed, and where variables live. */
static void patch(eddy_plan *p, const eddy_array *const *feeds)
{
    for (int32_t i = 0; i < p->n_patches; i++) {
        const plan_root *r = &p->roots[p->patches[i].root];
        const eddy_array *a =
            r->kind == VALUE_FEED ? feeds[r->index] : p->variables[r->index].state->value;
        p->buffers[p->patches[i].buffer].data = eddy_array_data(a);
    }
}

/* Whether a later instruction was compiled for the variable's present shape. */
static bool is_used_later(const eddy_plan *p, const instruction *i, const plan_variable *v)
{
    for (const instruction *j = i + 1; j < p->code + p->n_code; j++)
        for (int k = 0; k < j->kernel.n_in; k++)
            if (j->kernel.in[k] == v->reference && !(k == 0 && j->resizes >= 0)) return true;
    return false;
}

/* Gives a variable without a fixed shape room for the value it is about to get. */
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

static eddy_status execute_all(eddy_plan *p, uint64_t step)
{
    for (instruction *i = p->code, *end = i + p->n_code; i < end; i++) {
        i->kernel.step = step;
        eddy_status s = i->resizes >= 0 ? resize(p, i) : EDDY_OK;
        if (s == EDDY_OK) s = i->run(&i->kernel);
        if (s == EDDY_OK) continue;
        if (p->error.status == EDDY_OK)
            eddy_error_set(&p->error, s, "%s failed [node '%s']", i->node->op->name, i->node->name);
        return s;
    }
    return EDDY_OK;
}

/* A run of fewer operations has no product for which OpenBLAS would use several threads. */
static eddy_status execute(eddy_plan *p, uint64_t step)
{
    const double few = 16384;
    if (p->info.flops < few) return execute_all(p, step);
    eddy_blas_begin();
    eddy_status s = execute_all(p, step);
    eddy_blas_end();
    return s;
}

/* An array for the value of b: the old one if it fits and is nobody else's. */
static eddy_array *result(const eddy_buffer *b, eddy_array *old, const eddy_array *const *feeds,
                          int n_feeds)
{
    bool fits = old && eddy_array_dtype(old) == b->type.dtype &&
                eddy_shape_equal(eddy_array_shape(old), b->type.shape) &&
                !eddy_array_is_shared(old) && !eddy_array_is_borrowed(old);
    for (int i = 0; i < n_feeds; i++) fits = fits && feeds[i] != old;
    eddy_array *a = fits ? old : eddy_array_new(b->type.dtype, b->type.shape);
    if (a && eddy_array_bytes(a) > 0) memcpy(eddy_array_data(a), b->data, eddy_array_bytes(a));
    return a;
}

/* Only memory can fail here; the fetches before the failing one are then done. */
static eddy_status collect(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out)
{
    for (int i = 0; i < p->n_fetches; i++) {
        if (p->outputs[i].buffer < 0) {
            eddy_array_free(out[i]);
            out[i] = NULL;
            continue;
        }
        eddy_array *a = result(&p->buffers[p->outputs[i].buffer], out[i], feeds, p->n_feeds);
        if (!a) {
            eddy_error_set(&p->error, EDDY_NO_MEMORY, "out of memory for fetch %d", i);
            return EDDY_NO_MEMORY;
        }
        if (a != out[i]) eddy_array_free(out[i]);
        out[i] = a;
    }
    return EDDY_OK;
}

bool eddy_plan_fits(const eddy_plan *p)
{
    for (int32_t v = 0; v < p->n_variables; v++) {
        const plan_variable *pv = &p->variables[v];
        if (pv->open && !eddy_shape_equal(pv->shape, eddy_array_shape(pv->state->value)))
            return false;
    }
    return true;
}

/* The run itself, with the state's lock held. */
static eddy_status run_locked(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out)
{
    if (!check_initialized(p, &p->error)) return EDDY_UNINITIALIZED;
    patch(p, feeds);
    eddy_status status = execute(p, atomic_fetch_add(&p->session->step, 1));
    return status == EDDY_OK && out ? collect(p, feeds, out) : status;
}

eddy_status eddy_plan_run(eddy_plan *p, const eddy_array *const *feeds, eddy_array **out,
                          eddy_error *error)
{
    eddy_session *s = p->session;
    if (p->writes) pthread_rwlock_wrlock(&s->state_lock);
    else pthread_rwlock_rdlock(&s->state_lock);
    eddy_running here;
    eddy_running_begin(&here, s);
    p->error = (eddy_error){ 0 };
    p->stale = p->has_open && !eddy_plan_fits(p);
    eddy_status status = p->stale ? EDDY_OK : run_locked(p, feeds, out);
    eddy_running_end(&here);
    pthread_rwlock_unlock(&s->state_lock);
    if (status != EDDY_OK) *error = p->error;
    return status;
}
