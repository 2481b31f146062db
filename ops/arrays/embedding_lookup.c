/* embedding_lookup.c -- embedding lookup: rows of a table selected by id. */
#include "ops/ops.h"
#include "graph/call_options.h"

#ifdef EDDY_HEADER
typedef struct eddy_embedding_lookup_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_embedding_lookup_args));
    eddy_tensor params;           /* [n,...] */
    eddy_tensor ids;              /* int32 or int64, any shape */
    const char *name;
} eddy_embedding_lookup_args;
#endif

/** y[...] = params[ids[...]], the row of each id: eddy_gather along the first axis.
 *
 *  params  any element type [n, ...]
 *  ids     int32 or int64, any shape; 0 <= id < n
 *
 *  Errors: as for eddy_gather.
 *  Gradient: eddy_indexed_slices, the rows of dy with their ids, so that an optimizer
 *  updates only those rows.  TensorFlow: tf.nn.embedding_lookup of one table. */
eddy_tensor eddy_embedding_lookup_with(const eddy_embedding_lookup_args *given)
{
    eddy_embedding_lookup_args a = EDDY_TAKE(eddy_embedding_lookup_args, given);
    return eddy_gather(a.params, a.ids, .name = a.name ? a.name : "embedding_lookup");
}
