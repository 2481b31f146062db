/* training.c -- the operators of ai.onnx.preview.training: gradients and steps of optimizers. */
#include "../reader.h"
#include "../../../ops/short_names.h"

#define TRAINING "ai.onnx.preview.training"

/* The derivative of a value of the graph around the node by some of its inputs. */
static bool gradient(onnx_build *b)
{
    const onnx_attr  *xs = eddy__onnx_attr(b, "xs");
    const char       *y_name = eddy__onnx_text(b, "y", "");
    onnx_value       *y = eddy__onnx_lookup(b->scope, y_name);
    if (!y || !xs || xs->n_strings > EDDY_MAX_RESULTS || xs->n_strings < (size_t)b->n_out)
        return eddy__onnx_invalid(b, "y is no value of the graph, or xs are fewer than outputs");
    eddy_tensor x[EDDY_MAX_RESULTS], dx[EDDY_MAX_RESULTS];
    const int   n = (int)xs->n_strings;
    for (int i = 0; i < n; i++) {
        const char *name = eddy__region_text(b->memory, xs->strings[i]);
        onnx_value *v = name ? eddy__onnx_lookup(b->scope, name) : NULL;
        if (!v)
            return eddy__onnx_invalid(b, "'%.200s' is no value of the graph", name ? name : "");
        x[i] = eddy__onnx_tensor_of(b, v);
    }
    const eddy_tensor sum = eddy__onnx_tensor_of(b, y);
    if (b->reason) return false;
    if (eddy_gradients(EDDY_LIST(sum), { n, x }, dx,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO) != EDDY_OK)
        return false;
    for (int i = 0; i < b->n_out; i++) eddy__onnx_put(b, i, dx[i]);
    return true;
}

/* The inputs are R, T, then each kind of tensor for all variables: kinds of them, of which the
 * first is the variable and the second its gradient. */
static int variables_of(onnx_build *b, int kinds)
{
    const int n = (b->n_in - 2) / kinds;
    if (n < 1 || b->n_in != 2 + n * kinds)
        return eddy__onnx_invalid(b, "the number of inputs is wrong"), 0;
    return n;
}

static eddy_tensor steps(onnx_build *b) { return Reshape(eddy__onnx_in(b, 1), EDDY_SCALAR); }
static eddy_tensor rate(onnx_build *b) { return Reshape(eddy__onnx_in(b, 0), EDDY_SCALAR); }

/* g + norm_coefficient x */
static eddy_tensor regularized(onnx_build *b, eddy_tensor x, eddy_tensor g)
{
    return Add(g, Mul(eddy__onnx_float(b, "norm_coefficient", 0), x));
}

static bool adagrad(onnx_build *b)
{
    const int n = variables_of(b, 3);
    for (int i = 0; i < n; i++) {
        const eddy_tensor x = eddy__onnx_in(b, 2 + i), h = eddy__onnx_in(b, 2 + 2 * n + i);
        const eddy_tensor decay =
            Add(1, Mul(eddy__onnx_float(b, "decay_factor", 0), CastLike(steps(b), x)));
        const eddy_tensor g = regularized(b, x, eddy__onnx_in(b, 2 + n + i)),
                          sums = Add(h, Square(g));
        const eddy_tensor root = Add(Sqrt(sums), eddy__onnx_float(b, "epsilon", 1e-6));
        eddy__onnx_put(b, i, Sub(x, Div(Mul(Div(CastLike(rate(b), x), decay), g), root)));
        eddy__onnx_put(b, n + i, sums);
    }
    return n > 0;
}

static bool adam(onnx_build *b)
{
    const int    n = variables_of(b, 4);
    const double alpha = eddy__onnx_float(b, "alpha", 0.9),
                 beta = eddy__onnx_float(b, "beta", 0.999);
    for (int i = 0; i < n; i++) {
        const eddy_tensor x = eddy__onnx_in(b, 2 + i), t = CastLike(steps(b), x);
        const eddy_tensor g = regularized(b, x, eddy__onnx_in(b, 2 + n + i));
        const eddy_tensor v = Add(Mul(alpha, eddy__onnx_in(b, 2 + 2 * n + i)), Mul(1 - alpha, g));
        const eddy_tensor h =
            Add(Mul(beta, eddy__onnx_in(b, 2 + 3 * n + i)), Mul(1 - beta, Square(g)));
        const eddy_tensor root = Add(Sqrt(h), eddy__onnx_float(b, "epsilon", 1e-6));
        const eddy_tensor later = Greater(t, 0), n_steps = Where(later, t, OnesLike(t));
        const eddy_tensor corrected =
            Div(Sqrt(Sub(1, Pow(beta, n_steps))), Sub(1, Pow(alpha, n_steps)));
        const eddy_tensor r =
            Where(later, Mul(CastLike(rate(b), x), corrected), CastLike(rate(b), x));
        const double      post = eddy__onnx_float(b, "norm_coefficient_post", 0);
        eddy__onnx_put(b, i, Mul(1 - post, Sub(x, Div(Mul(r, v), root))));
        eddy__onnx_put(b, n + i, v);
        eddy__onnx_put(b, 2 * n + i, h);
    }
    return n > 0;
}

static bool momentum(onnx_build *b)
{
    const int    n = variables_of(b, 3);
    const double alpha = eddy__onnx_float(b, "alpha", 0), beta = eddy__onnx_float(b, "beta", 0);
    const bool   nesterov = eddy__onnx_is(b, "mode", "nesterov", false);
    for (int i = 0; i < n; i++) {
        const eddy_tensor x = eddy__onnx_in(b, 2 + i), r = CastLike(rate(b), x);
        const eddy_tensor g = regularized(b, x, eddy__onnx_in(b, 2 + n + i));
        const eddy_tensor first = Greater(CastLike(steps(b), x), 0);
        const eddy_tensor scale = Where(first, NumberLike(beta, x), NumberLike(1, x));
        const eddy_tensor v = Add(Mul(alpha, eddy__onnx_in(b, 2 + 2 * n + i)), Mul(scale, g));
        eddy__onnx_put(b, i, Sub(x, Mul(r, nesterov ? Add(g, Mul(alpha, v)) : v)));
        eddy__onnx_put(b, n + i, v);
    }
    return n > 0;
}

const onnx_operator eddy__onnx_training[] = {
    { "Gradient", 1, gradient, .domain = TRAINING },
    { "Adagrad", 1, adagrad, .domain = TRAINING },
    { "Adam", 1, adam, .domain = TRAINING },
    { "Momentum", 1, momentum, .domain = TRAINING },
    { NULL },
};
