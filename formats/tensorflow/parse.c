/* parse.c -- GraphDef, NodeDef and FunctionDef. */
#include "parse.h"

#include <string.h>

static void node(parser *p, wire w, tf_node *n)
{
    wire_field   f;
    const size_t attrs = eddy__wire_count(w, 5);
    *n = (tf_node){ .name = "", .op = "", .offset = w.at ? w.at - p->file.at : 0 };
    n->inputs = eddy__parse_strings(p, w, 3, &n->n_inputs);
    n->attrs = eddy__parse_take(p, attrs, sizeof *n->attrs);
    while (eddy__parse_next(p, &w, &f)) {
        if (f.number == 1) n->name = eddy__parse_string(p, &f);
        if (f.number == 2) n->op = eddy__parse_string(p, &f);
        if (f.number == 5) eddy__tf_attr(p, eddy__wire_enter(&w, &f), &n->attrs[n->n_attrs++]);
    }
}

static tf_node *nodes(parser *p, wire w, uint32_t number, size_t *count)
{
    wire_field f;
    tf_node   *all = eddy__parse_take(p, eddy__wire_count(w, number), sizeof *all);
    *count = 0;
    while (eddy__parse_next(p, &w, &f))
        if (f.number == number) node(p, eddy__wire_enter(&w, &f), &all[(*count)++]);
    return all;
}

bool eddy__tf_is_text(wire_bytes b, const char *s)
{
    return b.size == strlen(s) && (b.size == 0 || memcmp(b.at, s, b.size) == 0);
}

/* The name of each ArgDef. */
static const char **args(parser *p, wire signature, uint32_t number, size_t *count)
{
    wire_field   f, g;
    const char **names = eddy__parse_take(p, eddy__wire_count(signature, number), sizeof *names);
    *count = 0;
    while (eddy__parse_next(p, &signature, &f)) {
        if (f.number != number) continue;
        const char **name = &names[(*count)++];
        *name = "";
        for (wire a = eddy__wire_enter(&signature, &f); eddy__parse_next(p, &a, &g);)
            if (g.number == 1) *name = eddy__parse_string(p, &g);
    }
    return names;
}

/* The entry of field 4, a map from the names of results to values. */
static const char *result_of(parser *p, wire function, const char *name)
{
    wire_field f, g;
    while (eddy__parse_next(p, &function, &f)) {
        if (f.number != 4) continue;
        wire_bytes key = { NULL, 0 };
        wire_field value = { .type = WIRE_BYTES };
        for (wire e = eddy__wire_enter(&function, &f); eddy__parse_next(p, &e, &g);) {
            if (g.number == 1) key = g.bytes;
            if (g.number == 2) value = g;
        }
        if (eddy__tf_is_text(key, name)) return eddy__parse_string(p, &value);
    }
    return "";
}

static void function(parser *p, wire w, tf_graph *g)
{
    wire_field f, s;
    *g = (tf_graph){ .name = "" };
    g->nodes = nodes(p, w, 3, &g->n_nodes);
    for (wire c = w; eddy__parse_next(p, &c, &f);) {
        if (f.number != 1) continue;
        const wire signature = eddy__wire_enter(&c, &f);
        for (wire n = signature; eddy__parse_next(p, &n, &s);)
            if (s.number == 1) g->name = eddy__parse_string(p, &s);
        g->args = args(p, signature, 2, &g->n_args);
        g->results = args(p, signature, 3, &g->n_results);
    }
    /* A function with more results cannot be called. */
    for (size_t i = 0; i < g->n_results && g->n_results <= EDDY_MAX_RESULTS; i++)
        g->results[i] = result_of(p, w, g->results[i]);
}

void eddy__tf_graph_def(parser *p, wire w, tf_file *file)
{
    wire_field f, g;
    file->main = (tf_graph){ .name = "" };
    file->main.nodes = nodes(p, w, 1, &file->main.n_nodes);
    while (eddy__parse_next(p, &w, &f)) {
        if (f.number != 2) continue;
        wire library = eddy__wire_enter(&w, &f);
        file->functions =
            eddy__parse_take(p, eddy__wire_count(library, 1), sizeof *file->functions);
        file->n_functions = 0;
        while (eddy__parse_next(p, &library, &g))
            if (g.number == 1)
                function(p, eddy__wire_enter(&library, &g), &file->functions[file->n_functions++]);
    }
}
