/* exact_matrices.c -- see exact_matrices.h: the algorithms. They need not be fast, and lose some
 * hundred of some thousand bits at most. */
#include "tests/hunt/exact_matrices.h"

#include <math.h>
#include <stdlib.h>

static num number(double x) { return exact_number(x); }
static num add(num a, num b) { return exact_add(a, b); }
static num sub(num a, num b) { return exact_sub(a, b); }
static num mul(num a, num b) { return exact_mul(a, b); }
static num divided(num a, num b) { return exact_div(a, b); }
static bool is_zero(num a) { return mpfr_zero_p(a) != 0; }

/* -------------------------------------------------------------- arithmetic -- */

exact_matrix exact_zeros(int m, int n)
{
    exact_matrix y = { .m = m, .n = n };
    if (m * n > EXACT_ELEMENTS) abort();
    for (int i = 0; i < m * n; i++) y.x[i] = number(0);
    return y;
}

exact_matrix exact_identity(int n)
{
    exact_matrix y = exact_zeros(n, n);
    for (int i = 0; i < n; i++) AT(y, i, i) = number(1);
    return y;
}

exact_matrix exact_transposed(exact_matrix a)
{
    exact_matrix y = { .m = a.n, .n = a.m };
    for (int i = 0; i < a.m; i++)
        for (int j = 0; j < a.n; j++) AT(y, j, i) = AT(a, i, j);
    return y;
}

exact_matrix exact_plus(exact_matrix a, exact_matrix b)
{
    for (int i = 0; i < a.m * a.n; i++) a.x[i] = add(a.x[i], b.x[i]);
    return a;
}

exact_matrix exact_scaled(num c, exact_matrix a)
{
    for (int i = 0; i < a.m * a.n; i++) a.x[i] = mul(c, a.x[i]);
    return a;
}

/* Of the largest element. */
static long exponent(exact_matrix a)
{
    long most = -2000000;
    for (int i = 0; i < a.m * a.n; i++)
        if (mpfr_regular_p(a.x[i]) && mpfr_get_exp(a.x[i]) > most) most = mpfr_get_exp(a.x[i]);
    return most;
}

/* Zeros are skipped, which stay zeros beside infinite elements. */
exact_matrix exact_times(exact_matrix a, exact_matrix b)
{
    exact_matrix y = exact_zeros(a.m, b.n);
    for (int i = 0; i < a.m; i++)
        for (int j = 0; j < b.n; j++)
            for (int k = 0; k < a.n; k++)
                if (!is_zero(AT(a, i, k)) && !is_zero(AT(b, k, j)))
                    AT(y, i, j) = add(AT(y, i, j), mul(AT(a, i, k), AT(b, k, j)));
    return y;
}

/* The sum of products of columns i of a and j of b. */
static num inner(exact_matrix a, int i, exact_matrix b, int j)
{
    num y = number(0);
    for (int k = 0; k < a.m; k++) y = add(y, mul(AT(a, k, i), AT(b, k, j)));
    return y;
}

/* ------------------------------------------------------------- elimination -- */

/* Whether b is the larger one, also after the change of a difference. */
static bool is_larger(num b, num a)
{
    const num bound = mul(a, number(1 + 0x1p-20));
    return mpfr_cmpabs(b, bound) > 0;
}

int exact_lu(exact_matrix *a, bool pivoting, int *rows)
{
    int sign = 1;
    for (int i = 0; i < a->m; i++) rows[i] = i;
    for (int k = 0; k < a->m; k++) {
        int pivot = k;
        for (int i = k + 1; pivoting && i < a->m; i++)
            if (is_larger(AT(*a, i, k), AT(*a, pivot, k))) pivot = i;
        for (int j = 0; pivot != k && j < a->n; j++) {
            const num swap = AT(*a, k, j);
            AT(*a, k, j) = AT(*a, pivot, j), AT(*a, pivot, j) = swap;
        }
        if (pivot != k) {
            const int row = rows[k];
            rows[k] = rows[pivot], rows[pivot] = row, sign = -sign;
        }
        for (int i = k + 1; i < a->m; i++) {
            if (is_zero(AT(*a, i, k))) continue;
            const num factor = divided(AT(*a, i, k), AT(*a, k, k));
            AT(*a, i, k) = factor;
            for (int j = k + 1; j < a->n; j++)
                AT(*a, i, j) = sub(AT(*a, i, j), mul(factor, AT(*a, k, j)));
        }
    }
    return sign;
}

exact_matrix exact_solution(exact_matrix a, exact_matrix b)
{
    int rows[EXACT_ELEMENTS];
    exact_lu(&a, true, rows);
    exact_matrix y = exact_zeros(a.n, b.n);
    for (int j = 0; j < b.n; j++) {
        for (int i = 0; i < a.n; i++) {
            num v = AT(b, rows[i], j);
            for (int k = 0; k < i; k++) v = sub(v, mul(AT(a, i, k), AT(y, k, j)));
            AT(y, i, j) = v;
        }
        for (int i = a.n - 1; i >= 0; i--) {
            num v = AT(y, i, j);
            for (int k = i + 1; k < a.n; k++) v = sub(v, mul(AT(a, i, k), AT(y, k, j)));
            AT(y, i, j) = divided(v, AT(a, i, i));
        }
    }
    return y;
}

num exact_determinant(exact_matrix a)
{
    int        rows[EXACT_ELEMENTS];
    const long size = exponent(a);
    num        y = number(exact_lu(&a, true, rows));
    for (int i = 0; i < a.n; i++) {
        const num pivot = AT(a, i, i);
        if (is_zero(pivot) || mpfr_get_exp(pivot) < size - exact_bits() + 64) return number(0);
        y = mul(y, AT(a, i, i));
    }
    return y;
}

exact_matrix exact_cofactors(exact_matrix a)
{
    exact_matrix y = exact_zeros(a.n, a.n), minor = exact_zeros(a.n - 1, a.n - 1);
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < a.n; j++) {
            for (int r = 0, to = 0; r < a.n; r++)
                for (int c = 0; r != i && c < a.n; c++)
                    if (c != j) minor.x[to++] = AT(a, r, c);
            AT(y, i, j) = mul(number((i + j) % 2 ? -1 : 1), exact_determinant(minor));
        }
    return y;
}

exact_matrix exact_cholesky(exact_matrix a)
{
    exact_matrix y = exact_zeros(a.n, a.n);
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j <= i; j++) {
            num v = AT(a, i, j);
            for (int k = 0; k < j; k++) v = sub(v, mul(AT(y, i, k), AT(y, j, k)));
            AT(y, i, j) = i == j ? exact_sqrt(v) : divided(v, AT(y, j, j));
        }
    return y;
}

void exact_qr(exact_matrix a, exact_matrix *q, exact_matrix *r)
{
    const int k = a.m < a.n ? a.m : a.n;
    *q = exact_zeros(a.m, k), *r = exact_zeros(k, a.n);
    for (int j = 0; j < a.n; j++) {
        for (int i = 0; i < k && i < j; i++) {
            AT(*r, i, j) = inner(*q, i, a, j);
            for (int row = 0; row < a.m; row++)
                AT(a, row, j) = sub(AT(a, row, j), mul(AT(*r, i, j), AT(*q, row, i)));
        }
        if (j >= k) continue;
        AT(*r, j, j) = exact_sqrt(inner(a, j, a, j));
        for (int row = 0; row < a.m; row++)
            AT(*q, row, j) = divided(AT(a, row, j), AT(*r, j, j));
    }
}

/* --------------------------------------------------------------- rotations -- */

/* The tangent of the smaller angle with cot 2 angle = half / off. */
static void rotation(num half, num off, num *cosine, num *sine)
{
    const num length = exact_sqrt(add(mul(half, half), mul(off, off)));
    const num below = add(mpfr_sgn(half) < 0 ? sub(number(0), half) : half, length);
    num t = divided(off, below);
    if (mpfr_sgn(half) < 0) t = sub(number(0), t);
    *cosine = divided(number(1), exact_sqrt(add(number(1), mul(t, t))));
    *sine = mul(t, *cosine);
}

/* Columns p and q of a become cosine p - sine q and sine p + cosine q. */
static void rotate(exact_matrix *a, int p, int q, num cosine, num sine)
{
    for (int i = 0; i < a->m; i++) {
        const num x = AT(*a, i, p), y = AT(*a, i, q);
        AT(*a, i, p) = sub(mul(cosine, x), mul(sine, y));
        AT(*a, i, q) = add(mul(sine, x), mul(cosine, y));
    }
}

/* Whether columns with these squared lengths and this product are orthogonal, or one is 0 beside
 * a matrix of squared length `all`. */
static bool are_orthogonal(num off, num x, num y, num all)
{
    const num smaller = mpfr_less_p(x, y) ? x : y;
    if (!mpfr_number_p(off) || !mpfr_number_p(all) || is_zero(off) || is_zero(smaller)) return true;
    const long bits = 2 * exact_bits() - 40;
    return 2 * mpfr_get_exp(off) < mpfr_get_exp(x) + mpfr_get_exp(y) - bits ||
           mpfr_get_exp(smaller) < mpfr_get_exp(all) - bits;
}

enum { SWEEPS = 60 };

/* Columns of all matrices in the order of these values. */
static void order_columns(exact_matrix *values, exact_matrix *a, exact_matrix *b, bool ascending)
{
    for (int i = 0; i < values->n; i++)
        for (int j = i + 1; j < values->n; j++) {
            const int c = mpfr_cmp(values->x[j], values->x[i]);
            if (ascending ? c >= 0 : c <= 0) continue;
            exact_matrix *const list[] = { values, a, b };
            for (int k = 0; k < 3; k++)
                for (int row = 0; list[k] && row < list[k]->m; row++) {
                    const num swap = AT(*list[k], row, i);
                    AT(*list[k], row, i) = AT(*list[k], row, j), AT(*list[k], row, j) = swap;
                }
        }
}

void exact_singular(exact_matrix a, exact_matrix *u, exact_matrix *s, exact_matrix *v)
{
    if (a.m < a.n) {
        exact_singular(exact_transposed(a), v, s, u);
        return;
    }
    *v = exact_identity(a.n);
    num all = number(0);
    for (int i = 0; i < a.m * a.n; i++) all = add(all, mul(a.x[i], a.x[i]));
    bool changed = true;
    for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {
        changed = false;
        for (int p = 0; p < a.n; p++)
            for (int q = p + 1; q < a.n; q++) {
                const num off = inner(a, p, a, q), x = inner(a, p, a, p), y = inner(a, q, a, q);
                if (are_orthogonal(off, x, y, all)) continue;
                num cosine, sine;
                rotation(mul(number(0.5), sub(y, x)), off, &cosine, &sine);
                rotate(&a, p, q, cosine, sine);
                rotate(v, p, q, cosine, sine);
                changed = true;
            }
    }
    *s = exact_zeros(1, a.n);
    for (int j = 0; j < a.n; j++) s->x[j] = exact_sqrt(inner(a, j, a, j));
    order_columns(s, &a, v, false);
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++) AT(a, i, j) = divided(AT(a, i, j), s->x[j]);
    *u = a;
}

void exact_eigen(exact_matrix a, exact_matrix *values, exact_matrix *vectors)
{
    num size = number(0);
    for (int i = 0; i < a.n * a.n; i++) size = add(size, mul(a.x[i], a.x[i]));
    size = exact_sqrt(size);
    *vectors = exact_identity(a.n);
    bool changed = mpfr_number_p(size) && !is_zero(size);
    for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {
        changed = false;
        for (int p = 0; p < a.n; p++)
            for (int q = p + 1; q < a.n; q++) {
                const num off = AT(a, p, q);
                if (is_zero(off) || mpfr_get_exp(off) < mpfr_get_exp(size) - exact_bits()) continue;
                num cosine, sine;
                rotation(mul(number(0.5), sub(AT(a, q, q), AT(a, p, p))), off, &cosine, &sine);
                rotate(&a, p, q, cosine, sine);
                a = exact_transposed(a);
                rotate(&a, p, q, cosine, sine);
                rotate(vectors, p, q, cosine, sine);
                changed = true;
            }
    }
    *values = exact_zeros(1, a.n);
    for (int i = 0; i < a.n; i++) values->x[i] = AT(a, i, i);
    order_columns(values, vectors, NULL, true);
}

/* --------------------------------------------------------------- functions -- */

/* The power series of a / 2^s, squared s times. */
exact_matrix exact_exponential(exact_matrix a)
{
    const long size = exponent(a);
    const long halvings = size > -20 ? size + 20 : 0;
    const int  before = exact_set_bits(exact_bits() + (int)(halvings < 4000 ? halvings : 4000));
    num half = number(1);
    mpfr_mul_2si(half, half, -halvings, MPFR_RNDN);
    const exact_matrix x = exact_scaled(half, a);
    exact_matrix y = exact_identity(a.n), term = y;
    for (int k = 1; k < 2000; k++) {
        term = exact_scaled(divided(number(1), number(k)), exact_times(term, x));
        y = exact_plus(y, term);
        if (exponent(term) < exponent(y) - exact_bits()) break;
    }
    for (long i = 0; i < halvings; i++) y = exact_times(y, y);
    exact_set_bits(before);
    return y;
}

static exact_matrix inverse(exact_matrix a) { return exact_solution(a, exact_identity(a.n)); }

/* Denman and Beavers (1976): y and z become the means of each and the inverse of the other. */
exact_matrix exact_root(exact_matrix a)
{
    const long   size = exponent(a) / 2;
    num          scale = number(1);
    mpfr_mul_2si(scale, scale, -2 * size, MPFR_RNDN);
    exact_matrix y = exact_scaled(scale, a), z = exact_identity(a.n);
    const num    half = number(0.5);
    bool         found = false;
    for (int k = 0; k < 200 && !found; k++) {
        const exact_matrix next = exact_scaled(half, exact_plus(y, inverse(z)));
        z = exact_scaled(half, exact_plus(z, inverse(y)));
        const exact_matrix change = exact_plus(next, exact_scaled(number(-1), y));
        y = next;
        found = exponent(change) < exponent(y) - exact_bits() + 32;
    }
    if (!found) return exact_scaled(number(NAN), y);        /* none without imaginary parts */
    mpfr_mul_2si(scale, scale, 3 * size, MPFR_RNDN);
    return exact_scaled(scale, y);
}

exact_matrix exact_pseudo_inverse(exact_matrix a, double limit)
{
    exact_matrix u, s, v;
    exact_singular(a, &u, &s, &v);
    for (int j = 0; j < s.n; j++) {
        const bool counts = mpfr_cmp(s.x[j], mul(number(limit), s.x[0])) > 0;
        for (int i = 0; i < v.m; i++)
            AT(v, i, j) = counts ? divided(AT(v, i, j), s.x[j]) : number(0);
        for (int i = 0; !counts && i < u.m; i++) AT(u, i, j) = number(0);
    }
    return exact_times(v, exact_transposed(u));
}

exact_matrix exact_sylvester(exact_matrix a, exact_matrix b, exact_matrix c)
{
    const int    n = a.n * b.n;
    exact_matrix all = exact_zeros(n, n), y = exact_zeros(n, 1);
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < b.n; j++) {
            const int row = i * b.n + j;
            y.x[row] = AT(c, i, j);
            for (int k = 0; k < a.n; k++)
                AT(all, row, k * b.n + j) = add(AT(all, row, k * b.n + j), AT(a, i, k));
            for (int k = 0; k < b.n; k++)
                AT(all, row, i * b.n + k) = add(AT(all, row, i * b.n + k), AT(b, k, j));
        }
    y = exact_solution(all, y);
    y.m = a.n, y.n = b.n;
    return y;
}
