/* rule_steps.c -- steps that rules of several families take. */
#include "rules.h"

const char *eddy__part_transpose(onnx_part *p, const char *x, int rank, const int64_t *perm)
{
    bool same = true;
    for (int i = 0; i < rank; i++) same = same && perm[i] == i;
    if (same) return x;
    onnx_call c = eddy__call(p, "Transpose", 1, &x);
    eddy__call_ints(&c, "perm", rank, perm);
    return eddy__call_end(&c);
}

const char *eddy__part_reshape(onnx_part *p, const char *x, const char *shape)
{
    const char *const in[] = { x, shape };
    onnx_call c = eddy__call(p, "Reshape", 2, in);
    eddy__call_int(&c, "allowzero", 1);
    return eddy__call_end(&c);
}

const char *eddy__part_filled(onnx_part *p, eddy_dtype d, double v, const char *shape)
{
    return eddy__part_binary(p, "Expand", eddy__part_number(p, d, v), shape);
}

const char *eddy__part_concat(onnx_part *p, int64_t axis, int n, const char *const *in)
{
    if (n == 1) return in[0];
    onnx_call c = eddy__call(p, "Concat", n, in);
    eddy__call_int(&c, "axis", axis);
    return eddy__call_end(&c);
}

const char *eddy__part_sum(onnx_part *p, const char *x, int n, const int64_t *axes, bool keep)
{
    const char *const in[] = { x, eddy__part_ints(p, n, axes) };
    onnx_call c = eddy__call(p, "ReduceSum", 2, in);
    eddy__call_int(&c, "keepdims", keep);
    eddy__call_int(&c, "noop_with_empty_axes", 1);
    return eddy__call_end(&c);
}

const char *eddy__part_reduce(onnx_part *p, const char *op, const char *x, int n,
                              const int64_t *axes, bool keep)
{
    if (n == 0) return eddy__part_unary(p, "Identity", x);
    onnx_call c = eddy__call(p, op, 1, &x);
    eddy__call_ints(&c, "axes", n, axes);
    eddy__call_int(&c, "keepdims", keep);
    return eddy__call_end(&c);
}

const char *eddy__part_unsqueeze(onnx_part *p, const char *x, int n, const int64_t *axes)
{
    return n == 0 ? x : eddy__part_binary(p, "Unsqueeze", x, eddy__part_ints(p, n, axes));
}

int eddy__part_axes(const onnx_part *p, int rank, int64_t axes[EDDY_MAX_RANK])
{
    const eddy_dims d = eddy__part_dims(p, "axes");
    int             n = 0;
    for (int i = 0; i < rank && d.count == 0; i++) axes[n++] = i;
    for (int i = 0; i < d.count; i++) axes[n++] = d.at[i] < 0 ? d.at[i] + rank : d.at[i];
    return n;
}
