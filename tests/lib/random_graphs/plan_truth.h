/* plan_truth.h -- what runs of a random graph must give: the values of the interpreter, with bounds
 * for rounding, and comparisons with sessions that run the graph in other ways. */
#ifndef EDDY_TESTS_PLAN_TRUTH_H
#define EDDY_TESTS_PLAN_TRUTH_H

#include "session/session.h"
#include "tests/lib/random_graphs/random_graph.h"

enum { RUNS = 3, NOISES = 2, VARIABLES = 64,
       RESULTS = FETCHES + VARIABLES,
       LATE = EDDY_PASS_SCHEDULE | EDDY_PASS_FUSE | EDDY_PASS_IN_PLACE | EDDY_PASS_REUSE |
              EDDY_PASS_RECOMPUTE | EDDY_PASS_HOIST,
       /* these may change the last bits; the others may not */
       INEXACT = EDDY_PASSES_ALL & ~(EDDY_PASS_FOLD | EDDY_PASS_MERGE | LATE) };

/* The results of runs of a graph: the fetches of each, then the variables. */
typedef struct results {
    int         n;
    eddy_array *of[RUNS][RESULTS];
    bool refused;           /* a value was NaN, for a session that checks: there are no more */
} results;

typedef struct truth {
    random_graph *g;
    fetches       fetch;
    int           n_second;                    /* of the fetches that the second run, with */
    int           second[FETCHES];             /* the other feeds, has; 0: it is as the rest */
    int           n_variables;
    eddy_tensor   variable[VARIABLES];
    eddy_array   *initial[VARIABLES];
    eddy_array   *later[VARIABLES];            /* the same numbers backwards */
    results       plain;
    double        tolerance[RUNS][RESULTS];    /* infinite: it says nothing */
    long          compared, unsure;
} truth;

/* One way of running, and its reference: the interpreter, or another way. */
typedef struct way {
    eddy_session_args        options;
    const eddy_session_args *against;
    bool                     bits;
} way;

/* The values of a graph, for the caller to free; agrees: those of this way of running, else false
 * with the difference in `why`. */
truth truth_of(random_graph *g, const fetches *f);
void  free_truth(truth *t);
bool  agrees(const truth *t, const way *w, char *why, size_t size);
/* The inputs of a trial with these arrays. */
eddy_feeds feeds_of(const trial *t, eddy_array *const *array, eddy_feed *at);

#endif
