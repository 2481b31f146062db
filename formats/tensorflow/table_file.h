/* table_file.h -- the sorted pairs of keys and values of a LevelDB table, as checkpoints have them:
 * a footer points to an index block, whose values point to blocks of pairs. */
#ifndef EDDY_FORMATS_TENSORFLOW_TABLE_FILE_H
#define EDDY_FORMATS_TENSORFLOW_TABLE_FILE_H

#include "../region.h"

typedef struct table_pair {
    const char *key;
    wire_bytes  value;          /* a view of the file */
} table_pair;

/* All pairs. False with the problem, and the place in *at; region->full if out of memory. */
bool eddy__table_read(region *r, wire_bytes file, table_pair **pairs, size_t *count,
                      const char **problem, size_t *at);

#endif
