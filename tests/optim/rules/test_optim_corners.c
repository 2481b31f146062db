/* test_optim_corners.c -- the newer optimizers with gradients and variables of zeros, without
 * elements, and of any rank; filters, roots computed separately, plans. */
#include "../../../eddy.h"
#include "ops/short_names.h"
#include "tests/lib/files/memory_files.h"

#include <check.h>
#include <math.h>
#include <string.h>

Suite *optim_corners_suite(void);

static eddy_graph *g;

static void setup(void) { g = eddy_graph_new(); }
static void teardown(void) { eddy_graph_free(g); }

static eddy_tensor number(double x) { return eddy_number(g, EDDY_FLOAT64, x); }

/* Without weight decay and with a rate of 0.1 where one is required. */
enum { ADAMW, ADAMAX, NADAM, RADAM, YOGI, LION, LAMB, LARS, ADAFACTOR, SM3, SHAMPOO, DECAYED,
       KINDS };

static eddy_optimizer *make(int kind)
{
    switch (kind) {
    case ADAMW: return eddy_adamw(g, number(0.1), .weight_decay = number(0));
    case ADAMAX: return eddy_adamax(g, number(0.1));
    case NADAM: return eddy_nadam(g, number(0.1));
    case RADAM: return eddy_radam(g, number(0.1));
    case YOGI: return eddy_yogi(g, number(0.1));
    case LION: return eddy_lion(g, number(0.1));
    case LAMB: return eddy_lamb(g, number(0.1));
    case LARS: return eddy_lars(g, number(0.1), .weight_decay = number(0));
    case ADAFACTOR: return eddy_adafactor(g, number(0.1));
    case SM3: return eddy_sm3(g, number(0.1));
    case SHAMPOO: return eddy_shampoo(g, number(0.1), .momentum = number(0.5));
    default: return eddy_decoupled_weight_decay(eddy_adam(g), number(0));
    }
}

static eddy_session *start(void)
{
    eddy_tensor init = eddy_initializer(g);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
    return s;
}

static void run(eddy_session *s, eddy_tensor t)
{
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL);
    ck_assert_msg(eddy_session_status(s) == EDDY_OK, "%s", eddy_session_message(s));
}

static double item(eddy_session *s, eddy_tensor t)
{
    eddy_array  *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    const double x = eddy_array_item(a);
    eddy_array_free(a);
    return x;
}

static eddy_tensor variable(eddy_tensor initial, const char *name)
{
    return eddy_variable(g, initial, .name = name);
}

static eddy_tensor full(eddy_shape shape, double x)
{
    return eddy_broadcast_to(number(x), shape);
}

/* ------------------------------------------------------------ zeros and ranks -- */

static eddy_shape shape_of(int k)
{
    const eddy_shape shapes[] = { EDDY_SCALAR, EDDY_SHAPE(3), EDDY_SHAPE(3, 2),
                                  EDDY_SHAPE(2, 1, 3), EDDY_SHAPE(2, 2, 3, 2), EDDY_SHAPE(1, 1) };
    return shapes[k];
}
enum { SHAPES = 6 };

/* Gradients of zeros, from the first step on, leave every element where it is. */
START_TEST(zero_gradient)
{
    for (int k = 0; k < SHAPES; k++) {
        eddy_tensor        v = variable(full(shape_of(k), 1.5), "v");
        eddy_gradient_pair p = { full(shape_of(k), 0), v };
        eddy_tensor train = eddy_apply_gradients(make(_i), &p, 1);
        eddy_session *s = start();
        for (int t = 0; t < 3; t++) run(s, train);
        ck_assert_double_eq(item(s, Max(Abs(Sub(v, 1.5)))), 0);
        eddy_session_free(s);
    }
}
END_TEST

/* Of variables that are 0, and thus have no length, the step is finite and goes down. */
START_TEST(zero_variable)
{
    for (int k = 0; k < SHAPES; k++) {
        eddy_tensor        v = variable(full(shape_of(k), 0), "v");
        eddy_gradient_pair p = { full(shape_of(k), 2), v };
        eddy_tensor train = eddy_apply_gradients(make(_i), &p, 1);
        eddy_session *s = start();
        for (int t = 0; t < 8; t++) run(s, train);
        const double most = item(s, Max(v));
        ck_assert_msg(isfinite(item(s, Min(v))) && most < 0, "%d of %d: %g", _i, k, most);
        eddy_session_free(s);
    }
}
END_TEST

/* 40 steps on a bowl come nearer to its bottom, whatever the rank, also with a shape that
 * only a run knows where the rule allows it. */
START_TEST(goes_down)
{
    for (int k = 0; k < SHAPES; k++)
        for (int open = 0; open <= (_i != SHAMPOO); open++) {
            eddy_tensor start_at = full(shape_of(k), 1);
            eddy_shape  shape = shape_of(k);
            for (int i = 0; i < shape.rank && open; i++) shape.dim[i] = EDDY_ANY;
            if (open) start_at = eddy_placeholder_with_default(start_at, "open", shape);
            eddy_tensor v = variable(start_at, "v");
            eddy_tensor train = eddy_minimize(make(_i), Sum(Square(v)), .var_list = EDDY_LIST(v));
            eddy_session *s = start();
            const double before = item(s, Sum(Square(v)));
            for (int t = 0; t < 40; t++) run(s, train);
            const double after = item(s, Sum(Square(v)));
            ck_assert_msg(after < before, "%d of %d: %g, then %g", _i, k, before, after);
            eddy_session_free(s);
        }
}
END_TEST

START_TEST(no_elements)
{
    const eddy_shape shapes[] = { EDDY_SHAPE(0), EDDY_SHAPE(0, 3), EDDY_SHAPE(2, 0) };
    for (int k = 0; k < 3; k++) {
        eddy_tensor        v = variable(full(shapes[k], 1), "v");
        eddy_gradient_pair p = { full(shapes[k], 1), v };
        eddy_tensor train = eddy_apply_gradients(make(_i), &p, 1);
        eddy_session *s = start();
        run(s, train);
        ck_assert_int_eq((int)item(s, eddy_size(v, EDDY_INT32)), 0);
        eddy_session_free(s);
    }
}
END_TEST

/* Two variables of two types in one step share the count; each gets its own step. */
START_TEST(two_types)
{
    eddy_tensor a = variable(full(EDDY_SHAPE(3, 2), 1), "a");
    eddy_tensor b = variable(Cast(full(EDDY_SHAPE(3, 2), 1), EDDY_FLOAT32), "b");
    eddy_gradient_pair p[2] = { { full(EDDY_SHAPE(3, 2), 0.5), a },
                                { Cast(full(EDDY_SHAPE(3, 2), 0.5), EDDY_FLOAT32), b } };
    eddy_tensor train = eddy_apply_gradients(make(_i), p, 2);
    eddy_session *s = start();
    for (int t = 0; t < 3; t++) run(s, train);
    ck_assert_double_le(item(s, Max(Abs(Sub(a, Cast(b, EDDY_FLOAT64))))), 1e-5);
    ck_assert_double_lt(item(s, Max(a)), 1);
    eddy_session_free(s);
}
END_TEST

/* A rate may be fed, here in float32 for a float64 variable: 0 stands still, while slots and
 * count go on; the second run moves. */
START_TEST(rate_is_fed)
{
    eddy_tensor     x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_optimizer *o = _i == 0   ? eddy_adamw(g, x)
                        : _i == 1 ? eddy_nadam(g, x)
                        : _i == 2 ? eddy_lamb(g, x)
                        : _i == 3 ? eddy_adafactor(g, x, .beta1 = number(0.9))
                                  : eddy_shampoo(g, x);
    eddy_tensor v = variable(full(EDDY_SHAPE(3, 2), 1), "v");
    eddy_tensor train = eddy_minimize(o, Sum(Square(v)), .var_list = EDDY_LIST(v));
    eddy_session *s = start();
    for (int k = 0; k < 2; k++) {
        const float now = k ? 0.25F : 0;
        eddy_array *rate = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SCALAR, &now);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, rate }), EDDY_FETCH(train), NULL), EDDY_OK);
        eddy_array_free(rate);
        if (k == 0) ck_assert_double_eq(item(s, Min(v)), 1);
        else ck_assert_double_lt(item(s, Max(v)), 0.99);
    }
    eddy_session_free(s);
}
END_TEST

/* ------------------------------------------------------------------ rows, filters -- */

/* Slots of rows that no gradient names may have any value: they are not read. */
START_TEST(lazy_reads_named_rows_only)
{
    eddy_optimizer *const o[] = {
        eddy_adamw(g, .lazy = true, .amsgrad = true), eddy_adamax(g, .lazy = true),
        eddy_nadam(g, .lazy = true), eddy_radam(g, .lazy = true), eddy_yogi(g, .lazy = true),
        eddy_lion(g, .lazy = true), eddy_sm3(g, number(0.1)) };
    for (size_t k = 0; k < sizeof o / sizeof *o; k++) {
        const char *names[8];
        eddy_tensor v = variable(full(EDDY_SHAPE(3, 2), 1), "v"), poison = number(NAN);
        eddy_tensor rows = eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 1 });
        eddy_gradient_pair p = { eddy_indexed_slices(full(EDDY_SHAPE(1, 2), 1), rows, v), v };
        eddy_tensor train = eddy_apply_gradients(o[k], &p, 1);
        eddy_tensor others = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 2 });
        const int   n = eddy_get_slot_names(o[k], names, 8);
        eddy_session *s = start();
        for (int i = 0; i < n; i++) {
            eddy_tensor slot = eddy_get_slot(o[k], v, names[i]);
            eddy_tensor bad = Mul(OnesLike(Gather(slot, others)), poison);
            if (eddy_shape_of(slot).dim[0] == 3) run(s, eddy_scatter_update(slot, others, bad));
        }
        run(s, train), run(s, train);
        ck_assert_double_eq(item(s, Max(Abs(Sub(Gather(v, others), 1)))), 0);
        ck_assert_double_lt(item(s, Max(Gather(v, rows))), 1);
        eddy_session_free(s);
    }
}
END_TEST

/* An index outside the variable is an error of the run, and nothing has changed. */
START_TEST(index_outside)
{
    const int32_t   bad[] = { 0, 3, 0, -1 };
    eddy_optimizer *o = _i == KINDS ? eddy_adamw(g, .lazy = true) : make(_i);
    eddy_tensor     v = variable(full(EDDY_SHAPE(3, 2), 1), "v"), slot[32];
    eddy_tensor     rows = eddy_placeholder(g, "rows", EDDY_INT32, EDDY_SHAPE(2));
    eddy_gradient_pair p = { eddy_indexed_slices(full(EDDY_SHAPE(2, 2), 1), rows, v), v };
    eddy_tensor   train = eddy_apply_gradients(o, &p, 1), sum = Sum(v);
    const int     n = eddy_optimizer_variables(o, slot, 32);
    for (int i = 0; i < n; i++) sum = Add(sum, Cast(Sum(slot[i]), EDDY_FLOAT64));
    eddy_session *s = start();
    const double  before = item(s, sum);
    for (int k = 0; k < 2; k++) {
        eddy_array *at = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(2), &bad[2 * k]);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ rows, at }), EDDY_FETCH(train), NULL),
                         EDDY_OUT_OF_RANGE);
        eddy_array_free(at);
        ck_assert_double_eq(item(s, sum), before);
    }
    eddy_session_free(s);
}
END_TEST

static bool is_named(eddy_tensor v, void *name) { return strcmp(eddy_name_of(v), name) == 0; }

static eddy_optimizer *filtered(int k)
{
    static char w[] = "w", b[] = "b";
    const eddy_variable_filter below = { eddy_rank_below_2, NULL };
    const eddy_variable_filter is_w = { is_named, w }, is_b = { is_named, b };
    switch (k) {
    case 0: return eddy_adamw(g, number(1), .weight_decay = number(0.25), .without_decay = below);
    case 1: return eddy_lion(g, number(1), .weight_decay = number(0.25), .without_decay = is_b);
    case 2:
        return eddy_lamb(g, number(0.5), .weight_decay = number(0.5), .without_decay = below);
    case 3:
        return eddy_lamb(g, number(0.25), .weight_decay = number(0.5),
                         .without_adaptation = is_w);
    case 4: return eddy_lars(g, number(1), .weight_decay = number(0.25), .skip = is_w);
    default: return eddy_decoupled_weight_decay(eddy_lion(g), number(0.25), below);
    }
}

/* With a gradient of zeros only the decay moves, and not what is picked.  The ratio of LAMB is
 * 2 / 1 where it adapts, that of LARS 1. */
START_TEST(filters)
{
    const double want[][2] = { { 1.5, 2 }, { 1.5, 2 }, { 1, 2 }, { 1.75, 1.5 }, { 2, 1.5 },
                               { 1.5, 2 } };
    eddy_tensor  w = variable(full(EDDY_SHAPE(2, 2), 2), "w");
    eddy_tensor  b = variable(full(EDDY_SHAPE(2), 2), "b");
    eddy_gradient_pair p[] = { { full(EDDY_SHAPE(2, 2), 0), w }, { full(EDDY_SHAPE(2), 0), b } };
    eddy_tensor   train = eddy_apply_gradients(filtered(_i), p, 2);
    eddy_session *s = start();
    run(s, train);
    ck_assert_double_eq_tol(item(s, Max(w)), want[_i][0], 1e-12);
    ck_assert_double_eq_tol(item(s, Max(b)), want[_i][1], 1e-12);
    eddy_session_free(s);
}
END_TEST

/* --------------------------------------------------------------- Shampoo's roots -- */

/* Steps take the roots that are there: first the identity, then those that the operation
 * left, which are those of a Shampoo that makes its own. */
START_TEST(separate_roots)
{
    eddy_tensor     x = full(EDDY_SHAPE(2, 3), 1), d = full(EDDY_SHAPE(2, 3), 3);
    eddy_tensor     v = variable(x, "v"), w = variable(x, "w");
    eddy_optimizer *apart = eddy_shampoo(g, number(0.5), .separate_roots = true);
    eddy_optimizer *whole = eddy_shampoo(g, number(0.5));
    eddy_gradient_pair p = { d, v }, q = { d, w };
    eddy_tensor train = eddy_apply_gradients(apart, &p, 1), roots = eddy_shampoo_roots(apart);
    eddy_tensor other = eddy_apply_gradients(whole, &q, 1);
    eddy_session *s = start();
    run(s, train);
    ck_assert_double_eq(item(s, Max(Abs(Add(v, 0.5)))), 0);
    run(s, other);
    run(s, roots);
    run(s, eddy_assign(v, x));
    run(s, train);
    ck_assert_double_le(item(s, Max(Abs(Sub(v, w)))), 1e-12);
    eddy_session_free(s);
}
END_TEST

/* ------------------------------------------------------------------------- plans -- */

/* The update of a variable is one loop over its memory; the scalars of the step and their
 * count are at most three more instructions. */
START_TEST(one_loop)
{
    static const int most[KINDS] = { [ADAMW] = 3, [ADAMAX] = 3, [NADAM] = 4, [RADAM] = 3,
                                     [YOGI] = 3, [LION] = 1 };
    eddy_tensor        v = variable(full(EDDY_SHAPE(64, 64), 1), "v");
    eddy_tensor        d = eddy_placeholder(g, "d", EDDY_FLOAT64, EDDY_SHAPE(64, 64));
    eddy_gradient_pair p = { d, v };
    eddy_tensor        train = eddy_apply_gradients(make(_i), &p, 1);
    eddy_session      *s = start();
    eddy_array        *zeros = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(64, 64));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ d, zeros }), EDDY_FETCH(train), NULL), EDDY_OK);
    ck_assert_int_le(eddy_session_plan_info(s).instructions, most[_i]);
    eddy_array_free(zeros);
    eddy_session_free(s);
}
END_TEST

/* The bits are those of one thread for any number of them. */
START_TEST(threads)
{
    eddy_tensor        v = variable(eddy_random_normal(g, EDDY_SHAPE(300, 200)), "v");
    eddy_gradient_pair p = { eddy_random_normal(g, EDDY_SHAPE(300, 200)), v };
    eddy_tensor        train = eddy_apply_gradients(make(_i), &p, 1);
    eddy_tensor        init = eddy_initializer(g);
    eddy_array        *x[2];
    for (int k = 0; k < 2; k++) {
        eddy_session *s = eddy_session_new(g, .threads = k ? 4 : 1);
        run(s, init);
        for (int t = 0; t < 3; t++) run(s, train);
        x[k] = eddy_fetch(s, v);
        eddy_session_free(s);
    }
    ck_assert(eddy_array_equal(x[0], x[1]));
    eddy_array_free(x[0]);
    eddy_array_free(x[1]);
}
END_TEST

/* Whichever allocation fails, there is an error, and all memory is released. */
START_TEST(no_memory)
{
    for (long at = 1, done = 0; !done; at += 1 + at / 8) {
        failing_allocator f;
        failing_allocator_init(&f);
        f.at = at;
        f.persistent = true;
        eddy_graph *const kept = g;
        g = eddy_graph_new(.allocator = &f.table);
        eddy_tensor        v = variable(full(EDDY_SHAPE(3, 2), 1), "v");
        eddy_gradient_pair p = { full(EDDY_SHAPE(3, 2), 1), v };
        eddy_apply_gradients(make(_i), &p, 1);
        done = f.calls < at;
        ck_assert_int_eq(g ? eddy_graph_status(g) : EDDY_NO_MEMORY,
                         done ? EDDY_OK : EDDY_NO_MEMORY);
        eddy_graph_free(g);
        g = kept;
        ck_assert_int_eq(f.live, 0);
    }
}
END_TEST

Suite *optim_corners_suite(void)
{
    Suite *suite = suite_create("optim_corners");
    TCase *c = tcase_create("optim_modern_corners"), *many = tcase_create("roots");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_checked_fixture(many, setup, teardown);
    tcase_set_tags(many, "many");       /* roots of matrices: minutes under valgrind */
    tcase_add_loop_test(c, zero_gradient, 0, KINDS);
    tcase_add_loop_test(c, zero_variable, 0, KINDS);
    tcase_add_loop_test(c, goes_down, 0, KINDS);
    tcase_add_loop_test(c, no_elements, 0, KINDS);
    tcase_add_loop_test(c, two_types, 0, KINDS);
    tcase_add_loop_test(c, rate_is_fed, 0, 5);
    tcase_add_test(c, lazy_reads_named_rows_only);
    tcase_add_loop_test(c, index_outside, 0, KINDS + 1);
    tcase_add_loop_test(c, filters, 0, 6);
    tcase_add_test(c, separate_roots);
    tcase_add_loop_test(c, one_loop, 0, LION + 1);
    tcase_add_loop_test(c, threads, 0, SHAMPOO);
    tcase_add_loop_test(many, threads, SHAMPOO, SHAMPOO + 1);
    tcase_add_loop_test(c, threads, SHAMPOO + 1, KINDS);
    tcase_add_loop_test(c, no_memory, 0, KINDS);
    suite_add_tcase(suite, c);
    suite_add_tcase(suite, many);
    return suite;
}
