/* test_parallel_groups.c -- small independent instructions that run in parallel: which ones, equal
 * results, memory, errors inside, and many simultaneous runs. */
#include "session/compile/parallel_groups.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

Suite *parallel_groups_suite(void);

enum { TOWERS = 6, SIZE = 48, ROWS = 16,
       STEPS = MIN_PERIOD + 4,    /* both ways, and back again */
       PASS = 14 };                 /* the number of EDDY_PASS_PARALLEL */

static eddy_graph *g;
static eddy_array *batch;

/* Numbers between -1 and 1. */
static eddy_array *numbers(eddy_dtype d, eddy_shape s, int seed)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin((double)(i * 7 + seed * 13 + 1)));
    return a;
}

static void setup(void)
{
    g = eddy_graph_new();
    batch = numbers(EDDY_FLOAT32, EDDY_SHAPE(ROWS, SIZE), 1);
}

static void teardown(void)
{
    eddy_array_free(batch);
    eddy_graph_free(g);
}

/* -------------------------------------------------------------------- models -- */

static eddy_tensor fed(void)
{
    return eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(ROWS, SIZE));
}

static eddy_tensor tower(eddy_tensor x, int layers)
{
    for (int i = 0; i < layers; i++) x = Relu(eddy_dense(x, SIZE, NULL));
    return x;
}

static eddy_tensor towers(eddy_tensor x)
{
    eddy_tensor sum = tower(x, 4);
    for (int i = 1; i < TOWERS; i++) sum = Add(sum, tower(x, 4));
    return Mean(Square(sum));
}

/* Each member has a loss of its own. */
static eddy_tensor ensemble(eddy_tensor x)
{
    eddy_tensor losses[TOWERS];
    for (int i = 0; i < TOWERS; i++)
        losses[i] = Mean(Square(Sub(eddy_dense(tower(x, 2), 1, NULL), eddy_scalar(g, 0.5))));
    return eddy_add_n((eddy_list){ TOWERS, losses }, NULL);
}

/* Heads of different length over one trunk, joined. */
static eddy_tensor heads(eddy_tensor x)
{
    const eddy_tensor trunk = tower(x, 2);
    eddy_tensor       all[TOWERS];
    for (int i = 0; i < TOWERS; i++) all[i] = tower(trunk, 1 + i);
    return Mean(Square(eddy_concat((eddy_list){ TOWERS, all }, 1)));
}

static int loop_body(eddy_list x, eddy_tensor *y, void *w)
{
    y[0] = Tanh(MatMul(Relu(MatMul(x.at[0], *(eddy_tensor *)w)), *(eddy_tensor *)w));
    return 1;
}

/* A loop in each tower, whose body has memory of its own. */
static eddy_tensor loops(eddy_tensor x)
{
    eddy_tensor sum = eddy_scalar(g, 0);
    for (int i = 0; i < TOWERS; i++) {
        eddy_tensor first =
            eddy_init_glorot_uniform(g, EDDY_FLOAT32, EDDY_SHAPE(SIZE, SIZE), i + 1);
        eddy_tensor w = eddy_variable(g, first), y = tower(x, 2);
        eddy_iterate(3, (eddy_function){ .build = loop_body, .context = &w }, EDDY_LIST(y), &y);
        sum = Add(sum, Mean(Square(tower(y, 2))));
    }
    return sum;
}

/* Each tower draws its own numbers. */
static eddy_tensor noisy(eddy_tensor x)
{
    eddy_tensor sum = eddy_scalar(g, 0);
    for (int i = 0; i < TOWERS; i++) sum = Add(sum, Sum(tower(eddy_dropout(x, 0.5), 3)));
    return sum;
}

typedef struct model {
    const char *name;
    eddy_tensor (*build)(eddy_tensor x);
} model;

static const model MODELS[] = {
    { "towers", towers }, { "ensemble", ensemble }, { "heads", heads }, { "loops", loops },
    { "noisy", noisy },
};
enum { MODEL_COUNT = sizeof MODELS / sizeof *MODELS, NOISY = MODEL_COUNT - 1 };

/* A model with a step of an optimizer. */
typedef struct training {
    eddy_tensor x, loss, train, init;
} training;

static training build(const model *m)
{
    training t = { .x = fed() };
    t.loss = m->build(t.x);
    t.train = eddy_minimize(eddy_adam(g, .learning_rate = eddy_scalar(g, 1e-3)), t.loss);
    t.init = eddy_initializer(g);
    fits(g);
    return t;
}

static void check_plans(const eddy_session *s)
{
    eddy_error e = { 0 };
    for (const eddy_plan *p = s->plans; p; p = p->next)
        ck_assert_msg(eddy__plan_check(p, &e), "%s", e.message);
}

/* ---------------------------------------------------------------- what becomes one -- */

static eddy_plan_info info_of(const training *t, unsigned without, int threads, size_t most)
{
    eddy_session *s = eddy_session_new(g, .without = without, .threads = threads,
                                       .max_bytes = most);
    runs(s, t->init);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ t->x, batch }), EDDY_FETCH(t->train), NULL), EDDY_OK);
    check_plans(s);
    const eddy_plan_info info = eddy_session_plan_info(s);
    eddy_session_free(s);
    return info;
}

START_TEST(fires)
{
    const training       t = build(&MODELS[_i]);
    const eddy_plan_info on = info_of(&t, 0, 2, 0), off = info_of(&t, EDDY_PASS_PARALLEL, 2, 0);
    ck_assert_int_gt(on.changes[PASS], off.instructions / 2);
    ck_assert_int_lt(on.instructions, off.instructions / 2);
    ck_assert_int_eq(off.changes[PASS], 0);
    ck_assert_double_eq(on.flops, off.flops);
    ck_assert_uint_le(on.arena_bytes, off.arena_bytes + (1 << 20) + (1 << 18));
    ck_assert_int_eq(info_of(&t, 0, 1, 0).changes[PASS], 0);
    ck_assert_int_eq(info_of(&t, 0, 2, 1 << 30).changes[PASS], 0);
}
END_TEST

/* Layers one behind the other have nothing to run side by side. */
START_TEST(not_a_chain)
{
    training t = { .x = fed() };
    t.train = Mean(tower(t.x, 12));
    t.init = eddy_initializer(g);
    fits(g);
    ck_assert_int_eq(info_of(&t, 0, 4, 0).changes[PASS], 0);
}
END_TEST

/* --------------------------------------------------------------------- same bits -- */

enum { MOST_VARIABLES = 256 };

/* The loss of each step and all variables after the last. */
typedef struct outcome {
    eddy_array *loss[STEPS], *variables[MOST_VARIABLES];
    int         n;
} outcome;

static outcome train(const training *t, unsigned without, int threads)
{
    outcome       o = { .n = 0 };
    eddy_session *s = eddy_session_new(g, .without = without, .threads = threads);
    runs(s, t->init);
    for (int i = 0; i < STEPS; i++) {
        eddy_array *out[2] = { NULL };
        ck_assert_int_eq(
            eddy_run(s, EDDY_FEED({ t->x, batch }), EDDY_FETCH(t->train, t->loss), out), EDDY_OK);
        o.loss[i] = out[1];
    }
    check_plans(s);
    for (; o.n < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES) && o.n < MOST_VARIABLES; o.n++)
        o.variables[o.n] =
            eddy_variable_value(s, eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, o.n));
    eddy_session_free(s);
    return o;
}

static void free_outcome(outcome *o)
{
    for (int i = 0; i < STEPS; i++) eddy_array_free(o->loss[i]);
    for (int i = 0; i < o->n; i++) eddy_array_free(o->variables[i]);
}

static bool same(const outcome *a, const outcome *b)
{
    bool all = a->n == b->n;
    for (int i = 0; i < STEPS; i++) all = all && eddy_array_equal(a->loss[i], b->loss[i]);
    for (int i = 0; all && i < a->n; i++)
        all = eddy_array_equal(a->variables[i], b->variables[i]);
    return all;
}

/* Rows are the models, then the models without another pass. */
static const unsigned WITHOUT[] = { 0, EDDY_PASS_FUSE, EDDY_PASS_REUSE, EDDY_PASS_IN_PLACE,
                                    EDDY_PASS_SCHEDULE };
enum { ROWS_OF_BITS = MODEL_COUNT * (int)(sizeof WITHOUT / sizeof *WITHOUT) };

START_TEST(same_bits)
{
    const model   *m = &MODELS[_i % MODEL_COUNT];
    const unsigned without = WITHOUT[_i / MODEL_COUNT];
    const training t = build(m);
    outcome        want = train(&t, EDDY_PASS_PARALLEL, 1);
    ck_assert_int_gt(want.n, 0);
    for (int threads = 1; threads <= 4; threads++) {
        outcome got = train(&t, without, threads);
        ck_assert_msg(same(&got, &want), "%s, %d threads, without %#x", m->name, threads, without);
        free_outcome(&got);
    }
    free_outcome(&want);
}
END_TEST

/* ------------------------------------------------------------------------- errors -- */

enum { ELEMENTS = 4000 };

/* Towers of divisions of integers by the fed rows. */
static eddy_tensor divisions(eddy_tensor x)
{
    const eddy_tensor rows = eddy_unstack(x);
    eddy_tensor       all[TOWERS];
    for (int i = 0; i < TOWERS; i++) {
        const eddy_tensor row = eddy_output(rows, i);
        eddy_tensor       y = eddy_cumsum(row);
        for (int k = 0; k < 3; k++) y = eddy_cumsum(FloorDiv(Add(y, 100000 + k), row));
        all[i] = y;
    }
    return eddy_stack((eddy_list){ TOWERS, all });
}

/* Which towers divide by zero, and where. */
static const int8_t ZEROS[][3] = { { 0, -1 }, { 5, -1 }, { 4, 2, -1 }, { 1, 5, -1 }, { 0, 3, 5 } };

static eddy_array *divisors(const int8_t *zeros)
{
    eddy_array *a = eddy_array_new(EDDY_INT32, EDDY_SHAPE(TOWERS, ELEMENTS));
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, (double)(1 + i % 5));
    for (int i = 0; i < 3 && zeros[i] >= 0; i++)
        eddy_array_set(a, zeros[i] * ELEMENTS + ELEMENTS / 2, 0);
    return a;
}

/* A failing run gives the message of a run in sequence; then a correct run succeeds. */
START_TEST(errors)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(TOWERS, ELEMENTS));
    const eddy_tensor y = divisions(x);
    eddy_session     *plain = eddy_session_new(g, .without = EDDY_PASS_PARALLEL, .threads = 1);
    eddy_session     *s = eddy_session_new(g, .threads = 1 + _i);
    eddy_array       *out[2] = { NULL }, *right = divisors((const int8_t[]){ -1 });
    fits(g);
    for (int k = 0; k < 40; k++) {
        eddy_array *wrong = divisors(ZEROS[k % (int)(sizeof ZEROS / sizeof *ZEROS)]);
        const eddy_status want = eddy_run(plain, EDDY_FEED({ x, wrong }), EDDY_FETCH(y), &out[0]);
        ck_assert_int_ne(want, EDDY_OK);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, wrong }), EDDY_FETCH(y), &out[1]), want);
        ck_assert_str_eq(eddy_session_message(s), eddy_session_message(plain));
        eddy_array_free(wrong);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, right }), EDDY_FETCH(y), &out[1]), EDDY_OK);
        ck_assert_int_eq(eddy_run(plain, EDDY_FEED({ x, right }), EDDY_FETCH(y), &out[0]),
                         EDDY_OK);
        ck_assert(eddy_array_equal(out[0], out[1]));
    }
    ck_assert(_i == 0 || eddy_session_plan_info(s).changes[PASS] > 0);
    check_plans(s);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_array_free(right);
    eddy_session_free(s);
    eddy_session_free(plain);
}
END_TEST

/* An update behind a division that fails is not made, whichever tower it is in; those
 * before it are. */
START_TEST(updates_behind_errors)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(TOWERS, ELEMENTS));
    const eddy_tensor rows = eddy_unstack(x);
    eddy_tensor       v[TOWERS], all[TOWERS];
    for (int i = 0; i < TOWERS; i++) {
        v[i] = eddy_variable(g, eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(ELEMENTS)));
        const eddy_tensor row = eddy_output(rows, i);
        all[i] = eddy_assign_add(v[i], eddy_cumsum(FloorDiv(eddy_cumsum(row), row)));
    }
    const eddy_tensor step = eddy_group(g, (eddy_list){ TOWERS, all }, NULL);
    const eddy_tensor init = eddy_initializer(g);
    eddy_array       *wrong = divisors(ZEROS[3]);
    eddy_session     *s[2];
    fits(g);
    for (int k = 0; k < 2; k++) {
        s[k] = eddy_session_new(g, .without = k ? EDDY_PASS_PARALLEL : 0, .threads = 3);
        runs(s[k], init);
        ck_assert_int_ne(eddy_run(s[k], EDDY_FEED({ x, wrong }), EDDY_FETCH(step), NULL), EDDY_OK);
    }
    for (int i = 0; i < TOWERS; i++) {
        eddy_array *a = eddy_variable_value(s[0], v[i]), *b = eddy_variable_value(s[1], v[i]);
        ck_assert_msg(eddy_array_equal(a, b), "variable %d", i);
        eddy_array_free(a);
        eddy_array_free(b);
    }
    eddy_array_free(wrong);
    for (int k = 0; k < 2; k++) eddy_session_free(s[k]);
}
END_TEST

/* The first update of a variable without a value says so, as in a plain run. */
START_TEST(without_values)
{
    const training t = build(&MODELS[0]);
    eddy_session  *s[2];
    for (int k = 0; k < 2; k++) {
        s[k] = eddy_session_new(g, .without = k ? EDDY_PASS_PARALLEL : 0, .threads = 2);
        for (int i = 0; i < eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES); i++) {
            const eddy_tensor v = eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, i);
            eddy_array       *a = numbers(EDDY_FLOAT32, eddy_shape_of(v), i);
            ck_assert_int_eq(eddy_variable_set(s[k], v, a), EDDY_OK);
            eddy_array_free(a);
        }
        ck_assert_int_ne(eddy_run(s[k], EDDY_FEED({ t.x, batch }), EDDY_FETCH(t.train), NULL),
                         EDDY_OK);
    }
    ck_assert_str_eq(eddy_session_message(s[0]), eddy_session_message(s[1]));
    for (int k = 0; k < 2; k++) eddy_session_free(s[k]);
}
END_TEST

/* ------------------------------------------------------------------ many at once -- */

enum { USERS = 6 };

typedef struct user {
    pthread_t         thread;
    eddy_session     *s;
    const training   *t;
    const eddy_array *want;
    int               wrong;
} user;

static void *use(void *p)
{
    user       *u = p;
    eddy_array *loss = NULL;
    for (int i = 0; i < 20; i++) {
        u->wrong += eddy_run(u->s, EDDY_FEED({ u->t->x, batch }), EDDY_FETCH(u->t->loss),
                             &loss) != EDDY_OK;
        u->wrong += !eddy_array_equal(loss, u->want);
    }
    eddy_array_free(loss);
    return NULL;
}

START_TEST(runs_at_once)
{
    const training t = build(&MODELS[_i]);
    eddy_session  *s = eddy_session_new(g, .threads = 3);
    eddy_array    *want = NULL;
    user           users[USERS];
    runs(s, t.init);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ t.x, batch }), EDDY_FETCH(t.loss), &want), EDDY_OK);
    for (int i = 0; i < USERS; i++) {
        users[i] = (user){ .s = s, .t = &t, .want = want };
        ck_assert_int_eq(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
    }
    for (int i = 0; i < USERS; i++) {
        pthread_join(users[i].thread, NULL);
        ck_assert_int_eq(users[i].wrong, 0);
    }
    eddy_array_free(want);
    eddy_session_free(s);
}
END_TEST

/* ------------------------------------------------------------------------ damage -- */

/* Of the plan's instructions that with the most parts. */
static parallel_chains *widest(const eddy_plan *p)
{
    parallel_chains *most = NULL;
    for (int32_t i = 0; i < p->n_code; i++) {
        const parallel_chains *w = eddy__parallel_chains_of(&p->code[i]);
        if (w && (!most || w->n_parts > most->n_parts)) most = p->code[i].kernel.state;
    }
    return most;
}

/* A part in another chain than those on which it depends is found out. */
START_TEST(damage)
{
    const training t = build(&MODELS[0]);
    eddy_session  *s = eddy_session_new(g, .threads = 2);
    eddy_error     e = { 0 };
    runs(s, t.init);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ t.x, batch }), EDDY_FETCH(t.train), NULL), EDDY_OK);
    check_plans(s);
    eddy_plan *p = s->plans;
    parallel_chains *w = widest(p);
    int        tried = 0;
    ck_assert_ptr_nonnull(w);
    for (int32_t k = 0; k < w->n_parts; k++) {
        const int32_t was = w->chain_of[k];
        const bool    alone = w->chains[was].n == 1;
        if (alone) continue;
        w->chain_of[k] = (was + 1) % w->n_chains;
        ck_assert_msg(!eddy__plan_check(p, &e), "part %d in another chain", (int)k);
        w->chain_of[k] = was;
        e = (eddy_error){ 0 };
        tried++;
    }
    ck_assert_int_gt(tried, 20);
    w->parts[0].kernel.threads = 2;
    ck_assert(!eddy__plan_check(p, &e));
    w->parts[0].kernel.threads = 1;
    check_plans(s);
    eddy_session_free(s);
}
END_TEST

/* ----------------------------------------------------------------------- reports -- */

static char *text_of(void (*put)(eddy_session *, FILE *), eddy_session *s)
{
    char  *text = NULL;
    size_t size;
    FILE  *to = open_memstream(&text, &size);
    put(s, to);
    fclose(to);
    return text;
}

static void put_profile(eddy_session *s, FILE *to) { eddy_session_profile(s, to); }
static void put_lines(eddy_session *s, FILE *to) { eddy_session_profile_json(s, to); }
static void put_trace(eddy_session *s, FILE *to) { eddy_session_trace(s, to); }

/* Of this number of runs, how many are parallel if the variants take so many ticks. */
static int parallel_runs(autotuner *t, int of, int64_t serial, int64_t parallel)
{
    int n = 0;
    for (int i = 0; i < of; i++) {
        const bool variant = eddy__autotune_choice(t);
        n += variant;
        eddy__autotune_record(t, i % 50 == 9 ? 40 * serial : variant ? parallel : serial);
    }
    return n;
}

START_TEST(the_faster_variant_is_found)
{
    autotuner t = { .best = true };
    ck_assert_int_gt(parallel_runs(&t, 10000, 1000, 700), 9500);
    ck_assert_int_lt(parallel_runs(&t, 10000, 1000, 980), 1000);      /* not worth a thread */
    ck_assert_int_lt(parallel_runs(&t, 10000, 1000, 1500), 400);
    ck_assert_int_gt(parallel_runs(&t, 10000, 1000, 600), 9000);
    const autotuner tried = { .best = true };
    t = tried;
    ck_assert_int_eq(parallel_runs(&t, MIN_PERIOD, 1000, 700), MIN_PERIOD - PROBES);
    ck_assert_int_eq(parallel_runs(&t, 2 * MIN_PERIOD, 1000, 700), 2 * MIN_PERIOD - PROBES);
}
END_TEST

START_TEST(reports)
{
    const training t = build(&MODELS[0]);
    char          *told = NULL;
    size_t         size;
    FILE          *to = open_memstream(&told, &size);
    eddy_session  *s = eddy_session_new(g, .threads = 2, .profile = true, .report = to);
    runs(s, t.init);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ t.x, batch }), EDDY_FETCH(t.train), NULL), EDDY_OK);
    char *table = text_of(put_profile, s), *lines = text_of(put_lines, s);
    ck_assert_ptr_nonnull(strstr(table, "Parallel("));
    ck_assert_ptr_nonnull(strstr(table, " parallel chains [node '"));
    ck_assert_ptr_nonnull(strstr(lines, "\"op\": \"Parallel\""));
    ck_assert_ptr_nonnull(strstr(lines, "\"parts\": {\"Fused\": "));
    eddy_session_free(s);
    fclose(to);
    ck_assert_ptr_nonnull(strstr(told, "parallel: "));
    free(told);
    free(table);
    free(lines);
}
END_TEST

/* Chains run on both threads in one of the steps, if not in the first: a thread that is late finds
 * them done. */
START_TEST(trace_of_threads)
{
    const training t = build(&MODELS[0]);
    eddy_session  *s = eddy_session_new(g, .threads = 2, .trace = true);
    bool           found = false;
    runs(s, t.init);
    for (int i = 0; i < 1000 && !found; i++) {
        ck_assert_int_eq(
            eddy_run(s, EDDY_FEED({ t.x, batch }), EDDY_FETCH(t.train), NULL), EDDY_OK);
        char *text = text_of(put_trace, s);
        ck_assert_ptr_nonnull(strstr(text, "\"ph\": \"X\", \"pid\": 1, \"tid\": 1"));
        ck_assert_ptr_null(strstr(text, "\"tid\": 3"));
        found = strstr(text, "\"ph\": \"X\", \"pid\": 1, \"tid\": 2") != NULL;
        free(text);
    }
    ck_assert(found);
    eddy_session_free(s);
}
END_TEST

Suite *parallel_groups_suite(void)
{
    Suite *suite = suite_create("parallel_groups");
    TCase *c = tcase_create("parallel_groups"), *many = tcase_create("without other passes");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_checked_fixture(many, setup, teardown);
    tcase_set_timeout(c, 120);
    tcase_set_timeout(many, 120);
    tcase_set_tags(many, "many");
    tcase_add_loop_test(c, fires, 0, MODEL_COUNT);
    tcase_add_test(c, not_a_chain);
    tcase_add_loop_test(c, same_bits, 0, MODEL_COUNT);
    tcase_add_loop_test(many, same_bits, MODEL_COUNT, ROWS_OF_BITS);
    tcase_add_loop_test(c, errors, 0, 4);
    tcase_add_test(c, updates_behind_errors);
    tcase_add_test(c, without_values);
    tcase_add_loop_test(c, runs_at_once, 0, NOISY);
    tcase_add_test(c, damage);
    tcase_add_test(c, the_faster_variant_is_found);
    tcase_add_test(c, reports);
    tcase_add_test(c, trace_of_threads);
    suite_add_tcase(suite, c);
    suite_add_tcase(suite, many);
    return suite;
}
