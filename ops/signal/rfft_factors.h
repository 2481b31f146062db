/* rfft_factors.h -- Fourier transforms of rows of real float32 numbers whose count n = p q has an
 * odd factor p: sums of p numbers as products of small matrices, then complex transforms of q.
 *
 * FFTW has neither vectors for real transforms of such sizes nor a fast sum for large primes. */
#ifndef EDDY_OPS_SIGNAL_RFFT_FACTORS_H
#define EDDY_OPS_SIGNAL_RFFT_FACTORS_H

#include "graph/kernel.h"

typedef struct eddy_rfft_factors {
    int64_t p, q, half;          /* half: the frequencies of p real numbers, (p + 1) / 2 */
    float   tables[];            /* of half columns, half - 1 columns and, twice, q columns */
} eddy_rfft_factors;

/* The factor p for n; 0 if FFTW's transform is as fast. */
int64_t eddy__rfft_factor(int64_t n);
/* The tables for n, in k->state; NULL if there is no factor or no memory. Only in prepare. */
const eddy_rfft_factors *eddy__rfft_prepare(eddy_kernel *k, int64_t n);
/* Bytes of scratch memory for a number of rows. */
uint64_t eddy__rfft_scratch(const eddy_rfft_factors *t, int64_t rows);
/* y = the first n / 2 + 1 frequencies of each row of x; false if FFTW is out of memory. */
bool eddy__rfft_rows(const eddy_rfft_factors *t, int64_t rows, const float *x, float *y,
                     float *scratch);

#endif
