/* extract.h -- the part of a graph between chosen tensors as a graph of its own: to save a trained
 * model, and to run it elsewhere. */
#ifndef EDDY_SESSION_EXTRACT_H
#define EDDY_SESSION_EXTRACT_H

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What .quantize did. */
typedef struct eddy_quantize_report {
    int      n_quantized, n_left;   /* large matrices and other arrays in 8 bits, and in float32 */
    int64_t  bytes, bytes_before;   /* of all weights: float32 constants, and what replaced them */
    char    *text;                  /* a line for each; free with eddy_string_free */
} eddy_quantize_report;

typedef struct eddy_extract_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_extract_args));
    eddy_list    outputs;         /* tensors or operations of one graph */
    eddy_list    inputs;          /* tensors that become placeholders; default: no cut */
    const char  *input_names;     /* of the placeholders: "pixels, mask"; default: as they were */
    const char  *output_names;    /* likewise, of the outputs */
    eddy_feeds   values;          /* tensors that become constants: a `training` that is false */
    eddy_replacements replace;    /* tensors, and others of the graph in their place */
    bool         open_batch;      /* the first dimension of the inputs becomes unknown */
    bool         without_effects; /* drop control edges to updates, prints and assertions */
    eddy_session *freeze;         /* variables become constants with their values in this session */
    eddy_list    keep;            /* variables that stay variables nevertheless */
    /* what has become constant is computed if its value has at most so many bytes; 0: nothing is */
    int64_t      fold_bytes EDDY_DEFAULT(65536);
    eddy_tensor *new_inputs, *new_outputs;  /* receive the tensors of the new graph; default: none */
    const eddy_allocator *allocator;        /* of the new graph; default: that of the old one */
    const eddy_files     *files;            /* likewise */
    eddy_error  *error;           /* receives the error; default: nothing */
    bool         quantize;        /* constant matrices become 8-bit values with scales */
    int64_t      quantize_group EDDY_DEFAULT(EDDY_OMITTED);  /* rows with one scale; default: all */
    eddy_quantize_report *quantized;        /* default: none */
} eddy_extract_args;

/* A new graph with the nodes that the outputs need, which the caller frees; NULL on an error. The
 * old graph is not changed, and its sessions may run meanwhile.
 *
 *   eddy_graph *model = eddy_extract(EDDY_LIST(probabilities), .inputs = EDDY_LIST(pixels),
 *                                    .values = EDDY_FEED({ training, EDDY_NUMBER(EDDY_BOOL, 0) }),
 *                                    .freeze = session);
 *   eddy_graph_save(model, "model.yaml", NULL);
 *
 *  inputs        any tensors: each becomes a placeholder of its type and shape, and what it was
 *                computed from is left out.  All placeholders that the outputs need must then be
 *                among them or among `values`, except those with a default
 *  values        arrays of the tensors' types and of compatible shapes, which are copied
 *  replace       pairs of equal types and compatible shapes; what takes the place must not depend
 *                on a replaced tensor
 *  open_batch    shapes that depend on the inputs are inferred again, also in loops, branches and
 *                their gradients.  Reshapes to a fixed number of examples get -1 in its place; any
 *                other node that does not work with another number of examples is an error that
 *                names it.  Slices of a fixed number of rows, and numbers that your program computed
 *                from the batch size, stay
 *  without_effects  the values of updates, and of reads after updates, cannot be outputs then
 *  freeze        the session may be training in another thread: the values are from one moment
 *
 * Names are kept; a node whose name an input takes gets another one. The collections
 * EDDY_MODEL_INPUTS and EDDY_MODEL_OUTPUTS of the new graph have its inputs, or all placeholders if
 * none were given, and its outputs. Types, shapes, devices, the seed of the graph and other
 * collections are kept, as far as their nodes are. Variables bring their initializers and
 * constraints, and a checkpoint of the old graph can be restored. Nodes with side effects for which
 * the outputs wait are kept, unless .without_effects; other updates, gradients and optimizers are
 * not. Loops and branches are copied with all that they need.
 *
 * Nodes that have become constant by .values and .freeze are simplified: they are computed, up to
 * fold_bytes; an eddy_where or a branch (eddy_cond) with a constant condition is replaced by the
 * operand or branch that it selects; a convolution whose channels are multiplied by constants, as by
 * batch normalization, gets a filter with these factors, which changes last bits; and nodes that are
 * then not needed are dropped. An eddy_where stays if its operands may have different shapes even
 * where all inputs have the same first dimension.
 *
 * With .quantize, which is for inference, products with constant float32 matrices, such as frozen
 * weights, become products with 8-bit values (eddy_quantized_matmul), which also quantize the
 * activations: results change in the third digit. So do gathers of rows (embeddings), with a scale
 * for each row. A matrix of fewer than 1024 elements stays as it is, and so does one that another
 * operation reads, a loop or a convolution for example: `quantized` names each and the reason. Where
 * .quantize_group does not divide the number of rows, the largest divisor below it is taken, or one
 * scale for a column if that divisor is less than a quarter of it.
 *
 * Random operations with a `seed` draw the same numbers as in the old graph; others draw other
 * numbers, because their seed is their place in the graph, and so do those of a branch that takes
 * the place of its node. Registered gradients are kept by name and not by function, as in files:
 * register them in the new graph to differentiate it.
 *
 * Errors: EDDY_INVALID_ARGUMENT without outputs, for tensors of different graphs or inside the
 * function of a loop, for an input that no output needs, for a placeholder that is left over, for
 * wrong names, for replacements that depend on each other, for updates of frozen variables, for a
 * quantize_group below 1;
 * EDDY_BAD_DTYPE, EDDY_BAD_SHAPE for values and replacements, and for a number of examples that is
 * fixed; EDDY_UNINITIALIZED for frozen variables; EDDY_CLOSED; the error of the graph, if it has
 * one; EDDY_NO_MEMORY. TensorFlow: graph_util.extract_sub_graph, convert_variables_to_constants. */
EDDY_API eddy_graph *eddy_extract_with(const eddy_extract_args *given);
#define eddy_extract(...) eddy_extract_with(EDDY_ARGS(eddy_extract_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
