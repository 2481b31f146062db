/* pointwise.c -- workloads without products: a function of each element with its gradient,
 * a long chain of scalars, and Adam alone. */
#include "bench/workloads/workload.h"

#include <eddy/ops/short_names.h>

/* y = sum(tanh(1.5 x + 0.25) sigmoid(0.75 x) - exp(-x^2)) and dy/dx. */
void build_elementwise(trial *t, int64_t n)
{
    float *numbers = trial_memory(t, n, sizeof *numbers);
    bench_uniform(numbers, n, 1, -2, 2);
    trial_batches(t, 1);
    eddy_tensor x = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(n), numbers);
    eddy_tensor gate = eddy_sigmoid(Mul(0.75, x)), bell = eddy_exp(Mul(eddy_neg(x), x));
    eddy_tensor y = eddy_sum(Sub(Mul(eddy_tanh(Add(Mul(1.5, x), 0.25)), gate), bell));
    trial_fetch(t, y);
    trial_fetch(t, eddy_gradient(y, x));
}

static double second(const eddy_array *const *out) { return eddy_array_item(out[1]); }

/* x = tanh(x w + u), repeated, n operations in total, and the derivatives with respect to x, w,
 * u. */
void build_chain(trial *t, int64_t n)
{
    static float start[] = { 0.5f, 1.1f, 0.01f };
    eddy_tensor  in[3], d[3];
    trial_batches(t, 1);
    for (int i = 0; i < 3; i++) in[i] = trial_feed(t, EDDY_FLOAT32, EDDY_SCALAR, &start[i]);
    eddy_tensor y = in[0];
    for (int64_t i = 0; i < n / 3; i++) y = eddy_tanh(Add(Mul(y, in[1]), in[2]));
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(in[0], in[1], in[2]), d);
    for (int i = 0; i < 3; i++) trial_fetch(t, d[i]);
    t->value = second;
}

/* n parameters and a constant gradient; the value is the mean of the first thousand. */
void build_adam(trial *t, int64_t n)
{
    float *numbers = trial_memory(t, n, sizeof *numbers);
    bench_uniform(numbers, n, 2, -1, 1);
    trial_batches(t, 1);
    eddy_tensor g = trial_feed(t, EDDY_FLOAT32, EDDY_SHAPE(n), numbers);
    eddy_tensor v = trial_uniform(t, EDDY_SHAPE(n), 1, 1);
    trial_fetch(t, eddy_mean(eddy_slice(v, EDDY_DIMS(0), EDDY_DIMS(1000))));
    trial_adam_by(t, g, v);
}
