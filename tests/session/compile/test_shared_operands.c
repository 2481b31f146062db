/* test_shared_operands.c -- operands that several products of a run read: packed once, with the
 * bits of products that pack it each; packed again in each run, and where a variable is written. */
#include "graph/base/cpu.h"
#include "session/compile/program.h"
#include "session/compile/shared_operands.h"
#include "tests/lib/session_fixture.h"

#include <math.h>

Suite *shared_operands_suite(void);

enum { ROWS = 32, SIZE = 80, FORM = SIZE * 96 * sizeof(float) };

static eddy_array *numbers(int64_t rows, int seed)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(rows, SIZE));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin((double)(i * 7 + seed * 13 + 1)) / 4);
    return a;
}

static eddy_tensor square(void)
{
    return eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(SIZE, SIZE)));
}

/* Only tiles pack: BLAS does by itself. */
static bool has_tiles(void) { return eddy__instructions_used() > EDDY_BASELINE; }

static eddy_tensor next(eddy_tensor x, eddy_tensor w) { return Tanh(eddy_matmul(x, w)); }

/* So many steps of a network that is written out. */
static eddy_tensor steps(eddy_tensor x, eddy_tensor w, int n)
{
    for (int i = 0; i < n; i++) x = next(x, w);
    return x;
}

/* Of the plan and of the bodies of its programs: operands that are shared; that last. */
typedef struct shares {
    int n, lasting;
} shares;

static void count(const eddy_plan *p, shares *to)
{
    if (!p) return;
    for (const shared_operand *o = p->shared; o; o = o->next) to->n++, to->lasting += o->lasts;
    for (const eddy_program *q = p->programs; q; q = q->next) {
        count(q->condition.plan, to);
        for (int b = 0; b < q->n_bodies; b++) count(q->bodies[b].plan, to);
    }
}

/* What the last plan of a session shares, if products have tiles here. */
static void shares_are(const eddy_session *session, int n, int lasting)
{
    shares     got = { 0 };
    eddy_error error = { 0 };
    count(session->plans, &got);
    ck_assert_int_eq(got.n, has_tiles() ? n : 0);
    ck_assert_int_eq(got.lasting, has_tiles() ? lasting : 0);
    ck_assert_msg(eddy__plan_check(session->plans, &error), "%s", error.message);
}

/* Two runs with other weights and x, in sessions with and without shared operands, have the same
 * bits. */
static void same_bits(eddy_tensor x, eddy_tensor w, eddy_tensor y, int n, int lasting)
{
    eddy_session *session[] = { eddy_session_new(g, .without = EDDY_PASS_HOIST),
                                eddy_session_new(g, .threads = 1),
                                eddy_session_new(g, .threads = 2),
                                eddy_session_new(g, .without = EDDY_PASS_FUSE) };
    fits(g);
    for (int run = 0; run < 3; run++) {
        eddy_array *in = numbers(eddy_shape_of(x).dim[0], run), *first = NULL;
        eddy_array *weights = numbers(SIZE, run / 2 + 5);
        for (size_t i = 0; i < sizeof session / sizeof *session; i++) {
            eddy_array *out = NULL;
            if (run != 1) eddy_variable_set(session[i], w, weights);
            ck_assert_msg(eddy_run(session[i], EDDY_FEED({ x, in }), EDDY_FETCH(y), &out) ==
                          EDDY_OK, "%s", eddy_session_message(session[i]));
            shares_are(session[i], i > 0 ? n : 0, i > 0 ? lasting : 0);
            if (first) ck_assert(eddy_array_equal(first, out));
            if (first) eddy_array_free(out);
            else first = out;
        }
        eddy_array_free(first), eddy_array_free(in), eddy_array_free(weights);
    }
    for (size_t i = 0; i < sizeof session / sizeof *session; i++) eddy_session_free(session[i]);
}

static eddy_tensor fed_rows(int64_t n)
{
    return eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(n, SIZE));
}
static eddy_tensor fed(void) { return fed_rows(ROWS); }

/* ------------------------------------------------------------------ in a plan -- */

START_TEST(written_out)
{
    const eddy_tensor x = fed(), w = square();
    same_bits(x, w, steps(x, w, 5), 1, 0);
}
END_TEST

/* Products of so few rows that they alone read the operand as it is; of one strip, which read it
 * once; and of more rows than packing matters for. */
START_TEST(other_rows)
{
    static const int64_t rows[] = { 16, 5, 300 };
    const eddy_tensor    x = fed_rows(rows[_i]), w = square();
    same_bits(x, w, steps(x, w, 4), _i == 0, 0);
}
END_TEST

START_TEST(few_readers)
{
    const eddy_tensor x = fed(), w = square();
    same_bits(x, w, steps(x, w, 2), 0, 0);
}
END_TEST

/* Weights that the run itself computes. */
START_TEST(computed)
{
    const eddy_tensor x = fed(), w = square();
    same_bits(x, w, steps(x, Tanh(Mul(w, Sum(x))), 4), 1, 0);
}
END_TEST

/* So many panels that threads share them. */
START_TEST(wide)
{
    enum { TIMES = 20 };
    const eddy_tensor x = fed(), w = square();
    eddy_tensor       all[TIMES], y;
    for (int i = 0; i < TIMES; i++) all[i] = w;
    const eddy_tensor joined = eddy_concat(((eddy_list){ TIMES, all }), .axis = 1);
    y = next(x, joined);
    for (int i = 2; i < 5; i++) y = Mul(y, next(Mul(x, i), joined));
    same_bits(x, w, y, 1, 0);
}
END_TEST

/* The memory of the form is planned, and limited memory is not used for it. */
START_TEST(memory)
{
    const eddy_tensor x = fed(), w = square(), y = steps(x, w, 5);
    eddy_array       *in = numbers(ROWS, 1), *weights = numbers(SIZE, 2);
    eddy_session     *each = eddy_session_new(g, .without = EDDY_PASS_HOIST);
    eddy_session     *limited = eddy_session_new(g, .max_bytes = (size_t)1 << 30);
    eddy_session     *all[] = { s, each, limited };
    size_t            bytes[3];
    fits(g);
    for (int i = 0; i < 3; i++) {
        eddy_variable_set(all[i], w, weights);
        ck_assert_int_eq(eddy_run(all[i], EDDY_FEED({ x, in }), EDDY_FETCH(y), NULL), EDDY_OK);
        shares_are(all[i], i == 0, 0);
        bytes[i] = eddy_session_plan_info(all[i]).arena_bytes;
    }
    ck_assert_uint_le(bytes[0], bytes[1] + FORM);
    ck_assert_uint_eq(bytes[1], bytes[2]);
    eddy_array_free(in), eddy_array_free(weights);
    eddy_session_free(each), eddy_session_free(limited);
}
END_TEST

/* Where the variable is written, products before it and behind it share forms of their own. */
START_TEST(written_between)
{
    const eddy_tensor x = fed(), w = square();
    const eddy_tensor before = steps(x, w, 3);
    const eddy_tensor update = eddy_assign_add(w, eddy_matmul(before, before, .transpose_a = true));
    eddy_control_begin(g, EDDY_LIST(update));
    const eddy_tensor now = eddy_identity(w), after = steps(before, _i ? w : now, 3);
    eddy_control_end(g);
    same_bits(x, w, after, 2, 0);
}
END_TEST

/* ------------------------------------------------------------------- in loops -- */

static int iterate(eddy_list x, eddy_tensor *y, void *w)
{
    y[0] = next(x.at[0], *(const eddy_tensor *)w);
    return 1;
}

START_TEST(captured)
{
    eddy_tensor x = fed(), w = square(), y[2];
    eddy_loop((eddy_function){ .build = iterate, .context = &w }, EDDY_LIST(x), EDDY_LIST(), y, 6);
    same_bits(x, w, y[0], 1, 1);
}
END_TEST

static int small(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Less(Sum(x.at[0]), 1e9);
    return 1;
}

/* A condition computes in the memory of the body. */
START_TEST(with_condition)
{
    eddy_tensor x = fed(), w = square(), y;
    eddy_while_loop((eddy_function){ .build = small },
                    (eddy_function){ .build = iterate, .context = &w }, EDDY_LIST(x), &y, NULL,
                    .maximum_iterations = 4);
    same_bits(x, w, y, 0, 0);
}
END_TEST

/* The weights change with each iteration. */
static int carried(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = steps(x.at[0], x.at[1], 3);
    y[1] = Mul(x.at[1], 0.5);
    return 2;
}

START_TEST(carried_weights)
{
    eddy_tensor x = fed(), w = square(), y[2];
    eddy_loop((eddy_function){ .build = carried }, EDDY_LIST(x, eddy_identity(w)), EDDY_LIST(), y,
              3);
    same_bits(x, w, y[0], 1, 0);
}
END_TEST

static int four(eddy_list x, eddy_tensor *y, void *w)
{
    y[0] = steps(x.at[0], *(const eddy_tensor *)w, 4);
    return 1;
}

/* A loop and a branch in the body of a loop. */
static int nested(eddy_list x, eddy_tensor *y, void *w)
{
    eddy_tensor inner[2], chosen = EDDY_NO_TENSOR;
    const eddy_function one = { .build = iterate, .context = w };
    eddy_loop(one, EDDY_LIST(x.at[0]), EDDY_LIST(), inner, 2);
    eddy_cond(Greater(Sum(inner[0]), 0), one, (eddy_function){ .build = four, .context = w },
              &chosen, EDDY_LIST(inner[0]));
    y[0] = next(chosen, *(const eddy_tensor *)w);
    return 1;
}

START_TEST(in_each_other)
{
    eddy_tensor x = fed(), w = square(), y[2];
    eddy_loop((eddy_function){ .build = nested, .context = &w }, EDDY_LIST(x), EDDY_LIST(), y, 3);
    same_bits(x, w, y[0], 3, 2);        /* of both bodies, and of the branch with four products */
}
END_TEST

Suite *shared_operands_suite(void)
{
    Suite *suite = suite_create("shared_operands");
    TCase *t = tcase_create("shared_operands");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, written_out);
    tcase_add_loop_test(t, other_rows, 0, 3);
    tcase_add_test(t, few_readers);
    tcase_add_test(t, computed);
    tcase_add_test(t, wide);
    tcase_add_test(t, memory);
    tcase_add_loop_test(t, written_between, 0, 2);
    tcase_add_test(t, captured);
    tcase_add_test(t, with_condition);
    tcase_add_test(t, carried_weights);
    tcase_add_test(t, in_each_other);
    suite_add_tcase(suite, t);
    return suite;
}
