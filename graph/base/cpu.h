/* cpu.h -- inner loops compiled for several instruction sets, one of which is chosen when a plan
 * is made; private to ops/.
 *
 *   static eddy_status f(int64_t n, void *y, const void *const *x, const void *attrs) { ... }
 *   EDDY_CLONES(f)
 *   ... return EDDY_BEST(f);
 *
 * The result of f for an element does not depend on its neighbors, and floating-point
 * contraction is off (-ffp-contract=off), so all clones compute the same bits. */
#ifndef EDDY_GRAPH_BASE_CPU_H
#define EDDY_GRAPH_BASE_CPU_H

#include "graph/op.h"

typedef enum eddy_instructions { EDDY_BASELINE, EDDY_AVX2, EDDY_AVX512 } eddy_instructions;

/* Number of instruction sets with compiled loops. */
#if defined(__x86_64__)
enum { EDDY_SETS = 3 };
#else
enum { EDDY_SETS = 1 };
#endif

/* The best instruction set that this processor has and eddy_limit_instructions allows. */
eddy_instructions eddy__instructions_used(void);
/* The same limit by its number, for tests and measurements. */
void eddy__instructions_limit(eddy_instructions most);
/* False if the limit is that of EDDY_CPU and this has another value; the baseline is used then. */
bool eddy__instructions_are_known(void);

/* A function that must end up inside the loop that calls it. */
#define EDDY_INLINE static inline __attribute__((always_inline))

/* For other signatures: of f_all, which must be EDDY_INLINE,
 *
 *   EDDY_CLONES_OF(f, (int64_t n, float *y), (n, y))
 *   ... EDDY_BEST_OF(f)(n, y); */
#define EDDY_CLONE_OF(fn, suffix, target, params, args)                          \
    target static void fn##suffix params { fn##_all args; }

/* The same where no instruction set makes f faster. */
#define EDDY_BASE_OF(fn, params, args) EDDY_CLONE_OF(fn, _base, , params, args)

/* Iterations are independent, also when y is one of the operands. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"     /* calls of libm are not changed */
#define EDDY_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EDDY_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* A loop over a fixed number of lanes becomes vectors if it is not unrolled before that. */
#if defined(__clang__)
#define EDDY_OVER_LANES
#else
#define EDDY_OVER_LANES _Pragma("GCC unroll 1")
#endif

#if defined(__x86_64__)
#define EDDY_TARGET_AVX2   __attribute__((target("avx2")))
#define EDDY_TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define EDDY_CLONES_OF(fn, params, args)                                         \
    EDDY_CLONE_OF(fn, _base, , params, args)                                     \
    EDDY_CLONE_OF(fn, _avx2, EDDY_TARGET_AVX2, params, args)                     \
    EDDY_CLONE_OF(fn, _avx512, EDDY_TARGET_AVX512, params, args)
/* The same without loops for AVX-512, or for one set only, where they are not worth their
 * compilation. */
#define EDDY_CLONES_TO_AVX2_OF(fn, params, args)                                 \
    EDDY_CLONE_OF(fn, _base, , params, args)                                     \
    EDDY_CLONE_OF(fn, _avx2, EDDY_TARGET_AVX2, params, args)                     \
    EDDY_SAME_CLONE(fn, _avx512, _avx2, params)
#define EDDY_NO_CLONES_OF(fn, params, args)                                      \
    EDDY_CLONE_OF(fn, _base, , params, args)                                     \
    EDDY_SAME_CLONE(fn, _avx2, _base, params)                                    \
    EDDY_SAME_CLONE(fn, _avx512, _base, params)
#define EDDY_SAME_CLONE(fn, suffix, other, params)                               \
    __attribute__((unused)) static void (*const fn##suffix)params = fn##other;
#define EDDY_BEST_OF(fn) EDDY_BEST_CLONE(fn)
#define EDDY_BEST_CLONE(fn)                                                \
    ((__typeof__(&fn##_base)[]){ fn##_base, fn##_avx2, fn##_avx512 })[eddy__instructions_used()]
#define EDDY_CLONE(fn, suffix, instructions)                                    \
    __attribute__((target(instructions), flatten))                              \
    static eddy_status fn##suffix(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        return fn(n, y, x, attrs);                                              \
    }
#define EDDY_CLONES(fn)                                                         \
    EDDY_CLONE(fn, _avx2, "avx2")                                               \
    EDDY_CLONE(fn, _avx512, "avx512f,avx512vl,avx512dq,avx512bw")
#define EDDY_BEST(fn)                                                           \
    ((const eddy_tile_fn[]){ fn, fn##_avx2, fn##_avx512 })[eddy__instructions_used()]
/* Instead of EDDY_CLONES where wider vectors gain nothing. */
#define EDDY_NO_CLONES(fn) static const eddy_tile_fn fn##_avx2 = fn, fn##_avx512 = fn;
#else
#define EDDY_TARGET_AVX2
#define EDDY_CLONES_OF EDDY_BASE_OF
#define EDDY_CLONES_TO_AVX2_OF EDDY_BASE_OF
#define EDDY_NO_CLONES_OF EDDY_BASE_OF
#define EDDY_BEST_OF(fn) EDDY_BEST_CLONE(fn)
#define EDDY_BEST_CLONE(fn) (fn##_base)
#define EDDY_CLONES(fn)
#define EDDY_NO_CLONES(fn)
#define EDDY_BEST(fn) (fn)
#endif

#endif
