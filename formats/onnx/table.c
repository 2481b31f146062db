/* table.c -- the operators of all files. */
#include "build.h"

#include <string.h>

static const onnx_operator *const tables[] = {
    eddy__onnx_math,
    eddy__onnx_arrays,
    eddy__onnx_shapes,
    eddy__onnx_reduce,
    eddy__onnx_linear,
    eddy__onnx_indexing,
    eddy__onnx_conv,
    eddy__onnx_pool,
    eddy__onnx_norm,
    eddy__onnx_losses,
    eddy__onnx_sequences,
    eddy__onnx_quantized,
    eddy__onnx_rnn,
    eddy__onnx_random,
    eddy__onnx_signal,
    eddy__onnx_branch,
    eddy__onnx_loop,
    eddy__onnx_scan,
    eddy__onnx_resize,
    eddy__onnx_training,
    eddy__onnx_sampling,
    eddy__onnx_regions,
    eddy__onnx_grams,
    eddy__onnx_attention,
    eddy__onnx_conv_transpose,
    eddy__onnx_deform_conv,
};

const onnx_operator *eddy__onnx_find(const char *domain, const char *name, int version)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const onnx_operator *o = tables[t]; o->name; o++)
            if (strcmp(o->name, name) == 0 && strcmp(o->domain ? o->domain : "", domain) == 0 &&
                o->since <= version)
                return o;
    return NULL;
}
