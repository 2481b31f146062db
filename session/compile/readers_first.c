/* readers_first.c -- in a body, the other readers of a large value come before a node that can
 * overwrite it. An iteration that replaces a row of a table and reads another then costs two rows:
 * if the table were read after the update, the update would have to copy it. */
#include "session/compile/views.h"

/* MIN_BYTES: copying less is cheap. The others bound the search. */
enum { MIN_BYTES = 4096, MOST_NODES = 64, MOST_READERS = 64, MOST_EDGES = 1024 };

typedef struct ordering {
    ir_graph *ir;
    uint8_t  *later;                /* by node: it depends on the node that overwrites */
    int32_t   from[MOST_EDGES], to[MOST_EDGES], n;      /* added so far */
} ordering;

static bool shares(const ir_node *n) { return n->alias || eddy__ir_is_view(n); }

/* The node in whose memory t lies. */
static int32_t origin_of(const ir_graph *f, eddy_tensor t)
{
    while (shares(f->nodes[t.node])) t = f->nodes[t.node]->inputs[0];
    return t.node;
}

static bool overwrites(const ir_graph *f, const ir_node *n)
{
    const int i = n->op->in_place_input;
    if (!(n->op->flags & EDDY_OP_IN_PLACE) || (n->op->flags & EDDY_OP_UPDATES) || n->values ||
        n->n_outputs == 0 || n->n_inputs <= i || !eddy__is_value(f, n, i))
        return false;
    const eddy_type t = eddy__ir_type(f, n->inputs[i]);
    const ir_node  *from = f->nodes[origin_of(f, n->inputs[i])];
    return !from->values && from->variable < 0 &&
           eddy_shape_count(t.shape) * (int64_t)eddy_dtype_size(t.dtype) >= MIN_BYTES;
}

static bool depends(const ordering *o, const ir_node *n)
{
    for (int i = 0; i < n->n_inputs; i++)
        if (o->later[n->inputs[i].node]) return true;
    for (int i = 0; i < n->n_controls; i++)
        if (o->later[n->controls[i]]) return true;
    for (int32_t e = 0; e < o->n; e++)
        if (o->to[e] == n->id && o->later[o->from[e]]) return true;
    return false;
}

/* Marks the nodes that run after `id`. An added edge may lead to a smaller number. */
static void mark_later(ordering *o, int32_t id)
{
    for (int32_t i = 1; i <= o->ir->size; i++) o->later[i] = i == id;
    for (bool again = true; again;) {
        again = false;
        for (int32_t i = 1; i <= o->ir->size; i++) {
            if (o->later[i] || !depends(o, o->ir->nodes[i])) continue;
            o->later[i] = 1;
            again = o->n > 0;
        }
    }
}

static bool reads(const ir_graph *f, const ir_node *n, int32_t origin)
{
    for (int i = 0; i < n->n_inputs && !shares(n); i++)
        if (eddy__is_value(f, n, i) && origin_of(f, n->inputs[i]) == origin) return true;
    return false;
}

static bool is_fetched(const ir_graph *f, int32_t origin)
{
    for (int i = 0; i < f->c->plan->n_fetches; i++)
        if (origin_of(f, f->fetches[i]) == origin) return true;
    return false;
}

/* The other readers of the value that n overwrites, unless a copy is needed anyway: the value is a
 * result, or a reader needs what n yields. */
static int find_readers(const ordering *o, const ir_node *n, int32_t *readers)
{
    const int32_t origin = origin_of(o->ir, n->inputs[n->op->in_place_input]);
    int           count = 0;
    if (is_fetched(o->ir, origin)) return 0;
    for (int32_t id = 1; id <= o->ir->size; id++) {
        if (id == n->id || !reads(o->ir, o->ir->nodes[id], origin)) continue;
        if (o->later[id] || count == MOST_READERS) return 0;
        readers[count++] = id;
    }
    return count;
}

bool eddy__readers_first(compile *c, void *to, bool (*edge)(void *to, int32_t from, int32_t id))
{
    ordering *o = c->plan->embedded ? eddy__stage_alloc(c, 1, sizeof *o) : NULL;
    int32_t   readers[MOST_READERS];
    int       nodes = 0;
    if (!c->plan->embedded) return true;
    if (!o || !(o->later = eddy__stage_alloc(c, (size_t)c->ir->size + 1, 1))) return false;
    o->ir = c->ir;
    for (int32_t id = 1; id <= c->ir->size && nodes < MOST_NODES; id++) {
        const ir_node *n = c->ir->nodes[id];
        if (!overwrites(c->ir, n)) continue;
        nodes++;
        mark_later(o, id);
        const int count = find_readers(o, n, readers);
        for (int i = 0; i < count && o->n + count <= MOST_EDGES; i++) {
            o->from[o->n] = readers[i];
            o->to[o->n++] = id;
            if (!edge(to, readers[i], id)) return false;
        }
    }
    return true;
}
