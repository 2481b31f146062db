/* random.c -- random numbers, drawn by Eddy's generator: other numbers than TensorFlow's. */
#include "../build.h"
#include "../../../ops/short_names.h"

static bool draw(tf_build *b)
{
    const int         type = eddy__tf_type(b, "dtype", TF_FLOAT);
    const eddy_dtype  d = eddy__tf_dtype(type);
    const int64_t     seed = eddy__tf_int(b, "seed2", 0) ? eddy__tf_int(b, "seed2", 0)
                                                         : eddy__tf_int(b, "seed", 0);
    if (d == EDDY_DEFAULT_DTYPE)
        return eddy__tf_missing(b, "there are no values of type %s", eddy__tf_type_name(type));
    const eddy_tensor like = eddy_zeros_of(eddy__tf_in(b, 0), d);
    const eddy_tensor y = b->op->variant == 0   ? eddy_random_uniform_like(like, .seed = seed)
                          : b->op->variant == 1 ? eddy_random_normal_like(like, .seed = seed)
                                                : eddy_truncated_normal_like(like, .seed = seed);
    return eddy__tf_put_as(b, 0, y, type);
}

const tf_operator eddy__tf_random[] = {
    { "RandomStandardNormal", draw, .variant = 1 },
    { "RandomUniform", draw },
    { "TruncatedNormal", draw, .variant = 2 },
    { NULL },
};
