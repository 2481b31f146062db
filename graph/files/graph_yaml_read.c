/* graph_yaml_read.c -- reader of YAML graph files.
 *
 * The list of nodes is read node by node. Each node is a small tree that is freed before the
 * next one is read; everything that it states is checked against the nodes before it and against
 * the types that its operation infers. */
#include "graph/internal.h"
#include "graph/files/yaml_tree.h"

#include <stdlib.h>
#include <string.h>

typedef struct named_op {
    const eddy_op_def *op;
    size_t             rank; /* index in the lists; the first operation with a name is used */
} named_op;

typedef struct reader {
    eddy_yaml_parser p;
    named_op        *ops;            /* by name */
    size_t           n_ops;
    int64_t          max_nodes;
    int              inner;             /* graphs within one another, besides the outermost */
} reader;

static bool no_memory(reader *r)
{
    return eddy__error_set(r->p.error, EDDY_NO_MEMORY, "%.600s: out of memory while reading",
                           r->p.name);
}

/* ---------------------------------------------------------- operations -- */

static int by_name(const void *a, const void *b)
{
    const named_op *x = a, *y = b;
    int order = strcmp(x->op->name, y->op->name);
    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static size_t count_ops(const eddy_op_def *const *ops)
{
    size_t n = 0;
    while (ops && ops[n]) n++;
    return n;
}

static bool gather_ops(reader *r, const eddy_yaml_source *s)
{
    size_t more = count_ops(s->more_ops), n = more + count_ops(s->ops);
    r->ops = eddy__allocate_zeroed(r->p.arena.allocator, n, sizeof *r->ops);
    if (!r->ops) return no_memory(r);
    r->n_ops = n;
    for (size_t i = 0; i < n; i++) {
        r->ops[i] = (named_op){ i < more ? s->more_ops[i] : s->ops[i - more], i };
        if (!r->ops[i].op->name)
            return eddy__error_set(r->p.error, EDDY_INVALID_ARGUMENT,
                                   "operation %zu of the list has no name", i);
    }
    qsort(r->ops, n, sizeof *r->ops, by_name);
    return true;
}

static const eddy_op_def *find_op(const reader *r, const char *name)
{
    size_t low = 0, high = r->n_ops;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(r->ops[middle].op->name, name) < 0) low = middle + 1;
        else high = middle;
    }
    return low < r->n_ops && strcmp(r->ops[low].op->name, name) == 0 ? r->ops[low].op : NULL;
}

/* ---------------------------------------------------------- references -- */

/* The node with the name name[0..n), which must have been read before: all names are those of nodes
 * until `complete` adds those of scopes. */
static bool read_name(reader *r, eddy_graph *g, const eddy_yaml_item *it, const char *name,
                      size_t n, int32_t *out)
{
    eddy_name_entry *e = eddy__names_find(g, name, n);
    if (!e || memcmp(e->name, name, n) != 0)
        return eddy__yaml_fail(&r->p, it, EDDY_NOT_FOUND,
                               "no earlier node is named '%.*s'", n < 200 ? (int)n : 200,
                               name);
    *out = e->node;
    return true;
}

static bool read_node_name(reader *r, eddy_graph *g, const eddy_yaml_item *it, int32_t *out)
{
    const char *name;
    return eddy__yaml_string(&r->p, it, &name) && read_name(r, g, it, name, strlen(name), out);
}

/* "name:2"; with `whole`, also "name:0" of a node without a value. */
static bool read_tensor(reader *r, eddy_graph *g, const eddy_yaml_item *it, bool whole,
                        eddy_tensor *out)
{
    const char *text;
    if (!eddy__yaml_string(&r->p, it, &text)) return false;
    const char *colon = strrchr(text, ':');
    int64_t     output;
    int32_t     id = 0;
    if (!colon || colon == text || colon[1] == '-' || !eddy__integer_parse(colon + 1, &output))
        return eddy__yaml_fail(&r->p, it, EDDY_CORRUPT,
                               "'%.200s' is not a tensor; expected the form name:0", text);
    if (!read_name(r, g, it, text, (size_t)(colon - text), &id)) return false;
    int32_t outputs = eddy__graph_node(g, id)->n_outputs;
    if (output >= outputs && !(whole && outputs == 0 && output == 0))
        return eddy__yaml_fail(&r->p, it, EDDY_OUT_OF_RANGE,
                               "'%.200s' does not exist; the number of outputs is %d", text,
                               (int)outputs);
    *out = eddy__tensor_at(g, id, (int32_t)output);
    return true;
}

/* --------------------------------------------------------------- a node -- */

enum {
    NAME, OP, INPUTS, CONTROLS, DEVICE, GRADIENT, COLOCATE, ORIGIN, TRACED, ATTRIBUTES, OUTPUTS,
    NODE_KEYS
};
static const char *const node_keys[NODE_KEYS] = {
    "name", "op", "inputs", "controls", "device", "gradient", "colocate", "origin", "traced",
    "attributes", "outputs"
};

static bool is_list_up_to(reader *r, const eddy_yaml_item *it, int64_t most)
{
    if (it->kind != EDDY_YAML_LIST)
        return eddy__yaml_fail(&r->p, it, EDDY_CORRUPT, "expected a list");
    return it->count <= most ||
           eddy__yaml_fail(&r->p, it, EDDY_LIMIT, "the list has %lld items; the limit is %lld",
                           (long long)it->count, (long long)most);
}

static bool read_inputs(reader *r, eddy_append_args *a, const eddy_yaml_item *list)
{
    if (!list) return true;
    if (!is_list_up_to(r, list, EDDY_MAX_INPUTS)) return false;
    eddy_tensor *in = eddy__arena_alloc(&r->p.arena, (size_t)list->count * sizeof *in);
    if (!in) return no_memory(r);
    a->in = in;
    for (const eddy_yaml_item *it = list->first; it; it = it->next)
        if (!read_tensor(r, a->graph, it, false, &in[a->n++])) return false;
    return true;
}

static bool read_controls(reader *r, eddy_append_args *a, const eddy_yaml_item *list)
{
    if (!list) return true;
    if (!is_list_up_to(r, list, INT32_MAX)) return false;
    int32_t *controls = eddy__arena_alloc(&r->p.arena, (size_t)list->count * sizeof *controls);
    if (!controls) return no_memory(r);
    a->controls = controls;
    for (const eddy_yaml_item *it = list->first; it; it = it->next)
        if (!read_node_name(r, a->graph, it, &controls[a->n_controls++])) return false;
    return true;
}

/* The name as it is, with the slash that makes eddy__append take it so. */
static bool read_new_name(reader *r, eddy_append_args *a, const eddy_yaml_item *it)
{
    const char *name;
    if (!eddy__yaml_string(&r->p, it, &name)) return false;
    size_t n = strlen(name);
    if (n > EDDY_LONGEST_NAME)
        return eddy__yaml_fail(&r->p, it, EDDY_LIMIT, "a name of %zu bytes is too long", n);
    if (!eddy__name_is_valid(name, true))
        return eddy__yaml_fail(&r->p, it, EDDY_INVALID_ARGUMENT, "'%.200s' is not a valid name",
                               name);
    if (eddy__names_find(a->graph, name, n))
        return eddy__yaml_fail(&r->p, it, EDDY_CORRUPT,
                               "the name '%.200s' appears twice, ignoring case", name);
    char *copy = eddy__arena_text(&r->p.arena, name, n + 1);
    if (!copy) return no_memory(r);
    copy[n] = '/';
    a->name = copy;
    return true;
}

static bool read_head(reader *r, eddy_append_args *a, const eddy_yaml_item *it,
                      const eddy_yaml_item *const *in)
{
    const char *op;
    if (!in[NAME] || !in[OP] || !in[OUTPUTS])
        return eddy__yaml_fail(&r->p, it, EDDY_CORRUPT, "a node requires name, op and outputs");
    if (!read_new_name(r, a, in[NAME]) || !eddy__yaml_string(&r->p, in[OP], &op)) return false;
    a->op = find_op(r, op);
    if (!a->op)
        return eddy__yaml_fail(&r->p, in[OP], EDDY_NOT_FOUND, "unknown operation '%.200s'", op);
    if (!read_inputs(r, a, in[INPUTS]) || !read_controls(r, a, in[CONTROLS])) return false;
    if (a->n < a->op->min_inputs || (a->op->max_inputs != EDDY_MANY && a->n > a->op->max_inputs))
        return eddy__yaml_fail(&r->p, in[INPUTS] ? in[INPUTS] : it, EDDY_CORRUPT,
                               "%s does not take this number of inputs: %d", op, a->n);
    return (!in[DEVICE] || eddy__yaml_string(&r->p, in[DEVICE], &a->device)) &&
           (!in[GRADIENT] || eddy__yaml_string(&r->p, in[GRADIENT], &a->gradient)) &&
           (!in[COLOCATE] || read_node_name(r, a->graph, in[COLOCATE], &a->colocate)) &&
           (!in[ORIGIN] || read_node_name(r, a->graph, in[ORIGIN], &a->origin));
}

static bool set_traced(reader *r, const eddy_node *node, const eddy_yaml_item *it)
{
    return !it || eddy__yaml_bool(&r->p, it, &((eddy_node *)(uintptr_t)node)->traced);
}

/* The static types in the file are those of the graph that was written, possibly narrowed by
 * hand. They must be compatible with the types that the operation infers. */
static bool set_outputs(reader *r, const eddy_node *node, const eddy_yaml_item *list)
{
    char       said[100], known[100];
    eddy_type *out = node->outputs, t;
    if (!is_list_up_to(r, list, EDDY_MAX_INPUTS)) return false;
    if (list->count != node->n_outputs)
        return eddy__yaml_fail(&r->p, list, EDDY_CORRUPT,
                               "the number of outputs is %lld in the file, but %d for %s",
                               (long long)list->count, (int)node->n_outputs, node->op->name);
    for (const eddy_yaml_item *it = list->first; it; it = it->next, out++) {
        if (!eddy__yaml_type(&r->p, it, &t)) return false;
        if (t.dtype != out->dtype || !eddy_shape_compatible(t.shape, out->shape))
            return eddy__yaml_fail(
                &r->p, it, t.dtype != out->dtype ? EDDY_BAD_DTYPE : EDDY_BAD_SHAPE,
                "the file says %s, but %s infers %s", eddy_type_print(t, said, sizeof said),
                node->op->name, eddy_type_print(*out, known, sizeof known));
        if (!eddy_shape_equal(t.shape, out->shape)) ((eddy_node *)(uintptr_t)node)->narrowed = true;
        out->shape = t.shape;
    }
    return true;
}

static eddy_graph *read_inner_graph(void *context, const eddy_yaml_item *it);

/* Appends the node with the attributes that were read. Retains the graphs among them meanwhile,
 * because a failed append may free them. */
static const eddy_node *append(reader *r, const eddy_append_args *a, const eddy_yaml_item *it,
                               char *attrs)
{
    for (const eddy_attr_field *f = a->op->attrs; f && f->name; f++)
        if (f->kind == EDDY_ATTR_GRAPH && *(eddy_graph **)(void *)(attrs + f->offset))
            eddy__graph_hold(*(eddy_graph **)(void *)(attrs + f->offset));
    const eddy_node *node = eddy_node_of(eddy__append(*a));
    for (const eddy_attr_field *f = a->op->attrs; f && f->name; f++) {
        void *member = attrs + f->offset;
        if (f->kind == EDDY_ATTR_ARRAY) eddy_array_free(*(eddy_array **)member);
        if (f->kind != EDDY_ATTR_GRAPH || !*(eddy_graph **)member) continue;
        eddy__graph_release(*(eddy_graph **)member);
    }
    if (!node)
        eddy__yaml_fail(&r->p, it, a->graph->error.status, "%s", a->graph->error.message);
    return node;
}

static bool read_node(reader *r, eddy_graph *g, const eddy_yaml_item *it)
{
    const eddy_yaml_item *in[NODE_KEYS];
    eddy_append_args      a = { .graph = g };
    if (!eddy__yaml_fields(&r->p, it, node_keys, NODE_KEYS, in) || !read_head(r, &a, it, in))
        return false;
    if (g->size >= r->max_nodes)
        return eddy__yaml_fail(&r->p, it, EDDY_LIMIT,
                               "the graph has too many nodes; the limit is %lld",
                               (long long)r->max_nodes);
    char *attrs = eddy__arena_alloc(&r->p.arena, a.op->attrs_size + 1);
    if (!attrs) return no_memory(r);
    memset(attrs, 0, a.op->attrs_size + 1);
    if (!eddy__yaml_attrs(&r->p, a.op, it, in[ATTRIBUTES], attrs, read_inner_graph, r)) {
        eddy__attrs_release(a.op, attrs);
        return false;
    }
    a.attrs = attrs;
    const eddy_node *node = append(r, &a, it, attrs);
    return node && set_traced(r, node, in[TRACED]) && set_outputs(r, node, in[OUTPUTS]);
}

/* ------------------------------------------------------------- a graph -- */

enum { SEED, FINALIZED, NODES, COLLECTIONS, GRAPH_KEYS };
static const char *const graph_keys[GRAPH_KEYS] = { "seed", "finalized", "nodes", "collections" };

static bool read_collection(reader *r, eddy_graph *g, const eddy_yaml_item *it)
{
    static const char *const keys[] = { "key", "tensors" };
    const eddy_yaml_item    *in[2];
    const char              *key;
    if (!eddy__yaml_fields(&r->p, it, keys, 2, in)) return false;
    if (!in[0] || !in[1])
        return eddy__yaml_fail(&r->p, it, EDDY_CORRUPT, "a collection requires key and tensors");
    if (!eddy__yaml_string(&r->p, in[0], &key) || !is_list_up_to(r, in[1], INT32_MAX / 2))
        return false;
    if (!*key) return eddy__yaml_fail(&r->p, in[0], EDDY_CORRUPT, "the collection has no name");
    if (eddy_collection_size(g, key) > 0)
        return eddy__yaml_fail(&r->p, in[0], EDDY_CORRUPT, "the collection '%.100s' appears twice",
                               key);
    for (const eddy_yaml_item *t = in[1]->first; t; t = t->next) {
        eddy_tensor x;
        if (!read_tensor(r, g, t, true, &x)) return false;
        eddy_collection_add(g, key, x);
        if (g->error.status != EDDY_OK)
            return eddy__yaml_fail(&r->p, t, g->error.status, "%s", g->error.message);
    }
    return true;
}

static bool read_collections(reader *r, eddy_graph *g, const eddy_yaml_item *list)
{
    if (!is_list_up_to(r, list, EDDY_YAML_COLLECTIONS)) return false;
    for (const eddy_yaml_item *it = list->first; it; it = it->next)
        if (!read_collection(r, g, it)) return false;
    return true;
}

/* The members of a graph besides its nodes. */
static bool read_field(reader *r, eddy_graph *g, int field, const eddy_yaml_item *value,
                       bool *finalized)
{
    int64_t seed;
    if (field == FINALIZED) return eddy__yaml_bool(&r->p, value, finalized);
    if (field == COLLECTIONS) return read_collections(r, g, value);
    if (!eddy__yaml_integer(&r->p, value, &seed)) return false;
    eddy_graph_set_seed(g, seed);
    return true;
}

static bool complete(reader *r, eddy_graph *g, bool finalized)
{
    for (int32_t id = 1; id <= g->size; id++)
        if (!eddy__names_reserve_scopes(g, g->nodes[id]->name))
            return eddy__error_set(r->p.error, g->error.status, "%.300s: %.600s", r->p.name,
                                   g->error.message);
    if (finalized) eddy_graph_finalize(g);
    return true;
}

static eddy_graph *new_graph(reader *r)
{
    eddy_graph *g =
        eddy_graph_new(.allocator = r->p.source->allocator, .files = r->p.source->files);
    if (!g) no_memory(r);
    return g;
}

static bool fill_inner_graph(reader *r, eddy_graph *g, const eddy_yaml_item *it)
{
    const eddy_yaml_item *in[GRAPH_KEYS];
    bool                  finalized = false;
    if (!eddy__yaml_fields(&r->p, it, graph_keys, GRAPH_KEYS, in)) return false;
    if (!in[SEED] || !in[FINALIZED] || !in[NODES])
        return eddy__yaml_fail(&r->p, it, EDDY_CORRUPT,
                               "a graph requires seed, finalized and nodes");
    if (!is_list_up_to(r, in[NODES], INT32_MAX)) return false;
    for (const eddy_yaml_item *node = in[NODES]->first; node; node = node->next)
        if (!read_node(r, g, node)) return false;
    for (int field = 0; field < GRAPH_KEYS; field++)
        if (field != NODES && in[field] && !read_field(r, g, field, in[field], &finalized))
            return false;
    return complete(r, g, finalized);
}

static eddy_graph *read_inner_graph(void *context, const eddy_yaml_item *it)
{
    reader *r = context;
    if (r->inner + 1 >= EDDY_YAML_GRAPHS) {
        eddy__yaml_fail(&r->p, it, EDDY_LIMIT, "graphs are nested more than %d deep",
                        EDDY_YAML_GRAPHS);
        return NULL;
    }
    r->inner++;
    eddy_graph *g = new_graph(r);
    if (g) g->is_body = true;
    if (g && !fill_inner_graph(r, g, it)) {
        eddy_graph_free(g);
        g = NULL;
    }
    r->inner--;
    return g;
}

/* -------------------------------------------------------- the document -- */

enum { FORMAT = GRAPH_KEYS, VERSION, DOCUMENT_KEYS };

static bool read_version(reader *r, const eddy_yaml_item *value)
{
    int64_t version;
    return eddy__yaml_integer(&r->p, value, &version) &&
           (version == EDDY_YAML_VERSION ||
            eddy__yaml_fail(&r->p, value, EDDY_UNIMPLEMENTED,
                            "format version %lld is not supported", (long long)version));
}

static bool read_format(reader *r, const eddy_yaml_item *value)
{
    const char *format;
    return eddy__yaml_string(&r->p, value, &format) &&
           (strcmp(format, "eddy-graph") == 0 ||
            eddy__yaml_fail(&r->p, value, EDDY_CORRUPT, "not a graph file"));
}

/* The next event, which must be of this type. */
static bool expect(reader *r, yaml_event_type_t type, yaml_event_t *event, const char *what)
{
    if (!eddy__yaml_next(&r->p, event)) return false;
    if (event->type == type) return true;
    eddy__yaml_fail_at(&r->p, event->start_mark.line + 1, event->start_mark.column + 1,
                       EDDY_CORRUPT, "%s", what);
    yaml_event_delete(event);
    return false;
}

static bool skip(reader *r, yaml_event_type_t type, const char *what)
{
    yaml_event_t event;
    if (!expect(r, type, &event, what)) return false;
    yaml_event_delete(&event);
    return true;
}

/* The list of nodes, one tree after the other. */
static bool read_nodes(reader *r, eddy_graph *g)
{
    yaml_event_t event;
    if (!skip(r, YAML_SEQUENCE_START_EVENT, "expected a list")) return false;
    for (;;) {
        if (!eddy__yaml_next(&r->p, &event)) return false;
        if (event.type == YAML_SEQUENCE_END_EVENT) break;
        const eddy_yaml_item *it = eddy__yaml_tree(&r->p, &event);
        if (!it || !read_node(r, g, it)) return false;
        eddy__arena_free(&r->p.arena);
    }
    yaml_event_delete(&event);
    return true;
}

/* Which of the document's keys this is; -1 after an error. */
static int read_key(reader *r, const eddy_yaml_item *key, unsigned *seen)
{
    static const char *const more[] = { "format", "version" };
    const char *text = key->kind == EDDY_YAML_SCALAR ? key->text : "";
    int         field = 0;
    while (field < DOCUMENT_KEYS &&
           strcmp(text, field < GRAPH_KEYS ? graph_keys[field] : more[field - GRAPH_KEYS]) != 0)
        field++;
    if (field == DOCUMENT_KEYS)
        eddy__yaml_fail(&r->p, key, EDDY_CORRUPT, "unknown key '%.100s'", text);
    else if (*seen >> field & 1)
        eddy__yaml_fail(&r->p, key, EDDY_CORRUPT, "the key '%.100s' appears twice", text);
    else if (*seen == 0 && field != FORMAT)
        eddy__yaml_fail(&r->p, key, EDDY_CORRUPT, "a graph file must begin with the key 'format'");
    else {
        *seen |= 1u << field;
        return field;
    }
    return -1;
}

static bool read_value(reader *r, eddy_graph *g, int field, bool *finalized)
{
    yaml_event_t event;
    if (field == NODES) return read_nodes(r, g);
    if (!eddy__yaml_next(&r->p, &event)) return false;
    const eddy_yaml_item *value = eddy__yaml_tree(&r->p, &event);
    if (!value) return false;
    if (field == FORMAT) return read_format(r, value);
    if (field == VERSION) return read_version(r, value);
    return read_field(r, g, field, value, finalized);
}

static bool read_document(reader *r, eddy_graph *g)
{
    unsigned seen = 0,
             needed = 1u << SEED | 1u << FINALIZED | 1u << NODES | 1u << FORMAT | 1u << VERSION;
    bool         finalized = false;
    yaml_event_t event;
    if (!skip(r, YAML_STREAM_START_EVENT, "the file is empty") ||
        !skip(r, YAML_DOCUMENT_START_EVENT, "the file is empty") ||
        !skip(r, YAML_MAPPING_START_EVENT, "not a graph file"))
        return false;
    for (;;) {
        if (!eddy__yaml_next(&r->p, &event)) return false;
        if (event.type == YAML_MAPPING_END_EVENT) break;
        const eddy_yaml_item *key = eddy__yaml_tree(&r->p, &event);
        int field = key ? read_key(r, key, &seen) : -1;
        if (field < 0 || !read_value(r, g, field, &finalized)) return false;
        eddy__arena_free(&r->p.arena);
    }
    yaml_event_delete(&event);
    if ((seen & needed) != needed)
        return eddy__error_set(r->p.error, EDDY_CORRUPT,
                               "%.600s: seed, finalized, nodes or version is missing", r->p.name);
    return skip(r, YAML_DOCUMENT_END_EVENT, "unexpected second document") &&
           skip(r, YAML_STREAM_END_EVENT, "unexpected second document") &&
           complete(r, g, finalized);
}

eddy_graph *eddy__yaml_read(const eddy_yaml_source *source, eddy_error *e)
{
    reader      r = { .max_nodes = source->max_nodes > 0 ? source->max_nodes : INT32_MAX };
    eddy_graph *g = NULL;
    bool        ok = eddy__yaml_open(&r.p, source, e) && gather_ops(&r, source) &&
              (g = new_graph(&r)) != NULL && read_document(&r, g);
    eddy__release(r.p.arena.allocator, r.ops, r.n_ops * sizeof *r.ops);
    eddy__yaml_close(&r.p);
    if (ok) return g;
    eddy_graph_free(g);
    return NULL;
}
