/* tensorflow_text_graphs.h -- graphs of several nodes of TensorFlow as texts: the control flow of both
 * versions, functions, lists and sizes. */
#ifndef EDDY_TESTS_TENSORFLOW_TEXT_GRAPHS_H
#define EDDY_TESTS_TENSORFLOW_TEXT_GRAPHS_H

#include "tests/lib/files/tensorflow_node_models.h"

enum { TEXT_GRAPHS = 21, TEXT_NODES = 24, TEXT_FUNCTIONS = 3, TEXT_EDGES = 6 };

/* "name operator inputs attributes", for each node; the operator may be a tensor as in
 * tests/lib/files/node_cases.h, with "_" for spaces. "y" is the output. Functions:
 * "name:arguments:results", whose nodes follow. Attributes name=@f have functions, name=@f&g lists
 * of them. */
typedef struct text_graph_source {
    const char *name, *text;
} text_graph_source;
extern const text_graph_source text_graphs[TEXT_GRAPHS];

typedef struct text_node {
    char name[16], op[32], inputs[TEXT_EDGES][60], attributes[4][60];
    int  n_inputs, n_attributes, function;          /* 0: of the graph */
} text_node;

typedef struct text_graph {
    text_node at[TEXT_NODES];
    char      functions[TEXT_FUNCTIONS][40];
    int       n, n_functions;
} text_graph;

text_graph text_graph_of(const char *text);
message    text_graph_message(const text_graph *g);

#endif
