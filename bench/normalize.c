/* normalize.c -- normalizations, pooling and gelu on one thread: the kernel alone, compared with a
 * pass that copies as many bytes as it must read and write.
 *
 *   normalize [0 | 1 | 2]      at most the baseline, AVX2, AVX-512 */
#include "bench/bench.h"
#include "build/gen/table.h"
#include "graph/kernel.h"
#include "graph/op.h"
#include "graph/base/base.h"
#include "graph/base/cpu.h"
#include "ops/kernels/pooling/pool_windows.h"

#include <string.h>

enum { ROUNDS = 40, WARM_UP = 3, MOST = 5 };

/* The shapes of inputs and outputs; memory passes are counted in tensors of the shape of x. */
typedef struct subject {
    const char        *name, *ratio_name;
    const eddy_op_def *op;
    const void        *attrs;
    int                n_in, n_out;
    eddy_shape         shape[2 * MOST];      /* of inputs, then of outputs */
    double             passes;
} subject;

#define S(...) { (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), { __VA_ARGS__ } }
#define IMAGES S(64, 28, 28, 64)
#define POOLED S(64, 14, 14, 64)
#define ROWS   S(4096, 512)
#define SUBJECT(name) name, name ", of copying"

static const double epsilon = 1e-3;
static const eddy_window_attrs by_two = { .ksize = { NULL, 2, { 2, 2 } },
                                          .strides = { NULL, 2, { 2, 2 } },
                                          .padding = "VALID" };
static const eddy_window_attrs by_three = { .ksize = { NULL, 2, { 3, 3 } },
                                            .strides = { NULL, 2, { 2, 2 } },
                                            .padding = "SAME" };

static const subject subjects[] = {
    { SUBJECT("batch norm"), &eddy_op_fused_batch_norm, &epsilon, 3, 4,
      { IMAGES, S(64), S(64), IMAGES, S(64), S(64), S(64) }, 3 },
    { SUBJECT("batch norm gradient"), &eddy_op_fused_batch_norm_grad, NULL, 5, 3,
      { IMAGES, IMAGES, S(64), S(64), S(64), IMAGES, S(64), S(64) }, 5 },
    { SUBJECT("layer norm"), &eddy_op_layer_norm, &epsilon, 3, 3,
      { ROWS, S(512), S(512), ROWS, S(4096, 1), S(4096, 1) }, 2 },
    { SUBJECT("layer norm gradient"), &eddy_op_layer_norm_grad, NULL, 5, 3,
      { ROWS, ROWS, S(512), S(4096, 1), S(4096, 1), ROWS, S(512), S(512) }, 3 },
    { SUBJECT("max pool 2x2"), &eddy_op_max_pool, &by_two, 1, 1, { IMAGES, POOLED }, 1.25 },
    { SUBJECT("max pool 2x2 gradient"), &eddy_op_max_pool_grad, &by_two, 3, 1,
      { IMAGES, POOLED, POOLED, IMAGES }, 2.25 },
    { SUBJECT("max pool 3x3"), &eddy_op_max_pool, &by_three, 1, 1, { IMAGES, POOLED }, 1.25 },
    { SUBJECT("max pool 3x3 gradient"), &eddy_op_max_pool_grad, &by_three, 3, 1,
      { IMAGES, POOLED, POOLED, IMAGES }, 2.25 },
    { SUBJECT("average pool 2x2"), &eddy_op_avg_pool, &by_two, 1, 1, { IMAGES, POOLED }, 1.25 },
    { SUBJECT("average pool 2x2 gradient"), &eddy_op_avg_pool_grad, &by_two, 2, 1,
      { IMAGES, POOLED, IMAGES }, 1.25 },
    { SUBJECT("gelu"), &eddy_op_gelu, NULL, 1, 1, { ROWS, ROWS }, 2 },
    { SUBJECT("gelu gradient"), &eddy_op_gelu_grad, NULL, 2, 1, { ROWS, ROWS, ROWS }, 3 },
    { SUBJECT("gelu, tanh"), &eddy_op_gelu_tanh, NULL, 1, 1, { ROWS, ROWS }, 2 },
    { SUBJECT("gelu, tanh, gradient"), &eddy_op_gelu_tanh_grad, NULL, 2, 1, { ROWS, ROWS, ROWS },
      3 },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static void run(const subject *s, eddy_kernel *k)
{
    if (s->op->kernel) {
        bench_need(s->op->kernel(k) == EDDY_OK, "a kernel failed");
        return;
    }
    const void *in[] = { k->in[0]->data, k->n_in > 1 ? k->in[1]->data : NULL };
    const eddy_type types[] = { k->in[0]->type, k->in[0]->type };
    s->op->tile(types, types)(k->in[0]->count, k->out[0]->data, in, NULL);
}

/* The two alternate, so that a busy machine slows both. */
static void measure(bench_table *table, const subject *s)
{
    static bench_samples kernel, gain;
    eddy_buffer  buffer[2 * MOST], *list[2 * MOST];
    const size_t bytes = (size_t)eddy_shape_count(s->shape[0]) * sizeof(float);
    const size_t copied = (size_t)((double)bytes * s->passes / 2);
    char        *from = calloc(copied, 1), *to = malloc(copied);
    bench_need(from && to, "no memory");
    memset(to, 1, copied);
    for (int i = 0; i < s->n_in + s->n_out; i++) {
        const int64_t n = eddy_shape_count(s->shape[i]);
        buffer[i] = (eddy_buffer){ aligned_alloc(64, (size_t)(n * 4 + 63) / 64 * 64), n,
                                   { EDDY_FLOAT32, s->shape[i] }, NULL };
        bench_need(buffer[i].data != NULL, "no memory");
        bench_uniform(buffer[i].data, n, (uint64_t)i, 0.5, 2);
        list[i] = &buffer[i];
    }
    eddy_arena       arena = { .allocator = &eddy__libc };
    eddy_kernel_call call = { .arena = &arena };
    eddy_kernel k = { .op = s->op, .impl = &call, .attrs = s->attrs, .in = list,
                      .out = list + s->n_in, .n_in = s->n_in, .n_out = s->n_out, .threads = 1 };
    bench_need(eddy__kernel_prepare(&k, s->op->prepare) == EDDY_OK, "a kernel is not prepared");
    k.scratch = aligned_alloc(64, (k.scratch_size + 64) / 64 * 64);
    bench_need(k.scratch != NULL, "no memory");
    kernel.n = gain.n = 0;
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        const double start = bench_now();
        run(s, &k);
        const double middle = bench_now();
        memcpy(to, from, copied);
        const double end = bench_now();
        if (i < 0) continue;
        bench_add(&kernel, 1e3 * (middle - start));
        bench_add(&gain, (end - middle) / (middle - start));
    }
    bench_enter(table, s->name, &kernel, "ms");
    bench_enter(table, s->ratio_name, &gain, "times");
    for (int i = 0; i < s->n_in + s->n_out; i++) free(buffer[i].data);
    free(k.scratch);
    eddy__arena_free(&arena);
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    static bench_table table = { .program = "normalize" };
    if (argc > 1) eddy__instructions_limit((eddy_instructions)atoi(argv[1]));
    for (int i = 0; i < SUBJECTS; i++) measure(&table, &subjects[i]);
    bench_print(&table);
    return 0;
}
