/* run_single_op.c -- one operation executed while a plan is compiled: constants folded, and shapes
 * that data decides. */
#include "session/compile/numerics.h"
#include "ops/kernels/elementwise/elementwise.h"
#include "ops/kernels/libraries/blas_threads.h"

bool eddy__run_single_op(eddy_plan *p, const eddy_graph *g, const eddy_node *node,
                         eddy_buffer *buffers, uint64_t step, eddy_error *error)
{
    const int     n = node->n_inputs, m = node->n_outputs;
    instruction  *i = eddy__arena_alloc(&p->arena, sizeof *i);
    eddy_buffer **at = eddy__arena_alloc(&p->arena, (size_t)(n + m) * sizeof *at);
    if (!i || !at)
        return eddy__error_set(error, EDDY_NO_MEMORY, "out of memory while running '%s'",
                               node->name);
    for (int k = 0; k < n + m; k++) at[k] = &buffers[k];
    *i = (instruction){ .call = { node, &p->arena, &p->error }, .resizes = -1 };
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
    eddy_status s = prepare ? prepare(&i->kernel) : EDDY_OK;
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
    if (base) eddy__release_aligned(p->allocator, base, scratch);
    if (s == EDDY_OK) return true;
    *error = p->error;
    return eddy__error_set(error, s, "%s: the kernel failed without giving a reason [node '%s']",
                           node->op->name, node->name);
}
