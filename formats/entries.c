/* entries.c -- see entries.h. */
#include "entries.h"

#include "call_options.h"

#include <stdlib.h>

eddy_foreign_checkpoint_args eddy__entries_options(const eddy_foreign_checkpoint_args *given)
{
    eddy_foreign_checkpoint_args a = { eddy_foreign_checkpoint_args_DEFAULTS .size_ = sizeof a };
    eddy__copy_options(&a, given);
    if (a.error) *a.error = (eddy_error){ 0 };
    return a;
}

void eddy__entries_free(void *context)
{
    entries *e = context;
    if (!e) return;
    for (int i = 0; e->files && i < e->n_files; i++) eddy__source_release(e->files[i]);
    eddy__region_free(&e->memory);
    free(e);
}

eddy_checkpoint *eddy__entries_checkpoint(entries *e,
                                          eddy_array *(*value)(void *context, int i,
                                                               eddy_error *error),
                                          eddy_error *error)
{
    return eddy_checkpoint_new(e->at, e->count, value, eddy__entries_free, e, error);
}
