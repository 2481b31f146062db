/* random_graph.h -- valid random graphs: every operation of the table, the structures that the
 * passes of a session look for, variables that are updated and read, loops and branches, gradients. */
#ifndef EDDY_TESTS_LIB_RANDOM_GRAPH_H
#define EDDY_TESTS_LIB_RANDOM_GRAPH_H

#include "tests/lib/bits/same_bits.h"

enum { POOL = 512, POOL_VARIABLES = 6, POOL_SIZES = 3 };

/* Which tensors a graph goes on from and fetches; NULL: all. In the body of a loop, t may depend on
 * its arguments. */
typedef bool (*random_filter)(eddy_tensor t);

typedef struct random_graph {
    random_filter keeps;
    trial       t;                      /* the graph and its feeds */
    unsigned    seed;
    eddy_dtype  dtype;                  /* of the tensors to go on from */
    int64_t     size[POOL_SIZES];       /* that shapes are made of */
    int         n, n_others, n_variables;
    bool        behind;                 /* new nodes wait for an update: no variables */
    int         depth;                  /* of the body that is built; nothing in it is fetched */
    bool        wide;                   /* half of its parts are rows of the sweep */
    bool        open;                   /* placeholders leave sizes open, or the rank */
    eddy_array *other[TRIAL_FEEDS];     /* ... then feeds of other sizes; they may not fit */
    eddy_tensor at[POOL];               /* to go on from */
    eddy_tensor others[POOL];           /* of other types, or without a gradient */
    eddy_tensor variable[POOL_VARIABLES];
    eddy_tensor train;                  /* an optimizer's step; or invalid */
    fetches     fetch;
} random_graph;

random_graph random_graph_new(unsigned seed);
/* ... of those that the filter keeps, none of which is without elements. */
random_graph random_graph_of(unsigned seed, random_filter keeps);
void         random_graph_free(random_graph *g);

/* ------------------------------------------------ for the other files -- */

/* A tensor of the pool; one of this shape, created if there is none. */
eddy_tensor pool_any(random_graph *g);
eddy_tensor pool_of(random_graph *g, eddy_shape s);
/* A new one: fed, constant, filled with 0, 1, -1 or 2, or a variable. */
eddy_tensor pool_source(random_graph *g, eddy_shape s);
/* A constant vector. */
eddy_tensor pool_ints(random_graph *g, int64_t n, const int32_t *v);
/* The shape of x when the graph is fed. */
eddy_shape  shape_of(random_graph *g, eddy_tensor x);
/* Made of the graph's sizes. */
eddy_shape  pool_shape(random_graph *g, int rank);
/* Added to the pool if it has the graph's type; otherwise only fetched. */
void        pool_add(random_graph *g, eddy_tensor y);
void        pool_keep(random_graph *g, eddy_tensor y);
/* x, or a function of it with values of about 1. */
eddy_tensor pool_tame(random_graph *g, eddy_tensor x);

/* Fetched, unless it is in a body. */
void        pool_fetch(random_graph *g, eddy_tensor y);

/* Adds the results of one operation, or of a few related ones, on tensors of the pool. */
void random_part(random_graph *g);
/* ... an update of a variable, and reads before it, after it, and regardless of it. */
void random_state(random_graph *g);
/* ... a loop or a branch, whose body is made of random parts. */
void random_control(random_graph *g);

#endif
