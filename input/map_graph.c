/* map_graph.c -- records that a graph makes of others: a function of eddy_dataset_map that runs a
 * session. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* The results of one call, which later calls use again. */
typedef struct results {
    struct results *next;
    eddy_array     *out[EDDY_MAX_COMPONENTS];
} results;

typedef struct graph_map {
    eddy_allocator  allocator;
    eddy_session   *session;
    eddy_callable  *callable;
    int             n_in, n_out;
    bool            keyed;
    pthread_mutex_t lock;                /* of `free` */
    results        *free;
} graph_map;

static results *take(graph_map *m)
{
    pthread_mutex_lock(&m->lock);
    results *r = m->free;
    if (r) m->free = r->next;
    pthread_mutex_unlock(&m->lock);
    return r ? r : eddy__input_take(&m->allocator, sizeof *r);
}

static bool apply(void *context, eddy_record *in, eddy_record *out)
{
    graph_map        *m = context;
    const int64_t     key[2] = { in->epoch, in->number };
    eddy_array_room   room;
    const eddy_array *feeds[EDDY_MAX_COMPONENTS + 1];
    results          *r = take(m);
    if (!r) return eddy__input_no_memory(out->error);
    for (int i = 0; i < m->n_in; i++) feeds[i] = eddy_record_array(in, i);
    if (m->keyed) feeds[m->n_in] = eddy_array_view(&room, EDDY_INT64, EDDY_SHAPE(2), key);
    bool ok = eddy_callable_run(m->callable, feeds, r->out) == EDDY_OK;
    if (!ok)
        eddy_record_fail(out, eddy_session_status(m->session), "dataset_map_graph: %.900s",
                         eddy_session_message(m->session));
    for (int i = 0; ok && i < m->n_out; i++) ok = eddy_record_set(out, i, r->out[i]);
    pthread_mutex_lock(&m->lock);
    r->next = m->free;
    m->free = r;
    pthread_mutex_unlock(&m->lock);
    return ok;
}

static void release(void *context)
{
    graph_map           *m = context;
    const eddy_allocator a = m->allocator;
    eddy_session_free(m->session);
    for (results *r = m->free, *next; r; r = next) {
        next = r->next;
        for (int i = 0; i < EDDY_MAX_COMPONENTS; i++) eddy_array_free(r->out[i]);
        eddy__input_give(&a, r, sizeof *r);
    }
    pthread_mutex_destroy(&m->lock);
    eddy__input_give(&a, m, sizeof *m);
}

/* The session with its variables, and the run. */
static bool open_session(graph_map *m, const eddy_map_graph_args *a, eddy_dataset *d)
{
    eddy_tensor feeds[EDDY_MAX_COMPONENTS + 1];
    bool        ok = true;
    memcpy(feeds, a->inputs.at, (size_t)m->n_in * sizeof *feeds);
    if (m->keyed) feeds[m->n_in] = a->key;
    /* The threads that matter are those of eddy_dataset_prefetch. */
    m->session = eddy_session_new(a->graph, .threads = 1);
    if (!m->session)
        return eddy_graph_size(a->graph) > 0
                   ? eddy__input_no_memory(&d->error)
                   : eddy__dataset_fail(d, EDDY_INVALID_ARGUMENT,
                                        "dataset_map_graph: a session cannot be made");
    if (eddy_collection_size(a->graph, EDDY_INITIALIZERS) > 0)
        ok = eddy_run(m->session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(a->graph)), NULL) ==
             EDDY_OK;
    if (ok)
        m->callable = eddy_callable_new(m->session, (eddy_list){ m->n_in + m->keyed, feeds },
                                        a->outputs);
    return m->callable ||
           eddy__dataset_fail(d, eddy_session_status(m->session), "dataset_map_graph: %.900s",
                              eddy_session_message(m->session));
}

static bool check(const eddy_map_graph_args *a, eddy_dataset *d, eddy_component *c)
{
    if (!a->graph || a->inputs.count != d->n || a->outputs.count < 1 ||
        a->outputs.count > EDDY_MAX_COMPONENTS || !a->inputs.at || !a->outputs.at)
        return eddy__dataset_fail(
            d, EDDY_INVALID_ARGUMENT,
            "dataset_map_graph: %d inputs and %d outputs; expected %d inputs and "
            "1 to %d outputs",
            a->graph ? a->inputs.count : 0, a->outputs.count, d->n, EDDY_MAX_COMPONENTS);
    for (int i = 0; i < a->outputs.count; i++)
        c[i] = (eddy_component){ eddy_dtype_of(a->outputs.at[i]), eddy_shape_of(a->outputs.at[i]) };
    return true;
}

eddy_dataset *eddy_dataset_map_graph_with(const eddy_map_graph_args *given)
{
    eddy_map_graph_args a = { eddy_map_graph_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
    eddy_dataset  *d = a.dataset;
    eddy_component c[EDDY_MAX_COMPONENTS];
    if (!d) return NULL;
    if (d->taken || d->error.status != EDDY_OK || !check(&a, d, c))
        return eddy_dataset_map(d, apply);
    graph_map *m = eddy__input_take(&d->allocator, sizeof *m);
    if (!m) {
        eddy__input_no_memory(&d->error);
        return eddy_dataset_map(d, apply);
    }
    m->allocator = d->allocator;
    pthread_mutex_init(&m->lock, NULL);
    m->n_in = a.inputs.count;
    m->n_out = a.outputs.count;
    m->keyed = eddy_is_valid(a.key);
    open_session(m, &a, d);
    return eddy_dataset_map(d, apply, .context = m, .components = c, .n = m->n_out,
                            .release = release);
}
