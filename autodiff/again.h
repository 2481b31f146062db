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

/* The items, newest first; NULL: none. */
const eddy__again_item *eddy__again_first(const eddy_graph *g);

#endif
