/* watches.c -- watches and dumps: the list, and the operation that calls them. */
#include "session/state/watches.h"
#include "graph/call_options.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------ the operation -- */

/* FOLDER/NAME.OUTPUT-RUN.npy */
static eddy_status dump(const watch *w, const eddy_watched *seen, eddy_error *e)
{
    char path[EDDY_MAX_NAME + 1200];
    const int length = snprintf(path, sizeof path, "%.1000s/", w->folder);
    snprintf(path + length, sizeof path - (size_t)length, "%s.%d-%06lld.npy",
             eddy_name_of(seen->tensor), (int)seen->tensor.output, (long long)seen->run);
    for (char *c = path + length; *c; c++)
        if (*c == '/') *c = '.';
    return eddy_array_save(seen->value, path, &seen->tensor.graph->files, e);
}

eddy_status eddy__watch_call(watch *w, const eddy_array *value, int64_t iteration, eddy_error *e)
{
    const eddy_watched seen = { .tensor = w->tensor, .run = atomic_fetch_add(&w->runs, 1),
                                .value = value, .iteration = iteration };
    if (w->folder && seen.run % w->every == 0) dump(w, &seen, e);
    if (w->callback && (!w->condition || w->condition(w->user, &seen))) w->callback(w->user, &seen);
    return e->status;
}

static eddy_status watch_kernel(eddy_kernel *k)
{
    const eddy_buffer *x = k->in[0];
    const int64_t      iteration = k->n_in > 1 ? *(const int64_t *)k->in[1]->data : -1;
    eddy_error         e = { 0 };
    eddy_array        *value = eddy_array_borrow(x->type.dtype, x->type.shape, x->data);
    if (!value)
        return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the array of a watch");
    eddy__watch_call((watch *)(uintptr_t)k->attrs, value, iteration, &e);
    eddy_array_free(value);
    return e.status == EDDY_OK ? EDDY_OK : eddy_kernel_fail(k, e.status, "dump: %s", e.message);
}

const eddy_op_def eddy_op_watch = { .name = "_Watch", .min_inputs = 1, .max_inputs = 2,
                                    .outputs = 0, .flags = EDDY_OP_SIDE_EFFECT,
                                    .kernel = watch_kernel,
                                    .gradient = eddy_not_differentiable };

/* ----------------------------------------------------------------- the list -- */

static bool is_in_body(const watch *w) { return eddy_node_of(w->tensor)->traced; }

bool eddy__is_watched(const watch *w, const eddy_graph *g, const eddy_node *node)
{
    if (w->tensor.graph == g) return w->tensor.node == node->id;
    return is_in_body(w) && strcmp(eddy_name_of(w->tensor), node->name) == 0;
}

bool eddy__watches_bodies(const eddy_session *s)
{
    for (const watch *w = s->watches; w; w = w->next)
        if (is_in_body(w)) return true;
    return false;
}

static void free_watch(const eddy_session *s, watch *w)
{
    if (w->folder) eddy__release(&s->allocator, w->folder, strlen(w->folder) + 1);
    eddy__release(&s->allocator, w, sizeof *w);
}

void eddy__watches_free(eddy_session *s)
{
    for (watch *w = s->watches, *next; w; w = next) {
        next = w->next;
        free_watch(s, w);
    }
    s->watches = NULL;
}

static bool can_be_watched(const eddy_session *s, eddy_tensor t, const char *call, eddy_error *e)
{
    return (t.graph == s->graph && eddy_outputs_of(t) > 0) ||
           eddy__error_set(e, EDDY_INVALID_ARGUMENT, "%s: the tensor %s", call,
                           t.graph == s->graph && eddy_is_valid(t)
                               ? "is an operation without a value"
                               : "is not an element of this graph");
}

/* Adds a copy of `like` to the list; returns its number, or 0. */
static int add(eddy_session *s, const watch *like, const char *folder, eddy_error *e)
{
    watch *w = eddy__allocate_zeroed(&s->allocator, 1, sizeof *w);
    if (w) *w = *like;
    if (w && folder) {
        w->folder = eddy__allocate(&s->allocator, strlen(folder) + 1);
        if (w->folder) memcpy(w->folder, folder, strlen(folder) + 1);
        else {
            eddy__release(&s->allocator, w, sizeof *w);
            w = NULL;
        }
    }
    if (!w) {
        eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for a watch");
        return 0;
    }
    w->number = ++s->last_watch;
    watch **at = (watch **)&s->watches;
    while (*at) at = &(*at)->next;
    *at = w;
    s->watch_version++;
    return w->number;
}

int eddy_watch_with(const eddy_watch_args *given)
{
    const eddy_watch_args a = EDDY_TAKE(eddy_watch_args, given);
    eddy_session         *s = a.session;
    eddy_error            e = { 0 };
    int                   number = 0;
    if (!eddy__session_enter(s)) return 0;
    pthread_mutex_lock(&s->lock);
    if (eddy__session_is_usable(s, &e) && can_be_watched(s, a.tensor, "watch", &e)) {
        if (!a.callback) eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "watch: callback is NULL");
        else
            number = add(s, &(watch){ .tensor = a.tensor, .condition = a.condition,
                                      .callback = a.callback, .user = a.user }, NULL, &e);
    }
    eddy__session_finish(s, &e);
    return number;
}

int eddy_dump_with(const eddy_dump_args *given)
{
    const eddy_dump_args a = EDDY_TAKE(eddy_dump_args, given);
    eddy_session        *s = a.session;
    eddy_error           e = { 0 };
    int                  number = 0;
    if (!eddy__session_enter(s)) return 0;
    pthread_mutex_lock(&s->lock);
    if (eddy__session_is_usable(s, &e) && can_be_watched(s, a.tensor, "dump", &e)) {
        if (a.every < 1)
            eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "dump: every is %lld; expected at least 1",
                            (long long)a.every);
        else
            number = add(s, &(watch){ .tensor = a.tensor, .every = a.every },
                         a.folder ? a.folder : ".", &e);
    }
    eddy__session_finish(s, &e);
    return number;
}

void eddy_unwatch(eddy_session *s, int number)
{
    if (!eddy__session_enter(s)) return;
    pthread_mutex_lock(&s->lock);
    for (watch **at = (watch **)&s->watches, *w; (w = *at) != NULL;) {
        if (number != 0 && w->number != number) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        free_watch(s, w);
        s->watch_version++;
    }
    pthread_mutex_unlock(&s->lock);
}
