/* kept_list.h -- the list of kept checkpoints in a folder: a line for each, with the step and the
 * metric. */
#ifndef EDDY_SESSION_CHECKPOINTS_KEPT_LIST_H
#define EDDY_SESSION_CHECKPOINTS_KEPT_LIST_H

#include "session/checkpoints/internal.h"

enum { EDDY_MOST_KEPT = 10000 };         /* `last` is below it */

typedef struct kept {
    int64_t step;
    double  metric;                      /* NaN: none */
    bool    dropped;                     /* to be removed */
} kept;

typedef struct kept_list {
    const eddy_allocator *allocator;
    kept                 *at;            /* in order of saving */
    int                   n, capacity;
    bool                  larger_is_better;
} kept_list;

/* Fills an empty list from the file; without a file it stays empty. */
bool eddy__kept_list_read(kept_list *l, const eddy_files *files, const char *path, eddy_error *e);
bool eddy__kept_list_write(const kept_list *l, const eddy_files *files, const char *path,
                           eddy_error *e);
/* Adds the newest checkpoint, instead of one of the same step. */
bool eddy__kept_list_add(kept_list *l, kept k, const char *path, eddy_error *e);
void eddy__kept_list_free(kept_list *l);

#endif
