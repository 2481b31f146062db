/* test_recompute.c -- cheap values that a later loop computes again: the same bits, less memory;
 * and when they are kept instead. */
#include "session/state/internal.h"
#include "tests/lib/graph_fixture.h"

#include <stdlib.h>

Suite *recompute_suite(void);

enum { ROWS = 301, COLUMNS = 37, BYTES = 4 * ROWS * COLUMNS, STEPS = 3, MOST = 4 };

/* A variable of numbers from -2 to 2. */
static eddy_tensor numbers(int64_t rows, int64_t columns, int seed)
{
    return eddy_variable(g, eddy_random_uniform(g, EDDY_SHAPE(rows, columns), -2, 2, .seed = seed));
}

static eddy_tensor large(int seed) { return numbers(ROWS, COLUMNS, seed); }
static eddy_tensor row(int seed) { return numbers(1, COLUMNS, seed); }

/* All of x is needed before any of the result: two loops. */
static eddy_tensor centered(eddy_tensor x) { return Sub(x, eddy_mean(x)); }

static eddy_session *session(unsigned without, int threads)
{
    eddy_session *s = eddy_session_new(g, .without = without, .threads = threads,
                                       .deterministic = true);
    s->recompute_least = 1;
    runs(s, eddy_initializer(g));
    return s;
}

static void check_plans(const eddy_session *s)
{
    eddy_error e = { 0 };
    for (const eddy_plan *p = s->plans; p; p = p->next)
        ck_assert_msg(eddy__plan_check(p, &e), "%s", e.message);
}

/* Runs with the pass and without it, and with the one that keeps what does not change: the
 * same bits in all fetches and variables.  The plan of the first; *plain: of the second. */
static eddy_plan_info both_ways(eddy_list fetches, eddy_plan_info *plain)
{
    eddy_session *s[] = { session(EDDY_PASS_HOIST, 1),
                           session(EDDY_PASS_HOIST | EDDY_PASS_RECOMPUTE, 1), session(0, 3) };
    eddy_array   *out[3][MOST] = { { NULL } };
    for (int k = 0; k < 3; k++) {
        for (int step = 0; step < STEPS; step++)
            ck_assert_msg(eddy_run(s[k], EDDY_FEED(), fetches, out[k]) == EDDY_OK, "%s",
                          eddy_session_message(s[k]));
        check_plans(s[k]);
        for (int i = 0; i < fetches.count; i++)
            ck_assert(!out[0][i] == !out[k][i] &&
                      (!out[0][i] || eddy_array_equal(out[0][i], out[k][i])));
        for (int i = 0; i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++) {
            const eddy_tensor v = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
            eddy_array *a = eddy_variable_value(s[0], v), *b = eddy_variable_value(s[k], v);
            ck_assert(a && b && eddy_array_equal(a, b));
            eddy_array_free(a);
            eddy_array_free(b);
        }
    }
    const eddy_plan_info info = eddy_session_plan_info(s[0]);
    *plain = eddy_session_plan_info(s[1]);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < fetches.count; i++) eddy_array_free(out[k][i]);
        eddy_session_free(s[k]);
    }
    return info;
}

static int changes(eddy_plan_info info)
{
    return info.changes[__builtin_ctz(EDDY_PASS_RECOMPUTE)];
}

/* So many values are made again, and so many arrays of their size need no memory. */
static void remakes(eddy_list fetches, int values, int arrays)
{
    eddy_plan_info       plain;
    const eddy_plan_info info = both_ways(fetches, &plain);
    ck_assert_int_eq(changes(plain), 0);
    ck_assert_int_eq(changes(info), values);
    ck_assert_int_eq(info.instructions, plain.instructions);
    ck_assert_uint_ge(plain.arena_bytes, info.arena_bytes);
    /* registers of the loops may be a few more */
    ck_assert_int_le(labs((long)(plain.arena_bytes - info.arena_bytes) - (long)arrays * BYTES),
                     BYTES / 4);
}

/* -------------------------------------------------------------- made again -- */

START_TEST(an_addition)
{
    remakes(EDDY_FETCH(eddy_sum(Exp(centered(Add(large(1), row(2)))))), 1, 1);
}
END_TEST

START_TEST(a_chain)
{
    eddy_tensor h = Maximum(Mul(Sub(large(1), row(2)), row(3)), 0);
    remakes(EDDY_FETCH(eddy_sum(Exp(centered(h)))), 1, 1);
}
END_TEST

static bool same_type(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static eddy_status plus_one(int64_t n, void *y_, const void *const *x, const void *attrs)
{
    const float *a = x[0];
    float       *y = y_;
    (void)attrs;
    for (int64_t i = 0; i < n; i++) y[i] = a[i] + 1;
    return EDDY_OK;
}
static eddy_tile_fn plus_one_tile(const eddy_type *in, const eddy_type *out)
{
    (void)in;
    (void)out;
    return plus_one;
}

/* A program's own operation says whether it is cheap. */
START_TEST(own_operations)
{
    static eddy_op_def op;                  /* lives as long as the graph */
    op = (eddy_op_def){
        .name = "PlusOne", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
        .flags = EDDY_OP_ELEMENTWISE | (_i ? EDDY_OP_CHEAP : 0), .infer = same_type,
        .tile = plus_one_tile,
    };
    remakes(EDDY_FETCH(eddy_sum(Exp(centered(eddy_apply1(&op, NULL, large(1)))))), _i, _i);
}
END_TEST

/* The part of a chain that the second loop reads is computed from values that it recomputes
 * anyway. */
START_TEST(two_values_of_a_chain)
{
    eddy_tensor h = Add(large(1), row(2)), y = Maximum(h, 0);
    remakes(EDDY_FETCH(eddy_sum(Mul(Exp(centered(y)), Sigmoid(h)))), 2, 2);
}
END_TEST

/* Three loops: two of them make it again. */
START_TEST(two_later_loops)
{
    eddy_tensor h = Add(large(1), row(2)), a = eddy_mean(h);
    eddy_tensor b = eddy_sum(Exp(Sub(h, a)));
    remakes(EDDY_FETCH(eddy_sum(Mul(Sub(h, b), Exp(h)))), 1, 1);
}
END_TEST

/* Nothing in its own loop reads it: it is made in the other one instead, however small. */
START_TEST(moved)
{
    eddy_tensor x = large(1), y = Sqrt(eddy_abs(x)), n = eddy_relu(y), m = eddy_sum(y);
    remakes(EDDY_FETCH(eddy_sum(Mul(n, Exp(Sub(y, m))))), 1, 1);
}
END_TEST

/* By the session's own measure copies are for large values only. */
START_TEST(only_large_values)
{
    for (int rows = 1000; rows <= 6000; rows += 5000) {
        eddy_tensor   h = Add(numbers(rows, 100, 1), numbers(1, 100, 2));
        eddy_session *s = eddy_session_new(g);
        runs(s, eddy_initializer(g));
        runs(s, eddy_sum(Exp(centered(h))));
        ck_assert_int_eq(changes(eddy_session_plan_info(s)), rows == 6000);
        check_plans(s);
        eddy_session_free(s);
    }
}
END_TEST

/* -------------------------------------------------- gradients and optimizers -- */

static eddy_tensor scaled_relu(void)
{
    return eddy_mean(Square(centered(Mul(Maximum(Add(large(1), row(2)), 0), row(3)))));
}

static eddy_tensor hinge(void)
{
    eddy_tensor x = large(1), label = eddy_stop_gradient(eddy_sign(large(2)));
    return Sqrt(eddy_mean(Square(Maximum(Sub(1, Mul(label, Mul(x, row(3)))), 0))));
}

static eddy_tensor bells(void)
{
    return eddy_mean(Exp(Neg(Square(centered(Square(Add(large(1), row(2))))))));
}

static eddy_tensor clamped(void)
{
    eddy_tensor h = Mul(Minimum(large(1), 1), row(2));
    return eddy_mean(Exp(Sub(h, eddy_mean(h))));
}

static eddy_tensor masked(void)
{
    eddy_tensor x = large(1), mask = Cast(Less(Mul(x, row(2)), 0.5), EDDY_FLOAT32);
    eddy_tensor h = Mul(mask, Square(Add(x, row(3))));
    return eddy_sum(eddy_log(Add(1, Square(Sub(h, eddy_mean(h))))));
}

static eddy_tensor (*const losses[])(void) = { scaled_relu, hinge, bells, clamped, masked };
enum { LOSSES = sizeof losses / sizeof *losses };

static eddy_optimizer *optimizer(int i)
{
    eddy_tensor rate = eddy_scalar(g, 0.01);
    switch (i) {
    case 0: return eddy_gradient_descent(g, .learning_rate = rate);
    case 1: return eddy_momentum(g, .learning_rate = rate, .momentum = eddy_scalar(g, 0.9));
    default: return eddy_adam(g, .learning_rate = rate);
    }
}
enum { OPTIMIZERS = 3 };

START_TEST(training)
{
    eddy_plan_info plain;
    eddy_tensor    loss = losses[_i / OPTIMIZERS]();
    eddy_tensor    train = eddy_minimize(optimizer(_i % OPTIMIZERS), loss);
    fits(g);
    const eddy_plan_info info = both_ways(EDDY_FETCH(train, loss), &plain);
    ck_assert_int_gt(changes(info), 0);
    ck_assert_uint_le(info.arena_bytes, plain.arena_bytes + BYTES / 4);    /* registers of loops */
}
END_TEST

/* Gradients of gradients. */
START_TEST(second_order)
{
    eddy_plan_info plain;
    eddy_tensor b = row(2), h = Maximum(Add(large(1), b), 0);
    eddy_tensor loss = eddy_mean(Square(centered(Mul(h, Square(h)))));
    eddy_tensor d = eddy_gradient(loss, b), dd = eddy_gradient(eddy_sum(Square(d)), b);
    fits(g);
    const eddy_plan_info info = both_ways(EDDY_FETCH(loss, d, dd), &plain);
    ck_assert_int_gt(changes(info), 0);
    ck_assert_uint_lt(info.arena_bytes, plain.arena_bytes);
}
END_TEST

/* ------------------------------------------------------------ better kept -- */

START_TEST(a_dear_function)
{
    remakes(EDDY_FETCH(eddy_sum(Exp(centered(eddy_tanh(large(1)))))), 0, 0);
    remakes(EDDY_FETCH(eddy_sum(Exp(centered(Div(large(1), row(2)))))), 0, 0);
}
END_TEST

START_TEST(a_fetched_value)
{
    eddy_tensor h = Add(large(1), row(2));
    remakes(EDDY_FETCH(h, eddy_sum(Exp(centered(h)))), 0, 0);
}
END_TEST

/* A product reads it from memory in any case. */
START_TEST(a_value_for_a_product)
{
    eddy_tensor h = Add(large(1), row(2)), y = eddy_matmul(h, numbers(COLUMNS, COLUMNS, 3));
    remakes(EDDY_FETCH(eddy_sum(Exp(Mul(centered(h), y)))), 0, 0);
}
END_TEST

/* The operands would have to live as long as the result. */
START_TEST(operands_that_are_dead)
{
    eddy_tensor a = eddy_tanh(large(1)), b = Exp(large(2));
    remakes(EDDY_FETCH(eddy_sum(Exp(centered(Add(a, b))))), 0, 0);
}
END_TEST

/* Two operands are more to read than one result. */
START_TEST(too_much_to_read)
{
    remakes(EDDY_FETCH(eddy_sum(Exp(centered(Add(large(1), large(2)))))), 0, 0);
}
END_TEST

/* The variable has its new value by then: a copy of the old one would be needed. */
START_TEST(an_updated_operand)
{
    eddy_tensor x = large(1), h = Add(x, row(2)), m = eddy_mean(h);
    eddy_tensor update = eddy_assign_add(x, Mul(h, 0.5));
    eddy_control_begin(g, EDDY_LIST(update));
    eddy_tensor y = eddy_sum(Exp(Sub(h, m)));
    eddy_control_end(g);
    remakes(EDDY_FETCH(y, update), 0, 0);
}
END_TEST

/* An update whose type has no inner loop parts the loops before and behind it. */
START_TEST(an_update_between)
{
    eddy_tensor half = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT16, EDDY_SHAPE(ROWS, COLUMNS)));
    eddy_tensor h = Add(large(1), row(2)), a = eddy_sum(Exp(h)), update;
    eddy_control_begin(g, EDDY_LIST(a));
    update = eddy_assign(half, eddy_ones(g, EDDY_FLOAT16, EDDY_SHAPE(ROWS, COLUMNS)));
    eddy_control_end(g);
    eddy_control_begin(g, EDDY_LIST(update));
    eddy_tensor y = eddy_sum(Sigmoid(h));
    eddy_control_end(g);
    remakes(EDDY_FETCH(a, update, y), 1, 1);
}
END_TEST

/* Random numbers are drawn once; values computed from them may be recomputed. */
START_TEST(random_numbers)
{
    eddy_tensor noise = eddy_random_uniform(g, EDDY_SHAPE(ROWS, COLUMNS), -1, 1, .seed = 5);
    remakes(EDDY_FETCH(eddy_sum(Exp(centered(noise)))), 0, 0);
    remakes(EDDY_FETCH(eddy_sum(Mul(Exp(centered(Add(noise, row(2)))), noise))), 1, 1);
}
END_TEST

START_TEST(without_fused_loops)
{
    eddy_tensor   y = eddy_sum(Exp(centered(Add(large(1), row(2)))));
    eddy_session *s = session(EDDY_PASS_FUSE, 1);
    runs(s, y);
    ck_assert_int_eq(changes(eddy_session_plan_info(s)), 0);
    eddy_session_free(s);
}
END_TEST

Suite *recompute_suite(void)
{
    Suite *s = suite_create("recompute");
    TCase *c = tcase_create("again");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, an_addition);
    tcase_add_test(c, a_chain);
    tcase_add_loop_test(c, own_operations, 0, 2);
    tcase_add_test(c, two_values_of_a_chain);
    tcase_add_test(c, two_later_loops);
    tcase_add_test(c, moved);
    tcase_add_test(c, only_large_values);
    tcase_add_loop_test(c, training, 0, LOSSES * OPTIMIZERS);
    tcase_add_test(c, second_order);
    suite_add_tcase(s, c);
    c = tcase_create("kept");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, a_dear_function);
    tcase_add_test(c, a_fetched_value);
    tcase_add_test(c, a_value_for_a_product);
    tcase_add_test(c, operands_that_are_dead);
    tcase_add_test(c, too_much_to_read);
    tcase_add_test(c, an_updated_operand);
    tcase_add_test(c, an_update_between);
    tcase_add_test(c, random_numbers);
    tcase_add_test(c, without_fused_loops);
    suite_add_tcase(s, c);
    return s;
}
