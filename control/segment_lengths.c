/* segment_lengths.c -- how many iterations the segments of a loop have. */
#include "control/segments.h"
#include "graph/internal.h"

#include <math.h>

enum {
    DEFAULT_SEGMENT = 100,          /* where the number of iterations is not known */
    BRANCHES = 8,                   /* parts of a segment in the logarithmic scheme, about */
    DEFAULT_LARGEST = 512,          /* its largest segment, where the number is not known */
    MOST_SEARCHED = 1 << 16         /* longer segments are powers of two */
};

static const int64_t LONGEST = (int64_t)1 << 31;

/* The divisor of n between x / 2 and 2 x that is closest to x, so that all segments have one length
 * and no rows are copied; if there is none, a power of two. */
static int64_t divisor_near(int64_t n, double x)
{
    int64_t best = 0;
    for (int64_t d = (int64_t)ceil(x / 2); (double)d <= 2 * x && x < MOST_SEARCHED; d++) {
        if (d < 1 || n % d != 0) continue;
        if (best == 0 || fabs(log((double)d / x)) < fabs(log((double)best / x))) best = d;
    }
    if (best > 0) return best;
    for (best = 1; (double)best < x;) best *= 2;
    return best;
}

int64_t eddy__segments_iterations(const loop_spec *s)
{
    int64_t n = s->length > 0 ? s->length : s->trips;
    for (int i = 0; i < s->rows.count; i++) {
        const eddy_shape rows = eddy_shape_of(s->rows.at[i]);
        if (rows.rank > 0 && rows.dim[0] >= 0) n = rows.dim[0];
    }
    return n < 0 ? EDDY_ANY : n;
}

int64_t eddy__segments_length(const loop_spec *s, int64_t n)
{
    int64_t k = s->segment;
    if (s->no_back_prop) return 0;
    if (k == 0 && s->recompute == EDDY_RECOMPUTE_SQRT)
        k = n < 0 ? DEFAULT_SEGMENT : divisor_near(n, sqrt((double)n));
    if (k == 0 && s->recompute == EDDY_RECOMPUTE_LOG) {
        int    levels = 1;
        double reach = BRANCHES;
        for (; reach < (double)n; levels++) reach *= BRANCHES;
        k = n < 0 ? DEFAULT_LARGEST
                  : divisor_near(n, pow((double)n, (double)(levels - 1) / levels));
    }
    return n >= 0 && k >= n ? 0 : k;
}

bool eddy__segments_check(eddy_graph *g, const loop_spec *s)
{
    if (s->recompute != EDDY_RECOMPUTE_NONE && s->recompute != EDDY_RECOMPUTE_SQRT &&
        s->recompute != EDDY_RECOMPUTE_LOG)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: recompute is %d; expected 0 to %d",
                  s->what, (int)s->recompute, EDDY_RECOMPUTE_LOG);
    else if (s->segment < 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: segment is %lld; expected at least 0", s->what,
                  (long long)s->segment);
    else if (s->segment > LONGEST)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: segment is %lld; expected at most %lld", s->what,
                  (long long)s->segment, (long long)LONGEST);
    else if (s->segment > 0 && s->recompute == EDDY_RECOMPUTE_LOG)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: segment is %lld, but EDDY_RECOMPUTE_LOG chooses the lengths itself",
                  s->what, (long long)s->segment);
    return eddy__graph_ready(g);
}
