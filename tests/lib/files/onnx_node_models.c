/* onnx_node_models.c -- see onnx_node_models.h. */
#include "tests/lib/files/onnx_node_models.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- inputs -- */

static int type_of(const case_tensor *t)
{
    static const char letters[] = "fdilbzhjus";
    static const int  types[] = { 1, 11, 6, 7, 9, 14, 10, 3, 2, 8 };
    return types[strchr(letters, t->letter) - letters];
}

static void add_constant(message *g, const char *name, const case_tensor *t)
{
    eddy_array   *a = case_tensor_array(t);
    const int64_t n = a ? eddy_array_count(a) : 0;
    const int     type = type_of(t);
    message       m = onnx_tensor_message(name, type, t->rank, t->dims, NULL, 0);
    for (int64_t i = 0; i < n && (t->letter == 's' || t->letter == 'j'); i++)
        if (t->letter == 's') message_text(&m, 6, "a");
        else message_number(&m, 5, (uint64_t)(int64_t)eddy_array_get(a, i));
    if (n && t->letter != 's' && t->letter != 'j')
        message_bytes(&m, 9, eddy_array_data(a),
                      (size_t)n * eddy_dtype_size(case_tensor_dtype(t)));
    message_inner(g, GRAPH_INITIALIZER, m);
    eddy_array_free(a);
}

static void add_input(message *g, const char *name, const case_tensor *t)
{
    static const int64_t open[EDDY_MAX_RANK] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    char                 two[40], item[20];
    if (t->kind == 'c') add_constant(g, name, t);
    if (strchr("?~*", t->kind))
        message_inner(g, GRAPH_INPUT,
                      onnx_value_message(name, type_of(t), t->kind == '*' ? -1 : t->rank,
                                         t->kind == '~' ? open : t->dims));
    if (t->kind != '&') return;
    snprintf(item, sizeof item, "%s_", name);
    snprintf(two, sizeof two, "%s,%s", item, item);
    message_inner(g, GRAPH_INPUT, onnx_value_message(item, type_of(t), t->rank, t->dims));
    message_inner(g, GRAPH_NODE, onnx_node_message("SequenceConstruct", two, name));
}

/* --------------------------------------------------------------- attributes -- */

/* Graphs: their inputs, their nodes ("operator inputs>outputs") and their outputs. */
#define C8 "c,c,c,c,c,c,c,c,"
static const struct {
    const char *name, *inputs, *nodes, *outputs;
} bodies[] = {
    { "one", "", "Constant >a", "a" },
    { "other", "", "Constant >k;Neg k>a", "a" },
    { "inner", "", "Constant >k value=@b_1;If k>a then_branch=%one else_branch=%other", "a" },
    { "lacks", "", "Constant >k", "a" },
    { "fails", "", "Nonsense >a", "a" },
    { "pair", "", "Constant >k;SequenceConstruct k,k>a", "a" },
    { "clip", "", "Constant >k;Clip k,,>a", "a" },
    { "has", "", "OptionalHasElement x1>a", "a" },
    { "length", "", "SequenceLength x1>a", "a" },
    { "wide", "", "Constant >c", C8 C8 C8 C8 C8 C8 C8 C8 "c" },
    { "leaky", "", "LeakyRelu a>c alpha=$slope", "c" },
    { "call", "", "local:F a>c", "c" },
    { "call_x0", "", "local:F x0>c", "c" },
    { "neg", "a", "Neg a>c", "c" },
    { "sum", "a,e", "Add a,e>c", "c" },
    { "loop", "i,going,a", "Neg a>c;Identity going>more", "more,c,c" },
    { "last", "i,going,a", "Neg a>c;Identity going>more", "more,c" },
    { "stacks", "i,going,a", "Neg a>c;Identity going>more", "more,c,c,c" },
    { "numbers", "i,going,a", "Identity i>c;Identity going>more", "more,c" },
    { "three", "i,going,a", "Constant >k value=@l_2;Less i,k>more;Neg a>c", "more,c" },
    { "grow", "i,going,a", "SequenceInsert a,i>c;Identity going>more", "more,c" },
    { "grow3", "i,going,a", "Constant >k value=@l_2;Less i,k>more;SequenceInsert a,i>c", "more,c" },
    { "two", "i,going,a,e", "SequenceInsert a,i>c;Neg e>d;Identity going>more", "more,c,d" },
    { "grow_by", "i,going,a", "SequenceInsert a,i>c;Identity x3>more", "more,c" },
    { "double", "i,going,a", "Constant >k value=@f_5;Add a,a>c;Less c,k>more", "more,c" },
    { "yes", "i,going,a", "Constant >more value=@b_1;Neg a>c", "more,c" },
    { "noted", "i,going,a", "Constant >more value=@b_1 note=1;Neg a>c", "more,c" },
    { "no", "i,going,a", "Constant >more value=@b_0;Neg a>c", "more,c" },
    { "kept", "i,going,a", "=more b_1;Neg a>c", "more,c" },
    { "seven", "i,going,a", "=more l_7;Neg a>c", "more,c" },
    { "two_yes", "i,going,a", "=more b[2]_1_1;Neg a>c", "more,c" },
    { "number", "i,going,a", "Constant >more value_int=1;Neg a>c", "more,c" },
    { "nothing", "i,going,a", "Identity >more;Neg a>c", "more,c" },
    { "chain", "i,going,a",
      "Identity going>a1;Identity a1>a2;Identity a2>a3;Identity a3>a4;Identity a4>a5;"
      "Identity a5>a6;Identity a6>a7;Identity a7>a8;Identity a8>a9;Identity a9>b1;Identity b1>b2;"
      "Identity b2>b3;Identity b3>b4;Identity b4>b5;Identity b5>b6;Identity b6>b7;"
      "Identity b7>more;Neg a>c", "more,c" },
    { "failing", "i,going,a", "Nonsense a>c;Identity going>more", "more,c" },
    { "failing_three", "i,going,a", "Constant >k value=@l_2;Less i,k>more;Nonsense a>c",
      "more,c" },
    { "wide_loop", "i,going,a", "Neg a>c;Identity going>more", "more," C8 C8 C8 C8 C8 C8 C8 C8 },
    { "scan", "a,e", "Add a,e>c;Neg c>d", "c,d" },
    { "failing_scan", "a,e", "Nonsense a,e>c", "c,c" },
    { "wide_scan", "a,e", "Add a,e>c", C8 C8 C8 C8 C8 C8 C8 C8 "c" },
};
#undef C8

static message body_of(const char *name)
{
    message g = { NULL, 0 };
    size_t  k = 0;
    char    names[200], *rest = NULL;
    while (k < sizeof bodies / sizeof *bodies && strcmp(bodies[k].name, name) != 0) k++;
    assert(k < sizeof bodies / sizeof *bodies);
    onnx_text_nodes(&g, GRAPH_NODE, bodies[k].nodes);
    const char *const lists[] = { bodies[k].inputs, bodies[k].outputs };
    for (int i = 0; i < 2; i++) {
        snprintf(names, sizeof names, "%s", lists[i]);
        for (char *n = strtok_r(names, ",", &rest); n; n = strtok_r(NULL, ",", &rest)) {
            const int type = *n == 'i' ? 7 : strcmp(n, "going") && strcmp(n, "more") ? 1 : 9;
            message_inner(&g, i ? GRAPH_OUTPUT : GRAPH_INPUT,
                          onnx_value_message(n, type, -1, NULL));
        }
    }
    return g;
}

static case_tensor tensor_of(char *text)
{
    case_tensor t;
    for (char *p = text; *p; p++)
        if (*p == '_') *p = ' ';
    case_tensor_parse(text, &t);
    return t;
}

static void add_tensor(message *m, char *text)
{
    const case_tensor t = tensor_of(text);
    message           g = { NULL, 0 };
    add_constant(&g, "", &t);           /* the message, behind its number and size */
    size_t at = 1;
    while (g.at[at++] & 128) {}
    message_bytes(m, 5, g.at + at, g.size - at);
    message_free(&g);
}

static void add_list(message *m, char *text, bool words)
{
    char *rest = NULL;
    for (char *p = strtok_r(text, ",]}", &rest); p; p = strtok_r(NULL, ",]}", &rest))
        if (words) message_text(m, 9, p);
        else if (strchr(p, '.')) message_float(m, 7, strtof(p, NULL));
        else message_number(m, 8, (uint64_t)strtoll(p, NULL, 10));
}

static message attribute_of(const char *text)
{
    message m = { NULL, 0 };
    char    copy[300];
    snprintf(copy, sizeof copy, "%s", text);
    char *value = strchr(copy, '=') + 1;
    value[-1] = 0;
    message_text(&m, 1, copy);
    switch (*value) {
    case '\'': message_text(&m, 4, value + 1); break;
    case '$': message_text(&m, 21, value + 1); break;
    case '[': add_list(&m, value + 1, false); break;
    case '{': add_list(&m, value + 1, true); break;
    case '@': add_tensor(&m, value + 1); break;
    case '%': message_inner(&m, 6, body_of(value + 1)); break;
    default:
        if (strchr(value, '.')) message_float(&m, 2, strtof(value, NULL));
        else message_number(&m, 3, (uint64_t)strtoll(value, NULL, 10));
    }
    return m;
}

/* -------------------------------------------------------------------- models -- */

static message text_node(char *text)
{
    char *rest = NULL, *op = strtok_r(text, " ", &rest), *in = strtok_r(NULL, " ", &rest),
         *out = strchr(in, '>') + 1, *domain = op;
    out[-1] = 0;
    op = strchr(op, ':') ? strchr(op, ':') + 1 : op;
    message node = onnx_node_message(op, in, out);
    if (op != domain) message_bytes(&node, 7, domain, (size_t)(op - 1 - domain));
    char *a = strtok_r(NULL, " ", &rest);
    if (!a && strcmp(op, "Constant") == 0)
        onnx_add_attribute(&node, onnx_float_attribute("value_float", 2));
    for (; a; a = strtok_r(NULL, " ", &rest)) onnx_add_attribute(&node, attribute_of(a));
    return node;
}

void onnx_text_nodes(message *g, uint32_t field, const char *nodes)
{
    char *copy = malloc(strlen(nodes) + 1), *rest = NULL;
    strcpy(copy, nodes);
    for (char *n = strtok_r(copy, ";", &rest); n; n = strtok_r(NULL, ";", &rest))
        if (*n == '=') {
            char *value = strchr(n, ' ') + 1;
            value[-1] = 0;
            const case_tensor t = tensor_of(value);
            add_constant(g, n + 1, &t);
        } else message_inner(g, field, text_node(n));
    free(copy);
}

message onnx_text_graph(const char *inputs, const char *nodes, int outputs)
{
    message     g = { NULL, 0 };
    case_tensor t;
    char        name[16];
    for (int i = 0; *inputs; i++) {
        inputs = case_tensor_parse(inputs, &t);
        snprintf(name, sizeof name, "x%d", i);
        add_input(&g, name, &t);
    }
    onnx_text_nodes(&g, GRAPH_NODE, nodes);
    for (int i = 0; i < outputs; i++) {
        snprintf(name, sizeof name, "y%d", i);
        message_inner(&g, GRAPH_OUTPUT, onnx_value_message(name, 1, -1, NULL));
    }
    return g;
}

message onnx_node_model(const node_case *c)
{
    message g = { NULL, 0 };
    char    inputs[100] = "", outputs[100] = "", name[16];
    for (int i = 0; i < c->n_in; i++) {
        snprintf(name, sizeof name, "x%d", i);
        if (c->in[i].kind != '-') add_input(&g, name, &c->in[i]);
        if (i) strcat(inputs, ",");
        strcat(inputs, c->in[i].kind == '-' ? "" : name);
    }
    for (int i = 0; i < c->n_out; i++)
        snprintf(outputs + strlen(outputs), 16, "%sy%d", i ? "," : "", i);
    message node = onnx_node_message(c->op, inputs, outputs);
    for (int i = 0; i < c->n_attributes; i++)
        onnx_add_attribute(&node, attribute_of(c->attributes[i]));
    message_inner(&g, GRAPH_NODE, node);
    for (int i = 0; i < c->n_out; i++) {
        snprintf(name, sizeof name, "y%d", i);
        message_inner(&g, GRAPH_OUTPUT, onnx_value_message(name, 1, -1, NULL));
    }
    return onnx_model_message(g, c->opset);
}
