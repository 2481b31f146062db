/* parts.c -- one of the formulas below, -DPART=softmax, with its gradient: what the passes of a
 * session make of it, and the bits that come out.  The program has the operations of that one
 * formula alone, so a pass could lack what it would make of them (ops/weak_ops.h); with the
 * shared library, which has everything, it must print the same (scripts/size.sh). */
#include <eddy/eddy.h>
#include <stdio.h>

#define FORMULA __attribute__((unused)) static eddy_tensor

/* A matrix that depends on x. */
static eddy_tensor spread(eddy_tensor x, int columns)
{
    return eddy_tile(eddy_sum(x, .axes = EDDY_AXES(1), .keepdims = true), EDDY_DIMS(1, columns));
}
static eddy_tensor number(eddy_tensor x, double v) { return eddy_scalar(x.graph, v); }

FORMULA arithmetic(eddy_tensor x)
{
    const eddy_tensor y = eddy_add(eddy_mul(x, x), eddy_sub(x, eddy_neg(x)));
    return eddy_add_n(EDDY_LIST(y, eddy_div(y, number(x, 4)), eddy_mul(x, number(x, -1))), NULL);
}
FORMULA powers(eddy_tensor x) { return eddy_pow(x, number(x, 2)); }
FORMULA roots(eddy_tensor x) { return eddy_reciprocal(eddy_sqrt(eddy_abs(x))); }
FORMULA softmax(eddy_tensor x)
{
    const eddy_tensor top = eddy_max(x, .axes = EDDY_AXES(1), .keepdims = true);
    const eddy_tensor e = eddy_exp(eddy_sub(x, top));
    return eddy_div(e, eddy_sum(e, .axes = EDDY_AXES(1), .keepdims = true));
}
FORMULA plain_softmax(eddy_tensor x)
{
    const eddy_tensor e = eddy_exp(x);
    return eddy_div(e, eddy_sum(e, .axes = EDDY_AXES(1), .keepdims = true));
}
FORMULA entropy(eddy_tensor x)
{
    const eddy_tensor p = eddy_softmax(x);
    return eddy_mul(p, eddy_log(p));
}
FORMULA over_softmax(eddy_tensor x) { return eddy_reciprocal(eddy_softmax(x)); }
FORMULA log_sum(eddy_tensor x)
{
    const eddy_tensor sum = eddy_sum(eddy_exp(x), .axes = EDDY_AXES(1), .keepdims = true);
    return eddy_sub(x, eddy_log(sum));
}
FORMULA log_sum_of_all(eddy_tensor x) { return eddy_log(eddy_sum(eddy_exp(x))); }
FORMULA logistic(eddy_tensor x)
{
    return eddy_reciprocal(eddy_add(number(x, 1), eddy_exp(eddy_neg(x))));
}
FORMULA log_logistic(eddy_tensor x) { return eddy_log(eddy_sigmoid(x)); }
FORMULA log_of_sums(eddy_tensor x)
{
    const eddy_tensor one = number(x, 1);
    return eddy_add(eddy_log(eddy_add(one, eddy_exp(x))), eddy_log(eddy_add(one, eddy_square(x))));
}
FORMULA less_one(eddy_tensor x) { return eddy_sub(eddy_exp(x), number(x, 1)); }
FORMULA gelu(eddy_tensor x)
{
    const eddy_tensor one = eddy_erf(eddy_div(x, number(x, 1.4142135623730951)));
    return eddy_mul(eddy_mul(x, number(x, 0.5)), eddy_add(one, number(x, 1)));
}
FORMULA gelu_tanh(eddy_tensor x)
{
    const eddy_tensor cube = eddy_mul(eddy_mul(x, x), x);
    const eddy_tensor inner = eddy_add(x, eddy_mul(cube, number(x, 0.044715)));
    const eddy_tensor t = eddy_tanh(eddy_mul(inner, number(x, 0.79788456080286536)));
    return eddy_mul(eddy_mul(x, number(x, 0.5)), eddy_add(t, number(x, 1)));
}
static eddy_tensor normalized(eddy_tensor x, int axis)
{
    const eddy_tensor d = eddy_sub(x, eddy_mean(x, .axes = EDDY_AXES(axis), .keepdims = true));
    const eddy_tensor v = eddy_mean(eddy_square(d), .axes = EDDY_AXES(axis), .keepdims = true);
    return eddy_mul(d, eddy_rsqrt(eddy_add(v, number(x, 1e-3))));
}
FORMULA layer_norm(eddy_tensor x) { return eddy_square(normalized(x, 1)); }
FORMULA batch_norm(eddy_tensor x) { return eddy_square(normalized(x, 0)); }
FORMULA dense(eddy_tensor x)
{
    const eddy_tensor w = spread(eddy_transpose(x), 5);
    const eddy_tensor bias = eddy_ones(x.graph, EDDY_FLOAT32, EDDY_SHAPE(5));
    return eddy_relu(eddy_add(eddy_mul(eddy_matmul(x, w), number(x, 2)), bias));
}
FORMULA sum_of_products(eddy_tensor x)
{
    const eddy_tensor y = eddy_square(x);
    return eddy_add_n(EDDY_LIST(eddy_matmul(x, y, .transpose_a = true),
                                eddy_matmul(y, y, .transpose_a = true),
                                eddy_matmul(y, x, .transpose_a = true)), NULL);
}
FORMULA batches(eddy_tensor x)
{
    const eddy_tensor many = eddy_reshape(x, EDDY_SHAPE(2, 4, 6));
    const eddy_tensor y = eddy_batch_matmul(many, eddy_reshape(x, EDDY_SHAPE(1, 6, 8)));
    return eddy_sum(y, .axes = EDDY_AXES(0));
}
FORMULA attention(eddy_tensor x)
{
    const eddy_tensor scores = eddy_matmul(x, eddy_square(x), .transpose_b = true);
    return eddy_matmul(eddy_softmax(eddy_mul(scores, number(x, 0.5))), x);
}
FORMULA convolution(eddy_tensor x)
{
    const eddy_tensor image = eddy_reshape(x, EDDY_SHAPE(1, 8, 6, 1));
    const eddy_tensor w = eddy_ones(x.graph, EDDY_FLOAT32, EDDY_SHAPE(3, 3, 1, 4));
    const eddy_tensor bias = eddy_ones(x.graph, EDDY_FLOAT32, EDDY_SHAPE(4));
    return eddy_relu(eddy_add(eddy_conv2d(image, w), bias));
}

static void print_bits(const char *name, const eddy_array *a)
{
    const float *x = eddy_array_data(a);
    printf("%s", name);
    for (int64_t i = 0; x && i < eddy_array_count(a); i++) printf(" %a", (double)x[i]);
    printf("\n");
}

int main(void)
{
    enum { ROWS = 8, COLUMNS = 6 };
    float numbers[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) numbers[i] = (float)(i * 37 % 19 - 9) / 8 + 0.03f;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(ROWS, COLUMNS));
    eddy_tensor   y = PART(x), dx = eddy_gradient(eddy_sum(eddy_mul(y, y)), x);
    eddy_array   *px = eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(ROWS, COLUMNS), numbers);
    eddy_array   *out[3] = { NULL };
    for (int both = 0; both < 2; both++) {      /* what a gradient reads is no part of a whole */
        eddy_session *s = eddy_session_new(g, .report = stdout, .report_nodes = true, .threads = 1);
        if (eddy_run(s, EDDY_FEED({ x, px }), both ? EDDY_FETCH(y, dx) : EDDY_FETCH(y),
                     both ? out + 1 : out) != EDDY_OK)
            printf("%s\n", eddy_session_message(s));
        eddy_session_free(s);
    }
    const bool done = out[0] && out[1] && out[2];
    print_bits("alone", out[0]), print_bits("y", out[1]), print_bits("dx", out[2]);
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    eddy_array_free(px);
    eddy_graph_free(g);
    return !done;
}
