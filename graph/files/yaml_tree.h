/* yaml_tree.h -- YAML as trees of items, read incrementally; not installed.
 *
 * The parser is libyaml's. Features that a graph file does not need are errors: aliases,
 * anchors, tags, directives, and nesting beyond a limit. */
#ifndef EDDY_GRAPH_FILES_YAML_TREE_H
#define EDDY_GRAPH_FILES_YAML_TREE_H

#include <yaml.h>
#include "graph/files/graph_yaml.h"

typedef enum eddy_yaml_kind { EDDY_YAML_SCALAR, EDDY_YAML_LIST, EDDY_YAML_MAP } eddy_yaml_kind;

typedef struct eddy_yaml_item {
    eddy_yaml_kind         kind;
    bool                   plain;        /* a scalar without quotation marks */
    size_t                 line, column; /* from 1 */
    const char            *text;         /* of a scalar; contains no zero byte */
    size_t                 length;
    int64_t                count;        /* of children */
    struct eddy_yaml_item *first, *next; /* children; a map's are key, value, key, value */
} eddy_yaml_item;

typedef struct eddy_yaml_parser {
    yaml_parser_t           yaml;
    const eddy_yaml_source *source;
    const char             *name;        /* the file's name, for messages */
    eddy_error             *error;
    eddy_reader             file;
    eddy_arena              arena;       /* the items; the caller frees it between trees */
    int64_t                 max_bytes, max_items;
    int                     depth;
} eddy_yaml_parser;

/* Opens the source; to be closed in any case. */
bool eddy__yaml_open(eddy_yaml_parser *p, const eddy_yaml_source *source, eddy_error *e);
void eddy__yaml_close(eddy_yaml_parser *p);

/* The next event, which the caller deletes or passes to eddy__yaml_tree. */
bool eddy__yaml_next(eddy_yaml_parser *p, yaml_event_t *event);
/* The item that begins with `event`, which is deleted; NULL after an error. */
eddy_yaml_item *eddy__yaml_tree(eddy_yaml_parser *p, yaml_event_t *event);

/* Records an error with its position; returns false. */
bool eddy__yaml_fail_at(eddy_yaml_parser *p, size_t line, size_t column, eddy_status s,
                        const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool eddy__yaml_fail(eddy_yaml_parser *p, const eddy_yaml_item *at, eddy_status s, const char *fmt,
                     ...) __attribute__((format(printf, 4, 5)));

/* Looks up keys in a map: out[i] is the value of keys[i] or NULL. A key that is not among the n
 * keys or occurs twice is an error. */
bool eddy__yaml_fields(eddy_yaml_parser *p, const eddy_yaml_item *map, const char *const *keys,
                       int n, const eddy_yaml_item **out);
/* One scalar of each kind; NULL or another item is an error at `in`. */
bool eddy__yaml_string(eddy_yaml_parser *p, const eddy_yaml_item *it,
                       const char **out); /* also {base64: ...} */
bool eddy__yaml_integer(eddy_yaml_parser *p, const eddy_yaml_item *it, int64_t *out);
bool eddy__yaml_bool(eddy_yaml_parser *p, const eddy_yaml_item *it, bool *out);
bool eddy__yaml_type(eddy_yaml_parser *p, const eddy_yaml_item *it,
                     eddy_type *out); /* "float32[?,3]" */

/* Reads op's attributes from a map (NULL: none) into attrs, op->attrs_size zeroed bytes. Arrays
 * and graphs that were created are in attrs even after an error. */
typedef eddy_graph *eddy_yaml_graph_fn(void *context, const eddy_yaml_item *it);
bool eddy__yaml_attrs(eddy_yaml_parser *p, const eddy_op_def *op, const eddy_yaml_item *node,
                      const eddy_yaml_item *map, void *attrs, eddy_yaml_graph_fn *read_graph,
                      void *context);

#endif
