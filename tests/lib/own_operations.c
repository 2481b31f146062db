/* own_operations.c -- see own_operations.h. */
#include "tests/lib/own_operations.h"
#include "ops/short_names.h"

#include <math.h>

typedef struct power_attrs {
    double  scale;
    int64_t power;
} power_attrs;

static bool same_type(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static eddy_status power_kernel(eddy_kernel *k)
{
    const power_attrs *a = k->attrs;
    const float       *x = k->in[0]->data;
    float             *y = k->out[0]->data;
    for (int64_t i = 0; i < k->in[0]->count; i++)
        y[i] = (float)(a->scale * pow((double)x[i], (double)a->power));
    return EDDY_OK;
}

static void power_gradient(eddy_rule *r)
{
    const power_attrs *a = r->attrs;
    r->dx[0] = Mul(r->dy[0], own_power(r->x[0], a->scale * (double)a->power, a->power - 1));
}

static const eddy_op_def own_power_def = {
    .name = "OwnPower", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TYPE(EDDY_FLOAT32) }), .attrs_size = sizeof(power_attrs),
    .attrs = EDDY_ATTRS(power_attrs, scale, power),
    .infer = same_type, .kernel = power_kernel, .gradient = power_gradient,
};

eddy_tensor own_power(eddy_tensor x, double scale, int64_t power)
{
    return eddy_apply1(&own_power_def, &(power_attrs){ scale, power }, x);
}

static void write_power(eddy_onnx_body *b)
{
    const power_attrs *a = b->attrs;
    b->y[0] = Mul(eddy_scalar(b->graph, a->scale),
                  Pow(b->x[0], eddy_scalar(b->graph, (double)a->power)));
}

static bool two_scalars(eddy_infer *c)
{
    for (int k = 0; k < 2; k++) c->out[k] = (eddy_type){ c->in[0].dtype, EDDY_SCALAR };
    return true;
}

static eddy_status extremes_kernel(eddy_kernel *k)
{
    const float *x = k->in[0]->data;
    float        least = INFINITY, largest = -INFINITY;
    for (int64_t i = 0; i < k->in[0]->count; i++) {
        least = fminf(least, x[i]);
        largest = fmaxf(largest, x[i]);
    }
    *(float *)k->out[0]->data = least;
    *(float *)k->out[1]->data = largest;
    return EDDY_OK;
}

static const eddy_op_def own_extremes_def = {
    .name = "OwnExtremes", .min_inputs = 1, .max_inputs = 1, .outputs = 2,
    .inputs = EDDY_INPUTS({ "x", EDDY_TYPE(EDDY_FLOAT32) }),
    .infer = two_scalars, .kernel = extremes_kernel,
};

eddy_tensor own_extremes(eddy_tensor x) { return eddy_apply1(&own_extremes_def, NULL, x); }

/* Running extremes are a loop in ONNX, so the function has a subgraph. */
static void write_extremes(eddy_onnx_body *b)
{
    b->y[0] = Min(b->x[0]);
    b->y[1] = Max(eddy_cummax(eddy_reshape(b->x[0], EDDY_SHAPE(EDDY_ANY))));
}

static eddy_status square_kernel(eddy_kernel *k)
{
    const float *x = k->in[0]->data;
    float       *y = k->out[0]->data;
    for (int64_t i = 0; i < k->in[0]->count; i++) y[i] = 3 * x[i] * x[i];
    return EDDY_OK;
}

static const eddy_op_def own_square_def = {
    .name = "OwnSquare", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TYPE(EDDY_FLOAT32) }),
    .infer = same_type, .kernel = square_kernel,
};

eddy_tensor own_square(eddy_tensor x) { return eddy_apply1(&own_square_def, NULL, x); }

static void write_square(eddy_onnx_body *b) { b->y[0] = own_power(own_power(b->x[0], 1, 2), 3, 1); }

const eddy_onnx_operator own_operators[] = {
    { "OwnPower", .compose = write_power },
    { "OwnExtremes", "org.example", write_extremes },
    { "OwnSquare", "org.example", write_square },
};
const int own_operator_count = sizeof own_operators / sizeof *own_operators;
