/* subgraphs.c -- see subgraphs.h. */
#include "subgraphs.h"

const char *eddy__inner_graph_name(onnx_part *p, const char *what)
{
    onnx_writer *w = p->writer;
    const char  *s = eddy__region_print(&w->memory, "%s%s:%s%d", w->scope->prefix, p->node->name,
                                        what, w->values++);
    if (!s) eddy__writer_no_memory(w);
    return s ? s : "";
}

const char *eddy__inner_graph_input(onnx_part *p, message *head, const char *what, eddy_type t)
{
    const char *name = eddy__inner_graph_name(p, what);
    eddy__writer_value_info(head, GRAPH_INPUT, name, t);
    return name;
}

void eddy__inner_graph_output(onnx_part *p, message *head, const char *value, eddy_type t)
{
    eddy__writer_value_info(head, GRAPH_OUTPUT, eddy__part_unary(p, "Identity", value), t);
}

message eddy__inner_graph_begin(onnx_part *p)
{
    const message kept = p->writer->scope->nodes;
    p->writer->scope->nodes = (message){ 0 };
    return kept;
}

message eddy__inner_graph_end(onnx_part *p, message *head, message kept)
{
    message g = p->writer->scope->nodes;
    p->writer->scope->nodes = kept;
    eddy__message_text(&g, GRAPH_NAME, "body");
    eddy__message_append(&g, head->at, head->size);
    g.full = g.full || head->full;
    eddy__message_free(head);
    return g;
}
