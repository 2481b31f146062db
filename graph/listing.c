/* listing.c -- printing a graph: one line per node, or Graphviz (dot). */
#include "graph/internal.h"
#include "graph/base/text.h"

#include <stdlib.h>
#include <string.h>

static const void *member(const eddy_node *node, const eddy_attr_field *f)
{
    return (const char *)node->attrs + f->offset;
}

/* Between quotation marks, as C and Graphviz write it. */
static void put_quoted(eddy_text *t, const char *s, size_t n)
{
    eddy__text_add(t, "\"", 1);
    for (const char *end = s + n; s < end; s++) {
        if (*s == '"' || *s == '\\') eddy__text_put(t, "\\%c", *s);
        else if (*s == '\n') eddy__text_add(t, "\\n", 2);
        else eddy__text_add(t, (unsigned char)*s < ' ' ? " " : s, 1);
    }
    eddy__text_add(t, "\"", 1);
}

static void put_integers(eddy_text *t, int64_t n, const int64_t *at)
{
    enum { SHOWN = 16 };
    eddy__text_add(t, "[", 1);
    for (int64_t i = 0; i < n && i < SHOWN; i++)
        eddy__text_put(t, i > 0 ? ",%lld" : "%lld", (long long)at[i]);
    eddy__text_put(t, n > SHOWN ? ",...]" : "]");
}

static void put_array(eddy_text *t, const eddy_array *a)
{
    char text[200], type[100];
    if (!a) {
        eddy__text_put(t, "none");
        return;
    }
    eddy__text_put(
        t, "%s%s",
        eddy_type_print((eddy_type){ eddy_array_dtype(a), eddy_array_shape(a) }, type, sizeof type),
        eddy_array_count(a) == 0 ? "" : " ");
    if (eddy_array_count(a) > 0) eddy__text_put(t, "%s", eddy_array_print(a, 8, text, sizeof text));
}

static void put_attribute(eddy_text *t, const eddy_node *node, const eddy_attr_field *f)
{
    char        text[100];
    const void *p = member(node, f);
    eddy__text_put(t, " %s=", f->name);
    switch (f->kind) {
    case EDDY_ATTR_INT:    eddy__text_put(t, "%lld", (long long)*(const int64_t *)p); break;
    case EDDY_ATTR_FLOAT:
        eddy__text_put(t, "%s", eddy__number_print(*(const double *)p, false, text));
        break;
    case EDDY_ATTR_BOOL:   eddy__text_put(t, "%s", *(const bool *)p ? "true" : "false"); break;
    case EDDY_ATTR_STRING: {
        const char *s = *(const char *const *)p ? *(const char *const *)p : "";
        put_quoted(t, s, strlen(s));
        break;
    }
    case EDDY_ATTR_DTYPE:
        eddy__text_put(
            t, "%s", *(const eddy_dtype *)p ? eddy_dtype_name(*(const eddy_dtype *)p) : "default");
        break;
    case EDDY_ATTR_SHAPE:
        eddy__text_put(t, "%s", eddy_shape_print(*(const eddy_shape *)p, text, sizeof text));
        break;
    case EDDY_ATTR_DIMS: {
        const eddy_dims *d = p;
        if (d->count == 0) eddy__text_put(t, "none");
        else put_integers(t, d->count, d->at);
        break;
    }
    case EDDY_ATTR_INTS:
        put_integers(t, ((const eddy_ints *)p)->count, ((const eddy_ints *)p)->at);
        break;
    case EDDY_ATTR_ARRAY:  put_array(t, *(eddy_array *const *)p); break;
    case EDDY_ATTR_GRAPH:
        eddy__text_put(t, "{%d nodes}", (int)eddy_graph_size(*(eddy_graph *const *)p));
        break;
    case EDDY_ATTR_END:    break;
    }
}

static void put_outputs(eddy_text *t, const eddy_node *node, const char *first, const char *between)
{
    char text[100];
    for (int32_t i = 0; i < node->n_outputs; i++)
        eddy__text_put(t, "%s%s", i > 0 ? between : first,
                       eddy_type_print(node->outputs[i], text, sizeof text));
}

/* 12 layer1/MatMul = MatMul(x:0, w:0) transpose_b=true ^init -> float32[?,128] @/cpu:0 */
static void put_line(eddy_text *t, const eddy_graph *g, const eddy_node *node)
{
    eddy__text_put(t, "%d %s = %s(", (int)node->id, node->name, node->op->name);
    for (int32_t i = 0; i < node->n_inputs; i++)
        eddy__text_put(t, "%s%s:%d", i > 0 ? ", " : "",
                       eddy__graph_node(g, node->inputs[i].node)->name,
                       (int)node->inputs[i].output);
    eddy__text_add(t, ")", 1);
    for (const eddy_attr_field *f = node->op->attrs; node->attrs && f && f->name; f++)
        put_attribute(t, node, f);
    for (int32_t i = 0; i < node->n_controls; i++)
        eddy__text_put(t, " ^%s", eddy__graph_node(g, node->controls[i])->name);
    put_outputs(t, node, " -> ", ", ");
    if (node->device && *node->device) eddy__text_put(t, " @%s", node->device);
    eddy__text_add(t, "\n", 1);
}

char *eddy_graph_to_text(const eddy_graph *g)
{
    if (!eddy__graph_alive(g)) return NULL;
    eddy_text t = { .allocator = eddy__graph_allocator(g) };
    for (int32_t id = 1; id <= g->size && !t.failed; id++) put_line(&t, g, g->nodes[id]);
    return eddy__text_string(&t);
}

/* ------------------------------------------------------------ Graphviz -- */

/* Compares names so that slashes come before all other characters, which keeps the nodes of a
 * scope together. */
static int by_scope(const void *a, const void *b)
{
    const unsigned char *x = (const unsigned char *)(*(eddy_node *const *)a)->name;
    const unsigned char *y = (const unsigned char *)(*(eddy_node *const *)b)->name;
    while (*x && *x == *y) {
        x++;
        y++;
    }
    int cx = *x == '/' ? 1 : *x, cy = *y == '/' ? 1 : *y;
    return cx - cy;
}

enum { MAX_CLUSTERS = 32 };          /* inside one another */

typedef struct clusters {
    const char *name;                /* a node's name, of which the ends below are cut */
    size_t      ends[MAX_CLUSTERS];  /* where each open scope ends in it */
    int         open, count;
} clusters;

/* Closes the scopes that do not contain `name` and opens those that do. */
static void enter_scopes(eddy_text *t, clusters *c, const char *name)
{
    int common = 0;
    while (common < c->open && strncmp(c->name, name, c->ends[common] + 1) == 0) common++;
    for (; c->open > common; c->open--) eddy__text_put(t, "%*s}\n", 2 * c->open, "");
    size_t from = c->open > 0 ? c->ends[c->open - 1] + 1 : 0;
    for (const char *s = strchr(name + from, '/'); s && s[1] && c->open < MAX_CLUSTERS;
         s = strchr(s + 1, '/')) {
        size_t end = (size_t)(s - name);
        c->ends[c->open++] = end;
        eddy__text_put(t, "%*ssubgraph cluster_%d {\n%*slabel=", 2 * c->open, "", ++c->count,
                       2 * c->open + 2, "");
        put_quoted(t, name + from, end - from);
        eddy__text_add(t, ";\n", 2);
        from = end + 1;
    }
    c->name = name;
}

static const char *dot_style(unsigned flags)
{
    if (flags & EDDY_OP_VARIABLE) return "cylinder, style=filled, fillcolor=\"#ffe6b3\"";
    if (flags & EDDY_OP_PLACEHOLDER) return "parallelogram, style=filled, fillcolor=\"#cce5ff\"";
    if (flags & EDDY_OP_CONSTANT) return "note, style=filled, fillcolor=\"#eeeeee\"";
    if (flags & (EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT))
        return "box, style=filled, fillcolor=\"#ffd6d6\"";
    return "box, style=rounded";
}

static void put_box(eddy_text *t, const clusters *c, const eddy_node *node)
{
    eddy_text label = { .allocator = t->allocator };
    const char *last = strrchr(node->name, '/');
    eddy__text_put(&label, "%s\n%s", last && last[1] ? last + 1 : node->name, node->op->name);
    put_outputs(&label, node, "\n", ", ");
    char *s = eddy__text_string(&label);
    if (!s) {
        t->failed = true;
        return;
    }
    eddy__text_put(t, "%*sn%d [label=", 2 * c->open + 2, "", (int)node->id);
    put_quoted(t, s, strlen(s));
    eddy__text_put(t, ", shape=%s];\n", dot_style(node->op->flags));
    eddy_string_free(s);
}

static void put_edges(eddy_text *t, const eddy_node *node)
{
    for (int32_t i = 0; i < node->n_inputs; i++) {
        eddy__text_put(t, "  n%d -> n%d", (int)node->inputs[i].node, (int)node->id);
        if (node->inputs[i].output > 0)
            eddy__text_put(t, " [taillabel=\"%d\"]", (int)node->inputs[i].output);
        eddy__text_add(t, ";\n", 2);
    }
    for (int32_t i = 0; i < node->n_controls; i++)
        eddy__text_put(t, "  n%d -> n%d [style=dashed];\n", (int)node->controls[i], (int)node->id);
}

char *eddy_graph_to_dot(const eddy_graph *g)
{
    if (!eddy__graph_alive(g)) return NULL;
    const eddy_allocator *a = eddy__graph_allocator(g);
    eddy_text   t = { .allocator = a };
    clusters    c = { .name = "" };
    size_t      n = (size_t)g->size;
    eddy_node **sorted = eddy__allocate_zeroed(a, n, sizeof *sorted);
    if (!sorted) return NULL;
    if (n > 0) memcpy(sorted, g->nodes + 1, n * sizeof *sorted);
    if (n > 1) qsort(sorted, n, sizeof *sorted, by_scope);
    eddy__text_put(&t, "digraph eddy {\n  node [fontname=\"sans-serif\", fontsize=10];\n");
    for (size_t i = 0; i < n && !t.failed; i++) {
        enter_scopes(&t, &c, sorted[i]->name);
        put_box(&t, &c, sorted[i]);
    }
    enter_scopes(&t, &c, "");
    for (int32_t id = 1; id <= g->size && !t.failed; id++) put_edges(&t, g->nodes[id]);
    eddy__text_add(&t, "}\n", 2);
    eddy__release(a, sorted, n * sizeof *sorted);
    return eddy__text_string(&t);
}
