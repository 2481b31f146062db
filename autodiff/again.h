/* again.h -- the tensors of a graph that gradients compute again; not installed. */
#ifndef EDDY_AUTODIFF_AGAIN_H
#define EDDY_AUTODIFF_AGAIN_H

#include "autodiff/compute_again.h"

typedef struct eddy__again_item {
    eddy_tensor                     tensor;
    eddy_again                      again;
    void                           *context;
    const struct eddy__again_item  *next;
} eddy__again_item;

/* A tensor, the only output of its node, that a rule saw in place of an earlier one. Its gradient is part
 * of that one's. */
typedef struct eddy__again_copy {
    eddy_tensor                     tensor, of;
    const struct eddy__again_copy  *next;
} eddy__again_copy;

/* The items and the copies, newest first; NULL: none. */
const eddy__again_item *eddy__again_first(const eddy_graph *g);
const eddy__again_copy *eddy__again_copies(const eddy_graph *g);
/* Records a copy; false without memory. The graph has items. */
bool eddy__again_add(eddy_tensor tensor, eddy_tensor of);

#endif
