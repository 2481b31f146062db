/* scope.c -- names of nodes, and the values that inputs name. */
#include "reader.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- index -- */

static const char *name_of(const tf_graph *g, int32_t at)
{
    return at > 0 ? g->nodes[at - 1].name : g->args[-at - 1];
}

/* The place of a name of n characters, or where it would be. */
static int32_t *place_of(const tf_index *x, const char *name, size_t n)
{
    size_t i = eddy__name_hash(name, n) & (x->room - 1);
    for (; x->at[i]; i = (i + 1) & (x->room - 1)) {
        const char *is = name_of(x->graph, x->at[i]);
        if (strncmp(is, name, n) == 0 && is[n] == 0) break;
    }
    return &x->at[i];
}

/* Of a name that occurs twice, the first node counts. */
static const tf_index *index_of(tf_reader *r, const tf_graph *g)
{
    for (tf_index *x = r->indices; x; x = x->next)
        if (x->graph == g) return x;
    tf_index *x = eddy__region_take(&r->base.memory, 1, sizeof *x);
    if (!x) return NULL;
    *x = (tf_index){ .next = r->indices, .graph = g, .room = 16 };
    while (x->room < 2 * (g->n_nodes + g->n_args)) x->room *= 2;
    x->at = eddy__region_take(&r->base.memory, x->room, sizeof *x->at);
    if (!x->at) return NULL;
    for (size_t i = 0; i < g->n_args; i++) {
        int32_t *at = place_of(x, g->args[i], strlen(g->args[i]));
        if (!*at) *at = -(int32_t)i - 1;
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        int32_t *at = place_of(x, g->nodes[i].name, strlen(g->nodes[i].name));
        if (!*at) *at = (int32_t)i + 1;
    }
    r->indices = x;
    return x;
}

bool eddy__tf_effort(tf_reader *r, size_t n)
{
    r->effort += (int64_t)n;
    return r->effort <= TF_MAX_EFFORT ||
           eddy__tf_error(r, EDDY_LIMIT, "the graph takes too much work to read");
}

tf_scope *eddy__tf_scope(tf_reader *r, const tf_graph *g, const char *place, int depth)
{
    if (g->n_nodes + g->n_args > TF_MAX_NODES) {
        eddy__tf_error(r, EDDY_LIMIT, "a graph has more than %d nodes", TF_MAX_NODES);
        return NULL;
    }
    if (!eddy__tf_effort(r, g->n_nodes + 4096)) return NULL;
    tf_scope *s = eddy__region_take(&r->base.memory, 1, sizeof *s);
    if (s)
        *s =
            (tf_scope){ .graph = g,
                        .index = index_of(r, g),
                        .place = place,
                        .depth = depth,
                        .slots = eddy__region_take(&r->base.memory, g->n_nodes, sizeof *s->slots) };
    if (s && s->index && s->slots && place) return s;
    eddy__reading_no_memory(&r->base);
    return NULL;
}

/* ------------------------------------------------------------------ inputs -- */

/* "x", "x:1", "x:output:1". */
int32_t eddy__tf_resolve(const tf_scope *s, const char *input, int *output)
{
    const char   *first = strchr(input, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    const size_t  n = first ? (size_t)(first - input) : strlen(input);
    const int32_t at = *place_of(s->index, input, n);
    *output = 0;
    if (!first || at <= 0) return at;
    const char  *digits = second ? second + 1 : first + 1;
    const size_t count = strlen(digits);
    if (count == 0 || count > 6 || strspn(digits, "0123456789") != count) return 0;
    *output = atoi(digits);
    if (second) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(second - first - 1), first + 1);
        *output += eddy__tf_output_number(s->graph->nodes[at - 1].op, name);
    }
    return at;
}

tf_value *eddy__tf_lookup(const tf_scope *s, const char *input)
{
    int           output;
    const int32_t at = eddy__tf_resolve(s, input, &output);
    if (at < 0) return s->args[-at - 1];
    if (at == 0) return NULL;
    for (; s; s = s->outer) {
        const tf_slot *slot = &s->slots[at - 1];
        if (slot->progress == TF_DONE) return output < slot->n_out ? slot->out[output] : NULL;
    }
    return NULL;
}
