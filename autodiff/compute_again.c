/* compute_again.c -- tensors that gradients compute again. */
#include "autodiff/compute_again.h"
#include "autodiff/again.h"
#include "graph/internal.h"

/* The list of a graph, in its arena. */
typedef struct again_list {
    const eddy__again_item *first;
    const eddy__again_copy *copies;
} again_list;

/* The graph owns the list; this function tells it from its other objects. */
static void keep(void *object) { (void)object; }

static again_list *list_of(const eddy_graph *g)
{
    for (int i = 0; i < g->n_owned; i++)
        if (g->owned[i].release == keep) return g->owned[i].object;
    return NULL;
}

const eddy__again_item *eddy__again_first(const eddy_graph *g)
{
    const again_list *list = list_of(g);
    return list ? list->first : NULL;
}

const eddy__again_copy *eddy__again_copies(const eddy_graph *g)
{
    const again_list *list = list_of(g);
    return list ? list->copies : NULL;
}

bool eddy__again_add(eddy_tensor tensor, eddy_tensor of)
{
    again_list       *list = list_of(of.graph);
    eddy__again_copy *copy = eddy__arena_alloc(&of.graph->arena, sizeof *copy);
    if (!copy) return false;
    *copy = (eddy__again_copy){ tensor, of, list->copies };
    list->copies = copy;
    return true;
}

bool eddy_compute_again(eddy_tensor t, eddy_again again, void *context)
{
    eddy_graph *g = t.graph;
    if (!eddy__graph_ready(g)) return false;
    if (!again || !eddy_is_valid(t)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "compute_again: there is no %s",
                  again ? "tensor" : "function");
        return false;
    }
    again_list      *list = list_of(g);
    eddy__again_item *item = eddy__arena_alloc(&g->arena, sizeof *item);
    if (item && !list && (list = eddy__arena_alloc(&g->arena, sizeof *list)) != NULL) {
        *list = (again_list){ NULL, NULL };
        if (!eddy_graph_own(g, list, keep)) return false;
    }
    if (!item || !list) {
        eddy_fail(g, EDDY_NO_MEMORY, "compute_again: out of memory");
        return false;
    }
    *item = (eddy__again_item){ t, again, context, list->first };
    list->first = item;
    return true;
}
