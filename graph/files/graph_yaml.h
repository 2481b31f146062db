/* graph_yaml.h -- reading and writing graphs as YAML; not installed. docs/guide/graph-files.md
 * describes the format.
 *
 * Writing uses a fixed order, so that a graph that was read is written as the same bytes.
 * Reading appends node after node through eddy__append, and validates everything. */
#ifndef EDDY_GRAPH_FILES_GRAPH_YAML_H
#define EDDY_GRAPH_FILES_GRAPH_YAML_H

#include "graph/base/text.h"

enum {
    EDDY_YAML_VERSION = 1,
    EDDY_YAML_DEPTH   = 64,          /* collections inside one another */
    EDDY_YAML_GRAPHS  = 12,          /* graphs inside one another: four collections each */
    EDDY_YAML_ATTRS   = 256,         /* attributes of a node */
    EDDY_YAML_COLLECTIONS = 1024     /* of a graph */
};

/* A graph with an error is refused with that error. */
bool eddy__yaml_write(eddy_text *t, const eddy_graph *g, eddy_error *e);

typedef struct eddy_yaml_source {
    const char               *path; /* the file; if `text` is set, a name for messages */
    const char               *text;
    size_t                    size;      /* of text */
    const eddy_op_def *const *ops;       /* ended by NULL */
    const eddy_op_def *const *more_ops;  /* searched first; may be NULL */
    const eddy_allocator     *allocator; /* NULL: libc */
    const eddy_files         *files;     /* NULL: POSIX */
    int64_t                   max_bytes; /* of the file; 0: 1 GiB */
    int64_t                   max_nodes; /* of a graph; 0: 2^24 */
    int64_t                   max_items; /* scalars and collections of one node; 0: 2^22 */
} eddy_yaml_source;

/* NULL with *e set: "file:line:column: reason". */
eddy_graph *eddy__yaml_read(const eddy_yaml_source *source, eddy_error *e);

#endif
