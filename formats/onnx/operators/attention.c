/* attention.c -- Attention and RotaryEmbedding of operator set 23. */
#include "../build.h"
#include "../../../ops/short_names.h"

#include <math.h>

/* [batch, steps, heads size] as [batch, heads, steps, size]. */
static eddy_tensor split_heads(onnx_build *b, eddy_tensor x, int64_t heads)
{
    const eddy_shape s = eddy_shape_of(x);
    if (s.rank == 4) return x;
    if (s.rank != 3 || s.dim[2] < 0 || heads < 1 || s.dim[2] % heads) {
        eddy__onnx_missing(b, "the last dimension must be known and a multiple of the heads");
        return x;
    }
    if (s.dim[0] >= 0 || s.dim[1] >= 0)
        x = Reshape(x, EDDY_SHAPE(s.dim[0], s.dim[1], heads, s.dim[2] / heads));
    else
        x = eddy_unflatten_like(
            x, eddy_zeros(b->graph, EDDY_FLOAT32, EDDY_SHAPE(heads, s.dim[2] / heads)), 2, 0);
    return Transpose(x, EDDY_DIMS(0, 2, 1, 3));
}

/* Groups of query heads share a head of keys and values. */
static eddy_tensor shared_heads(onnx_build *b, eddy_tensor x, int64_t heads)
{
    const int64_t own = eddy_shape_of(x).dim[1];
    if (own == heads) return x;
    if (own < 1 || heads < 1 || heads % own) {
        eddy__onnx_missing(b, "the heads of the queries must be a multiple of those of the keys");
        return x;
    }
    return eddy_repeat(x, eddy_number(b->graph, EDDY_INT32, (double)(heads / own)), EDDY_AXES(1));
}

static eddy_tensor bias_of(onnx_build *b, eddy_tensor like)
{
    const eddy_tensor mask = eddy__onnx_in(b, 3);
    if (eddy_dtype_of(mask) != EDDY_BOOL) return CastLike(mask, like);
    const eddy_tensor zero = NumberLike(0, like);
    return Where(mask, zero, NumberLike(-HUGE_VAL, like));
}

static bool attention(onnx_build *b)
{
    const int64_t heads = eddy__onnx_int(b, "q_num_heads", 0),
                  kv = eddy__onnx_int(b, "kv_num_heads", heads);
    const bool    flat = eddy__onnx_rank(b, 0) == 3;
    eddy_tensor   q = split_heads(b, eddy__onnx_in(b, 0), heads),
                k = split_heads(b, eddy__onnx_in(b, 1), kv);
    eddy_tensor   v = split_heads(b, eddy__onnx_in(b, 2), kv);
    if (b->reason) return false;
    if (eddy__onnx_wants(b, 3))
        return eddy__onnx_missing(b, "the products of queries and keys cannot be an output");
    if (eddy__onnx_float(b, "softcap", 0) != 0)
        return eddy__onnx_missing(b, "softcap is not supported");
    if (eddy__onnx_has(b, 4)) k = eddy_concat(EDDY_LIST(eddy__onnx_in(b, 4), k), 2);
    if (eddy__onnx_has(b, 5)) v = eddy_concat(EDDY_LIST(eddy__onnx_in(b, 5), v), 2);
    const eddy_tensor present_k = k, present_v = v;
    const int64_t     n = eddy_shape_of(q).dim[1], size = eddy_shape_of(q).dim[3];
    k = shared_heads(b, k, n);
    v = shared_heads(b, v, n);
    const bool causal = eddy__onnx_int(b, "is_causal", 0);
    if (causal && eddy__onnx_has(b, 4))
        return eddy__onnx_missing(b, "is_causal is not supported with past keys");
    if (b->reason || size < 1) return eddy__onnx_missing(b, "the size of a head must be known");
    const double scale = eddy__onnx_float(b, "scale", 1 / sqrt((double)size));
    eddy_tensor  y = eddy__onnx_has(b, 3)
        ? eddy_scaled_dot_product_attention(q, k, v, bias_of(b, q), causal, scale)
        : eddy_scaled_dot_product_attention(q, k, v, .causal = causal, .scale = scale);
    if (flat) {
        const eddy_shape s = eddy_shape_of(y);
        y = Transpose(y, EDDY_DIMS(0, 2, 1, 3));
        if (s.dim[0] < 0 && s.dim[2] < 0)
            return eddy__onnx_missing(b, "the batch or the steps must be known");
        y = Reshape(y, EDDY_SHAPE(s.dim[0], s.dim[2], s.dim[1] * s.dim[3]));
    }
    eddy__onnx_put(b, 1, present_k);
    eddy__onnx_put(b, 2, present_v);
    return eddy__onnx_put(b, 0, y);
}

/* Pairs of elements turned by an angle; cos and sin are [positions, half] by position_ids, or
 * [batch, steps, half]. */
static bool rotary(onnx_build *b)
{
    const bool    flat = eddy__onnx_rank(b, 0) == 3, pairs = eddy__onnx_int(b, "interleaved", 0);
    eddy_tensor   x = split_heads(b, eddy__onnx_in(b, 0), eddy__onnx_int(b, "num_heads", 0));
    eddy_tensor   cosine = eddy__onnx_in(b, 1), sine = eddy__onnx_in(b, 2);
    const eddy_shape s = eddy_shape_of(x);
    if (b->reason) return false;
    if (eddy__onnx_has(b, 3)) {
        cosine = eddy_gather(cosine, eddy__onnx_in(b, 3));
        sine = eddy_gather(sine, eddy__onnx_in(b, 3));
    }
    int64_t size = eddy__onnx_int(b, "rotary_embedding_dim", 0);
    if (s.dim[3] < 2)
        return eddy__onnx_missing(b, "the size of a head must be known");
    if (size == 0) size = s.dim[3];
    if (size < 2 || size % 2 || size > s.dim[3])
        return eddy__onnx_invalid(
            b, "rotary_embedding_dim is not an even number up to the size of a head");
    cosine = ExpandDims(cosine, 1);
    sine = ExpandDims(sine, 1);
    const int64_t step = pairs ? 2 : 1, second = pairs ? 1 : size / 2;
    const eddy_dims ones = EDDY_DIMS(1, 1, 1, step);
    const eddy_tensor u =
        eddy_strided_slice(x, EDDY_DIMS(0, 0, 0, 0), EDDY_DIMS(0, 0, 0, pairs ? size : size / 2),
                           ones, .begin_mask = 7, .end_mask = 7);
    const eddy_tensor w =
        eddy_strided_slice(x, EDDY_DIMS(0, 0, 0, second), EDDY_DIMS(0, 0, 0, size), ones,
                           .begin_mask = 7, .end_mask = 7);
    const eddy_tensor re = Sub(Mul(cosine, u), Mul(sine, w)),
                      im = Add(Mul(sine, u), Mul(cosine, w));
    eddy_tensor y =
        pairs ? ReshapeLike(eddy_stack(EDDY_LIST(re, im), -1),
                            eddy_slice(x, EDDY_DIMS(0, 0, 0, 0), EDDY_DIMS(-1, -1, -1, size)))
              : eddy_concat(EDDY_LIST(re, im), 3);
    if (size < s.dim[3])
        y = eddy_concat(
            EDDY_LIST(y, eddy_slice(x, EDDY_DIMS(0, 0, 0, size), EDDY_DIMS(-1, -1, -1, -1))), 3);
    if (flat) y = ReshapeLike(Transpose(y, EDDY_DIMS(0, 2, 1, 3)), eddy__onnx_in(b, 0));
    return eddy__onnx_put(b, 0, y);
}

const onnx_operator eddy__onnx_attention[] = {
    { "Attention", 23, attention }, { "RotaryEmbedding", 23, rotary }, { NULL },
};
