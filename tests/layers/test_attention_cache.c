/* test_attention_cache.c -- transformers that get positions one by one, with a cache, against the
 * same transformers on whole sequences. */
#include "build/gen/suites.h"
#include "ops/short_names.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/golden.h"

#include <math.h>

enum { LENGTH = 9, WINDOW = 11, BLOCKS = 2, MEMORY = 4, CASES = 60 };

typedef struct model {
    int64_t     heads, units;
    bool        learned, pre_norm, cross;
    eddy_tensor memory, memory_lengths;
} model;

/* Blocks on x [batch, s, units]; the first call makes the variables. */
static eddy_tensor apply(const model *n, eddy_tensor x, eddy_attention_cache *cache, bool again)
{
    const eddy_tensor none = EDDY_NO_TENSOR;
    char              name[8], scope[16];
    x = eddy_position_layer(x, WINDOW, n->learned, .name = "at", .cache = cache,
                            .reuse = again ? "at" : NULL);
    for (int i = 0; i < BLOCKS; i++) {
        snprintf(name, sizeof name, "b%d", i);
        snprintf(scope, sizeof scope, "%s", name);
        x = eddy_transformer_block(x, n->heads, name, 2 * n->units, .causal = true, .seed = 3,
                                   .memory = n->cross ? n->memory : none,
                                   .memory_lengths = n->cross ? n->memory_lengths : none,
                                   .pre_norm = n->pre_norm, .activation = eddy_tanh,
                                   .reuse = again ? scope : NULL, .cache = cache);
    }
    return x;
}

typedef struct pass {
    const model             *net;
    const eddy_attention_cache *like;
} pass;

/* The cache and then a position, [batch, units]; yields the next cache and then the output. */
static int step(eddy_list x, eddy_tensor *y, void *context)
{
    const pass          *p = context;
    eddy_attention_cache cache = eddy_attention_cache_at(p->like, x.at);
    const eddy_tensor    one = ExpandDims(x.at[p->like->count], 1);
    const eddy_tensor    out = Squeeze(apply(p->net, one, &cache, true), EDDY_AXES(1));
    const int            n = eddy_attention_cache_store(&cache, y);
    y[n] = out;
    return n + 1;
}

static eddy_tensor steps_first(eddy_tensor x) { return Transpose(x, EDDY_DIMS(1, 0, 2)); }

/* The outputs for x [batch, s, units] after the cache, one position after the other. */
static eddy_tensor one_by_one(const model *n, const eddy_attention_cache *like, eddy_tensor x)
{
    eddy_tensor         out[EDDY_MAX_RESULTS];
    pass                p = { n, like };
    const eddy_function f = { .build = step, .context = &p, .name = "step" };
    const int count = eddy_loop(f, eddy_attention_cache_tensors(like), EDDY_LIST(steps_first(x)),
                                out);
    ck_assert_int_eq(count, like->count + 1);
    return steps_first(out[like->count]);
}

static eddy_tensor columns(eddy_tensor x, int64_t from, int64_t count)
{
    return eddy_slice(x, EDDY_DIMS(0, from, 0), EDDY_DIMS(-1, count, -1));
}

static eddy_array *numbers(trial *t, eddy_dtype d, eddy_shape s)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, (pick(t, 2001) - 1000) / 700.0);
    return a;
}

static void close_to(trial *t, eddy_tensor y, eddy_tensor want, double tolerance)
{
    eddy_array *a = value(t, y), *b = value(t, want);
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_msg(fabs(eddy_array_get(a, i) - eddy_array_get(b, i)) <= tolerance,
                      "element %d is %.17g, not %.17g", (int)i, eddy_array_get(a, i),
                      eddy_array_get(b, i));
    eddy_array_free(a);
    eddy_array_free(b);
}

static model some_network(trial *t, eddy_dtype d, int64_t batch)
{
    model n = { .heads = 1 + pick(t, 4), .learned = pick(t, 2), .pre_norm = pick(t, 2),
                  .cross = pick(t, 2) };
    n.units = n.heads * (2 + pick(t, 17));
    n.memory = eddy_set_shape(fed(t, numbers(t, d, EDDY_SHAPE(batch, MEMORY, n.units))),
                              EDDY_SHAPE(EDDY_ANY, EDDY_ANY, n.units));
    if (pick(t, 2)) {
        eddy_array *lengths = eddy_array_new(EDDY_INT64, EDDY_SHAPE(batch));
        for (int64_t b = 0; b < batch; b++) eddy_array_set(lengths, b, 1 + pick(t, MEMORY));
        n.memory_lengths = fed(t, lengths);
    }
    return n;
}

/* A prompt of any length, two positions at once, and the others one by one. */
START_TEST(same_as_whole_sequences)
{
    trial            t = trial_begin((unsigned)_i);
    const eddy_dtype d = _i % 2 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    const int64_t    batch = 1 + pick(&t, 3), prompt = pick(&t, LENGTH - 2);
    const model    n = some_network(&t, d, batch);
    eddy_array      *numbers_of_x = numbers(&t, d, EDDY_SHAPE(batch, LENGTH, n.units));
    const eddy_tensor x = eddy_set_shape(fed(&t, numbers_of_x),
                                         EDDY_SHAPE(EDDY_ANY, EDDY_ANY, n.units));
    const eddy_tensor whole = apply(&n, x, NULL, false);
    eddy_attention_cache cache = eddy_attention_cache_new(x, WINDOW);
    const eddy_tensor a = apply(&n, columns(x, 0, prompt), &cache, true);
    ck_assert_int_eq(cache.count, 1 + BLOCKS * (n.cross ? 5 : 2));
    cache = eddy_attention_cache_at(&cache, cache.at);
    const eddy_tensor b = apply(&n, columns(x, prompt, 2), &cache, true);
    const eddy_tensor c = one_by_one(&n, &cache, columns(x, prompt + 2, LENGTH - prompt - 2));
    initialize(&t);
    const eddy_tensor all = eddy_concat(EDDY_LIST(a, b, c), 1);
    close_to(&t, all, whole, d == EDDY_FLOAT32 ? 1e-5 : 1e-12);
    if (d == EDDY_FLOAT64) {
        const eddy_tensor w = fed(&t, numbers(&t, d, EDDY_SHAPE(batch, LENGTH, n.units)));
        close_to(&t, gradient_with(all, w, x), gradient_with(whole, w, x), 1e-10);
    }
    trial_end(&t);
}
END_TEST

/* Row b of a [batch, s, units] from `from` on. */
static eddy_tensor of_example(eddy_tensor x, int64_t b, int64_t from, int64_t count)
{
    return eddy_slice(x, EDDY_DIMS(b, from, 0), EDDY_DIMS(1, count, -1));
}

/* Prompts of different lengths, which are padded at the end. */
START_TEST(prompts_of_different_lengths)
{
    enum { BATCH = 3, PROMPT = 5 };
    trial            t = trial_begin((unsigned)_i + 100);
    const eddy_dtype d = EDDY_FLOAT64;
    model          n = some_network(&t, d, BATCH);
    int64_t          length[BATCH];
    n.cross = false;
    for (int b = 0; b < BATCH; b++) length[b] = pick(&t, PROMPT + 1);
    const eddy_tensor prompt = fed(&t, numbers(&t, d, EDDY_SHAPE(BATCH, PROMPT, n.units)));
    const eddy_tensor more = fed(&t, numbers(&t, d, EDDY_SHAPE(BATCH, LENGTH - PROMPT, n.units)));
    const eddy_tensor lengths = eddy_const(t.graph, EDDY_INT64, EDDY_SHAPE(BATCH), length);
    const eddy_tensor x = eddy_set_shape(prompt, EDDY_SHAPE(BATCH, PROMPT, n.units));
    const eddy_tensor y = eddy_set_shape(more, EDDY_SHAPE(BATCH, LENGTH - PROMPT, n.units));
    eddy_tensor          want[BATCH];
    eddy_attention_cache cache = eddy_attention_cache_new(x, WINDOW, lengths);
    apply(&n, x, &cache, false);
    const eddy_tensor have = one_by_one(&n, &cache, y);
    for (int b = 0; b < BATCH; b++) {
        const eddy_tensor all = eddy_concat(EDDY_LIST(of_example(x, b, 0, length[b]),
                                                      of_example(y, b, 0, -1)), 1);
        want[b] = of_example(apply(&n, all, NULL, true), 0, length[b], -1);
    }
    initialize(&t);
    close_to(&t, have, eddy_concat((eddy_list){ BATCH, want }, 0), 1e-12);
    trial_end(&t);
}
END_TEST

/* Positions and attention to a memory, without self-attention. */
static eddy_tensor reader(eddy_tensor x, eddy_tensor memory, eddy_attention_cache *cache,
                          bool again, bool positions_first)
{
    if (positions_first) x = eddy_position_layer(x, WINDOW, .cache = cache);
    x = eddy_multi_head_attention(x, 2, "reader", .memory = memory, .cache = cache, .seed = 3,
                                  .reuse = again ? "reader" : NULL);
    return positions_first ? x : eddy_position_layer(x, WINDOW, .cache = cache);
}

/* Whichever layer comes first counts the positions, of all examples or of `lengths`. */
START_TEST(without_self_attention)
{
    enum { UNITS = 6, PROMPT = 3 };
    trial         t = trial_begin(4);
    eddy_array   *a = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(2, LENGTH, UNITS));
    eddy_array   *b = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(2, MEMORY, UNITS));
    const eddy_tensor x = eddy_set_shape(fed(&t, a), EDDY_SHAPE(2, LENGTH, UNITS));
    const eddy_tensor memory = eddy_set_shape(fed(&t, b), EDDY_SHAPE(2, MEMORY, UNITS));
    const eddy_tensor n = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 3, 3 });
    const eddy_tensor whole = reader(x, memory, NULL, false, _i % 2);
    eddy_attention_cache cache = _i < 2 ? eddy_attention_cache_new(x, WINDOW)
                                        : eddy_attention_cache_new(x, WINDOW, n);
    const eddy_tensor first = reader(columns(x, 0, PROMPT), memory, &cache, true, _i % 2);
    cache = eddy_attention_cache_at(&cache, cache.at);
    const eddy_tensor next = reader(columns(x, PROMPT, 2), memory, &cache, true, _i % 2);
    cache = eddy_attention_cache_at(&cache, cache.at);
    const eddy_tensor rest = reader(columns(x, PROMPT + 2, LENGTH - PROMPT - 2), memory, &cache,
                                    true, _i % 2);
    initialize(&t);
    close_to(&t, eddy_concat(EDDY_LIST(first, next, rest), 1), whole, 1e-12);
    check_values(&t, cache.at[0], EDDY_SHAPE(2), (double[]){ LENGTH, LENGTH });
    trial_end(&t);
}
END_TEST

/* The memory of a plan is that of the tables before the loop and in it: the loop has no second
 * buffers for them, which it would need to copy them. */
START_TEST(tables_are_not_copied)
{
    enum { WIDE = 4096, UNITS = 32, TABLES = 2 * BLOCKS };
    eddy_graph          *g = eddy_graph_new();
    const eddy_tensor    x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1, LENGTH, UNITS));
    eddy_attention_cache cache = eddy_attention_cache_new(x, WIDE);
    const model          n = { .heads = 4, .units = UNITS };
    apply(&n, columns(x, 0, 1), &cache, false);
    const eddy_tensor y = one_by_one(&n, &cache, columns(x, 1, LENGTH - 1));
    eddy_session     *s = eddy_session_new(g, .threads = 1);
    eddy_array       *out = NULL;
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK &&
                      eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out) == EDDY_OK,
                  "%s", eddy_session_message(s));
    const double tables = (double)eddy_session_plan_info(s).arena_bytes /
                          (WIDE * UNITS * sizeof(float));
    ck_assert_msg(tables < 2.2 * TABLES, "%g tables", tables);
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* The arithmetic of one step. */
static double flops_of_step(int64_t window)
{
    eddy_graph          *g = eddy_graph_new();
    const eddy_tensor    x = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(1, 2, 8)));
    eddy_attention_cache cache = eddy_attention_cache_new(x, window);
    eddy_multi_head_attention(columns(x, 0, 1), 2, .causal = true, .cache = &cache);
    cache = eddy_attention_cache_at(&cache, cache.at);
    const eddy_tensor y = eddy_multi_head_attention(columns(x, 1, 1), 2, .causal = true,
                                                    .cache = &cache, .reuse = "attention");
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out = NULL;
    ck_assert(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK);
    ck_assert(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out) == EDDY_OK);
    const double flops = eddy_session_plan_info(s).flops;
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
    return flops;
}

/* Counted for a full window, the arithmetic is that of one position and, for each position of the
 * window, two products of the units and five operations for each head. */
START_TEST(a_step_is_linear_in_the_window)
{
    const double a = flops_of_step(64), b = flops_of_step(128), c = flops_of_step(1024);
    ck_assert_double_eq_tol(b - a, 64 * (4 * 8 + 2 * 5), 1e-6);
    ck_assert_double_eq_tol(c - b, 896 * (4 * 8 + 2 * 5), 1e-6);
}
END_TEST

static void check_fails(eddy_tensor y)
{
    eddy_session *s = eddy_session_new(y.graph);
    eddy_array   *out = NULL;
    ck_assert(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(y.graph)), NULL) == EDDY_OK);
    ck_assert(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out) == EDDY_CHECK_FAILED);
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
}

static eddy_tensor attention(eddy_tensor x, eddy_attention_cache *cache, bool again)
{
    return eddy_multi_head_attention(x, 2, .causal = true, .cache = cache,
                                     .reuse = again ? "attention" : NULL);
}

/* Positions beyond the window, of a later call: of the keys, of a table of positions. */
static void full_windows(eddy_graph *g, eddy_tensor x)
{
    eddy_attention_cache cache = eddy_attention_cache_new(x, 4);
    attention(x, &cache, false);
    cache = eddy_attention_cache_at(&cache, cache.at);
    const eddy_attention_cache full = cache;
    check_fails(attention(x, &cache, true));
    cache = full;
    check_fails(eddy_position_layer(x, .cache = &cache));
    const eddy_tensor open = eddy_placeholder_with_default(x, "open", EDDY_SHAPE(2, EDDY_ANY, 4));
    cache = eddy_attention_cache_new(open, 2);
    attention(open, &cache, true);
    check_fails(cache.at[0]);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
}

/* Lengths that are not those of the positions. */
static void wrong_lengths(eddy_graph *g, eddy_tensor x)
{
    for (int32_t n = -1; n <= 4; n += 5) {
        const eddy_tensor lengths = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 3, n });
        eddy_attention_cache cache = eddy_attention_cache_new(x, 6, lengths);
        attention(x, &cache, true);
        cache = eddy_attention_cache_at(&cache, cache.at);
        check_fails(attention(columns(x, 0, 1), &cache, true));
    }
    const eddy_tensor open = eddy_placeholder(g, "any", EDDY_FLOAT32, (eddy_shape){ .rank = -1 });
    eddy_attention_cache_new(open, 6, columns(x, 0, 1)), golden_graph(g);
    eddy_attention_cache_new(open, 6, Cast(columns(x, 0, 1), EDDY_INT32)), golden_graph(g);
}

static void wrong_calls(eddy_graph *g, eddy_tensor x)
{
    const eddy_tensor    none[3] = { EDDY_NO_TENSOR };
    eddy_attention_cache c = eddy_attention_cache_new(x, 4);
    eddy_tensor          out[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_attention_cache_store(&c, out), 0);
    golden_graph(g);
    attention(x, &c, true);
    eddy_attention_cache_at(&c, NULL), golden_graph(g);
    eddy_attention_cache_at(&c, none), golden_graph(g);
    ck_assert_int_eq(eddy_attention_cache_store(&c, NULL), 0);
    golden_graph(g);
    ck_assert_int_eq(eddy_attention_cache_store(NULL, out), 0);
    ck_assert_int_eq(eddy_attention_cache_tensors(NULL).count, 0);
    ck_assert_int_eq(eddy_attention_cache_at(NULL, c.at).count, 0);
    attention(columns(x, 0, 1), &c, true), golden_graph(g);
    eddy_position_layer(columns(x, 0, 2), .cache = &c), golden_graph(g);
}

START_TEST(messages)
{
    eddy_graph       *g = eddy_graph_new(), *other = eddy_graph_new();
    const eddy_tensor x = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4)), y[64] = { x, x, x };
    const eddy_tensor n = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 2 });
    const eddy_tensor foreign = eddy_ones(other, EDDY_FLOAT32, EDDY_SHAPE(2, 3, 4));
    eddy_tensor       out[EDDY_MAX_RESULTS];
    golden_begin("layers/attention_cache");
    full_windows(g, x);
    wrong_lengths(g, x);
    wrong_calls(g, x);
    eddy_attention_cache_new(x, 0), golden_graph(g);
    eddy_attention_cache_new(Sum(x), 4), golden_graph(g);
    eddy_attention_cache_new(x, 4, x), golden_graph(g);
    eddy_attention_cache c = eddy_attention_cache_new(x, 2);
    attention(x, &c, true), golden_graph(g);
    c = eddy_attention_cache_new(x, 4);
    eddy_multi_head_attention(x, 2, .cache = &c), golden_graph(g);
    eddy_multi_head_attention(x, 2, .cache = &c, .mask = x, .causal = true), golden_graph(g);
    eddy_multi_head_attention(x, 2, .cache = &c, .lengths = n, .causal = true), golden_graph(g);
    eddy_multi_head_attention(x, 2, .cache = &c, .dropout = 0.5, .training = true), golden_graph(g);
    attention(foreign, &c, false), golden_graph(other);
    attention(x, &c, true);
    eddy_attention_cache later = eddy_attention_cache_at(&c, c.at);
    ck_assert_int_eq(eddy_attention_cache_store(&later, out), 0);
    golden_graph(g);
    attention(x, &later, true);
    ck_assert_int_eq(eddy_attention_cache_store(&later, out), 3);
    attention(x, &later, true), golden_graph(g);
    eddy_attention_cache_at(&c, y), golden_graph(g);
    for (int i = 0; i < EDDY_MAX_RESULTS / 2 - 1; i++) attention(x, &c, true);
    golden_graph(g);
    golden_end();
    eddy_graph_free(other);
    eddy_graph_free(g);
}
END_TEST

Suite *attention_cache_suite(void)
{
    Suite *suite = suite_create("attention_cache");
    TCase *t = tcase_create("attention_cache");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, same_as_whole_sequences, 0, CASES);
    tcase_add_loop_test(t, prompts_of_different_lengths, 0, 10);
    tcase_add_loop_test(t, without_self_attention, 0, 4);
    tcase_add_test(t, tables_are_not_copied);
    tcase_add_test(t, a_step_is_linear_in_the_window);
    tcase_add_test(t, messages);
    suite_add_tcase(suite, t);
    return suite;
}
