/* optimizer.c -- what all optimizers share: the object itself, and the way from
 * a loss to pairs of gradient and variable. */
#include "optim/internal.h"
#include "ops/ops.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------ the object -- */

eddy_graph *eddy_optimizer_graph(const eddy_optimizer *o)
{
    return eddy_live(o, EDDY_LIVE_OPTIMIZER) && eddy_graph_alive(o->graph) ? o->graph : NULL;
}

eddy_graph *eddy_optimizer_ready(const eddy_optimizer *o)
{
    eddy_graph *g = eddy_optimizer_graph(o);
    return eddy_graph_ready(g) ? g : NULL;
}

void *eddy_optimizer_state(eddy_optimizer *o)
{
    return eddy_live(o, EDDY_LIVE_OPTIMIZER) ? o->state : NULL;
}

const char *eddy_optimizer_name(const eddy_optimizer *o)
{
    return eddy_optimizer_graph(o) ? o->name : "";
}

static void release(void *object)
{
    eddy_optimizer *o = object;
    eddy_allocator  memory = o->allocator;
    eddy_live_remove(o);
    eddy_release(&memory, o->slots, (size_t)o->slots_capacity * sizeof *o->slots);
    eddy_release(&memory, o->places, 2 * (size_t)o->slots_capacity * sizeof *o->places);
    eddy_release(&memory, o->state, o->def.state_size);
    eddy_release(&memory, o, sizeof *o);
}

static bool name_fits(eddy_graph *g, const char *name)
{
    const size_t n = strlen(name);
    if (n == 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Must specify the optimizer name");
    else if (!eddy_name_is_valid(name, true) || name[n - 1] == '/' || n >= EDDY_MAX_NAME / 2)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "'%.200s' is not a valid optimizer name", name);
    else return true;
    return false;
}

eddy_optimizer *eddy_optimizer_new(eddy_graph *g, const eddy_optimizer_def *def, const void *state,
                                   const char *name)
{
    if (!eddy_graph_ready(g)) return NULL;
    if (!def || !def->apply_dense || (!name && !def->name)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "an optimizer needs a name and apply_dense");
        return NULL;
    }
    if (!name) name = def->name;
    if (!name_fits(g, name)) return NULL;
    const eddy_allocator *memory = eddy_graph_allocator(g);
    eddy_optimizer *o = eddy_allocate_zeroed(memory, 1, sizeof *o);
    void           *own = eddy_allocate_zeroed(memory, 1, def->state_size);
    const char     *text = eddy_arena_text(&g->arena, name, strlen(name));
    if (!o || !own || !text || !eddy_live_add(o, EDDY_LIVE_OPTIMIZER)) {
        eddy_release(memory, own, def->state_size);
        eddy_release(memory, o, sizeof *o);
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for the optimizer '%.200s'", name);
        return NULL;
    }
    *o = (eddy_optimizer){ .allocator = *memory, .graph = g, .def = *def, .name = text,
                           .state = own };
    if (state && def->state_size > 0) memcpy(own, state, def->state_size);
    return eddy_graph_own(g, o, release) ? o : NULL;
}

/* ------------------------------------------------------ hyper-parameters -- */

bool eddy_hyper_settle(eddy_graph *g, const char *what, eddy_tensor *t, double fallback)
{
    char text[128];
    if (!eddy_graph_ready(g)) return false;
    if (t->node == 0 && !isnan(fallback)) *t = eddy_scalar(g, fallback);
    if (!eddy_is_valid(*t) || t->graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s is %s", what,
                  t->node == 0 ? "required" : "not a tensor of this graph");
    else if (!eddy_dtype_is_floating(eddy_dtype_of(*t)))
        eddy_fail(g, EDDY_BAD_DTYPE, "%s has type %s; a floating one is needed", what,
                  eddy_dtype_name(eddy_dtype_of(*t)));
    else if (eddy_shape_of(*t).rank > 0)
        eddy_fail(g, EDDY_BAD_SHAPE, "%s has shape %s and is no scalar", what,
                  eddy_shape_print(eddy_shape_of(*t), text, sizeof text));
    return eddy_graph_ready(g);
}

eddy_tensor eddy_hyper(eddy_tensor t, eddy_tensor v)
{
    return eddy_is_valid(v) ? eddy_cast(t, eddy_dtype_of(v)) : v;
}

/* ----------------------------------------------------------- gradients -- */

bool eddy_is_variable(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node && (node->op->flags & EDDY_OP_VARIABLE) != 0;
}

/* The trainable variables, or `given` where there is a list.  `bytes` is what
 * to release with *out; false with the error set. */
static bool targets(eddy_graph *g, eddy_list given, eddy_tensor **out, int *count, size_t *bytes)
{
    const bool all = !given.at;
    *count = all ? eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES) : given.count;
    if (*count <= 0) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "No variables to optimize.");
        return false;
    }
    *bytes = (size_t)*count * sizeof **out;
    *out = eddy_allocate(eddy_graph_allocator(g), *bytes);
    if (!*out) {
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for %d variables", *count);
        return false;
    }
    if (all) eddy_collection_get(g, EDDY_TRAINABLE_VARIABLES, NULL, *out, *count);
    else memcpy(*out, given.at, *bytes);
    for (int i = 0; i < *count; i++) {
        if (eddy_is_valid((*out)[i]) && (*out)[i].graph == g) continue;
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Trying to optimize unsupported type: entry %d of var_list is not a tensor of "
                  "this graph", i);
        eddy_release(eddy_graph_allocator(g), *out, *bytes);
        return false;
    }
    return true;
}

/* Of the loss, of its weight, or, with their optimizer, of a variable. */
static bool dtype_fits(const eddy_optimizer *o, eddy_tensor t)
{
    const eddy_dtype d = eddy_dtype_of(t);
    if (o && o->def.takes_complex && eddy_dtype_is_complex(d)) return true;
    if (eddy_dtype_is_floating(d)) return true;
    eddy_fail(t.graph, EDDY_BAD_DTYPE,
              "Invalid type %s for %s, expected: [float16, bfloat16, float32, float64].",
              eddy_dtype_name(d), eddy_name_of(t));
    return false;
}

static bool arguments_fit(eddy_graph *g, const eddy_compute_gradients_args *a)
{
    const unsigned gate = (unsigned)a->gate_gradients;
    if (gate > EDDY_GATE_GRAPH) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "gate_gradients must be one of: EDDY_GATE_NONE, EDDY_GATE_OP, "
                  "EDDY_GATE_GRAPH.  Not %u", gate);
        return false;
    }
    if (!eddy_is_valid(a->loss) || a->loss.graph != g) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "the loss is not a tensor of the optimizer's graph");
        return false;
    }
    if (!dtype_fits(NULL, a->loss)) return false;
    if (a->grad_loss.node == 0) return true;
    if (!eddy_is_valid(a->grad_loss) || a->grad_loss.graph != g) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "grad_loss is not a tensor of the optimizer's graph");
        return false;
    }
    return dtype_fits(NULL, a->grad_loss);
}

/* gradient[i] = d loss / d variable[i], gated as asked for. */
static bool take_gradients(eddy_graph *g, const eddy_compute_gradients_args *a,
                           const eddy_tensor *variable, eddy_tensor *gradient, int count)
{
    const eddy_tensor weight[] = { a->grad_loss };
    const bool each = a->gate_gradients == EDDY_GATE_DEFAULT || a->gate_gradients == EDDY_GATE_OP;
    eddy_gradients(EDDY_LIST(a->loss), ((eddy_list){ count, variable }), gradient,
                   .grad_ys = { weight[0].node ? 1 : 0, weight[0].node ? weight : NULL },
                   .gate_gradients = each, .aggregation_method = a->aggregation_method,
                   .colocate_gradients_with_ops = a->colocate_gradients_with_ops);
    if (eddy_graph_ready(g) && a->gate_gradients == EDDY_GATE_GRAPH)
        eddy_tuple(g, (eddy_list){ count, gradient }, gradient, NULL);
    for (int i = 0; i < count && eddy_graph_ready(g); i++)
        if (eddy_is_valid(gradient[i])) dtype_fits(a->optimizer, variable[i]);
    return eddy_graph_ready(g);
}

int eddy_compute_gradients_with(eddy_compute_gradients_args a)
{
    for (int i = 0; a.out && i < a.max_out; i++) a.out[i] = (eddy_gradient_pair){ 0 };
    eddy_graph *g = eddy_optimizer_ready(a.optimizer);
    if (!g) {
        eddy_fail(a.loss.graph, EDDY_INVALID_ARGUMENT, "compute_gradients: no such optimizer");
        return 0;
    }
    eddy_tensor *variable, *gradient;
    size_t bytes;
    int    count;
    if (!arguments_fit(g, &a) || !targets(g, a.var_list, &variable, &count, &bytes)) return 0;
    bool ok = a.out && count <= a.max_out;
    if (!ok)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "compute_gradients: %d variables, room for %d pairs",
                  count, a.out ? a.max_out : 0);
    gradient = ok ? eddy_allocate_zeroed(eddy_graph_allocator(g), (size_t)count, sizeof *gradient)
                  : NULL;
    if (ok && !gradient)
        eddy_fail(g, EDDY_NO_MEMORY, "compute_gradients: out of memory for %d gradients", count);
    ok = gradient && take_gradients(g, &a, variable, gradient, count);
    for (int i = 0; ok && i < count; i++)
        a.out[i] = (eddy_gradient_pair){ gradient[i], variable[i] };
    eddy_release(eddy_graph_allocator(g), gradient, bytes);
    eddy_release(eddy_graph_allocator(g), variable, bytes);
    return ok ? count : 0;
}
