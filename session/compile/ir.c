/* ir.c -- the IR, the plan's own graph: its nodes, and the walk that rewrites them. */
#include "session/compile/ir.h"
#include "build/gen/table.h"
#include "ops/weak_ops.h"

#include <string.h>

static bool type_only_infer(eddy_infer *c)
{
    return eddy_infer_fail(c, EDDY_INTERNAL, "a node that only the compiler makes");
}
const eddy_op_def eddy_op_fed = { .name = "_Fed", .outputs = 1, .flags = EDDY_OP_PLACEHOLDER,
                                  .infer = type_only_infer };
const eddy_op_def eddy_op_type_only = { .name = "_TypeOnly", .outputs = 1,
                                        .infer = type_only_infer };

static void *allocate(compile *c, eddy_arena *arena, size_t n, size_t size)
{
    size_t bytes;
    void  *p = eddy__size_mul(n, size, &bytes) ? eddy__arena_alloc(arena, bytes) : NULL;
    if (p) memset(p, 0, bytes);
    else eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory while compiling a plan");
    return p;
}

void *eddy__ir_alloc(compile *c, size_t n, size_t size)
{
    return allocate(c, &c->scratch, n, size);
}

void *eddy__stage_alloc(compile *c, size_t n, size_t size)
{
    return allocate(c, &c->stage, n, size);
}

void eddy__stage_begin(compile *c) { eddy__arena_reset(&c->stage); }

/* Memory with the lifetime of the IR. */
static void *ir_alloc(ir_graph *f, size_t n, size_t size)
{
    return allocate(f->c, f->arena, n, size);
}

ir_graph *eddy__ir_new(compile *c, int32_t capacity)
{
    eddy_arena *arena = &c->ir_arenas[c->ir_arena];
    c->ir_arena = !c->ir_arena;
    eddy__arena_reset(arena);
    ir_graph *f = allocate(c, arena, 1, sizeof *f);
    if (!f) return NULL;
    f->c = c;
    f->arena = arena;
    f->capacity = capacity;
    f->nodes = ir_alloc(f, (size_t)capacity + 1, sizeof *f->nodes);
    f->fetches = ir_alloc(f, (size_t)c->plan->n_fetches, sizeof *f->fetches);
    return f->nodes && f->fetches ? f : NULL;
}

/* ------------------------------------------------------------ appending -- */

typedef struct ir_entry {
    uint32_t hash;
    int32_t  node;                  /* 0: empty */
} ir_entry;

/* Searches begin in a group of places that the latest input determines, because nodes in a row
 * often have inputs in a row and then search the same lines of memory. */
enum { GROUP = 8 };

static uint32_t group_of(const ir_node *n)
{
    int32_t latest = 0;
    for (int i = 0; i < n->n_inputs; i++)
        if (n->inputs[i].node > latest) latest = n->inputs[i].node;
    return (uint32_t)latest * 2 / GROUP * GROUP;
}

/* Place i of a search: first in the group; then in steps that the hash determines, because many
 * groups in a row may be full. */
static ir_entry *place_of(const ir_graph *f, uint32_t group, uint32_t hash, uint32_t i)
{
    const uint32_t step = hash >> 8 | 1, at = i < GROUP ? group + i : hash + i * step;
    return &f->table[at & ((uint32_t)f->table_size - 1)];
}

static void enter(ir_graph *f, ir_entry e)
{
    const uint32_t group = group_of(f->nodes[e.node]);
    uint32_t       i = 0;
    while (place_of(f, group, e.hash, i)->node) i++;
    *place_of(f, group, e.hash, i) = e;
}

/* A table for so many entries. */
static bool grow_table(ir_graph *f, int32_t nodes)
{
    const ir_entry *old = f->table;
    const int32_t   n = f->table_size;
    if (2 * (int64_t)nodes <= n) return true;
    int32_t size = n > 0 ? n : 64;
    while (size < 2 * (int64_t)nodes && size < 1 << 30) size *= 2;
    f->table = ir_alloc(f, (size_t)size, sizeof *f->table);
    if (!f->table) return false;
    f->table_size = size;
    for (int32_t i = 0; i < n; i++)
        if (old[i].node) enter(f, old[i]);
    return true;
}

/* Enters the nodes that were appended without a search for equal ones, unless new nodes cannot
 * equal them. */
static bool enter_appended(ir_graph *f)
{
    const int32_t most = f->distinct ? f->entries : f->entered == 0 ? f->capacity : f->size;
    if (!grow_table(f, most + 1)) return false;
    if (f->distinct) f->entered = f->size;
    while (f->entered < f->size) {
        const int32_t id = ++f->entered;
        if (eddy__ir_is_pure(f->nodes[id])) enter(f, (ir_entry){ eddy__ir_hash(f->nodes[id]), id });
    }
    return true;
}

/* Returns the node that equals n. Returns NULL if there is none, and enters n, which the caller
 * then appends. */
static ir_node *find_equal(ir_graph *f, const ir_node *n)
{
    const uint32_t hash = eddy__ir_hash(n), group = group_of(n);
    ir_entry      *e;
    for (uint32_t i = 0; (e = place_of(f, group, hash, i))->node; i++)
        if (e->hash == hash && eddy__ir_equal(f->nodes[e->node], n)) return f->nodes[e->node];
    *e = (ir_entry){ hash, f->size + 1 };
    f->entered = f->size + 1;
    f->entries++;
    return NULL;
}

/* Appends n, which equals no other node. */
static ir_node *append_new(ir_graph *f, ir_node *n)
{
    if (f->size == f->capacity) {
        const int32_t bigger = f->capacity < 32 ? 64 : f->capacity * 2;
        ir_node     **nodes = ir_alloc(f, (size_t)bigger + 1, sizeof *nodes);
        if (!nodes) return NULL;
        memcpy(nodes, f->nodes, ((size_t)f->size + 1) * sizeof *nodes);
        f->nodes = nodes;
        f->capacity = bigger;
    }
    n->id = ++f->size;
    f->nodes[n->id] = n;
    f->has_roots = f->has_roots || n->op == &eddy_op_sqrt || n->op == &eddy_op_rsqrt;
    eddy__find_corrected(f, n);
    return n;
}

ir_node *eddy__ir_append(ir_graph *f, ir_node *n)
{
    if (f->merge && eddy__ir_is_pure(n)) {
        if (!enter_appended(f)) return NULL;
        ir_node *known = find_equal(f, n);
        if (known) {
            known->readers += n->readers;
            known->effect = known->effect || n->effect;
            return known;
        }
    }
    return append_new(f, n);
}

eddy_tensor eddy__ir_constant(ir_graph *f, const eddy_node *source, eddy_array *a)
{
    ir_node     *n = eddy__ir_alloc(f->c, 1, sizeof *n);
    eddy_array **values = eddy__ir_alloc(f->c, 1, sizeof(eddy_array *));
    eddy_type   *type = eddy__ir_alloc(f->c, 1, sizeof *type);
    if (!a) eddy__error_set(f->c->error, EDDY_NO_MEMORY, "out of memory while compiling a plan");
    if (!a || !eddy__plan_keep(f->c, a)) return EDDY_NO_TENSOR;
    if (!n || !values || !type) return EDDY_NO_TENSOR;
    values[0] = a;
    *type = (eddy_type){ eddy_array_dtype(a), eddy_array_shape(a) };
    *n = (ir_node){ .op = &eddy_op_constant, .source = source, .outputs = type,
                    .values = values, .n_outputs = 1, .feed = -1, .variable = -1 };
    n = eddy__ir_append(f, n);
    return n ? eddy__ir_tensor(n->id, 0) : EDDY_NO_TENSOR;
}

eddy_tensor eddy__ir_scalar(ir_graph *f, const eddy_node *source, eddy_dtype d, double v)
{
    eddy_array *a = eddy_array_new_in(&f->c->session->allocator, d, EDDY_SCALAR);
    if (a) eddy_array_set(a, 0, v);
    return eddy__ir_constant(f, source, a);
}

/* ------------------------------------------------------------- rewriting -- */

eddy_type *eddy__share_type(compile *c, eddy_type *own, eddy_type *other)
{
    if (own == other || own->dtype != other->dtype || own->shape.rank < 0 ||
        !eddy_shape_equal(own->shape, other->shape))
        return own;
    eddy__arena_return(&c->scratch, own);
    return other;
}

/* The types of a new node's outputs; NULL if the op refuses the inputs. */
static eddy_type *types_of(ir_graph *f, const eddy_op_def *op, const void *attrs, int n,
                           const eddy_tensor *in, int *n_out)
{
    enum { FEW = 8 };
    compile           *c = f->c;
    eddy_type          few_types[FEW], *types = few_types, *out = NULL;
    const eddy_array  *few_values[FEW], **values = few_values;
    eddy_error         refusal = { 0 };
    if (n > FEW) {
        types = ir_alloc(f, (size_t)n, sizeof *types);
        values = ir_alloc(f, (size_t)n, sizeof *values);
    }
    if (!types || !values) return NULL;
    for (int i = 0; i < n; i++) {
        types[i] = eddy__ir_type(f, in[i]);
        values[i] = eddy__ir_value(f, in[i]);
    }
    if (!eddy__infer_types(op, (void *)(uintptr_t)attrs, true, n, types, values, &c->scratch, &out,
                           n_out, op->name, &refusal)) {
        if (refusal.status == EDDY_NO_MEMORY) *c->error = refusal;
        return NULL;
    }
    eddy_type *y = out;
    for (int i = 0; *n_out == 1 && i < n && i < 2 && y == out; i++)
        y = eddy__share_type(c, out, eddy__ir_type_at(f, in[i]));
    return y;
}

static bool is_alias(const ir_graph *f, const ir_node *n)
{
    if (n->op->flags & EDDY_OP_ALIAS) return true;
    return (n->op->flags & EDDY_OP_ALIAS_IF_EQUAL) && n->n_outputs == 1 &&
           eddy_shape_count(n->outputs[0].shape) ==
               eddy_shape_count(eddy__ir_type(f, n->inputs[0]).shape);
}

bool eddy__ir_find_parts(ir_graph *f, ir_node *n)
{
    const ir_node *whole = n->n_inputs > 0 ? f->nodes[n->inputs[0].node] : NULL;
    if (!n->op->parts || !whole || n->n_outputs == 0 ||
        (f->c->without & EDDY_PASS_REUSE))
        return true;
    const bool join = n->op->flags & EDDY_OP_JOINS;
    if (!join && whole->variable >= 0 && n->inputs[0].output == STORAGE) return true;
    const size_t n_parts = (size_t)(join ? n->n_inputs : n->n_outputs);
    eddy_type   *in = ir_alloc(f, (size_t)n->n_inputs, sizeof *in);
    int64_t     *first = eddy__ir_alloc(f->c, n_parts, sizeof *first);
    if (!in || !first) return false;
    for (int i = 0; i < n->n_inputs; i++) in[i] = eddy__ir_type(f, n->inputs[i]);
    if (n->op->parts(n->attrs, n->n_inputs, in, n->n_outputs, n->outputs, first)) n->parts = first;
    return true;
}

eddy_tensor eddy__rewrite_add(rewrite *r, const eddy_op_def *op, const void *attrs, int n,
                              const eddy_tensor *in)
{
    ir_graph         *f = r->ir;
    int               n_out = 0;
    const eddy_tensor none = EDDY_NO_TENSOR;
    if (!op) return none;
    for (int i = 0; i < n; i++)
        if (!eddy__ir_valid(in[i])) return none;
    ir_node *node = eddy__ir_alloc(f->c, 1, sizeof *node);
    void    *copy = op->attrs_size > 0 ? eddy__plan_alloc(f->c, 1, op->attrs_size) : NULL;
    if (!node || (op->attrs_size > 0 && !copy)) return none;
    if (copy && attrs) memcpy(copy, attrs, op->attrs_size);
    *node = (ir_node){ .op = op, .attrs = copy, .source = r->node->source, .n_inputs = n,
                       .feed = -1, .variable = -1,
                       .inputs = eddy__ir_alloc(f->c, (size_t)n, sizeof *in),
                       .outputs = types_of(f, op, copy, n, in, &n_out) };
    if (!node->inputs || !node->outputs) return none;
    if (n > 0) memcpy(node->inputs, in, (size_t)n * sizeof *in);
    node->n_outputs = n_out;
    node->alias = is_alias(f, node);
    if (!eddy__ir_find_parts(f, node)) return none;
    node = eddy__ir_append(f, node);
    if (!node) return none;
    for (int i = 0; i < n; i++) f->nodes[in[i].node]->readers++;
    return eddy__ir_tensor(node->id, 0);
}

eddy_tensor eddy__rewrite_reshaped(rewrite *r, eddy_tensor t, eddy_shape shape)
{
    if (eddy_shape_equal(eddy__ir_type(r->ir, t).shape, shape)) return t;
    return eddy__rewrite_add(r, &eddy_op_reshape, &shape, 1, &t);
}

const ir_node *eddy__rewrite_sole(const rewrite *r, eddy_tensor t, const eddy_op_def *op)
{
    const ir_node *n = r->ir->nodes[t.node];
    return n->op == op && !n->values && n->readers == 1 && n->n_controls == 0 ? n : NULL;
}

bool eddy__ir_is_filled(const ir_graph *f, eddy_tensor t, double v)
{
    const eddy_array *a = eddy__ir_value(f, t);
    if (!a || eddy_array_count(a) == 0 || eddy_dtype_is_complex(eddy_array_dtype(a))) return false;
    /* only a few elements are compared if they differ */
    for (int64_t i = 0, n = eddy_array_count(a); i < n; i++)
        if (eddy_array_get(a, i) != v) return false;
    return true;
}

/* ------------------------------------------------------------- the sweep -- */

/* Loads a node, with the inputs behind it, that a walk over all nodes soon reaches. */
enum { AHEAD = 8 };
static void prefetch(const ir_graph *f, int32_t id)
{
    if (id < 1 || id > f->size) return;
    for (int i = 0; i < 3; i++) __builtin_prefetch((const char *)f->nodes[id] + 64 * i);
}

/* True if other nodes wait for it and for the nodes for which it waits. It must then stay as it
 * is. */
enum { NEEDED = 1, WAITED_FOR = 2 };

/* Marks in needed[] the nodes that fetches and side effects need, and counts their readers. */
static void count_readers(const ir_graph *f, uint8_t *needed, int32_t *readers)
{
    for (int i = 0; i < f->c->plan->n_fetches; i++) {
        needed[f->fetches[i].node] |= NEEDED;
        readers[f->fetches[i].node]++;
    }
    for (int32_t id = f->size; id >= 1; id--) {
        const ir_node *n = f->nodes[id];
        prefetch(f, id - AHEAD);
        if (n->kept) needed[id] |= NEEDED;
        if (!needed[id]) continue;
        for (int i = 0; i < n->n_inputs; i++) {
            needed[n->inputs[i].node] |= NEEDED;
            readers[n->inputs[i].node]++;
        }
        for (int i = 0; i < n->n_controls; i++)
            if (f->nodes[n->controls[i]]->effect) needed[n->controls[i]] |= NEEDED | WAITED_FOR;
    }
}

/* Maps the nodes of an IR to the tensors that replace them in the next IR. */
typedef struct replacements {
    int32_t      *id;               /* by old node id: the new id */
    eddy_tensor **tensors;  /* ... replacements of its outputs; NULL: those of the new node */
} replacements;

static eddy_tensor replacement_of(const replacements *s, eddy_tensor t)
{
    if (s->tensors[t.node]) return s->tensors[t.node][t.output];
    return eddy__ir_tensor(s->id[t.node], t.output);
}

static void replace_operands(ir_node *n, const replacements *s)
{
    int32_t kept = 0;
    for (int i = 0; i < n->n_inputs; i++) n->inputs[i] = replacement_of(s, n->inputs[i]);
    for (int i = 0; i < n->n_controls; i++)
        if (s->id[n->controls[i]] > 0) n->controls[kept++] = s->id[n->controls[i]];
    n->n_controls = kept;
}

/* Calls the rule. True if it replaced all outputs of n by tensors of the same types, which are
 * then recorded. */
static bool replace(ir_graph *to, ir_node *n, bool (*rule)(rewrite *), replacements *s,
                    int32_t old)
{
    enum { FEW = 4 };
    const size_t outputs = (size_t)n->n_outputs;
    eddy_tensor  few[FEW] = { { 0 } };
    rewrite      r = { .ir = to, .node = n, .y = few };
    if (!rule || n->values || n->n_controls > 0 || n->kept || n->n_outputs == 0 || n->n_inputs == 0)
        return false;
    if (outputs > FEW) r.y = ir_alloc(to, outputs, sizeof *r.y);
    if (!r.y || !rule(&r)) return false;
    for (int k = 0; k < n->n_outputs; k++) {
        if (!eddy__ir_valid(r.y[k])) return false;
        const eddy_type t = eddy__ir_type(to, r.y[k]);
        if (t.dtype != n->outputs[k].dtype || !eddy_shape_equal(t.shape, n->outputs[k].shape))
            return false;
    }
    s->tensors[old] = outputs > FEW ? r.y : ir_alloc(to, outputs, sizeof *r.y);
    if (!s->tensors[old]) return false;
    for (int k = 0; k < n->n_outputs; k++) {
        s->tensors[old][k] = r.y[k];
        to->nodes[r.y[k].node]->readers += n->readers;
    }
    s->id[old] = r.y[0].node;
    return true;
}

bool eddy__ir_transform(compile *c, bool (*rule)(rewrite *r), bool merge, int *changes)
{
    ir_graph *from = c->ir, *to = eddy__ir_new(c, from->size);
    if (!to) return false;
    const size_t n = (size_t)from->size + 1;
    int32_t      dropped = 0, replaced = 0;
    uint8_t     *needed = ir_alloc(to, n, 1);
    int32_t     *readers = ir_alloc(to, n, sizeof *readers);
    replacements s = { ir_alloc(to, n, sizeof *s.id), ir_alloc(to, n, sizeof *s.tensors) };
    if (!needed || !readers || !s.id || !s.tensors) return false;
    count_readers(from, needed, readers);
    to->merge = merge;
    for (int32_t id = 1; id <= from->size; id++) {
        ir_node *node = from->nodes[id];
        if (!needed[id]) {
            dropped++;
            continue;
        }
        prefetch(from, id + AHEAD);
        node->readers = readers[id];
        replace_operands(node, &s);
        if (!(needed[id] & WAITED_FOR) && replace(to, node, rule, &s, id)) {
            replaced++;
            continue;
        }
        if (c->error->status != EDDY_OK) return false;
        /* as long as nothing has changed, the nodes differ as they did before */
        const bool     same = from->merged && replaced == 0 && to->size + dropped == id - 1;
        const ir_node *now = same ? append_new(to, node) : eddy__ir_append(to, node);
        if (!now) return false;
        replaced += now != node;
        s.id[id] = now->id;
    }
    for (int i = 0; i < c->plan->n_fetches; i++)
        to->fetches[i] = replacement_of(&s, from->fetches[i]);
    to->merged = merge;
    to->settled = replaced == 0 && to->size + dropped == from->size;
    *changes += dropped + replaced;
    c->ir = to;
    return true;
}

bool eddy__ir_reorder(compile *c, const int32_t *order)
{
    ir_graph *f = c->ir, *to = eddy__ir_new(c, f->size);
    int32_t  *now = eddy__stage_alloc(c, (size_t)f->size + 1, sizeof *now);
    if (!now || !to) return false;
    for (int32_t i = 0; i < f->size; i++) now[order[i]] = i + 1;
    for (int32_t i = 0; i < f->size; i++) {
        ir_node *n = f->nodes[order[i]];
        for (int k = 0; k < n->n_inputs; k++) n->inputs[k].node = now[n->inputs[k].node];
        for (int k = 0; k < n->n_controls; k++) n->controls[k] = now[n->controls[k]];
        if (!eddy__ir_append(to, n)) return false;
    }
    for (int i = 0; i < c->plan->n_fetches; i++)
        to->fetches[i] = eddy__ir_tensor(now[f->fetches[i].node], f->fetches[i].output);
    c->ir = to;
    return true;
}

/* --------------------------------------------------------------- printing -- */

void eddy__ir_print(const ir_graph *f, FILE *to)
{
    char type[120];
    for (int32_t id = 1; id <= f->size; id++) {
        const ir_node *n = f->nodes[id];
        fprintf(to, "  %d = %s(", (int)id, n->values ? "Const" : n->op->name);
        for (int i = 0; i < n->n_inputs; i++) {
            fprintf(to, "%s%d", i ? ", " : "", (int)n->inputs[i].node);
            if (n->inputs[i].output) fprintf(to, ":%d", (int)n->inputs[i].output);
        }
        fprintf(to, ")");
        for (int i = 0; i < n->n_controls; i++) fprintf(to, " ^%d", (int)n->controls[i]);
        for (int k = 0; k < n->n_outputs; k++)
            fprintf(to, " %s", eddy_type_print(n->outputs[k], type, sizeof type));
        fprintf(to, "  [%s]\n", n->source ? n->source->name : "");
    }
}
