/* entries.h -- what the readers of checkpoints share: a list of entries with their files in memory,
 * as a checkpoint of Eddy. */
#ifndef EDDY_FORMATS_ENTRIES_H
#define EDDY_FORMATS_ENTRIES_H

#include "formats.h"
#include "region.h"
#include "source.h"

typedef struct entries {
    region                 memory;
    source               **files;
    int                    n_files;
    eddy_checkpoint_entry *at;          /* in `memory` */
    int                    count;
    void                  *details;     /* of the format */
} entries;

/* The options of a call, with defaults; *error is cleared. */
eddy_foreign_checkpoint_args eddy__entries_options(const eddy_foreign_checkpoint_args *given);
/* Makes a checkpoint of entries, which were allocated with calloc; NULL with the error, after they
 * were freed. */
eddy_checkpoint *eddy__entries_checkpoint(entries *e,
                                          eddy_array *(*value)(void *context, int i, eddy_error *error),
                                          eddy_error *error);
void eddy__entries_free(void *context);

/* Opens a checkpoint that is one file, which `read` makes entries of: false with the error. `who`
 * is the call, for messages. */
typedef bool entries_read(entries *e, const char *path, wire_bytes file, eddy_error *error);
eddy_checkpoint *eddy__entries_open(const eddy_foreign_checkpoint_args *given, const char *who,
                                    entries_read *read,
                                    eddy_array *(*value)(void *context, int i, eddy_error *error));

#endif
