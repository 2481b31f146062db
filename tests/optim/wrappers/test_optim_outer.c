/* test_optim_outer.c -- wrapped optimizers: clipping of accumulated gradients, weight decay in the
 * gradient, the variables of all of them, resetting them; and options that are not tensors. */
#include "tests/lib/checks.h"

#include <math.h>
#include <string.h>

Suite *optim_outer_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void setup(void) { g = eddy_graph_new(); }
static void teardown(void)
{
    eddy_session_free(s);
    s = NULL;
    eddy_graph_free(g);
}

static eddy_tensor n(double x) { return real(g, x); }

static eddy_tensor variable(const char *name, double x, double y)
{
    const double at[] = { x, y };
    return eddy_variable(g, eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(2), at), .name = name);
}

static void start(void)
{
    eddy_tensor init = eddy_initializer(g);
    fits(g);
    s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
}

static void run(eddy_tensor t)
{
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL) == EDDY_OK, "%s",
                  eddy_session_message(s));
}

static double element(eddy_tensor t, int i)
{
    eddy_array *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    const double x = eddy_array_get(a, i);
    eddy_array_free(a);
    return x;
}

static void is(eddy_tensor v, double x, double y)
{
    ck_assert_double_eq_tol(element(v, 0), x, 1e-12);
    ck_assert_double_eq_tol(element(v, 1), y, 1e-12);
}

/* A train step whose gradients of u and v are fed. */
typedef struct fed {
    eddy_tensor u, v, du, dv, train;
} fed;

static fed make(eddy_optimizer *o)
{
    fed f = { variable("u", 1, 2), variable("v", 3, 4),
              eddy_placeholder(g, "du", EDDY_FLOAT64, EDDY_SHAPE(2)),
              eddy_placeholder(g, "dv", EDDY_FLOAT64, EDDY_SHAPE(2)), { 0 } };
    const eddy_gradient_pair pairs[] = { { f.du, f.u }, { f.dv, f.v } };
    f.train = eddy_apply_gradients(o, pairs, 2);
    start();
    return f;
}

static void feed(const fed *f, double a, double b, double c, double d)
{
    eddy_array *du = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ a, b });
    eddy_array *dv = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ c, d });
    ck_assert_msg(eddy_run(s, EDDY_FEED({ f->du, du }, { f->dv, dv }), EDDY_FETCH(f->train),
                           NULL) == EDDY_OK, "%s", eddy_session_message(s));
    eddy_array_free(du);
    eddy_array_free(dv);
}

/* The parts cancel: their mean, (0, 3, 0, 4), has the norm 5, theirs are far above. */
START_TEST(clips_the_accumulated_gradient)
{
    eddy_optimizer *clipped = eddy_clipped_gradients(eddy_gradient_descent(g, n(1)),
                                                     .global_norm = n(1));
    const fed f = make(eddy_accumulate_gradients(clipped, 2));
    feed(&f, 100, 3, -50, 8);
    is(f.u, 1, 2);
    feed(&f, -100, 3, 50, 0);
    is(f.u, 1, 2 - 0.6);
    is(f.v, 3, 4 - 0.8);
    feed(&f, 0, 6, 0, 8);
    feed(&f, 0, 0, 0, 0);
    is(f.u, 1, 2 - 1.2);
    is(f.v, 3, 4 - 1.6);
}
END_TEST

/* Around the accumulation it clips each part. */
START_TEST(clips_each_part)
{
    eddy_optimizer *sum = eddy_accumulate_gradients(eddy_gradient_descent(g, n(1)), 2, .sum = true);
    const fed       f = make(eddy_clipped_gradients(sum, .norm = n(1)));
    feed(&f, 0, 7, 3, 4);
    feed(&f, 0, -0.5, 0, 0);
    is(f.u, 1, 2 - 0.5);
    is(f.v, 3 - 0.6, 4 - 0.8);
}
END_TEST

/* 2^53 and 1 make 2^53; 1 and -2^53 are exact. */
START_TEST(pairwise_sums)
{
    eddy_optimizer *descent = eddy_gradient_descent(g, n(1));
    const fed       f = make(_i == 0 ? eddy_accumulate_gradients(descent, 4, .sum = true)
                                     : eddy_accumulate_gradients(descent, 4, .sum = true,
                                                                 .pairwise = true));
    for (int step = 1; step <= 3; step++) {
        feed(&f, 0x1p53, 1, 0, 0);
        feed(&f, 1, 2, 0, 0);
        feed(&f, 1, 3, 0, 1);
        is(f.u, 1 - (step - 1) * _i, 2 - (step - 1) * 10);
        feed(&f, -0x1p53, 4, 0, 0);
        is(f.u, 1 - step * _i, 2 - step * 10);
        is(f.v, 3, 4 - step);
    }
}
END_TEST

START_TEST(pairwise_sums_of_one)
{
    const fed f =
        make(eddy_accumulate_gradients(eddy_gradient_descent(g, n(1)), 1, .pairwise = true));
    feed(&f, 1, 0.5, 0, 0);
    feed(&f, 1, 0.5, 0, 4);
    is(f.u, -1, 1);
    is(f.v, 3, 0);
}
END_TEST

/* Clipping gets the sums. */
START_TEST(pairwise_sums_are_clipped)
{
    eddy_optimizer *clipped = eddy_clipped_gradients(eddy_gradient_descent(g, n(1)),
                                                     .global_norm = n(1));
    const fed f = make(eddy_accumulate_gradients(clipped, 2, .pairwise = true));
    for (int step = 1; step <= 2; step++) {
        feed(&f, 100, 3, -50, 8);
        feed(&f, -100, 3, 50, 0);
        is(f.u, 1, 2 - 0.6 * step);
        is(f.v, 3, 4 - 0.8 * step);
    }
}
END_TEST

/* The first gradient times the number at `context`; pairs without one have none. */
static void enlarge_first(void *context, eddy_gradient_pair *pairs, int count)
{
    ck_assert_int_eq(count, 2);
    pairs[0].gradient = Mul(pairs[0].gradient, *(double *)context);
}

/* Clipping is inside, and sees what the function has made. */
START_TEST(transforms)
{
    double          ten = 10;
    eddy_optimizer *clipped = eddy_clipped_gradients(eddy_gradient_descent(g, n(1)), .value = n(8));
    const fed       f = make(eddy_transformed_gradients(clipped, enlarge_first, &ten));
    feed(&f, 0.1, 2, 0.1, 9);
    is(f.u, 0, -6);
    is(f.v, 2.9, -4);
}
END_TEST

/* A table whose rows get gradients stays sparse. */
START_TEST(transforms_slices)
{
    double          two = 2;
    eddy_optimizer *o =
        eddy_transformed_gradients(eddy_gradient_descent(g, n(1)), enlarge_first, &two);
    eddy_tensor     u = variable("u", 1, 2), v = variable("v", 3, 4);
    const eddy_gradient_pair pairs[] = {
        { eddy_identity(u), u },
        { eddy_indexed_slices(vector(g, 1, (double[]){ 5 }), eddy_ints(g, 1), v), v } };
    const eddy_tensor step = eddy_apply_gradients(o, pairs, 2);
    start();
    run(step);
    is(u, -1, -2);
    is(v, 3, -1);
}
END_TEST

START_TEST(clips_unscaled_gradients)
{
    eddy_optimizer *clipped = eddy_clipped_gradients(eddy_gradient_descent(g, n(1)), .norm = n(1));
    const fed       f = make(eddy_loss_scale(clipped, n(8)));
    feed(&f, 0, 0.5, 3, 4);
    is(f.u, 1, 2 - 0.5);
    is(f.v, 3 - 0.6, 4 - 0.8);
    feed(&f, 0, NAN, 1, 1);      /* dropped, and the scale is 4 */
    is(f.u, 1, 2 - 0.5);
    feed(&f, 0, 0.5, 0, 0);
    is(f.u, 1, 2 - 1);
}
END_TEST

/* Each part clips its own variables; Lookahead and decoupled decay see the clipped step. */
START_TEST(clips_in_parts)
{
    eddy_optimizer *first = eddy_clipped_gradients(eddy_gradient_descent(g, n(1)),
                                                   .global_norm = n(1));
    eddy_optimizer *second = eddy_decoupled_weight_decay(
        eddy_clipped_gradients(eddy_gradient_descent(g, n(1)), .value = n(0.5)), n(0.1));
    eddy_tensor     u = variable("u", 1, 2), v = variable("v", 3, 4);
    const eddy_optimizer_part parts[] = { { first, EDDY_LIST(u) }, { second, EDDY_LIST() } };
    eddy_optimizer *all = eddy_lookahead(eddy_multi_optimizer(parts, 2), 1, n(0.5));
    eddy_tensor     loss = Add(Sum(Mul(u, Add(u, 0))), Mul(-3, Sum(v)));
    eddy_tensor     train = eddy_minimize(all, loss);
    start();
    run(train);                  /* du = (2, 4), dv = (-3, -3); half of each step */
    is(u, 1 - 0.5 / sqrt(5), 2 - 1 / sqrt(5));
    is(v, 3 + (0.5 - 0.3) / 2, 4 + (0.5 - 0.4) / 2);
}
END_TEST

/* The decay joins the mean once, and then the whole is clipped. */
START_TEST(decay_of_the_accumulated_gradient)
{
    eddy_optimizer *clipped = eddy_clipped_gradients(eddy_gradient_descent(g, n(1)), .value = n(1));
    eddy_optimizer *decayed = eddy_coupled_weight_decay(clipped, n(0.5));
    const fed       f = make(eddy_accumulate_gradients(decayed, 2));
    feed(&f, 1, -2, 0, 0);
    feed(&f, -1.5, 0, 0, 0);
    is(f.u, 1 - (-0.25 + 0.5), 2 - (-1 + 1));
    is(f.v, 3 - 1, 4 - 1);
}
END_TEST

START_TEST(listed_twice)
{
    eddy_optimizer *clipped = eddy_clipped_gradients(eddy_gradient_descent(g, n(1)), .value = n(1));
    eddy_tensor     u = variable("u", 1, 2);
    const eddy_gradient_pair pairs[] = { { u, u }, { u, u } };
    eddy_apply_gradients(eddy_accumulate_gradients(clipped, 2), pairs, 2);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_INVALID_ARGUMENT);
}
END_TEST

/* ------------------------------------------------------------------ their variables -- */

START_TEST(variables_of_parts)
{
    eddy_tensor     u = variable("u", 1, 2), v = variable("v", 3, 4), out[16];
    eddy_optimizer *adam = eddy_adam(g), *momentum = eddy_momentum(g, n(1), n(0.9));
    const eddy_optimizer_part parts[] = { { adam, EDDY_LIST(u) }, { momentum, EDDY_LIST() },
                                          { adam, EDDY_LIST(v) } };
    eddy_optimizer *all = eddy_multi_optimizer(parts, 3);
    const char     *names[8];
    ck_assert_int_eq(eddy_optimizer_variables(all, out, 16), 0);
    eddy_tensor w = variable("w", 5, 6);
    eddy_minimize(all, Sum(Add(u, Add(v, w))));
    fits(g);
    ck_assert_int_eq(eddy_optimizer_variables(all, NULL, 0), 7);      /* adam's once */
    ck_assert_int_eq(eddy_optimizer_variables(all, out, 16), 7);
    ck_assert_str_eq(eddy_name_of(out[0]), "beta1_power");
    ck_assert_str_eq(eddy_name_of(out[2]), "u/Adam");
    ck_assert_str_eq(eddy_name_of(out[6]), "w/Momentum");
    ck_assert_int_eq(eddy_get_slot_names(all, names, 8), 3);
    ck_assert_str_eq(names[0], "m");
    ck_assert_str_eq(names[1], "momentum");
    ck_assert_str_eq(names[2], "v");
}
END_TEST

/* After a reset the next steps are those of a new optimizer from where the variables are. */
START_TEST(resets)
{
    eddy_tensor     u = variable("u", 1, 2), first = variable("first", 0, 0);
    eddy_optimizer *o = eddy_lookahead(eddy_adamw(g, n(0.1)), 3);
    eddy_tensor     train = eddy_minimize(o, Sum(Square(u)), .var_list = EDDY_LIST(u));
    eddy_tensor     reset = eddy_optimizer_reset(o), keep = eddy_assign(first, u);
    eddy_tensor     back = eddy_assign(u, first);
    start();
    double want[2];
    for (int i = 0; i < 4; i++) run(train);
    run(reset);
    run(keep);
    for (int i = 0; i < 4; i++) run(train);
    for (int i = 0; i < 2; i++) want[i] = element(u, i);
    eddy_tensor slow = eddy_get_slot(o, u, "slow"), all[8];
    run(back);
    const double before = element(u, 0);
    run(reset);
    ck_assert_double_eq(element(slow, 0), before);
    for (int i = 0; i < 4; i++) run(train);
    for (int i = 0; i < 2; i++) ck_assert_double_eq(element(u, i), want[i]);
    run(reset);
    ck_assert_int_eq(eddy_optimizer_variables(o, all, 8), 5);
    for (int i = 0; i < 5; i++)
        if (!eddy_same(all[i], slow)) ck_assert_double_eq(element(all[i], 0), 0);
}
END_TEST

START_TEST(averages_of_an_empty_list_are_of_all)
{
    eddy_tensor    u = variable("u", 1, 2), v = variable("v", 3, 4);
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.5));
    eddy_tensor    apply = eddy_averages_apply(a, EDDY_LIST());
    fits(g);
    ck_assert(eddy_is_valid(apply) && eddy_is_valid(eddy_averages_of(a, u)) &&
              eddy_is_valid(eddy_averages_of(a, v)));
}
END_TEST

/* ------------------------------------------------------------- what is not a tensor -- */

/* A plain number in place of a tensor or of the graph. */
static eddy_graph *forged(void) { return (eddy_graph *)(uintptr_t)3; }
static eddy_tensor number_as_tensor(void)
{
    return (eddy_tensor){ .graph = forged(), .node = 0, .output = 0 };
}
static eddy_tensor no_tensor(void)
{
    return (eddy_tensor){ .graph = forged(), .node = 1, .output = 0 };
}

static void refused(const void *made, const char *what)
{
    ck_assert_msg(!made, "%s was made", what);
    ck_assert_msg(eddy_graph_status(g) == EDDY_INVALID_ARGUMENT, "%s: no error", what);
    ck_assert_msg(strstr(eddy_graph_message(g), "eddy_scalar(graph, number)") ||
                  strstr(eddy_graph_message(g), "has been freed"), "%s: %s", what,
                  eddy_graph_message(g));
    eddy_graph_clear_error(g);
}

/* Every optimizer: a number for the rate, for another option, and for the graph. */
#define RATE(name)                                                   \
    refused(eddy_##name(g, number_as_tensor()), #name);              \
    refused(eddy_##name(g, no_tensor()), #name);                     \
    refused(eddy_##name(forged(), n(1)), #name);                     \
    ck_assert_ptr_null(eddy_##name(forged(), no_tensor()));          \
    ck_assert_ptr_null(eddy_##name(NULL, no_tensor()))

START_TEST(numbers_for_rates)
{
    RATE(gradient_descent);
    RATE(momentum);
    RATE(adam);
    RATE(adagrad);
    RATE(adagrad_da);
    RATE(adadelta);
    RATE(rmsprop);
    RATE(ftrl);
    RATE(proximal_gradient_descent);
    RATE(proximal_adagrad);
    RATE(rprop);
    RATE(asgd);
    RATE(adamw);
    RATE(adamax);
    RATE(nadam);
    RATE(radam);
    RATE(yogi);
    RATE(lion);
    RATE(lamb);
    RATE(lars);
    RATE(adafactor);
    RATE(sm3);
    RATE(shampoo);
    RATE(adabelief);
    RATE(adan);
    RATE(novograd);
    RATE(muon);
    RATE(prodigy);
    RATE(schedule_free_adamw);
}
END_TEST

START_TEST(numbers_for_options)
{
    eddy_optimizer *o = eddy_gradient_descent(g, n(1));
    refused(eddy_momentum(g, n(1), number_as_tensor()), "momentum");
    refused(eddy_momentum(g, n(1), n(0.9), .dampening = number_as_tensor()), "dampening");
    refused(eddy_lion(g, .weight_decay = number_as_tensor()), "weight_decay");
    refused(eddy_adafactor(g, .beta1 = number_as_tensor()), "beta1");
    refused(eddy_adam(g, .epsilon = no_tensor()), "epsilon");
    refused(eddy_lookahead(o, .slow_step_size = number_as_tensor()), "slow_step_size");
    refused(eddy_coupled_weight_decay(o, number_as_tensor()), "weight_decay");
    refused(eddy_decoupled_weight_decay(o, number_as_tensor()), "weight_decay");
    refused(eddy_clipped_gradients(o, number_as_tensor()), "clip");
    refused(eddy_loss_scale(o, number_as_tensor()), "loss_scale");
    eddy_optimizer *stray = (eddy_optimizer *)(uintptr_t)5;
    ck_assert_ptr_null(eddy_lookahead(stray));
    ck_assert_ptr_null(eddy_clipped_gradients(stray));
    ck_assert_ptr_null(eddy_accumulate_gradients(stray, 2));
    ck_assert_ptr_null(eddy_loss_scale(stray));
    ck_assert_int_eq(eddy_optimizer_variables(stray, NULL, 0), 0);
    ck_assert(!eddy_is_valid(eddy_optimizer_reset(stray)));
    ck_assert(!eddy_is_valid(eddy_schedule_free_evaluate(stray)));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
}
END_TEST

static void no_schedule(eddy_tensor t, const char *what)
{
    ck_assert_msg(!eddy_is_valid(t), "%s was made", what);
    ck_assert_msg(eddy_graph_status(g) != EDDY_OK, "%s: no error", what);
    eddy_graph_clear_error(g);
    ck_assert_str_eq(eddy_scope_name(g), "");
}

/* Every schedule: a number for the rate, the step and the third operand. */
#define SCHEDULE(name)                                                          \
    no_schedule(eddy_##name(n(1), number_as_tensor()), #name);                  \
    no_schedule(eddy_##name(n(1), no_tensor()), #name);                         \
    no_schedule(eddy_##name(n(1), n(1), number_as_tensor()), #name);            \
    no_schedule(eddy_##name(number_as_tensor(), n(1), n(1)), #name);            \
    ck_assert(!eddy_is_valid(eddy_##name(no_tensor(), number_as_tensor())))

START_TEST(numbers_for_schedules)
{
    SCHEDULE(exponential_decay);
    SCHEDULE(natural_exp_decay);
    SCHEDULE(inverse_time_decay);
    SCHEDULE(polynomial_decay);
    SCHEDULE(cosine_decay);
    SCHEDULE(cosine_decay_restarts);
    SCHEDULE(linear_cosine_decay);
    SCHEDULE(noisy_linear_cosine_decay);
    SCHEDULE(linear_warmup);
    SCHEDULE(inverse_square_root_decay);
    SCHEDULE(one_cycle);
    SCHEDULE(one_cycle_momentum);
    SCHEDULE(cyclic);
    no_schedule(eddy_piecewise_constant(n(1), EDDY_LIST(no_tensor()), EDDY_LIST(n(1), n(2))), "");
    no_schedule(eddy_joined_schedules(n(1), EDDY_LIST(n(1), no_tensor()), EDDY_LIST(n(1))), "");
    no_schedule(eddy_joined_schedules(n(1), EDDY_LIST(n(1), n(2)), EDDY_LIST(no_tensor())), "");
    ck_assert(!eddy_is_valid(eddy_reduce_on_plateau(no_tensor(), n(1)).update));
    no_schedule(eddy_reduce_on_plateau(n(1), no_tensor()).update, "reduce_on_plateau");
}
END_TEST

Suite *optim_outer_suite(void)
{
    Suite *suite = suite_create("optim_outer");
    TCase *c = tcase_create("optim_outer");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, clips_the_accumulated_gradient);
    tcase_add_test(c, clips_each_part);
    tcase_add_loop_test(c, pairwise_sums, 0, 2);
    tcase_add_test(c, pairwise_sums_of_one);
    tcase_add_test(c, pairwise_sums_are_clipped);
    tcase_add_test(c, transforms);
    tcase_add_test(c, transforms_slices);
    tcase_add_test(c, clips_unscaled_gradients);
    tcase_add_test(c, clips_in_parts);
    tcase_add_test(c, decay_of_the_accumulated_gradient);
    tcase_add_test(c, listed_twice);
    tcase_add_test(c, variables_of_parts);
    tcase_add_test(c, resets);
    tcase_add_test(c, averages_of_an_empty_list_are_of_all);
    tcase_add_test(c, numbers_for_rates);
    tcase_add_test(c, numbers_for_options);
    tcase_add_test(c, numbers_for_schedules);
    suite_add_tcase(suite, c);
    return suite;
}
