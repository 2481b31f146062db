/* scopes.c -- scopes for new nodes: name scopes, control dependencies, devices. */
#include "graph/internal.h"

#include <string.h>

/* Ensures room for one more item on a stack. */
static bool push_room(eddy_graph *g, void **items, int count, int *capacity, size_t size)
{
    if (count < *capacity) return true;
    int bigger = *capacity ? *capacity * 2 : 8;
    if (!eddy__grow(&g->allocator, items, (size_t)count, (size_t)bigger, size)) {
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for a scope");
        return false;
    }
    *capacity = bigger;
    return true;
}

/* --------------------------------------------------------- name scopes -- */

const char *eddy_scope_name(const eddy_graph *g)
{
    return eddy__graph_alive(g) && g->n_scopes > 0 ? g->scopes[g->n_scopes - 1] : "";
}

static bool push_scope(eddy_graph *g, const char *full)
{
    if (!push_room(g, (void **)&g->scopes, g->n_scopes, &g->scopes_capacity, sizeof *g->scopes))
        return false;
    g->scopes[g->n_scopes++] = full;
    return true;
}

/* Without memory NULL, and an error on the graph. */
static char *scope_text(eddy_graph *g, const char *full, size_t length)
{
    char *copy = eddy__arena_text(&g->arena, full, length);
    if (!copy) eddy_fail(g, EDDY_NO_MEMORY, "out of memory for a scope");
    return copy;
}

/* The scope "name/" in the arena. */
static const char *with_slash(eddy_graph *g, const char *name)
{
    size_t n = strlen(name);
    char  *full = scope_text(g, name, n + 1);
    if (full) full[n] = '/';
    return full;
}

/* A scope that cannot be created is still pushed, as the current scope, so that begin and end
 * stay paired; without memory for that it is counted, and so are all within it. */
void eddy_scope_begin(eddy_graph *g, const char *name)
{
    if (!eddy__graph_alive(g)) return;
    const char *outer = eddy_scope_name(g), *full = NULL;
    size_t      n = name ? strlen(name) : 0;
    if (n == 0) full = "";
    else if (!eddy__name_is_valid(name, outer[0] == 0 || (name[0] == '/' && name[n - 1] == '/')))
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "'%.200s' is not a valid scope name", name);
    else if (n >= EDDY_MAX_NAME)
        eddy_fail(g, EDDY_LIMIT, "scope_begin: a name of %zu characters is too long", n);
    else if (name[n - 1] == '/') full = scope_text(g, name, n);
    else if (g->error.status == EDDY_OK) {
        const char *unique = eddy__names_make(g, name, 0);
        if (unique) full = with_slash(g, unique);
    }
    if (g->lost_scopes > 0 || !push_scope(g, full ? full : outer)) g->lost_scopes++;
}

bool eddy__scope_enter(eddy_graph *g, const char *full)
{
    const char *copy = scope_text(g, full, strlen(full));
    return copy && push_scope(g, copy);
}

void eddy_scope_end(eddy_graph *g)
{
    if (!eddy__graph_alive(g)) return;
    if (g->lost_scopes > 0) g->lost_scopes--;
    else if (g->n_scopes > 0) g->n_scopes--;
    else eddy_fail(g, EDDY_INVALID_ARGUMENT, "scope_end: no scope is open");
}

/* ------------------------------------------------- control dependencies -- */

static void push_controls(eddy_graph *g, eddy_list after, bool clears)
{
    if (g->lost_controls > 0 || !push_room(g, (void **)&g->controls, g->n_controls,
                                           &g->controls_capacity, sizeof *g->controls)) {
        g->lost_controls++;
        return;
    }
    eddy_control_block *b = &g->controls[g->n_controls++];
    int32_t root = g->n_controls > 1 ? b[-1].root : 0;
    *b = (eddy_control_block){ .begin = g->size,
                               .root = clears ? ++g->n_clears : root,
                               .clears = clears };
    if (after.count <= 0) return;
    b->nodes = eddy__arena_alloc(&g->arena, (size_t)after.count * sizeof *b->nodes);
    if (!b->nodes) {
        eddy_fail(g, EDDY_NO_MEMORY, "out of memory for control inputs");
        return;
    }
    for (int i = 0; i < after.count; i++) {
        const eddy_node *node = eddy_node_of(after.at[i]);
        if (!node || after.at[i].graph != g) {
            eddy_fail(g, EDDY_INVALID_ARGUMENT,
                      "control_begin: input %d is not an operation or tensor of this graph",
                      i);
            continue;
        }
        b->nodes[b->count++] = node->id;
    }
}

void eddy_control_begin(eddy_graph *g, eddy_list after)
{
    if (!eddy__graph_alive(g)) return;
    if (after.count < 0 || (after.count > 0 && !after.at)) {
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "control_begin: the list of control inputs is not valid (count %d)", after.count);
        after.count = 0;
    }
    push_controls(g, after, false);
}

void eddy_control_clear(eddy_graph *g)
{
    if (eddy__graph_alive(g)) push_controls(g, (eddy_list){ 0 }, true);
}

void eddy_control_end(eddy_graph *g)
{
    if (!eddy__graph_alive(g)) return;
    if (g->lost_controls > 0) g->lost_controls--;
    else if (g->n_controls > 0) g->n_controls--;
    else eddy_fail(g, EDDY_INVALID_ARGUMENT, "control_end: no block is open");
}

int32_t eddy__control_root(const eddy_graph *g)
{
    return g->n_controls > 0 ? g->controls[g->n_controls - 1].root : 0;
}

/* True if an input was built inside the block: it already waits for the block's controls,
 * unless it was built without them. The block then adds no control inputs. */
static bool has_input_from_block(const eddy_graph *g, const eddy_control_block *b, int n,
                                 const eddy_tensor *in)
{
    for (int i = 0; i < n; i++)
        if (in[i].node > b->begin && g->nodes[in[i].node]->control_root == b->root) return true;
    return false;
}

/* Allocates a mark for each node. */
static bool grow_marks(eddy_graph *g)
{
    if (g->size < g->listed_capacity) return true;
    if (!eddy__grow(&g->allocator, (void **)&g->listed, (size_t)g->listed_capacity,
                    (size_t)g->capacity, sizeof *g->listed))
        return false;
    g->listed_capacity = g->capacity;
    return true;
}

bool eddy__controls_for(eddy_graph *g, int n, const eddy_tensor *in, int32_t **out, int32_t *count)
{
    int     first = g->n_controls;
    int32_t most = 0;
    *out = NULL;
    *count = 0;
    while (first > 0 && !g->controls[first - 1].clears) most += g->controls[--first].count;
    if (most == 0) return true;
    *out = eddy__arena_alloc(&g->arena, (size_t)most * sizeof **out);
    if (!*out || !grow_marks(g)) return false;
    for (int i = 0; i < n; i++) g->listed[in[i].node] = true;
    for (int b = first; b < g->n_controls; b++) {
        const eddy_control_block *block = &g->controls[b];
        if (has_input_from_block(g, block, n, in)) continue;
        for (int32_t i = 0; i < block->count; i++) {
            uint8_t *mark = &g->listed[block->nodes[i]];
            if (!*mark) (*out)[(*count)++] = block->nodes[i];
            *mark = true;
        }
    }
    for (int i = 0; i < n; i++) g->listed[in[i].node] = false;
    for (int32_t i = 0; i < *count; i++) g->listed[(*out)[i]] = false;
    return true;
}

/* -------------------------------------------------------------- devices -- */

void eddy_device_begin(eddy_graph *g, const char *device)
{
    if (!eddy__graph_alive(g)) return;
    const char *copy = device ? eddy__arena_text(&g->arena, device, strlen(device)) : NULL;
    if (device && !copy) eddy_fail(g, EDDY_NO_MEMORY, "out of memory for a scope");
    if (g->lost_devices == 0 && push_room(g, (void **)&g->devices, g->n_devices,
                                          &g->devices_capacity, sizeof *g->devices))
        g->devices[g->n_devices++] = copy;
    else g->lost_devices++;
}

void eddy_device_end(eddy_graph *g)
{
    if (!eddy__graph_alive(g)) return;
    if (g->lost_devices > 0) g->lost_devices--;
    else if (g->n_devices > 0) g->n_devices--;
    else eddy_fail(g, EDDY_INVALID_ARGUMENT, "device_end: no device scope is open");
}

void eddy__scopes_free(eddy_graph *g)
{
    eddy__release(&g->allocator, g->scopes, (size_t)g->scopes_capacity * sizeof *g->scopes);
    eddy__release(&g->allocator, g->controls, (size_t)g->controls_capacity * sizeof *g->controls);
    eddy__release(&g->allocator, g->devices, (size_t)g->devices_capacity * sizeof *g->devices);
    eddy__overrides_free(g);
    eddy__release(&g->allocator, g->listed, (size_t)g->listed_capacity * sizeof *g->listed);
}
