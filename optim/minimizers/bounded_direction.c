/* bounded_direction.c -- the direction of L-BFGS-B: Byrd, Lu, Nocedal and Zhu, A limited memory
 * algorithm for bound constrained optimization (1995), with the projection of Morales and Nocedal,
 * Remark on algorithm 778 (2011).
 *
 * The model is minimized in two parts: along the path P(x - t g), whose first minimum is the
 * generalized Cauchy point; and then over the elements that are not at a bound there. */
#include "optim/minimizers/bounds.h"
#include "ops/kernels/libraries/lapack_blocks.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool eddy__bounded_model_begin(bounded_model *b, objective *o, int history)
{
    const int64_t k = 2 * (int64_t)history;
    double **squares[] = { &b->m, &b->square, &b->free_square };
    double **rows[] = { &b->p, &b->c, &b->side, &b->mw };
    b->n = o->n;
    b->slots = history;
    b->sy = eddy__objective_alloc(o, (int64_t)history * history, sizeof *b->sy);
    b->ss = eddy__objective_alloc(o, (int64_t)history * history, sizeof *b->ss);
    for (int i = 0; i < 3; i++)
        if (!(*squares[i] = eddy__objective_alloc(o, k * k, sizeof(double)))) return false;
    for (int i = 0; i < 4; i++)
        if (!(*rows[i] = eddy__objective_alloc(o, k, sizeof(double)))) return false;
    b->w = eddy__objective_alloc(o, b->n, (size_t)k * sizeof *b->w);
    b->point = eddy__objective_alloc(o, b->n, sizeof *b->point);
    b->bends = eddy__objective_alloc(o, b->n, sizeof *b->bends);
    b->pivots = eddy__objective_alloc(o, k, sizeof *b->pivots);
    return b->sy && b->ss && b->w && b->point && b->bends && b->pivots;
}

/* --------------------------------------------------------------------- model -- */

/* The products of the newest s with all s and y; those of older ones are known. */
static void note_products(bounded_model *b, int changes, const change *c)
{
    const change *last = &c[changes - 1];
    for (int j = 0; j < changes; j++) {
        const int64_t at = (int64_t)last->slot * b->slots + c[j].slot;
        b->ss[at] = eddy__vector_dot(last->s, c[j].s, b->n);
        b->sy[at] = eddy__vector_dot(last->s, c[j].y, b->n);
    }
}

/* right [k,columns] becomes the solution for a [k,k], which is destroyed; outside of a run. */
static void solve(const bounded_model *b, double *a, int64_t columns, double *right)
{
    static const eddy_kernel no_run;
    eddy__blocks_lu(&no_run, EDDY_FLOAT64, b->k, a, b->pivots);
    eddy__blocks_lu_solve(&no_run, EDDY_FLOAT64, false, b->k, columns, a, b->pivots, right);
}

/* The inverse of M: [[-D, L'], [L, theta S'S]] with D the diagonal and L the part of S'Y below. */
static void form_inner(bounded_model *b, int changes, const change *c)
{
    double *a = b->square;
    note_products(b, changes, c);
    memset(a, 0, (size_t)(b->k * b->k) * sizeof *a);
    for (int i = 0; i < changes; i++) {
        const int64_t row = changes + i;
        a[i * b->k + i] = -c[i].product;
        for (int j = 0; j <= i; j++) {
            const int64_t column = changes + j;
            const int64_t at = (int64_t)c[i].slot * b->slots + c[j].slot;
            const double  ss = b->theta * b->ss[at];
            if (j < i) a[row * b->k + j] = a[j * b->k + row] = b->sy[at];
            a[row * b->k + column] = a[column * b->k + row] = ss;
        }
    }
}

static void form_model(bounded_model *b, int changes, const change *c)
{
    b->k = 2 * (int64_t)changes;
    b->theta = 1;
    if (changes == 0) return;
    const change *last = &c[changes - 1];
    b->theta = eddy__vector_dot(last->y, last->y, b->n) / last->product;
    form_inner(b, changes, c);
    memset(b->m, 0, (size_t)(b->k * b->k) * sizeof *b->m);
    for (int64_t i = 0; i < b->k; i++) b->m[i * b->k + i] = 1;
    solve(b, b->square, b->k, b->m);
    for (int64_t i = 0; i < b->n; i++)
        for (int j = 0; j < changes; j++) {
            b->w[i * b->k + j] = c[j].y[i];
            b->w[i * b->k + changes + j] = b->theta * c[j].s[i];
        }
}

/* to = M x. */
static void by_m(const bounded_model *b, const double *x, double *to)
{
    for (int64_t i = 0; i < b->k; i++) to[i] = eddy__vector_dot(b->m + i * b->k, x, b->k);
}

/* ------------------------------------------------------ the first minimum -- */

static int by_position(const void *a, const void *b)
{
    const struct bend *p = a, *q = b;
    return p->at < q->at ? -1 : p->at > q->at ? 1 : p->element < q->element ? -1 : 1;
}

/* The bends of the path, and its first direction d. */
static void find_bends(bounded_model *b, const bounds *limits, const double *x, const double *g,
                       double *d)
{
    for (int64_t i = 0; i < b->n; i++) {
        const double end = g[i] < 0 ? limits->upper[i] : limits->lower[i];
        const double at = g[i] == 0 ? INFINITY : (x[i] - end) / g[i];
        b->bends[i] = (struct bend){ at, i };
        d[i] = at > 0 ? -g[i] : 0;
    }
    qsort(b->bends, (size_t)b->n, sizeof *b->bends, by_position);
}

/* b->point, and b->c = W'(point - x). Along a segment of the path the model is a parabola with this
 * slope and curvature, which change where an element stops. */
static void find_cauchy_point(bounded_model *b, const bounds *limits, const double *x,
                              const double *g, double *d)
{
    const size_t row = (size_t)b->k * sizeof *b->p;
    double       from = 0;
    find_bends(b, limits, x, g, d);
    memcpy(b->point, x, (size_t)b->n * sizeof *x);
    memset(b->c, 0, row);
    memset(b->p, 0, row);
    for (int64_t i = 0; i < b->n; i++) eddy__vector_add(b->p, d[i], b->w + i * b->k, b->k);
    by_m(b, b->p, b->mw);
    double       slope = -eddy__vector_dot(d, d, b->n);
    const double first = -b->theta * slope;
    double       curvature = first - eddy__vector_dot(b->p, b->mw, b->k);
    for (int64_t at = 0; at < b->n && slope < 0; at++) {
        const int64_t i = b->bends[at].element;
        const double  length = b->bends[at].at - from, *w = b->w + i * b->k;
        curvature = fmax(curvature, DBL_EPSILON * first);
        if (!(length <= -slope / curvature)) break;
        if (d[i] == 0) continue;                        /* it begins at its bound */
        b->point[i] = g[i] < 0 ? limits->upper[i] : limits->lower[i];
        const double z = b->point[i] - x[i];
        eddy__vector_add(b->c, length, b->p, b->k);
        by_m(b, w, b->mw);
        slope += length * curvature + g[i] * g[i] + b->theta * g[i] * z -
                 g[i] * eddy__vector_dot(b->mw, b->c, b->k);
        curvature -= b->theta * g[i] * g[i] + 2 * g[i] * eddy__vector_dot(b->mw, b->p, b->k) +
                     g[i] * g[i] * eddy__vector_dot(b->mw, w, b->k);
        eddy__vector_add(b->p, g[i], w, b->k);
        d[i] = 0;
        from = b->bends[at].at;
    }
    const double last = slope < 0 ? -slope / fmax(curvature, DBL_EPSILON * first) : 0;
    for (int64_t i = 0; i < b->n; i++)
        if (d[i] != 0) b->point[i] = x[i] + (from + last) * d[i];
    eddy__vector_add(b->c, last, b->p, b->k);
}

/* -------------------------------------------------------- the free elements -- */

static bool is_free(const bounded_model *b, const bounds *limits, int64_t i)
{
    return b->point[i] > limits->lower[i] && b->point[i] < limits->upper[i];
}

/* side = (I - M W'W / theta)^-1 M side, with the rows of W that are free. */
static void solve_inner(bounded_model *b, const bounds *limits)
{
    const int64_t k = b->k;
    double       *a = b->square, *square = b->free_square;
    memset(square, 0, (size_t)(k * k) * sizeof *square);
    for (int64_t i = 0; i < b->n; i++) {
        const double *w = b->w + i * k;
        for (int64_t r = 0; r < k && is_free(b, limits, i); r++)
            eddy__vector_add(square + r * k, w[r], w, r + 1);
    }
    for (int64_t r = 0; r < k; r++)
        for (int64_t j = 0; j < r; j++) square[j * k + r] = square[r * k + j];
    for (int64_t r = 0; r < k; r++)
        for (int64_t j = 0; j < k; j++)
            a[r * k + j] = (r == j) - eddy__vector_dot(b->m + r * k, square + j * k, k) / b->theta;
    by_m(b, b->side, b->mw);
    memcpy(b->side, b->mw, (size_t)k * sizeof *b->mw);
    solve(b, a, 1, b->side);
}

/* d = -B^-1 r over the free elements, with r the gradient of the model at the point; else 0. */
static void minimize_free(bounded_model *b, const bounds *limits, const double *x, const double *g,
                          double *d)
{
    by_m(b, b->c, b->mw);
    memset(b->side, 0, (size_t)b->k * sizeof *b->side);
    for (int64_t i = 0; i < b->n; i++) {
        const double *w = b->w + i * b->k;
        const double  r = g[i] + b->theta * (b->point[i] - x[i]) -
                         eddy__vector_dot(w, b->mw, b->k);
        const bool    freely = is_free(b, limits, i);
        d[i] = freely ? -r / b->theta : 0;
        if (freely) eddy__vector_add(b->side, r, w, b->k);
    }
    if (b->k == 0) return;
    solve_inner(b, limits);
    for (int64_t i = 0; i < b->n; i++)
        if (is_free(b, limits, i))
            d[i] -= eddy__vector_dot(b->w + i * b->k, b->side, b->k) / (b->theta * b->theta);
}

/* d leads from x to the projection of point + d, or, where that is not downward, to the last point
 * of the line from point to point + d within the bounds. */
static double return_to_bounds(bounded_model *b, const bounds *limits, const double *x,
                               const double *g, double *d)
{
    double slope = 0;
    for (int64_t i = 0; i < b->n; i++)
        slope += g[i] * (fmin(fmax(b->point[i] + d[i], limits->lower[i]), limits->upper[i]) - x[i]);
    const double part = slope < 0 ? 1 : fmin(1, eddy__bounds_longest(limits, b->n, b->point, d));
    for (int64_t i = 0; i < b->n; i++) d[i] = b->point[i] + part * d[i];
    eddy__bounds_clamp(limits, b->n, d);
    for (int64_t i = 0; i < b->n; i++) d[i] -= x[i];
    return eddy__vector_dot(g, d, b->n);
}

double eddy__bounded_direction(bounded_model *b, const bounds *limits, int n_changes,
                               const change *changes, const double *x, const double *g, double *d)
{
    form_model(b, n_changes, changes);
    find_cauchy_point(b, limits, x, g, d);
    minimize_free(b, limits, x, g, d);
    return return_to_bounds(b, limits, x, g, d);
}
