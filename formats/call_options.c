/* call_options.c -- see call_options.h. */
#include "call_options.h"

#include "formats.h"

#include <string.h>

void eddy__copy_options(void *options, const void *given)
{
    size_t own, size = 0;
    memcpy(&own, options, sizeof own);
    if (given) memcpy(&size, given, sizeof size);
    size &= ~EDDY_INSIDE_SIZE;
    if (size > own) size = own;
    size -= size % sizeof size;           /* no part of a pointer */
    if (size > sizeof size)
        memcpy((char *)options + sizeof size, (const char *)given + sizeof size,
               size - sizeof size);
}
