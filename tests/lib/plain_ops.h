/* plain_ops.h -- operations defined by the tests, one for each kind of attribute, so that tests of
 * graphs and their files do not depend on the library's operations. */
#ifndef EDDY_TESTS_LIB_PLAIN_OPS_H
#define EDDY_TESTS_LIB_PLAIN_OPS_H

#include "graph/files/graph_yaml.h"

typedef struct all_attrs {
    int64_t     i;
    double      f;
    bool        b;
    const char *s;
    eddy_dtype  d;
    eddy_shape  shape;
    eddy_dims   dims;
    eddy_ints   ints;
    eddy_array *array;
    eddy_graph *graph;
} all_attrs;

/* A placeholder; a constant; two outputs of the input's type; none; one, of
 * inputs of one element type; an int32 with every kind of attribute. */
extern const eddy_op_def plain_source, plain_value, plain_pair, plain_sink, plain_same, plain_all;
extern const eddy_op_def *const plain_ops[];       /* all of them, ended by NULL */

eddy_tensor plain_make_source(eddy_graph *g, const char *name, eddy_shape s);     /* float32 */
eddy_tensor plain_make_value(eddy_graph *g, const char *name, eddy_array *a);     /* takes a over */

/* A graph with a little of everything, and one like it as a file. */
eddy_graph *plain_graph(const eddy_allocator *a, const eddy_files *files);
extern const char plain_text[];

/* Reads the text of a file called "f". */
eddy_graph *plain_read(const char *text, const eddy_allocator *a, eddy_error *e);

#endif
