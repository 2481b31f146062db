/* kernels.c -- operations that reduce or move elements: microseconds, and the ratio to a copy of as
 * many bytes.
 *
 *   kernels [0 | 1 | 2 [THREADS]]      at most the baseline, AVX2, AVX-512; 1 thread */
#include "bench/bench.h"
#include "graph/base/cpu.h"

#include <string.h>

typedef struct subject {
    const char *name;
    int64_t     x[6];               /* the dimensions of the first */
    int64_t     ids, limit;         /* a second input of this many integers below limit */
    eddy_tensor (*build)(eddy_tensor x, eddy_tensor ids);
} subject;

#define S EDDY_SHAPE
#define BUILD(name, value)                                                      \
    static eddy_tensor name(eddy_tensor x, eddy_tensor ids)                     \
    {                                                                           \
        (void)x; (void)ids;                                                        \
        return value;                                                           \
    }

/* ---------------------------------------------------------------- subjects -- */

BUILD(sum, eddy_sum(x))
BUILD(mean, eddy_mean(x))
BUILD(max, eddy_max(x))
BUILD(sum_first, eddy_sum(x, .axes = EDDY_AXES(0)))
BUILD(sum_second, eddy_sum(x, .axes = EDDY_AXES(1)))
BUILD(sum_last, eddy_sum(x, .axes = EDDY_AXES(-1)))
BUILD(max_last, eddy_max(x, .axes = EDDY_AXES(-1)))
BUILD(sum_ends, eddy_sum(x, .axes = EDDY_AXES(0, 2)))
BUILD(argmax, eddy_argmax(x, 1))
BUILD(softmax, eddy_softmax(x))
BUILD(log_softmax, eddy_log_softmax(x))
BUILD(sparse, eddy_sparse_softmax_cross_entropy(ids, x))
BUILD(dense, eddy_softmax_cross_entropy(eddy_identity(x), x))
BUILD(logistic, eddy_sigmoid_cross_entropy(x, x))
BUILD(flip, eddy_transpose(x))
BUILD(flip_pairs, eddy_transpose(x, EDDY_DIMS(0, 2, 1)))
BUILD(heads, eddy_transpose(x, EDDY_DIMS(2, 0, 3, 1, 4)))
BUILD(channels, eddy_transpose(x, EDDY_DIMS(0, 2, 3, 1)))
BUILD(concat, eddy_concat(EDDY_LIST(x, x, x, x), 1))
BUILD(split, eddy_split(x, 4, 1))
BUILD(unstack, eddy_unstack(x))
BUILD(stack, eddy_stack(EDDY_LIST(x, x, x, x, x, x, x, x)))
BUILD(slice, eddy_slice(x, EDDY_DIMS(0, 64), EDDY_DIMS(512, 512)))
BUILD(pad, eddy_pad(x, .before = EDDY_DIMS(0, 0, 1, 1), .after = EDDY_DIMS(0, 0, 1, 1)))
BUILD(tile, eddy_tile(x, EDDY_DIMS(8, 4)))
BUILD(broadcast, eddy_broadcast_to(x, S(1024, 512)))
BUILD(gather, eddy_gather(x, ids))
BUILD(segment, eddy_unsorted_segment_sum(x, ids, 1000))
BUILD(one_hot, eddy_one_hot(ids, 128))
BUILD(uniform, eddy_random_uniform(x.graph, eddy_shape_of(x)))
BUILD(normal, eddy_random_normal(x.graph, eddy_shape_of(x)))
BUILD(dropout, eddy_dropout(x, 0.5))

static const subject reductions[] = {
    { "sum [65536]", { 65536 }, 0, 0, sum },
    { "sum [4194304]", { 4194304 }, 0, 0, sum },
    { "mean [65536]", { 65536 }, 0, 0, mean },
    { "max [65536]", { 65536 }, 0, 0, max },
    { "sum [128,512] to [512]", { 128, 512 }, 0, 0, sum_first },
    { "sum [12544,64] to [64]", { 12544, 64 }, 0, 0, sum_first },
    { "sum [128,10] to [10]", { 128, 10 }, 0, 0, sum_first },
    { "sum [1024,65] to [1024]", { 1024, 65 }, 0, 0, sum_last },
    { "sum [128,10] to [128]", { 128, 10 }, 0, 0, sum_last },
    { "sum [4096,128] to [4096]", { 4096, 128 }, 0, 0, sum_last },
    { "max [4096,128] to [4096]", { 4096, 128 }, 0, 0, max_last },
    { "sum [64,100,64] to [64,64]", { 64, 100, 64 }, 0, 0, sum_second },
    { "sum [32,64,196] to [64]", { 32, 64, 196 }, 0, 0, sum_ends },
    { "argmax [1024,65]", { 1024, 65 }, 0, 0, argmax },
    { 0 },
};

static const subject rows[] = {
    { "softmax [128,10]", { 128, 10 }, 0, 0, softmax },
    { "softmax [1024,65]", { 1024, 65 }, 0, 0, softmax },
    { "softmax [4096,128]", { 4096, 128 }, 0, 0, softmax },
    { "log_softmax [1024,65]", { 1024, 65 }, 0, 0, log_softmax },
    { "sparse cross entropy [128,10]", { 128, 10 }, 128, 10, sparse },
    { "sparse cross entropy [2048,65]", { 2048, 65 }, 2048, 65, sparse },
    { "dense cross entropy [2048,65]", { 2048, 65 }, 0, 0, dense },
    { "sigmoid cross entropy [65536]", { 65536 }, 0, 0, logistic },
    { 0 },
};

static const subject moves[] = {
    { "transpose [512,512]", { 512, 512 }, 0, 0, flip },
    { "transpose [2048,1000]", { 2048, 1000 }, 0, 0, flip },
    { "transpose [64,65,33] to [64,33,65]", { 64, 65, 33 }, 0, 0, flip_pairs },
    { "transpose [8,128,3,4,32] to [3,8,4,128,32]", { 8, 128, 3, 4, 32 }, 0, 0, heads },
    { "transpose [32,64,14,14] to [32,14,14,64]", { 32, 64, 14, 14 }, 0, 0, channels },
    { "concat 4 x [32,256]", { 32, 256 }, 0, 0, concat },
    { "split [32,1024] in 4", { 32, 1024 }, 0, 0, split },
    { "unstack [64,32,1024]", { 64, 32, 1024 }, 0, 0, unstack },
    { "stack 8 x [32,256]", { 32, 256 }, 0, 0, stack },
    { "slice [512,1024] to [512,512]", { 512, 1024 }, 0, 0, slice },
    { "pad [32,16,14,14] by 1", { 32, 16, 14, 14 }, 0, 0, pad },
    { "tile [64,65] to [512,260]", { 64, 65 }, 0, 0, tile },
    { "broadcast [512] to [1024,512]", { 512 }, 0, 0, broadcast },
    { "gather 2048 of [1000,128]", { 1000, 128 }, 2048, 1000, gather },
    { "segment sum [2048,128] to [1000,128]", { 2048, 128 }, 2048, 1000, segment },
    { "one_hot [2048] to [2048,128]", { 1 }, 2048, 128, one_hot },
    { 0 },
};

static const subject random_numbers[] = {
    { "uniform [65536]", { 65536 }, 0, 0, uniform },
    { "normal [65536]", { 65536 }, 0, 0, normal },
    { "dropout [65536]", { 65536 }, 0, 0, dropout },
    { 0 },
};

/* ------------------------------------------------------------- measurement -- */

/* A graph that computes y and returns only its first element. */
typedef struct trial {
    eddy_graph    *graph;
    eddy_session  *session;
    eddy_callable *run, *empty;
    eddy_array    *in[2], *out[1];
    int64_t        bytes;
} trial;

static eddy_array *floats(eddy_shape s)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    bench_need(a != NULL, "out of memory");
    bench_uniform(eddy_array_data(a), eddy_array_count(a), 3, 0, 1);
    return a;
}

static eddy_array *integers(int64_t n, int64_t limit)
{
    eddy_array *a = eddy_array_new(EDDY_INT32, S(n));
    bench_need(a != NULL, "out of memory");
    int32_t *at = eddy_array_data(a);
    for (int64_t i = 0; i < n; i++)
        at[i] = (int32_t)(bench_word(5, (uint64_t)i) % (uint64_t)limit);
    return a;
}

static eddy_tensor first_of(eddy_tensor t)
{
    const int rank = eddy_shape_of(t).rank;
    eddy_dims begin = { .count = rank > 0 ? rank : -1 }, size = begin;
    for (int i = 0; i < rank; i++) size.at[i] = 1;
    return rank > 0 ? eddy_slice(t, begin, size) : t;
}

static int64_t bytes_of(eddy_tensor t)
{
    const int64_t n = eddy_shape_count(eddy_shape_of(t)) * eddy_outputs_of(t);
    return n * (int64_t)eddy_dtype_size(eddy_dtype_of(t));
}

static eddy_shape shape_of(const subject *s)
{
    eddy_shape x = { .rank = 0 };
    for (; s->x[x.rank] > 0; x.rank++) x.dim[x.rank] = s->x[x.rank];
    return x;
}

static int threads = 1;

static trial trial_of(const subject *s)
{
    trial t = { .graph = eddy_graph_new() };
    const int64_t n = s->ids > 0 ? s->ids : 1;
    const eddy_tensor x = eddy_placeholder(t.graph, "x", EDDY_FLOAT32, shape_of(s));
    const eddy_tensor ids = eddy_placeholder(t.graph, "ids", EDDY_INT32, S(n));
    const eddy_tensor y = s->build(x, ids);
    t.in[0] = floats(shape_of(s));
    t.in[1] = integers(n, s->limit > 0 ? s->limit : 1);
    t.bytes = bytes_of(x) + bytes_of(y);
    t.session = eddy_session_new(t.graph, .threads = threads);
    t.run = eddy_callable_new(t.session, EDDY_LIST(x, ids), EDDY_LIST(first_of(y)));
    t.empty = eddy_callable_new(t.session, EDDY_LIST(x, ids), EDDY_LIST(first_of(x)));
    bench_need(t.run && t.empty, eddy_graph_message(t.graph));
    return t;
}

static void trial_free(trial *t)
{
    for (int i = 0; i < 2; i++) eddy_array_free(t->in[i]);
    eddy_array_free(t->out[0]);
    eddy_session_free(t->session);
    eddy_graph_free(t->graph);
}

static double seconds_of(trial *t, eddy_callable *c, int times)
{
    const double start = bench_now();
    for (int i = 0; i < times; i++)
        if (eddy_callable_run(c, (const eddy_array *const *)t->in, t->out) != EDDY_OK)
            bench_need(false, eddy_session_message(t->session));
    return (bench_now() - start) / times;
}

static double seconds_of_copy(char *to, const char *from, size_t n, int times)
{
    const double start = bench_now();
    for (int i = 0; i < times; i++) {
        memcpy(to, from, n);
        __asm__ volatile("" ::: "memory");
    }
    return (bench_now() - start) / times;
}

/* The two alternate, so that a busy machine slows both. */
static void measure(bench_table *table, const subject *s)
{
    enum { ROUNDS = 60, WARM_UP = 5 };
    static bench_samples ratio, time;
    trial        t = trial_of(s);
    const size_t half = (size_t)(t.bytes / 2);
    char        *from = calloc(1, half), *to = calloc(1, half);
    const int    times = t.bytes > 4000000 ? 1 : (int)(4000000 / t.bytes);
    ratio.n = time.n = 0;
    bench_need(from && to, "out of memory");
    for (int i = -WARM_UP; i < ROUNDS; i++) {
        const double around = seconds_of(&t, t.empty, times < 100 ? times : 100);
        const double op = seconds_of(&t, t.run, times < 100 ? times : 100) - around;
        const double copy = seconds_of_copy(to, from, half, times);
        if (i < 0) continue;
        bench_add(&ratio, op / copy);
        bench_add(&time, 1e6 * op);
    }
    bench_enter(table, s->name, &time, "us");
    bench_enter(table, "  beside a copy", &ratio, "times");
    free(from);
    free(to);
    trial_free(&t);
}

static void family(const char *name, const subject *s)
{
    bench_table *table = calloc(1, sizeof *table);
    bench_need(table != NULL, "out of memory");
    table->program = name;
    for (; s->name; s++) measure(table, s);
    bench_print(table);
    free(table);
}

int main(int argc, char **argv)
{
    if (argc > 1) eddy__instructions_limit((eddy_instructions)atoi(argv[1]));
    if (argc > 2) threads = atoi(argv[2]);
    family("kernels, reductions", reductions);
    family("kernels, rows", rows);
    family("kernels, moves", moves);
    family("kernels, random", random_numbers);
    return 0;
}
