/* philox.h -- counter-based random numbers: a function of a counter, without a state.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011) enciphers a 128-bit counter under a 64-bit key. The counter here is (block, step):
 * element i of a tensor reads a block that depends only on i, so values do not depend on which
 * thread computes them, or when. The upper 16 bits of `block` number the attempts of rejection
 * sampling; no tensor has 2^48 elements, so the streams of different elements never meet. */
#ifndef EDDY_OPS_KERNELS_RANDOM_PHILOX_H
#define EDDY_OPS_KERNELS_RANDOM_PHILOX_H

#include "graph/base/element_types.h"
#include "graph/op.h"

#include <string.h>

typedef struct eddy_philox_block {
    uint32_t word[4];
} eddy_philox_block;

/* The random numbers of one operation in one run; step is eddy_kernel.step. */
typedef struct eddy_stream {
    uint64_t key, step;
} eddy_stream;

/* The cipher itself: words 0 and 1 of the counter are `low`, 2 and 3 `high`. */
eddy_philox_block eddy__philox(uint64_t key, uint64_t low, uint64_t high);

/* Four words for each of n blocks from `first` on. */
void eddy__philox_words(eddy_stream s, uint64_t first, int64_t n, uint32_t *out);

/* A key from up to three numbers; it depends on each of their bits. */
uint64_t eddy__philox_key(uint64_t a, uint64_t b, uint64_t c);

/* Uniform in [0,1), multiples of 2^-24 and of 2^-53. */
static inline float eddy__unit_f32(uint32_t w)
{
    return (float)(int32_t)(w >> 8) * 0x1p-24f;
}
/* The low bits of 2^52 + w hold w, and those of 2^84 + 2^32 w, too: instruction sets before AVX-512
 * do not convert integers of 64 bits. */
static inline double eddy__with_low_bits(double of, uint32_t w)
{
    uint64_t bits;
    memcpy(&bits, &of, sizeof bits);
    bits |= w;
    memcpy(&of, &bits, sizeof bits);
    return of;
}
static inline double eddy__double_of_word(uint32_t w)
{
    return eddy__with_low_bits(0x1p52, w) - 0x1p52;
}
static inline double eddy__unit_f64(uint32_t low, uint32_t high)
{
    const double upper = eddy__with_low_bits(0x1p84, high >> 11) - 0x1p84;
    return (upper + eddy__double_of_word(high << 21 | low >> 11)) * 0x1p-53;
}

/* n standard normal numbers, n even, from n words. */
void eddy__normals_of_words(int64_t n, const uint32_t *w, double *z);

/* Elements first .. first + n - 1 of a tensor; `first` is a multiple of 4. */

/* Uniform in [low, high), an interval that must be finite and not empty in the type of y. */
typedef struct eddy_interval {
    double low, high;
} eddy_interval;
void eddy__fill_uniform_f32(eddy_stream s, int64_t first, int64_t n, eddy_interval in, float *y);
void eddy__fill_uniform_f64(eddy_stream s, int64_t first, int64_t n, eddy_interval in, double *y);

/* mean + stddev z, z normal; if truncated, z is drawn again until |z| < 2. */
typedef struct eddy_gaussian {
    double mean, stddev;
    int    truncated;
} eddy_gaussian;
void eddy__fill_normal_f32(eddy_stream s, int64_t first, int64_t n, eddy_gaussian d, float *y);
void eddy__fill_normal_f64(eddy_stream s, int64_t first, int64_t n, eddy_gaussian d, double *y);

/* In [low, low + range), range >= 1.  The probability of a value is 1/range to
 * within a factor 1 +- 2^-64 for int64, 1 +- 2^-32 for the others. */
#define EDDY_FILL_INTEGER(suffix, ...)                                          \
    void eddy__fill_integer_##suffix(eddy_stream s, int64_t first, int64_t n, int64_t low, \
                                     uint64_t range, void *y);
FOR_INTEGERS(EDDY_FILL_INTEGER, 0)
#undef EDDY_FILL_INTEGER

/* One integer in [0, range) for element i, with the same uniformity as those of int64. */
uint64_t eddy__integer_at(eddy_stream s, int64_t i, uint64_t range);
/* The same of elements [first, first + n), each i in [0, i]. */
void eddy__integers_up_to(eddy_stream s, int64_t first, int64_t n, int64_t *y);

/* ------------------------------------------------------- for kernels -- */

/* Separates the streams of different distributions with equal seeds. */
typedef enum eddy_distribution {
    EDDY_UNIFORM = 1, EDDY_INTEGER, EDDY_NORMAL, EDDY_TRUNCATED, EDDY_SHUFFLED, EDDY_ORTHOGONAL,
    EDDY_GAMMA, EDDY_POISSON, EDDY_BINOMIAL, EDDY_CATEGORICAL
} eddy_distribution;

/* The random numbers of this node in this run; `seed` 0 selects the node's own seed, which never
 * equals a given one. */
eddy_stream eddy__stream_of(const eddy_kernel *k, int64_t seed, eddy_distribution d);

#endif
