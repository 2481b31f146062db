/* mgh_problems.c -- see mgh_problems.h. */
#include "tests/optim/mgh_problems.h"
#include "ops/short_names.h"

#include <math.h>

/* ------------------------------------------------------------------ notation -- */

static eddy_tensor numbers(eddy_tensor x, int n, const double *v)
{
    return eddy_const(x.graph, EDDY_FLOAT64, EDDY_SHAPE(n), v);
}
#define VECTOR(x, v) numbers(x, (int)(sizeof(v) / sizeof *(v)), v)

/* Element i, from 1. */
static eddy_tensor at(eddy_tensor x, int i)
{
    return Gather(x, eddy_number(x.graph, EDDY_INT32, i - 1));
}

/* from, from + step, ...: n numbers. */
static eddy_tensor steps(eddy_tensor x, double from, double step, int n)
{
    double v[100];
    for (int i = 0; i < n; i++) v[i] = from + step * i;
    return numbers(x, n, v);
}

#define ALL(...) eddy_stack(EDDY_LIST(__VA_ARGS__), 0)
#define JOINED(...) eddy_concat(EDDY_LIST(__VA_ARGS__), 0)

static eddy_tensor as_vector(eddy_tensor x) { return ExpandDims(x, 0); }

/* The n x n matrix of a function of row and column, from 1. */
static eddy_tensor matrix(eddy_tensor x, int n, double (*f)(int i, int j, int n))
{
    double v[MGH_MOST * MGH_MOST];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) v[i * n + j] = f(i + 1, j + 1, n);
    return eddy_const(x.graph, EDDY_FLOAT64, EDDY_SHAPE(n, n), v);
}

static eddy_tensor square(eddy_tensor x) { return Mul(x, x); }
static eddy_tensor cube(eddy_tensor x) { return Mul(x, Mul(x, x)); }

/* ------------------------------------------------------------ few variables -- */

static eddy_tensor rosenbrock(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor a = eddy_index(x, "::2"), b = eddy_index(x, "1::2");
    return JOINED(Mul(10, Sub(b, square(a))), Sub(1, a));
}

static eddy_tensor freudenstein_roth(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor a = at(x, 1), b = at(x, 2);
    return ALL(Add(Sub(a, 13), Mul(Sub(Mul(Sub(5, b), b), 2), b)),
               Add(Sub(a, 29), Mul(Sub(Mul(Add(b, 1), b), 14), b)));
}

static eddy_tensor powell_badly_scaled(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor a = at(x, 1), b = at(x, 2);
    return ALL(Sub(Mul(1e4, Mul(a, b)), 1), Sub(Add(Exp(Neg(a)), Exp(Neg(b))), 1.0001));
}

static eddy_tensor brown_badly_scaled(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor a = at(x, 1), b = at(x, 2);
    return ALL(Sub(a, 1e6), Sub(b, 2e-6), Sub(Mul(a, b), 2));
}

static eddy_tensor beale(eddy_tensor x, int n)
{
    static const double y[] = { 1.5, 2.25, 2.625 };
    (void)n;
    const eddy_tensor b = at(x, 2), powers = ALL(b, square(b), cube(b));
    return Sub(VECTOR(x, y), Mul(at(x, 1), Sub(1, powers)));
}

static eddy_tensor jennrich_sampson(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor i = steps(x, 1, 1, 10);
    return Sub(Add(2, Mul(2, i)), Add(Exp(Mul(i, at(x, 1))), Exp(Mul(i, at(x, 2)))));
}

static eddy_tensor helical_valley(eddy_tensor x, int n)
{
    (void)n;
    const double      pi = acos(-1);
    const eddy_tensor a = at(x, 1), b = at(x, 2), c = at(x, 3), right = eddy_atan(Div(b, a));
    const eddy_tensor turn = Div(Where(Greater(a, 0), right, Add(right, pi)), 2 * pi);
    return ALL(Mul(10, Sub(c, Mul(10, turn))), Mul(10, Sub(Sqrt(Add(square(a), square(b))), 1)), c);
}

static eddy_tensor bard(eddy_tensor x, int n)
{
    static const double y[] = { 0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73,
                                0.96, 1.34, 2.10, 4.39 };
    (void)n;
    const eddy_tensor u = steps(x, 1, 1, 15), v = Sub(16, u), w = Minimum(u, v);
    return Sub(VECTOR(x, y), Add(at(x, 1), Div(u, Add(Mul(v, at(x, 2)), Mul(w, at(x, 3))))));
}

static eddy_tensor gaussian(eddy_tensor x, int n)
{
    static const double y[] = { 0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989,
                                0.3521, 0.2420, 0.1295, 0.0540, 0.0175, 0.0044, 0.0009 };
    (void)n;
    const eddy_tensor t = steps(x, 3.5, -0.5, 15), off = square(Sub(t, at(x, 3)));
    return Sub(Mul(at(x, 1), Exp(Mul(-0.5, Mul(at(x, 2), off)))), VECTOR(x, y));
}

static eddy_tensor meyer(eddy_tensor x, int n)
{
    static const double y[] = { 34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744,
                                8261,  7030,  6005,  5147,  4427,  3820,  3307,  2872 };
    (void)n;
    const eddy_tensor t = steps(x, 50, 5, 16);
    return Sub(Mul(at(x, 1), Exp(Div(at(x, 2), Add(t, at(x, 3))))), VECTOR(x, y));
}

static eddy_tensor gulf(eddy_tensor x, int n)
{
    double y[99];
    (void)n;
    for (int i = 0; i < 99; i++) y[i] = 25 + pow(-50 * log((i + 1) / 100.0), 2.0 / 3);
    const eddy_tensor off = Abs(Sub(VECTOR(x, y), at(x, 2)));
    return Sub(Exp(Neg(Div(Pow(off, at(x, 3)), at(x, 1)))), steps(x, 0.01, 0.01, 99));
}

static eddy_tensor fall(eddy_tensor t, eddy_tensor rate) { return Exp(Neg(Mul(t, rate))); }

static eddy_tensor box(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor t = steps(x, 0.1, 0.1, 10), unit = Sub(Exp(Neg(t)), Exp(Mul(-10, t)));
    return Sub(Sub(fall(t, at(x, 1)), fall(t, at(x, 2))), Mul(at(x, 3), unit));
}

static eddy_tensor powell_singular(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor a = eddy_index(x, "::4"), b = eddy_index(x, "1::4");
    const eddy_tensor c = eddy_index(x, "2::4"), d = eddy_index(x, "3::4");
    return JOINED(Add(a, Mul(10, b)), Mul(sqrt(5), Sub(c, d)), square(Sub(b, Mul(2, c))),
                  Mul(sqrt(10), square(Sub(a, d))));
}

static eddy_tensor wood(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor a = at(x, 1), b = at(x, 2), c = at(x, 3), d = at(x, 4);
    return ALL(Mul(10, Sub(b, square(a))), Sub(1, a), Mul(sqrt(90), Sub(d, square(c))), Sub(1, c),
               Mul(sqrt(10), Sub(Add(b, d), 2)), Mul(1 / sqrt(10), Sub(b, d)));
}

static eddy_tensor kowalik_osborne(eddy_tensor x, int n)
{
    static const double y[] = { 0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342,
                                0.0323, 0.0235, 0.0246 };
    static const double u[] = { 4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625 };
    (void)n;
    const eddy_tensor v = VECTOR(x, u), above = Mul(v, Add(v, at(x, 2)));
    const eddy_tensor below = Add(Mul(v, Add(v, at(x, 3))), at(x, 4));
    return Sub(VECTOR(x, y), Mul(at(x, 1), Div(above, below)));
}

static eddy_tensor brown_dennis(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor t = steps(x, 0.2, 0.2, 20);
    const eddy_tensor a = Sub(Add(at(x, 1), Mul(t, at(x, 2))), Exp(t));
    const eddy_tensor b = Sub(Add(at(x, 3), Mul(Sin(t), at(x, 4))), Cos(t));
    return Add(square(a), square(b));
}

static eddy_tensor osborne_1(eddy_tensor x, int n)
{
    static const double y[] = {
        0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751,
        0.718, 0.685, 0.658, 0.628, 0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490,
        0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411, 0.406,
    };
    (void)n;
    const eddy_tensor t = steps(x, 0, 10, 33);
    const eddy_tensor a = Mul(at(x, 2), fall(t, at(x, 4))), b = Mul(at(x, 3), fall(t, at(x, 5)));
    return Sub(VECTOR(x, y), Add(at(x, 1), Add(a, b)));
}

static eddy_tensor biggs(eddy_tensor x, int n)
{
    (void)n;
    const eddy_tensor t = steps(x, 0.1, 0.1, 13);
    const eddy_tensor y =
        Add(Sub(Exp(Neg(t)), Mul(5, Exp(Mul(-10, t)))), Mul(3, Exp(Mul(-4, t))));
    const eddy_tensor two = Sub(Mul(at(x, 3), fall(t, at(x, 1))), Mul(at(x, 4), fall(t, at(x, 2))));
    return Sub(Add(two, Mul(at(x, 6), fall(t, at(x, 5)))), y);
}

static eddy_tensor osborne_2(eddy_tensor x, int n)
{
    static const double y[] = {
        1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608,
        0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661,
        0.612, 0.558, 0.533, 0.495, 0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428,
        0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559,
        0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054,
    };
    (void)n;
    const eddy_tensor t = steps(x, 0, 0.1, 65);
    eddy_tensor       sum = Mul(at(x, 1), fall(t, at(x, 5)));
    for (int k = 2; k <= 4; k++)
        sum = Add(sum, Mul(at(x, k), fall(square(Sub(t, at(x, k + 7))), at(x, k + 4))));
    return Sub(VECTOR(x, y), sum);
}

/* ----------------------------------------------------------- any number of them -- */

static eddy_tensor watson(eddy_tensor x, int n)
{
    double slopes[29 * MGH_MOST], powers[29 * MGH_MOST];
    for (int i = 0; i < 29; i++)
        for (int j = 0; j < n; j++) {
            const double t = (i + 1) / 29.0;
            slopes[i * n + j] = j > 0 ? j * pow(t, j - 1) : 0;
            powers[i * n + j] = pow(t, j);
        }
    const eddy_tensor a = eddy_const(x.graph, EDDY_FLOAT64, EDDY_SHAPE(29, n), slopes);
    const eddy_tensor b = eddy_const(x.graph, EDDY_FLOAT64, EDDY_SHAPE(29, n), powers);
    const eddy_tensor most = Sub(Sub(eddy_matvec(a, x), square(eddy_matvec(b, x))), 1);
    return JOINED(most, ALL(at(x, 1), Sub(Sub(at(x, 2), square(at(x, 1))), 1)));
}

static eddy_tensor penalty_1(eddy_tensor x, int n)
{
    (void)n;
    return JOINED(Mul(sqrt(1e-5), Sub(x, 1)), as_vector(Sub(Sum(square(x)), 0.25)));
}

static eddy_tensor penalty_2(eddy_tensor x, int n)
{
    const double      root = sqrt(1e-5);
    const eddy_tensor e = Exp(Mul(0.1, x)), y = Exp(steps(x, 0.1, 0.1, n));
    const eddy_tensor pairs = Add(eddy_index(e, "1:"), eddy_index(e, ":-1"));
    const eddy_tensor sums = Add(eddy_index(y, "1:"), eddy_index(y, ":-1"));
    return JOINED(as_vector(Sub(at(x, 1), 0.2)), Mul(root, Sub(pairs, sums)),
                  Mul(root, Sub(eddy_index(e, "1:"), exp(-0.1))),
                  as_vector(Sub(Sum(Mul(steps(x, n, -1, n), square(x))), 1)));
}

static eddy_tensor variably_dimensioned(eddy_tensor x, int n)
{
    const eddy_tensor sum = Sum(Mul(steps(x, 1, 1, n), Sub(x, 1)));
    return JOINED(Sub(x, 1), ALL(sum, square(sum)));
}

static eddy_tensor trigonometric(eddy_tensor x, int n)
{
    const eddy_tensor off = Sub(1, Cos(x));
    return Sub(Add(Sum(off), Mul(steps(x, 1, 1, n), off)), Sin(x));
}

static eddy_tensor brown_almost_linear(eddy_tensor x, int n)
{
    return JOINED(Sub(Add(eddy_index(x, ":-1"), Sum(x)), n + 1), as_vector(Sub(eddy_prod(x), 1)));
}

static double second_difference(int i, int j, int n)
{
    (void)n;
    return i == j ? 2 : i - j == 1 || j - i == 1 ? -1 : 0;
}

static eddy_tensor boundary_value(eddy_tensor x, int n)
{
    const double      h = 1.0 / (n + 1);
    const eddy_tensor force = cube(Add(Add(x, steps(x, h, h, n)), 1));
    return Add(eddy_matvec(matrix(x, n, second_difference), x), Mul(h * h / 2, force));
}

static double integral_kernel(int i, int j, int n)
{
    const double h = 1.0 / (n + 1);
    return h / 2 * (j <= i ? (1 - i * h) * j * h : i * h * (1 - j * h));
}

static eddy_tensor integral_equation(eddy_tensor x, int n)
{
    const double      h = 1.0 / (n + 1);
    const eddy_tensor force = cube(Add(Add(x, steps(x, h, h, n)), 1));
    return Add(x, eddy_matvec(matrix(x, n, integral_kernel), force));
}

static double next_to(int i, int j, int n)
{
    (void)n;
    return j == i - 1 ? 1 : j == i + 1 ? 2 : 0;
}

static eddy_tensor broyden_tridiagonal(eddy_tensor x, int n)
{
    const eddy_tensor near = eddy_matvec(matrix(x, n, next_to), x);
    return Add(Sub(Mul(Sub(3, Mul(2, x)), x), near), 1);
}

static double in_band(int i, int j, int n)
{
    (void)n;
    return j != i && j >= i - 5 && j <= i + 1;
}

static eddy_tensor broyden_banded(eddy_tensor x, int n)
{
    const eddy_tensor near = eddy_matvec(matrix(x, n, in_band), Mul(x, Add(1, x)));
    return Sub(Add(Mul(x, Add(2, Mul(5, square(x)))), 1), near);
}

static eddy_tensor linear_full_rank(eddy_tensor x, int n)
{
    const eddy_tensor all = Mul(Div(Sum(x), 10), eddy_ones(x.graph, EDDY_FLOAT64, EDDY_SHAPE(10)));
    (void)n;
    return JOINED(Sub(Sub(x, all), 1), Sub(Neg(all), 1));     /* 20 residuals, 10 variables */
}

static eddy_tensor linear_rank_1(eddy_tensor x, int n)
{
    return Sub(Mul(steps(x, 1, 1, 20), Sum(Mul(steps(x, 1, 1, n), x))), 1);
}

static eddy_tensor linear_rank_1_zeros(eddy_tensor x, int n)
{
    const eddy_tensor inner = eddy_index(x, "1:-1");
    const eddy_tensor sum = Sum(Mul(steps(x, 2, 1, n - 2), inner));
    const eddy_tensor one = steps(x, -1, 0, 1);
    return JOINED(one, Sub(Mul(steps(x, 1, 1, 18), sum), 1), one);
}

static eddy_tensor chebyquad(eddy_tensor x, int n)
{
    eddy_tensor       f[MGH_MOST], before = eddy_ones_like(x), now = Sub(Mul(2, x), 1);
    const eddy_tensor twice = Mul(2, now);
    for (int i = 1; i <= n; i++) {
        const eddy_tensor next = Sub(Mul(twice, now), before);
        f[i - 1] = Sub(eddy_mean(now), i % 2 ? 0 : -1.0 / (i * i - 1));
        before = now;
        now = next;
    }
    return eddy_stack((eddy_list){ n, f }, 0);
}

/* ------------------------------------------------------------- starting points -- */

static void zigzag(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = i % 2 ? 1 : -1.2;
}
static void of_powell(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = (double[]){ 3, -1, 0, 1 }[i % 4];
}
static void counted(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = i + 1;
}
static void halves(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = 0.5;
}
static void ones(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = 1;
}
static void minus_ones(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = -1;
}
static void shares(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = 1.0 / n;
}
static void falling(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = 1 - (i + 1.0) / n;
}
static void parabola(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = (i + 1.0) / (n + 1) * ((i + 1.0) / (n + 1) - 1);
}
static void equally_spaced(int n, double *x)
{
    for (int i = 0; i < n; i++) x[i] = (i + 1.0) / (n + 1);
}

const mgh_problem mgh_problems[] = {
    { "Rosenbrock", rosenbrock, 2, .begin = zigzag },
    { "Freudenstein and Roth", freudenstein_roth, 2, .x = { 0.5, -2 }, .minima = { 0, 48.9842 } },
    { "Powell badly scaled", powell_badly_scaled, 2, .x = { 0, 1 } },
    { "Brown badly scaled", brown_badly_scaled, 2, .begin = ones },
    { "Beale", beale, 2, .begin = ones },
    { "Jennrich and Sampson", jennrich_sampson, 2, .x = { 0.3, 0.4 }, .minima = { 124.362 } },
    { "helical valley", helical_valley, 3, .x = { -1 } },
    { "Bard", bard, 3, .begin = ones, .minima = { 8.21487e-3, 17.4286 } },
    { "Gaussian", gaussian, 3, .x = { 0.4, 1, 0 }, .minima = { 1.12793e-8 } },
    { "Meyer", meyer, 3, .x = { 0.02, 4000, 250 }, .minima = { 87.9458 } },
    { "Gulf", gulf, 3, .x = { 5, 2.5, 0.15 } },
    { "Box", box, 3, .x = { 0, 10, 20 } },
    { "Powell singular", powell_singular, 4, .begin = of_powell },
    { "Wood", wood, 4, .x = { -3, -1, -3, -1 } },
    { "Kowalik and Osborne", kowalik_osborne, 4, .x = { 0.25, 0.39, 0.415, 0.39 },
      .minima = { 3.07505e-4, 1.02734e-3 } },
    { "Brown and Dennis", brown_dennis, 4, .x = { 25, 5, -5, -1 }, .minima = { 85822.2 } },
    { "Osborne 1", osborne_1, 5, .x = { 0.5, 1.5, -1, 0.01, 0.02 }, .minima = { 5.46489e-5 } },
    { "Biggs EXP6", biggs, 6, .x = { 1, 2, 1, 1, 1, 1 }, .minima = { 0, 5.65565e-3 } },
    { "Osborne 2", osborne_2, 11, .x = { 1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5 },
      .minima = { 4.01377e-2 } },
    { "Watson", watson, 6, .minima = { 2.28767e-3 } },
    { "Watson", watson, 9, .minima = { 1.39976e-6 } },
    { "Watson", watson, 12, .minima = { 4.72238e-10 }, .lbfgs_leaves = 1e-8 },
    { "extended Rosenbrock", rosenbrock, 10, .begin = zigzag },
    { "extended Powell singular", powell_singular, 12, .begin = of_powell },
    { "penalty I", penalty_1, 4, .begin = counted, .minima = { 2.24997e-5 } },
    { "penalty I", penalty_1, 10, .begin = counted, .minima = { 7.08765e-5 } },
    { "penalty II", penalty_2, 4, .begin = halves, .minima = { 9.37629e-6 } },
    { "penalty II", penalty_2, 10, .begin = halves, .minima = { 2.93660e-4 } },
    { "variably dimensioned", variably_dimensioned, 10, .begin = falling },
    { "trigonometric", trigonometric, 10, .begin = shares, .minima = { 0, 2.79506e-5 } },
    { "Brown almost-linear", brown_almost_linear, 10, .begin = halves, .minima = { 0, 1 } },
    { "discrete boundary value", boundary_value, 10, .begin = parabola },
    { "discrete integral equation", integral_equation, 10, .begin = parabola },
    { "Broyden tridiagonal", broyden_tridiagonal, 10, .begin = minus_ones },
    { "Broyden banded", broyden_banded, 10, .begin = minus_ones },
    { "linear, full rank", linear_full_rank, 10, .begin = ones, .minima = { 10 } },
    { "linear, rank 1", linear_rank_1, 10, .begin = ones, .minima = { 20 * 19 / 82.0 } },
    { "linear, rank 1 with zeros", linear_rank_1_zeros, 10, .begin = ones,
      .minima = { 454 / 74.0 } },
    { "Chebyquad", chebyquad, 7, .begin = equally_spaced },
    { "Chebyquad", chebyquad, 8, .begin = equally_spaced, .minima = { 3.51687e-3 } },
    { "Chebyquad", chebyquad, 10, .begin = equally_spaced, .minima = { 6.50395e-3, 4.77271e-3 } },
};
const int mgh_problem_count = sizeof mgh_problems / sizeof *mgh_problems;
