/* elementwise.c -- elementwise float32 functions compared with a loop that calls the C library:
 * nanoseconds per element, in the first-level cache.
 *
 *   elementwise [0 | 1 | 2]      at most the baseline, AVX2, AVX-512 */
#include "bench/bench.h"
#include "build/gen/table.h"
#include "graph/base/cpu.h"

#include <math.h>

enum { ELEMENTS = 4096, ROUNDS = 200, WARM_UP = 20 };

typedef void (*loop)(float *y, const float *x);

#define LIBM(name, value)                                                       \
    static void name##_libm(float *y, const float *x_)                          \
    {                                                                           \
        for (int i = 0; i < ELEMENTS; i++) {                                    \
            const float x = x_[i];                                              \
            y[i] = (value);                                                     \
        }                                                                       \
    }
LIBM(exp, expf(x))
LIBM(expm1, expm1f(x))
LIBM(tanh, tanhf(x))
LIBM(sigmoid, 1 / (1 + expf(-x)))
LIBM(softplus, x > 13.9f ? x : x < -13.9f ? expf(x) : log1pf(expf(x)))
LIBM(log, logf(x))
LIBM(log1p, log1pf(x))
LIBM(sin, sinf(x))
LIBM(cos, cosf(x))
LIBM(relu, x < 0 ? 0 : x)

static const struct subject {
    const char        *libm_name, *name, *ratio_name;
    const eddy_op_def *op;
    loop               libm;
    double             low, high;
} subjects[] = {
#define SUBJECT(name, low, high) \
    { #name ", C library", #name, #name ", gain", &eddy_op_##name, name##_libm, low, high }
    SUBJECT(exp, -10, 10),
    SUBJECT(expm1, -10, 10),
    SUBJECT(tanh, -5, 5),
    SUBJECT(sigmoid, -10, 10),
    SUBJECT(softplus, -10, 10),
    SUBJECT(log, 0, 100),
    SUBJECT(log1p, -0.99, 100),
    SUBJECT(sin, -10, 10),
    SUBJECT(cos, -10, 10),
    SUBJECT(relu, -10, 10),
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static double per_element(double start) { return 1e9 * (bench_now() - start) / ELEMENTS; }

/* The two alternate, so a busy machine slows both. */
static void measure(bench_table *table, const struct subject *s)
{
    static float         x[ELEMENTS], y[ELEMENTS];
    static bench_samples libm, ours, gain;
    const eddy_type      t = { EDDY_FLOAT32, EDDY_SHAPE(ELEMENTS) };
    const eddy_tile_fn   tile = s->op->tile(&t, &t);
    libm.n = ours.n = gain.n = 0;
    bench_need(tile != NULL, "no inner loop for float32");
    bench_uniform(x, ELEMENTS, 7, s->low, s->high);
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        const double start = bench_now();
        s->libm(y, x);
        const double slow = per_element(start), again = bench_now();
        const void  *in = x;
        tile(ELEMENTS, y, &in, NULL);
        const double quick = per_element(again);
        if (i < 0) continue;
        bench_add(&libm, slow);
        bench_add(&ours, quick);
        bench_add(&gain, slow / quick);
    }
    bench_enter(table, s->libm_name, &libm, "ns/element");
    bench_enter(table, s->name, &ours, "ns/element");
    bench_enter(table, s->ratio_name, &gain, "times");
}

int main(int argc, char **argv)
{
    static bench_table table = { .program = "elementwise" };
    if (argc > 1) eddy__instructions_limit((eddy_instructions)atoi(argv[1]));
    for (int i = 0; i < SUBJECTS; i++) measure(&table, &subjects[i]);
    bench_print(&table);
    return 0;
}
