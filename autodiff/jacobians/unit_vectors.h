/* unit_vectors.h -- products of a Jacobian with many vectors, such as its rows or its columns; not
 * installed. */
#ifndef EDDY_JACOBIANS_UNIT_VECTORS_H
#define EDDY_JACOBIANS_UNIT_VECTORS_H

#include "autodiff/internal.h"

/* The Jacobians of y by each of xs. A seed has the shape of y and gives a row for each x; in
 * forward mode it has the shape of one x and gives a column, in the shape of y. */
typedef struct eddy_unit_vectors {
    eddy_tensor           y;
    eddy_list             xs;
    const eddy_recording *recording;      /* of a tape; or NULL */
    bool                  loop;           /* one seed after the other */
    int64_t               max_bytes;      /* of temporaries, for blocks of seeds; 0: no limit */
    bool                  forward;        /* set by eddy__forward_begin */
    eddy_tensor           u;              /* then: the seed of a reverse sweep from y, */
    eddy_tensor          *dx;             /* and its results */
} eddy_unit_vectors;

/* Chooses forward mode. With `if_possible`, the mode stays reverse if an operation of the sweep has
 * no gradient. False with the error set; to be ended in either case. */
bool eddy__forward_begin(eddy_unit_vectors *v, bool if_possible);
void eddy__forward_end(eddy_unit_vectors *v);

/* out[k] = the rows [n, ...x] for the seeds [n, ...y] and each of xs; invalid if y does not depend
 * on it. In forward mode, out[0] = the columns [n, ...y] for the seeds [n, ...x] of x number k. */
void eddy__for_seeds(const eddy_unit_vectors *v, int k, eddy_tensor seeds, eddy_tensor *out);
/* The same for all unit vectors, in blocks if there is a limit; otherwise no size has to be
 * known. */
void eddy__for_unit_vectors(const eddy_unit_vectors *v, int k, eddy_tensor *out);

#endif
