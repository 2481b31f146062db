/* dependence.h -- which elements of a tensor depend on which elements of another one. Private to
 * this folder. */
#ifndef EDDY_AUTODIFF_SPARSE_DEPENDENCE_H
#define EDDY_AUTODIFF_SPARSE_DEPENDENCE_H

#include "autodiff/internal.h"
#include "autodiff/sparse/index_sets.h"

/* For y and x, whose sizes are known: the elements of x on which each element of y may depend, and
 * those with which each element of x may have a second derivative that is not zero. */
typedef struct eddy_dependence {
    eddy_graph     *graph;
    eddy_subgraph   nodes;               /* between x and y */
    eddy_index_sets sets;
    int32_t       **of;                  /* by id - nodes.first: the sets of all outputs; or NULL */
    int64_t         rows, columns;       /* the elements of y and of x */
    int32_t        *of_y;                /* the set of each row */
    int32_t        *partners;            /* of each column; NULL if they are not asked for */
} eddy_dependence;

/* False with the error set; to be ended in either case. `who` is the call. */
bool eddy__dependence_begin(eddy_dependence *d, const char *who, eddy_tensor y, eddy_tensor x,
                            bool with_partners);
/* The error for more than EDDY_MOST_MEMBERS. */
void eddy__too_many_elements(eddy_graph *g, const char *who);
void eddy__dependence_end(eddy_dependence *d);

/* The sets of output 0 of a node that moves or selects elements of its inputs, found by applying it
 * to the numbers of their sets; false if it is no such node. */
bool eddy__moved_sets(const eddy_dependence *d, const eddy_node *node, int32_t *out);

/* The sets of the elements of t; NULL if t does not depend on x. */
const int32_t *eddy__sets_of(const eddy_dependence *d, eddy_tensor t);

#endif
