/* collection.c -- collections: named lists of tensors. */
#include "graph/internal.h"

#include <string.h>

static eddy_collection *find(const eddy_graph *g, const char *key)
{
    for (int i = 0; eddy__graph_alive(g) && key && i < g->n_collections; i++)
        if (strcmp(g->collections[i].key, key) == 0) return &g->collections[i];
    return NULL;
}

static eddy_collection *find_or_add(eddy_graph *g, const char *key)
{
    eddy_collection *c = find(g, key);
    if (c) return c;
    if (g->n_collections == g->collections_capacity) {
        int bigger = g->collections_capacity ? g->collections_capacity * 2 : 8;
        if (!eddy__grow(&g->allocator, (void **)&g->collections, (size_t)g->n_collections,
                        (size_t)bigger, sizeof *c))
            return NULL;
        g->collections_capacity = bigger;
    }
    char *copy = eddy__arena_text(&g->arena, key, strlen(key));
    if (!copy) return NULL;
    c = &g->collections[g->n_collections++];
    *c = (eddy_collection){ .key = copy };
    return c;
}

void eddy_collection_add(eddy_graph *g, const char *key, eddy_tensor t)
{
    if (!eddy__graph_ready(g)) return;
    if (!key || !*key) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "collection_add: no key is given");
        return;
    }
    if (g->finalized) {
        eddy_fail(g, EDDY_FINALIZED, "Graph is finalized and cannot be modified.");
        return;
    }
    if (t.graph != g || !eddy_is_valid(t)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "collection_add: the entry for '%.200s' is not an element of this graph", key);
        return;
    }
    eddy_collection *c = find_or_add(g, key);
    if (c && c->count == c->capacity) {
        int bigger = c->capacity ? c->capacity * 2 : 8;
        if (eddy__grow(&g->allocator, (void **)&c->items, (size_t)c->count, (size_t)bigger,
                       sizeof *c->items))
            c->capacity = bigger;
        else {
            if (c->count == 0) g->n_collections--;      /* it is the last one, and new */
            c = NULL;
        }
    }
    if (!c) {
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for the collection '%.200s'", key);
        return;
    }
    c->items[c->count++] = t;
}

void eddy_collections_add(eddy_graph *g, const char *const *keys, int n, eddy_tensor t)
{
    for (int i = 0; keys && i < n; i++) {
        bool seen = false;
        for (int j = 0; j < i && keys[i]; j++)
            seen = seen || (keys[j] && strcmp(keys[i], keys[j]) == 0);
        if (!seen) eddy_collection_add(g, keys[i], t);
    }
}

int eddy_collection_get(const eddy_graph *g, const char *key, const char *prefix, eddy_tensor *out,
                        int max)
{
    const eddy_collection *c = find(g, key);
    size_t n = prefix ? strlen(prefix) : 0;
    int    count = 0;
    for (int i = 0; c && i < c->count; i++) {
        if (n > 0 && strncmp(eddy_name_of(c->items[i]), prefix, n) != 0) continue;
        if (out && count < max) out[count] = c->items[i];
        count++;
    }
    return count;
}

int eddy_collection_size(const eddy_graph *g, const char *key)
{
    const eddy_collection *c = find(g, key);
    return c ? c->count : 0;
}

eddy_tensor eddy_collection_at(eddy_graph *g, const char *key, int i)
{
    const eddy_collection *c = find(g, key);
    return c && i >= 0 && i < c->count ? c->items[i] : eddy_none(eddy__graph_alive(g) ? g : NULL);
}

bool eddy_collection_has(const eddy_graph *g, const char *key, eddy_tensor t)
{
    const eddy_collection *c = find(g, key);
    for (int i = 0; c && i < c->count; i++)
        if (eddy_same(c->items[i], t)) return true;
    return false;
}

void eddy_collection_clear(eddy_graph *g, const char *key)
{
    eddy_collection *c = find(g, key);
    if (c && g->finalized)
        eddy_fail(g, EDDY_FINALIZED, "Graph is finalized and cannot be modified.");
    else if (c) c->count = 0;
}
