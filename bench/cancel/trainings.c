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

/* Each iteration adds rows. */
static int more(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_less(x.at[0], eddy_number(x.at[0].graph, EDDY_INT32, 60));
    return 1;
}
static int append(eddy_list x, eddy_tensor *y, void *w)
{
    const eddy_tensor first = eddy_index(x.at[1], ":64");
    y[0] = eddy_add(x.at[0], eddy_number(x.at[0].graph, EDDY_INT32, 1));
    y[1] = eddy_concat(EDDY_LIST(eddy_tanh(eddy_matmul(first, *(const eddy_tensor *)w)), x.at[1]),
                       0);
    return 2;
}
static eddy_tensor growing(eddy_tensor x)
{
    eddy_tensor      w = eddy_random_normal(x.graph, EDDY_SHAPE(256, 256)), y[2] = { x, x };
    const eddy_shape shapes[] = { EDDY_SCALAR, EDDY_SHAPE(EDDY_ANY, 256) };
    eddy_while_loop((eddy_function){ .build = more },
                    (eddy_function){ .build = append, .context = &w },
                    EDDY_LIST(eddy_number(x.graph, EDDY_INT32, 0), x), y, shapes);
    return y[1];
}

/* -------------------------------------------------------------------- steps -- */

const work training_works[] = {
    { "loop", { 256, 256 }, .build = planned, .every_way = true },
    { "loop, gradient", { 256, 256 }, .build = backward },
    { "growing loop", { 64, 256 }, .build = growing },
    { "mlp", .step = build_perceptron, .size = 4096, .every_way = true },
    { "mlp, 2 threads", .step = build_perceptron, .size = 4096, .threads = 2 },
    { "lenet", .step = build_lenet, .size = 64 },
    { "resnet", .step = build_residual, .size = 16 },
    { "transformer", .step = build_gpt, .size = 4 },
    { "lstm, a loop", .step = build_scan, .size = 32 },
    { "adam, 10 million", .step = build_adam, .size = 10000000 },
    { .name = NULL },
};
