/* plan.c -- functions on plans: memory, constants, kernels of instructions, operation counts. */
#include "session/state/internal.h"
#include "session/compile/packed_operands.h"
#include "session/compile/parallel_groups.h"
#include "session/compile/program.h"
#include "session/compile/shared_operands.h"
#include "ops/kernels/elementwise/elementwise.h"

#include <math.h>
#include <string.h>

void *eddy__plan_alloc(compile *c, size_t n, size_t size)
{
    size_t bytes;
    void  *p = eddy__size_mul(n, size, &bytes) ? eddy__arena_alloc(&c->plan->arena, bytes) : NULL;
    if (p) memset(p, 0, bytes);
    else eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory while compiling a plan");
    return p;
}

bool eddy__plan_keep(compile *c, eddy_array *a)
{
    eddy_plan *p = c->plan;
    if (p->n_constants == p->constants_capacity) {
        int32_t bigger = p->constants_capacity ? p->constants_capacity * 2 : 32;
        void   *grown = eddy__plan_alloc(c, (size_t)bigger, sizeof *p->constants);
        if (!grown) {
            eddy_array_free(a);
            return false;
        }
        if (p->n_constants > 0)
            memcpy(grown, p->constants, (size_t)p->n_constants * sizeof *p->constants);
        p->constants = grown;
        p->constants_capacity = bigger;
    }
    p->constants[p->n_constants++] = a;
    return true;
}

eddy_status (*eddy__kernel_of(const eddy_op_def *op))(eddy_kernel *k)
{
    return op->flags & EDDY_OP_ELEMENTWISE ? eddy__elementwise_kernel : op->kernel;
}

bool eddy__prepare(compile *c, instruction *i)
{
    if (i->program) {
        eddy__program_prepare(i);
        return true;
    }
    const bool tiled = i->run == eddy__elementwise_kernel;
    if (i->kernel.op->flags & EDDY_OP_LAPACK) c->plan->has_lapack = true;
    i->call.pack = eddy__pack_operand;
    i->call.packer = eddy__packs_operands(c) ? c : NULL;
    eddy_status (*prepare)(eddy_kernel *) = tiled ? eddy__elementwise_prepare
                                            : i->run == i->kernel.op->kernel
                                                ? i->kernel.op->prepare
                                                : NULL;
    const eddy_status s = eddy__kernel_prepare(&i->kernel, prepare);
    i->call.packer = NULL;
    if (s == EDDY_OK) return true;
    if (s == EDDY_NO_MEMORY)            /* many kernels give no reason for this */
        eddy_kernel_fail(&i->kernel, s, "out of memory for the loops");
    *c->error = c->plan->error;
    return eddy__error_set(c->error, EDDY_INTERNAL,
                           "%s: prepare failed without giving a reason [node '%s']",
                           i->kernel.op->name, i->call.node->name);
}

/* Copies of variables count as no operations. */
bool eddy__instruction_flops(compile *c, const instruction *i, double *flops)
{
    const eddy_kernel *k = &i->kernel;
    *flops = 0;
    if (i->program) {
        const eddy_program *p = i->program;
        double              most = p->condition.plan ? p->condition.plan->info.flops : 0;
        for (int b = 0; b < p->n_bodies; b++) most = fmax(most, p->bodies[b].plan->info.flops);
        const bool loops = (p->node->op->flags & EDDY_OP_LOOP) && p->most != INT64_MAX;
        *flops = most * (loops ? (double)p->most : 1);
        return true;
    }
    if (i->run != eddy__kernel_of(k->op)) return true;
    if (!k->op->flops) {
        if (k->op->flags & EDDY_OP_ELEMENTWISE) *flops = (double)k->out[0]->count;
        return true;
    }
    enum { FEW = 6 };
    eddy_type few[FEW], *types = few;
    if (k->n_in + k->n_out > FEW)
        types = eddy__ir_alloc(c, (size_t)(k->n_in + k->n_out), sizeof *types);
    if (!types) return false;
    for (int n = 0; n < k->n_in; n++) types[n] = k->in[n]->type;
    for (int n = 0; n < k->n_out; n++) types[k->n_in + n] = k->out[n]->type;
    *flops = k->op->flops(k->attrs, k->n_in, types, types + k->n_in);
    return true;
}

bool eddy__plan_add_flops(compile *c, const instruction *i)
{
    double     flops;
    const bool known = eddy__instruction_flops(c, i, &flops);
    c->plan->info.flops += flops;
    return known;
}

void eddy__note_failure(eddy_error *error, const instruction *i, eddy_status s)
{
    if (error->status == EDDY_OK)
        eddy__error_set(error, s, "%s: the kernel failed without giving a reason [node '%s']",
                        i->call.node->op->name, i->call.node->name);
}

void eddy__plan_set_addresses(eddy_plan *p)
{
    for (int32_t i = p->n_code - 1, s = p->n_roots - 1; i >= 0; i--) {
        if (p->code[i].kernel.scratch_size > 0)
            p->code[i].kernel.scratch = (char *)p->memory + p->roots[s--].offset;
        if (p->code[i].program) eddy__program_attach(&p->code[i]);
        else eddy__parallel_groups_bind(p, &p->code[i]);
    }
    eddy__shared_bind(p);
    p->n_patches = 0;
    for (int32_t b = 0; b < p->n_buffers; b++) {
        const plan_root *r = &p->roots[p->buffer_root[b]];
        void *memory = r->kind == VALUE_TEMP ? (char *)p->memory + r->offset
                     : r->kind == VALUE_CONSTANT ? eddy_array_data(r->constant) : NULL;
        if (r->kind == VALUE_TEMP || r->kind == VALUE_CONSTANT)
            p->buffers[b].data = eddy__buffer_in(p, b, memory);
        else p->patches[p->n_patches++] = (plan_patch){ b, p->buffer_root[b] };
    }
}

bool eddy__plan_keeps_values(const eddy_plan *p)
{
    for (int32_t i = 0; i < p->n_roots; i++)
        if (p->roots[i].kept) return true;
    return false;
}

void eddy__plan_free(eddy_plan *p)
{
    if (!p) return;
    const eddy_allocator *a = p->allocator;
    for (eddy_program *q = p->programs; q; q = q->next) eddy__program_free(q);
    eddy__packed_release(p);            /* before the constants, whose addresses identify them */
    for (int32_t i = 0; i < p->n_constants; i++) eddy_array_free(p->constants[i]);
    for (int i = 0; p->outputs && i < p->n_fetches; i++) eddy_array_free(p->outputs[i].next);
    if (p->memory_base) eddy__release_aligned(a, p->memory_base, p->memory_bytes);
    eddy__arena_free(&p->arena);
    eddy__release(a, p, sizeof *p);
}
