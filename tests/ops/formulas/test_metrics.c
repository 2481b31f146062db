/* test_metrics.c -- metrics over several runs against counts of all examples. */
#include "tests/lib/array_trial.h"

#include <math.h>

Suite *metrics_suite(void);

enum { RUNS = 3, BATCH = 17, ALL = RUNS * BATCH, CLASSES = 4, CURVES = 11 };

/* Examples of all runs; their feeds; and the session that takes them in. */
typedef struct examples {
    trial       t;
    double      label[ALL], guess[ALL], weight[ALL], score[ALL * CLASSES];
    eddy_tensor labels, guesses, weights, scores;
} examples;

static examples examples_begin(unsigned seed)
{
    examples e = { .t = trial_begin(seed) };
    eddy_graph *g = e.t.graph;
    for (int i = 0; i < ALL; i++) {
        e.label[i] = pick(&e.t, CLASSES);
        e.guess[i] = pick(&e.t, CLASSES);
        e.weight[i] = 0.5 * (1 + pick(&e.t, 4));
        for (int c = 0; c < CLASSES; c++) e.score[i * CLASSES + c] = pick(&e.t, 1000) / 1000.0;
    }
    e.labels = eddy_placeholder(g, NULL, EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    e.guesses = eddy_placeholder(g, NULL, EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    e.weights = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    e.scores = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, CLASSES));
    return e;
}

static eddy_array *part(eddy_dtype d, eddy_shape s, const double *v)
{
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, v[i]);
    return a;
}

static double run(examples *e, int r, eddy_tensor what)
{
    eddy_array *out = NULL;
    const int at = r * BATCH;
    eddy_array *in[] = { part(EDDY_INT32, EDDY_SHAPE(BATCH), e->label + at),
                         part(EDDY_INT32, EDDY_SHAPE(BATCH), e->guess + at),
                         part(EDDY_FLOAT64, EDDY_SHAPE(BATCH), e->weight + at),
                         part(EDDY_FLOAT64, EDDY_SHAPE(BATCH, CLASSES), e->score + at * CLASSES) };
    const eddy_status s = eddy_run(e->t.session,
                                   EDDY_FEED({ e->labels, in[0] }, { e->guesses, in[1] },
                                             { e->weights, in[2] }, { e->scores, in[3] }),
                                   EDDY_FETCH(what), &out);
    ck_assert_msg(s == EDDY_OK, "%s", eddy_session_message(e->t.session));
    const double v = eddy_array_item(out);
    eddy_array_free(out);
    for (int i = 0; i < 4; i++) eddy_array_free(in[i]);
    return v;
}

/* Twice over all runs, begun anew in between: 0 before the first, `want` after the last,
 * also as the value. */
static void check_metric(examples *e, eddy_tensor value, eddy_tensor update, double want)
{
    ck_assert_msg(eddy_graph_status(e->t.graph) == EDDY_OK, "%s", eddy_graph_message(e->t.graph));
    const eddy_tensor init = eddy_local_initializer(e->t.graph);
    for (int again = 0; again < 2; again++) {
        ck_assert_int_eq(eddy_run(e->t.session, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
        double v = 0;
        for (int r = 0; r < RUNS; r++) v = run(e, r, update);
        ck_assert_double_eq_tol(v, want, 2e-6 * (1 + fabs(want)));
        ck_assert_double_eq(run(e, 0, value), v);
    }
}

START_TEST(means)
{
    examples e = examples_begin(1);
    eddy_tensor up, y;
    double hit = 0, all = 0, square = 0, size = 0, sum = 0;
    for (int i = 0; i < ALL; i++) {
        const double off = e.guess[i] - e.label[i], w = e.weight[i];
        all += w, hit += w * (off == 0), square += off * off, size += w * fabs(off);
        sum += w * e.guess[i];
    }
    y = eddy_metric_mean({ 0 }, e.guesses, &up, e.weights);
    check_metric(&e, y, up, sum / all);
    y = eddy_metric_accuracy(e.labels, e.guesses, &up, e.weights);
    check_metric(&e, y, up, hit / all);
    const eddy_tensor l = Cast(e.labels, EDDY_FLOAT32), p = Cast(e.guesses, EDDY_FLOAT32);
    y = eddy_metric_mean_squared_error(l, p, &up);
    check_metric(&e, y, up, square / ALL);
    y = eddy_metric_root_mean_squared_error(l, p, &up);
    check_metric(&e, y, up, sqrt(square / ALL));
    y = eddy_metric_mean_absolute_error(l, p, &up, e.weights);
    check_metric(&e, y, up, size / all);
    trial_end(&e.t);
}
END_TEST

START_TEST(counts)
{
    examples e = examples_begin(2);
    eddy_tensor up, y;
    double n[2][2] = { { 0 } };
    for (int i = 0; i < ALL; i++) n[e.label[i] > 0][e.guess[i] > 0] += e.weight[i];
    y = eddy_metric_true_positives(e.labels, e.guesses, &up, e.weights);
    check_metric(&e, y, up, n[1][1]);
    y = eddy_metric_false_positives(e.labels, e.guesses, &up, e.weights);
    check_metric(&e, y, up, n[0][1]);
    y = eddy_metric_true_negatives(e.labels, e.guesses, &up, e.weights);
    check_metric(&e, y, up, n[0][0]);
    y = eddy_metric_false_negatives(e.labels, e.guesses, &up, e.weights);
    check_metric(&e, y, up, n[1][0]);
    y = eddy_metric_precision(Greater(e.labels, 0), e.guesses, &up, e.weights);
    check_metric(&e, y, up, n[1][1] / (n[1][1] + n[0][1]));
    y = eddy_metric_recall(e.labels, e.guesses, &up, e.weights, .name = "found");
    check_metric(&e, y, up, n[1][1] / (n[1][1] + n[1][0]));
    trial_end(&e.t);
}
END_TEST

static double mean_iou(const examples *e)
{
    double m[CLASSES][CLASSES] = { { 0 } }, sum = 0;
    for (int i = 0; i < ALL; i++) m[(int)e->label[i]][(int)e->guess[i]] += e->weight[i];
    for (int c = 0; c < CLASSES; c++) {
        double either = -m[c][c];
        for (int d = 0; d < CLASSES; d++) either += m[c][d] + m[d][c];
        sum += m[c][c] / either / CLASSES;
    }
    return sum;
}

static double among_two(const examples *e)
{
    double hits = 0;
    for (int i = 0; i < ALL; i++) {
        const double *s = e->score + i * CLASSES;
        int above = 0;
        for (int c = 0; c < CLASSES; c++) above += s[c] > s[(int)e->label[i]];
        hits += above < 2;
    }
    return hits / ALL;
}

START_TEST(classes)
{
    examples e = examples_begin(3);
    eddy_tensor up, y;
    y = eddy_metric_mean_iou(e.labels, e.guesses, &up, e.weights, CLASSES);
    check_metric(&e, y, up, mean_iou(&e));
    y = eddy_metric_top_k_accuracy(e.labels, e.scores, &up, .k = 2);
    check_metric(&e, y, up, among_two(&e));
    trial_end(&e.t);
}
END_TEST

/* The formula of tf.metrics.auc, example by example. */
static double area(const examples *e, bool precision)
{
    double x[CURVES], y[CURVES], sum = 0;
    for (int k = 0; k < CURVES; k++) {
        const double at = k == 0 ? -1e-7 : k == CURVES - 1 ? 1 + 1e-7 : k / (CURVES - 1.0);
        double n[2][2] = { { 0 } };
        for (int i = 0; i < ALL; i++)
            n[e->label[i] > 0][e->score[i * CLASSES] > at] += e->weight[i];
        const double recall = (n[1][1] + 1e-6) / (n[1][0] + n[1][1] + 1e-6);
        x[k] = precision ? recall : n[0][1] / (n[0][0] + n[0][1] + 1e-6);
        y[k] = precision ? (n[1][1] + 1e-6) / (n[1][1] + n[0][1] + 1e-6) : recall;
        if (k > 0) sum += (x[k - 1] - x[k]) * (y[k - 1] + y[k]) / 2;
    }
    return sum;
}

START_TEST(curves)
{
    examples e = examples_begin(4);
    e.score[0] = e.score[20 * CLASSES] = NAN;      /* above no threshold */
    e.score[CLASSES] = 3.0 / (CURVES - 1);         /* on one */
    eddy_tensor up, y, p = eddy_index(e.scores, ":, 0");
    y = eddy_metric_auc(e.labels, p, &up, e.weights, CURVES);
    check_metric(&e, y, up, area(&e, false));
    y = eddy_metric_auc(e.labels, p, &up, e.weights, CURVES, .precision_recall = true);
    check_metric(&e, y, up, area(&e, true));
    trial_end(&e.t);
}
END_TEST

/* Local variables are in collections of their own, and the initializer of global ones
 * leaves them alone. */
START_TEST(collections)
{
    trial t = trial_begin(5);
    eddy_tensor up, w = eddy_variable(t.graph, eddy_scalar(t.graph, 2));
    eddy_tensor y = eddy_metric_mean({ 0 }, w, &up);
    eddy_tensor v = eddy_variable(t.graph, eddy_scalar(t.graph, 3));
    ck_assert_int_eq(eddy_collection_size(t.graph, EDDY_GLOBAL_VARIABLES), 2);
    ck_assert_int_eq(eddy_collection_size(t.graph, EDDY_LOCAL_VARIABLES), 2);
    ck_assert_int_eq(eddy_collection_size(t.graph, EDDY_METRIC_VARIABLES), 2);
    ck_assert(eddy_collection_has(t.graph, EDDY_TRAINABLE_VARIABLES, v));
    ck_assert_int_eq(eddy_collection_size(t.graph, EDDY_TRAINABLE_VARIABLES), 2);
    initialize(&t);
    check_run_fails(&t, y, EDDY_UNINITIALIZED, "uninitialized");
    const eddy_tensor init = eddy_local_initializer(t.graph);
    ck_assert_int_eq(eddy_run(t.session, EDDY_FEED(), EDDY_FETCH(init), NULL), EDDY_OK);
    check_values(&t, y, EDDY_SCALAR, (const double[]){ 0 });
    check_values(&t, up, EDDY_SCALAR, (const double[]){ 2 });
    check_values(&t, y, EDDY_SCALAR, (const double[]){ 2 });
    trial_end(&t);
}
END_TEST

Suite *metrics_suite(void)
{
    Suite *suite = suite_create("metrics");
    TCase *c = tcase_create("metrics");
    tcase_add_test(c, means);
    tcase_add_test(c, counts);
    tcase_add_test(c, classes);
    tcase_add_test(c, curves);
    tcase_add_test(c, collections);
    suite_add_tcase(suite, c);
    return suite;
}
