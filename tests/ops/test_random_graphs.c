/* test_random_graphs.c -- random graphs of operations with their gradients: no option of a session
 * and no file changes a bit of the results. */
#include "tests/lib/bits/same_bits.h"

Suite *random_graphs_suite(void);

enum { GRAPHS = 200, INPUTS = 3, CONSTANTS = 2, MOST_NODES = 60 };

/* Matrices to go on from, all of sizes that some others fit. */
typedef struct pool {
    trial      *t;
    int         n;
    eddy_tensor at[INPUTS + CONSTANTS + MOST_NODES];
} pool;

static eddy_tensor any_of(pool *p) { return p->at[pick(p->t, p->n)]; }

/* Operands keep values small: a graph of 60 products must not overflow. */
static eddy_tensor random_unary(pool *p, eddy_tensor x)
{
    switch (pick(p->t, 13)) {
    case 0:  return Neg(x);
    case 1:  return Abs(x);
    case 2:  return Square(Tanh(x));
    case 3:  return Sin(x);
    case 4:  return Cos(x);
    case 5:  return Sigmoid(x);
    case 6:  return Softplus(x);
    case 7:  return Relu(x);
    case 8:  return Exp(Sin(x));
    case 9:  return Sqrt(Add(Square(Tanh(x)), 1));
    case 10: return Softmax(x);
    case 11: return Div(x, Add(Abs(x), 1));
    default: return Tanh(x);
    }
}

static eddy_tensor random_binary(pool *p, eddy_tensor a)
{
    eddy_tensor b = any_of(p);
    eddy_shape s;
    for (int i = 0; i < 5 && !eddy_shape_broadcast(eddy_shape_of(a), eddy_shape_of(b), &s); i++)
        b = any_of(p);
    if (!eddy_shape_broadcast(eddy_shape_of(a), eddy_shape_of(b), &s)) b = Mean(b);
    switch (pick(p->t, 8)) {
    case 0:  return Add(a, b);
    case 1:  return Sub(a, b);
    case 2:  return Mul(a, Tanh(b));
    case 3:  return Maximum(a, b);
    case 4:  return Minimum(b, a);
    case 5:  return SquaredDifference(Tanh(a), Tanh(b));
    case 6:  return Div(a, Add(Square(b), 1));
    default: return Where(Greater(a, b), a, Mul(b, 0.5));
    }
}

static eddy_tensor random_product(pool *p, eddy_tensor a)
{
    const eddy_tensor b = any_of(p);
    const eddy_shape s = eddy_shape_of(a), u = eddy_shape_of(b);
    if (s.dim[1] == u.dim[0]) return MatMul(Tanh(a), b);
    if (s.dim[1] == u.dim[1]) return MatMul(a, Tanh(b), .transpose_b = true);
    if (s.dim[0] == u.dim[0]) return MatMul(a, Tanh(b), .transpose_a = true);
    return MatMul(Tanh(a), a, .transpose_b = true);
}

static eddy_tensor random_move(pool *p, eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    const int64_t axis = pick(p->t, 2), last = s.dim[axis] - 1;
    switch (pick(p->t, 9)) {
    case 0:  return Sum(x, .axes = EDDY_AXES(axis), .keepdims = true);
    case 1:  return Mean(x, .axes = EDDY_AXES(axis), .keepdims = true);
    case 2:  return Max(x, .axes = EDDY_AXES(axis), .keepdims = true);
    case 3:  return ExpandDims(Sum(x, .axes = EDDY_AXES(axis)), axis);
    case 4:  return Reshape(x, EDDY_SHAPE(s.dim[1], -1));
    case 5:  return eddy_slice(eddy_concat(EDDY_LIST(x, Neg(x)), axis), (eddy_dims){ 0 },
                               EDDY_DIMS(s.dim[0], s.dim[1]));
    case 6:  return Gather(x, eddy_const(x.graph, EDDY_INT32, EDDY_SHAPE(2),
                                         (int32_t[]){ 0, (int32_t)last }), axis);
    case 7:  return Cumsum(Tanh(x), axis);
    default: return Transpose(x);
    }
}

static eddy_tensor random_matrix(trial *t, bool constant)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(1 + pick(t, 4), 1 + pick(t, 4)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(t, 4096) - 2048) / 1024.0);
    if (!constant) {
        t->array[t->n] = a;
        return t->tensor[t->n++] =
            eddy_placeholder(t->graph, NULL, EDDY_FLOAT64, eddy_array_shape(a));
    }
    const eddy_tensor x = eddy_constant(t->graph, a, NULL);
    eddy_array_free(a);
    return x;
}

static void grow(pool *p, int nodes)
{
    for (int i = 0; i < INPUTS + CONSTANTS; i++)
        p->at[p->n++] = random_matrix(p->t, i >= INPUTS);
    for (int i = 0; i < nodes; i++) {
        const eddy_tensor x = pick(p->t, 2) ? p->at[p->n - 1] : any_of(p);
        const int kind = pick(p->t, 8);
        const eddy_tensor y = kind < 2 ? random_unary(p, x) : kind < 5 ? random_binary(p, x)
                            : kind < 6 ? random_product(p, x) : random_move(p, x);
        p->at[p->n++] = y;
    }
}

/* Five to sixty ops; the sum of the last of them is differentiated. */
START_TEST(no_bit_changes)
{
    trial t = { .graph = eddy_graph_new(), .random = (uint64_t)_i * 77 + 5 };
    fetches f = { .title = "random graph" };
    pool p = { .t = &t };
    eddy_tensor dx[INPUTS], sum = eddy_number(t.graph, EDDY_FLOAT64, 0);
    grow(&p, 5 + pick(&t, MOST_NODES - 4));
    for (int i = p.n - 1; i > p.n - 6; i--) sum = Add(sum, Sum(p.at[i]));
    eddy_gradients(EDDY_LIST(sum), ((eddy_list){ t.n, t.tensor }), dx);
    ck_assert_msg(eddy_graph_status(t.graph) == EDDY_OK, "%s", eddy_graph_message(t.graph));
    keep_fetch(&f, sum);
    for (int k = 0; k < INPUTS; k++) keep_fetch(&f, dx[k]);
    for (int i = 0; i < 8; i++) keep_fetch(&f, any_of(&p));
    check_same_bits(&t, &f);
    trial_end(&t);
}
END_TEST

Suite *random_graphs_suite(void)
{
    Suite *s = suite_create("random_graphs");
    TCase *c = tcase_create("bits");
    tcase_add_loop_test(c, no_bit_changes, 0, GRAPHS);
    suite_add_tcase(s, c);
    return s;
}
