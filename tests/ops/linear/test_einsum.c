/* test_einsum.c -- einsum against loops over all labels, and the products that are computed by
 * einsum. */
#include "tests/lib/checks.h"
#include "tests/lib/array_trial.h"

#include <math.h>

Suite *einsum_suite(void);

/* An equation without an ellipsis, with a size for each letter. */
typedef struct equation {
    const char *text;
    int         n;
} equation;

static const equation equations[] = {
    { "ij,jk->ik", 2 },      { "ij,jk", 2 },          { "ij,kj->ki", 2 },    { "ij,ji->", 2 },
    { "bij,bjk->bik", 2 },   { "bij,bkj->kbi", 2 },   { "ii", 1 },           { "ii->i", 1 },
    { "iij->ji", 1 },        { "ijk->kij", 1 },       { "ba", 1 },           { "i,i->i", 2 },
    { "i,j->ji", 2 },        { "abc,bcd->ad", 2 },    { "abcd,cbe->dea", 2 }, { "i,i", 2 },
    { "ij,jk,kl->il", 3 },   { "ij,jk,ki->", 3 },     { "ab,cd,ef->acbdef", 3 },
    { "a,ab,abc,bd->cd", 4 }, { "iji,kj->k", 2 },     { "bi,bj->bij", 2 },   { "abij,bjk->iak", 2 },
    { "a,b,c,ab,bc->ac", 5 }, { " i j , j -> i ", 2 }, { "ij->", 1 },        { "xyz,zyx->y", 2 },
    { ",ij->ji", 2 },        { "Ab,bA->bA", 2 },      { "Zaz->azZ", 1 },
};

static int size_of(char label) { return 2 + label % 3; }

/* The letters of term i; the one behind the arrow is number n, "" if there is none. */
static void term_of(const char *text, int number, int n, char *out)
{
    const char *at = text, *arrow = strstr(text, "->");
    if (number == n) at = arrow ? arrow + 2 : "";
    for (int i = 0; number < n && i < number; at++) i += *at == ',';
    for (; *at && *at != ',' && *at != '-'; at++)
        if (*at != ' ') *out++ = *at;
    *out = 0;
}

static void implied_output(const char *text, char *out)
{
    for (int c = 'A'; c <= 'z'; c++) {
        int count = 0;
        for (const char *at = text; *at; at++) count += *at == c;
        if (count == 1 && c != ' ') *out++ = (char)c;
    }
    *out = 0;
}

/* Where an element is, with `value` for each letter. */
static int64_t at(const char *term, const int *value)
{
    int64_t i = 0;
    for (; *term; term++) i = i * size_of(*term) + value[(int)*term];
    return i;
}

static eddy_shape shape_of(const char *term)
{
    eddy_shape s = { .rank = 0 };
    for (; *term; term++) s.dim[s.rank++] = size_of(*term);
    return s;
}

/* Counts up; false after the last. */
static bool advance(const char *letters, int *value)
{
    for (; *letters; letters++) {
        if (++value[(int)*letters] < size_of(*letters)) return true;
        value[(int)*letters] = 0;
    }
    return false;
}

static eddy_array *by_loops(const equation *e, eddy_array *const *x)
{
    char term[6][16], letters[64] = "";
    int  value[128] = { 0 };
    for (int i = 0; i <= e->n; i++) {
        term_of(e->text, i, e->n, term[i]);
        for (const char *c = term[i]; *c; c++)
            if (!strchr(letters, *c)) letters[strlen(letters)] = *c;
    }
    if (!strstr(e->text, "->")) implied_output(e->text, term[e->n]);
    eddy_array *y = eddy_array_new(EDDY_FLOAT64, shape_of(term[e->n]));
    do {
        double product = 1;
        for (int i = 0; i < e->n; i++) product *= eddy_array_get(x[i], at(term[i], value));
        const int64_t to = at(term[e->n], value);
        eddy_array_set(y, to, eddy_array_get(y, to) + product);
    } while (advance(letters, value));
    return y;
}

START_TEST(against_loops)
{
    for (unsigned seed = 0; seed < 3; seed++) {
        const equation *e = &equations[_i];
        trial t = trial_begin(seed);
        eddy_tensor x[5];
        for (int i = 0; i < e->n; i++) {
            char term[16];
            term_of(e->text, i, e->n, term);
            x[i] = fed(&t, filled(&t, EDDY_FLOAT64, shape_of(term)));
        }
        eddy_array *want = by_loops(e, t.array);
        const eddy_tensor y = eddy_einsum(e->text, ((eddy_list){ e->n, x }));
        ck_assert_msg(eddy_graph_status(t.graph) == EDDY_OK, "%s: %s", e->text,
                      eddy_graph_message(t.graph));
        check_array(&t, y, want);
        if (e->n == 1) check_gradient(&t, y, 1, x);       /* of linear ones; the sweep has others */
        eddy_array_free(want);
        trial_end(&t);
    }
}
END_TEST

/* With an ellipsis, against the product that it stands for. */
START_TEST(of_an_ellipsis)
{
    trial t = trial_begin(0);
    eddy_array *a = filled(&t, EDDY_FLOAT64, EDDY_SHAPE(2, 1, 3, 4));
    eddy_array *b = filled(&t, EDDY_FLOAT64, EDDY_SHAPE(5, 4, 2));
    const eddy_tensor x = eddy_constant(t.graph, a, NULL), y = eddy_constant(t.graph, b, NULL);
    eddy_array *want = value(&t, eddy_matmul(x, y));
    check_array(&t, eddy_einsum("...ij,...jk->...ik", EDDY_LIST(x, y)), want);
    check_array(&t, eddy_einsum("...ij,...jk", EDDY_LIST(x, y)), want);
    eddy_array_free(want);
    want = value(&t, Transpose(Sum(x, EDDY_AXES(-1)), EDDY_DIMS(2, 0, 1)));
    check_array(&t, eddy_einsum("...ij->i...", EDDY_LIST(x)), want);
    eddy_array_free(want);
    want = value(&t, Mul(x, x));
    check_array(&t, eddy_einsum("...,...", EDDY_LIST(x, x)), want);
    eddy_array_free(want);
    fits(t.graph);
    eddy_array_free(a);
    eddy_array_free(b);
    trial_end(&t);
}
END_TEST

/* The types of elements, nothing to sum, sizes that only a run tells. */
START_TEST(of_types_and_sizes)
{
    eddy_graph *g = eddy_graph_new();
    const int64_t three[] = { 1, 2, 3, 4, 5, 6 };
    const eddy_tensor i = eddy_const(g, EDDY_INT64, EDDY_SHAPE(2, 3), three);
    has_value(eddy_einsum("ij,kj->ik", EDDY_LIST(i, i)), 4, (double[]){ 14, 32, 32, 77 });
    const eddy_tensor c = Complex(eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 1, 2 }),
                                  eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 3, -1 }));
    has_value(Imag(eddy_einsum("i,i->", EDDY_LIST(c, c))), 1, (double[]){ 2 });
    const eddy_tensor none = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 0));
    has_value(eddy_einsum("ij,kj->ik", EDDY_LIST(none, none)), 4, (double[]){ 0, 0, 0, 0 });
    const eddy_tensor open = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    char text[64];
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(eddy_einsum("bij,jk->bik",
                     EDDY_LIST(open, Transpose(none)))), text, sizeof text), "[?,?,2]");
    fits(g);
    eddy_graph_free(g);
}
END_TEST

/* The status of a run of y when x and z are ones of these shapes; *out is the sum of y. */
static eddy_status of_ones(eddy_tensor y, eddy_tensor x, eddy_shape s, eddy_tensor z, eddy_shape t,
                           double *out)
{
    eddy_session *session = eddy_session_new(y.graph);
    eddy_array   *in[] = { eddy_array_new(EDDY_FLOAT64, s), eddy_array_new(EDDY_FLOAT64, t) };
    eddy_array   *sum = NULL;
    for (int i = 0; i < 2; i++)
        for (int64_t j = 0; j < eddy_array_count(in[i]); j++) eddy_array_set(in[i], j, 1);
    const eddy_status status = eddy_run(session, EDDY_FEED({ x, in[0] }, { z, in[1] }),
                                        EDDY_FETCH(Sum(y)), &sum);
    *out = sum ? eddy_array_get(sum, 0) : 0;
    eddy_array_free(in[0]);
    eddy_array_free(in[1]);
    eddy_array_free(sum);
    eddy_session_free(session);
    return status;
}

/* Axes of one label have one size, also when only a run tells it; those of an ellipsis
 * broadcast. */
START_TEST(of_one_size)
{
    static const struct {
        const char *equation;
        eddy_shape  x, z, other;      /* shapes that fit, and one for z that does not */
        double      sum;
    } all[] = {
        { "i,i->i", { 1, { 3 } }, { 1, { 3 } }, { 1, { 1 } }, 3 },
        { "i,i", { 1, { 1 } }, { 1, { 1 } }, { 1, { 3 } }, 1 },
        { "bij,bjk->bik", { 3, { 4, 2, 3 } }, { 3, { 4, 3, 2 } }, { 3, { 1, 3, 2 } }, 48 },
        { "iab,abj->ij", { 3, { 2, 2, 3 } }, { 3, { 2, 3, 2 } }, { 3, { 3, 2, 2 } }, 24 },
        { "ij,jk->ik", { 2, { 2, 3 } }, { 2, { 3, 2 } }, { 2, { 1, 2 } }, 12 },
        { "ii,jj->ij", { 2, { 2, 2 } }, { 2, { 3, 3 } }, { 2, { 3, 2 } }, 6 },
        { "...i,...i->...", { 2, { 4, 3 } }, { 2, { 1, 3 } }, { 2, { 4, 1 } }, 12 },
    };
    eddy_graph *g = eddy_graph_new();
    double sum;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const eddy_shape ranks[] = { all[i].x, all[i].z };
        eddy_tensor in[2], dx[2];
        for (int k = 0; k < 2; k++) {
            eddy_shape open = ranks[k];
            for (int d = 0; d < open.rank; d++) open.dim[d] = EDDY_ANY;
            in[k] = eddy_placeholder(g, NULL, EDDY_FLOAT64, open);
        }
        const eddy_tensor y = eddy_einsum(all[i].equation, ((eddy_list){ 2, in }));
        fits(g);
        ck_assert_int_eq(of_ones(y, in[0], all[i].x, in[1], all[i].z, &sum), EDDY_OK);
        ck_assert_msg(sum == all[i].sum, "%s: %g", all[i].equation, sum);
        ck_assert_msg(of_ones(y, in[0], all[i].x, in[1], all[i].other, &sum) == EDDY_BAD_SHAPE,
                      "%s", all[i].equation);
        for (int k = 0; k < 2; k++) {
            dx[k] = eddy_gradient(Sum(y), in[k]);
            ck_assert_int_eq(of_ones(dx[k], in[0], all[i].x, in[1], all[i].z, &sum), EDDY_OK);
            ck_assert_msg(sum > 0, "%s", all[i].equation);
        }
    }
    const eddy_tensor x = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor z = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    const eddy_shape one = EDDY_SHAPE(1), three = EDDY_SHAPE(3);
    ck_assert_int_eq(of_ones(eddy_tensordot(x, z, 1), x, one, z, three, &sum), EDDY_BAD_SHAPE);
    ck_assert_int_eq(of_ones(eddy_vdot(x, z), x, one, z, three, &sum), EDDY_BAD_SHAPE);
    ck_assert_int_eq(of_ones(eddy_tensordot(x, z, 1), x, three, z, three, &sum), EDDY_OK);
    ck_assert(sum == 3);
    eddy_graph_free(g);
}
END_TEST

/* A chain of products is multiplied where it is short: 2 x 2 x 50 x 50. */
START_TEST(cheapest_first)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor a = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(50, 2));
    const eddy_tensor b = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(2, 50));
    const eddy_tensor c = eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(50, 2));
    const eddy_tensor y = eddy_einsum("ij,jk,kl->il", EDDY_LIST(a, b, c));
    const eddy_tensor z = eddy_multi_dot(EDDY_LIST(a, b, c));
    for (int which = 0; which < 2; which++) {
        const eddy_tensor last = which ? z : y;
        int64_t small = 0;
        for (int i = 0; i < 2; i++) small += eddy_shape_count(eddy_shape_of(eddy_input(last, i)));
        ck_assert_int_eq(small, 100 + 4);
    }
    eddy_graph_free(g);
}
END_TEST

/* Numbers by hand; those of kron from NumPy 1.24. */
START_TEST(of_products)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor a = matrix(g, 2, 3, (double[]){ 1, 2, 3, 4, 5, 6 });
    const eddy_tensor v = vector(g, 3, (double[]){ 1, 0, -1 });
    const eddy_tensor w = vector(g, 2, (double[]){ 2, 3 });
    has_value(eddy_tensordot(a, a, .a_axes = EDDY_AXES(0, 1), .b_axes = EDDY_AXES(0, 1)), 1,
              (double[]){ 91 });
    has_value(eddy_tensordot(a, v, 1), 2, (double[]){ -2, -2 });
    has_value(eddy_outer(w, v), 6, (double[]){ 2, 0, -2, 3, 0, -3 });
    has_value(eddy_inner(a, v), 2, (double[]){ -2, -2 });
    has_value(eddy_dot(a, v), 2, (double[]){ -2, -2 });
    has_value(eddy_vdot(a, a), 1, (double[]){ 91 });
    has_value(eddy_matvec(a, v), 2, (double[]){ -2, -2 });
    has_value(eddy_matvec(a, w, .transpose_a = true), 3, (double[]){ 14, 19, 24 });
    has_value(eddy_kron(w, a), 12, (double[]){ 2, 4, 6, 3, 6, 9, 8, 10, 12, 12, 15, 18 });
    has_value(eddy_kron(real(g, 3), real(g, 4)), 1, (double[]){ 12 });
    has_value(eddy_kron(real(g, 2), w), 2, (double[]){ 4, 6 });
    has_value(eddy_cross(v, vector(g, 3, (double[]){ 2, 3, 5 })), 3, (double[]){ 3, -7, 3 });
    has_value(eddy_multi_dot(EDDY_LIST(w, a, v)), 1, (double[]){ -10 });
    has_value(eddy_trace(a), 1, (double[]){ 6 });
    const eddy_tensor s = matrix(g, 2, 2, (double[]){ 1, 1, 1, 0 });
    has_value(eddy_matrix_power(s, 10), 4, (double[]){ 89, 55, 55, 34 });
    has_value(eddy_matrix_power(s, 0), 4, (double[]){ 1, 0, 0, 1 });
    has_value(eddy_matrix_power(s, -1), 4, (double[]){ 0, 1, 1, -1 });
    has_value(eddy_matrix_transpose(a), 6, (double[]){ 1, 4, 2, 5, 3, 6 });
    fits(g);
    eddy_graph_free(g);
}
END_TEST

Suite *einsum_suite(void)
{
    Suite *s = suite_create("einsum");
    TCase *c = tcase_create("sums");
    tcase_add_loop_test(c, against_loops, 0, (int)(sizeof equations / sizeof *equations));
    tcase_add_test(c, of_an_ellipsis);
    tcase_add_test(c, of_types_and_sizes);
    tcase_add_test(c, of_one_size);
    tcase_add_test(c, cheapest_first);
    tcase_add_test(c, of_products);
    suite_add_tcase(s, c);
    return s;
}
