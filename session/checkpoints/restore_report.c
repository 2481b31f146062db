/* restore_report.c -- what a restore did: lists of names. */
#include "session/checkpoints/restoring.h"

#include <string.h>

static bool add_name(eddy_arena *a, const char **list, int *n, const char *name)
{
    list[*n] = eddy__arena_text(a, name, strlen(name));
    return list[(*n)++] != NULL;
}

void eddy__restore_report_fill(restoring *r, eddy_restore_report *out)
{
    eddy_arena *a = eddy__allocate_zeroed(&eddy__libc, 1, sizeof *a);
    const size_t n = (size_t)r->targets.count, all = (size_t)r->file->n_items;
    if (!a) {
        eddy__error_set(&r->error, EDDY_NO_MEMORY, "out of memory for names");
        return;
    }
    a->allocator = &eddy__libc;
    const char **restored = eddy__arena_alloc(a, n * sizeof *restored);
    const char **missing = eddy__arena_alloc(a, n * sizeof *missing);
    const char **left = eddy__arena_alloc(a, all * sizeof *left);
    bool         ok = restored && missing && left;
    *out = (eddy_restore_report){ .restored = restored, .missing = missing, .left_over = left,
                                  .memory_ = a };
    for (size_t i = 0; ok && i < n; i++) {
        const checkpoint_target *v = &r->targets.at[i];
        if (v->value && r->error.status == EDDY_OK)
            ok = add_name(a, restored, &out->n_restored, v->node->name);
        else if (r->missing[i]) ok = add_name(a, missing, &out->n_missing, v->node->name);
    }
    for (size_t i = 0; ok && i < all; i++)
        if (!r->used[i]) ok = add_name(a, left, &out->n_left_over, r->file->items[i].name);
    if (!ok) eddy__error_set(&r->error, EDDY_NO_MEMORY, "out of memory for names");
}

void eddy_restore_report_free(eddy_restore_report *r)
{
    if (!r) return;
    if (r->memory_) eddy__arena_free(r->memory_);
    eddy__release(&eddy__libc, r->memory_, sizeof(eddy_arena));
    *r = (eddy_restore_report){ .memory_ = NULL };
}
