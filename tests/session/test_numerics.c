/* test_numerics.c -- the option `check_numerics` of a session: what is refused, which node is
 * named, and what variables have after that. */
#include "graph/base/dtype.h"
#include "ops/kernels/reduction/finiteness.h"
#include "tests/lib/golden.h"
#include "tests/lib/plain_ops.h"

#include <math.h>

Suite *numerics_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void begin(int mode)
{
    g = eddy_graph_new();
    s = eddy_session_new(g, .check_numerics = mode);
}

static void end(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static eddy_tensor numbers(const char *name, int64_t n)
{
    return eddy_placeholder(g, name, EDDY_FLOAT32, EDDY_SHAPE(n));
}

/* The run fails, and the message contains all parts. */
static void says_of(eddy_status status, const char *one, const char *two, const char *three)
{
    const char *message = eddy_session_message(s);
    ck_assert_msg(status == EDDY_CHECK_FAILED, "%d %s", (int)status, message);
    ck_assert_msg(strstr(message, one) && strstr(message, two) && strstr(message, three),
                  "'%s' has not '%s', '%s', '%s'", message, one, two, three);
}

static void ok(eddy_status status)
{
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
}

/* --------------------------------------------------------------- the kernel -- */

START_TEST(finiteness_of_each_type)
{
    const eddy_dtype types[] = { EDDY_FLOAT16, EDDY_BFLOAT16, EDDY_FLOAT32, EDDY_FLOAT64,
                                 EDDY_COMPLEX64, EDDY_COMPLEX128 };
    enum { N = 2500, TYPES = sizeof types / sizeof *types };
    const eddy_dtype d = types[_i % TYPES];
    eddy_array      *a = eddy_array_new(d, EDDY_SHAPE(N));
    for (int i = 0; i < N; i++)
        eddy_array_set(a, i, (i % 2 ? -1 : 1) * (i % 5 ? i : eddy__dtype_largest(d)));
    const void *x = eddy_array_data(a);
    ck_assert_int_eq(eddy__finiteness(d, x, N), EDDY_FINITE);
    ck_assert_int_eq(eddy__find_not_finite(d, x, 0, N, EDDY_INFINITE), N);
    const int places[] = { 0, 1, 31, 1023, 1024, 2047, N - 1 };
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        const int    at = places[k];
        const double was = eddy_array_get(a, at);
        eddy_array_set(a, at, k % 2 ? INFINITY : -INFINITY);
        ck_assert_int_eq(eddy__finiteness(d, x, N), EDDY_INFINITE);
        ck_assert_int_eq(eddy__find_not_finite(d, x, 0, N, EDDY_INFINITE), at);
        ck_assert_int_eq(eddy__find_not_finite(d, x, 0, N, EDDY_IS_NAN), N);
        eddy_array_set(a, at, k % 2 ? (double)NAN : -(double)NAN);
        ck_assert_int_eq(eddy__finiteness(d, x, N), EDDY_IS_NAN);
        ck_assert_int_eq(eddy__find_not_finite(d, x, 0, N, EDDY_IS_NAN), at);
        eddy_array_set(a, at, was);
    }
    if (eddy_dtype_is_complex(d)) {
        eddy_array_set_complex(a, 7, 1, INFINITY);
        ck_assert_int_eq(eddy__find_not_finite(d, x, 0, N, EDDY_INFINITE), 7);
    }
    eddy_array_free(a);
    ck_assert_int_eq(eddy__finiteness(EDDY_INT32, &(int32_t){ INT32_MAX }, 1), EDDY_FINITE);
    ck_assert(!eddy__may_be_infinite(EDDY_INT32) && !eddy__may_be_infinite(EDDY_BOOL));
}
END_TEST

/* -------------------------------------------------------- what is refused -- */

START_TEST(modes)
{
    const struct { float x; bool made, nan, all; } rows[] = {
        { 1, false, false, false }, { 0, true, false, true }, { -1, true, true, true },
        { NAN, true, true, true }, { INFINITY, false, false, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int mode = 0; mode <= EDDY_NUMERICS_ALL; mode++) {
            begin(mode);
            const eddy_tensor x = numbers("x", 1), y = Log(x);
            const bool        fails[] = { false, rows[i].made, rows[i].nan, rows[i].all };
            const eddy_status status =
                eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(rows[i].x) }), EDDY_FETCH(y), NULL);
            ck_assert_msg(status == (fails[mode] ? EDDY_CHECK_FAILED : EDDY_OK),
                          "%g in mode %d: %s", (double)rows[i].x, mode, eddy_session_message(s));
            end();
        }
}
END_TEST

/* A mask of infinities is meant, until a row of it gives NaN. */
START_TEST(masks)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor keep = eddy_placeholder(g, "keep", EDDY_BOOL, EDDY_SHAPE(2, 3));
    const eddy_tensor masked =
        eddy_where(keep, x, eddy_constant(g, EDDY_NUMBER(EDDY_FLOAT32, -INFINITY)));
    const eddy_tensor y = eddy_softmax(masked);
    eddy_array       *numbers_of = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_array       *kept = eddy_array_new(EDDY_BOOL, EDDY_SHAPE(2, 3));
    for (int i = 0; i < 5; i += 2) eddy_array_set(kept, i, 1);
    const eddy_feeds feeds = EDDY_FEED({ x, numbers_of }, { keep, kept });
    ok(eddy_run(s, feeds, EDDY_FETCH(y), NULL));
    ok(eddy_run(s, feeds, EDDY_FETCH(Exp(masked)), NULL));
    eddy_array_set(kept, 4, 0);
    says_of(eddy_run(s, feeds, EDDY_FETCH(y), NULL),
            "Softmax(float32[2,3]): output 0, element 3, is nan", "in [0, 0] with 4 infinite", "'");
    eddy_array_free(numbers_of);
    eddy_array_free(kept);
    end();
}
END_TEST

/* ---------------------------------------------------- which node is named -- */

/* The first of several nodes that the compiler fuses, with the ranges of its inputs. */
START_TEST(fused)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = numbers("x", 3000);
    const eddy_tensor root = eddy_named("root", Sqrt(Sub(x, 1)));
    const eddy_tensor y = eddy_sum(Mul(Add(root, 2), x));
    eddy_array       *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3000));
    for (int i = 0; i < 3000; i++) eddy_array_set(a, i, 1 + i);
    ok(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL));
    ck_assert_int_gt(eddy_session_plan_info(s).fused, 0);
    eddy_array_set(a, 2017, -7);
    says_of(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL),
            "output 0, element 2017, is nan; its inputs are finite: 'sub' in [-8, 2999]",
            "[node 'root']", "");
    eddy_array_set(a, 2017, NAN);
    says_of(
        eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL),
        "element 2017, is nan; its inputs are 'x' in [1, 3000] with 1 nan, the first at element "
        "2017",
        "Sub(", "");
    eddy_array_free(a);
    end();
}
END_TEST

/* The memory of a value is used again by a later part of the same loop. */
START_TEST(overwritten)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = numbers("x", 100);
    const eddy_tensor bits = eddy_cast(Sub(eddy_cast(Exp(x), EDDY_INT32), 3), EDDY_INT32);
    const eddy_tensor y = eddy_reverse(bits, EDDY_AXES(0)), z = eddy_named("z", Exp(x));
    const eddy_tensor hidden = eddy_reverse(Div(1, z), EDDY_AXES(0));
    eddy_array       *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(100));
    ok(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL));
    ok(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(hidden), NULL));
    eddy_array_set(a, 7, 200);
    says_of(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(hidden), NULL), "element 7, is inf",
            "[node 'z']", "");
    eddy_array_free(a);
    end();
}
END_TEST

/* A value that the compiled form does not make infinite is no error. */
START_TEST(folded_and_stabilized)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor zero = eddy_scalar(g, 0), bad = eddy_named("bad", Log(zero));
    says_of(eddy_run(s, EDDY_FEED(), EDDY_FETCH(Mul(bad, 2)), NULL), "is -inf", "[node 'bad']",
            "in [0, 0]");
    const eddy_tensor x = numbers("x", 2), y = Log(eddy_softmax(x));
    ok(eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(0, 200) }), EDDY_FETCH(y), NULL));
    end();
}
END_TEST

/* A product with its bias and activation in one operation. */
START_TEST(epilogues)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 2));
    const eddy_tensor w = eddy_constant(g, EDDY_SHAPED(EDDY_FLOATS(3e38f, 0, 0, 1), 2, 2));
    const eddy_tensor p = eddy_named("product", eddy_matmul(x, w));
    const eddy_tensor y = eddy_relu(Add(p, eddy_constant(g, EDDY_FLOATS(1, 2))));
    eddy_array       *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2, 2));
    ok(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL));
    eddy_array_set(a, 2, 100);
    says_of(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL), "output 0, element 2, is inf",
            "'x' in [0, 100]", "[node 'product']");
    eddy_array_free(a);
    end();
}
END_TEST

static int more(eddy_list v, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Less(v.at[0], 10);
    return 1;
}

static int fall(eddy_list v, eddy_tensor *next, void *context)
{
    (void)context;
    next[0] = Add(v.at[0], 1);
    next[1] = eddy_named("fall", Sqrt(Sub(v.at[1], 1)));
    return 2;
}

/* The iteration of a loop. */
START_TEST(loops)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_tensor       out[2];
    eddy_while_loop((eddy_function){ .build = more }, (eddy_function){ .build = fall },
                    EDDY_LIST(eddy_scalar(g, 0), x), out);
    says_of(eddy_run(s, EDDY_FEED({ x, EDDY_NUMBER(EDDY_FLOAT32, 30) }), EDDY_FETCH(out[1]), NULL),
            "Sqrt", "is nan; its inputs are finite", "[iteration 4 of ");
    end();
}
END_TEST

START_TEST(evaluations)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor y = eddy_named("bad", Log(eddy_scalar(g, -1)));
    ck_assert_ptr_null(eddy_eval_in(s, y));
    says_of(eddy_session_status(s), "Log(float32[]): output 0, element 0, is nan", "bad", "");
    end();
}
END_TEST

/* A cast to bfloat16 that makes an infinity is named, although products could make it while they
 * pack: after tanh, nothing would show it. */
START_TEST(casts_of_factors)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 40));
    const eddy_tensor big = Mul(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(40, 3)), 3.4e38);
    const eddy_tensor w = eddy_variable(g, big);
    const eddy_tensor y = Tanh(MatMul(Cast(x, EDDY_BFLOAT16), Cast(w, EDDY_BFLOAT16)));
    const eddy_tensor train = eddy_assign(w, ZerosLike(w));
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2, 40)), *out[2] = { NULL };
    for (int i = 0; i < 80; i++) eddy_array_set(a, i, 1);
    ok(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL));
    says_of(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y, train), out), "Cast", "inf", "Cast_1");
    eddy_array_free(a);
    end();
}
END_TEST

START_TEST(halves_and_complex)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = numbers("x", 2);
    const eddy_tensor half = eddy_named("half", eddy_cast(x, EDDY_FLOAT16));
    says_of(eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(1, 70000) }), EDDY_FETCH(half), NULL),
            "element 1, is inf", "'x' in [1, 70000]", "half");
    const eddy_tensor z = eddy_complex(x, x),
                      y = eddy_named("z", Div(z, eddy_cast(x, EDDY_COMPLEX64)));
    says_of(eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(1, 0) }), EDDY_FETCH(y), NULL),
            "element 1, is (", "[node 'z']", "nan");
    end();
}
END_TEST

/* The same draws: a dropout that keeps the culprit in the first run keeps it when it is named. */
START_TEST(random_nodes)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor r = eddy_random_uniform(g, EDDY_SHAPE(1));
    const eddy_tensor y = eddy_named("culprit", Log(Sub(r, 0.5)));
    int               failed = 0;
    for (int i = 0; i < 20; i++) {
        const eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_FETCH(Add(y, 1)), NULL);
        if (status == EDDY_OK) continue;
        says_of(status, "element 0, is nan; its inputs are finite: 'sub' in [-0.", "culprit", "");
        failed++;
    }
    ck_assert_int_gt(failed, 3);
    ck_assert_int_lt(failed, 17);
    end();
}
END_TEST

/* ------------------------------------------------------------- variables -- */

typedef struct training {
    eddy_tensor x, labels, loss, step;
    int         n;
    eddy_tensor variables[64];
} training;

/* Two layers with Adam. */
static training two_layers(void)
{
    training    t = { .x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(8, 5)),
                      .labels = eddy_placeholder(g, "labels", EDDY_INT32, EDDY_SHAPE(8)) };
    eddy_tensor h = eddy_relu(eddy_dense(t.x, 16, "hidden"));
    t.loss = eddy_mean(eddy_sparse_softmax_cross_entropy(t.labels, eddy_dense(h, 3, "logits")));
    t.step = eddy_minimize(eddy_adam(g), t.loss);
    t.n = eddy_collection_size(g, EDDY_GLOBAL_VARIABLES);
    for (int i = 0; i < t.n; i++)
        t.variables[i] = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
    return t;
}

static eddy_array *data(void)
{
    eddy_array *x = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(8, 5));
    for (int i = 0; i < 40; i++) eddy_array_set(x, i, sin(i));
    return x;
}

static void values(const training *t, eddy_array **to)
{
    for (int i = 0; i < t->n; i++) to[i] = eddy_variable_value(s, t->variables[i]);
}

static void same_values(const training *t, eddy_array **was)
{
    for (int i = 0; i < t->n; i++) {
        eddy_array *now = eddy_variable_value(s, t->variables[i]);
        ck_assert_msg(eddy_array_equal(now, was[i]), "'%s' changed", eddy_name_of(t->variables[i]));
        eddy_array_free(now);
        eddy_array_free(was[i]);
    }
}

/* One NaN in the data changes no variable; without the check it makes most of them NaN. */
START_TEST(variables_stay)
{
    eddy_array *was[64];
    for (int mode = 0; mode < 2; mode++) {
        begin(mode);
        training    t = two_layers();
        eddy_array *x = data(), *labels = eddy_array_new(EDDY_INT32, EDDY_SHAPE(8));
        const eddy_feeds feeds = EDDY_FEED({ t.x, x }, { t.labels, labels });
        ok(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL));
        for (int i = 0; i < 3; i++) ok(eddy_run(s, feeds, EDDY_FETCH(t.step, t.loss), NULL));
        eddy_array_set(x, 17, NAN);
        values(&t, was);
        const eddy_status status = eddy_run(s, feeds, EDDY_FETCH(t.step), NULL);
        if (mode) {
            says_of(status, "output 0, element 48, is nan; its inputs are 'x' in ",
                    "with 1 nan, the first at element 17", "[node 'hidden/");
            same_values(&t, was);
            eddy_array_set(x, 17, 0.5);
            ok(eddy_run(s, feeds, EDDY_FETCH(t.step, t.loss), NULL));
        } else {
            int nans = 0;
            ok(status);
            for (int i = 0; i < t.n; i++) {
                eddy_array *now = eddy_variable_value(s, t.variables[i]);
                nans += eddy__finiteness(EDDY_FLOAT32, eddy_array_data(now),
                                         eddy_array_dtype(now) == EDDY_FLOAT32
                                             ? eddy_array_count(now) : 0) == EDDY_IS_NAN;
                eddy_array_free(now);
                eddy_array_free(was[i]);
            }
            ck_assert_int_ge(nans, 12);
        }
        eddy_array_free(x);
        eddy_array_free(labels);
        end();
    }
}
END_TEST

static int seen_runs;
static void count_run(void *user, const eddy_watched *w)
{
    (void)user;
    (void)w;
    seen_runs++;
}

static void write_line(void *user, const char *line)
{
    (void)line;
    ++*(int *)user;
}

/* To name the node, nothing is printed or counted again. */
START_TEST(effects)
{
    int  lines = 0;
    seen_runs = 0;
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = numbers("x", 2);
    const eddy_tensor y = eddy_print(Add(x, 1), .write = write_line, .user = &lines);
    const eddy_tensor bad = eddy_named("bad", Sqrt(y)), z = Add(bad, 1);
    eddy_watch(s, y, .callback = count_run);
    says_of(eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(3, -9) }), EDDY_FETCH(z), NULL),
            "element 1, is nan; its inputs are finite: 'Print' in [-8, 4]", "[node 'bad']", "");
    ck_assert_int_eq(lines, 1);
    ck_assert_int_eq(seen_runs, 1);
    end();
}
END_TEST

/* An update whose own arithmetic overflows is named too. */
START_TEST(updates)
{
    begin(EDDY_NUMERICS_MADE);
    eddy_tensor v = eddy_variable(g, eddy_floats(g, 3e38f), .name = "v");
    eddy_tensor step = eddy_named("step", eddy_assign_add(v, eddy_floats(g, 3e38f)));
    ok(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL));
    says_of(eddy_run(s, EDDY_FEED(), EDDY_FETCH(step), NULL), "is inf", "step", "");
    end();
}
END_TEST

/* ------------------------------------------------------------- same bits -- */

START_TEST(same_bits)
{
    eddy_array *was[2][64];
    int         n = 0;
    for (int mode = 0; mode < 2; mode++) {
        begin(mode);
        training    t = two_layers();
        eddy_array *x = data(), *labels = eddy_array_new(EDDY_INT32, EDDY_SHAPE(8));
        ok(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL));
        for (int i = 0; i < 10; i++)
            ok(eddy_run(s, EDDY_FEED({ t.x, x }, { t.labels, labels }),
                        EDDY_FETCH(t.step, t.loss), NULL));
        values(&t, was[mode]);
        n = t.n;
        eddy_array_free(x);
        eddy_array_free(labels);
        end();
    }
    for (int i = 0; i < n; i++) {
        ck_assert(eddy_array_equal(was[0][i], was[1][i]));
        eddy_array_free(was[0][i]);
        eddy_array_free(was[1][i]);
    }
}
END_TEST

/* A callable names the node too. */
START_TEST(callables)
{
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = numbers("x", 2), y = eddy_named("y", Log(x));
    eddy_callable    *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(Mul(Add(y, 1), 2)));
    ok(eddy_callable_run(c, (const eddy_array *[]){ EDDY_FLOATS(1, 2) }, NULL));
    says_of(eddy_callable_run(c, (const eddy_array *[]){ EDDY_FLOATS(1, -2) }, NULL),
            "Log(float32[2]): output 0, element 1, is nan; its inputs are finite: 'x' in [-2, 1]",
            "[node 'y']", "");
    end();
}
END_TEST

START_TEST(messages)
{
    golden_begin("session/numerics");
    begin(7);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_scalar(g, 1)), NULL);
    golden_line(eddy_session_message(s));
    end();
    begin(EDDY_NUMERICS_MADE);
    const eddy_tensor x = numbers("x", 2);
    eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(3, 0) }), EDDY_FETCH(eddy_named("y", Log(x))), NULL);
    golden_line(eddy_session_message(s));
    eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(NAN, 0) }), EDDY_FETCH(eddy_named("z", Log(x))), NULL);
    golden_line(eddy_session_message(s));
    const eddy_tensor v = eddy_variable(g, eddy_scalar(g, 0), .name = "v");
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    const eddy_tensor w = eddy_placeholder(g, "w", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_run(s, EDDY_FEED({ w, EDDY_NUMBER(EDDY_FLOAT32, NAN) }), EDDY_FETCH(eddy_assign(v, w)),
             NULL);
    golden_line(eddy_session_message(s));
    end();
    golden_end();
}
END_TEST

Suite *numerics_suite(void)
{
    Suite *suite = suite_create("numerics");
    TCase *t = tcase_create("numerics");
    tcase_add_loop_test(t, finiteness_of_each_type, 0, 6);
    tcase_add_test(t, modes);
    tcase_add_test(t, masks);
    tcase_add_test(t, fused);
    tcase_add_test(t, overwritten);
    tcase_add_test(t, folded_and_stabilized);
    tcase_add_test(t, epilogues);
    tcase_add_test(t, loops);
    tcase_add_test(t, evaluations);
    tcase_add_test(t, casts_of_factors);
    tcase_add_test(t, halves_and_complex);
    tcase_add_test(t, random_nodes);
    tcase_add_test(t, variables_stay);
    tcase_add_test(t, effects);
    tcase_add_test(t, updates);
    tcase_add_test(t, same_bits);
    tcase_add_test(t, callables);
    tcase_add_test(t, messages);
    suite_add_tcase(suite, t);
    return suite;
}
