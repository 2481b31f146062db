/* call_options.c -- taking over the options of a call: graph/options.h says what they are. */
#include "graph/call_options.h"
#include "graph/internal.h"

#include <string.h>

/* Lists and tensors both begin with a pointer and a number that is 0 in none of them. */
_Static_assert(offsetof(eddy_dims, no_number_) == offsetof(eddy_tensor, graph) &&
               offsetof(eddy_dims, count) == offsetof(eddy_tensor, node) &&
               sizeof(int) == sizeof(int32_t), "eddy__take reads both alike");

static void settle(char *member, bool inside)
{
    intptr_t first;
    int32_t  number;
    memcpy(&first, member, sizeof first);
    memcpy(&number, member + offsetof(eddy_tensor, node), sizeof number);
    if (first == EDDY_OMITTED) first = 0;
    else if (first == 0 && number == 0 && !inside) first = EDDY_IS_ZERO;
    memcpy(member, &first, sizeof first);
}

static size_t size_of(const void *options)
{
    size_t size = 0;
    if (options) memcpy(&size, options, sizeof size);
    return size;
}

void eddy_copy_options(void *options, const void *given)
{
    const size_t own = size_of(options) & ~EDDY_INSIDE_SIZE;
    size_t       size = size_of(given) & ~EDDY_INSIDE_SIZE;
    if (size > own) size = own;
    size -= size % sizeof size;           /* no part of a pointer */
    if (size > sizeof size)
        memcpy((char *)options + sizeof size, (const char *)given + sizeof size,
               size - sizeof size);
}

void *eddy__take(void *options, const void *given, const size_t *offsets)
{
    const bool   inside = (size_of(given) & EDDY_INSIDE_SIZE) != 0;
    const size_t own = size_of(options) | EDDY_INSIDE_SIZE;
    eddy_copy_options(options, given);
    for (; *offsets; offsets++) settle((char *)options + *offsets, inside);
    memcpy(options, &own, sizeof own);
    return options;
}

double eddy__attribute_number(double option)
{
    return option == EDDY_OMITTED ? 0 : option == 0 ? -0.0 : option;
}

bool eddy__attribute_count(eddy_graph *g, const char *what, int64_t option, int64_t *attribute)
{
    *attribute = option == EDDY_OMITTED ? 0 : option;
    if (option != 0) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s is 0; expected a positive number, or none", what);
    return false;
}
