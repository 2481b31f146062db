/* largest_values.c -- which values of a plan take most memory, for messages. */
#include "session/state/internal.h"

#include <stdio.h>

enum { NAMED = 10 };

static bool is_counted(const plan_root *r)
{
    return (r->kind == VALUE_TEMP || r->kind == VALUE_RESULT) && r->first >= 0 && r->bytes > 0;
}

/* The node whose instruction computes the value. */
static const eddy_node *node_of(const eddy_plan *p, const plan_root *r)
{
    return r->first < p->n_code ? p->code[r->first].call.node : NULL;
}

/* The largest that is smaller than the one before, or as large and later. */
static int32_t next(const eddy_plan *p, int32_t before)
{
    int32_t best = -1;
    for (int32_t i = 0; i < p->n_roots; i++) {
        const plan_root *r = &p->roots[i], *b = before >= 0 ? &p->roots[before] : NULL;
        if (!is_counted(r) || (b && (r->bytes > b->bytes || (r->bytes == b->bytes && i <= before))))
            continue;
        if (best < 0 || r->bytes > p->roots[best].bytes) best = i;
    }
    return best;
}

const char *eddy__largest_values(const eddy_plan *p, char *text, size_t size)
{
    size_t  n = 0;
    int32_t at = -1;
    text[0] = 0;
    for (int k = 0; k < NAMED && (at = next(p, at)) >= 0 && n < size; k++) {
        const eddy_node *node = node_of(p, &p->roots[at]);
        n += (size_t)snprintf(text + n, size - n, "%s'%.50s' %llu",
                              k == 0 ? "; largest values: " : ", ", node ? node->name : "?",
                              (unsigned long long)p->roots[at].bytes);
    }
    return text;
}
