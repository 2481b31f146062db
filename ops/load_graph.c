/* load_graph.c -- reading graph files: eddy_graph_load, which needs every operation. */
#include <string.h>
#include "graph/files/graph_yaml.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
typedef struct eddy_graph_load_args {
    size_t                    size_ EDDY_DEFAULT(sizeof(eddy_graph_load_args));
    const char               *path;      /* of the file; with `text`, only used in messages */
    const char               *text;      /* or the text itself, zero-terminated */
    const eddy_op_def *const
        *ops; /* custom operations, NULL-terminated; searched before the built-in ones */
    const eddy_allocator     *allocator; /* of the graph; default libc */
    const eddy_files         *files;     /* of the graph; default POSIX */
    int64_t                   max_bytes EDDY_DEFAULT(1073741824); /* of the text; default 1 GiB */
    /* default 2^24, the maximum of a graph */
    int64_t                   max_nodes EDDY_DEFAULT(16777216);
    /* values and lists in one node; default 2^22 */
    int64_t                   max_items EDDY_DEFAULT(4194304);
    eddy_error               *error;
} eddy_graph_load_args;

/* Reads a graph that eddy_graph_save wrote; the caller frees it.  Returns NULL if the file
 * deviates in any way from what eddy_graph_save writes, since it may come from an untrusted
 * source; the error has the form "file:line:column: what".
 *   eddy_graph_load("model.yaml", .error = &e) */
EDDY_API eddy_graph *eddy_graph_load_with(const eddy_graph_load_args *given);
#define eddy_graph_load(...) eddy_graph_load_with(EDDY_ARGS(eddy_graph_load_args, __VA_ARGS__))
#endif

eddy_graph *eddy_graph_load_with(const eddy_graph_load_args *given)
{
    eddy_graph_load_args args = EDDY_TAKE(eddy_graph_load_args, given);
    eddy_error       e = { 0 };
    eddy_yaml_source source = {
        .path = args.path,
        .text = args.text,
        .size = args.text ? strlen(args.text) : 0,
        .ops = eddy_op_table,
        .more_ops = args.ops,
        .allocator = args.allocator,
        .files = args.files,
        .max_bytes = args.max_bytes,
        .max_nodes = args.max_nodes,
        .max_items = args.max_items,
    };
    eddy_graph *g = NULL;
    const eddy_allocator *a = args.allocator;
    if (a && (!a->allocate || !a->release))
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT,
                        "graph_load: the allocator has no allocate or no release function");
    else if (!args.path && !args.text)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT, "graph_load: no path or text is given");
    else if (args.max_bytes < 1 || args.max_nodes < 1 || args.max_items < 1)
        eddy__error_set(&e, EDDY_INVALID_ARGUMENT,
                        "graph_load: max_bytes, max_nodes and max_items must be positive");
    else g = eddy__yaml_read(&source, &e);
    if (!g) eddy__error_set(args.error, e.status, "%s", e.message);
    return g;
}
