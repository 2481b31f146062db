/* hunt_points.c -- see hunt_points.h: special numbers, vectors and matrices. */
#include "tests/hunt/hunt_points.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Numbers of one sign, by how many inputs share them. An input of the row that is above 0 there is
 * above 0 here, and one within 0 and 1 stays there. */
static const double singles[] = {
    0, 1e-320, 1e-40, 0x1p-1022, 0x1p-126, 1e-300, 1e-200, 1e-160, 1e-30, 1e-20, 1e-10,
    1e-7, 1e-4, 0.01, 0.25, 0.5, 1 - 0x1p-52, 1 - 0x1p-23, 1, 1 + 0x1p-52, 1 + 0x1p-23, 2,
    3, 3.75, 6, 10, 20, 40, 85, 100, 300, 700, 1e3, 1e6, 1e10, 1e15, 1e19, 1e25, 3e38,
    1e100, 1e155, 1e200, 1e300, 1.7e308, INFINITY,
};
static const double doubles[] = {
    0, 1e-320, 1e-40, 1e-200, 1e-20, 0.5, 1, 3, 30, 1e10, 1e20, 1e37, 1e160, 1e300,
};
static const double triples[] = { 0, 1e-20, 0.5, 3, 1e10 };
/* Parts of complex numbers, of one and of two. */
static const double planes[] = {
    0, 1e-320, 1e-40, 1e-20, 1e-8, 0.5, 1, 3, 30, 100, 800, 1e10, 1e20, 1e37, 1e160, 1e300,
};
static const double pairs[] = { 0, 0.5, 3 };
static const double of_formulas[] = { 0, 1e-30, 1e-8, 0.5, 1, 3, 30, 1e4, 1e20, 1e160 };
static const double vectors[] = {
    0, 1e-40, 1e-20, 1e-8, 1, 30, 200, 1e10, 1e20, 1e37, 1e-200, 1e200,
};
#define COUNT(list) (int)(sizeof list / sizeof *list)

/* Some numbers of float64 are none of float32. */
static bool fits(const hunted *h, double v)
{
    if (h->dtype == EDDY_FLOAT64) return true;
    return v == 0 || isinf(v) || (fabs(v) >= 1e-44 && fabs(v) <= (double)FLT_MAX &&
                                  (fabs(v - 1) > 0x1p-30 || v == 1));
}

/* Whether input i of the row may be v: of the sign and within the bounds of its interval. */
static bool takes(const hunted *h, int i, double v)
{
    if (h->is_complex) return fits(h, v);
    const double low = h->row->low[i], high = h->row->high[i];
    const bool   share = low >= 0 && high <= 1 && high > 0;
    /* The derivative of the incomplete gamma functions by a takes time that grows with a. */
    const double most = share ? 1 : strstr(h->row->op, "Igamma") ? 1e4 : INFINITY;
    if ((low > 0 || share) && signbit(v)) return false;
    if (low > 0 && h->row->n > 2 && v == 0) return false;
    return fits(h, v) && v <= most;
}

/* All combinations of the numbers, with both signs; of long formulas of three a part. */
static void look_at_numbers(hunted *h, const double *list, int count)
{
    const int n = h->n;
    long      all = 1;
    for (int i = 0; i < n; i++) all *= 2 * count;
    const int every = n > 2 && exact_graph_operations(h->exact) > 10 ? 7 : 1;
    for (long c = 0; c < all; c += every) {
        long rest = c;
        bool good = true;
        for (int i = 0; good && i < n; i++, rest /= 2 * count) {
            const double size = list[rest % (2 * count) / 2], v = rest % 2 ? -size : size;
            good = takes(h, i, v);
            if (good) eddy_array_set(h->point[i], 0, v);
        }
        if (good) hunt_look(h);
    }
}

/* Ordinary numbers of the row. */
static void fill(hunted *h)
{
    const int parts = h->is_complex ? 2 : 1;
    for (int i = 0; i < h->n; i++) {
        const double low = h->row->low[i / parts], high = h->row->high[i / parts];
        const double a = low == high ? -2 : low, b = low == high ? 2 : high;
        for (int64_t j = 0; j < eddy_array_count(h->point[i]); j++)
            eddy_array_set(h->point[i], j,
                           a + (b - a) * fmod(0.618 * (double)(j + 1) + 0.29 * i, 1));
    }
}

/* One element, two equal, opposite, near or distant ones, all equal ones, all scaled. */
static void look_at_vectors(hunted *h)
{
    enum { ONE, EQUAL, OPPOSITE, NEAR, APART, ALL, SCALED, PATTERNS };
    fill(h);
    hunt_look(h);
    for (int i = 0; i < h->n; i++)
        for (int v = 0; v < COUNT(vectors); v++)
            for (int pattern = 0; pattern < PATTERNS; pattern++) {
                eddy_array *a = h->point[i];
                const double x = vectors[v];
                if (!fits(h, x) || (pattern != ONE && eddy_array_count(a) < 2)) continue;
                fill(h);
                eddy_array_set(a, 0, pattern == OPPOSITE ? -x : x);
                if (pattern == EQUAL || pattern == OPPOSITE) eddy_array_set(a, 1, x);
                if (pattern == NEAR) eddy_array_set(a, 1, x * (1 + 0x1p-20));
                if (pattern == APART) eddy_array_set(a, 1, x == 0 || x > 1 ? -1 : 1 / x);
                for (int64_t j = 0; pattern >= ALL && j < eddy_array_count(a); j++)
                    eddy_array_set(a, j, pattern == ALL ? x : x * eddy_array_get(a, j));
                hunt_look(h);
            }
}

/* -------------------------------------------------------------- matrices -- */

/* Element (i, j) of a matrix of a kind; m and n are its sizes. */
enum {
    ZEROS, ONES, DIAGONAL, TWO_EQUAL, NEAR_EQUAL, TURNED_EQUAL, TURNED_NEAR, RANK_ONE, NILPOTENT,
    JORDAN, SKEW, POSITIVE, PERMUTATION, ZERO_COLUMN, EQUAL_COLUMNS, EQUAL_ROWS, NEGATIVE,
    GRADED, TRIANGLE, OF_ROW, MATRICES
};

static double element_of(int kind, int i, int j)
{
    static const double u[] = { 0.6, 0, 0.8, 0, 0 };     /* of length 1 */
    const double on = i == j, both = u[i % 5] * u[j % 5];
    switch (kind) {
    case ONES:          return 1;
    case DIAGONAL:      return on * (i + 1);
    case TWO_EQUAL:     return on * (i < 2 ? 1 : 2);
    case NEAR_EQUAL:    return on * (i == 0 ? 1 : i == 1 ? 1 + 0x1p-18 : 2);
    case TURNED_EQUAL:  return 2 * on + 3 * both;
    case TURNED_NEAR:   return 2 * on + 3 * both + (i == 1 && j == 1 ? 0x1p-18 : 0);
    case RANK_ONE:      return (i + 1) * (0.5 - j);
    case NILPOTENT:     return j == i + 1;
    case JORDAN:        return 2 * on + (j == i + 1);
    case SKEW:          return (j - i) * (1 + 0.25 * (i + j));
    case POSITIVE:      return 3 * on + 1 / (1.0 + i + j);
    case PERMUTATION:   return j == (i + 1) % 3;
    case ZERO_COLUMN:   return j == 1 ? 0 : fmod(0.618 * (3 * i + j + 1), 1);
    case EQUAL_COLUMNS: return fmod(0.618 * (3 * i + (j == 1 ? 0 : j) + 1), 1);
    case EQUAL_ROWS:    return fmod(0.618 * (3 * (i == 1 ? 0 : i) + j + 1), 1);
    case NEGATIVE:      return -on;
    case GRADED:        return on * pow(10, -2 * i);
    case TRIANGLE:      return i >= j ? 1 + 0.5 * i - 0.25 * j : 0;
    default:            return 0;
    }
}

static bool is_singular(int kind)
{
    return kind <= ONES || (kind >= RANK_ONE && kind <= NILPOTENT) || kind == SKEW ||
           (kind >= ZERO_COLUMN && kind <= EQUAL_ROWS);
}

static void look_at_matrices(hunted *h)
{
    static const double sizes[] = { 1, 1e-6, 1e6, 1e-100, 1e100 };
    for (int x = 0; x < h->n; x++) {
        const eddy_shape s = h->shape[x];
        if (s.rank != 2) continue;
        for (int kind = 0; kind < MATRICES; kind++)
            for (int size = 0; size < (kind == ZEROS ? 1 : COUNT(sizes)); size++) {
                if (!fits(h, sizes[size])) continue;
                fill(h);
                h->is_singular = is_singular(kind);
                for (int64_t e = 0; e < eddy_array_count(h->point[x]); e++) {
                    const int    i = (int)(e / s.dim[1]), j = (int)(e % s.dim[1]);
                    const double v = kind == OF_ROW ? eddy_array_get(h->point[x], e)
                                                    : element_of(kind, i, j);
                    eddy_array_set(h->point[x], e, v * sizes[size]);
                }
                hunt_look(h);
            }
    }
}

void hunt_points(hunted *h)
{
    bool single = true;
    for (int i = 0; i < h->n; i++) single = single && eddy_array_count(h->point[i]) == 1;
    if (hunt_of_matrices(h->row)) look_at_matrices(h);
    else if (!single) look_at_vectors(h);
    else if (h->is_complex && h->n == 2) look_at_numbers(h, planes, COUNT(planes));
    else if (h->is_complex) look_at_numbers(h, pairs, COUNT(pairs));
    else if (h->n == 1) look_at_numbers(h, singles, COUNT(singles));
    else if (h->n == 2 && exact_graph_operations(h->exact) > 1)
        look_at_numbers(h, of_formulas, COUNT(of_formulas));
    else if (h->n == 2) look_at_numbers(h, doubles, COUNT(doubles));
    else look_at_numbers(h, triples, COUNT(triples));
}
