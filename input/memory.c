/* memory.c -- see internal.h: memory and errors, of pipelines and readers. */
#include "internal.h"

#include <stdarg.h>
#include <string.h>

void *eddy__input_take(const eddy_allocator *a, size_t bytes)
{
    void *p = a->allocate && a->release ? a->allocate(a->context, bytes ? bytes : 1) : NULL;
    if (p) memset(p, 0, bytes);
    return p;
}

void eddy__input_give(const eddy_allocator *a, void *p, size_t bytes)
{
    if (p) a->release(a->context, p, bytes ? bytes : 1);
}

bool eddy__input_fail(eddy_error *e, eddy_status status, const char *format, ...)
{
    if (!e || e->status != EDDY_OK) return false;
    va_list args;
    va_start(args, format);
    e->status = status;
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return false;
}

bool eddy__input_no_memory(eddy_error *e)
{
    return eddy__input_fail(e, EDDY_NO_MEMORY, "dataset: out of memory");
}
