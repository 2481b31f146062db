/* division.h -- variables of which each rank has a part; not installed. */
#ifndef EDDY_DISTRIBUTED_DIVISION_H
#define EDDY_DISTRIBUTED_DIVISION_H

#include "distributed/collective_op.h"
#include "layers/variable_creator.h"

/* How a variable is divided: the attributes of a node that no run executes. */
typedef struct eddy_division {
    int64_t    communicator;         /* its id */
    int64_t    ranks, rank;
    int64_t    axis;                 /* of the whole; -1: all elements, in order, then zeros */
    int64_t    groups;               /* equal parts of the axis, which are divided one by one */
    eddy_shape whole;
} eddy_division;

/* Of n elements in each group, rank r has those from n r / ranks to n (r + 1) / ranks. */
int64_t    eddy__division_begin(const eddy_division *d, int64_t rank);
/* The shape of a rank's part. */
eddy_shape eddy__division_shape(const eddy_division *d, int64_t rank);

/* Copies a rank's part, of elements of that size, to its place in the whole, or from there; zeros behind the
 * whole stay. */
void       eddy__division_copy(const eddy_division *d, int64_t rank, size_t size, char *whole,
                               char *part, bool to_whole);

/* Creates the part of this rank: r describes the whole. */
eddy_tensor eddy__create_part(const eddy_variable_request *r, const eddy_division *d);

/* How a variable is divided, or the variable whose slot it is; NULL if it is whole. */
const eddy_division *eddy__division_of(eddy_tensor variable);
/* Among how many ranks the graph's variables are divided; 0: they are whole, or it differs. */
int64_t eddy__division_ranks(eddy_graph *g);
/* Whether it is divided among the ranks of that communicator; and then gathered where it is used. */
bool eddy__has_part(eddy_tensor variable, int64_t communicator);
bool eddy__is_gathered(eddy_tensor variable, int64_t communicator);

/* x[i] = the sum over the ranks that have parts of variables[i], all of which are divided; x[i] is a
 * scalar. */
void eddy__sum_over_ranks(int n, const eddy_tensor *variables, eddy_tensor *x);

#endif
