/* test_hostile.c -- every builder with meaningless handles, types, shapes and sizes: the result is
 * an error, or a tensor that runs or fails to run, but never a crash. */
#include "tests/lib/checks.h"

#include <limits.h>

Suite *hostile_suite(void);

enum { MOST = 32 };

static eddy_graph *g, *other;
static eddy_tensor odd[MOST];           /* good, strange and invalid handles */
static int         n_odd;
static eddy_session *s;

static void add(eddy_tensor t) { odd[n_odd++] = t; }

static eddy_tensor zeroed(eddy_dtype d, eddy_shape shape)
{
    eddy_array *a = eddy_array_new(d, shape);
    eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

static void add_constants(void)
{
    for (int d = EDDY_FLOAT32; d < EDDY_DTYPES; d++) add(zeroed((eddy_dtype)d, EDDY_SHAPE(2, 3)));
    add(zeroed(EDDY_FLOAT32, EDDY_SCALAR));
    add(zeroed(EDDY_INT32, EDDY_SHAPE(3)));
    add(zeroed(EDDY_INT64, EDDY_SCALAR));
    add(zeroed(EDDY_BOOL, EDDY_SCALAR));
    add(zeroed(EDDY_FLOAT64, EDDY_SHAPE(0, 3)));
    add(zeroed(EDDY_FLOAT32, EDDY_SHAPE(1, 1, 2, 1, 1, 1, 1, 3)));
    add(eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ INT32_MIN, INT32_MAX }));
    add(eddy_const(g, EDDY_INT64, EDDY_SHAPE(2), (int64_t[]){ INT64_MIN, INT64_MAX }));
    add(eddy_const(g, EDDY_INT32, EDDY_SCALAR, &(int32_t){ -1 }));
}

static void begin(void)
{
    eddy_graph *gone = eddy_graph_new();
    g = eddy_graph_new();
    other = eddy_graph_new();
    n_odd = 0;
    add_constants();
    add(eddy_variable(g, zeroed(EDDY_FLOAT32, EDDY_SHAPE(2, 3))));
    add(eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE));
    add(eddy_unstack(odd[0]));
    fits(g);
    add(eddy_no_op(g, NULL));
    add((eddy_tensor)EDDY_ZERO_TENSOR);
    add((eddy_tensor){ .graph = g });
    add((eddy_tensor){ .graph = g, .node = INT32_MAX });
    add((eddy_tensor){ .graph = g, .node = 1, .output = 7 });
    add((eddy_tensor){ .graph = g, .node = -1, .output = INT32_MIN });
    add(eddy_scalar(other, 1));
    add(eddy_scalar(gone, 1));
    ck_assert_int_le(n_odd, MOST);
    eddy_graph_free(gone);              /* whose memory the session may get */
    s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
}

static void end(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
    eddy_graph_free(other);
}

/* Checks the result of a call: a tensor of a graph without error, which is then run, or an error;
 * neither only if some argument was invalid. */
static void settle(eddy_tensor y, bool all_valid)
{
    if (eddy_is_valid(y) && eddy_graph_status(y.graph) == EDDY_OK) {
        if (y.graph == g) eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL);
    } else if (!eddy_is_valid(y)) {
        ck_assert(!all_valid || eddy_graph_status(g) != EDDY_OK ||
                  eddy_graph_status(other) != EDDY_OK);
    }
    eddy_graph_clear_error(g);
    eddy_graph_clear_error(other);
}

static bool valid(eddy_tensor t) { return eddy_is_valid(t) && eddy_outputs_of(t) > 0; }

/* --------------------------------------------------- tensors in, one out -- */

typedef eddy_tensor unary(eddy_tensor x);
typedef eddy_tensor binary(eddy_tensor a, eddy_tensor b);
typedef eddy_tensor ternary(eddy_tensor a, eddy_tensor b, eddy_tensor c);

static eddy_tensor default_print(eddy_tensor x)
{
    return eddy_print(x, .data = EDDY_LIST(x), .first_n = 0, .write = NULL);
}
static void        swallow(void *user, const char *line) { (void)user, (void)line; }
static eddy_tensor quiet_print(eddy_tensor x)
{
    return eddy_print(x, .write = swallow, .summarize = INT64_MIN);
}
static eddy_tensor default_unstack(eddy_tensor x) { return eddy_unstack(x); }
static eddy_tensor default_transpose(eddy_tensor x) { return eddy_transpose(x); }
static eddy_tensor default_shuffle(eddy_tensor x) { return eddy_random_shuffle(x); }
static eddy_tensor default_variable(eddy_tensor x) { return eddy_variable(g, x); }
static eddy_tensor default_argmin(eddy_tensor x)
{
    return eddy_argmin(x, .output_type = EDDY_COMPLEX64);
}
static eddy_tensor normal_like(eddy_tensor x) { return eddy_random_normal_like(x); }
static eddy_tensor truncated_like(eddy_tensor x) { return eddy_truncated_normal_like(x); }
static eddy_tensor uniform_like(eddy_tensor x) { return eddy_random_uniform_like(x, 0, 1); }
static eddy_tensor prevented(eddy_tensor x) { return eddy_prevent_gradient(x, NULL); }
static eddy_tensor checked(eddy_tensor x) { return eddy_check_numerics(x, NULL); }
static eddy_tensor like_number(eddy_tensor x) { return eddy_number_like(1e300, x); }
static eddy_tensor slope(eddy_tensor x) { return eddy_gradient(x, x); }
static eddy_tensor in_group(eddy_tensor x) { return eddy_group(g, EDDY_LIST(x, x), NULL); }
static eddy_tensor named_anew(eddy_tensor x) { return eddy_named("anew", x); }

static unary *const unaries[] = {
    eddy_neg, eddy_abs, eddy_sign, eddy_square, eddy_reciprocal, eddy_sqrt, eddy_rsqrt, eddy_exp,
    eddy_expm1, eddy_log, eddy_log1p, eddy_sin, eddy_cos, eddy_tanh, eddy_sigmoid, eddy_softplus,
    eddy_relu, eddy_floor, eddy_ceil, eddy_round, eddy_rint, eddy_is_nan, eddy_is_inf,
    eddy_is_finite, eddy_logical_not, eddy_identity, eddy_stop_gradient, eddy_zeros_like,
    eddy_ones_like, eddy_rank, eddy_l2_loss, eddy_read, eddy_is_initialized,
    eddy_initialized_value, eddy_first_positions, quiet_print, default_unstack,
    default_transpose, default_shuffle, default_variable, default_argmin, normal_like,
    truncated_like, uniform_like, prevented, checked, like_number, slope, in_group, named_anew,
};

START_TEST(of_one_tensor)
{
    for (int i = 0; i < n_odd; i++)
        settle(unaries[_i](odd[i]), valid(odd[i]) && unaries[_i] != named_anew);
}
END_TEST

static eddy_tensor products(eddy_tensor a, eddy_tensor b)
{
    return eddy_matmul(a, b, .transpose_a = true);
}
static eddy_tensor gathered(eddy_tensor a, eddy_tensor b) { return eddy_gather(a, b, .axis = -1); }
static eddy_tensor row_gathered(eddy_tensor a, eddy_tensor b)
{
    return eddy_gather(a, b, .skip_negative = true);
}
static eddy_tensor crossed(eddy_tensor a, eddy_tensor b)
{
    return eddy_softmax_cross_entropy(a, b);
}
static eddy_tensor sparsely(eddy_tensor a, eddy_tensor b)
{
    return eddy_sparse_softmax_cross_entropy(a, b);
}
static eddy_tensor joined(eddy_tensor a, eddy_tensor b) { return eddy_concat(EDDY_LIST(a, b), -1); }
static eddy_tensor stacked(eddy_tensor a, eddy_tensor b) { return eddy_stack(EDDY_LIST(a, b), 1); }
static eddy_tensor added(eddy_tensor a, eddy_tensor b) { return eddy_add_n(EDDY_LIST(a, b), NULL); }
static eddy_tensor scanned(eddy_tensor a, eddy_tensor b) { return eddy_linear_scan(a, b); }
static eddy_tensor asserted(eddy_tensor a, eddy_tensor b)
{
    return eddy_assert(a, .data = EDDY_LIST(b));
}
static eddy_tensor clipped(eddy_tensor a, eddy_tensor b) { return eddy_clip_by_norm(a, b); }
static eddy_tensor normed(eddy_tensor a, eddy_tensor b)
{
    return eddy_global_norm(EDDY_LIST(a, b));
}
static eddy_tensor sums(eddy_tensor a, eddy_tensor b) { return eddy_slices_add(EDDY_LIST(a, b)); }
static eddy_tensor pieces(eddy_tensor a, eddy_tensor b)
{
    return eddy_split_like(a, EDDY_LIST(b), 0);
}
static eddy_tensor global(eddy_tensor a, eddy_tensor b)
{
    eddy_tensor out[1] = { EDDY_ZERO_TENSOR };
    eddy_clip_by_global_norm(EDDY_LIST(a), b, out);
    return out[0];
}
static eddy_tensor hyper(eddy_tensor a, eddy_tensor b) { return eddy_hyper(a, b); }
static eddy_tensor steepest(eddy_tensor a, eddy_tensor b)
{
    return eddy_minimize(eddy_gradient_descent(g, a), b, .var_list = EDDY_LIST(odd[19]));
}
static eddy_tensor curved(eddy_tensor a, eddy_tensor b)
{
    eddy_tensor out[1] = { EDDY_ZERO_TENSOR };
    eddy_hessian_vector_product(a, EDDY_LIST(a), EDDY_LIST(b), out);
    return out[0];
}

static binary *const binaries[] = {
    eddy_add, eddy_sub, eddy_mul, eddy_squared_difference, eddy_maximum, eddy_minimum,
    eddy_div_no_nan, eddy_mul_no_nan, eddy_xlogy, eddy_xdivy, eddy_div, eddy_floordiv,
    eddy_floormod, eddy_truncatediv, eddy_pow, eddy_broadcast_like, eddy_sum_like, eddy_less,
    eddy_less_equal, eddy_greater, eddy_greater_equal, eddy_equal, eddy_not_equal,
    eddy_logical_and, eddy_logical_or, eddy_logical_xor, eddy_clip_by_average_norm,
    eddy_sigmoid_cross_entropy, eddy_bias_add, eddy_reshape_to, eddy_reshape_like,
    eddy_merge_leading, eddy_slices_with_values, eddy_slices_sum_duplicates, eddy_fill,
    eddy_assign, eddy_assign_add, eddy_assign_sub, eddy_relu_grad, eddy_gradient, products,
    gathered, row_gathered, crossed, sparsely, joined, stacked, added, scanned, asserted, clipped,
    normed, sums, pieces, global, hyper, steepest, curved,
};

/* Some of these give none in silence, as they should. */
static bool may_be_silent(binary *f)
{
    return f == eddy_gradient || f == curved || f == global || f == steepest;
}

START_TEST(of_two_tensors)
{
    for (int i = 0; i < n_odd; i++)
        for (int k = 0; k < n_odd; k++)
            settle(binaries[_i](odd[i], odd[k]),
                   valid(odd[i]) && valid(odd[k]) && !may_be_silent(binaries[_i]));
}
END_TEST

static eddy_tensor scattered(eddy_tensor a, eddy_tensor b, eddy_tensor c)
{
    return eddy_scatter_add(a, b, c);
}
static eddy_tensor scatter_set(eddy_tensor a, eddy_tensor b, eddy_tensor c)
{
    return eddy_scatter_update(a, b, c, .skip_negative = true);
}
static eddy_tensor gather_back(eddy_tensor a, eddy_tensor b, eddy_tensor c)
{
    return eddy_gather_grad(a, b, c);
}

static ternary *const ternaries[] = {
    eddy_where, eddy_clip_by_value, eddy_range,  eddy_indexed_slices,
    scattered,  scatter_set,        gather_back,
};

START_TEST(of_three_tensors)
{
    for (int i = 0; i < n_odd; i++)
        for (int k = 0; k < n_odd; k++)
            for (int m = (i + k) % 3; m < n_odd; m += 3)
                settle(ternaries[_i](odd[i], odd[k], odd[m]),
                       valid(odd[i]) && valid(odd[k]) && valid(odd[m]));
}
END_TEST

/* ------------------------------------------------------ sizes and shapes -- */

static const eddy_dims lists[] = {
    { 0 }, { .count = -1 }, { .count = -9 }, { .count = INT_MAX }, { .count = INT_MIN },
    { .count = 9 }, { .count = 1, .at = { INT64_MAX } }, { .count = 1, .at = { INT64_MIN } },
    { .count = 2, .at = { INT64_MAX, INT64_MAX } }, { .count = 2, .at = { -1, 0 } },
    { .count = 2, .at = { 0, 0 } }, { .count = 2, .at = { 1, 0 } }, { .count = 1, .at = { 1 } },
    { .count = 3, .at = { 2, 0, 1 } }, { .count = 8, .at = { 7, 6, 5, 4, 3, 2, 1, 0 } },
};
enum { LISTS = sizeof lists / sizeof *lists };

static void with_dims(eddy_tensor x, eddy_dims d)
{
    settle(eddy_sum(x, d), false);
    settle(eddy_mean(x, d, true), false);
    settle(eddy_max(x, d), false);
    settle(eddy_min(x, d, true), false);
    settle(eddy_prod(x, d), false);
    settle(eddy_any(x, d), false);
    settle(eddy_all(x, d), false);
    settle(eddy_logsumexp(x, d), false);
    settle(eddy_squeeze(x, d), false);
    settle(eddy_transpose(x, .perm = d), false);
    settle(eddy_tile(x, d), false);
    settle(eddy_tile_grad(x, x, d), false);
    settle(eddy_broadcast_along(x, x, d, false), false);
    settle(eddy_slice_like(x, x, d), false);
    settle(eddy_slice_grad(x, x, d), false);
    settle(eddy_dropout(x, 0.5, .noise_shape = d), false);
    settle(eddy_clip_by_norm(x, odd[10], .axes = d), false);
    settle(eddy_one_hot(x, 3, .axis = d), false);
    for (int i = 0; i < LISTS; i++) {
        settle(eddy_slice(x, d, lists[i]), false);
        settle(eddy_pad(x, d, lists[i]), false);
    }
}

START_TEST(of_lists)
{
    for (int i = 0; i < n_odd; i++) with_dims(odd[i], lists[_i]);
}
END_TEST

static const eddy_shape shapes[] = {
    { .rank = 99 },
    { .rank = -7 },
    { .rank = INT_MAX },
    { .rank = INT_MIN },
    { .rank = -1 },
    { .rank = 0 },
    { .rank = 1, .dim = { -1 } },
    { .rank = 1, .dim = { -2 } },
    { .rank = 1, .dim = { INT64_MIN } },
    { .rank = 1, .dim = { INT64_MAX } },
    { .rank = 2, .dim = { INT64_MAX, INT64_MAX } },
    { .rank = 2, .dim = { INT64_MAX, 0 } },
    { .rank = 2, .dim = { -1, -1 } },
    { .rank = 2, .dim = { 3, 2 } },
    { .rank = 2, .dim = { -1, 0 } },
    { .rank = 8, .dim = { 256, 256, 256, 256, 256, 256, 256, 256 } },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void of_a_shape(eddy_shape shape, eddy_dtype d)
{
    static eddy_initializer_fn const inits[] = {
        eddy_init_zeros, eddy_init_ones, eddy_init_glorot_uniform, eddy_init_glorot_normal,
        eddy_init_he_uniform, eddy_init_he_normal, eddy_init_lecun_uniform,
        eddy_init_lecun_normal, eddy_init_orthogonal,
    };
    for (size_t i = 0; i < sizeof inits / sizeof *inits; i++)
        settle(inits[i](g, d, shape, 0), false);
    settle(eddy_placeholder(g, NULL, d, shape), true);
    settle(eddy_const(g, d, shape, NULL), true);
    settle(eddy_zeros(g, d, shape), true);
    settle(eddy_ones(g, d, shape), true);
    settle(eddy_random_uniform(g, shape, .dtype = d), true);
    settle(eddy_random_uniform(g, shape, .dtype = d, .minval = -1e308, .maxval = 1e308), true);
    settle(eddy_random_normal(g, shape, .dtype = d, .stddev = -1), true);
    settle(eddy_truncated_normal(g, shape, .dtype = d), true);
    settle(eddy_random_uniform_int(g, shape, INT64_MAX, INT64_MIN, d), true);
    settle(eddy_random_uniform_int(g, shape, INT64_MIN, INT64_MAX, d), true);
    for (int i = 0; i < n_odd; i++) {
        settle(eddy_reshape(odd[i], shape), false);
        settle(eddy_broadcast_to(odd[i], shape), false);
        settle(eddy_placeholder_with_default(odd[i], NULL, shape), false);
        settle(eddy_indexed_slices_of(odd[i], odd[11], shape), false);
        settle(eddy_cast(odd[i], d), false);
        settle(eddy_shape_tensor(odd[i], d), false);
        settle(eddy_size(odd[i], d), false);
        settle(eddy_row_numbers(odd[i], d), false);
    }
}

/* Nothing large is really made: too much for one test, and no part of it. */
static bool is_small(eddy_shape shape)
{
    const int64_t n = eddy_shape_count(shape);
    return n < 1000;
}

START_TEST(of_shapes)
{
    static const eddy_dtype dtypes[] = {
        EDDY_DEFAULT_DTYPE, EDDY_FLOAT32, EDDY_INT64, EDDY_BOOL, EDDY_FLOAT16, EDDY_COMPLEX128,
        EDDY_DTYPES, (eddy_dtype)-1, (eddy_dtype)INT_MAX,
    };
    if (eddy_shape_is_valid(shapes[_i]) && !is_small(shapes[_i])) return;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) of_a_shape(shapes[_i], dtypes[d]);
}
END_TEST

START_TEST(of_sizes)
{
    static const int64_t sizes[] = {
        INT64_MIN, INT32_MIN, -9, -1, 0, 1, 2, 9, INT32_MAX, INT64_MAX
    };
    const int64_t n = sizes[_i];
    for (int i = 0; i < n_odd; i++) {
        const eddy_tensor x = odd[i];
        settle(eddy_argmax(x, n), false);
        settle(eddy_expand_dims(x, n), false);
        settle(eddy_concat(EDDY_LIST(x, x), n), false);
        settle(eddy_stack(EDDY_LIST(x, x), n), false);
        settle(eddy_unstack(x, n), false);
        settle(eddy_unstack(x, .num = n), false);
        settle(eddy_split(x, n, 0), false);
        settle(eddy_split(x, 1, n), false);
        settle(eddy_split_sizes(x, (int64_t[]){ n, n }, 2, 0), false);
        settle(eddy_split_like(x, EDDY_LIST(x), n), false);
        settle(eddy_softmax(x, EDDY_AXES(n)), false);
        settle(eddy_log_softmax(x, EDDY_AXES(n)), false);
        settle(eddy_cumsum(x, n), false);
        settle(eddy_cumprod(x, n, true, true), false);
        settle(eddy_linear_scan(x, x, n), false);
        settle(eddy_shift(x, n, 0), false);
        settle(eddy_shift(x, 1, n), false);
        settle(eddy_gather(x, odd[11], n), false);
        settle(eddy_dropout(x, (double)n), false);
        if (n < 1000) settle(eddy_one_hot(x, n), false);
        if (n < 1000) settle(eddy_dense(x, n), false);
        settle(eddy_output(x, (int)n), false);
        settle(eddy_input(x, (int)n), false);
        settle(eddy_control(x, (int)n), false);
    }
    settle(eddy_split_sizes(odd[0], NULL, (int)n, 0), false);
    settle(eddy_add_n((eddy_list){ (int)n, NULL }, NULL), false);
    settle(eddy_concat((eddy_list){ (int)n, NULL }, 0), false);
    settle(eddy_stack((eddy_list){ (int)n, NULL }, 0), false);
    settle(eddy_global_norm((eddy_list){ (int)n, NULL }), false);
    settle(eddy_slices_add((eddy_list){ (int)n, NULL }), false);
    settle(eddy_group(g, (eddy_list){ (int)n, NULL }, NULL), false);
    settle(eddy_split_like(odd[0], (eddy_list){ (int)n, NULL }, 0), false);
    settle(eddy_print(odd[0], .data = (eddy_list){ (int)n, NULL }, .write = swallow), false);
    settle(eddy_assert(odd[13], .data = (eddy_list){ (int)n, NULL }), false);
    eddy_tuple(g, (eddy_list){ (int)n, NULL }, odd, NULL);
    settle(odd[0], false);
}
END_TEST

/* --------------------------------------------------- no graph, no memory -- */

START_TEST(of_no_graph)
{
    const eddy_shape two = EDDY_SHAPE(2);
    eddy_graph *gone = eddy_graph_new(), *bad[2] = { NULL, gone };
    eddy_graph_free(gone);
    for (int i = 0; i < 2; i++) {
        ck_assert(!eddy_is_valid(eddy_placeholder(bad[i], NULL, EDDY_FLOAT32, two)));
        ck_assert(!eddy_is_valid(eddy_constant(bad[i], NULL, NULL)));
        ck_assert(!eddy_is_valid(eddy_const(bad[i], EDDY_FLOAT32, two, (float[]){ 1, 2 })));
        ck_assert(!eddy_is_valid(eddy_scalar(bad[i], 1)) &&
                  !eddy_is_valid(eddy_number(bad[i], EDDY_INT32, 1)));
        ck_assert(!eddy_is_valid(eddy_zeros(bad[i], EDDY_FLOAT32, two)) &&
                  !eddy_is_valid(eddy_ones(bad[i], EDDY_FLOAT32, two)));
        ck_assert(!eddy_is_valid(eddy_no_op(bad[i], NULL)) &&
                  !eddy_is_valid(eddy_initializer(bad[i])));
        ck_assert(!eddy_is_valid(eddy_group(bad[i], EDDY_LIST(), NULL)));
        ck_assert(!eddy_is_valid(eddy_random_normal(bad[i], two)) &&
                  !eddy_is_valid(eddy_random_uniform(bad[i], two)));
        ck_assert(!eddy_is_valid(eddy_truncated_normal(bad[i], two)));
        ck_assert(!eddy_is_valid(eddy_random_uniform_int(bad[i], two, 0, 3)));
        ck_assert(!eddy_is_valid(eddy_init_orthogonal(bad[i], EDDY_FLOAT32, EDDY_SHAPE(2, 2), 0)));
        ck_assert(!eddy_is_valid(eddy_init_zeros(bad[i], EDDY_FLOAT32, two, 0)));
        ck_assert(!eddy_is_valid(eddy_variable(bad[i])) &&
                  !eddy_is_valid(eddy_create_global_step(bad[i])));
        ck_assert(!eddy_is_valid(eddy_get_global_step(bad[i])) &&
                  !eddy_is_valid(eddy_get_or_create_global_step(bad[i])));
        ck_assert_ptr_null(eddy_gradient_descent(bad[i]));
        ck_assert_ptr_null(eddy_momentum(bad[i]));
        ck_assert_ptr_null(eddy_adam(bad[i]));
        eddy_tuple(bad[i], EDDY_LIST(odd[0]), odd, NULL);
    }
    ck_assert_ptr_null(eddy_graph_load());
    ck_assert(!eddy_is_valid(eddy_concat()) && !eddy_is_valid(eddy_stack()) &&
              !eddy_is_valid(eddy_sum()));
    ck_assert(!eddy_is_valid(eddy_matmul()) && !eddy_is_valid(eddy_dense()) &&
              !eddy_is_valid(eddy_variable()));
    ck_assert(!eddy_is_valid(eddy_apply(NULL, NULL, 0, NULL, (eddy_apply_args){ .graph = g })));
    ck_assert(!eddy_is_valid(default_print((eddy_tensor)EDDY_ZERO_TENSOR)));
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

Suite *hostile_suite(void)
{
    Suite *suite = suite_create("hostile");
    TCase *c = tcase_create("hostile");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_loop_test(c, of_one_tensor, 0, COUNT(unaries));
    tcase_add_loop_test(c, of_two_tensors, 0, COUNT(binaries));
    tcase_add_loop_test(c, of_three_tensors, 0, COUNT(ternaries));
    tcase_add_loop_test(c, of_lists, 0, LISTS);
    tcase_add_loop_test(c, of_shapes, 0, SHAPES);
    tcase_add_loop_test(c, of_sizes, 0, 10);
    tcase_add_test(c, of_no_graph);
    suite_add_tcase(suite, c);
    return suite;
}
