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
static const struct {
    const char *name, *inputs, *nodes, *outputs;
} bodies[] = {
    { "one", "", "Constant >a", "a" },
    { "other", "", "Constant >k;Neg k>a", "a" },
    { "neg", "a", "Neg a>c", "c" },
    { "loop", "i,going,a", "Neg a>c;Identity going>more", "more,c,c" },
    { "last", "i,going,a", "Neg a>c;Identity going>more", "more,c" },
    { "scan", "a,e", "Add a,e>c;Neg c>d", "c,d" },
};

static message body_of(const char *name)
{
    message g = { NULL, 0 };
    size_t  k = 0;
    char    text[100], names[40], *rest = NULL;
    while (k < sizeof bodies / sizeof *bodies && strcmp(bodies[k].name, name) != 0) k++;
    assert(k < sizeof bodies / sizeof *bodies);
    snprintf(text, sizeof text, "%s", bodies[k].nodes);
    for (char *n = strtok_r(text, ";", &rest); n; n = strtok_r(NULL, ";", &rest)) {
        char *in = strchr(n, ' ') + 1, *out = strchr(in, '>') + 1;
        in[-1] = out[-1] = 0;
        message node = onnx_node_message(n, in, out);
        if (strcmp(n, "Constant") == 0)
            onnx_add_attribute(&node, onnx_float_attribute("value_float", 2));
        message_inner(&g, GRAPH_NODE, node);
    }
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

static void add_tensor(message *m, char *text)
{
    case_tensor t;
    for (char *p = text; *p; p++)
        if (*p == '_') *p = ' ';
    case_tensor_parse(text, &t);
    message g = { NULL, 0 };
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
    char    copy[100];
    snprintf(copy, sizeof copy, "%s", text);
    char *value = strchr(copy, '=') + 1;
    value[-1] = 0;
    message_text(&m, 1, copy);
    switch (*value) {
    case '\'': message_text(&m, 4, value + 1); break;
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
