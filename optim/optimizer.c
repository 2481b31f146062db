/* optimizer.c -- optimizer objects: creation, destruction, and checks of hyper-parameters. */
#include "optim/internal.h"
#include "ops/ops.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------ the object -- */

eddy_graph *eddy_optimizer_graph(const eddy_optimizer *o)
{
    return eddy__live(o, EDDY_LIVE_OPTIMIZER) && eddy__graph_alive(o->graph) ? o->graph : NULL;
}

eddy_graph *eddy__optimizer_ready(const eddy_optimizer *o)
{
    eddy_graph *g = eddy_optimizer_graph(o);
    return eddy__graph_ready(g) ? g : NULL;
}

void *eddy_optimizer_state(eddy_optimizer *o)
{
    return eddy__live(o, EDDY_LIVE_OPTIMIZER) ? o->state : NULL;
}

const char *eddy_optimizer_name(const eddy_optimizer *o)
{
    return eddy_optimizer_graph(o) ? o->name : "";
}

static void release(void *object)
{
    eddy_optimizer *o = object;
    eddy_allocator  memory = o->allocator;
    eddy__live_remove(o);
    eddy__release(&memory, o->slots, (size_t)o->slots_capacity * sizeof *o->slots);
    eddy__release(&memory, o->places, 2 * (size_t)o->slots_capacity * sizeof *o->places);
    eddy__release(&memory, o->state, o->def.state_size);
    eddy__release(&memory, o, sizeof *o);
}

static bool name_fits(eddy_graph *g, const char *name)
{
    const size_t n = strlen(name);
    if (n == 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Must specify the optimizer name");
    else if (!eddy__name_is_valid(name, true) || name[n - 1] == '/' || n >= EDDY_MAX_NAME / 2)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "'%.200s' is not a valid optimizer name", name);
    else return true;
    return false;
}

/* The functions that are left out, by means of `step`. */
static void take_step(eddy_optimizer_def *def)
{
    if (!def->create_slots) def->create_slots = eddy__step_slots;
    if (!def->apply_sparse && !def->apply_dense) def->apply_sparse = eddy__step_rows;
    if (!def->apply_dense) def->apply_dense = eddy__step_all;
}

eddy_optimizer *eddy_optimizer_new(eddy_graph *g, const eddy_optimizer_def *def, const void *state,
                                   const char *name)
{
    if (!eddy__graph_ready(g)) return NULL;
    if (!def || (!def->apply_dense && !def->step) || (!name && !def->name)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "optimizer_new: a name, and apply_dense or step, are required");
        return NULL;
    }
    if (!name) name = def->name;
    if (!name_fits(g, name)) return NULL;
    const eddy_allocator *memory = eddy__graph_allocator(g);
    eddy_optimizer *o = eddy__allocate_zeroed(memory, 1, sizeof *o);
    void           *own = eddy__allocate_zeroed(memory, 1, def->state_size);
    const char     *text = eddy__arena_text(&g->arena, name, strlen(name));
    if (!o || !own || !text || !eddy__live_add(o, EDDY_LIVE_OPTIMIZER)) {
        eddy__release(memory, own, def->state_size);
        eddy__release(memory, o, sizeof *o);
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for the optimizer '%.200s'", name);
        return NULL;
    }
    *o = (eddy_optimizer){ .allocator = *memory, .graph = g, .def = *def, .name = text,
                           .state = own };
    if (def->step) take_step(&o->def);
    if (state && def->state_size > 0) memcpy(own, state, def->state_size);
    return eddy_graph_own(g, o, release) ? o : NULL;
}

/* ------------------------------------------------------ hyper-parameters -- */

bool eddy__hyper_settle(eddy_graph *g, const char *what, eddy_tensor *t, double fallback)
{
    char text[128];
    if (!eddy__graph_ready(g)) return false;
    if (t->graph && !eddy__graph_alive(t->graph)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s is not a tensor; write eddy_scalar(graph, number) for a plain number", what);
        return false;
    }
    if (t->node == 0 && !isnan(fallback)) {
        eddy_control_clear(g);    /* it has no control inputs; neither have slots created from it */
        *t = eddy_number(g, EDDY_FLOAT64, fallback);
        eddy_control_end(g);
    }
    if (!eddy_is_valid(*t) || t->graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s is %s", what,
                  t->node == 0 ? "required" : "not a tensor of this graph");
    else if (eddy__expect_type(g, NULL, what, eddy_dtype_of(*t), EDDY_TAKES_FLOATS) &&
             eddy_shape_of(*t).rank > 0)
        eddy_fail(g, EDDY_BAD_SHAPE, "%s has shape %s; expected a scalar", what,
                  eddy_shape_print(eddy_shape_of(*t), text, sizeof text));
    return eddy__graph_ready(g);
}

eddy_tensor eddy_hyper(eddy_tensor t, eddy_tensor v)
{
    return eddy_is_valid(v) ? eddy_cast(t, eddy_dtype_of(v)) : v;
}

eddy_tensor eddy__hyper_positive(const char *what, eddy_tensor t)
{
    char              text[128];
    const eddy_array *known = eddy_constant_value(t);
    const double      x = known ? eddy_array_item(known) : 1;
    if (!(x > 0))
        return eddy_fail(t.graph, EDDY_INVALID_ARGUMENT, "%s is not a positive scalar: %g", what,
                         x);
    if (known || !eddy_is_valid(t)) return t;
    snprintf(text, sizeof text, "%s is not a positive scalar:", what);
    eddy_tensor above = eddy_assert(eddy_greater(t, eddy_number_like(0, t)), EDDY_LIST(t), text);
    eddy_control_begin(t.graph, EDDY_LIST(above));
    t = eddy_identity(t);
    eddy_control_end(t.graph);
    return t;
}

bool eddy__setting_is_positive(eddy_graph *g, const char *what, double x)
{
    if (!(x > 0)) eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s must be positive: %g", what, x);
    return eddy__graph_ready(g);
}

bool eddy__setting_is_not_negative(eddy_graph *g, const char *what, double x)
{
    if (!(x >= 0))
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s %g needs to be positive or zero", what, x);
    return eddy__graph_ready(g);
}

bool eddy__is_variable(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node && (node->op->flags & EDDY_OP_VARIABLE) != 0;
}
