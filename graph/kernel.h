/* kernel.h -- the state of a kernel, as the library sees it; not installed. */
#ifndef EDDY_KERNEL_H
#define EDDY_KERNEL_H

#include "graph/internal.h"

/* eddy_kernel.impl. */
typedef struct eddy_kernel_call {
    const eddy_node *node;      /* named in messages */
    eddy_arena      *arena;     /* owns the memory that prepare allocates */
    eddy_error      *error;     /* where the kernel records why it failed */
} eddy_kernel_call;

/* As eddy_kernel_fail, for a message that names the call by itself: without the operation and the
 * types of its inputs. */
eddy_status eddy__kernel_fail_for_call(eddy_kernel *k, eddy_status s, const char *message);

#endif
