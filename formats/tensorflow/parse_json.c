/* parse_json.c -- see parse_json.h. The graph is a GraphDef in protobuf's JSON: bytes are base64,
 * 64-bit integers are strings, types are names. */
#include "parse_json.h"

#include <string.h>

typedef struct reading {
    region     *memory;
    const char *problem;
    size_t      at;             /* of the problem */
} reading;

static void *take(reading *p, size_t count, size_t size)
{
    void *at = eddy__region_take(p->memory, count, size);
    if (!at) p->problem = "out of memory";
    return at;
}

static void bad(reading *p, const json *v, const char *problem)
{
    if (p->problem) return;
    p->problem = problem;
    p->at = v->offset;
}

/* ------------------------------------------------------------------- types -- */

static int type_of(const json *v)
{
    static const char *const names[TF_TYPES] = {
        "DT_INVALID", "DT_FLOAT", "DT_DOUBLE", "DT_INT32", "DT_UINT8", "DT_INT16", "DT_INT8",
        "DT_STRING", "DT_COMPLEX64", "DT_INT64", "DT_BOOL", "DT_QINT8", "DT_QUINT8", "DT_QINT32",
        "DT_BFLOAT16", "DT_QINT16", "DT_QUINT16", "DT_UINT16", "DT_COMPLEX128", "DT_HALF",
        "DT_RESOURCE", "DT_VARIANT", "DT_UINT32", "DT_UINT64"
    };
    const char *s = eddy__json_text(v, NULL);
    for (int i = 0; s && i < TF_TYPES; i++)
        if (strcmp(s, names[i]) == 0) return i;
    return s ? TF_NO_TYPE : (int)(eddy__json_integer(v, 0) & 0xff);
}

static eddy_shape shape_of(const json *v)
{
    eddy_shape s = { 0 };
    if (!v || eddy__json_integer(eddy__json_get(v, "unknownRank"), 0)) return eddy_shape_unknown();
    for (const json *d = eddy__json_items(eddy__json_get(v, "dim")); d; d = d->next) {
        const int64_t size = eddy__json_integer(eddy__json_get(d, "size"), 0);
        if (s.rank == EDDY_MAX_RANK) return eddy_shape_unknown();
        s.dim[s.rank++] = size < 0 ? EDDY_ANY : size;
    }
    return s;
}

/* -------------------------------------------------------------- attributes -- */

static int sextet(uint8_t c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Bytes in base64, as a text; also a list of codes of characters, which old converters wrote. */
static const char *bytes_text(reading *p, const json *v)
{
    char    *s = take(p, (v->kind == JSON_ARRAY ? v->count : v->text.size) + 1, 1), *to = s;
    uint32_t bits = 0;
    int      n = 0;
    if (!s) return "";
    for (const json *c = eddy__json_items(v); c; c = c->next) *to++ = (char)c->integer;
    for (size_t i = 0; v->kind == JSON_STRING && i < v->text.size; i++) {
        const int six = sextet(v->text.at[i]);
        if (six < 0 && v->text.at[i] != '=') bad(p, v, "a text is not in base64");
        if (six < 0) continue;
        bits = bits << 6 | (uint32_t)six;
        n += 6;
        if (n >= 8) *to++ = (char)(bits >> (n -= 8) & 0xff);
    }
    return s;
}

static void list(reading *p, const json *v, tf_attr *a)
{
    a->kind = TF_ATTR_LIST;
    if (v->kind != JSON_OBJECT) return;
    for (const json *member = v->items; member; member = member->next) {
        const char *key = member->key;
        const json *x = eddy__json_items(member);
        const size_t count = member->count;
        size_t       n = 0;
        if (strcmp(key, "s") == 0 || strcmp(key, "func") == 0) {
            a->texts = take(p, count, sizeof *a->texts);
            for (; a->texts && x; x = x->next)
                a->texts[n++] = key[0] == 's' ? bytes_text(p, x)
                                              : eddy__json_text(eddy__json_get(x, "name"), "");
            a->n_texts = n;
        } else if (strcmp(key, "shape") == 0) {
            a->shapes = take(p, count, sizeof *a->shapes);
            for (; a->shapes && x; x = x->next) a->shapes[n++] = shape_of(x);
            a->n_shapes = n;
        } else if (strcmp(key, "i") == 0 || strcmp(key, "b") == 0 || strcmp(key, "type") == 0) {
            a->ints = take(p, count, sizeof *a->ints);
            for (; a->ints && x; x = x->next)
                a->ints[n++] = key[0] == 't' ? type_of(x) : eddy__json_integer(x, 0);
            a->n_ints = n;
        }
    }
}

static void attribute(reading *p, const json *v, tf_attr *a)
{
    *a = (tf_attr){ .name = v->key, .text = "" };
    const json *x = v->items;
    if (!x) return;
    const char *kind = x->key;
    if (strcmp(kind, "s") == 0) a->kind = TF_ATTR_TEXT, a->text = bytes_text(p, x);
    if (strcmp(kind, "i") == 0) a->kind = TF_ATTR_INT, a->i = eddy__json_integer(x, 0);
    if (strcmp(kind, "f") == 0) a->kind = TF_ATTR_FLOAT, a->f = x->number;
    if (strcmp(kind, "b") == 0) a->kind = TF_ATTR_BOOL, a->i = eddy__json_integer(x, 0) != 0;
    if (strcmp(kind, "type") == 0) a->kind = TF_ATTR_TYPE, a->i = type_of(x);
    if (strcmp(kind, "shape") == 0) a->kind = TF_ATTR_SHAPE, a->shape = shape_of(x);
    if (strcmp(kind, "list") == 0) list(p, x, a);
    if (strcmp(kind, "func") == 0)
        a->kind = TF_ATTR_FUNCTION, a->text = eddy__json_text(eddy__json_get(x, "name"), "");
    if (strcmp(kind, "tensor") != 0) return;
    a->kind = TF_ATTR_TENSOR;           /* without elements, which are weights */
    a->tensor = take(p, 1, sizeof *a->tensor);
    if (!a->tensor) return;
    a->tensor->type = type_of(eddy__json_get(x, "dtype"));
    a->tensor->shape = shape_of(eddy__json_get(x, "tensorShape"));
    a->tensor->rank = a->tensor->shape.rank;
}

/* ------------------------------------------------------------------- nodes -- */

static void node(reading *p, const json *v, tf_node *n)
{
    const json *inputs = eddy__json_get(v, "input"), *attrs = eddy__json_get(v, "attr");
    *n = (tf_node){ .name = eddy__json_text(eddy__json_get(v, "name"), ""),
                    .op = eddy__json_text(eddy__json_get(v, "op"), ""),
                    .offset = (int64_t)v->offset };
    n->inputs = take(p, inputs ? inputs->count : 0, sizeof *n->inputs);
    for (const json *i = eddy__json_items(inputs); n->inputs && i; i = i->next)
        n->inputs[n->n_inputs++] = eddy__json_text(i, "");
    n->attrs = take(p, attrs ? attrs->count : 0, sizeof *n->attrs);
    if (!attrs || attrs->kind != JSON_OBJECT) return;
    for (const json *a = attrs->items; n->attrs && a; a = a->next)
        attribute(p, a, &n->attrs[n->n_attrs++]);
}

static tf_node *nodes(reading *p, const json *v, size_t *count)
{
    *count = 0;
    tf_node *all = take(p, v ? v->count : 0, sizeof *all);
    for (const json *n = eddy__json_items(v); n && !p->problem; n = n->next)
        node(p, n, &all[(*count)++]);
    return all;
}

static void function(reading *p, const json *v, tf_graph *g)
{
    const json *signature = eddy__json_get(v, "signature"), *ret = eddy__json_get(v, "ret");
    const json *args = eddy__json_get(signature, "inputArg"),
               *results = eddy__json_get(signature, "outputArg");
    *g = (tf_graph){ .name = eddy__json_text(eddy__json_get(signature, "name"), "") };
    g->nodes = nodes(p, eddy__json_get(v, "nodeDef"), &g->n_nodes);
    g->args = take(p, args ? args->count : 0, sizeof *g->args);
    for (const json *a = eddy__json_items(args); g->args && a; a = a->next)
        g->args[g->n_args++] = eddy__json_text(eddy__json_get(a, "name"), "");
    g->results = take(p, results ? results->count : 0, sizeof *g->results);
    if (results && results->count > EDDY_MAX_RESULTS) ret = NULL;       /* it cannot be called */
    for (const json *a = eddy__json_items(results); g->results && a; a = a->next) {
        const char *name = eddy__json_text(eddy__json_get(a, "name"), "");
        g->results[g->n_results++] = eddy__json_text(eddy__json_get(ret, name), "");
    }
}

static tf_port *ports(reading *p, const json *v, size_t *count)
{
    *count = 0;
    if (!v || v->kind != JSON_OBJECT) return NULL;
    tf_port *all = take(p, v->count, sizeof *all);
    for (const json *i = v->items; all && i; i = i->next)
        all[(*count)++] = (tf_port){
            .key = i->key, .tensor = eddy__json_text(eddy__json_get(i, "name"), i->key),
            .shape = shape_of(eddy__json_get(i, "tensorShape")),
        };
    return all;
}

/* ----------------------------------------------------------------- weights -- */

static void weight(reading *p, const json *v, int group, tf_weight *w)
{
    const json *shape = eddy__json_get(v, "shape"), *q = eddy__json_get(v, "quantization");
    *w = (tf_weight){ .name = eddy__json_text(eddy__json_get(v, "name"), ""),
                      .dtype = eddy__json_text(eddy__json_get(v, "dtype"), ""), .group = group };
    if (shape && shape->count > EDDY_MAX_RANK) bad(p, v, "a weight has more than 8 dimensions");
    for (const json *d = eddy__json_items(shape); d && !p->problem; d = d->next) {
        w->shape.dim[w->shape.rank++] = d->integer;
        if (d->integer < 0) bad(p, d, "a weight has no valid shape");
    }
    if (!q || q->kind != JSON_OBJECT) return;
    w->stored = eddy__json_text(eddy__json_get(q, "dtype"), "");
    const json *scale = eddy__json_get(q, "scale"), *min = eddy__json_get(q, "min");
    w->scale = scale ? scale->number : 1;
    w->min = min ? min->number : 0;
}

static void manifest_of(reading *p, const json *v, tf_manifest *m)
{
    size_t n = 0;
    for (const json *g = eddy__json_items(v); g; g = g->next) {
        const json *weights = eddy__json_get(g, "weights");
        n += weights ? weights->count : 0;
    }
    m->weights = take(p, n, sizeof *m->weights);
    m->groups = take(p, v ? v->count : 0, sizeof *m->groups);
    for (const json *g = eddy__json_items(v); g && !p->problem; g = g->next) {
        const json *paths = eddy__json_get(g, "paths");
        tf_group   *group = &m->groups[m->n_groups++];
        group->paths = take(p, paths ? paths->count : 0, sizeof *group->paths);
        for (const json *s = eddy__json_items(paths); s && !p->problem; s = s->next)
            group->paths[group->n_paths++] = eddy__json_text(s, "");
        for (const json *w = eddy__json_items(eddy__json_get(g, "weights")); w && !p->problem;
             w = w->next)
            weight(p, w, (int)m->n_groups - 1, &m->weights[m->n_weights++]);
    }
}

const char *eddy__tf_parse_json(region *r, wire_bytes text, tf_file *file, tf_manifest *manifest,
                                size_t *at)
{
    reading     p = { .memory = r };
    const json *v = eddy__json_parse(r, text, at);
    *file = (tf_file){ .saved_model = false };
    *manifest = (tf_manifest){ .weights = NULL };
    if (!v) return r->full ? "out of memory" : "this is not valid JSON";
    const json *graph = eddy__json_get(v, "modelTopology");
    const json *functions = eddy__json_get(eddy__json_get(graph, "library"), "function");
    const json *signature = eddy__json_get(v, "signature");
    if (!signature)
        signature = eddy__json_get(eddy__json_get(v, "userDefinedMetadata"), "signature");
    *at = graph ? graph->offset : 0;
    if (!eddy__json_get(graph, "node")) return "there is no graph: only graph models are read";
    file->main = (tf_graph){ .name = "" };
    file->main.nodes = nodes(&p, eddy__json_get(graph, "node"), &file->main.n_nodes);
    file->functions = take(&p, functions ? functions->count : 0, sizeof *file->functions);
    for (const json *f = eddy__json_items(functions); f && !p.problem; f = f->next)
        function(&p, f, &file->functions[file->n_functions++]);
    file->signatures = take(&p, 1, sizeof *file->signatures);
    if (signature && file->signatures) {
        tf_signature *s = file->signatures;
        file->n_signatures = 1;
        s->name = "serving_default";
        s->inputs = ports(&p, eddy__json_get(signature, "inputs"), &s->n_inputs);
        s->outputs = ports(&p, eddy__json_get(signature, "outputs"), &s->n_outputs);
    }
    manifest_of(&p, eddy__json_get(v, "weightsManifest"), manifest);
    *at = p.at;
    return p.problem;
}
