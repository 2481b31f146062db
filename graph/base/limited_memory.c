/* limited_memory.c -- see limited_memory.h. */
#include "graph/base/limited_memory.h"

static void *allocate(void *context, size_t size)
{
    eddy_limited_memory *m = context;
    if (m->limit > 0 && (size > m->limit || m->bytes > m->limit - size)) {
        m->refused = true;
        return NULL;
    }
    void *p = m->from->allocate(m->from->context, size);
    if (p) m->bytes += size;
    return p;
}

static void release(void *context, void *p, size_t size)
{
    eddy_limited_memory *m = context;
    if (p) m->bytes -= size;
    m->from->release(m->from->context, p, size);
}

eddy_allocator eddy__limited_allocator(eddy_limited_memory *m)
{
    return (eddy_allocator){ allocate, release, m };
}

eddy_allocator eddy__unlimited(const eddy_allocator *a)
{
    return a->release == release ? *((const eddy_limited_memory *)a->context)->from : *a;
}
