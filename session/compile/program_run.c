/* program_run.c -- runs the programs of Loop and Case nodes. */
#include "graph/kernel.h"
#include "session/compile/program.h"
#include "session/compile/shared_operands.h"
#include "session/state/run_events.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void eddy__program_prepare(instruction *i)
{
    i->kernel.state = i->program;
    i->kernel.scratch_size = i->program->scratch_bytes;
}

static void attach(body_plan *b, void *memory)
{
    if (!b->plan) return;
    b->plan->memory = memory;
    eddy__plan_set_addresses(b->plan);
}

void eddy__program_attach(instruction *i)
{
    eddy_program *p = i->program;
    attach(&p->condition, i->kernel.scratch);
    for (int b = 0; b < p->n_bodies; b++) attach(&p->bodies[b], i->kernel.scratch);
}

/* Random numbers differ between iterations, and between loops in each other. */
static uint64_t draw_of(const eddy_kernel *k, int64_t iteration)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    return (k->step + 1) * odd + (uint64_t)iteration;
}

static void set_addresses(body_plan *b)
{
    eddy_plan *p = b->plan;
    for (int32_t i = 0; i < p->n_patches; i++) {
        const plan_patch *at = &p->patches[i];
        const plan_root  *r = &p->roots[at->root];
        char *memory = r->kind == VALUE_FEED ? b->feed_at[r->index] : b->result_at[r->index];
        p->buffers[at->buffer].data = memory + p->buffer_at[at->buffer];
    }
}

/* The instruction before it may have been left unfinished. */
static inline eddy_status execute_one(eddy_plan *p, instruction *i)
{
    if (eddy__stopped(p->stop) && eddy__must_stop(p->session, p->stop, "", &p->error))
        return p->error.status;
    return eddy__execute(i, &p->error);
}

static eddy_status execute_timed(eddy_plan *p)
{
    const int64_t begun = eddy__ticks();
    int64_t       last = begun;
    eddy_status   s = EDDY_OK;
    for (int32_t i = 0; i < p->n_code && s == EDDY_OK; i++) {
        s = execute_one(p, &p->code[i]);
        eddy__profile_count(p, i, &last);
    }
    p->profile->ticks += last - begun;
    p->profile->runs++;
    return s;
}

static eddy_status execute(body_plan *b, uint64_t draw)
{
    eddy_plan  *p = b->plan;
    eddy_status s = EDDY_OK;
    set_addresses(b);
    eddy__shared_begin(p, false);
    p->draw = draw;
    p->error.status = EDDY_OK;
    if (p->profile) return execute_timed(p);
    for (instruction *i = p->code, *end = p->code + p->n_code; i < end && s == EDDY_OK; i++)
        s = execute_one(p, i);
    return s;
}

/* The same, as an event of a trace. */
static eddy_status execute_number(body_plan *b, const eddy_program *p, uint64_t draw,
                                  int64_t number)
{
    if (!eddy__traces(b->plan->session)) return execute(b, draw);
    const int64_t     begun = eddy__ticks();
    const eddy_status s = execute(b, draw);
    eddy__trace_add(b->plan->session,
                    (trace_event){ .kind = TRACE_ITERATION, .begin = begun, .end = eddy__ticks(),
                                   .node = p->node, .number = number });
    return s;
}

/* Results that the plan has not written where they belong. */
static void copy_results(const body_plan *b, int first, int n)
{
    const eddy_plan *p = b->plan;
    for (int k = first; k < n; k++) {
        if (b->how[k] != RESULT_COPIED || p->outputs[k].buffer < 0) continue;
        const eddy_buffer *from = &p->buffers[p->outputs[k].buffer];
        const size_t       bytes =
            (size_t)eddy_shape_count(from->type.shape) * eddy_dtype_size(from->type.dtype);
        if (bytes > 0) memcpy(b->result_at[k], from->data, bytes);
    }
}

/* ------------------------------------------------------------------ cases -- */

static eddy_status run_case(eddy_kernel *k, eddy_program *p)
{
    const int32_t last = p->first_branch + p->n_bodies - 1;
    int32_t       branch = *(const int32_t *)k->in[0]->data;
    if (branch < p->first_branch || branch > last) branch = last;
    body_plan *b = &p->bodies[branch - p->first_branch];
    for (int i = 1; i < k->n_in; i++) b->feed_at[i - 1] = k->in[i]->data;
    for (int j = 0; j < p->n_outputs; j++) b->result_at[j] = k->out[j]->data;
    const eddy_status s = execute_number(b, p, draw_of(k, branch), branch);
    if (s != EDDY_OK)
        return eddy_kernel_fail(k, s, "%s [branch %d of '%.200s']", b->plan->error.message,
                                (int)branch, p->node->name);
    copy_results(b, 0, p->n_outputs);
    return EDDY_OK;
}

/* ------------------------------------------------------------------ loops -- */

/* The number of iterations, less what the condition decides. */
static int64_t iterations(const eddy_kernel *k, const eddy_loop_attrs *at, const eddy_program *p)
{
    int64_t n = p->most;
    if (at->counted) {
        const int64_t given = *(const int64_t *)k->in[0]->data;
        n = given < n ? given : n;
    }
    const int first = at->counted + (int)at->n_carried;
    for (int i = 0; at->open && i < p->n_sliced; i++) {
        const int64_t rows = eddy__stacks_rows(k->in[first + i], p->slice_row[i]);
        if (p->takes[first + i] && rows < n) n = rows;
    }
    return n < 0 ? 0 : n;
}

static void begin_carried(const eddy_kernel *k, eddy_program *p)
{
    body_plan *b = &p->bodies[0];
    for (int j = 0; j < p->n_carried; j++) {
        const carried_value *v = &p->carried[j];
        char *scratch = k->scratch;
        b->feed_at[1 + v->index] = v->output >= 0 ? k->out[v->output]->data : scratch + v->at[0];
        b->result_at[j] = scratch + v->at[1];
        if (v->bytes > 0) memcpy(b->feed_at[1 + v->index], k->in[v->argument]->data, v->bytes);
    }
}

/* The new values become those of the next iteration. */
static void swap_carried(eddy_program *p)
{
    body_plan *b = &p->bodies[0];
    for (int j = 0; j < p->n_carried; j++) {
        if (b->how[j] == RESULT_IN_PLACE) continue;
        void **now = &b->feed_at[1 + p->carried[j].index], *old = *now;
        *now = b->result_at[j];
        b->result_at[j] = old;
    }
}

static void end_carried(const eddy_kernel *k, const eddy_program *p)
{
    const body_plan *b = &p->bodies[0];
    for (int j = 0; j < p->n_carried; j++) {
        const carried_value *v = &p->carried[j];
        void *at = b->feed_at[1 + v->index];
        if (v->output >= 0 && k->out[v->output]->data != at && v->bytes > 0)
            memcpy(k->out[v->output]->data, at, v->bytes);
    }
}

/* The number of the first output that is a stack. */
static int first_stack(const eddy_program *p)
{
    return p->n_outputs - p->counts - p->n_stacked;
}

/* Arguments that are rows of inputs, and results that are rows of stacks. */
static void set_rows(const eddy_kernel *k, const eddy_loop_attrs *at, eddy_program *p, int64_t row)
{
    body_plan *b = &p->bodies[0];
    const int  input = at->counted + (int)at->n_carried, arg = 1 + (int)at->n_carried;
    for (int i = 0; i < p->n_sliced; i++) {
        char *rows = k->in[input + i]->data;
        b->feed_at[arg + i] = rows ? rows + (size_t)row * p->slice_row[i] : NULL;
    }
    const int first = first_stack(p);
    for (int i = 0; i < p->n_stacked; i++) {
        char *rows = p->open ? p->stacks[i].data : k->out[first + i]->data;
        b->result_at[p->n_carried + i] = rows + (size_t)row * p->stack_row[i];
    }
}

/* Iteration i counts from the first segment on. */
static long long number_of(const eddy_program *p, int64_t i)
{
    return (long long)(p->before + i);
}

/* An error, to which the loops around a segment add nothing. */
static eddy_status fail(eddy_kernel *k, const eddy_program *p, eddy_status s, const char *format,
                        ...)
{
    char    text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!p->segment) return eddy_kernel_fail(k, s, "%s", text);
    eddy__error_set(((const eddy_kernel_call *)k->impl)->error, s, "%s", text);
    return s;
}

static eddy_status goes_on(eddy_kernel *k, eddy_program *p, int64_t i, bool *on)
{
    body_plan *b = &p->condition;
    *on = true;
    if (!b->plan) return EDDY_OK;
    memcpy(b->feed_at, p->bodies[0].feed_at, (size_t)b->plan->n_feeds * sizeof *b->feed_at);
    const eddy_status s = execute(b, draw_of(k, i));
    if (s == EDDY_OK) *on = *(const bool *)b->plan->buffers[b->plan->outputs[0].buffer].data;
    else
        fail(k, p, s, "%s [condition of '%.200s' before iteration %lld]", b->plan->error.message,
             p->node->name, number_of(p, i));
    return s;
}

/* Rows of stacks that no iteration has written are zero. */
static void clear_rows(const eddy_kernel *k, const eddy_program *p, int64_t n)
{
    const int first = first_stack(p);
    for (int i = 0; i < p->n_stacked && n < p->most; i++)
        memset((char *)k->out[first + i]->data + (size_t)n * p->stack_row[i], 0,
               (size_t)(p->most - n) * p->stack_row[i]);
}

/* Room for the stacks of an open loop; a count is known when the loop begins. */
static eddy_status begin_stacks(eddy_kernel *k, const eddy_loop_attrs *at, eddy_program *p,
                                int64_t n)
{
    if (!p->open || p->n_stacked == 0) return EDDY_OK;
    eddy__stacks_begin(p);
    return at->conditional ? EDDY_OK : eddy__stacks_reserve(k, p, n, true);
}

/* Before iteration i, after as many. */
static eddy_status may_begin(eddy_kernel *k, eddy_program *p, int64_t i)
{
    const eddy_plan *body = p->bodies[0].plan;
    eddy_error       e = { 0 };
    if (eddy__stopped(body->stop) && eddy__must_stop(body->session, body->stop, "", &e))
        return fail(k, p, e.status, "%s [iteration %lld of '%.200s']", e.message, number_of(p, i),
                    p->node->name);
    if (!p->open || p->n_stacked == 0 || i < p->room) return EDDY_OK;
    p->rows = i;
    return eddy__stacks_reserve(k, p, i + 1, false);
}

/* Iteration i of n; *on: whether there was one. */
static eddy_status iterate(eddy_kernel *k, eddy_program *p, int64_t i, int64_t n, bool *on)
{
    const eddy_loop_attrs *at = p->node->attrs;
    body_plan             *b = &p->bodies[0];
    eddy_status            s = may_begin(k, p, i);
    if (s != EDDY_OK) return s;
    p->iteration = at->reverse ? n - 1 - i : i;
    set_rows(k, at, p, p->iteration);
    s = goes_on(k, p, i, on);
    if (s != EDDY_OK || !*on) return s;
    s = execute_number(b, p, draw_of(k, p->iteration), number_of(p, i));
    if (s != EDDY_OK && at->segmented) return fail(k, p, s, "%s", b->plan->error.message);
    if (s != EDDY_OK)
        return fail(k, p, s, "%s [iteration %lld of '%.200s']", b->plan->error.message,
                    number_of(p, i), p->node->name);
    copy_results(b, 0, p->n_carried + p->n_stacked);
    swap_carried(p);
    return EDDY_OK;
}

static void end_stacks(const eddy_kernel *k, eddy_program *p, int64_t n)
{
    if (p->open) {
        p->rows = n;
        eddy__stacks_show(k, p, first_stack(p));
    } else clear_rows(k, p, n);
}

/* The loops in the body of a segmented loop go on where they were in its last iteration. */
static void begin_segments(eddy_program *p, const eddy_loop_attrs *at)
{
    for (eddy_program *q = at->segmented ? p->bodies[0].plan->programs : NULL; q; q = q->next) {
        q->segment = true;
        q->before = p->before;
    }
}

/* After i iterations. */
static void end_segments(eddy_program *p, const eddy_loop_attrs *at, int64_t i)
{
    if (!p->segment) return;
    if (!at->segmented) p->before += i;
    for (eddy_program *q = at->segmented ? p->bodies[0].plan->programs : NULL; q; q = q->next)
        if (q->before > p->before) p->before = q->before;
}

static eddy_status run_loop(eddy_kernel *k, eddy_program *p)
{
    const eddy_loop_attrs *at = p->node->attrs;
    body_plan    *b = &p->bodies[0];
    const int     captured = 1 + (int)(at->n_carried + at->n_sliced);
    const int64_t n = iterations(k, at, p);
    int64_t       i = 0;
    for (int f = 0; f < b->plan->n_feeds; f++)
        b->feed_at[f] = f >= captured ? k->in[f - 1 + at->counted]->data : NULL;
    b->feed_at[0] = &p->iteration;
    begin_carried(k, p);
    eddy__shared_begin(b->plan, true);
    begin_segments(p, at);
    eddy_status s = begin_stacks(k, at, p, n);
    for (bool on = true; s == EDDY_OK && i < n; i++) {
        s = iterate(k, p, i, n, &on);
        if (!on) break;
    }
    if (s != EDDY_OK) return s;
    end_carried(k, p);
    end_stacks(k, p, i);
    end_segments(p, at, i);
    if (p->counts) *(int64_t *)k->out[p->n_outputs - 1]->data = i;
    return EDDY_OK;
}

eddy_status eddy__program_run(eddy_kernel *k)
{
    eddy_program *p = k->state;
    return p->node->op->flags & EDDY_OP_LOOP ? run_loop(k, p) : run_case(k, p);
}
