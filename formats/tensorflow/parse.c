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
    while (!p->bad && eddy__wire_next(&w, &f)) {
        if (f.number == 1) n->name = eddy__parse_string(p, &f);
        if (f.number == 2) n->op = eddy__parse_string(p, &f);
        if (f.number == 5) eddy__tf_attr(p, eddy__wire_enter(&w, &f), &n->attrs[n->n_attrs++]);
    }
    if (w.bad) eddy__parse_damaged(p, w.at);
}

static tf_node *nodes(parser *p, wire w, uint32_t number, size_t *count)
{
    wire_field f;
    tf_node   *all = eddy__parse_take(p, eddy__wire_count(w, number), sizeof *all);
    *count = 0;
    while (!p->bad && eddy__wire_next(&w, &f))
        if (f.number == number) node(p, eddy__wire_enter(&w, &f), &all[(*count)++]);
    return all;
}

/* The name and type of each ArgDef. */
static const char **args(parser *p, wire signature, uint32_t number, int **types, size_t *count)
{
    wire_field   f, g;
    const size_t n = eddy__wire_count(signature, number);
    const char **names = eddy__parse_take(p, n, sizeof *names);
    *types = eddy__parse_take(p, n, sizeof **types);
    *count = 0;
    while (!p->bad && eddy__wire_next(&signature, &f)) {
        if (f.number != number) continue;
        names[*count] = "";
        for (wire a = eddy__wire_enter(&signature, &f); !p->bad && eddy__wire_next(&a, &g);) {
            if (g.number == 1) names[*count] = eddy__parse_string(p, &g);
            if (g.number == 3) (*types)[*count] = (int)(g.value & 0xff);
        }
        (*count)++;
    }
    return names;
}

/* The entry of field 4, a map from the names of results to values. */
static const char *result_of(parser *p, wire function, const char *name)
{
    wire_field f, g;
    while (!p->bad && eddy__wire_next(&function, &f)) {
        if (f.number != 4) continue;
        const char *key = "", *value = "";
        for (wire e = eddy__wire_enter(&function, &f); !p->bad && eddy__wire_next(&e, &g);) {
            if (g.number == 1) key = eddy__parse_string(p, &g);
            if (g.number == 2) value = eddy__parse_string(p, &g);
        }
        if (strcmp(key, name) == 0) return value;
    }
    return "";
}

static void function(parser *p, wire w, tf_graph *g)
{
    wire_field f, s;
    int       *types;
    *g = (tf_graph){ .name = "" };
    g->nodes = nodes(p, w, 3, &g->n_nodes);
    for (wire c = w; !p->bad && eddy__wire_next(&c, &f);) {
        if (f.number != 1) continue;
        const wire signature = eddy__wire_enter(&c, &f);
        for (wire n = signature; !p->bad && eddy__wire_next(&n, &s);)
            if (s.number == 1) g->name = eddy__parse_string(p, &s);
        g->args = args(p, signature, 2, &g->arg_types, &g->n_args);
        g->results = args(p, signature, 3, &types, &g->n_results);
    }
    for (size_t i = 0; !p->bad && i < g->n_results; i++)
        g->results[i] = result_of(p, w, g->results[i]);
}

void eddy__tf_graph_def(parser *p, wire w, tf_file *file)
{
    wire_field f, g;
    file->has_graph = true;
    file->main = (tf_graph){ .name = "" };
    file->main.nodes = nodes(p, w, 1, &file->main.n_nodes);
    while (!p->bad && eddy__wire_next(&w, &f)) {
        if (f.number != 2) continue;
        wire library = eddy__wire_enter(&w, &f);
        file->functions =
            eddy__parse_take(p, eddy__wire_count(library, 1), sizeof *file->functions);
        file->n_functions = 0;
        while (!p->bad && eddy__wire_next(&library, &g))
            if (g.number == 1)
                function(p, eddy__wire_enter(&library, &g), &file->functions[file->n_functions++]);
        if (library.bad) eddy__parse_damaged(p, library.at);
    }
    if (w.bad) eddy__parse_damaged(p, w.at);
}
