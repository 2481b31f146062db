/* rfft_factors.c -- see rfft_factors.h.
 *
 * With j = q j1 + j2 and k = k1 + p k2, w_n = exp(-2 pi i / n),
 *
 *     X[k] = sum_j2 w_q^(j2 k2)  w_n^(j2 k1)  sum_j1 w_p^(j1 k1) x[q j1 + j2].
 *
 * The sum over j1 is that of real numbers: of sums and differences of x at j1 and p - j1, weighted
 * by cosines and sines, for k1 up to (p - 1) / 2. For other k, X[n - k] is the conjugate of X[k].
 * Each number of a row is computed alike whatever the rows beside it are. */
#include "ops/signal/rfft_factors.h"
#include "graph/base/cpu.h"
#include "ops/kernels/libraries/fftw.h"
#include "ops/kernels/matmul/small_matmul.h"

#include <math.h>
#include <string.h>

enum { LEAST = 100, MOST = 4096,       /* sizes of rows */
       LEAST_FACTOR = 9, MOST_FACTOR = 63, LARGEST_PRIME = 13 };

/* FFTW has loops for primes up to 13. */
static int64_t largest_prime(int64_t n)
{
    int64_t prime = 1;
    for (int64_t p = 2; n > 1; p++)
        for (; n % p == 0; n /= p) prime = p;
    return prime;
}

int64_t eddy__rfft_factor(int64_t n)
{
    if (n < LEAST || n > MOST || (n % 2 == 0 && largest_prime(n) <= LARGEST_PRIME)) return 0;
    for (int64_t p = LEAST_FACTOR; p <= MOST_FACTOR; p += 2)
        if (n % p == 0 && largest_prime(n / p) <= LARGEST_PRIME) return p;
    return 0;
}

const eddy_rfft_factors *eddy__rfft_prepare(eddy_kernel *k, int64_t n)
{
    const int64_t p = eddy__rfft_factor(n), half = (p + 1) / 2, q = p > 0 ? n / p : 0;
    const int64_t numbers = half * (2 * half - 1 + 2 * q);
    eddy_rfft_factors *t = NULL;
    if (p > 0) t = eddy_kernel_state(k, sizeof *t + (uint64_t)numbers * sizeof(float));
    if (!t) return NULL;
    *t = (eddy_rfft_factors){ p, q, half };
    float       *cosines = t->tables, *sines = cosines + half * half;
    float       *re = sines + half * (half - 1), *im = re + half * q;
    const double turn = 2 * 3.14159265358979323846 / (double)n;
    for (int64_t k1 = 0; k1 < half; k1++) {
        for (int64_t j = 0; j < half; j++)
            *cosines++ = (float)cos(turn * (double)(q * (j * k1 % p)));
        for (int64_t j = 1; j < half; j++)
            *sines++ = (float)-sin(turn * (double)(q * (j * k1 % p)));
        for (int64_t j = 0; j < q; j++) {
            *re++ = (float)cos(turn * (double)(j * k1));
            *im++ = (float)-sin(turn * (double)(j * k1));
        }
    }
    return t;
}

/* Columns of the matrices: rows side by side. */
static int64_t width(const eddy_rfft_factors *t, int64_t rows)
{
    return eddy__whole_lines(rows * t->q);
}

uint64_t eddy__rfft_scratch(const eddy_rfft_factors *t, int64_t rows)
{
    return 4 * sizeof(float) * (uint64_t)(t->half * width(t, rows));
}

/* Row 0 of `sum` = x[0]; rows j of `sum` = x[j] + x[p - j] and rows j - 1 of `difference`. */
EDDY_INLINE void fold_all(const eddy_rfft_factors *t, int64_t rows, const float *x, float *sum,
                          float *difference)
{
    const int64_t p = t->p, q = t->q, w = width(t, rows);
    for (int64_t r = 0; r < rows; r++, x += p * q, sum += q, difference += q) {
        memcpy(sum, x, (size_t)q * sizeof *x);
        for (int64_t j = 1; j < t->half; j++) {
            const float *a = x + j * q, *b = x + (p - j) * q;
            float *restrict s = sum + j * w, *restrict d = difference + (j - 1) * w;
            for (int64_t i = 0; i < q; i++) s[i] = a[i] + b[i], d[i] = a[i] - b[i];
        }
    }
}
EDDY_CLONES_TO_AVX2_OF(fold, (const eddy_rfft_factors *t, int64_t rows, const float *x, float *sum,
                              float *difference), (t, rows, x, sum, difference))

/* z = (re + i im) times the powers of w_n, as pairs. */
EDDY_INLINE void turn_all(const eddy_rfft_factors *t, int64_t rows, const float *re,
                          const float *im, float *restrict z)
{
    const int64_t q = t->q, w = width(t, rows);
    const float  *c = t->tables + t->half * (2 * t->half - 1), *s = c + t->half * q;
    for (int64_t k1 = 0; k1 < t->half; k1++, c += q, s += q)
        for (int64_t r = 0; r < rows; r++, z += 2 * q) {
            const float *a = re + k1 * w + r * q, *b = im + k1 * w + r * q;
            for (int64_t i = 0; i < q; i++) {
                z[2 * i] = a[i] * c[i] - b[i] * s[i];
                z[2 * i + 1] = a[i] * s[i] + b[i] * c[i];
            }
        }
}
EDDY_CLONES_TO_AVX2_OF(turn, (const eddy_rfft_factors *t, int64_t rows, const float *re,
                              const float *im, float *z), (t, rows, re, im, z))

/* y[k1 + p k2] = f[k1][k2] for one row, whose parts are `apart` pairs apart. */
static void spread(const eddy_rfft_factors *t, const float *f, int64_t apart, float *y)
{
    const int64_t p = t->p, q = t->q;
    for (int64_t k2 = 0; k2 <= q / 2; k2++) {
        const float *a = f + 2 * k2, *b = f + 2 * (q - k2);
        float       *to = y + 2 * p * k2;
        memcpy(to, a, 2 * sizeof *to);
        for (int64_t k1 = 1; k1 < t->half; k1++) {
            if (2 * k2 < q) memcpy(to + 2 * k1, a + 2 * k1 * apart, 2 * sizeof *to);
            if (k2 == 0) continue;
            to[-2 * k1] = b[2 * k1 * apart];
            to[-2 * k1 + 1] = -b[2 * k1 * apart + 1];
        }
    }
    y[1] = 0;
    if (q % 2 == 0) y[p * q + 1] = 0;
}

bool eddy__rfft_rows(const eddy_rfft_factors *t, int64_t rows, const float *x, float *y,
                     float *scratch)
{
    const int64_t half = t->half, w = width(t, rows), used = rows * t->q, block = half * w;
    float *sum = scratch, *difference = sum + block, *re = difference + block, *im = re + block;
    const float *cosines = t->tables, *sines = cosines + half * half;
    for (int64_t j = 0; j < half; j++) {
        memset(sum + j * w + used, 0, (size_t)(w - used) * sizeof *sum);
        memset(difference + j * w + used, 0, (size_t)(w - used) * sizeof *sum);
    }
    EDDY_BEST_OF(fold)(t, rows, x, sum, difference);
    eddy__panel_run(&(eddy_panel){ half, w, half, cosines, half, 1, sum, w, re, w, false });
    eddy__panel_run(&(eddy_panel){ half, w, half - 1, sines, half - 1, 1, difference, w, im, w,
                                   false });
    EDDY_BEST_OF(turn)(t, rows, re, im, scratch);
    const eddy_fft_job f = { EDDY_FFT_FORWARD, true, 1, (int)(half * rows), { (int)t->q } };
    if (!eddy__fft_run(&f, scratch, re)) return false;
    for (int64_t r = 0; r < rows; r++)
        spread(t, re + 2 * r * t->q, rows * t->q, y + 2 * r * (t->p * t->q / 2 + 1));
    return true;
}
