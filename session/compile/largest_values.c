/* largest_values.c -- which values take most memory, for messages. */
#include "session/state/internal.h"

#include <stdio.h>

enum { NAMED = 10 };

/* The largest that is smaller than the one before, or as large and later. */
static int32_t next(sized_value_fn *at, const void *of, int32_t n, int32_t before)
{
    const uint64_t most = before >= 0 ? at(of, before).bytes : UINT64_MAX;
    uint64_t       largest = 0;
    int32_t        best = -1;
    for (int32_t i = 0; i < n; i++) {
        const uint64_t bytes = at(of, i).bytes;
        if (bytes <= largest || bytes > most || (bytes == most && i <= before)) continue;
        largest = bytes;
        best = i;
    }
    return best;
}

const char *eddy__name_largest(sized_value_fn *at, const void *of, int32_t n, char *text,
                               size_t size)
{
    size_t  end = 0;
    int32_t i = -1;
    text[0] = 0;
    for (int k = 0; k < NAMED && (i = next(at, of, n, i)) >= 0; k++) {
        const sized_value v = at(of, i);
        const int         more = snprintf(text + end, size - end, "%s'%.50s' %llu",
                                          k == 0 ? "; largest values: " : ", ",
                                          v.node ? v.node->name : "?", (unsigned long long)v.bytes);
        if ((size_t)more >= size - end) {
            text[end] = 0;
            break;
        }
        end += (size_t)more;
    }
    return text;
}

/* Value i of a plan, with the node whose instruction computes it. */
static sized_value value_of_plan(const void *plan, int32_t i)
{
    const eddy_plan *p = plan;
    const plan_root *r = &p->roots[i];
    if ((r->kind != VALUE_TEMP && r->kind != VALUE_RESULT) || r->first < 0)
        return (sized_value){ 0 };
    return (sized_value){ r->first < p->n_code ? p->code[r->first].call.node : NULL, r->bytes };
}

const char *eddy__largest_values(const eddy_plan *p, char *text, size_t size)
{
    return eddy__name_largest(value_of_plan, p, p->n_roots, text, size);
}
