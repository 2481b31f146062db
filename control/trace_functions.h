/* trace_functions.h -- functions of users as bodies of loops and branches. */
#ifndef EDDY_CONTROL_TRACE_H
#define EDDY_CONTROL_TRACE_H

#include "control/internal.h"

/* Functions that were called on tensors which stand for arguments: their nodes and results. */
typedef struct trace {
    eddy_graph  *graph;
    const char  *what;              /* "while_loop", for messages */
    int32_t      first;             /* nodes from here on belong to the functions */
    eddy_tensor *args;              /* the tensors that stand for arguments */
    int          n_args;
    eddy_tensor  y[EDDY_MAX_RESULTS];
} trace;

/* The scope of the new nodes, such as "while_1", for messages; cut to fit. Returns text. */
const char *eddy__trace_scope(const eddy_graph *g, char *text, size_t size);

/* Calls f on the n arguments; returns the number of results in t->y; 0 with the error set. `role`
 * is what f is to the caller, such as "cond", for messages about a function without a name. */
int eddy__trace_call(trace *t, const eddy_function *f, const char *role, int n,
                     const eddy_tensor *args);

/* The node has a side effect and is not the trace of another body, nor an initializer. */
bool eddy__trace_acts(const eddy_graph *g, int32_t id);

/* Marks the nodes of the trace that are copied to the body, so that another body does not count
 * their side effects as its own. */
void eddy__trace_mark(const trace *t, const extraction *e);

/* The name of a scope: `name`, or `otherwise` if it is NULL or empty. */
static inline const char *eddy__name_or(const char *name, const char *otherwise)
{
    return name && *name ? name : otherwise;
}

/* The node draws, or has a side effect, each time that it runs. */
bool eddy__trace_repeats(const eddy_node *node);

/* Finds products of rows of the loop with tensors that are the same in all iterations
 * (row_products.c): e->products, nodes that are not copied. Then computes those that e captured,
 * for all rows, and adds an argument of the body for a row of each; returns how many, stored in
 * `in`. */
bool eddy__row_products_find(const trace *t, extraction *e, int n_carried);
int  eddy__row_products_build(const trace *t, extraction *e, eddy_list rows, eddy_tensor *in);

/* The type of a row of x along axis 0. */
eddy_type eddy__row_type(eddy_tensor x);

#endif
