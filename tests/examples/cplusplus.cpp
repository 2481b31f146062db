/* cplusplus.cpp -- a C++ program that uses everything that the headers offer to C++. */
#include <eddy/eddy.h>

#include <cmath>
#include <cstdio>

static const eddy_dims none = EDDY_NO_DIMS;

/* Options by name go to the function behind the macro; before C++20 as members. */
static eddy_tensor sum_of_rows(eddy_tensor x)
{
#if __cplusplus >= 202002L
    return eddy_sum_with(EDDY_OPTIONS(eddy_reduce_args, .x = x, .axes = EDDY_AXES(1),
                                      .keepdims = true));
#elif __cplusplus >= 201402L
    eddy_reduce_args sum = {};
    sum.x = x;
    sum.axes = EDDY_AXES(1);
    sum.keepdims = true;
    return eddy_sum_with(&sum);
#else
    return eddy_sum(x, EDDY_AXES(1), true);
#endif
}

/* What is left out has its default, and a 0 that is written is 0. */
static bool defaults(eddy_graph *g, eddy_session *s)
{
    const eddy_tensor x = eddy_scalar(g, -1);
    bool ok = eddy_fetch_number(s, eddy_leaky_relu(x, 0.0)) == 0;
    ok = ok && std::fabs(eddy_fetch_number(s, eddy_leaky_relu(x)) + 0.2) < 1e-6;
    ok = ok && eddy_fetch_number(s, eddy_random_normal(g, EDDY_SCALAR, 3.0, 0.0)) == 3;
    const eddy_tensor one = eddy_scalar(g, 1), end = eddy_scalar(g, 2);
    ok = ok && std::fabs(eddy_fetch_number(s, eddy_polynomial_decay(one, end, end)) - 1e-4) < 1e-9;
    ok = ok && std::fabs(eddy_fetch_number(s, eddy_cosine_decay(one, end, end))) < 1e-9;
    const eddy_tensor all = eddy_sum(eddy_reshape(eddy_doubles(g, 1, 2), EDDY_SHAPE(1, 2)));
    return ok && eddy_fetch_number(s, all) == 3;
}

/* Small arrays live to the end of the statement. */
static bool small_arrays(eddy_graph *g, eddy_session *s, eddy_tensor x)
{
    const double pair[] = { 3, 4 };
    bool ok = eddy_array_count(EDDY_FLOATS(0.1, 2, 3)) == 3 && eddy_array_get(EDDY_INTS(7), 0) == 7;
    ok = ok && eddy_array_dtype(EDDY_INT64S(1, 2)) == EDDY_INT64;
    ok = ok && eddy_array_dtype(EDDY_BOOLS(true, false)) == EDDY_BOOL;
    ok = ok && eddy_array_dtype(EDDY_BYTES(1, 2)) == EDDY_UINT8;
    ok = ok && eddy_array_item(EDDY_NUMBER(EDDY_FLOAT32, 0.5)) == 0.5;
    ok = ok && eddy_array_get(EDDY_VIEW(pair, 1, 2), 1) == 4;
    eddy_tensor c = EDDY_NO_TENSOR;
    EDDY_SCOPE(g, "scope") EDDY_CONTROL(g, EDDY_LIST(x)) c = eddy_doubles(g, 1, 2);
    ok = ok && eddy_controls_of(c) == 1 && eddy_name_of(c)[0] == 's';
    ok = ok && eddy_fetch_number(s, eddy_scalar(g, 2)) == 2;
    return ok && eddy_fetch_number(s, eddy_sum(x), EDDY_FEED({
        x, EDDY_SHAPED(EDDY_FLOATS(1, 2, 3), 1, 3) })) == 6;
}

static bool has_shape(eddy_tensor t, eddy_shape want)
{
    return eddy_shape_equal(eddy_shape_of(t), want);
}

int main()
{
    const float  rows[] = { 1, 2, 3, 4, 5, 6 };
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    eddy_tensor  w = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3, 1)));
    eddy_tensor  y = eddy_matmul(x, w), loss = eddy_sum(eddy_square(y)), dx[2];
    eddy_tensor  both = eddy_concat(EDDY_LIST(y, sum_of_rows(x)), 0);
    bool ok = has_shape(both, EDDY_SHAPE(EDDY_ANY, 1)) && has_shape(loss, EDDY_SCALAR);
    ok = ok && eddy_gradients(EDDY_LIST(loss), EDDY_LIST(x, w), dx) == EDDY_OK;
    eddy_optimizer *o = eddy_gradient_descent(g, eddy_scalar(g, 0.5));
    eddy_tensor train = eddy_minimize(o, loss);
    ok = ok && none.count == -1 && EDDY_LIST().count == 0;

    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2, 3), rows), *out[2] = {};
    ok = ok && eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), nullptr) == EDDY_OK;
    ok = ok && eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(both, dx[1]), out) == EDDY_OK;
    ok = ok && eddy_array_get(out[0], 3) == 15 && eddy_array_get(out[1], 0) == 2 * (6 + 60);
    ok = ok && eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(train), nullptr) == EDDY_OK;
    ok = ok && small_arrays(g, s, x) && defaults(g, s) && EDDY_VERSION_NUMBER >= 100;
    eddy_array *after = eddy_variable_value(s, w);
    ok = ok && std::fabs(eddy_array_item(after) - (1 - 66)) < 1e-6;
    if (!ok) std::fprintf(stderr, "graph: %s; session: %s\n", eddy_graph_message(g),
                          eddy_session_message(s));

    for (eddy_array *each : { a, out[0], out[1], after }) eddy_array_free(each);
    eddy_session_free(s);
    eddy_graph_free(g);
    return ok ? 0 : 1;
}
