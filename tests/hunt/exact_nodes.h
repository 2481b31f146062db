/* exact_nodes.h -- the nodes of exact_graph.h. */
#ifndef EDDY_TESTS_HUNT_EXACT_NODES_H
#define EDDY_TESTS_HUNT_EXACT_NODES_H

#include "tests/hunt/exact_complex.h"
#include "tests/hunt/exact_graph.h"

enum { EXACT_OUTPUTS = 8, EXACT_INPUTS = 64 };

/* A complex element is two numbers, next to each other. */
typedef struct exact_operand {
    const num        *x;          /* NULL: does not change, has the elements of base */
    const eddy_array *base;       /* at the point */
    eddy_shape        shape;
    int64_t           count;      /* of elements */
    int               parts;      /* numbers of an element */
} exact_operand;

typedef struct exact_node exact_node;
typedef void exact_run(exact_node *n, const exact_operand *in);

/* The operation alone, on float64 operands. */
typedef struct exact_probe {
    eddy_graph   *graph;
    eddy_session *session;
    eddy_array  **arrays;         /* by input: elements of the operands that change, else NULL */
    eddy_tensor  *inputs, *outputs;
    double       *matrix;         /* of a linear operation: by output, element, input, element */
    eddy_array  **kept;           /* operands that did not change, when it was built */
    int           n_inputs;
} exact_probe;

struct exact_node {
    const eddy_node *node;
    bool        depends, needed;
    int         fetch[EXACT_OUTPUTS];
    eddy_shape  shape[EXACT_OUTPUTS];
    int64_t     count[EXACT_OUTPUTS];
    int         parts[EXACT_OUTPUTS];
    num        *y[EXACT_OUTPUTS];
    const eddy_array *base[EXACT_OUTPUTS];   /* the outputs at the point */
    exact_run  *run;
    exact_fn   *fn;
    bool        special;                     /* fn takes long */
    exact_complex_fn *complex_fn;
    exact_probe probe;
};

/* False if the operation is not known. */
bool exact_node_begin(exact_node *n);
void exact_node_end(exact_node *n);
void exact_node_run(exact_node *n, const exact_operand *in);

/* Number i of an operand: of real ones, element i. */
num  exact_element(const exact_operand *o, int64_t i);
/* Numbers of an element; number i of an array. */
int    exact_parts(eddy_dtype d);
double exact_array_number(const eddy_array *a, int64_t i);
void   exact_array_set(eddy_array *a, int64_t i, double x);
int64_t exact_array_numbers(const eddy_array *a);

/* The element of an operand that element i of a result is made of. */
int64_t exact_broadcast_from(eddy_shape out, eddy_shape in, int64_t i);
/* A float attribute or an integer one; 0 if there is none. */
double exact_attribute(const eddy_node *node, const char *name);

/* exact_probe.c */
/* Builds it, again if an operand that does not change is another one than before; true if so. */
bool exact_probe_begin(exact_node *n, const exact_operand *in);
void exact_probe_end(exact_node *n);
/* Runs it; out[k] are the caller's to free. */
void exact_probe_run(exact_node *n, eddy_array **out);

#endif
