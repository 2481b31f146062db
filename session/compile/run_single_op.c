/* run_single_op.c -- one operation executed while a plan is compiled: constants folded, and shapes
 * that data decides. */
#include "session/compile/numerics.h"
#include "graph/base/interruptible.h"
#include "session/compile/widen.h"
#include "ops/kernels/elementwise/elementwise.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/kernels/libraries/blas_threads.h"

static bool run(eddy_plan *p, const eddy_graph *g, const eddy_node *node, eddy_buffer *buffers,
                uint64_t step, eddy_error *error)
{
    const int     n = node->n_inputs, m = node->n_outputs;
    instruction  *i = eddy__arena_alloc(&p->arena, sizeof *i);
    eddy_buffer **at = eddy__arena_alloc(&p->arena, (size_t)(n + m) * sizeof *at);
    if (!i || !at)
        return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                               node->name);
    for (int k = 0; k < n + m; k++) at[k] = &buffers[k];
    *i = (instruction){ .call = { .node = node, .arena = &p->arena, .error = &p->error },
                        .resizes = -1 };
    i->kernel = (eddy_kernel){ .op = node->op,
                               .attrs = node->attrs,
                               .in = at,
                               .out = at + n,
                               .n_in = n,
                               .n_out = m,
                               .graph_seed = g->seed,
                               .op_seed = node->id,
                               .step = step,
                               .threads = p->session->options.threads,
                               .deterministic = p->session->options.deterministic,
                               .impl = &i->call,
                               .stop = eddy__is_whole(node->op) ? NULL : p->stop };
    eddy_status (*prepare)(eddy_kernel *) =
        node->op->flags & EDDY_OP_ELEMENTWISE ? eddy__elementwise_prepare : node->op->prepare;
    eddy_status s = eddy__kernel_prepare(&i->kernel, prepare);
    if (s == EDDY_NO_MEMORY) eddy_kernel_fail(&i->kernel, s, "out of memory for the loops");
    const uint64_t scratch = s == EDDY_OK ? i->kernel.scratch_size : 0;
    void *base = NULL;
    if (scratch > 0) i->kernel.scratch = eddy__allocate_aligned(p->allocator, scratch, &base);
    if (scratch > 0 && !i->kernel.scratch)
        s = eddy_kernel_fail(&i->kernel, EDDY_NO_MEMORY, "out of memory for scratch space");
    eddy__blas_begin();
    if (s == EDDY_OK) s = eddy__kernel_of(node->op)(&i->kernel);
    if (s == EDDY_OK && p->session->options.check_numerics)
        s = eddy__numerics_check(&i->kernel, p->session->options.check_numerics, EDDY_FINITE,
                                NULL);
    eddy__blas_end();
    if (base) eddy__release_late(p->stop, p->allocator, base, scratch);
    if (s == EDDY_OK) return true;
    *error = p->error;
    return eddy__error_set(error, s, "%s: the kernel failed without giving a reason [node '%s']",
                           node->op->name, node->name);
}

/* ------------------------------------------------------------ 16-bit types -- */

/* Bytes of a copy in float32, rounded to a line. */
static uint64_t wide_bytes(const eddy_buffer *b)
{
    return ((uint64_t)b->count * sizeof(float) + 63) / 64 * 64;
}

/* A buffer of float32 in place of b. */
static eddy_buffer wide_buffer(const eddy_buffer *b, void *memory)
{
    eddy_buffer wide = *b;
    wide.data = memory;
    wide.type.dtype = EDDY_FLOAT32;
    return wide;
}

/* With the inputs and outputs that widens[] marks in float32. */
static bool run_widened(eddy_plan *p, const eddy_graph *g, const eddy_node *node,
                        eddy_buffer *buffers, const bool *widens, uint64_t step,
                        eddy_error *error)
{
    const int    n = node->n_inputs, all = n + node->n_outputs;
    uint64_t     bytes = 64;
    void        *base = NULL;
    eddy_buffer *wide = eddy__arena_alloc(&p->arena, (size_t)all * sizeof *wide);
    for (int i = 0; i < all; i++)
        if (widens[i]) bytes += wide_bytes(&buffers[i]);
    char *at = wide ? eddy__allocate_aligned(p->allocator, bytes, &base) : NULL;
    if (!at)
        return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                               node->name);
    for (int i = 0; i < all; i++) {
        const void *x[] = { buffers[i].data };
        wide[i] = widens[i] ? wide_buffer(&buffers[i], at) : buffers[i];
        if (widens[i]) at += wide_bytes(&buffers[i]);
        if (widens[i] && i < n && x[0])
            eddy__half_to_f32(buffers[i].type.dtype)(wide[i].count, wide[i].data, x, NULL);
    }
    const bool ok = run(p, g, node, wide, step, error);
    for (int i = n; i < all; i++) {
        const void *y[] = { wide[i].data };
        if (!widens[i]) buffers[i] = wide[i];
        else if (ok)
            eddy__f32_to_half(buffers[i].type.dtype)(wide[i].count, buffers[i].data, y, NULL);
        if (!widens[i]) continue;
        buffers[i].type.shape = wide[i].type.shape;
        buffers[i].count = wide[i].count;
    }
    eddy__release_aligned(p->allocator, base, bytes);
    return ok;
}

bool eddy__run_single_op(eddy_plan *p, const eddy_graph *g, const eddy_node *node,
                         eddy_buffer *buffers, uint64_t step, eddy_error *error)
{
    const int n = node->n_inputs, all = n + node->n_outputs;
    bool      few[16], *widens = few, any = false;
    if (all > 16) widens = eddy__arena_alloc(&p->arena, (size_t)all);
    if (!widens)
        return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                               node->name);
    for (int i = 0; i < n; i++) {
        widens[i] = eddy__input_widens(node->op, i, buffers[i].type.dtype);
        any = any || widens[i];
    }
    if (n > 0 && eddy__kernel_widens(node->op, node->attrs, buffers[0].type, buffers[n > 1].type))
        any = false;
    if (!any) return run(p, g, node, buffers, step, error);
    for (int i = n; i < all; i++) widens[i] = eddy__dtype_is_half(buffers[i].type.dtype);
    return run_widened(p, g, node, buffers, widens, step, error);
}
