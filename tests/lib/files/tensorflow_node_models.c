/* tensorflow_node_models.c -- see tensorflow_node_models.h. */
#include "tests/lib/files/tensorflow_node_models.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int type_of(const case_tensor *t)
{
    static const char letters[] = "fdilbzhjus";
    static const int  types[] = { 1, 2, 3, 9, 10, 8, 19, 6, 4, 7 };
    return types[strchr(letters, t->letter) - letters];
}

/* ------------------------------------------------------------------ models -- */

static message placeholder(const char *name, const case_tensor *t)
{
    static const int64_t open[EDDY_MAX_RANK] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    message              m = tf_node_message(name, "Placeholder", "");
    tf_add_type(&m, "dtype", type_of(t));
    if (t->kind != '*') tf_add_shape(&m, "shape", t->rank, t->kind == '~' ? open : t->dims);
    return m;
}

message tf_tensor_node(const char *name, const case_tensor *t)
{
    if (t->kind != 'c' || strchr("js", t->letter)) return placeholder(name, t);
    eddy_array *a = case_tensor_array(t);
    message     m = tf_const_message(name, type_of(t), eddy_dtype_size(case_tensor_dtype(t)),
                                     t->rank, t->dims, eddy_array_data(a));
    eddy_array_free(a);
    return m;
}

static void add_input(message *g, const char *name, const case_tensor *t)
{
    char    part[20], parts[40];
    message m;
    if (t->kind == '&') {
        snprintf(part, sizeof part, "%s_", name);
        snprintf(parts, sizeof parts, "%s_,%ss", name, name);
        message_inner(g, TF_GRAPH_NODE, placeholder(part, t));
        snprintf(part, sizeof part, "%ss", name);
        message_inner(g, TF_GRAPH_NODE,
                      tf_ints_message(part, 1, (int64_t[]){ 1 }, (int32_t[]){ -1 }));
        m = tf_node_message(name, "TensorListFromTensor", parts);
        tf_add_type(&m, "element_dtype", type_of(t));
    } else m = tf_tensor_node(name, t);
    message_inner(g, TF_GRAPH_NODE, m);
}

static void add_list(message *node, const char *name, const char *text)
{
    int64_t list[16];
    int     n = 0;
    const bool shape = *text == '<';
    for (text++; *text != ']' && *text != '>'; text += *text == ',')
        list[n++] = strtoll(text, (char **)&text, 10);
    if (shape) tf_add_shape(node, name, n, list);
    else tf_add_ints(node, name, n, list);
}

static int type_named(const char *name)
{
    static const struct { const char *name; int type; } all[] = {
        { "float", 1 }, { "double", 2 }, { "int32", 3 }, { "uint8", 4 }, { "string", 7 },
        { "int64", 9 }, { "bool", 10 },
    };
    size_t i = 0;
    while (i < sizeof all / sizeof *all && strcmp(name, all[i].name) != 0) i++;
    assert(i < sizeof all / sizeof *all);
    return all[i].type;
}

void tf_add_attribute(message *node, char *text)
{
    char *value = strchr(text, '=');
    *value++ = 0;
    switch (*value) {
    case '\'': tf_add_text(node, text, value + 1); break;
    case ':': tf_add_type(node, text, type_named(value + 1)); break;
    case '[':
    case '<': add_list(node, text, value); break;
    case '{':
        value[strlen(value) - 1] = 0;
        tf_add_texts(node, text, value + 1);
        break;
    case '(':
        value[strlen(value) - 1] = 0;
        tf_add_shapes(node, text, value + 1);
        break;
    case 't':
    case 'f': tf_add_flag(node, text, *value == 't'); break;
    default:
        if (strchr(value, '.')) tf_add_float(node, text, strtof(value, NULL));
        else tf_add_int(node, text, strtoll(value, NULL, 10));
    }
}

/* A graph with one node, y, and its inputs x0, x1, ... */
message tf_node_model(const node_case *c)
{
    message g = { NULL, 0 };
    char    names[100] = "", name[16], text[100];
    for (int i = 0; i < c->n_in; i++) {
        snprintf(name, sizeof name, "x%d", i);
        if (c->in[i].kind == '-') continue;
        add_input(&g, name, &c->in[i]);
        strcat(strcat(names, *names ? "," : ""), name);
    }
    message node = tf_node_message("y", c->op, names);
    for (int i = 0; i < c->n_attributes; i++) {
        snprintf(text, sizeof text, "%s", c->attributes[i]);
        tf_add_attribute(&node, text);
    }
    message_inner(&g, TF_GRAPH_NODE, node);
    return g;
}
