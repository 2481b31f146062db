/* eval_cache.c -- the results that eager evaluation keeps. */
#include "session/eval_cache.h"

size_t eddy__eval_slots(const eddy_node *node)
{
    return node->n_outputs > 0 ? (size_t)node->n_outputs : 1;
}

void eddy__eval_free_values(eddy_session *s, eddy_array ***values, size_t n)
{
    for (size_t k = 0; *values && k < n; k++) eddy_array_free((*values)[k]);
    eddy__release(&s->allocator, *values, n * sizeof **values);
    *values = NULL;
}

void eddy__eval_free_rows(eddy_session *s, row_list ***rows, size_t n)
{
    for (size_t k = 0; *rows && k < n; k++) eddy__value_free(&(node_value){ .rows = (*rows)[k] });
    eddy__release(&s->allocator, *rows, n * sizeof **rows);
    *rows = NULL;
}

void eddy__eval_cache_free(eddy_session *s)
{
    eval_cache *e = s->eval_cache;
    if (!e) return;
    for (int32_t id = 1; id < e->capacity && id <= s->graph->size; id++) {
        eddy__eval_free_values(s, &e->at[id].values, eddy__eval_slots(s->graph->nodes[id]));
        eddy__eval_free_values(s, &e->at[id].given, eddy__eval_slots(s->graph->nodes[id]));
        eddy_array_free(e->at[id].seen);
        eddy__eval_free_rows(s, &e->at[id].rows, eddy__eval_slots(s->graph->nodes[id]));
    }
    eddy__release(&s->allocator, e->at, (size_t)e->capacity * sizeof *e->at);
    eddy__release(&s->allocator, e->list, (size_t)e->capacity * sizeof *e->list);
    eddy__release(&s->allocator, e->taken, (size_t)e->n_taken * sizeof *e->taken);
    eddy__release(&s->allocator, e, sizeof *e);
    s->eval_cache = NULL;
}

/* Allocates entries for all current nodes of the graph. */
bool eddy__eval_reserve(eddy_session *s, eddy_error *error)
{
    eval_cache *e = s->eval_cache;
    if (!e) e = s->eval_cache = eddy__allocate_zeroed(&s->allocator, 1, sizeof *e);
    if (e && e->capacity > s->graph->size) return true;
    const size_t old = e ? (size_t)e->capacity : 0;
    size_t       bigger = old ? old * 2 : 64;
    if (bigger <= (size_t)s->graph->size) bigger = (size_t)s->graph->size + 1;
    int32_t *list = e ? eddy__allocate(&s->allocator, bigger * sizeof *list) : NULL;
    if (!list || !eddy__grow(&s->allocator, (void **)&e->at, old, bigger, sizeof *e->at)) {
        eddy__release(&s->allocator, list, bigger * sizeof *list);
        return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while inspecting the graph");
    }
    eddy__release(&s->allocator, e->list, old * sizeof *list);
    e->list = list;
    e->capacity = (int32_t)bigger;
    return true;
}

eddy_array **eddy__eval_new_slots(eddy_session *s, const eddy_node *node, eddy_error *error)
{
    eddy_array **values =
        eddy__allocate_zeroed(&s->allocator, eddy__eval_slots(node), sizeof *values);
    if (!values) eddy__error_set(error, EDDY_NO_MEMORY, "out of memory for '%s'", node->name);
    return values;
}

/* The value of t that was set or computed; NULL if there is none. */
eddy_array *eddy__eval_value(const eval_cache *e, eddy_tensor t)
{
    const eval_entry *k = &e->at[t.node];
    if (k->given && k->given[t.output]) return k->given[t.output];
    return k->values ? k->values[t.output] : NULL;
}

/* The stack t, if it is kept as rows and not as an array. */
row_list *eddy__eval_rows(const eval_cache *e, eddy_tensor t)
{
    const eval_entry *k = &e->at[t.node];
    return k->rows && !eddy__eval_value(e, t) ? k->rows[t.output] : NULL;
}
