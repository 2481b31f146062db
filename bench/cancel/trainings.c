/* trainings.c -- loops, and training steps of several kernels, which update variables. */
#include "bench/cancel/cancel.h"

/* -------------------------------------------------------------------- loops -- */

static int cell(eddy_list x, eddy_tensor *y, void *w)
{
    y[0] = eddy_tanh(eddy_matmul(x.at[0], *(const eddy_tensor *)w));
    return 1;
}
static eddy_tensor iterations(eddy_tensor x, int64_t count)
{
    eddy_tensor w = eddy_random_normal(x.graph, EDDY_SHAPE(256, 256)), y = x;
    eddy_iterate(count, (eddy_function){ .build = cell, .context = &w }, EDDY_LIST(x), &y);
    return y;
}
static eddy_tensor planned(eddy_tensor x) { return iterations(x, 200); }
static eddy_tensor backward(eddy_tensor x) { return eddy_gradient(iterations(x, 60), x); }

/* Each of n iterations adds as many rows as there were at first. */
typedef struct growth {
    eddy_tensor n;
    int64_t     rows;
} growth;

static int more(eddy_list x, eddy_tensor *y, void *context)
{
    const growth *g = context;
    y[0] = eddy_less(x.at[0], g->n);
    return 1;
}
static int append(eddy_list x, eddy_tensor *y, void *context)
{
    const growth     *g = context;
    const eddy_tensor first = eddy_slice(x.at[1], EDDY_DIMS(0, 0), EDDY_DIMS(g->rows, -1));
    y[0] = eddy_add(x.at[0], eddy_number(x.at[0].graph, EDDY_INT32, 1));
    y[1] = eddy_concat(EDDY_LIST(eddy_tanh(first), x.at[1]), 0);
    return 2;
}
static eddy_tensor grown(eddy_tensor x, int n)
{
    const eddy_shape    is = eddy_shape_of(x), any[] = { EDDY_SCALAR,
                                                         EDDY_SHAPE(EDDY_ANY, is.dim[1]) };
    growth              g = { eddy_number(x.graph, EDDY_INT32, n), is.dim[0] };
    const eddy_function cond = { .build = more, .context = &g };
    const eddy_function body = { .build = append, .context = &g };
    eddy_tensor         y[2] = { x, x };
    eddy_while_loop(cond, body, EDDY_LIST(eddy_number(x.graph, EDDY_INT32, 0), x), y, any);
    return y[1];
}
static eddy_tensor growing(eddy_tensor x) { return grown(x, 60); }
static eddy_tensor swelling(eddy_tensor x) { return grown(x, 8); }

/* -------------------------------------------------------------------- steps -- */

const work training_works[] = {
    { "loop", { 256, 256 }, .build = planned, .every_way = true },
    { "loop, gradient", { 256, 256 }, .build = backward },
    { "growing loop", { 64, 512 }, .build = growing },
    { "growing loop, large", { 600, 4000 }, .build = swelling },
    { "mlp", .step = build_perceptron, .size = 1024, .every_way = true },
    { "mlp, 2 threads", .step = build_perceptron, .size = 1024, .threads = 2 },
    { "lenet", .step = build_lenet, .size = 64 },
    { "resnet", .step = build_residual, .size = 16 },
    { "transformer", .step = build_gpt, .size = 4 },
    { "lstm, a loop", .step = build_scan, .size = 32 },
    /* An update happens as a whole: one of 10 million elements goes on for up to 11 ms. */
    { "adam, 2 million", .step = build_adam, .size = 2000000 },
    { .name = NULL },
};
