/* graph_yaml_write.c -- writer of YAML graph files: nodes in the order of their ids, one
 * attribute per line, everything that the reader needs and nothing twice. */
#include "graph/internal.h"
#include "graph/files/graph_yaml.h"
#include "graph/base/dtype.h"

#include <string.h>

enum { WIDTH = 96, FEW = 64 };       /* columns of a list; elements that are written as numbers */

typedef struct writer {
    eddy_text  *text;
    eddy_error *error;
    eddy_text   item;                /* one item of a list, on its way */
    int         graphs;              /* around the one being written */
} writer;

/* ------------------------------------------------------------- scalars -- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Words that YAML readers may not read as text. */
static bool is_reserved(const char *s)
{
    static const char *const words[] = {
        "null", "true", "false", "yes", "no", "on", "off", "y", "n"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t k = 0;
        while (words[i][k] && (s[k] | 32) == words[i][k]) k++;
        if (!words[i][k] && !s[k]) return true;
    }
    return false;
}

static bool is_plain(const char *s)
{
    if (!is_letter(*s) || is_reserved(s)) return false;
    while (is_letter(*s) || (*s >= '0' && *s <= '9') || (*s && strchr("./-", *s))) s++;
    return *s == 0;
}

/* Characters that YAML forbids, folds or hides. */
static bool needs_escape(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
           (c & 0xFFFE) == 0xFFFE;
}

static uint32_t next_character(const char **s)
{
    const unsigned char *p = (const unsigned char *)*s;
    int      more = p[0] < 0x80 ? 0 : p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : 3;
    uint32_t c = more == 0 ? p[0] : p[0] & (0x3Fu >> more);
    for (int i = 1; i <= more; i++) c = c << 6 | (p[i] & 0x3Fu);
    *s += more + 1;
    return c;
}

static void put_quoted(eddy_text *t, const char *s)
{
    eddy__text_add(t, "\"", 1);
    while (*s) {
        const char *from = s;
        uint32_t    c = next_character(&s);
        if (c == '"' || c == '\\') eddy__text_put(t, "\\%c", (int)c);
        else if (c == '\n') eddy__text_add(t, "\\n", 2);
        else if (!needs_escape(c)) eddy__text_add(t, from, (size_t)(s - from));
        else if (c < 0x10000) eddy__text_put(t, "\\u%04X", (unsigned)c);
        else eddy__text_put(t, "\\U%08X", (unsigned)c);
    }
    eddy__text_add(t, "\"", 1);
}

/* Any string. One that is not UTF-8 is written as bytes, on one line. */
static void put_string(eddy_text *t, const char *s)
{
    size_t n = strlen(s);
    if (is_plain(s)) eddy__text_add(t, s, n);
    else if (eddy__utf8_check(s, n) == n) put_quoted(t, s);
    else {
        eddy__text_put(t, "{base64: \"");
        for (size_t at = 0; at < n; at += 57) {
            eddy_text line = { .allocator = t->allocator };
            eddy__base64_put(&line, s + at, n - at < 57 ? n - at : 57, 0);
            if (line.failed) t->failed = true;
            else eddy__text_add(t, line.at, line.length - 1);
            eddy__text_free(&line);
        }
        eddy__text_put(t, "\"}");
    }
}

/* --------------------------------------------------------------- lists -- */

/* [a, b, c], broken before it gets too wide. */
typedef struct list {
    eddy_text *text;
    int        indent, column, count;
} list;

static list open_list(eddy_text *t, int indent, int column)
{
    eddy__text_add(t, "[", 1);
    return (list){ t, indent, column + 1, 0 };
}

static void list_item(list *l, const char *item, size_t n)
{
    if (l->count > 0) eddy__text_add(l->text, ",", 1);
    if (l->count > 0 && l->column + (int)n + 3 > WIDTH) {
        eddy__text_put(l->text, "\n%*s", l->indent, "");
        l->column = l->indent;
    } else if (l->count > 0) {
        eddy__text_add(l->text, " ", 1);
    }
    eddy__text_add(l->text, item, n);
    l->column += (int)n + 2;
    l->count++;
}

static void close_list(list *l) { eddy__text_add(l->text, "]\n", 2); }

static void put_integers(eddy_text *t, int64_t n, const int64_t *at, int indent)
{
    char text[32];
    list l = open_list(t, indent + 2, WIDTH / 3);
    for (int64_t i = 0; i < n; i++)
        list_item(&l, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)at[i]));
    close_list(&l);
}

/* -------------------------------------------------------------- arrays -- */

/* The number of values written for an array: two for each complex element. */
static int64_t numbers_in(const eddy_array *a)
{
    return eddy_array_count(a) * (eddy_dtype_is_complex(eddy_array_dtype(a)) ? 2 : 1);
}

/* Number i as text; false if reading it would not give the same bits. */
static bool print_number(const eddy_array *a, int64_t i, char *buf)
{
    const void *p = eddy_array_data(a);
    eddy_dtype  d = eddy_dtype_real(eddy_array_dtype(a));
    if (d == EDDY_FLOAT32) {
        uint32_t bits;
        memcpy(&bits, (const char *)p + i * 4, sizeof bits);
        bool nan = (bits & 0x7FFFFFFF) > 0x7F800000;
        if (nan) memcpy(buf, ".nan", 5);
        else eddy__number_print((double)((const float *)p)[i], true, buf);
        return !nan || bits == 0x7FC00000;
    }
    if (d == EDDY_FLOAT64)
        return strncmp(eddy__number_print(((const double *)p)[i], false, buf), "nan:", 4) != 0;
    if (d == EDDY_BOOL) strcpy(buf, ((const uint8_t *)p)[i] ? "true" : "false");
    else if (eddy_dtype_is_integer(d))
        snprintf(buf, EDDY_NUMBER_TEXT, "%lld", (long long)eddy__whole_at(d, p, i));
    else return false;
    return true;
}

static bool is_printable(const eddy_array *a)
{
    char text[EDDY_NUMBER_TEXT];
    if (eddy_array_count(a) > FEW) return false;
    for (int64_t i = 0; i < numbers_in(a); i++)
        if (!print_number(a, i, text)) return false;
    return true;
}

static void put_array(eddy_text *t, const eddy_array *a, int indent)
{
    char text[100];
    if (!a) {
        eddy__text_put(t, " ~\n");
        return;
    }
    eddy_type_print((eddy_type){ eddy_array_dtype(a), eddy_array_shape(a) }, text, sizeof text);
    eddy__text_put(t, "\n%*stype: \"%s\"\n", indent + 2, "", text);
    if (!is_printable(a)) {
        eddy__text_put(t, "%*sbase64: |\n", indent + 2, "");
        eddy__base64_put(t, eddy_array_data(a), eddy_array_bytes(a), indent + 4);
        return;
    }
    eddy__text_put(t, "%*svalues: ", indent + 2, "");
    list l = open_list(t, indent + 4, indent + 10);
    for (int64_t i = 0; i < numbers_in(a); i++) {
        print_number(a, i, text);
        list_item(&l, text, strlen(text));
    }
    close_list(&l);
}

/* ---------------------------------------------------------- attributes -- */

static bool put_graph(writer *w, const eddy_graph *g, int indent);

static bool put_inner_graph(writer *w, const eddy_graph *g, int indent)
{
    eddy__text_put(w->text, g ? "\n" : " ~\n");
    return !g || put_graph(w, g, indent);
}

static bool put_attribute(writer *w, const eddy_attr_field *f, const void *p, int indent)
{
    eddy_text *t = w->text;
    char       text[100];
    eddy__text_put(t, "%*s", indent, "");
    put_string(t, f->name);
    eddy__text_put(t, f->kind == EDDY_ATTR_ARRAY || f->kind == EDDY_ATTR_GRAPH ? ":" : ": ");
    switch (f->kind) {                   /* unreached: another kind than these */
    case EDDY_ATTR_INT:    eddy__text_put(t, "%lld\n", (long long)*(const int64_t *)p); return true;
    case EDDY_ATTR_FLOAT:
        eddy__text_put(t, "%s\n", eddy__number_print(*(const double *)p, false, text));
        return true;
    case EDDY_ATTR_BOOL:   eddy__text_put(t, *(const bool *)p ? "true\n" : "false\n"); return true;
    case EDDY_ATTR_STRING:
        put_string(t, *(const char *const *)p);
        eddy__text_add(t, "\n", 1);
        return true;
    case EDDY_ATTR_DTYPE:
        eddy__text_put(t, "%s\n",
                       *(const eddy_dtype *)p ? eddy_dtype_name(*(const eddy_dtype *)p)
                                              : "default");
        return true;
    case EDDY_ATTR_SHAPE:
        eddy__text_put(t, "\"%s\"\n", eddy_shape_print(*(const eddy_shape *)p, text, sizeof text));
        return true;
    case EDDY_ATTR_DIMS:
        if (((const eddy_dims *)p)->count == 0) eddy__text_put(t, "~\n");
        else put_integers(t, ((const eddy_dims *)p)->count, ((const eddy_dims *)p)->at, indent);
        return true;
    case EDDY_ATTR_INTS:
        put_integers(t, ((const eddy_ints *)p)->count, ((const eddy_ints *)p)->at, indent);
        return true;
    case EDDY_ATTR_ARRAY:  put_array(t, *(eddy_array *const *)p, indent); return true;
    case EDDY_ATTR_GRAPH:  break;
    case EDDY_ATTR_END:    eddy__text_put(t, "~\n"); return true;
    }
    return put_inner_graph(w, *(eddy_graph *const *)p, indent + 2);
}

static bool put_attributes(writer *w, const eddy_node *node, int indent)
{
    const eddy_attr_field *f = node->op->attrs;
    if (!node->attrs || !f || !f->name) return true;
    eddy__text_put(w->text, "%*sattributes:\n", indent, "");
    for (int n = 0; f->name; f++, n++) {
        if (n == EDDY_YAML_ATTRS)
            return eddy__error_set(w->error, EDDY_LIMIT, "%s has more than %d attributes",
                                   node->op->name, EDDY_YAML_ATTRS);
        if (!put_attribute(w, f, (const char *)node->attrs + f->offset, indent + 2)) return false;
    }
    return true;
}

/* --------------------------------------------------------------- nodes -- */

/* Ends the item that was put into w->item. */
static void end_item(writer *w, list *l)
{
    if (w->item.failed) w->text->failed = true;
    else list_item(l, w->item.at, w->item.length);
    w->item.length = 0;
}

static void put_reference(eddy_text *t, const eddy_graph *g, eddy_tensor x)
{
    char text[EDDY_MAX_NAME + 32];
    snprintf(text, sizeof text, "%s:%d", eddy__graph_node(g, x.node)->name, (int)x.output);
    put_quoted(t, text);
}

static void put_inputs(writer *w, const eddy_graph *g, const eddy_node *node, int indent)
{
    if (node->n_inputs == 0) return;
    eddy__text_put(w->text, "%*sinputs: ", indent, "");
    list l = open_list(w->text, indent + 2, indent + 8);
    for (int32_t i = 0; i < node->n_inputs; i++) {
        put_reference(&w->item, g, node->inputs[i]);
        end_item(w, &l);
    }
    close_list(&l);
}

static void put_controls(writer *w, const eddy_graph *g, const eddy_node *node, int indent)
{
    if (node->n_controls == 0) return;
    eddy__text_put(w->text, "%*scontrols: ", indent, "");
    list l = open_list(w->text, indent + 2, indent + 10);
    for (int32_t i = 0; i < node->n_controls; i++) {
        put_string(&w->item, eddy__graph_node(g, node->controls[i])->name);
        end_item(w, &l);
    }
    close_list(&l);
}

static void put_outputs(eddy_text *t, const eddy_node *node, int indent)
{
    char type[100], item[104];
    eddy__text_put(t, "%*soutputs: ", indent, "");
    list l = open_list(t, indent + 2, indent + 9);
    for (int32_t i = 0; i < node->n_outputs; i++) {
        eddy_type_print(node->outputs[i], type, sizeof type);
        list_item(&l, item, (size_t)snprintf(item, sizeof item, "\"%s\"", type));
    }
    close_list(&l);
}

static void put_text_line(eddy_text *t, const char *key, const char *value, int indent)
{
    eddy__text_put(t, "%*s%s: ", indent, "", key);
    put_string(t, value);
    eddy__text_add(t, "\n", 1);
}

static bool put_node(writer *w, const eddy_graph *g, const eddy_node *node, int indent)
{
    eddy_text       *t = w->text;
    const eddy_node *origin = eddy__graph_node(g, node->origin),
                    *colocate = eddy__graph_node(g, node->colocate);
    if (node->op->flags & EDDY_OP_UNSAVED)
        return eddy__error_set(w->error, EDDY_UNIMPLEMENTED,
                               "'%.200s' (%s) holds a value that a graph file cannot store",
                               node->name, node->op->name);
    eddy__text_put(t, "%*s- name: ", indent - 2, "");
    put_string(t, node->name);
    eddy__text_add(t, "\n", 1);
    put_text_line(t, "op", node->op->name, indent);
    put_inputs(w, g, node, indent);
    put_controls(w, g, node, indent);
    if (node->device && *node->device) put_text_line(t, "device", node->device, indent);
    if (node->gradient) put_text_line(t, "gradient", node->gradient, indent);
    if (colocate) put_text_line(t, "colocate", colocate->name, indent);
    if (origin) put_text_line(t, "origin", origin->name, indent);
    if (node->traced) eddy__text_put(t, "%*straced: true\n", indent, "");
    if (!put_attributes(w, node, indent)) return false;
    put_outputs(t, node, indent);
    return true;
}

/* --------------------------------------------------------------- graph -- */

static void put_collection(eddy_text *t, const eddy_graph *g, const eddy_collection *c, int indent)
{
    eddy__text_put(t, "%*s- key: ", indent, "");
    put_string(t, c->key);
    eddy__text_put(t, "\n%*stensors:\n", indent + 2, "");
    for (int i = 0; i < c->count; i++) {
        eddy__text_put(t, "%*s- ", indent + 2, "");
        put_reference(t, g, c->items[i]);
        eddy__text_add(t, "\n", 1);
    }
}

static void put_collections(eddy_text *t, const eddy_graph *g, int indent)
{
    if (g->n_collections > 0) eddy__text_put(t, "%*scollections:\n", indent, "");
    for (int i = 0; i < g->n_collections; i++) put_collection(t, g, &g->collections[i], indent);
}

static bool put_graph(writer *w, const eddy_graph *g, int indent)
{
    eddy_text *t = w->text;
    if (!eddy__graph_alive(g))
        return eddy__error_set(w->error, EDDY_INVALID_ARGUMENT,
                               "the graph in an attribute has been freed");
    if (g->error.status != EDDY_OK)
        return eddy__error_set(w->error, g->error.status, "%s", g->error.message);
    if (w->graphs >= EDDY_YAML_GRAPHS)
        return eddy__error_set(w->error, EDDY_LIMIT, "graphs are nested more than %d deep",
                               EDDY_YAML_GRAPHS);
    if (g->n_collections > EDDY_YAML_COLLECTIONS)
        return eddy__error_set(w->error, EDDY_LIMIT, "the graph has more than %d collections",
                               EDDY_YAML_COLLECTIONS);
    w->graphs++;
    eddy__text_put(t, "%*sseed: %lld\n", indent, "", (long long)g->seed);
    eddy__text_put(t, "%*sfinalized: %s\n", indent, "", g->finalized ? "true" : "false");
    eddy__text_put(t, "%*snodes:%s\n", indent, "", g->size == 0 ? " []" : "");
    for (int32_t id = 1; id <= g->size && !t->failed; id++)
        if (!put_node(w, g, g->nodes[id], indent + 2)) return false;
    put_collections(t, g, indent);
    w->graphs--;
    return true;
}

bool eddy__yaml_write(eddy_text *t, const eddy_graph *g, eddy_error *e)
{
    writer w = { .text = t, .error = e, .item.allocator = t->allocator };
    eddy__text_put(t, "format: eddy-graph\nversion: %d\n", EDDY_YAML_VERSION);
    bool ok = put_graph(&w, g, 0);
    eddy__text_free(&w.item);
    if (!ok) return false;
    return !t->failed ||
           eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for the text of the graph");
}

/* ------------------------------------------------------------- the API -- */

char *eddy_graph_to_yaml(const eddy_graph *g)
{
    if (!eddy__graph_alive(g)) return NULL;
    eddy_text t = { .allocator = eddy__graph_allocator(g) };
    if (!eddy__yaml_write(&t, g, NULL)) t.failed = true;
    return eddy__text_string(&t);
}

eddy_status eddy_graph_save(const eddy_graph *g, const char *path, eddy_error *error)
{
    eddy_error  e = { 0 };
    eddy_writer out;
    if (!eddy__graph_alive(g))
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT,
                        "graph_save: the graph is NULL or has been freed");
    else if (g->error.status != EDDY_OK)
        eddy__error_set(&e, g->error.status, "%s", g->error.message);
    else if (eddy__writer_begin(&out, eddy__graph_files(g), path, &e)) {
        eddy_text t = { .allocator = eddy__graph_allocator(g), .writer = &out };
        if (eddy__yaml_write(&t, g, &e)) eddy__text_flush(&t);
        if (e.status == EDDY_OK) eddy__writer_end(&out);
        else eddy__writer_abandon(&out);
        eddy__text_free(&t);
    }
    if (e.status != EDDY_OK) eddy__error_set(error, e.status, "%s", e.message);
    return e.status;
}
