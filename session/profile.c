/* profile.c -- profiling: the time that a session's runs spend in each instruction.
 *
 * Runs count the ticks of each instruction (run.c); here the ticks are calibrated against the
 * clock and written, as tables or line by line. */
#include "session/compile/fused_loop.h"
#include "session/state/cpu_clock.h"
#include "session/compile/parallel_groups.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- counting -- */

static const fused *fused_of(const instruction *i)
{
    return i->run == eddy__fused_kernel ? i->kernel.state : NULL;
}

/* The number of parts of a combined instruction. */
static int parts_of(const instruction *i)
{
    return fused_of(i) ? fused_of(i)->n_parts : eddy__parallel_chains_of(i)->n_parts;
}

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

bool eddy__profile_prepare(compile *c)
{
    eddy_plan *p = c->plan;
    p->profile = eddy__plan_alloc(
        c, 1, sizeof *p->profile + (size_t)p->n_code * sizeof *p->profile->each);
    int64_t *seen = eddy__ir_alloc(c, (size_t)p->n_roots, sizeof *seen);
    int64_t  mark = 1;
    if (!p->profile || !seen) return false;
    for (int32_t i = 0; i < p->n_code; i++)
        if (!count_all(c, i, seen, &mark)) return false;
    return true;
}

/* ------------------------------------------------------------------- rows -- */

/* An instruction; or, of a summary, all of one operation. */
typedef struct row {
    const eddy_plan   *plan;
    const instruction *of;
    int32_t            number;
    int64_t            instructions;
    instruction_profile total;      /* flops and bytes count all calls */
} row;

typedef struct summary {
    FILE   *to;
    double  nanoseconds;            /* of a tick */
    int64_t ticks;                  /* of all plans */
    const eddy_plan **plans;        /* that ran, the most expensive first */
    row    *rows;                   /* rows of the table of all plans, then of one plan at a time */
    int     n_plans;
    int32_t n_rows;
} summary;

static const char *label(const instruction *i)
{
    if (fused_of(i)) return "Fused";
    if (eddy__parallel_chains_of(i)) return "Parallel";
    const bool copies = !i->program && i->run != eddy__kernel_of(i->kernel.op);
    return copies ? "Copy" : i->kernel.op->name;
}

static row row_of(const eddy_plan *p, int32_t i)
{
    row r = { .plan = p, .of = &p->code[i], .number = i, .instructions = 1,
              .total = p->profile->each[i] };
    r.total.flops *= (double)r.total.calls;
    r.total.bytes *= (double)r.total.calls;
    return r;
}

static int by_ticks(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->total.ticks != y->total.ticks) return x->total.ticks < y->total.ticks ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_label(const void *a, const void *b)
{
    return strcmp(label(((const row *)a)->of), label(((const row *)b)->of));
}

static int by_plan(const void *a, const void *b)
{
    const eddy_plan *x = *(const eddy_plan *const *)a, *y = *(const eddy_plan *const *)b;
    return (x->profile->ticks < y->profile->ticks) - (x->profile->ticks > y->profile->ticks);
}

/* Merges rows of the same operation. Returns the number of remaining rows. */
static int32_t merge_rows(row *rows, int32_t n)
{
    int32_t last = -1;
    qsort(rows, (size_t)n, sizeof *rows, by_label);
    for (int32_t i = 0; i < n; i++) {
        if (last < 0 || by_label(&rows[last], &rows[i]) != 0) {
            rows[++last] = rows[i];
            continue;
        }
        rows[last].instructions++;
        rows[last].total.ticks += rows[i].total.ticks;
        rows[last].total.calls += rows[i].total.calls;
        rows[last].total.flops += rows[i].total.flops;
        rows[last].total.bytes += rows[i].total.bytes;
    }
    return last + 1;
}

/* ------------------------------------------------------------------ tables -- */

static void put_type(FILE *to, const char *before, eddy_type t)
{
    char type[100];
    fprintf(to, "%s%s", before, eddy_type_print(t, type, sizeof type));
}

static const char *label_of_part(const instruction *i, int number)
{
    return fused_of(i) ? fused_of(i)->parts[number].op->name
                       : label(&eddy__parallel_chains_of(i)->parts[number]);
}

/* The number of parts with the label of part k; 0 if an earlier part has the same label. */
static int count_label(const instruction *i, int k)
{
    const char *of = label_of_part(i, k);
    int         n = 0;
    for (int j = 0; j < parts_of(i); j++) {
        const bool same = strcmp(label_of_part(i, j), of) == 0;
        if (same && j < k) return 0;
        n += same;
    }
    return n;
}

/* The type of the elements that a fused loop processes. */
static eddy_type loop_type(const fused *f)
{
    const part *p = &f->parts[0];
    return p->fn ? eddy__part_result(p)->type : p->at[0]->type;
}

/* "Fused(Mul x2, Add) float32[3]", "Parallel(MatMul x3, Fused x3) 3 parallel chains" */
static void put_parts(FILE *to, const instruction *i)
{
    fprintf(to, "%s(", label(i));
    for (int k = 0; k < parts_of(i); k++) {
        const int n = count_label(i, k);
        if (n == 0) continue;
        fprintf(to, "%s%s", k > 0 ? ", " : "", label_of_part(i, k));
        if (n > 1) fprintf(to, " x%d", n);
    }
    if (fused_of(i)) put_type(to, ") ", loop_type(fused_of(i)));
    else fprintf(to, ") %d parallel chains", (int)eddy__parallel_chains_of(i)->n_chains);
}

/* "MatMul(float32[2,3], float32[3,4]) [node 'dense/MatMul']" */
static void put_instruction(FILE *to, const instruction *i)
{
    enum { MOST = 8 };
    const eddy_kernel *k = &i->kernel;
    if (fused_of(i) || eddy__parallel_chains_of(i)) put_parts(to, i);
    else {
        fprintf(to, "%s(", label(i));
        for (int n = 0; n < k->n_in && n < MOST; n++)
            put_type(to, n > 0 ? ", " : "", k->in[n]->type);
        fprintf(to, k->n_in > MOST ? ", ...)" : ")");
    }
    fprintf(to, " [node '%s']\n", i->call.node->name);
}

static void put_numbers(const summary *s, const row *r, int64_t ticks, int64_t runs)
{
    const double ns = (double)r->total.ticks * s->nanoseconds, per = ns > 0 ? 1 / ns : 0;
    fprintf(s->to, "  %5.1f%% %10.2f %10lld %8.2f %8.2f  ",
            ticks > 0 ? 100 * (double)r->total.ticks / (double)ticks : 0,
            runs > 0 ? ns / 1000 / (double)runs : 0, (long long)r->total.calls,
            r->total.flops * per, r->total.bytes * per);
}

static void put_heading(const summary *s, const char *last)
{
    fprintf(s->to, "   share     us/run      calls  GFLOP/s     GB/s  %s\n", last);
}

static void put_fetches(FILE *to, const eddy_plan *p)
{
    enum { MOST = 4 };
    for (int i = 0; i < p->n_fetches && i < MOST; i++)
        fprintf(to, "%s%s", i > 0 ? ", " : "; fetches ", eddy_name_of(p->fetches[i]));
    fprintf(to, p->n_fetches > MOST ? ", ...\n" : "\n");
}

static void put_plan(const summary *s, int number)
{
    const eddy_plan *p = s->plans[number];
    const double     us = s->nanoseconds / 1000 / (double)p->profile->runs;
    int64_t          inside = 0;
    for (int32_t i = 0; i < p->n_code; i++) {
        s->rows[i] = row_of(p, i);
        inside += p->profile->each[i].ticks;
    }
    qsort(s->rows, (size_t)p->n_code, sizeof *s->rows, by_ticks);
    fprintf(s->to, "plan %d: %lld runs of %d instructions, %.2f us a run, %.2f of them outside",
            number + 1, (long long)p->profile->runs, (int)p->n_code,
            (double)p->profile->ticks * us, (double)(p->profile->ticks - inside) * us);
    put_fetches(s->to, p);
    put_heading(s, "instruction");
    for (int32_t i = 0; i < p->n_code; i++) {
        put_numbers(s, &s->rows[i], p->profile->ticks, p->profile->runs);
        put_instruction(s->to, s->rows[i].of);
    }
    fprintf(s->to, "\n");
}

static void put_tables(summary *s)
{
    int32_t n = 0;
    int64_t runs = 0;
    for (int i = 0; i < s->n_plans; i++) put_plan(s, i);
    for (int i = 0; i < s->n_plans; i++) {
        runs += s->plans[i]->profile->runs;
        for (int32_t k = 0; k < s->plans[i]->n_code; k++) s->rows[n++] = row_of(s->plans[i], k);
    }
    n = merge_rows(s->rows, n);
    qsort(s->rows, (size_t)n, sizeof *s->rows, by_ticks);
    fprintf(s->to, "all plans: %lld runs, %.3f ms in all\n", (long long)runs,
            (double)s->ticks * s->nanoseconds / 1e6);
    put_heading(s, "operation");
    for (int32_t i = 0; i < n; i++) {
        put_numbers(s, &s->rows[i], s->ticks, runs);
        fprintf(s->to, "%s x%lld\n", label(s->rows[i].of), (long long)s->rows[i].instructions);
    }
}

/* ------------------------------------------------------------ line by line -- */

static void put_string(FILE *to, const char *before, const char *text)
{
    fprintf(to, "%s\"", before);
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ') fprintf(to, "\\u%04x", (unsigned)(unsigned char)*c);
        else fprintf(to, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    fprintf(to, "\"");
}

static void put_types(FILE *to, const char *name, eddy_buffer *const *at, int n)
{
    fprintf(to, ", \"%s\": [", name);
    for (int i = 0; i < n; i++) {
        put_type(to, i > 0 ? ", \"" : "\"", at[i]->type);
        fprintf(to, "\"");
    }
    fprintf(to, "]");
}

static void put_part_counts(FILE *to, const instruction *i)
{
    fprintf(to, ", \"parts\": {");
    for (int k = 0; k < parts_of(i); k++) {
        const int n = count_label(i, k);
        if (n == 0) continue;
        put_string(to, k > 0 ? ", " : "", label_of_part(i, k));
        fprintf(to, ": %d", n);
    }
    fprintf(to, "}");
}

static void put_line(const summary *s, int plan, int32_t number)
{
    const eddy_plan           *p = s->plans[plan];
    const instruction         *i = &p->code[number];
    const instruction_profile *e = &p->profile->each[number];
    fprintf(s->to, "{\"plan\": %d, \"runs\": %lld, \"instruction\": %d", plan + 1,
            (long long)p->profile->runs, (int)number + 1);
    put_string(s->to, ", \"op\": ", label(i));
    put_string(s->to, ", \"node\": ", i->call.node->name);
    if (fused_of(i) || eddy__parallel_chains_of(i)) put_part_counts(s->to, i);
    put_types(s->to, "inputs", i->kernel.in, i->kernel.n_in);
    put_types(s->to, "outputs", i->kernel.out, i->kernel.n_out);
    fprintf(s->to, ", \"calls\": %lld, \"seconds\": %.9f, \"flops\": %.0f, \"bytes\": %.0f}\n",
            (long long)e->calls, (double)e->ticks * s->nanoseconds / 1e9, e->flops, e->bytes);
}

static void put_lines(summary *s)
{
    for (int i = 0; i < s->n_plans; i++)
        for (int32_t k = 0; k < s->plans[i]->n_code; k++) put_line(s, i, k);
}

/* -------------------------------------------------------------------- all -- */

/* Lists the plans that ran, and allocates a row for each of their instructions. */
static bool gather(summary *s, const eddy_session *from, eddy_arena *arena)
{
    const int64_t ticks = eddy__ticks() - from->began_ticks;
    s->nanoseconds =
        ticks > 0 ? (double)(eddy__nanoseconds() - from->began_nanoseconds) / (double)ticks : 0;
    s->plans = eddy__arena_alloc(arena, (size_t)(from->n_plans + 1) * sizeof *s->plans);
    if (!s->plans) return false;
    for (const eddy_plan *p = from->plans; p; p = p->next) {
        if (p->profile->runs == 0) continue;
        s->plans[s->n_plans++] = p;
        s->n_rows += p->n_code;
        s->ticks += p->profile->ticks;
    }
    qsort(s->plans, (size_t)s->n_plans, sizeof(const eddy_plan *), by_plan);
    s->rows = eddy__arena_alloc(arena, ((size_t)s->n_rows + 1) * sizeof *s->rows);
    return s->rows != NULL;
}

static eddy_status report(eddy_session *s, FILE *to, void (*put)(summary *))
{
    eddy_error e = { 0 };
    if (!eddy__session_enter(s)) return EDDY_INVALID_ARGUMENT;
    pthread_mutex_lock(&s->lock);
    if (eddy__session_check(s, &e) && !s->options.profile)
        eddy__error_set(
            &e, EDDY_INVALID_ARGUMENT,
            "session_profile: the session has no profile; create it with .profile = true");
    if (e.status == EDDY_OK) {
        summary    all = { .to = to ? to : stdout };
        eddy_arena arena = { .allocator = &s->allocator };
        pthread_rwlock_wrlock(&s->state_lock);
        if (gather(&all, s, &arena)) put(&all);
        else eddy__error_set(&e, EDDY_NO_MEMORY, "out of memory for a profile");
        pthread_rwlock_unlock(&s->state_lock);
        eddy__arena_free(&arena);
    }
    return eddy__session_finish(s, &e);
}

eddy_status eddy_session_profile(eddy_session *s, FILE *to) { return report(s, to, put_tables); }

eddy_status eddy_session_profile_json(eddy_session *s, FILE *to)
{
    return report(s, to, put_lines);
}
