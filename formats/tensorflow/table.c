/* table.c -- the operators of all files, and the names of their outputs. */
#include "build.h"

#include <string.h>

static const tf_operator *const tables[] = {
    eddy__tf_math,   eddy__tf_arrays, eddy__tf_shapes, eddy__tf_indexing, eddy__tf_reduce,
    eddy__tf_nets,   eddy__tf_images, eddy__tf_linear, eddy__tf_random,   eddy__tf_control,
    eddy__tf_lists,  eddy__tf_fused,  eddy__tf_variables, eddy__tf_frames,
};

const tf_operator *eddy__tf_find(const char *name)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const tf_operator *o = tables[t]; o->name; o++)
            if (strcmp(o->name, name) == 0) return o;
    return NULL;
}

int eddy__tf_output_number(const char *op, const char *output)
{
    /* Nodes in functions name outputs. One that is not here is the first, or a list. */
    static const struct { const char *op, *outputs[5]; } rows[] = {
        { "BroadcastGradientArgs", { "r0", "r1" } },
        { "FusedBatchNorm", { "y", "batch_mean", "batch_variance", "reserve_space_1" } },
        { "FusedBatchNormV2", { "y", "batch_mean", "batch_variance", "reserve_space_1" } },
        { "FusedBatchNormV3", { "y", "batch_mean", "batch_variance", "reserve_space_1" } },
        { "ListDiff", { "out", "idx" } },
        { "LogMatrixDeterminant", { "sign", "log_abs_determinant" } },
        { "Lu", { "lu", "p" } },
        { "MaxPoolWithArgmax", { "output", "argmax" } },
        { "Merge", { "output", "value_index" } },
        { "NonMaxSuppressionV4", { "selected_indices", "valid_outputs" } },
        { "NonMaxSuppressionV5", { "selected_indices", "selected_scores", "valid_outputs" } },
        { "Qr", { "q", "r" } },
        { "SelfAdjointEigV2", { "e", "v" } },
        { "SoftmaxCrossEntropyWithLogits", { "loss", "backprop" } },
        { "SparseSoftmaxCrossEntropyWithLogits", { "loss", "backprop" } },
        { "Svd", { "s", "u", "v" } },
        { "Switch", { "output_false", "output_true" } },
        { "TensorArrayV3", { "handle", "flow" } },
        { "TensorListPopBack", { "output_handle", "tensor" } },
        { "TopK", { "values", "indices" } },
        { "TopKV2", { "values", "indices" } },
        { "Unique", { "y", "idx" } },
        { "UniqueV2", { "y", "idx" } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].op, op) != 0) continue;
        for (int k = 0; rows[i].outputs[k]; k++)
            if (strcmp(rows[i].outputs[k], output) == 0) return k;
    }
    return 0;
}
