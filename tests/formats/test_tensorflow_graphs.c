/* test_tensorflow_graphs.c -- graphs of several nodes of TensorFlow with one edge, attribute or
 * operator wrong: the control flow of both versions, functions, lists and sizes. Each is read, or
 * refused with a message and without a trace in the graph. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/case_messages.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/tensorflow_node_models.h"

#include <stdlib.h>

enum { NODES = 24, FUNCTIONS = 3, EDGES = 6 };

/* "name operator inputs attributes", for each node; the operator may be a tensor as in
 * tests/lib/files/node_cases.h, with "_" for spaces. "y" is the output. Functions:
 * "name:arguments:results", whose nodes follow. Attributes name=@f have functions. */
static const struct {
    const char *name, *text;
} graphs[] = {
    { "a loop of version 1",
      "x ?f[2] - -;zero i - -;one i - -;n ?i - -;e Enter zero frame_name='w;"
      "d Enter x frame_name='w;k Enter n frame_name='w,is_constant=true;"
      "m Merge e,t -;p Merge d,u -;c Less m,k -;"
      "l LoopCond c -;s Switch m,l -;q Switch p,l -;i AddV2 s:1,one -;t NextIteration i -;"
      "a Neg q:1 -;u NextIteration a -;o Exit s -;y Exit q -" },
    { "a branch of version 1",
      "x ?f[2] - -;p ?b - -;s Switch x,p -;a Neg s:1 -;c Abs s -;m Merge c,a -;y Neg m -" },
    { "a branch in a branch",
      "x ?f[2] - -;p ?b - -;q ?b - -;s Switch x,p -;r Switch s:1,q -;a Neg r:1 -;c Abs r -;"
      "m Merge c,a -;y Merge s,m -" },
    { "a branch whose side is a constant",
      "x ?f[2] - -;p ?b - -;k f[2] ^s -;s Switch x,p -;y Merge k,s:1 -" },
    { "a loop of functions",
      "x ?f[2] - -;n i - -;w While n,x cond=@cond,body=@body;y Identity w:1 -"
      "|cond:i,a:r:0;k i - -;r Less i,k -|body:i,a:j,c:1;k i - -;j AddV2 i,k -;c Neg a -" },
    { "a branch of functions", "x ?f[2] - -;p ?b - -;y If p,x then_branch=@yes,else_branch=@no"
                               "|yes:a:c:0;c Neg a -|no:a:c:0;c Abs a -" },
    { "a call of a function",
      "x ?f[2] - -;y PartitionedCall x f=@f|f:a:c:0;g Neg a -;c PartitionedCall g f=@g|g:a:c:0;"
      "c Abs a -" },
    { "a list",
      "x ?f[2] - -;z i - -;n i_2 - -;h i[1]_2 - -;l TensorListReserve h,n element_dtype=:float;"
      "s TensorListSetItem l,z,x -;t TensorListSetItem s,z,x -;y TensorListStack t,h -" },
    { "a list that grows",
      "x ?f[2] - -;h i[1]_2 - -;n i - -;l EmptyTensorList h,n element_dtype=:float;"
      "s TensorListPushBack l,x -;t TensorListPushBack s,x -;p TensorListPopBack t,h -;"
      "c TensorListConcatV2 t,h,h -;g TensorListGetItem t,n,h -;v AddV2 p:1,g -;y AddV2 v,c -" },
    { "an array",
      "x ?f[2] - -;n i_2 - -;z i - -;a TensorArrayV3 n dtype=:float;"
      "w TensorArrayWriteV3 a,z,x,a:1 -;r TensorArrayReadV3 a,z,w -;"
      "v TensorArraySizeV3 a,w -;g TensorArrayGatherV3 a,z,w -;y Neg r -" },
    { "an array of rows",
      "x ?f[2,3] - -;n i_2 - -;h i[2] - -;a TensorArrayV3 n dtype=:float;"
      "w TensorArrayScatterV3 a,h,x,a:1 -;r TensorArrayGatherV3 a,h,w -;"
      "c TensorArrayConcatV3 a,w -;d i[2]_2_3 - -;e Reshape c,d -;s AddV2 r,e -;y Neg s -" },
    { "sizes that are computed",
      "x ~f[2,3] - -;s Shape x -;z i[1] - -;o i[1] - -;d StridedSlice s,z,o,o shrink_axis_mask=1;"
      "m i - -;p Mul d,m -;k Pack p,m -;q Prod s,z -;h Pack q -;r Reshape x,h -;f Fill k,m -;"
      "c Cast f -;t GatherV2 s,z,m -;b ConcatV2 t,t,m -;e BroadcastTo m,b -;y AddN r,r -" },
};

typedef struct text_node {
    char name[16], op[32], inputs[EDGES][40], attributes[4][60];
    int  n_inputs, n_attributes, function;          /* 0: of the graph */
} text_node;

typedef struct text_graph {
    text_node at[NODES];
    char      functions[FUNCTIONS][40];
    int       n, n_functions;
} text_graph;

/* ------------------------------------------------------------------ reading -- */

static int split(char *list, char out[][40], int most)
{
    int   n = 0;
    char *rest = NULL;
    for (char *p = strtok_r(list, ",", &rest); p && n < most; p = strtok_r(NULL, ",", &rest))
        if (strcmp(p, "-") != 0) snprintf(out[n++], 40, "%s", p);
    return n;
}

static void add_node(text_graph *g, const char *text, int function)
{
    char       inputs[100], attributes[200], list[4][40];
    text_node *n = &g->at[g->n++];
    ck_assert_int_le(g->n, NODES);
    *n = (text_node){ .function = function };
    ck_assert_msg(sscanf(text, "%15s %31s %99s %199s", n->name, n->op, inputs, attributes) == 4,
                  "%s", text);
    n->n_inputs = split(inputs, n->inputs, EDGES);
    n->n_attributes = split(attributes, list, 4);
    for (int i = 0; i < n->n_attributes; i++)
        snprintf(n->attributes[i], sizeof n->attributes[i], "%s", list[i]);
}

static text_graph parsed(const char *text)
{
    text_graph g = { .n = 0 };
    char       copy[1500], *parts = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *p = strtok_r(copy, "|", &parts); p; p = strtok_r(NULL, "|", &parts)) {
        char *rest = NULL, *n = strtok_r(p, ";", &rest);
        if (p != copy) {
            snprintf(g.functions[g.n_functions++], sizeof *g.functions, "%s", n);
            n = strtok_r(NULL, ";", &rest);
        }
        for (; n; n = strtok_r(NULL, ";", &rest)) add_node(&g, n, g.n_functions);
    }
    return g;
}

/* ------------------------------------------------------------------- models -- */

static message node_message(const text_node *n)
{
    char inputs[300] = "";
    if (strchr("?~*", n->op[0]) || strchr("[_", n->op[1])) {
        case_tensor t;
        char        text[32];
        snprintf(text, sizeof text, "%s", n->op);
        for (char *p = text; *p; p++)
            if (*p == '_') *p = ' ';
        case_tensor_parse(text, &t);
        return tf_tensor_node(n->name, &t);
    }
    for (int i = 0; i < n->n_inputs; i++)
        strcat(strcat(inputs, i ? "," : ""), n->inputs[i]);
    message m = tf_node_message(n->name, n->op, inputs);
    for (int i = 0; i < n->n_attributes; i++) {
        char text[60], *value;
        snprintf(text, sizeof text, "%s", n->attributes[i]);
        value = strchr(text, '=') + 1;
        if (*value != '@') {
            tf_add_attribute(&m, text);
            continue;
        }
        value[-1] = 0;
        tf_add_function(&m, text, value + 1);
    }
    return m;
}

static message graph_message(const text_graph *g)
{
    message all = { NULL, 0 }, functions[FUNCTIONS];
    for (int i = 0; i < g->n; i++)
        if (!g->at[i].function) message_inner(&all, TF_GRAPH_NODE, node_message(&g->at[i]));
    for (int f = 0; f < g->n_functions; f++) {
        char text[40], *rest = NULL;
        snprintf(text, sizeof text, "%s", g->functions[f]);
        const char *name = strtok_r(text, ":", &rest), *args = strtok_r(NULL, ":", &rest);
        functions[f] = tf_function_message(name, args, strtok_r(NULL, ":", &rest));
        for (int i = 0; i < g->n; i++)
            if (g->at[i].function == f + 1)
                message_inner(&functions[f], TF_FUNCTION_NODE, node_message(&g->at[i]));
    }
    tf_add_library(&all, functions, g->n_functions);
    return all;
}

static void read_graph(const text_graph *t, case_messages *messages)
{
    message                bytes = graph_message(t);
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size,
                                                    .outputs = (const char *const[]){ "y" },
                                                    .output_count = 1, .error = &e);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    ck_assert_msg((m != NULL) == (e.status == EDDY_OK), "%s", e.message);
    ck_assert_msg(m || eddy_graph_size(g) == 0, "nodes are left: %s", e.message);
    case_messages_add(messages, m ? NULL : e.message, "TensorFlow model: ");
    eddy_model_report *r =
        eddy_tensorflow_check(.data = bytes.at, .data_size = bytes.size,
                              .outputs = (const char *const[]){ "y" }, .output_count = 1,
                              .error = &e);
    ck_assert_msg(!m || r, "it is read, and yet: %s", e.message);
    eddy_model_report_free(r);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    message_free(&bytes);
}

/* ------------------------------------------------------------------- damage -- */

/* Each input in turn comes from each other node, in three ways, and from none. */
static void damage_edges(const text_graph *g, int node, case_messages *m)
{
    static const char *const ways[] = { "%s", "%s:1", "^%s" };
    for (int i = 0; i < g->at[node].n_inputs; i++) {
        text_graph d = *g;
        text_node *n = &d.at[node];
        for (int k = 0; k < g->n; k++)
            for (int w = 0; w < 3; w++) {
                snprintf(n->inputs[i], sizeof n->inputs[i], ways[w], g->at[k].name);
                read_graph(&d, m);
            }
        memmove(n->inputs[i], n->inputs[i + 1], (size_t)(n->n_inputs - i - 1) * sizeof *n->inputs);
        n->n_inputs--;
        read_graph(&d, m);
    }
}

static void damage_node(const text_graph *g, int node, case_messages *m)
{
    for (int k = 0; k < g->n; k++) {
        text_graph d = *g;
        memcpy(d.at[node].op, g->at[k].op, sizeof d.at[node].op);
        if (strcmp(g->at[k].op, g->at[node].op) != 0) read_graph(&d, m);
    }
    for (int i = 0; i < g->at[node].n_attributes; i++) {
        text_graph d = *g;
        text_node *n = &d.at[node];
        snprintf(strchr(n->attributes[i], '=') + 1, 3, "%s", "9");
        read_graph(&d, m);
        memmove(n->attributes[i], n->attributes[i + 1],
                (size_t)(n->n_attributes - i - 1) * sizeof *n->attributes);
        n->n_attributes--;
        read_graph(&d, m);
    }
    text_graph d = *g;
    memmove(&d.at[node], &d.at[node + 1], (size_t)(d.n - node - 1) * sizeof *d.at);
    d.n--;
    read_graph(&d, m);
}

START_TEST(damaged)
{
    static case_messages messages;
    case_messages_begin("formats/tensorflow_graphs");
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        const text_graph g = parsed(graphs[i].text);
        read_graph(&g, &messages);
        ck_assert_msg(messages.read == 1, "%s: %s", graphs[i].name, messages.kinds[0]);
        for (int k = 0; k < g.n; k++) {
            damage_edges(&g, k, &messages);
            damage_node(&g, k, &messages);
        }
        case_messages_end(&messages, graphs[i].name);
    }
    case_messages_finish();
}
END_TEST

/* ----------------------------------------------------------------- bindings -- */

/* A SavedModel: in -> x, a float32 [2]; out -> y = -x. */
static message signed_model(void)
{
    message g = { NULL, 0 };
    message_inner(&g, TF_GRAPH_NODE, tf_input_message("x", 1, (int64_t[]){ 2 }));
    message_inner(&g, TF_GRAPH_NODE, tf_node_message("y", "Neg", "x"));
    return tf_saved_model_message(g, "in=x:0", "out=y:0");
}

/* An input by this name, bound to these tensors, and an output by this name. */
static void bind(eddy_graph *g, const char *name, eddy_list tensors, const char *output)
{
    message                  bytes = signed_model();
    eddy_error               e = { 0 };
    const int32_t            before = eddy_graph_size(g);
    const eddy_model_binding in = { name, tensors };
    eddy_tensorflow_model   *m = eddy_tensorflow_read(
        g, .data = bytes.at, .data_size = bytes.size, .inputs = &in, .input_count = 1,
        .outputs = (const char *const[]){ output }, .output_count = 1, .error = &e);
    message_free(&bytes);
    if (m) golden_line(eddy_tensorflow_output_name(m, 0));
    else {
        golden_error(&e);
        ck_assert_int_eq(eddy_graph_size(g), before);
    }
    eddy_tensorflow_free(m);
}

START_TEST(bindings)
{
    eddy_graph       *g = eddy_graph_new(), *other = eddy_graph_new();
    const eddy_tensor x = eddy_placeholder(g, "a", EDDY_FLOAT32, EDDY_SHAPE(2)),
                      k = eddy_constant(g, EDDY_VIEW(((float[]){ 1, 2 }), 2)),
                      i = eddy_placeholder(g, "b", EDDY_INT32, EDDY_SHAPE(2)),
                      z = eddy_placeholder(other, "c", EDDY_FLOAT32, EDDY_SHAPE(2));
    golden_begin("formats/tensorflow_bindings");
    bind(g, "in", EDDY_LIST(x), "out");
    bind(g, "x", EDDY_LIST(k), "y");
    bind(g, "x:0", EDDY_LIST(k), "y:0");
    bind(g, "y", EDDY_LIST(i), "out");
    bind(g, "in", EDDY_LIST(i), "out");
    bind(g, "in", EDDY_LIST(z), "out");
    bind(g, "in", EDDY_LIST(EDDY_NO_TENSOR), "out");
    bind(g, "in", (eddy_list){ 1, NULL }, "out");
    bind(g, "in", EDDY_LIST(x, x), "out");
    bind(g, "in", (eddy_list){ 0, NULL }, "out");
    bind(g, "out", EDDY_LIST(x), "out");
    bind(g, "x:1", EDDY_LIST(x), "out");
    bind(g, NULL, EDDY_LIST(x), "out");
    bind(g, "in", EDDY_LIST(x), "in");
    bind(g, "in", EDDY_LIST(x), "none");
    bind(g, "in", EDDY_LIST(x), NULL);
    golden_end();
    eddy_graph_free(g);
    eddy_graph_free(other);
}
END_TEST

Suite *tensorflow_graphs_suite(void)
{
    Suite *s = suite_create("tensorflow_graphs");
    TCase *t = tcase_create("graphs");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, damaged);
    tcase_add_test(t, bindings);
    suite_add_tcase(s, t);
    return s;
}
