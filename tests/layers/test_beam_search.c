/* test_beam_search.c -- beam search against all sequences that there are, and against a search in
 * plain C. */
#include "build/gen/suites.h"
#include "layers/layers.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <stdlib.h>

/* A model of sequences of four letters, of which the last one ends them: the logits depend on the
 * last letter, on the example and on a number that remembers the letters before. */
enum { LETTERS = 4, END = 3, STEPS = 5, BATCH = 3, MOST = 1024 };

static double logit(int last, double past, int example, int letter)
{
    return 2 * sin(1.3 * last + 0.7 * past * past + 2.1 * example + 1.7 * letter * letter + 0.2);
}

static double log_prob(int last, double past, int example, int letter)
{
    double sum = 0;
    for (int k = 0; k < LETTERS; k++) sum += exp(logit(last, past, example, k));
    return logit(last, past, example, letter) - log(sum);
}

/* The same as a function of a graph: the state is that number and the example. */
static int model(eddy_list x, eddy_tensor *y, void *context)
{
    eddy_graph  *g = context;
    eddy_tensor  last = Cast(x.at[0], EDDY_FLOAT64), past = x.at[1], example = x.at[2];
    eddy_tensor  squares = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(LETTERS),
                                      (double[]){ 0, 1.7, 1.7 * 4, 1.7 * 9 });
    eddy_tensor  of_last = Add(Mul(last, 1.3), Add(Mul(Square(past), 0.7), Mul(example, 2.1)));
    y[0] = Mul(Sin(Add(Add(ExpandDims(of_last, 1), squares), 0.2)), 2);
    y[1] = Add(Mul(past, 0.5), last);
    y[2] = example;
    return 3;
}

/* ------------------------------------------------------------ in plain C -- */

typedef struct beam {
    int    ids[STEPS], last, length;
    bool   finished;
    double past, log_prob, score;
} beam;

static double penalty(double weight, int length) { return pow((5.0 + length) / 6, weight); }

static int by_score(const void *a, const void *b)
{
    const beam *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

/* The `width` best of the n beams' extensions; beams has room for all of them. */
static int extend(beam *beams, int n, int t, int example, int width, double weight)
{
    static beam all[MOST * LETTERS];
    int         m = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < LETTERS; k++) {
            beam b = beams[i];
            if (b.finished && k != END) continue;
            b.ids[t] = k;
            if (!b.finished) b.log_prob += log_prob(b.last, b.past, example, k);
            b.score = b.log_prob / penalty(weight, b.length + (!b.finished && k != END));
            b.length += !b.finished;
            b.past = b.past / 2 + b.last;
            b.last = k;
            b.finished = b.finished || k == END;
            all[m++] = b;
        }
    qsort(all, (size_t)m, sizeof *all, by_score);
    if (m > width) m = width;
    memcpy(beams, all, (size_t)m * sizeof *all);
    return m;
}

static int plain_search(beam *beams, int example, int width, double weight)
{
    int n = 1;
    beams[0] = (beam){ .last = example % LETTERS };
    for (int t = 0; t < STEPS; t++) n = extend(beams, n, t, example, width, weight);
    return n;
}

/* -------------------------------------------------------------- in a graph -- */

static void compare(int width, double weight, bool all)
{
    static beam want[MOST];
    int32_t     start[BATCH];
    double      examples[BATCH];
    eddy_graph *g = eddy_graph_new();
    for (int b = 0; b < BATCH; b++) {
        start[b] = b % LETTERS;
        examples[b] = b;
    }
    eddy_tensor first = eddy_placeholder(g, "first", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor example = eddy_placeholder(g, "example", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    const eddy_function f = { .build = model, .context = g, .name = "model" };
    eddy_beams y = eddy_beam_search(f, EDDY_LIST(ZerosLike(example), example), first, END, width,
                                    STEPS, weight, EDDY_FLOAT64);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[4] = { NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED({ first, EDDY_VIEW(start, BATCH) },
                                        { example, EDDY_VIEW(examples, BATCH) }),
                           EDDY_FETCH(y.ids, y.lengths, y.log_probs, y.scores), out) == EDDY_OK,
                  "%s", eddy_session_message(s));
    for (int b = 0; b < BATCH; b++) {
        const int n = plain_search(want, b, all ? MOST : width, weight);
        for (int k = 0; k < width && k < n; k++) {
            const int at = b * width + k;
            ck_assert_int_eq((int)eddy_array_get(out[1], at), want[k].length);
            ck_assert(fabs(eddy_array_get(out[2], at) - want[k].log_prob) < 1e-12);
            ck_assert(fabs(eddy_array_get(out[3], at) - want[k].score) < 1e-12);
            for (int t = 0; t < STEPS; t++)
                ck_assert_int_eq((int)eddy_array_get(out[0], at * STEPS + t), want[k].ids[t]);
        }
    }
    for (int k = 0; k < 4; k++) eddy_array_free(out[k]);
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* Wide enough to hold every unfinished and finished sequence, a search finds the best of all. */
START_TEST(all_sequences)
{
    compare(400, 0, true);
    compare(400, 0.8, true);
}
END_TEST

START_TEST(narrow_beams)
{
    for (int width = 1; width <= 6; width++) compare(width, _i ? 1.2 : 0, false);
}
END_TEST

Suite *beam_search_suite(void)
{
    Suite *suite = suite_create("beam_search");
    TCase *t = tcase_create("beam_search");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, all_sequences);
    tcase_add_loop_test(t, narrow_beams, 0, 2);
    suite_add_tcase(suite, t);
    return suite;
}
