/* arrays.c -- functions of elements, sums, sorting, Fourier transforms, rows and positions, random
 * numbers. */
#include "bench/cancel/cancel.h"

static eddy_tensor wide(eddy_tensor x) { return eddy_cast(x, EDDY_FLOAT64); }
static eddy_tensor positions(eddy_tensor x, double most)
{
    return eddy_cast(eddy_mul(x, eddy_scalar(x.graph, most)), EDDY_INT64);
}

static eddy_tensor functions(eddy_tensor x) { return eddy_tanh(eddy_exp(eddy_sin(x))); }
static eddy_tensor special(eddy_tensor x) { return eddy_igamma(eddy_add(x, x), x); }
static eddy_tensor softmax(eddy_tensor x) { return eddy_square(eddy_softmax(x)); }
static eddy_tensor sort(eddy_tensor x) { return eddy_sort(x); }
static eddy_tensor top_k(eddy_tensor x) { return eddy_top_k(x, 100); }
static eddy_tensor unique(eddy_tensor x) { return eddy_unique(eddy_ravel(x)); }
static eddy_tensor nonzero(eddy_tensor x) { return eddy_nonzero(x); }
static eddy_tensor cumsum(eddy_tensor x) { return eddy_cumsum(x, 0); }
static eddy_tensor sums(eddy_tensor x) { return eddy_sum(x, EDDY_DIMS(0)); }
static eddy_tensor argmax(eddy_tensor x) { return eddy_argmax(x, 0); }
static eddy_tensor fourier(eddy_tensor x) { return eddy_rfft2d(x); }
static eddy_tensor one_fourier(eddy_tensor x) { return eddy_fft(eddy_complex(x, x)); }
static eddy_tensor masked(eddy_tensor x)
{
    return eddy_boolean_mask(x, eddy_less(x, eddy_scalar(x.graph, 0.5)));
}
static eddy_tensor casts(eddy_tensor x) { return wide(eddy_cast(x, EDDY_BFLOAT16)); }
static eddy_tensor rows(eddy_tensor x)
{
    return eddy_gather(x, positions(eddy_index(x, ":, 0"), 900));
}
static eddy_tensor gather(eddy_tensor x)
{
    return eddy_gather(x, positions(eddy_index(x, ":, :2"), 900));
}
static eddy_tensor segments(eddy_tensor x)
{
    return eddy_unsorted_segment_sum(x, positions(eddy_index(x, ":, 0"), 900), 1000);
}
/* An element for each index. */
static eddy_tensor scatter(eddy_tensor x)
{
    const int64_t     n = eddy_shape_count(eddy_shape_of(x));
    const eddy_tensor all = eddy_ravel(x);
    return eddy_scatter_nd(eddy_reshape(positions(all, 1e6), EDDY_SHAPE(n, 1)), all,
                           EDDY_SHAPE(1000000));
}
static eddy_tensor add_rows(eddy_tensor x)
{
    const int64_t n = eddy_shape_of(x).dim[0];
    return eddy_tensor_scatter_add(
        x, eddy_reshape(positions(eddy_index(x, ":, 0"), 900), EDDY_SHAPE(n, 1)), x);
}
static eddy_tensor along(eddy_tensor x) { return eddy_take_along(x, positions(x, 900), 0); }
static eddy_tensor search(eddy_tensor x)
{
    return eddy_searchsorted(eddy_sort(eddy_index(x, "0")), eddy_ravel(x));
}
static eddy_tensor transpose(eddy_tensor x) { return eddy_transpose(x, EDDY_DIMS(1, 0)); }
static eddy_tensor concat(eddy_tensor x) { return eddy_concat(EDDY_LIST(x, x, x), 1); }
static eddy_tensor pad(eddy_tensor x)
{
    return eddy_mirror_pad(x, EDDY_DIMS(900, 900), EDDY_DIMS(900, 900));
}
static eddy_tensor normal(eddy_tensor x) { return eddy_random_normal(x.graph, eddy_shape_of(x)); }
static eddy_tensor gamma_draws(eddy_tensor x)
{
    return eddy_random_gamma(eddy_add(x, x), eddy_scalar(x.graph, 1));
}
static eddy_tensor categorical(eddy_tensor x) { return eddy_random_categorical(x, 1000); }

const work array_works[] = {
    { "functions", { 4000, 4000 }, .build = functions, .every_way = true },
    { "functions, 2 threads", { 4000, 4000 }, .build = functions, .threads = 2 },
    { "igamma", { 1000, 1000 }, .build = special },
    { "softmax", { 4000, 4000 }, .build = softmax },
    { "sort", { 2000, 4000 }, .build = sort },
    { "sort, 2 threads", { 2000, 4000 }, .build = sort, .threads = 2 },
    { "sort, one row", { 4000000 }, .build = sort },
    { "top_k", { 4000, 4000 }, .build = top_k, .every_way = true },
    { "unique", { 2000, 2000 }, .build = unique },
    { "nonzero", { 2000, 4000 }, .build = nonzero },
    { "cumsum", { 4000, 8000 }, .build = cumsum },
    { "sum", { 8000, 16000 }, .build = sums },
    { "argmax", { 4000, 8000 }, .build = argmax },
    { "rfft2d", { 64, 512, 512 }, .build = fourier, .every_way = true },
    { "fft, one", { 1 << 22 }, .build = one_fourier },
    { "boolean_mask", { 4000, 4000 }, .build = masked },
    { "casts", { 4000, 8000 }, .build = casts },
    { "gather, rows", { 4000, 16000 }, .build = rows },
    { "gather", { 4000, 8000 }, .build = gather },
    { "segments", { 4000, 8000 }, .build = segments },
    { "take_along", { 1000, 8000 }, .build = along },
    { "scatter_nd", { 2000, 8000 }, .build = scatter },
    { "tensor_scatter_add", { 4000, 4000 }, .build = add_rows },
    { "searchsorted", { 2000, 1000 }, .build = search },
    { "transpose", { 8000, 8000 }, .build = transpose },
    { "concat", { 4000, 8000 }, .build = concat },
    { "mirror_pad", { 4000, 8000 }, .build = pad },
    { "normal", { 4000, 4000 }, .build = normal },
    { "gamma", { 1000, 1000 }, .build = gamma_draws },
    { "categorical", { 1000, 1000 }, .build = categorical },
    { "eval", { 2000, 4000 }, .build = functions, .evaluates = true },
    { .name = NULL },
};
