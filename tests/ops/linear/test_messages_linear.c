/* test_messages_linear.c -- error messages of tensor products and linear algebra. */
#include "tests/lib/golden.h"
#include "build/gen/table.h"

Suite *messages_linear_suite(void);

static eddy_graph *g;

static eddy_tensor zeros(eddy_shape s) { return eddy_zeros(g, EDDY_FLOAT64, s); }

static void run(eddy_tensor t)
{
    eddy_session *s = eddy_session_new(g);
    ck_assert_ptr_null(eddy_fetch(s, t));
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
}

START_TEST(of_matrices)
{
    g = eddy_graph_new();
    golden_begin("ops/linear");
    const eddy_tensor a = zeros(EDDY_SHAPE(2, 3, 3)), b = zeros(EDDY_SHAPE(2, 3, 4));
    const eddy_tensor v = zeros(EDDY_SHAPE(3)), i = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(3, 3));
    const eddy_tensor none = zeros(EDDY_SHAPE((int64_t)1 << 32, 0));
    eddy_apply1(eddy_node_of(eddy_matrix_transpose(eddy_placeholder(g, NULL, EDDY_FLOAT64,
                EDDY_UNKNOWN_SHAPE)))->op, NULL, v);
    golden_graph(g);
    eddy_cholesky(i), golden_graph(g);
    eddy_cholesky(v), golden_graph(g);
    eddy_cholesky(b), golden_graph(g);
    eddy_svd(none), golden_graph(g);
    eddy_solve(a, i), golden_graph(g);
    eddy_solve(a, zeros(EDDY_SHAPE(4, 1))), golden_graph(g);
    eddy_solve(a, zeros(EDDY_SHAPE(5, 3, 1))), golden_graph(g);
    eddy_pinv(a, -1), golden_graph(g);
    eddy_cross(a, i), golden_graph(g);
    eddy_cross(a, v), golden_graph(g);
    run(eddy_cholesky(Neg(eddy_matrix_band_part(OnesLike(a), 0, 0))));
    run(eddy_inverse(a));
    run(eddy_solve(a, b));
    const eddy_tensor tall = zeros(EDDY_SHAPE(4, 3));
    eddy_gradient(Sum(eddy_qr(tall, .full_matrices = true)), tall), golden_graph(g);
    const eddy_tensor s = eddy_svd(tall, .full_matrices = true);
    eddy_gradient(Sum(eddy_output(s, 1)), tall), golden_graph(g);
    eddy_svd(eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(23170, 30000))), golden_graph(g);
    eddy_pinv(eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(30000, 23170))), golden_graph(g);
    eddy_eigh(eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(32767, -1))), golden_graph(g);
    eddy_matrix_sqrt(i), golden_graph(g);
    eddy_matrix_sqrt(b), golden_graph(g);
    eddy_sylvester(a, a, Cast(a, EDDY_FLOAT32)), golden_graph(g);
    eddy_sylvester(a, zeros(EDDY_SHAPE(4, 4)), b), golden_graph(g);
    eddy_sylvester(a, a, b), golden_graph(g);
    eddy_tridiagonal_solve(a, Cast(a, EDDY_FLOAT32)), golden_graph(g);
    eddy_tridiagonal_solve(a, zeros(EDDY_SHAPE(2, 4, 3))), golden_graph(g);
    eddy_tridiagonal_solve(v, a), golden_graph(g);
    eddy_apply2(&eddy_op_determinant_gradient, NULL, a, v), golden_graph(g);
    run(eddy_sylvester(a, a, a));
    run(eddy_tridiagonal_solve(a, a));
    golden_end();
    eddy_graph_free(g);
}
END_TEST

START_TEST(of_sums)
{
    g = eddy_graph_new();
    golden_begin("ops/linear_einsum");
    const eddy_tensor a = zeros(EDDY_SHAPE(2, 3)), b = zeros(EDDY_SHAPE(4, 5));
    const eddy_tensor open = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE);
    static const char *const equations[] = {
        "ij", "ij,jk,kl", "ij,j2", "ij,jkl", "ij,jk->ii", "ij,jk->z", "ij,...->i", "......,ij",
        "ij,jk->ik,", "ij,jk", "abcdefghi,ij", "ij,......",
    };
    for (size_t i = 0; i < sizeof equations / sizeof *equations; i++)
        eddy_einsum(equations[i], EDDY_LIST(a, b)), golden_graph(g);
    eddy_einsum("...i,ij", EDDY_LIST(open, b)), golden_graph(g);
    eddy_apply2(&eddy_op_same_size, ((int64_t[]){ 1, 0 }), a, b), golden_graph(g);
    eddy_einsum(NULL, EDDY_LIST(a)), golden_graph(g);
    eddy_tensordot(a, b, 3), golden_graph(g);
    eddy_tensordot(a, open, 1), golden_graph(g);
    const eddy_tensor large = zeros(EDDY_SHAPE(1, 1, 1, 1, 1));
    eddy_outer(large, large), golden_graph(g);
    eddy_kron(a, large), golden_graph(g);
    eddy_tensor many[65];
    for (int i = 0; i < 65; i++) many[i] = a;
    eddy_multi_dot((eddy_list){ 65, many }), golden_graph(g);
    eddy_norm(a, "nuc"), golden_graph(g);
    eddy_norm(a, "3", EDDY_AXES(0, 1)), golden_graph(g);
    eddy_norm(a, .axes = EDDY_AXES(0, 1, 2)), golden_graph(g);
    eddy_norm(open, "nuc", EDDY_AXES(0, 1)), golden_graph(g);
    eddy_norm(a, "1", EDDY_AXES(-1, -1)), golden_graph(g);
    eddy_norm(a, "fro", EDDY_AXES(1, -1)), golden_graph(g);
    eddy_norm(a, "nuc", EDDY_AXES(0, (int64_t)1 << 32)), golden_graph(g);
    eddy_norm(a, "2", EDDY_AXES(-3, 0)), golden_graph(g);
    eddy_norm(open, "2", EDDY_AXES(1, 1)), golden_graph(g);
    eddy_lstsq(a, a, .l2_regularizer = -1), golden_graph(g);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *messages_linear_suite(void)
{
    Suite *suite = suite_create("messages_linear");
    TCase *c = tcase_create("messages_linear");
    tcase_add_test(c, of_matrices);
    tcase_add_test(c, of_sums);
    suite_add_tcase(suite, c);
    return suite;
}
