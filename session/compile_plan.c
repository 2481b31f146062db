/* compile_plan.c -- compilation of feeds, fetches and shapes into a plan. */
#include "session/compile/parallel_groups.h"
#include "session/compile/numerics.h"
#include "session/compile/program.h"
#include "session/compile/shared_operands.h"

#include <string.h>

static bool no_memory(compile *c, uint64_t bytes, const char *largest)
{
    return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory: the run needs %llu bytes%s",
                           (unsigned long long)bytes, largest);
}

/* Where addresses have 32 bits, a value may be too large for size_t; no kernel may then be
 * prepared. */
static bool values_fit(compile *c)
{
    char largest[800];
    for (int32_t i = 0; sizeof(void *) < 8 && i < c->plan->n_roots; i++)
        if (c->plan->roots[i].bytes > (uint64_t)eddy__most_bytes)
            return no_memory(c, c->plan->roots[i].bytes,
                             eddy__largest_values(c->plan, largest, sizeof largest));
    return true;
}

/* Kernels prepare tables as long as images: only for results that the session may hold. Those that
 * a fused loop keeps in registers have no position. */
static bool prepare_kernels(compile *c)
{
    const size_t limit = c->session->options.max_bytes;
    char         largest[800];
    for (int32_t i = 0; limit > 0 && i < c->plan->n_roots; i++) {
        const plan_root *r = &c->plan->roots[i];
        if (r->kind == VALUE_TEMP && r->first >= 0 && r->bytes > limit)
            return eddy__error_set(c->error, EDDY_LIMIT, "the run needs at least %llu bytes; "
                                   "max_bytes of the session is %zu%s",
                                   (unsigned long long)r->bytes, limit,
                                   eddy__largest_values(c->plan, largest, sizeof largest));
    }
    for (int32_t n = 0; n < c->plan->n_code; n++) {
        c->preparing = &c->plan->code[n];
        if (!eddy__prepare(c, &c->plan->code[n])) return false;
    }
    c->preparing = NULL;
    return true;
}

/* Moves the final instructions from the memory of the stages to that of the plan. */
static bool keep_code(compile *c)
{
    eddy_plan   *p = c->plan;
    instruction *code = eddy__plan_alloc(c, (size_t)p->n_code, sizeof *code);
    if (!code) return false;
    for (int32_t i = 0; i < p->n_code; i++) {
        code[i] = p->code[i];
        code[i].kernel.impl = &code[i].call;
    }
    p->code = code;
    return true;
}

/* The same for the roots. Gives shared operands roots, and each instruction's scratch memory one
 * that lives only during the instruction. */
static bool keep_roots(compile *c)
{
    eddy_plan *p = c->plan;
    int32_t    n = eddy__shared_operands(p);
    for (int32_t i = 0; i < p->n_code; i++) n += p->code[i].kernel.scratch_size > 0;
    plan_root *roots = eddy__plan_alloc(c, (size_t)(p->n_roots + n), sizeof *roots);
    if (!roots) return false;
    if (p->n_roots > 0) memcpy(roots, p->roots, (size_t)p->n_roots * sizeof *roots);
    p->roots = roots;
    eddy__shared_add_roots(p);
    for (int32_t i = 0; i < p->n_code; i++)
        if (p->code[i].kernel.scratch_size > 0)
            p->roots[p->n_roots++] = (plan_root){
                .kind = VALUE_TEMP, .bytes = p->code[i].kernel.scratch_size, .first = i, .last = i
            };
    return true;
}

/* True if the result has no array of its own: a body runs nodes with side effects for these
 * alone. */
static bool has_no_array(const eddy_plan *p, const eddy_node *node)
{
    if (node->op->flags & EDDY_OP_DYNAMIC) return true;
    return p->embedded && ((node->op->flags & EDDY_OP_SIDE_EFFECT) ||
                           (eddy__has_body(node) && eddy__body_acts(node)));
}

/* Lets large temporaries that are fetched be computed in the fetch's array instead of the
 * arena. If several fetches share memory, the first one gets it and the others are copied.
 * Returns the bytes of all results. */
static uint64_t choose_direct_results(eddy_plan *p)
{
    /* copying this much is cheaper than exchanging arrays, or than setting an address */
    const size_t small = p->embedded ? 64 : 4096;
    uint64_t bytes = 0;
    for (int i = 0; i < p->n_fetches; i++) {
        plan_fetch *f = &p->outputs[i];
        plan_root  *r = f->buffer >= 0 ? &p->roots[p->buffer_root[f->buffer]] : NULL;
        if (!r || r->kind != VALUE_TEMP || r->kept || r->bytes <= small) continue;
        if (has_no_array(p, eddy_node_of(p->fetches[i]))) continue;
        const eddy_buffer *b = &p->buffers[f->buffer];
        if (r->bytes != (size_t)b->count * eddy_dtype_size(b->type.dtype)) continue;
        r->kind = VALUE_RESULT;
        r->index = i;
        f->direct = p->has_results = true;
        bytes += r->bytes;
    }
    return bytes;
}

static bool plan_memory(compile *c)
{
    eddy_plan *p = c->plan;
    eddy_session *s = c->session;
    char          largest[800];
    if (!keep_code(c) || !prepare_kernels(c) || !keep_roots(c)) return false;
    const bool   reuse = !(c->without & EDDY_PASS_REUSE);
    const uint64_t results = choose_direct_results(p);
    uint64_t       live;
    if (!eddy__plan_memory(p->allocator, p->roots, p->n_roots, p->n_code, reuse, &p->memory_bytes,
                           &live))
        return eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory while planning memory");
    const uint64_t all = p->memory_bytes + results;
    if (!p->embedded && s->options.max_bytes > 0 && all > s->options.max_bytes)
        return eddy__error_set(c->error, EDDY_LIMIT,
                               "the run needs %llu bytes; max_bytes of the session is %zu%s",
                               (unsigned long long)all, s->options.max_bytes,
                               eddy__largest_values(p, largest, sizeof largest));
    if (!p->embedded && all > PTRDIFF_MAX)
        return no_memory(c, all, eddy__largest_values(p, largest, sizeof largest));
    if (!p->embedded) {
        p->own_memory.fixed = (size_t)all;
        p->own_memory.limit = s->options.max_bytes;
        p->own_memory.plan = p;
    }
    p->patches = eddy__plan_alloc(c, (size_t)p->n_buffers, sizeof *p->patches);
    if (!p->patches) return false;
    if (!p->embedded && eddy__plan_keeps_values(p)) {
        p->memory = eddy__allocate_aligned(p->allocator, p->memory_bytes, &p->memory_base);
        p->own_bytes = (size_t)p->memory_bytes;
    }
    if (!p->memory && p->own_bytes > 0)
        return no_memory(c, p->memory_bytes, eddy__largest_values(p, largest, sizeof largest));
    p->info.live_bytes = (size_t)live;
    p->info.arena_bytes = (size_t)p->memory_bytes;
    p->info.instructions = p->n_code;
    for (int32_t i = 0; i < p->n_code; i++)
        if (!eddy__plan_add_flops(c, &p->code[i])) return false;
    if (s->options.profile && !eddy__profile_prepare(c)) return false;
    if (p->numerics && !eddy__numerics_attach(c)) return false;
    if (p->embedded) return true;
    if (p->memory || p->memory_bytes == 0) eddy__plan_set_addresses(p);
    return true;
}

static bool copy_key(compile *c, int n_feeds, const plan_feed *feeds, eddy_list fetches)
{
    eddy_plan *p = c->plan;
    p->feeds = eddy__plan_alloc(c, (size_t)n_feeds, sizeof *p->feeds);
    p->fetches = eddy__plan_alloc(c, (size_t)fetches.count, sizeof *p->fetches);
    if (!p->feeds || !p->fetches) return false;
    for (int i = 0; i < n_feeds; i++) {
        p->feeds[i] = feeds[i];
        if (feeds[i].value && !eddy__plan_keep(c, eddy_array_retain(feeds[i].value))) return false;
    }
    for (int i = 0; i < fetches.count; i++) p->fetches[i] = fetches.at[i];
    p->n_feeds = n_feeds;
    p->n_fetches = fetches.count;
    return true;
}

/* All stages. The key of a run is in c->plan. */
static bool run_stages(compile *c)
{
    const unsigned without = c->without;
    const bool     alone = !c->plan->embedded;
    return eddy__specialize_shapes(c) && eddy__lower(c) && eddy__improve(c) &&
           (!alone || eddy__hoist(c)) && eddy__emit(c) && values_fit(c) &&
           ((without & EDDY_PASS_FUSE) || eddy__fuse(c)) &&
           (!alone || (without & EDDY_PASS_PARALLEL) || eddy__parallelize(c)) && plan_memory(c);
}

static eddy_plan *make_plan(compile *c, int n_feeds, const plan_feed *feeds, eddy_list fetches,
                            const int32_t *owned)
{
    eddy_session *s = c->session;
    eddy_plan    *p = c->plan = eddy__allocate_zeroed(&s->allocator, 1, sizeof *p);
    c->size = c->graph->size;
    c->scratch.allocator = c->stage.allocator = &s->allocator;
    c->ir_arenas[0].allocator = c->ir_arenas[1].allocator = &s->allocator;
    if (!p) {
        eddy__error_set(c->error, EDDY_NO_MEMORY, "out of memory for a plan");
        return NULL;
    }
    p->session = s;
    p->allocator = &s->allocator;
    p->arena.allocator = &s->allocator;
    p->embedded = owned != NULL;
    p->owned = owned;
    p->open_memory = c->open_memory ? c->open_memory : &p->own_memory;
    p->stop = c->stop ? c->stop : &p->own_stop;
    p->numerics = c->numerics;
    p->watch_version = s->watch_version;
    c->info = eddy__stage_alloc(c, (size_t)c->size + 1, sizeof *c->info);
    const bool watched = s->options.check_numerics == 0 || c->numerics || eddy__numerics_begin(c);
    bool       ok = watched && c->info && copy_key(c, n_feeds, feeds, fetches) && run_stages(c);
    /* A rule that found no memory left its node as it was, whose bits may be others. */
    ok = ok && c->error->status != EDDY_NO_MEMORY;
    eddy__arena_free(&c->scratch);
    eddy__arena_free(&c->stage);
    for (int i = 0; i < 2; i++) eddy__arena_free(&c->ir_arenas[i]);
    p->own_bytes += p->arena.bytes;
    if (ok) return p;
    eddy__error_set(c->error, EDDY_INTERNAL, "a plan could not be made");
    eddy__plan_free(p);
    return NULL;
}

static eddy_plan *compile_body(compile *outer, eddy_graph *body, int n_feeds,
                               const plan_feed *feeds, const int32_t *owned, eddy_list fetches)
{
    compile c = { .session = outer->session,
                  .graph = body,
                  .error = outer->error,
                  .compile_body = compile_body,
                  .part = outer->body_part, .of = outer->body_of,
                  .constants = outer->body_constants, .quiet = outer->quiet || outer->quiet_body,
                  .iterates = outer->body_iterates, .captured = outer->body_captured,
                  .open_memory = outer->plan->open_memory, .stop = outer->plan->stop,
                  .numerics = outer->plan->numerics, .without = outer->without };
    eddy_plan *p = make_plan(&c, n_feeds, feeds, fetches, owned);
    outer->body_missing_size = c.missing_size;
    outer->body_varies = c.varies;
    return p;
}

eddy_plan *eddy__compile(eddy_session *s, int n_feeds, const plan_feed *feeds, eddy_list fetches,
                         eddy_list sizes, eddy_tensor *missing, eddy_error *error)
{
    compile c = { .session = s, .graph = s->graph, .error = error, .sizes = sizes,
                  .without = s->options.without, .compile_body = compile_body };
    eddy_plan *p =
        eddy__draws_update(s, error) ? make_plan(&c, n_feeds, feeds, fetches, NULL) : NULL;
    *missing = p ? EDDY_NO_TENSOR : c.missing_size;
    return p;
}

eddy_plan *eddy__compile_plainly(eddy_session *s, int n_feeds, const plan_feed *feeds,
                                 eddy_list fetches, eddy_list sizes, eddy_error *error)
{
    compile c = { .session = s, .graph = s->graph, .error = error, .sizes = sizes,
                  .without = EDDY_PASSES_ALL & ~(unsigned)EDDY_PASS_REUSE,
                  .compile_body = compile_body };
    eddy_plan *p = make_plan(&c, n_feeds, feeds, fetches, NULL);
    eddy__numerics_without_effects(p);
    return p;
}
