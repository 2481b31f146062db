/* compile.c -- from feeds, fetches and shapes to a plan. */
#include "session/wide.h"
#include "session/pool.h"
#include "ops/elementwise.h"

#include <string.h>

void *eddy_plan_alloc(compile *c, size_t n, size_t size)
{
    size_t bytes;
    void  *p = eddy_size_mul(n, size, &bytes) ? eddy_arena_alloc(&c->plan->arena, bytes) : NULL;
    if (p) memset(p, 0, bytes);
    else eddy_error_set(c->error, EDDY_NO_MEMORY, "out of memory while compiling a plan");
    return p;
}

bool eddy_plan_keep(compile *c, eddy_array *a)
{
    eddy_plan *p = c->plan;
    if (p->n_constants == p->constants_capacity) {
        int32_t bigger = p->constants_capacity ? p->constants_capacity * 2 : 32;
        void   *grown = eddy_plan_alloc(c, (size_t)bigger, sizeof *p->constants);
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

eddy_status (*eddy_kernel_of(const eddy_op_def *op))(eddy_kernel *k)
{
    return op->flags & EDDY_OP_ELEMENTWISE ? eddy_elementwise_kernel : op->kernel;
}

bool eddy_run_alone(eddy_plan *p, const eddy_node *node, eddy_buffer *buffers, uint64_t step,
                    eddy_error *error)
{
    const int     n = node->n_inputs, m = node->n_outputs;
    instruction  *i = eddy_arena_alloc(&p->arena, sizeof *i);
    eddy_buffer **at = eddy_arena_alloc(&p->arena, (size_t)(n + m) * sizeof *at);
    if (!i || !at)
        return eddy_error_set(error, EDDY_NO_MEMORY, "out of memory for running '%s'", node->name);
    for (int k = 0; k < n + m; k++) at[k] = &buffers[k];
    *i = (instruction){ .plan = p, .node = node, .resizes = -1 };
    i->kernel = (eddy_kernel){ .op = node->op,
                               .attrs = node->attrs,
                               .in = at,
                               .out = at + n,
                               .n_in = n,
                               .n_out = m,
                               .graph_seed = p->session->graph->seed,
                               .op_seed = node->id,
                               .step = step,
                               .threads = p->session->options.threads,
                               .deterministic = p->session->options.deterministic,
                               .impl = i };
    eddy_status (*prepare)(eddy_kernel *) =
        node->op->flags & EDDY_OP_ELEMENTWISE ? eddy_elementwise_prepare : node->op->prepare;
    eddy_status s = prepare ? prepare(&i->kernel) : EDDY_OK;
    const size_t scratch = s == EDDY_OK ? i->kernel.scratch_size : 0;
    void *base = NULL;
    if (scratch > 0) i->kernel.scratch = eddy_allocate_aligned(p->allocator, scratch, &base);
    if (scratch > 0 && !i->kernel.scratch)
        s = eddy_kernel_fail(&i->kernel, EDDY_NO_MEMORY, "out of memory for scratch space");
    eddy_blas_begin();
    if (s == EDDY_OK) s = eddy_kernel_of(node->op)(&i->kernel);
    eddy_blas_end();
    if (base) eddy_release_aligned(p->allocator, base, scratch);
    if (s == EDDY_OK) return true;
    *error = p->error;
    return eddy_error_set(error, s, "%s failed [node '%s']", node->op->name, node->name);
}

/* ---------------------------------------------------- the kernel's tools -- */

void *eddy_kernel_state(eddy_kernel *k, size_t size)
{
    if (!k || !k->impl) return NULL;
    const instruction *i = k->impl;
    k->state = eddy_arena_alloc(&i->plan->arena, size);
    if (k->state) memset(k->state, 0, size);
    return k->state;
}

eddy_status eddy_kernel_fail(eddy_kernel *k, eddy_status s, const char *reason, ...)
{
    if (!k || !k->impl || !reason) return s;
    const instruction *i = k->impl;
    char      why[600], message[sizeof i->plan->error.message];
    eddy_type in[8];
    va_list   args;
    va_start(args, reason);
    vsnprintf(why, sizeof why, reason, args);
    va_end(args);
    int n = k->n_in < 8 ? k->n_in : 8;
    for (int j = 0; j < n; j++) in[j] = k->in[j]->type;
    if (s == EDDY_UNINITIALIZED && i->node->n_inputs > 0) {
        size_t at = strlen(why);
        snprintf(why + at, sizeof why - at, " %.200s", eddy_name_of(i->node->inputs[0]));
    }
    eddy_op_message(message, sizeof message, k->op, n, in, why, i->node->name);
    eddy_error_set(i->error ? i->error : &i->plan->error, s, "%s", message);
    return s;
}

/* ------------------------------------------------------------- finishing -- */

bool eddy_prepare(compile *c, instruction *i)
{
    const bool tiled = i->run == eddy_elementwise_kernel;
    if (i->kernel.op->flags & EDDY_OP_LAPACK) c->plan->has_lapack = true;
    eddy_status (*prepare)(eddy_kernel *) = tiled ? eddy_elementwise_prepare
                                            : i->run == i->kernel.op->kernel
                                                ? i->kernel.op->prepare
                                                : NULL;
    if (!prepare || prepare(&i->kernel) == EDDY_OK) return true;
    *c->error = c->plan->error;
    return eddy_error_set(c->error, EDDY_INTERNAL, "%s cannot be prepared [node '%s']",
                          i->kernel.op->name, i->node->name);
}

static bool prepare_kernels(compile *c)
{
    for (int32_t n = 0; n < c->plan->n_code; n++)
        if (!eddy_prepare(c, &c->plan->code[n])) return false;
    return true;
}

/* Scratch memory lives at its instruction alone. */
static bool scratch_roots(compile *c)
{
    eddy_plan *p = c->plan;
    int32_t    n = 0;
    for (int32_t i = 0; i < p->n_code; i++) n += p->code[i].kernel.scratch_size > 0;
    if (n == 0) return true;
    plan_root *roots = eddy_plan_alloc(c, (size_t)(p->n_roots + n), sizeof *roots);
    if (!roots) return false;
    if (p->n_roots > 0) memcpy(roots, p->roots, (size_t)p->n_roots * sizeof *roots);
    p->roots = roots;
    for (int32_t i = 0; i < p->n_code; i++)
        if (p->code[i].kernel.scratch_size > 0)
            p->roots[p->n_roots++] = (plan_root){
                .kind = VALUE_TEMP, .bytes = p->code[i].kernel.scratch_size, .first = i, .last = i
            };
    return true;
}

/* A large temporary whose value is fetched gets no place in the arena: it is made in the
 * fetch's array.  Where several fetches share memory, the first has it and the others
 * are copies.  Returns the bytes of all. */
static size_t choose_results(eddy_plan *p)
{
    enum { SMALL = 4096 };          /* copying that much costs less than an array to swap */
    size_t bytes = 0;
    for (int i = 0; i < p->n_fetches; i++) {
        plan_fetch *f = &p->outputs[i];
        plan_root  *r = f->buffer >= 0 ? &p->roots[p->buffer_root[f->buffer]] : NULL;
        if (!r || r->kind != VALUE_TEMP || r->kept || r->bytes <= SMALL) continue;
        if (eddy_node_of(p->fetches[i])->op->flags & EDDY_OP_DYNAMIC) continue;
        const eddy_buffer *b = &p->buffers[f->buffer];
        if (r->bytes != (size_t)b->count * eddy_dtype_size(b->type.dtype)) continue;
        r->kind = VALUE_RESULT;
        r->index = i;
        f->direct = p->has_results = true;
        bytes += r->bytes;
    }
    return bytes;
}

static bool set_addresses(compile *c)
{
    eddy_plan *p = c->plan;
    p->patches = eddy_plan_alloc(c, (size_t)p->n_buffers, sizeof *p->patches);
    if (!p->patches) return false;
    for (int32_t i = p->n_code - 1, s = p->n_roots - 1; i >= 0; i--) {
        if (p->code[i].kernel.scratch_size > 0)
            p->code[i].kernel.scratch = (char *)p->memory + p->roots[s--].offset;
        eddy_settle_wide(p, &p->code[i]);
    }
    for (int32_t b = 0; b < p->n_buffers; b++) {
        const plan_root *r = &p->roots[p->buffer_root[b]];
        void *memory = r->kind == VALUE_TEMP ? (char *)p->memory + r->offset
                     : r->kind == VALUE_CONSTANT ? eddy_array_data(r->constant) : NULL;
        if (r->kind == VALUE_TEMP || r->kind == VALUE_CONSTANT)
            p->buffers[b].data = eddy_buffer_in(p, b, memory);
        else p->patches[p->n_patches++] = (plan_patch){ b, p->buffer_root[b] };
    }
    return true;
}

/* The copies of variables cost nothing. */
bool eddy_instruction_flops(compile *c, const instruction *i, double *flops)
{
    const eddy_kernel *k = &i->kernel;
    *flops = 0;
    if (i->run != eddy_kernel_of(k->op)) return true;
    if (!k->op->flops) {
        if (k->op->flags & EDDY_OP_ELEMENTWISE) *flops = (double)k->out[0]->count;
        return true;
    }
    enum { FEW = 6 };
    eddy_type few[FEW], *types = few;
    if (k->n_in + k->n_out > FEW)
        types = eddy_flow_alloc(c, (size_t)(k->n_in + k->n_out), sizeof *types);
    if (!types) return false;
    for (int n = 0; n < k->n_in; n++) types[n] = k->in[n]->type;
    for (int n = 0; n < k->n_out; n++) types[k->n_in + n] = k->out[n]->type;
    *flops = k->op->flops(k->attrs, k->n_in, types, types + k->n_in);
    return true;
}

bool eddy_plan_add_flops(compile *c, const instruction *i)
{
    double     flops;
    const bool known = eddy_instruction_flops(c, i, &flops);
    c->plan->info.flops += flops;
    return known;
}

static bool place(compile *c)
{
    eddy_plan *p = c->plan;
    eddy_session *s = c->session;
    if (!prepare_kernels(c) || !scratch_roots(c)) return false;
    const bool   reuse = !(s->options.without & EDDY_PASS_REUSE);
    const size_t results = choose_results(p);
    if (!eddy_plan_memory(p->allocator, p->roots, p->n_roots, p->n_code, reuse, &p->memory_bytes,
                          &p->info.live_bytes))
        return eddy_error_set(c->error, EDDY_NO_MEMORY, "out of memory while planning memory");
    if (s->options.max_bytes > 0 && p->memory_bytes + results > s->options.max_bytes)
        return eddy_error_set(c->error, EDDY_LIMIT,
                              "the run needs %zu bytes, the session's limit is %zu",
                              p->memory_bytes + results, s->options.max_bytes);
    p->memory = eddy_allocate_aligned(p->allocator, p->memory_bytes, &p->memory_base);
    if (!p->memory)
        return eddy_error_set(c->error, EDDY_NO_MEMORY, "out of memory: the run needs %zu bytes",
                              p->memory_bytes);
    p->info.arena_bytes = p->memory_bytes;
    p->info.instructions = p->n_code;
    for (int32_t i = 0; i < p->n_code; i++)
        if (!eddy_plan_add_flops(c, &p->code[i])) return false;
    if (s->options.profile && !eddy_profile_prepare(c)) return false;
    return set_addresses(c);
}

static bool copy_key(compile *c, int n_feeds, const plan_feed *feeds, eddy_list fetches)
{
    eddy_plan *p = c->plan;
    p->feeds = eddy_plan_alloc(c, (size_t)n_feeds, sizeof *p->feeds);
    p->fetches = eddy_plan_alloc(c, (size_t)fetches.count, sizeof *p->fetches);
    if (!p->feeds || !p->fetches) return false;
    for (int i = 0; i < n_feeds; i++) {
        p->feeds[i] = feeds[i];
        if (feeds[i].value && !eddy_plan_keep(c, eddy_array_retain(feeds[i].value))) return false;
    }
    for (int i = 0; i < fetches.count; i++) p->fetches[i] = fetches.at[i];
    p->n_feeds = n_feeds;
    p->n_fetches = fetches.count;
    return true;
}

eddy_plan *eddy_compile(eddy_session *s, int n_feeds, const plan_feed *feeds, eddy_list fetches,
                        eddy_error *error)
{
    eddy_plan *p = eddy_allocate_zeroed(&s->allocator, 1, sizeof *p);
    compile    c = {
           .session = s, .graph = s->graph, .plan = p, .size = s->graph->size, .error = error,
           .scratch = { .allocator = &s->allocator },
           .turns = { { .allocator = &s->allocator }, { .allocator = &s->allocator } }
    };
    if (!p) {
        eddy_error_set(error, EDDY_NO_MEMORY, "out of memory for a plan");
        return NULL;
    }
    p->session = s;
    p->allocator = &s->allocator;
    p->arena.allocator = &s->allocator;
    c.info = eddy_allocate_zeroed(&s->allocator, (size_t)c.size + 1, sizeof *c.info);
    if (!c.info)
        eddy_error_set(error, EDDY_NO_MEMORY, "out of memory for a plan of %d nodes", (int)c.size);
    bool ok = c.info && copy_key(&c, n_feeds, feeds, fetches) && eddy_specialise(&c) &&
              eddy_lower(&c) && eddy_improve(&c) && eddy_hoist(&c) && eddy_schedule(&c) &&
              ((s->options.without & EDDY_PASS_FUSE) || eddy_fuse(&c)) &&
              ((s->options.without & EDDY_PASS_WIDE) || eddy_widen(&c)) && place(&c);
    eddy_release(&s->allocator, c.info, ((size_t)c.size + 1) * sizeof *c.info);
    eddy_arena_free(&c.scratch);
    for (int i = 0; i < 2; i++) eddy_arena_free(&c.turns[i]);
    if (ok) return p;
    eddy_error_set(error, EDDY_INTERNAL, "a plan could not be made");
    eddy_plan_free(p);
    return NULL;
}

void eddy_plan_free(eddy_plan *p)
{
    if (!p) return;
    const eddy_allocator *a = p->allocator;
    for (int32_t i = 0; i < p->n_constants; i++) eddy_array_free(p->constants[i]);
    for (int i = 0; p->outputs && i < p->n_fetches; i++) eddy_array_free(p->outputs[i].next);
    if (p->memory_base) eddy_release_aligned(a, p->memory_base, p->memory_bytes);
    eddy_arena_free(&p->arena);
    eddy_release(a, p, sizeof *p);
}
