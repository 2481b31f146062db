/* losses.c -- losses over classes, which are axis 1. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <string.h>

/* From log probabilities: -w[t] x[t], 0 where t is ignored; the mean is weighted. */
static eddy_tensor likelihood(onnx_build *b, eddy_tensor x)
{
    eddy_tensor       t = eddy__onnx_in(b, 1);
    const bool        ignores = eddy__onnx_attr(b, "ignore_index") != NULL;
    const char       *how = eddy__onnx_text(b, "reduction", "mean");
    const eddy_tensor ignored = Equal(t, (double)eddy__onnx_int(b, "ignore_index", -1));
    if (ignores) t = Where(ignored, ZerosLike(t), t);
    const eddy_tensor at = ExpandDims(t, 1);
    const eddy_tensor picked = Squeeze(eddy_take_along(x, at, 1), EDDY_AXES(1));
    eddy_tensor w = eddy__onnx_has(b, 2) ? eddy_gather(eddy__onnx_in(b, 2), t) : OnesLike(picked);
    if (ignores) w = Where(ignored, ZerosLike(w), w);
    const eddy_tensor loss = Neg(Mul(w, picked));
    if (strcmp(how, "none") == 0) return loss;
    if (strcmp(how, "sum") == 0) return Sum(loss);
    return Div(Sum(loss), Sum(w));
}

static bool nll(onnx_build *b) { return eddy__onnx_put(b, 0, likelihood(b, eddy__onnx_in(b, 0))); }

static bool softmax_cross_entropy(onnx_build *b)
{
    const eddy_tensor x = LogSoftmax(eddy__onnx_in(b, 0), EDDY_AXES(1));
    eddy__onnx_put(b, 1, x);
    return eddy__onnx_put(b, 0, likelihood(b, x));
}

const onnx_operator eddy__onnx_losses[] = {
    { "NegativeLogLikelihoodLoss", 12, nll },
    { "SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy }, { NULL },
};
