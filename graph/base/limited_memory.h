/* limited_memory.h -- an allocator with a limit on the bytes that it has given out. */
#ifndef EDDY_GRAPH_BASE_LIMITED_MEMORY_H
#define EDDY_GRAPH_BASE_LIMITED_MEMORY_H

#include "graph/base/base.h"

/* The allocator that gives the memory must outlive what it has given; the limit need not outlive
 * blocks that are released by eddy__unlimited. */
typedef struct eddy_limited_memory {
    const eddy_allocator *from;
    size_t                bytes, limit;     /* 0: none */
    bool                  refused;
} eddy_limited_memory;

eddy_allocator eddy__limited_allocator(eddy_limited_memory *m);
/* The allocator that gives the memory of a; a itself if it has no such limit. */
eddy_allocator eddy__unlimited(const eddy_allocator *a);

#endif
