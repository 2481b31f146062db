/* entries.c -- see entries.h. */
#include "entries.h"


#include <stdlib.h>

eddy_foreign_checkpoint_args eddy__entries_options(const eddy_foreign_checkpoint_args *given)
{
    eddy_foreign_checkpoint_args a = { eddy_foreign_checkpoint_args_DEFAULTS .size_ = sizeof a };
    eddy_copy_options(&a, given);
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

eddy_checkpoint *eddy__entries_open(const eddy_foreign_checkpoint_args *given, const char *who,
                                    entries_read *read,
                                    eddy_array *(*value)(void *context, int i, eddy_error *error))
{
    const eddy_foreign_checkpoint_args a = eddy__entries_options(given);
    const char *path = a.path ? a.path : "";
    entries    *e = calloc(1, sizeof *e);
    if (e) e->files = eddy__region_take(&e->memory, 1, sizeof *e->files);
    bool ok = e && e->files;
    if (!ok) eddy__format_fail(a.error, EDDY_NO_MEMORY, "%.300s: out of memory", path);
    else if (!a.path)
        ok = eddy__format_fail(a.error, EDDY_INVALID_ARGUMENT, "%s: no path is given", who);
    if (ok) {
        e->n_files = 1;
        e->files[0] = eddy__source_read(a.path, a.files, a.max_bytes, a.error);
        ok = e->files[0] && read(e, a.path, eddy__source_bytes(e->files[0]), a.error);
    }
    if (ok) return eddy__entries_checkpoint(e, value, a.error);
    eddy__entries_free(e);
    return NULL;
}
