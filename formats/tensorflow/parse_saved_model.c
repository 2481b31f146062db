/* parse_saved_model.c -- SavedModel, MetaGraphDef and SignatureDef; also tells a SavedModel from a
 * GraphDef: the first begins with a number, the second with a node. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

static bool has_tag(parser *p, wire meta_graph, const char *tag)
{
    wire_field f, g;
    while (eddy__parse_next(p, &meta_graph, &f)) {
        if (f.number != 1) continue;
        for (wire info = eddy__wire_enter(&meta_graph, &f); eddy__parse_next(p, &info, &g);)
            if (g.number == 4 && eddy__tf_is_text(g.bytes, tag)) return true;
    }
    return false;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const tf_port *)a)->key, ((const tf_port *)b)->key);
}

/* A map from keys to TensorInfo, sorted by key: the order in a map of protobuf means nothing. */
static tf_port *ports(parser *p, wire signature, uint32_t number, size_t *count)
{
    wire_field f, g, h;
    int        rank;
    tf_port   *all = eddy__parse_take(p, eddy__wire_count(signature, number), sizeof *all);
    *count = 0;
    while (eddy__parse_next(p, &signature, &f)) {
        if (f.number != number) continue;
        tf_port *port = &all[(*count)++];
        *port = (tf_port){ .key = "", .tensor = "", .shape = eddy_shape_unknown() };
        for (wire e = eddy__wire_enter(&signature, &f); eddy__parse_next(p, &e, &g);) {
            if (g.number == 1) port->key = eddy__parse_string(p, &g);
            if (g.number != 2) continue;
            for (wire t = eddy__wire_enter(&e, &g); eddy__parse_next(p, &t, &h);) {
                if (h.number == 1) port->tensor = eddy__parse_string(p, &h);
                if (h.number == 3) port->shape = eddy__tf_shape(p, eddy__wire_enter(&t, &h), &rank);
            }
        }
    }
    if (*count) qsort(all, *count, sizeof *all, by_key);
    return all;
}

static void signatures(parser *p, wire meta_graph, tf_file *file)
{
    wire_field f, g;
    file->signatures =
        eddy__parse_take(p, eddy__wire_count(meta_graph, 5), sizeof *file->signatures);
    while (eddy__parse_next(p, &meta_graph, &f)) {
        if (f.number != 5) continue;
        tf_signature *s = &file->signatures[file->n_signatures++];
        s->name = "";
        for (wire e = eddy__wire_enter(&meta_graph, &f); eddy__parse_next(p, &e, &g);) {
            if (g.number == 1) s->name = eddy__parse_string(p, &g);
            if (g.number != 2) continue;
            const wire value = eddy__wire_enter(&e, &g);
            s->inputs = ports(p, value, 1, &s->n_inputs);
            s->outputs = ports(p, value, 2, &s->n_outputs);
        }
    }
}

static void saved_model(parser *p, wire w, tf_file *file)
{
    wire_field f, chosen = { .number = 0 };
    bool       serves = false;
    for (wire c = w; eddy__parse_next(p, &c, &f);) {
        if (f.number != 2 || serves) continue;
        serves = has_tag(p, eddy__wire_enter(&c, &f), "serve");
        if (serves || !chosen.number) chosen = f;
    }
    if (!chosen.number) return;
    const wire meta_graph = eddy__wire_enter(&w, &chosen);
    for (wire m = meta_graph; eddy__parse_next(p, &m, &f);)
        if (f.number == 2) eddy__tf_graph_def(p, eddy__wire_enter(&m, &f), file);
    signatures(p, meta_graph, file);
}

bool eddy__tf_parse(region *r, wire_bytes b, tf_file *file, const uint8_t **at)
{
    parser  p = { .memory = r, .file = b, .at = b.at };
    const wire w = eddy__wire_of(b);
    wire       first = w;
    wire_field f;
    *file = (tf_file){ .saved_model = false };
    file->saved_model = eddy__wire_next(&first, &f) && f.number == 1 && f.type == WIRE_VARINT;
    if (file->saved_model) saved_model(&p, w, file);
    else eddy__tf_graph_def(&p, w, file);
    *at = p.at;
    return !p.bad;
}
