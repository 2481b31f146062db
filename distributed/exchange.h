/* exchange.h -- arrays that travel level by level; not installed.
 *
 * A level divides an array among its ranks, the next level divides the share of this rank, and so on;
 * so a rank has one share in the end. */
#ifndef EDDY_DISTRIBUTED_EXCHANGE_H
#define EDDY_DISTRIBUTED_EXCHANGE_H

#include "distributed/internal.h"

typedef struct eddy_share {
    int64_t from, count;             /* elements */
} eddy_share;

/* Share i of n. */
eddy_share eddy__even_share(eddy_share whole, int n, int i);
/* What level l divides, of an array whose shares are even; of level n_levels, this rank's share. */
eddy_share eddy__share_before(const eddy_communicator *c, int64_t count, int l);

/* At a level, whether a rank differs from the root in digits of lower levels at most. */
bool eddy__is_near(const eddy_level *at, int rank, int root);

/* Who wants the shares of others: all ranks; the root; or all that did not have them from the root. */
typedef enum eddy_spread { EDDY_TO_ALL, EDDY_TO_ROOT, EDDY_FROM_ROOT } eddy_spread;

/* Sends shares that ranks have at their places in `data`, the last level first. Messages of the first
 * level are still under way at the end. */
bool eddy__begin_spreading(eddy_call *call, void *data, int64_t count, size_t size, eddy_spread how,
                           int root);
/* Sends shares of the root's data to all ranks. */
bool eddy__scatter(eddy_call *call, void *data, int64_t count, size_t size, int root);

#endif
