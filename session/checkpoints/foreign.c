/* foreign.c -- checkpoints of formats that the core does not know: another library reads them. */
#include "graph/call_options.h"
#include "session/checkpoints/internal.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const checkpoint_item *)a)->name, ((const checkpoint_item *)b)->name);
}

/* The entries, sorted, as items. */
static bool take_entries(eddy_checkpoint *c, eddy_error *e)
{
    const eddy_checkpoint_new_args *r = &c->reader;
    if (r->count < 0 || (r->count > 0 && (!r->entries || !r->value)))
        return eddy__error_set(
            e, EDDY_INVALID_ARGUMENT,
            "checkpoint_new: the entries or the function for values are missing");
    c->items = eddy__allocate_zeroed(c->allocator, (size_t)r->count, sizeof *c->items);
    if (!c->items) return eddy__error_set(e, EDDY_NO_MEMORY, "out of memory");
    c->n_items = r->count;
    for (int i = 0; i < r->count; i++) {
        if (!r->entries[i].name)
            return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                                   "checkpoint_new: entry %d has no name", i);
        c->items[i] = (checkpoint_item){ .name = r->entries[i].name, .reader = r, .number = i };
    }
    if (c->n_items > 1) qsort(c->items, (size_t)c->n_items, sizeof *c->items, by_name);
    for (int i = 1; i < c->n_items; i++)
        if (strcmp(c->items[i - 1].name, c->items[i].name) == 0)
            return eddy__error_set(e, EDDY_INVALID_ARGUMENT,
                                   "checkpoint_new: there are two entries '%.200s'",
                                   c->items[i].name);
    return true;
}

eddy_checkpoint *eddy_checkpoint_new_with(const eddy_checkpoint_new_args *given)
{
    const eddy_checkpoint_new_args a = EDDY_TAKE(eddy_checkpoint_new_args, given);
    eddy_checkpoint *c = eddy__allocate_zeroed(&eddy__libc, 1, sizeof *c);
    if (!c) {
        if (a.free) a.free(a.context);
        eddy__error_set(a.error, EDDY_NO_MEMORY, "out of memory");
        return NULL;
    }
    c->allocator = &eddy__libc;
    c->reader = a;
    if (take_entries(c, a.error)) return c;
    eddy_checkpoint_free(c);
    return NULL;
}
