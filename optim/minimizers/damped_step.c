/* damped_step.c -- the steps of Levenberg-Marquardt and of Newton's method, from a triangular
 * matrix by rotations, or from products with a matrix by conjugate gradients. */
#include "optim/minimizers/damped_step.h"
#include "optim/minimizers/objective.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------- rotations -- */

/* Rotates row i of S [n,n] with `row`, whose elements before i are 0, so that row[i] becomes 0;
 * likewise the right sides. */
static void rotate(int64_t n, int64_t i, double *s, double *side, double *row, double *row_side)
{
    double      *line = s + i * n;
    const double length = hypot(line[i], row[i]);
    if (row[i] == 0) return;
    const double cosine = line[i] / length, sine = row[i] / length;
    for (int64_t j = i; j < n; j++) {
        const double above = line[j];
        line[j] = cosine * above + sine * row[j];
        row[j] = cosine * row[j] - sine * above;
    }
    const double above = side[i];
    side[i] = cosine * above + sine * *row_side;
    *row_side = cosine * *row_side - sine * above;
}

/* S p = side for an upper triangular S; 0 for an element that S does not determine. */
static void solve_upper(int64_t n, const double *s, const double *side, double *p)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        double sum = side[i];
        for (int64_t j = i + 1; j < n; j++) sum -= s[i * n + j] * p[j];
        p[i] = s[i * n + i] == 0 ? 0 : sum / s[i * n + i];
    }
}

void eddy__damped_step(int64_t n, const double *r, const double *q, const double *w, double *p,
                       double *room)
{
    double *s = room, *side = s + n * n, *row = side + n;
    memcpy(s, r, (size_t)(n * n) * sizeof *s);
    for (int64_t i = 0; i < n; i++) side[i] = -q[i];
    for (int64_t k = 0; k < n; k++) {
        double row_side = 0;
        memset(row, 0, (size_t)n * sizeof *row);
        row[k] = w[k];
        for (int64_t i = k; i < n; i++) rotate(n, i, s, side, row, &row_side);
    }
    solve_upper(n, s, side, p);
}

void eddy__damped_solve(int64_t n, const double *room, double *x)
{
    const double *s = room;
    for (int64_t i = 0; i < n; i++) {           /* S' x' = x, by rows of S */
        x[i] = s[i * n + i] == 0 ? 0 : x[i] / s[i * n + i];
        for (int64_t j = i + 1; j < n; j++) x[j] -= s[i * n + j] * x[i];
    }
    solve_upper(n, s, x, x);
}

void eddy__inverse_of_square(int64_t n, const double *r, double *inverse, double *room)
{
    double *u = room;                       /* R^-1, upper triangular */
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = n - 1; i >= 0; i--) {
            double sum = i == k;
            for (int64_t j = i + 1; j <= k; j++) sum -= r[i * n + j] * u[j * n + k];
            u[i * n + k] = i > k ? 0 : sum / r[i * n + i];
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            inverse[i * n + k] = eddy__vector_dot(u + i * n, u + k * n, n);
}

/* --------------------------------------------------- conjugate gradients -- */

/* The positive a for which p + a way has the length `radius`, which is at least that of p. */
static double to_edge(int64_t n, const double *p, const double *way, double radius)
{
    const double square = eddy__vector_dot(way, way, n), half = eddy__vector_dot(p, way, n);
    const double left = radius * radius - eddy__vector_dot(p, p, n);
    const double root = sqrt(half * half + square * fmax(left, 0));
    return half > 0 ? fmax(left, 0) / (half + root) : (root - half) / square;
}

bool eddy__conjugate_step(int64_t n, product_fn *product, void *data, const double *g, double c,
                          double radius, double tolerance, int64_t most, double *p, double *rest,
                          double *room)
{
    double      *way = room, *image = way + n;
    const double enough = tolerance * eddy__vector_norm(g, n);
    memset(p, 0, (size_t)n * sizeof *p);
    for (int64_t i = 0; i < n; i++) way[i] = rest[i] = -g[i];
    double square = eddy__vector_dot(rest, rest, n);
    for (int64_t k = 0; k < most && sqrt(square) > enough; k++) {
        if (!product(data, way, image)) return false;
        eddy__vector_add(image, c, way, n);
        const double bend = eddy__vector_dot(way, image, n), before = square;
        const bool   rises = bend > 0;          /* not so by rounding, too, or for a NaN */
        const double edge = isfinite(radius) ? to_edge(n, p, way, radius) : rises ? INFINITY : 0;
        const double step = rises ? fmin(before / bend, edge) : edge;
        eddy__vector_add(p, step, way, n);
        if (isfinite(bend)) eddy__vector_add(rest, -step, image, n);
        if (!(step < edge)) break;
        square = eddy__vector_dot(rest, rest, n);
        for (int64_t i = 0; i < n; i++) way[i] = rest[i] + square / before * way[i];
    }
    return true;
}
