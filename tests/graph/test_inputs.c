/* test_inputs.c -- declared inputs of operations: whether the declarations are consistent and agree
 * with the kernels, and the messages made from them. */
#include "tests/lib/checks.h"
#include "build/gen/table.h"

Suite *inputs_suite(void);

/* ---------------------------------------------------------- declarations -- */

enum { MOST = 8, TYPES = 0xffff, LIKE_AT = 24 };

static int like_of(const eddy_input_def *row) { return (int)(row->takes >> LIKE_AT) - 1; }

static int count_rows(const eddy_op_def *op)
{
    int n = 0;
    while (op->inputs[n].name) n++;
    return n;
}

/* Names are there, no input is without one, and LIKE names another input that has types. */
START_TEST(tables_are_whole)
{
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++) {
        if (!(*op)->inputs) continue;
        const int n = count_rows(*op);
        ck_assert_msg(n > 0 && n <= MOST, "%s: %d rows", (*op)->name, n);
        ck_assert_msg((*op)->max_inputs < 0 || n <= (*op)->max_inputs, "%s", (*op)->name);
        for (int i = 0; i < n; i++) {
            const eddy_input_def *row = &(*op)->inputs[i];
            const int like = like_of(row);
            ck_assert_msg(row->name[0], "%s: input %d", (*op)->name, i);
            if (like < 0) continue;
            ck_assert_msg(like < n && like != i && (row->takes & TYPES) == 0 &&
                          like_of(&(*op)->inputs[like]) < 0, "%s: %s", (*op)->name, row->name);
        }
    }
}
END_TEST

static bool takes(const eddy_input_def *row, int d)
{
    return (row->takes & TYPES) == 0 || (row->takes >> d & 1) != 0;
}

/* A type for each input: d where it is taken, or wherever no LIKE says something else if
 * `anyway`.  True if d stands somewhere. */
static bool choose_types(const eddy_op_def *op, int d, bool anyway, eddy_type *in)
{
    const int n = count_rows(op);
    bool somewhere = false;
    for (int i = 0; i < n; i++) {
        int own = 1;
        while (!takes(&op->inputs[i], own)) own++;
        const bool here = like_of(&op->inputs[i]) < 0 && (anyway || takes(&op->inputs[i], d));
        somewhere |= here;
        in[i] = (eddy_type){ here ? (eddy_dtype)d : (eddy_dtype)own, EDDY_SCALAR };
    }
    for (int i = 0; i < n; i++)
        if (like_of(&op->inputs[i]) >= 0) in[i].dtype = in[like_of(&op->inputs[i])].dtype;
    return somewhere;
}

static int free_inputs(const eddy_op_def *op)
{
    int n = 0;
    for (const eddy_input_def *row = op->inputs; row->name; row++) n += like_of(row) < 0;
    return n;
}

/* An elementwise op has a loop for each type that it takes, and where one type settles
 * all, for no other. */
START_TEST(loops_agree)
{
    eddy_type in[MOST];
    int seen = 0;
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++) {
        if (!((*op)->flags & EDDY_OP_ELEMENTWISE) || *op == &eddy_op_cast) continue;
        ck_assert_msg((*op)->inputs != NULL, "%s", (*op)->name);
        for (int d = 1; d < EDDY_DTYPES; d++) {
            const char *name = eddy_dtype_name((eddy_dtype)d);
            /* computed in float32 */
            if (((1u << d) & EDDY_TAKES_HALVES) != 0) continue;
            if (choose_types(*op, d, false, in))
                ck_assert_msg((*op)->tile(in, in) != NULL, "%s takes %s", (*op)->name, name);
            else if (free_inputs(*op) == 1 && choose_types(*op, d, true, in))
                ck_assert_msg((*op)->tile(in, in) == NULL, "%s could take %s", (*op)->name, name);
            seen++;
        }
    }
    ck_assert_int_gt(seen, 1000);
}
END_TEST

/* ------------------------------------------------------------- sentences -- */

static bool parts_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static const eddy_op_def parts = {
    .name = "Parts",
    .min_inputs = 2,
    .max_inputs = EDDY_MANY,
    .outputs = 1,
    .infer = parts_infer,
    .inputs =
        EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(2) }, { "place", EDDY_TAKES_INTEGERS },
                    { "part", EDDY_LIKE(0) | EDDY_RANK_FROM(1) }),
};

static eddy_tensor of(eddy_graph *g, eddy_dtype d, int rank)
{
    eddy_shape s = { .rank = rank, .dim = { 2, 3, 4 } };
    return eddy_placeholder(g, NULL, d, s);
}

/* x, a place and two parts. */
static void apply_parts(eddy_tensor x, eddy_tensor place, eddy_tensor p, eddy_tensor q)
{
    eddy_apply(&parts, NULL, 4, (eddy_tensor[]){ x, place, p, q }, (eddy_apply_args){ 0 });
}

START_TEST(sentences)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor x = of(g, EDDY_FLOAT32, 2), place = of(g, EDDY_INT32, 0);
    const eddy_tensor p = of(g, EDDY_FLOAT32, 1), open = of(g, EDDY_FLOAT32, EDDY_UNKNOWN_RANK);
    apply_parts(x, place, p, x);
    apply_parts(open, place, open, p);
    fits(g);
    apply_parts(of(g, EDDY_BOOL, 2), place, p, p);
    fails(g, EDDY_BAD_DTYPE, ": x is bool; float32, float64, float16 or bfloat16 expected [");
    apply_parts(x, x, p, p);
    fails(g, EDDY_BAD_DTYPE, ": place is float32; int32, int64 or uint8 expected [");
    apply_parts(x, place, p, of(g, EDDY_FLOAT64, 1));
    fails(g, EDDY_BAD_DTYPE, ": part[1] is float64, but x is float32; cast one [");
    apply_parts(p, place, p, p);
    fails(g, EDDY_BAD_SHAPE, ": x has rank 1; rank 2 expected [");
    apply_parts(x, place, of(g, EDDY_FLOAT32, 0), p);
    fails(g, EDDY_BAD_SHAPE, ": part[0] has rank 0; rank 1 or more expected [");
    apply_parts(p, place, p, place);          /* types come first */
    fails(g, EDDY_BAD_DTYPE, ": part[1] is int32");
    eddy_add_n(EDDY_LIST(x, place), NULL);
    fails(g, EDDY_BAD_DTYPE, ": xs[1] is int32, but xs[0] is float32; cast one [");
    eddy_graph_free(g);
}
END_TEST

/* A rank that only the run knows. */
START_TEST(ranks_of_a_run)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    const eddy_tensor x = of(g, EDDY_FLOAT32, EDDY_UNKNOWN_RANK);
    const eddy_tensor y = eddy_matmul(x, x);
    eddy_array *line = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3)), *out[1] = { NULL };
    fits(g);
    ck_assert(eddy_run(s, EDDY_FEED({ x, line }), EDDY_FETCH(y), out) != EDDY_OK);
    run_fails(s, EDDY_BAD_SHAPE,
              "BatchMatMulV2(float32[3], float32[3]): x has rank 1; rank 2 or more expected [");
    eddy_array_free(line);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *inputs_suite(void)
{
    Suite *s = suite_create("inputs");
    TCase *c = tcase_create("declared");
    tcase_add_test(c, tables_are_whole);
    tcase_add_test(c, loops_agree);
    tcase_add_test(c, sentences);
    tcase_add_test(c, ranks_of_a_run);
    suite_add_tcase(s, c);
    return s;
}
