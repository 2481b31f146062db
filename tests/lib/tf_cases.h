/* tf_cases.h -- tables of cases from TensorFlow's own tests, each under its name there. */
#ifndef EDDY_TESTS_LIB_TF_CASES_H
#define EDDY_TESTS_LIB_TF_CASES_H

#include "tests/lib/control_checks.h"

enum { TF_RESULTS = 8, TF_VALUES = 24 };

typedef struct tf_case {
    const char *name;
    int       (*build)(trial *t, eddy_tensor *y);   /* the number of results, fetched together */
    int         n;                                  /* elements of all results, in order */
    double      want[TF_VALUES];
} tf_case;

/* A row of a table. */
#define TF_CASE(name, build, ...)                                                  \
    { name, build, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), { __VA_ARGS__ } }

static inline void tf_compare(const tf_case *c, int m, eddy_array *const *got)
{
    int n = 0;
    for (int k = 0; k < m; k++)
        for (int64_t i = 0; i < eddy_array_count(got[k]); i++, n++) {
            const double v = eddy_array_get(got[k], i);
            ck_assert_int_lt(n, c->n);
            ck_assert_msg(fabs(v - c->want[n]) <= 1e-9 * (1 + fabs(c->want[n])),
                          "%s: element %d is %.17g, not %.17g", c->name, n, v, c->want[n]);
        }
    ck_assert_msg(n == c->n, "%s: %d elements, not %d", c->name, n, c->n);
}

/* The results of the first run after the initializer. */
static inline void check_tf_case(const tf_case *c, unsigned seed)
{
    trial       t = trial_begin(seed);
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_array *got[TF_RESULTS] = { NULL };
    eddy_feed   feeds[TRIAL_FEEDS];
    const int   m = c->build(&t, y);
    ck_assert_msg(eddy_graph_status(t.graph) == EDDY_OK, "%s: %s", c->name,
                  eddy_graph_message(t.graph));
    if (eddy_collection_size(t.graph, EDDY_GLOBAL_VARIABLES) > 0) initialize(&t);
    for (int i = 0; i < t.n; i++) feeds[i] = (eddy_feed){ t.tensor[i], t.array[i] };
    ck_assert_msg(eddy_run(t.session, (eddy_feeds){ t.n, feeds }, (eddy_list){ m, y }, got) ==
                  EDDY_OK, "%s: %s", c->name, eddy_session_message(t.session));
    tf_compare(c, m, got);
    for (int k = 0; k < m; k++) eddy_array_free(got[k]);
    trial_end(&t);
}

/* The value of a variable when x has been computed. */
static inline eddy_tensor after(eddy_tensor x, eddy_tensor variable)
{
    eddy_control_begin(x.graph, EDDY_LIST(x));
    const eddy_tensor y = eddy_read(variable);
    eddy_control_end(x.graph);
    return y;
}

#endif
