/* tensorflow_text_graphs.c -- see tensorflow_text_graphs.h. */
#include "tests/lib/files/tensorflow_text_graphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const text_graph_source text_graphs[TEXT_GRAPHS] = {
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
    { "a case of functions",
      "x ?f[2] - -;i ?i - -;y Case i,x branches=@f&g|f:a:c:0;c Neg a -|g:a:c:0;c Abs a -" },
    { "a case that is known",
      "x ?f[2] - -;i i - -;y StatelessCase i,x branches=@f&g|f:a:c:0;c Neg a -|g:a:c:0;c Abs a -" },
    { "a branch that is known", "x ?f[2] - -;p b - -;y If p,x then_branch=@f,else_branch=@g"
                                "|f:a:c:0;c Neg a -|g:a:c:0;c Abs a -" },
    { "a loop over a list",
      "x ?f[2] - -;z i - -;n i_2 - -;h i[1]_2 - -;l TensorListReserve h,n element_dtype=:float;"
      "w While z,l,x cond=@cond,body=@body;y TensorListStack w:1,h -"
      "|cond:i,l,a:r:0;k i_2 - -;r Less i,k -"
      "|body:i,l,a:j,t,a:0;k i - -;j AddV2 i,k -;t TensorListSetItem l,i,a -" },
    { "a loop over a list that grows",
      "x ?f[2] - -;z i - -;n i_2 - -;h i[1]_-1 - -;l EmptyTensorList h,n element_dtype=:float;"
      "w While z,l,x cond=@cond,body=@body;y TensorListStack w:1,h -"
      "|cond:i,l,a:r:0;k i_2 - -;r Less i,k -"
      "|body:i,l,a:j,t,a:0;k i - -;j AddV2 i,k -;t TensorListPushBack l,a -" },
    { "sizes that are computed",
      "x ~f[2,3] - -;s Shape x -;z i[1] - -;o i[1] - -;d StridedSlice s,z,o,o shrink_axis_mask=1;"
      "m i - -;p Mul d,m -;k Pack p,m -;q Prod s,z -;h Pack q -;r Reshape x,h -;f Fill k,m -;"
      "c Cast f -;t GatherV2 s,z,m -;b ConcatV2 t,t,m -;e BroadcastTo m,b -;y AddN r,r -" },
    { "a branch of version 1 that is known",
      "x ?f[2] - -;p b_1 - -;s Switch x,p -;a Neg s:1 -;c Abs s -;y Merge c,a -" },
    { "a loop of version 1 over an array",
      "x ?f[2] - -;z i - -;o i_1 - -;n i_2 - -;A TensorArrayV3 n dtype=:float,element_shape=<2>;"
      "e Enter z frame_name='w;f Enter A:1 frame_name='w;m Merge e,t -;p Merge f,u -;c Less m,n -;"
      "l LoopCond c -;s Switch m,l -;q Switch p,l -;i AddV2 s:1,o -;t NextIteration i -;"
      "w TensorArrayWriteV3 A,s:1,x,q:1 -;u NextIteration w -;v Exit q -;k Exit s -;"
      "y TensorArrayConcatV3 A,v -" },
    { "a loop whose sizes change",
      "x ?f[2] - -;z i - -;n i_2 - -;h i[1]_2 - -;l TensorListReserve h,n element_dtype=:float;"
      "w While z,l,x output_shapes=(5&&-1),cond=@cond,body=@body;y Identity w:2 -"
      "|cond:i,l,a:r:0;k i_2 - -;r Less i,k -"
      "|body:i,l,a:j,l,c:0;o i_1 - -;j AddV2 i,o -;z i - -;k f[1]_7 - -;c ConcatV2 a,k,z -" },
    { "sizes of which some are known",
      "x ~f[2,3] - -;s Shape x -;z i[1]_0 - -;o i[1]_1 - -;n i[1]_9 - -;"
      "d StridedSlice s,z,o,o -;e StridedSlice s,d,n,o -;m i_3 - -;f Squeeze d -;k Pack f,m -;"
      "i Identity k -;r Reshape x,i -;v Size e -;y Mul r,r,^v -" },
};

/* ------------------------------------------------------------------ reading -- */

static int split(char *list, char out[][60], int most)
{
    int   n = 0;
    char *rest = NULL;
    for (char *p = strtok_r(list, ",", &rest); p && n < most; p = strtok_r(NULL, ",", &rest))
        if (strcmp(p, "-") != 0) snprintf(out[n++], 60, "%s", p);
    return n;
}

static void add_node(text_graph *g, const char *text, int function)
{
    char       inputs[100], attributes[200], list[4][60];
    text_node *n = &g->at[g->n++];
    if (g->n > TEXT_NODES) abort();
    *n = (text_node){ .function = function };
    if (sscanf(text, "%15s %31s %99s %199s", n->name, n->op, inputs, attributes) != 4) abort();
    n->n_inputs = split(inputs, n->inputs, TEXT_EDGES);
    n->n_attributes = split(attributes, list, 4);
    for (int i = 0; i < n->n_attributes; i++)
        snprintf(n->attributes[i], sizeof n->attributes[i], "%.*s",
                 (int)sizeof n->attributes[i] - 1, list[i]);
}

text_graph text_graph_of(const char *text)
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
        if (strchr(value, '&')) tf_add_functions(&m, text, value + 1);
        else tf_add_function(&m, text, value + 1);
    }
    return m;
}

message text_graph_message(const text_graph *g)
{
    message all = { NULL, 0 }, functions[TEXT_FUNCTIONS];
    for (int i = 0; i < g->n; i++)
        if (!g->at[i].function) message_inner(&all, TF_GRAPH_NODE, node_message(&g->at[i]));
    for (int f = 0; f < g->n_functions; f++) {
        char text[40], *rest = NULL;
        snprintf(text, sizeof text, "%s", g->functions[f]);
        const char *name = strtok_r(text, ":", &rest), *args = strtok_r(NULL, ":", &rest);
        const char *results = strtok_r(NULL, ":", &rest);
        functions[f] = tf_function_message(name, args, results ? results : "");
        for (int i = 0; i < g->n; i++)
            if (g->at[i].function == f + 1)
                message_inner(&functions[f], TF_FUNCTION_NODE, node_message(&g->at[i]));
    }
    tf_add_library(&all, functions, g->n_functions);
    return all;
}
