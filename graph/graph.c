/* graph.c -- graph objects: creation and destruction, the first error, lookup of nodes by id and
 * by name. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "graph/base/files.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const char *eddy_version(void) { return EDDY_VERSION; }

/* ------------------------------------------------------- memory of graphs -- */

/* The addresses of the last graphs that were freed. Tensors of a freed graph would pass as those of
 * a new graph at its address, so a new graph takes another one. */
enum { RECENT = 8 };
static const void *_Atomic freed[RECENT];
static atomic_uint         n_freed;

static void note_freed(const eddy_graph *g)
{
    atomic_store(&freed[atomic_fetch_add(&n_freed, 1) % RECENT], g);
}

static bool freed_recently(const eddy_graph *g)
{
    bool found = false;
    for (int i = 0; i < RECENT; i++) found = found || atomic_load(&freed[i]) == g;
    return found;
}

/* A block has room for one more place than there are such addresses, so one of them is free. */
enum { STEP = 64 };
static const size_t block_bytes = sizeof(eddy_graph) + RECENT * STEP;

static eddy_graph *allocate_graph(const eddy_allocator *a)
{
    char *block = eddy__allocate_zeroed(a, 1, block_bytes), *at = block;
    while (at && freed_recently((eddy_graph *)(void *)at)) at += STEP;
    if (!at) return NULL;
    eddy_graph *g = (eddy_graph *)(void *)at;
    g->block = block;
    return g;
}

eddy_graph *eddy_graph_new_with(const eddy_graph_args *given)
{
    eddy_graph_args args = EDDY_TAKE(eddy_graph_args, given);
    const eddy_allocator *a = args.allocator ? args.allocator : &eddy__libc;
    if (!a->allocate || !a->release) return NULL;
    eddy_graph *g = allocate_graph(a);
    if (!g) return NULL;
    g->allocator = *a;
    g->files = args.files ? *args.files : *eddy_posix_files();
    g->seed = args.seed;
    g->arena.allocator = &g->allocator;
    atomic_init(&g->holders, 1);
    if (eddy__live_add(g, EDDY_LIVE_GRAPH)) return g;
    eddy__release(a, g->block, block_bytes);
    return NULL;
}

static void free_collections(eddy_graph *g)
{
    for (int i = 0; i < g->n_collections; i++) {
        eddy_collection *c = &g->collections[i];
        eddy__release(&g->allocator, c->items, (size_t)c->capacity * sizeof *c->items);
    }
    eddy__release(&g->allocator, g->collections,
                  (size_t)g->collections_capacity * sizeof *g->collections);
}

static void destroy(eddy_graph *g)
{
    while (g->n_owned > 0) {
        eddy_owned *o = &g->owned[--g->n_owned];
        o->release(o->object);
    }
    eddy__release(&g->allocator, g->owned, (size_t)g->owned_capacity * sizeof *g->owned);
    eddy__release(&g->allocator, g->lines, (size_t)g->lines_capacity * sizeof *g->lines);
    for (int32_t id = 1; id <= g->size; id++)
        eddy__attrs_release(g->nodes[id]->op, g->nodes[id]->attrs);
    free_collections(g);
    eddy__scopes_free(g);
    eddy__names_free(g);
    eddy__release(&g->allocator, g->nodes, (size_t)g->capacity * sizeof *g->nodes);
    eddy__arena_free(&g->arena);
    eddy_allocator a = g->allocator;
    eddy__release(&a, g->block, block_bytes);
}

void eddy__graph_hold(eddy_graph *g) { atomic_fetch_add(&g->holders, 1); }

void eddy__graph_drop(eddy_graph *g)
{
    if (atomic_fetch_sub(&g->holders, 1) == 1) destroy(g);
}

void eddy_graph_free(eddy_graph *g)
{
    if (!eddy__live(g, EDDY_LIVE_GRAPH)) return;
    eddy__live_remove(g);
    note_freed(g);
    eddy__graph_drop(g);
}

void eddy__graph_release(eddy_graph *body)
{
    if (eddy__live(body, EDDY_LIVE_GRAPH) && atomic_load(&body->holders) > 1)
        eddy__graph_drop(body);
    else eddy_graph_free(body);
}

bool eddy__graph_alive(const eddy_graph *g) { return eddy__live(g, EDDY_LIVE_GRAPH); }
bool eddy__graph_ready(const eddy_graph *g)
{
    return eddy__live(g, EDDY_LIVE_GRAPH) && g->error.status == EDDY_OK;
}
const eddy_allocator *eddy__graph_allocator(const eddy_graph *g) { return &g->allocator; }
const eddy_files     *eddy__graph_files(const eddy_graph *g) { return &g->files; }

/* --------------------------------------------------------------- errors -- */

/* Appends the custom gradient whose rule failed: the user did not name the rule's nodes. */
static void name_custom_rule(eddy_graph *g)
{
    const size_t room = sizeof g->error.message;
    char         where[256];
    const int    n = snprintf(where, sizeof where, " [gradient '%.100s' of '%.100s']",
                              g->custom.name, g->custom.of);
    const size_t end = strlen(g->error.message), last = room - 1 - (size_t)n;
    memcpy(g->error.message + (end < last ? end : last), where, (size_t)n + 1);
}

eddy_tensor eddy_fail(eddy_graph *g, eddy_status s, const char *fmt, ...)
{
    if (!eddy__live(g, EDDY_LIVE_GRAPH)) return EDDY_NO_TENSOR;
    if (g->error.status == EDDY_OK && s != EDDY_OK) {
        va_list args;
        va_start(args, fmt);
        eddy__error_vset(&g->error, s, fmt, args);
        va_end(args);
        if (g->custom.name) name_custom_rule(g);
        eddy__lines_add_here(g, &g->error);
        g->telling = true;
        if (g->on_error) g->on_error(g->on_error_user, g->error.status, g->error.message);
        g->telling = false;
    }
    return eddy_none(g);
}

eddy_status eddy_graph_status(const eddy_graph *g)
{
    return eddy__live(g, EDDY_LIVE_GRAPH) ? g->error.status : EDDY_INVALID_ARGUMENT;
}
const char *eddy_graph_message(const eddy_graph *g)
{
    return eddy__live(g, EDDY_LIVE_GRAPH) ? g->error.message : "not a graph";
}
void eddy_graph_clear_error(eddy_graph *g)
{
    if (eddy__live(g, EDDY_LIVE_GRAPH) && !g->telling) g->error = (eddy_error){ 0 };
}
void eddy_graph_on_error(eddy_graph *g,
                         void (*handler)(void *user, eddy_status s, const char *message),
                         void *user)
{
    if (!eddy__live(g, EDDY_LIVE_GRAPH)) return;
    g->on_error = handler;
    g->on_error_user = user;
}

/* ----------------------------------------------------------- properties -- */

void eddy_graph_set_seed(eddy_graph *g, int64_t seed)
{
    if (eddy__live(g, EDDY_LIVE_GRAPH)) g->seed = seed;
}
int64_t eddy_graph_seed(const eddy_graph *g)
{
    return eddy__live(g, EDDY_LIVE_GRAPH) ? g->seed : 0;
}
int32_t eddy_graph_size(const eddy_graph *g)
{
    return eddy__live(g, EDDY_LIVE_GRAPH) ? g->size : 0;
}
void    eddy_graph_finalize(eddy_graph *g)
{
    if (!eddy__live(g, EDDY_LIVE_GRAPH) || g->finalized) return;
    g->finalized = true;
    g->whole = g->error.status == EDDY_OK;
}
bool eddy_graph_is_finalized(const eddy_graph *g)
{
    return eddy__live(g, EDDY_LIVE_GRAPH) && g->finalized;
}

bool eddy_graph_own(eddy_graph *g, void *object, void (*release)(void *object))
{
    if (!object || !release) return false;
    if (!eddy__live(g, EDDY_LIVE_GRAPH)) {
        release(object);
        return false;
    }
    if (g->n_owned == g->owned_capacity) {
        int bigger = g->owned_capacity ? g->owned_capacity * 2 : 8;
        if (!eddy__grow(&g->allocator, (void **)&g->owned, (size_t)g->n_owned, (size_t)bigger,
                        sizeof *g->owned)) {
            release(object);
            eddy_fail(g, EDDY_NO_MEMORY, "out of memory for an owned object");
            return false;
        }
        g->owned_capacity = bigger;
    }
    g->owned[g->n_owned++] = (eddy_owned){ object, release };
    return true;
}

/* -------------------------------------------------------------- tensors -- */

const eddy_node *eddy__graph_node(const eddy_graph *g, int32_t id)
{
    return id >= 1 && id <= g->size ? g->nodes[id] : NULL;
}

const eddy_node *eddy_node_of(eddy_tensor t)
{
    if (!eddy__live(t.graph, EDDY_LIVE_GRAPH)) return NULL;
    const eddy_node *node = eddy__graph_node(t.graph, t.node);
    int outputs = node && node->n_outputs > 0 ? node->n_outputs : 1;
    return node && t.output >= 0 && t.output < outputs ? node : NULL;
}

bool eddy_is_valid(eddy_tensor t) { return eddy_node_of(t) != NULL; }
bool eddy_same(eddy_tensor a, eddy_tensor b)
{
    return a.graph == b.graph && a.node == b.node && a.output == b.output;
}

static const eddy_type *type_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node && node->n_outputs > 0 ? &node->outputs[t.output] : NULL;
}

eddy_dtype eddy_dtype_of(eddy_tensor t)
{
    const eddy_type *type = type_of(t);
    return type ? type->dtype : EDDY_DEFAULT_DTYPE;
}
eddy_shape eddy_shape_of(eddy_tensor t)
{
    const eddy_type *type = type_of(t);
    return type ? type->shape : eddy_shape_unknown();
}
const char *eddy_name_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node ? node->name : "";
}
const char *eddy_type_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node ? node->op->name : "";
}
const char *eddy_device_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node && node->device ? node->device : "";
}
int eddy_outputs_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node ? node->n_outputs : 0;
}
int eddy_inputs_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node ? node->n_inputs : 0;
}
int eddy_controls_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node ? node->n_controls : 0;
}
eddy_tensor eddy_output(eddy_tensor t, int i)
{
    const eddy_node *node = eddy_node_of(t);
    if (!node) return eddy_none(eddy__live(t.graph, EDDY_LIVE_GRAPH) ? t.graph : NULL);
    if (i < 0 || i >= node->n_outputs)
        return eddy_fail(t.graph, EDDY_OUT_OF_RANGE,
                         "output: '%s' has no output %d; the number of its outputs is %d",
                         node->name, i, (int)node->n_outputs);
    return eddy__tensor_at(t.graph, node->id, i);
}
eddy_tensor eddy_input(eddy_tensor t, int i)
{
    const eddy_node *node = eddy_node_of(t);
    bool ok = node && i >= 0 && i < node->n_inputs;
    return ok ? node->inputs[i] : eddy_none(eddy__live(t.graph, EDDY_LIVE_GRAPH) ? t.graph : NULL);
}
eddy_tensor eddy_control(eddy_tensor t, int i)
{
    const eddy_node *node = eddy_node_of(t);
    bool ok = node && i >= 0 && i < node->n_controls;
    return eddy__tensor_at(eddy__live(t.graph, EDDY_LIVE_GRAPH) ? t.graph : NULL,
                           ok ? node->controls[i] : 0, 0);
}
eddy_tensor eddy_node_at(eddy_graph *g, int32_t id)
{
    if (!eddy__live(g, EDDY_LIVE_GRAPH)) return EDDY_NO_TENSOR;
    return eddy__tensor_at(g, eddy__graph_node(g, id) ? id : 0, 0);
}

const eddy_array *eddy_constant_value(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    if (!node || !(node->op->flags & EDDY_OP_CONSTANT) || !node->attrs) return NULL;
    const char *at = node->attrs;
    return *(eddy_array *const *)(const void *)(at + node->op->attrs->offset);
}

eddy_tensor eddy_set_shape(eddy_tensor t, eddy_shape s)
{
    eddy_type *type = (eddy_type *)(uintptr_t)type_of(t);
    if (!type || !eddy__graph_ready(t.graph)) return t;
    char was[100], wanted[100];
    if (!eddy_shape_is_valid(s) || !eddy_shape_compatible(type->shape, s))
        return eddy_fail(t.graph, EDDY_BAD_SHAPE,
                         "set_shape: the shape %s of '%s' is not compatible with %s",
                         eddy_shape_print(type->shape, was, sizeof was), eddy_name_of(t),
                         eddy_shape_print(s, wanted, sizeof wanted));
    const eddy_shape before = type->shape;
    if (type->shape.rank < 0) type->shape = s;
    for (int i = 0; i < s.rank; i++)
        if (type->shape.dim[i] < 0) type->shape.dim[i] = s.dim[i];
    if (!eddy_shape_equal(before, type->shape)) t.graph->nodes[t.node]->narrowed = true;
    return t;
}

/* -------------------------------------------------------------- look-up -- */

/* The node called name[0..n), or NULL; case matters here. */
static const eddy_node *node_named(const eddy_graph *g, const char *name, size_t n)
{
    const eddy_name_entry *e = eddy__names_find(g, name, n);
    return e && e->node > 0 && strncmp(e->name, name, n) == 0 ? g->nodes[e->node] : NULL;
}

/* Splits "op:12"; false if the part after the colon is not a number. */
static bool split_name(const char *name, size_t *length, int *index)
{
    const char *colon = strrchr(name, ':');
    if (!colon || colon == name || !colon[1]) return false;
    long value = 0;
    for (const char *c = colon + 1; *c; c++) {
        if (*c < '0' || *c > '9' || value > EDDY_MAX_INPUTS) return false;
        value = value * 10 + (*c - '0');
    }
    *length = (size_t)(colon - name);
    *index = (int)value;
    return true;
}

eddy_tensor eddy_graph_operation(eddy_graph *g, const char *name)
{
    if (!eddy__live(g, EDDY_LIVE_GRAPH)) return EDDY_NO_TENSOR;
    const eddy_node *node = name ? node_named(g, name, strlen(name)) : NULL;
    if (!node)
        return eddy_fail(g, EDDY_NOT_FOUND,
                         "The name '%.400s' refers to an Operation not in the graph.",
                         name ? name : "");
    return eddy__tensor_at(g, node->id, 0);
}

eddy_tensor eddy_graph_tensor(eddy_graph *g, const char *name)
{
    size_t n;
    int    index;
    if (!eddy__live(g, EDDY_LIVE_GRAPH)) return EDDY_NO_TENSOR;
    if (!name || !split_name(name, &n, &index))
        return eddy_fail(
            g, EDDY_INVALID_ARGUMENT,
            "'%.400s' is not the name of a tensor, which has the form \"<op_name>:<output_index>\"",
            name ? name : "");
    const eddy_node *node = node_named(g, name, n);
    if (!node)
        return eddy_fail(g, EDDY_NOT_FOUND,
                         "The name '%.300s' refers to a Tensor which does not exist. The "
                         "operation, '%.*s', does not exist in the graph.",
                         name, (int)(n < 300 ? n : 300), name);
    if (index >= node->n_outputs)
        return eddy_fail(g, EDDY_NOT_FOUND,
                         "The name '%.300s' refers to a Tensor which does not exist. The "
                         "operation, '%.300s', exists but only has %d outputs.",
                         name, node->name, (int)node->n_outputs);
    return eddy__tensor_at(g, node->id, index);
}

bool eddy_graph_has(const eddy_graph *g, const char *name)
{
    size_t n;
    int    index;
    if (!eddy__live(g, EDDY_LIVE_GRAPH) || !name) return false;
    if (node_named(g, name, strlen(name))) return true;
    const eddy_node *node = split_name(name, &n, &index) ? node_named(g, name, n) : NULL;
    return node && index < node->n_outputs;
}
