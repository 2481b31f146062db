/* saving.h -- what a call writes: entries with their values, and metadata. */
#ifndef EDDY_SESSION_CHECKPOINTS_SAVING_H
#define EDDY_SESSION_CHECKPOINTS_SAVING_H

#include "session/checkpoints/internal.h"

typedef struct saved_entries {
    const eddy_allocator  *allocator;
    const char           **names;
    eddy_array           **arrays;       /* with a reference of their own */
    int                    n, capacity;
    eddy_safetensors_text *metadata;
    int                    n_metadata, metadata_capacity;
    bool                  *complex;      /* by entry */
} saved_entries;

/* Writes the files of an index and then the index (shards.c). */
bool eddy__write_shards(const eddy_files *files, const char *path, const saved_entries *x,
                        int64_t shard_bytes, eddy_error *e);

#endif
