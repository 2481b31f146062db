/* count.c -- the work of the instructions of a plan: what a profile divides by their time. */
#include "session/profile/profile_rows.h"

static bool has_elements(const instruction *i, int input)
{
    return fused_of(i) || !eddy__input_is_in(i->kernel.op->shape_inputs, input);
}

/* Memory that several operands share counts once: `seen` has, by root, the last mark. */
static double bytes_of(const eddy_plan *p, const eddy_buffer *b, int64_t *seen, int64_t mark)
{
    int64_t *known = &seen[p->buffer_root[b - p->buffers]];
    if (*known == mark) return 0;
    *known = mark;
    return (double)b->count * (double)eddy_dtype_size(b->type.dtype);
}

/* Counts with *mark and the one after it, and moves it on. */
static bool count_work(compile *c, const instruction *i, instruction_profile *e, int64_t *seen,
                       int64_t *mark)
{
    const eddy_plan   *p = c->plan;
    const eddy_kernel *k = &i->kernel;
    const fused       *f = fused_of(i);
    const int64_t      read = (*mark)++, write = (*mark)++;
    for (int n = 0; n < k->n_in; n++)
        if (has_elements(i, n)) e->bytes += bytes_of(p, k->in[n], seen, read);
    for (int n = 0; n < k->n_out; n++) e->bytes += bytes_of(p, k->out[n], seen, write);
    for (int n = 0; n < (f ? f->n_parts : 1); n++) {
        instruction alone;
        double      flops;
        if (f) eddy__part_alone(&f->parts[n], k, &alone);
        if (!eddy__instruction_flops(c, f ? &alone : i, &flops)) return false;
        e->flops += flops;
    }
    return true;
}

/* Parallel instructions read and write as much as sequential ones. */
static bool count_all(compile *c, int32_t number, int64_t *seen, int64_t *mark)
{
    const instruction *i = &c->plan->code[number];
    const parallel_chains *w = eddy__parallel_chains_of(i);
    const int              n = w ? w->n_parts : 1;
    for (int k = 0; k < n; k++)
        if (!count_work(c, w ? &w->parts[k] : i, &c->plan->profile->each[number], seen, mark))
            return false;
    return true;
}

static void set_label(instruction *i)
{
    const parallel_chains *w = eddy__parallel_chains_of(i);
    for (int32_t k = 0; w && k < w->n_parts; k++)
        w->parts[k].label = eddy__profile_label(&w->parts[k]);
    i->label = eddy__profile_label(i);
}

/* The bytes of the roots that are alive at each instruction: what each adds and takes. */
static void count_live(const eddy_plan *p, int64_t *change)
{
    for (int32_t r = 0; r < p->n_roots; r++) {
        const plan_root *root = &p->roots[r];
        if (root->kind != VALUE_TEMP || root->first < 0 || root->first >= p->n_code) continue;
        change[root->first] += (int64_t)root->bytes;
        if (root->last < p->n_code) change[root->last + 1] -= (int64_t)root->bytes;
    }
    for (int64_t i = 0, live = 0; i < p->n_code; i++) {
        live += change[i];
        p->profile->each[i].live = (size_t)live;
    }
}

bool eddy__profile_prepare(compile *c)
{
    eddy_plan *p = c->plan;
    p->profile = eddy__plan_alloc(
        c, 1, sizeof *p->profile + (size_t)p->n_code * sizeof *p->profile->each);
    int64_t *seen = eddy__ir_alloc(c, (size_t)p->n_roots, sizeof *seen);
    int64_t *change = eddy__ir_alloc(c, (size_t)p->n_code + 1, sizeof *change);
    int64_t  mark = 1;
    if (!p->profile || !seen || !change) return false;
    for (int32_t i = 0; i < p->n_code; i++) {
        set_label(&p->code[i]);
        if (!count_all(c, i, seen, &mark)) return false;
    }
    count_live(p, change);
    return true;
}
