/* line_search.c -- line search for a point that satisfies the strong Wolfe conditions.
 *
 *   f(a) <= f(0) + c1 a f'(0)      and      |f'(a)| <= c2 |f'(0)|
 *
 * After Nocedal and Wright, Numerical Optimization (2nd ed. 2006), algorithms 3.5 and 3.6: steps
 * grow until an interval is known to contain such a point, which is then narrowed by cubic
 * interpolation. Where values are equal up to rounding, the slope alone decides (Hager and Zhang
 * 2005). A value that is not finite is treated as one that is too high. */
#include "optim/minimizers/line_search.h"

#include <math.h>

typedef struct line_search_state {
    const line_search *s;
    line_point         start, best;     /* best: the point with the lowest value so far */
    int                left;
    bool               stopped;
} line_search_state;

static bool evaluate_at(line_search_state *r, double at, line_point *out)
{
    if (r->left-- <= 0) return false;
    *out = (line_point){ .at = at };
    r->stopped = !r->s->evaluate_at(r->s->data, at, out);
    if (r->stopped) return false;
    if (!isfinite(out->value) || !isfinite(out->slope)) out->value = INFINITY;
    else if (out->value < r->best.value) r->best = *out;
    return true;
}

/* True if the value satisfies the first condition. */
static bool is_low(const line_search_state *r, const line_point *p)
{
    const double f0 = r->start.value, noise = 1e-14 * fabs(f0);
    return p->value <= f0 + r->s->decrease * p->at * r->start.slope ||
           (fabs(p->value - f0) <= noise &&
            p->slope <= (2 * r->s->decrease - 1) * r->start.slope);
}

static bool is_flat(const line_search_state *r, const line_point *p)
{
    return fabs(p->slope) <= -r->s->curvature * r->start.slope;
}

/* The position of the minimum of the cubic through both points; not finite if it has none. */
static double least_of_cubic(const line_point *a, const line_point *b)
{
    const double d1 = a->slope + b->slope - 3 * (a->value - b->value) / (a->at - b->at);
    const double d2 = copysign(sqrt(d1 * d1 - a->slope * b->slope), b->at - a->at);
    return b->at - (b->at - a->at) * (b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2);
}

/* A number between the two, off both ends. */
static double between(const line_point *low, const line_point *high)
{
    const double width = high->at - low->at, edge = 0.1 * width;
    const double at = isfinite(high->value) ? least_of_cubic(low, high) : NAN;
    const double from = low->at + edge, to = high->at - edge;
    if (!isfinite(at)) return low->at + 0.5 * width;
    return width > 0 ? fmin(fmax(at, from), to) : fmax(fmin(at, from), to);
}

/* The conditions hold somewhere between low, the lowest that fulfills the first one, and
 * high. */
static bool zoom(line_search_state *r, line_point low, line_point high, line_point *found)
{
    line_point p;
    while (fabs(high.at - low.at) > 1e-14 * fmax(fabs(high.at), fabs(low.at))) {
        if (!evaluate_at(r, between(&low, &high), &p)) return false;
        if (!is_low(r, &p) || p.value > low.value ||
            (p.value == low.value && !is_flat(r, &p))) {
            high = p;
            continue;
        }
        if (is_flat(r, &p)) {
            *found = p;
            return true;
        }
        if (p.slope * (high.at - low.at) >= 0) high = low;
        low = p;
    }
    return false;
}

/* The step after `now`, before which `before` was. */
static double farther(const line_point *before, const line_point *now)
{
    const double at = least_of_cubic(before, now), least = 2 * now->at, most = 10 * now->at;
    return isfinite(at) && at > now->at ? fmin(fmax(at, least), most) : least;
}

static bool search(line_search_state *r, double first, line_point *found)
{
    const double longest = r->s->longest;
    line_point   before = r->start, now;
    for (double at = fmin(first, longest); evaluate_at(r, at, &now);
         at = fmin(farther(&before, &now), longest), before = now) {
        if (!is_low(r, &now) || (before.at > 0 && now.value >= before.value))
            return zoom(r, before, now, found);
        if (is_flat(r, &now) || (now.slope < 0 && now.at >= longest)) {
            *found = now;
            return true;
        }
        if (now.slope >= 0) return zoom(r, now, before, found);
    }
    return false;
}

line_outcome eddy__line_search(const line_search *s, line_point start, double first,
                               line_point *found)
{
    line_search_state r = { .s = s, .start = start, .best = start, .left = s->most };
    *found = start;
    if (search(&r, first, found)) return LINE_FOUND;
    if (r.stopped) return LINE_STOPPED;
    *found = r.best;
    return r.best.at > 0 ? LINE_LOWER : LINE_NONE;
}
