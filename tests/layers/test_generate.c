/* test_generate.c -- generation against plain C: greedy, sampled, with ends of sequences, with a
 * cache against whole sequences, and beam search with a cache. */
#include "build/gen/suites.h"
#include "layers/layers.h"
#include "ops/short_names.h"
#include "tests/lib/array_trial.h"
#include "tests/lib/golden.h"

#include <math.h>

/* ------------------------------------------------- a model with a small state -- */

enum { LETTERS = 5, END = 4, STEPS = 12, BATCH = 6, PAD = -7 };

static double logit(int last, double past, int letter)
{
    return 2 * sin(1.3 * last + 0.9 * past + 1.7 * letter * letter + 0.2) + (letter == END);
}

/* The logits depend on the last letter and on a number that remembers the letters before. */
static int model(eddy_list x, eddy_tensor *y, void *context)
{
    eddy_graph       *g = context;
    const eddy_tensor last = Cast(x.at[0], EDDY_FLOAT64), past = x.at[1];
    const eddy_tensor of_letter = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(LETTERS),
                                             (double[]){ 0, 1.7, 1.7 * 4, 1.7 * 9, 1.7 * 16 });
    const eddy_tensor end = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(LETTERS),
                                       (double[]){ 0, 0, 0, 0, 1 });
    const eddy_tensor of_last = Add(Mul(last, 1.3), Mul(past, 0.9));
    y[0] = Add(Mul(Sin(Add(Add(ExpandDims(of_last, 1), of_letter), 0.2)), 2), end);
    y[1] = Add(Mul(past, 0.5), last);
    return 2;
}

/* The most likely letters, with a penalty; returns the length. */
static int plain(int last, double past, double penalty, bool ends, int *ids)
{
    bool occurred[LETTERS] = { false };
    int  n = 0;
    for (occurred[last] = true; n < STEPS && !(ends && n > 0 && last == END); n++) {
        int    best = 0;
        double top = -INFINITY;
        for (int k = 0; k < LETTERS; k++) {
            double v = logit(last, past, k);
            if (occurred[k]) v = v > 0 ? v / penalty : v * penalty;
            if (v > top) top = v, best = k;
        }
        past = past / 2 + last;
        ids[n] = last = best;
        occurred[best] = true;
    }
    return n;
}

typedef struct result {
    int ids[BATCH][STEPS], lengths[BATCH];
} result;

static void fetch(eddy_graph *g, eddy_generated y, eddy_feeds feeds, result *r)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[2] = { NULL };
    ck_assert_msg(eddy_run(s, feeds, EDDY_FETCH(y.ids, y.lengths), out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    ck_assert(eddy_array_dtype(out[0]) == EDDY_INT32 && eddy_array_dtype(out[1]) == EDDY_INT32);
    ck_assert(eddy_shape_equal(eddy_array_shape(out[0]), EDDY_SHAPE(BATCH, STEPS)));
    for (int b = 0; b < BATCH; b++) {
        r->lengths[b] = (int)eddy_array_get(out[1], b);
        for (int k = 0; k < STEPS; k++) r->ids[b][k] = (int)eddy_array_get(out[0], b * STEPS + k);
    }
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
}

static const int32_t starts[BATCH] = { 0, 1, 2, 3, 1, 2 };
static const double  pasts[BATCH] = { 0, 0.4, 1.1, -2, 3, 0.7 };

/* With and without an end, known and open batches. */
START_TEST(greedy)
{
    const bool    ends = _i % 2, open = _i / 2 % 2;
    const double  penalty = _i / 4 ? 1.8 : 1;
    const int64_t batch = open ? EDDY_ANY : BATCH;
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   start = eddy_placeholder(g, "start", EDDY_INT32, EDDY_SHAPE(batch));
    eddy_tensor   past = eddy_placeholder(g, "past", EDDY_FLOAT64, EDDY_SHAPE(batch));
    const eddy_function f = { .build = model, .context = g, .name = "model" };
    const eddy_generated y = eddy_generate(f, EDDY_LIST(past), start, STEPS, .temperature = 0,
                                           .end_token = ends ? END : EDDY_OMITTED,
                                           .pad_token = PAD, .repetition_penalty = penalty);
    result have;
    int    shorter = 0;
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    fetch(g, y, EDDY_FEED({ start, EDDY_VIEW(starts, BATCH) }, { past, EDDY_VIEW(pasts, BATCH) }),
          &have);
    for (int b = 0; b < BATCH; b++) {
        int       want[STEPS];
        const int n = plain(starts[b], pasts[b], penalty, ends, want);
        ck_assert_int_eq(have.lengths[b], n);
        shorter += n < STEPS;
        for (int k = 0; k < STEPS; k++) ck_assert_int_eq(have.ids[b][k], k < n ? want[k] : PAD);
    }
    ck_assert_int_eq(shorter > 0, ends);
    eddy_graph_free(g);
}
END_TEST

/* A function that counts in a variable how often it runs, and whose sequences end at once. */
typedef struct counted {
    eddy_graph *graph;
    eddy_tensor count;
} counted;

static int ends_soon(eddy_list x, eddy_tensor *y, void *context)
{
    const counted *c = context;
    const eddy_tensor letter = Minimum(Add(x.at[0], 1), END), number = eddy_scalar(c->graph, 1);
    const eddy_tensor add = eddy_assign_add(c->count, number);
    eddy_control_begin(c->graph, EDDY_LIST(add));
    y[0] = OneHot(letter, LETTERS, .dtype = EDDY_FLOAT32);
    eddy_control_end(c->graph);
    return 1;
}

/* The loop stops when all sequences have ended: here after 4 steps, from letter 0. */
START_TEST(stops_early)
{
    eddy_graph   *g = eddy_graph_new();
    counted       c = { g, eddy_variable(g, eddy_scalar(g, 0), .not_trainable = true) };
    eddy_tensor   start = eddy_const(g, EDDY_INT32, EDDY_SHAPE(BATCH), starts);
    const eddy_function f = { .build = ends_soon, .context = &c };
    const eddy_generated y = eddy_generate(f, EDDY_LIST(), start, STEPS, END, .temperature = 0);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *ids = NULL, *n = NULL;
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y.ids), &ids) == EDDY_OK, "%s",
                  eddy_session_message(s));
    ck_assert(eddy_run(s, EDDY_FEED(), EDDY_FETCH(c.count), &n) == EDDY_OK);
    ck_assert(eddy_array_item(n) == END);
    for (int b = 0; b < BATCH; b++)
        for (int k = 0; k < STEPS; k++) {
            const int letter = starts[b] + k + 1;
            ck_assert(eddy_array_get(ids, b * STEPS + k) == (letter < END ? letter : END));
        }
    eddy_array_free(ids);
    eddy_array_free(n);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* The next letter; NaN after the END. */
static int ends_in_nan(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor next = OneHot(Add(x.at[0], 1), LETTERS, 100, 0, .dtype = EDDY_FLOAT32);
    y[0] = Where(Equal(ExpandDims(x.at[0], 1), END), (double)NAN, next);
    return 1;
}

/* Chosen greedily, at random, and with a penalty. */
START_TEST(finished_logits_are_ignored)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor start = eddy_const(g, EDDY_INT32, EDDY_SHAPE(BATCH), starts);
    const eddy_function f = { .build = ends_in_nan };
    const eddy_generated y = eddy_generate(f, EDDY_LIST(), start, STEPS, END, PAD,
                                           .temperature = _i == 0 ? 0 : 1,
                                           .repetition_penalty = _i == 2 ? 2 : 1);
    result have;
    fetch(g, y, EDDY_FEED(), &have);
    for (int b = 0; b < BATCH; b++) {
        ck_assert_int_eq(have.lengths[b], END - starts[b]);
        for (int k = 0; k < STEPS; k++) {
            const int letter = starts[b] + k + 1;
            ck_assert_int_eq(have.ids[b][k], letter <= END ? letter : PAD);
        }
    }
    eddy_graph_free(g);
}
END_TEST

static int uniform(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor logits = eddy_const(context, EDDY_FLOAT32, EDDY_SHAPE(LETTERS),
                                          (float[]){ 0.5f, 0, 1, -1, 0.2f });
    y[0] = Add(CastLike(ExpandDims(ZerosLike(x.at[0]), 1), logits), logits);
    return 1;
}

/* Each step draws anew, with the options of sampling. */
START_TEST(samples)
{
    enum { MANY = 3000 };
    const double  want[LETTERS] = { exp(0.25), 0, exp(0.5), 0, exp(0.1) };
    const double  sum = want[0] + want[2] + want[4];
    double        count[LETTERS] = { 0 }, surprise = 0;
    eddy_graph   *g = eddy_graph_new(.seed = 2);
    eddy_tensor   start = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(MANY));
    const eddy_function f = { .build = uniform, .context = g };
    const eddy_generated y = eddy_generate(f, EDDY_LIST(), start, 10, .temperature = 2, .top_k = 3);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *ids = eddy_fetch(s, y.ids);
    ck_assert_msg(ids != NULL, "%s", eddy_session_message(s));
    for (int i = 0; i < MANY * 10; i++) count[(int)eddy_array_get(ids, i)]++;
    for (int k = 0; k < LETTERS; k++) {
        const double n = want[k] / sum * MANY * 10;
        if (n > 0) surprise += pow(count[k] - n, 2) / n;
        else ck_assert(count[k] == 0);
    }
    ck_assert_double_lt(surprise, 2 + 4 * 2);
    eddy_array_free(ids);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------ a transformer's cache -- */

enum { CLASSES = 7, UNITS = 12, PROMPT = 4, WINDOW = PROMPT + STEPS - 1 };

static eddy_tensor transformer(eddy_tensor ids, eddy_attention_cache *cache, bool again)
{
    eddy_tensor h = eddy_embedding_layer(ids, CLASSES, UNITS, "e", .dtype = EDDY_FLOAT64, .seed = 1,
                                         .embeddings_initializer =
                                             eddy_random_normal_initializer(0, 1),
                                         .reuse = again ? "e" : NULL);
    h = eddy_position_layer(h, WINDOW, .cache = cache);
    h = eddy_transformer_block(h, 3, "b", .causal = true, .cache = cache, .seed = 2,
                               .reuse = again ? "b" : NULL);
    return eddy_dense(h, CLASSES, "l", .seed = 3, .reuse = again ? "l" : NULL);
}

static int step(eddy_list x, eddy_tensor *y, void *like)
{
    eddy_attention_cache cache = eddy_attention_cache_at(like, &x.at[1]);
    const eddy_tensor    ids = ExpandDims(x.at[0], 1);
    y[0] = Squeeze(transformer(ids, &cache, true), EDDY_AXES(1));
    return 1 + eddy_attention_cache_store(&cache, y + 1);
}

static eddy_tensor prompts(eddy_graph *g, eddy_tensor *last)
{
    int32_t ids[BATCH * PROMPT];
    for (int i = 0; i < BATCH * PROMPT; i++) ids[i] = (i * i + i / PROMPT) % CLASSES;
    const eddy_tensor p = eddy_const(g, EDDY_INT32, EDDY_SHAPE(BATCH, PROMPT), ids);
    *last = Squeeze(eddy_slice(p, EDDY_DIMS(0, PROMPT - 1), EDDY_DIMS(-1, 1)), EDDY_AXES(1));
    return p;
}

static eddy_tensor all_but_last(eddy_tensor prompt)
{
    return eddy_slice(prompt, EDDY_DIMS(0, 0), EDDY_DIMS(-1, PROMPT - 1));
}

static eddy_array *value_of(eddy_session *s, eddy_tensor t)
{
    eddy_array *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    return a;
}

/* Each id is the most likely one for the whole sequence before it. */
START_TEST(with_a_cache)
{
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  last, prompt = prompts(g, &last);
    eddy_attention_cache cache = eddy_attention_cache_new(prompt, WINDOW);
    transformer(all_but_last(prompt), &cache, false);
    const eddy_function  f = { .build = step, .context = &cache };
    const eddy_generated y = eddy_generate(f, eddy_attention_cache_tensors(&cache), last, STEPS,
                                           .temperature = 0);
    const eddy_tensor all = eddy_concat(EDDY_LIST(prompt, y.ids), 1);
    const eddy_tensor before = eddy_slice(all, EDDY_DIMS(0, 0), EDDY_DIMS(-1, WINDOW));
    const eddy_tensor logits = transformer(before, NULL, true);
    const eddy_tensor best = eddy_argmax(logits, .axis = 2, .output_type = EDDY_INT32);
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    eddy_array *have = value_of(s, y.ids);
    eddy_array *want =
        value_of(s, eddy_slice(best, EDDY_DIMS(0, PROMPT - 1), EDDY_DIMS(-1, STEPS)));
    double different = 0;
    for (int i = 0; i < BATCH * STEPS; i++) {
        ck_assert(eddy_array_get(have, i) == eddy_array_get(want, i));
        different += eddy_array_get(have, i) != eddy_array_get(have, 0);
    }
    ck_assert(different > 0);
    eddy_array_free(have);
    eddy_array_free(want);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* The log probabilities of the beams are those of the whole sequences. */
START_TEST(beams_with_a_cache)
{
    enum { WIDTH = 3 };
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  last, prompt = prompts(g, &last);
    eddy_attention_cache cache = eddy_attention_cache_new(prompt, WINDOW);
    transformer(all_but_last(prompt), &cache, false);
    const eddy_function f = { .build = step, .context = &cache };
    const eddy_beams y = eddy_beam_search(f, eddy_attention_cache_tensors(&cache), last, 0, WIDTH,
                                          STEPS, .dtype = EDDY_FLOAT64);
    const eddy_tensor twice = eddy_tile(ExpandDims(prompt, 1), EDDY_DIMS(1, WIDTH, 1));
    const eddy_tensor all = Reshape(eddy_concat(EDDY_LIST(twice, y.ids), 2),
                                    EDDY_SHAPE(BATCH * WIDTH, PROMPT + STEPS));
    const eddy_tensor before = eddy_slice(all, EDDY_DIMS(0, 0), EDDY_DIMS(-1, WINDOW));
    const eddy_tensor p = LogSoftmax(transformer(before, NULL, true));
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    eddy_array *ids = NULL, *sums = NULL, *probs = NULL, *lengths = NULL, *out[4] = { NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y.ids, y.log_probs, p, y.lengths), out)
                  == EDDY_OK, "%s", eddy_session_message(s));
    ids = out[0], sums = out[1], probs = out[2], lengths = out[3];
    for (int i = 0; i < BATCH * WIDTH; i++) {
        double sum = 0;
        for (int k = 0; k < (int)eddy_array_get(lengths, i); k++)
            sum += eddy_array_get(probs, (i * WINDOW + PROMPT - 1 + k) * CLASSES
                                         + (int)eddy_array_get(ids, i * STEPS + k));
        ck_assert_double_lt(fabs(sum - eddy_array_get(sums, i)), 1e-12);
    }
    for (int k = 0; k < 4; k++) eddy_array_free(out[k]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

START_TEST(messages)
{
    eddy_graph *g = eddy_graph_new();
    const eddy_tensor start = eddy_const(g, EDDY_INT32, EDDY_SHAPE(BATCH), starts);
    const eddy_tensor past = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(BATCH), pasts);
    const eddy_function f = { .build = model, .context = g };
    eddy_tensor many[EDDY_MAX_RESULTS];
    for (int k = 0; k < EDDY_MAX_RESULTS; k++) many[k] = past;
    golden_begin("layers/generate");
    eddy_generate(f, EDDY_LIST(past), start, 0), golden_graph(g);
    eddy_generate(f, EDDY_LIST(past), past, 3), golden_graph(g);
    eddy_generate((eddy_function){ 0 }, EDDY_LIST(past), start, 3), golden_graph(g);
    eddy_generate((eddy_function){ .build = uniform, .context = g }, EDDY_LIST(past), start, 3);
    golden_graph(g);
    eddy_generate(f, EDDY_LIST(past, past), start, 3), golden_graph(g);
    eddy_generate(f, EDDY_LIST(past), start, 3, LETTERS), golden_graph(g);
    eddy_generate(f, EDDY_LIST(past), start, 3, END, INT64_C(1) << 40), golden_graph(g);
    eddy_generate(f, EDDY_LIST(past), start, 3, .top_p = 2), golden_graph(g);
    eddy_generate(f, EDDY_LIST(past), start, 3, .repetition_penalty = -1), golden_graph(g);
    eddy_generate(f, EDDY_LIST(Sum(past)), start, 3), golden_graph(g);
    eddy_generate(f, ((eddy_list){ EDDY_MAX_RESULTS, many }), start, 3), golden_graph(g);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *generate_suite(void)
{
    Suite *suite = suite_create("generate");
    TCase *t = tcase_create("generate");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, greedy, 0, 8);
    tcase_add_test(t, stops_early);
    tcase_add_loop_test(t, finished_logits_are_ignored, 0, 3);
    tcase_add_test(t, samples);
    tcase_add_test(t, with_a_cache);
    tcase_add_test(t, beams_with_a_cache);
    tcase_add_test(t, messages);
    suite_add_tcase(suite, t);
    return suite;
}
