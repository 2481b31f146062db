/* each_matrix.c -- the loop over the matrices of a batch.
 *
 * LAPACK's eigenvalues, singular values and Schur forms are single calls that may take seconds.
 * The function of an operation that needs them runs for a large matrix as an interruptible call, on
 * copies of its operands, so that a run that must end need not wait for it. */
#include "graph/base/interruptible.h"
#include "graph/base/thread_pool.h"
#include "graph/kernel.h"
#include "ops/kernels/libraries/blas_threads.h"
#include "ops/linear/linear.h"

#include <string.h>

static uint64_t rounded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/* One matrix runs in the thread of the run. */
static uint64_t workers_of(const eddy_kernel *k, int64_t count)
{
    return (uint64_t)(k->threads > 1 && count != 1 ? k->threads : 1);
}

void eddy__matrix_scratch(eddy_kernel *k, int64_t bytes)
{
    const uint64_t each = k->in[0]->count > 0 ? rounded((uint64_t)bytes) : 0;
    k->scratch_size = each * workers_of(k, 0);
}

typedef struct matrix_loop {
    const eddy_kernel *k;
    eddy_matrix_fn    *fn;
    int64_t            count;
    uint64_t           each;          /* bytes of scratch memory */
    _Atomic int64_t    failed;        /* index of the first failure; count if none */
    atomic_bool        no_memory;
} matrix_loop;

static void note_failure(matrix_loop *l, int64_t i)
{
    int64_t first = atomic_load(&l->failed);
    while (i < first && !atomic_compare_exchange_weak(&l->failed, &first, i)) continue;
}

/* A piece ends at its first failure. */
static void matrix_piece(void *arg, int64_t from, int64_t to, int worker)
{
    matrix_loop *l = arg;
    char *scratch = (char *)l->k->scratch + (size_t)worker * l->each;
    for (int64_t i = from; i < to; i++) {
        if (l->fn(l->k, i, scratch)) continue;
        note_failure(l, i);
        return;
    }
}

/* Returns the index of the first failure or -1. */
static int64_t run_loop(matrix_loop *l, double flops, eddy_parallel_fn body)
{
    const double  worth = 40000;             /* flops in 20 microseconds, with the cost of calls */
    const int64_t grain = flops >= worth ? 1 : (int64_t)(worth / (flops + 500)) + 1;
    l->each = l->k->scratch_size / workers_of(l->k, l->count);
    atomic_init(&l->failed, l->count);
    atomic_init(&l->no_memory, false);
    if (l->count == 1) body(l, 0, 1, 0);
    else if (l->count > 0) eddy__parallel_or_stop(l->k, l->count, grain, body, l);
    const int64_t first = atomic_load(&l->failed);
    return first < l->count ? first : -1;
}

int64_t eddy__each_matrix(const eddy_kernel *k, int64_t count, double flops, eddy_matrix_fn *fn)
{
    matrix_loop l = { .k = k, .fn = fn, .count = count };
    return run_loop(&l, flops, matrix_piece);
}

/* ---------------------------------------------------------- interruptible -- */

enum { OPERANDS = 6 };                    /* inputs and outputs */

/* Above it, a matrix takes some milliseconds, so that its copies and its thread, which take a
 * hundred microseconds, do not matter. */
static bool is_long(double flops) { return flops > 5e7; }

/* A matrix, with all that its function needs. */
typedef struct matrix_call {
    eddy_call_block block;
    eddy_matrix_fn *fn;
    eddy_kernel     k;
    eddy_stop       stop;
    eddy_buffer     operand[OPERANDS], *operands[OPERANDS];
    char           *scratch;
    bool            good;                 /* the result of fn */
} matrix_call;

static uint64_t call_bytes(void) { return rounded(sizeof(matrix_call)); }

static const eddy_buffer *operand_of(const eddy_kernel *k, int i)
{
    return i < k->n_in ? k->in[i] : k->out[i - k->n_in];
}

/* Bytes of one matrix of a batch. */
static uint64_t part_of(const eddy_buffer *b, int64_t count)
{
    return count > 0 ? (uint64_t)(b->count / count) * eddy_dtype_size(b->type.dtype) : 0;
}

/* The struct, the attributes and the operands. */
static uint64_t head_of(const eddy_kernel *k, int64_t count)
{
    uint64_t bytes = call_bytes() + rounded(k->op->attrs_size);
    for (int i = 0; i < k->n_in + k->n_out; i++) bytes += rounded(part_of(operand_of(k, i), count));
    return bytes;
}

void eddy__long_matrix_scratch(eddy_kernel *k, int64_t bytes, int64_t count, double flops)
{
    const uint64_t head = is_long(flops) ? head_of(k, count) : 0;
    eddy__matrix_scratch(k, bytes + (int64_t)head);
    if (count == 1) k->scratch_size /= workers_of(k, 0);
}

static void run_call(void *block)
{
    matrix_call *c = block;
    eddy__blas_begin();
    c->good = c->fn(&c->k, 0, c->scratch);
    eddy__blas_end();
}

/* The plan counts this memory, too: as scratch memory, which stays untouched. */
static matrix_call *new_call(const matrix_loop *l)
{
    const eddy_kernel      *k = l->k;
    const eddy_kernel_call *own = k->impl;
    matrix_call            *c = eddy__call_block(own->arena->allocator, k->stop->requests,
                                                       l->each);
    if (!c) return NULL;
    *c = (matrix_call){ .block = c->block, .fn = l->fn, .k = *k, .stop = *k->stop };
    char *at = (char *)c + call_bytes();
    if (k->op->attrs_size > 0) memcpy(at, k->attrs, k->op->attrs_size);
    c->k.attrs = at;
    at += rounded(k->op->attrs_size);
    for (int i = 0; i < k->n_in + k->n_out; i++) {
        c->operands[i] = &c->operand[i];
        c->operand[i] = *operand_of(k, i);
        c->operand[i].data = at;
        at += rounded(part_of(operand_of(k, i), l->count));
    }
    c->scratch = at;
    c->k.in = c->operands;
    c->k.out = c->operands + k->n_in;
    c->k.stop = &c->stop;
    c->k.impl = c->k.state = c->k.scratch = NULL;
    if (l->count > 1) c->k.threads = 1;          /* as in a piece of a parallel loop */
    return c;
}

/* Copies the inputs to the call, or the outputs back. */
static void copy_operands(const matrix_loop *l, const matrix_call *c, int64_t i, bool back)
{
    const eddy_kernel *k = l->k;
    for (int j = back ? k->n_in : 0; j < (back ? k->n_in + k->n_out : k->n_in); j++) {
        const uint64_t bytes = part_of(operand_of(k, j), l->count);
        char *own = c->operand[j].data, *other = operand_of(k, j)->data;
        if (bytes == 0) continue;
        other += (uint64_t)i * bytes;
        eddy__copy_or_stop(k->stop, back ? other : own, back ? own : other, (size_t)bytes);
    }
}

/* False if it failed; true, too, if the run must end. */
static bool run_apart(matrix_loop *l, int64_t i)
{
    matrix_call *c = new_call(l);
    if (!c) {
        atomic_store(&l->no_memory, true);
        return false;
    }
    copy_operands(l, c, i, false);
    if (!eddy__interruptible(l->k->stop, run_call, c)) return true;
    copy_operands(l, c, i, true);
    const bool good = c->good;
    eddy__call_block_give(c);
    return good;
}

static void long_piece(void *arg, int64_t from, int64_t to, int worker)
{
    matrix_loop *l = arg;
    (void)worker;
    for (int64_t i = from; i < to && !eddy__stopped(l->k->stop); i++) {
        if (run_apart(l, i)) continue;
        note_failure(l, i);
        return;
    }
}

eddy_status eddy__each_long_matrix(eddy_kernel *k, int64_t count, double flops, eddy_matrix_fn *fn,
                                   int64_t *failed)
{
    const bool  apart = is_long(flops) && k->stop && k->stop->requests;
    matrix_loop l = { .k = k, .fn = fn, .count = count };
    const int64_t first = run_loop(&l, flops, apart ? long_piece : matrix_piece);
    if (failed) *failed = first;
    if (!atomic_load(&l.no_memory)) return EDDY_OK;
    return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory (%llu bytes)",
                            (unsigned long long)l.each);
}
