/* variable_creator.c -- functions of the caller that create the variables of layers. */
#include "layers/variable_creator.h"
#include "layers/internal.h"
#include "graph/internal.h"

typedef struct creator {
    eddy_variable_creator create;
    void                 *context;
    struct creator       *outer;
} creator;

/* Of a graph, in its arena. */
typedef struct creators {
    creator *innermost;
} creators;

/* The graph owns its creators; this function tells them from its other objects. */
static void keep(void *object) { (void)object; }

static creators *creators_of(const eddy_graph *g)
{
    for (int i = 0; i < g->n_owned; i++)
        if (g->owned[i].release == keep) return g->owned[i].object;
    return NULL;
}

void eddy_variable_creator_begin(eddy_graph *g, eddy_variable_creator create, void *context)
{
    if (!eddy__graph_ready(g)) return;
    if (!create) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "variable_creator_begin: there is no function");
        return;
    }
    creators *all = creators_of(g);
    creator  *c = eddy__arena_alloc(&g->arena, sizeof *c);
    if (c && !all && (all = eddy__arena_alloc(&g->arena, sizeof *all)) != NULL) {
        all->innermost = NULL;
        if (!eddy_graph_own(g, all, keep)) return;
    }
    if (!c || !all) {
        eddy_fail(g, EDDY_NO_MEMORY, "variable_creator_begin: out of memory");
        return;
    }
    *c = (creator){ create, context, all->innermost };
    all->innermost = c;
}

void eddy_variable_creator_end(eddy_graph *g)
{
    creators *all = eddy__graph_alive(g) ? creators_of(g) : NULL;
    if (all && all->innermost) all->innermost = all->innermost->outer;
    else if (eddy__graph_ready(g))
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "variable_creator_end: no creator has begun");
}

eddy_tensor eddy_create_variable(const eddy_variable_request *r)
{
    char scope[64];
    if (!r || !eddy__graph_ready(r->graph)) return eddy_none(r ? r->graph : NULL);
    snprintf(scope, sizeof scope, "%.40s/Initializer", r->name ? r->name : "Variable");
    eddy_control_clear(r->graph);
    eddy_scope_begin(r->graph, scope);
    eddy_tensor first = eddy_initial_value(r->graph, r->init, r->dtype, r->shape, r->seed);
    eddy_scope_end(r->graph);
    eddy_tensor v = eddy_variable(r->graph, .initial_value = first, .name = r->name,
                                  .not_trainable = r->not_trainable);
    eddy_control_end(r->graph);
    return v;
}

/* v, if the layer can use it. */
static eddy_tensor fitting(const eddy_variable_request *r, eddy_tensor v)
{
    const eddy_type have = { eddy_dtype_of(v), eddy_shape_of(v) }, want = { r->dtype, r->shape };
    char            is[200], wanted[200];
    if (!eddy__graph_ready(r->graph)) return eddy_none(r->graph);
    if (v.graph == r->graph && eddy_is_valid(v) && have.dtype == want.dtype &&
        eddy_shape_equal(have.shape, want.shape))
        return v;
    return eddy_fail(r->graph, EDDY_INVALID_ARGUMENT,
                     "variable_creator: the function returns %s for '%.200s'; the layer needs %s",
                     eddy_is_valid(v) ? eddy_type_print(have, is, sizeof is) : "no tensor", r->name,
                     eddy_type_print(want, wanted, sizeof wanted));
}

eddy_tensor eddy__requested_variable(const eddy_variable_request *r)
{
    creators *all = eddy__graph_alive(r->graph) ? creators_of(r->graph) : NULL;
    creator  *c = all ? all->innermost : NULL;
    if (!c) return eddy_create_variable(r);
    all->innermost = c->outer;          /* layers that it builds do not ask it again */
    const eddy_tensor v = c->create(c->context, r);
    all->innermost = c;
    return fitting(r, v);
}
