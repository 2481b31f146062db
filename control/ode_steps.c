/* ode_steps.c -- steps of Runge-Kutta methods, their error, and the length of the first one.
 *
 * The coefficients are those of Dormand and Prince, "A family of embedded Runge-Kutta formulae",
 * 1980; the first step is chosen as in Hairer, Norsett and Wanner, "Solving ordinary differential
 * equations I", II.4. */
#include "control/ode_steps.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <string.h>

enum { STAGES = 7, MOST = EDDY_MAX_RESULTS };

static const double at[STAGES] = { 0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1 };
/* The last row is the step itself. */
static const double weights[STAGES][STAGES] = {
    { 0 },
    { 1.0 / 5 },
    { 3.0 / 40, 9.0 / 40 },
    { 44.0 / 45, -56.0 / 15, 32.0 / 9 },
    { 19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729 },
    { 9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656 },
    { 35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84 },
};
/* Of order 5 less those of order 4. */
static const double error_weights[STAGES] = { 71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920,
                                              -17253.0 / 339200, 22.0 / 525, -1.0 / 40 };

typedef eddy_tensor slopes[STAGES][MOST];

/* The sum of w[s] k[s] of tensor i. */
static eddy_tensor weighted(const slopes k, int n_stages, const double *w, int i)
{
    eddy_tensor sum = k[0][i];
    bool        any = false;
    for (int s = 0; s < n_stages; s++) {
        if (w[s] == 0) continue;
        const eddy_tensor term = Mul(w[s], k[s][i]);
        sum = any ? Add(sum, term) : term;
        any = true;
    }
    return sum;
}

bool eddy__ode_slope(const ode *o, eddy_tensor t, const eddy_tensor *y, bool constant,
                     eddy_tensor *k)
{
    eddy_tensor x[EDDY_MAX_RESULTS];
    x[0] = t;
    memcpy(x + 1, y, (size_t)o->n * sizeof *x);
    return eddy__closure_build(&o->c, x, constant ? o->constants : NULL, k);
}

bool eddy__dopri5_step(const ode *o, eddy_tensor t, eddy_tensor h, const eddy_tensor *y,
                       const eddy_tensor *k_first, bool constant, eddy_tensor *next,
                       eddy_tensor *k_next, eddy_tensor *error)
{
    slopes k;
    memcpy(k[0], k_first, (size_t)o->n * sizeof **k);
    for (int s = 1; s < STAGES; s++) {
        for (int i = 0; i < o->n; i++) next[i] = Add(y[i], Mul(h, weighted(k, s, weights[s], i)));
        if (s == STAGES - 1 && !k_next) return true;
        if (!eddy__ode_slope(o, Add(t, Mul(at[s], h)), next, constant, k[s])) return false;
    }
    memcpy(k_next, k[STAGES - 1], (size_t)o->n * sizeof *k_next);
    for (int i = 0; i < o->n; i++) error[i] = Mul(h, weighted(k, STAGES, error_weights, i));
    return true;
}

bool eddy__rk4_step(const ode *o, eddy_tensor t, eddy_tensor h, const eddy_tensor *y,
                    eddy_tensor *next)
{
    static const double part[4] = { 0, 0.5, 0.5, 1 },
                        sum[4] = { 1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6 };
    slopes              k;
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < o->n; i++)
            next[i] = s > 0 ? Add(y[i], Mul(Mul(part[s], h), k[s - 1][i])) : y[i];
        if (!eddy__ode_slope(o, s > 0 ? Add(t, Mul(part[s], h)) : t, next, false, k[s]))
            return false;
    }
    for (int i = 0; i < o->n; i++) next[i] = Add(y[i], Mul(h, weighted(k, 4, sum, i)));
    return true;
}

/* ------------------------------------------------------------------ sizes -- */

/* The root of the mean square of x[i] / (atol + rtol size[i]). */
static eddy_tensor norm(const ode *o, const eddy_tensor *x, const eddy_tensor *size)
{
    eddy_tensor squares = eddy_none(o->c.graph), count = squares;
    for (int i = 0; i < o->n; i++) {
        const eddy_tensor all = Sum(Square(Div(x[i], Add(o->atol, Mul(o->rtol, size[i])))));
        const eddy_tensor n = CastLike(eddy_size(x[i], EDDY_INT64), x[i]);
        squares = i > 0 ? Add(squares, all) : all;
        count = i > 0 ? Add(count, n) : n;
    }
    return Sqrt(Div(squares, Maximum(count, 1)));
}

eddy_tensor eddy__ode_error(const ode *o, const eddy_tensor *error, const eddy_tensor *y,
                            const eddy_tensor *next)
{
    eddy_tensor size[EDDY_MAX_RESULTS];
    for (int i = 0; i < o->n; i++) size[i] = Maximum(Abs(y[i]), Abs(next[i]));
    return norm(o, error, size);
}

eddy_tensor eddy__ode_first_step(const ode *o, eddy_tensor t, eddy_tensor sign,
                                 const eddy_tensor *y, const eddy_tensor *k)
{
    eddy_tensor size[EDDY_MAX_RESULTS], moved[EDDY_MAX_RESULTS], slope[EDDY_MAX_RESULTS];
    for (int i = 0; i < o->n; i++) size[i] = Abs(y[i]);
    const eddy_tensor d0 = norm(o, y, size), d1 = norm(o, k, size);
    const eddy_tensor tiny = LogicalOr(Less(d0, 1e-5), Less(d1, 1e-5));
    const eddy_tensor h0 = Where(tiny, 1e-6, Mul(0.01, Div(d0, d1)));
    for (int i = 0; i < o->n; i++) moved[i] = Add(y[i], Mul(Mul(sign, h0), k[i]));
    if (!eddy__ode_slope(o, Add(t, Mul(sign, h0)), moved, true, slope)) return eddy_none(t.graph);
    for (int i = 0; i < o->n; i++) slope[i] = Sub(slope[i], k[i]);
    const eddy_tensor steep = Maximum(d1, Div(norm(o, slope, size), h0));
    const eddy_tensor h1 = Where(LessEqual(steep, 1e-15), Maximum(1e-6, Mul(1e-3, h0)),
                                 Pow(Div(0.01, steep), 0.2));
    return Minimum(Mul(100, h0), h1);
}
