/* tables.c -- profiles as tables. */
#include "session/profile/profile_rows.h"

#include <stdlib.h>
#include <string.h>

static int by_label(const void *a, const void *b)
{
    return strcmp(eddy__profile_label(((const row *)a)->of),
                  eddy__profile_label(((const row *)b)->of));
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

/* The type of the elements that a fused loop processes. */
static eddy_type loop_type(const fused *f)
{
    const part *p = &f->parts[0];
    return p->fn ? eddy__part_result(p)->type : p->at[0]->type;
}

/* "Fused(Mul x2, Add) float32[3]", "Parallel(MatMul x3, Fused x3) 3 parallel chains" */
static void put_parts(FILE *to, const instruction *i)
{
    fprintf(to, "%s(", eddy__profile_label(i));
    for (int k = 0; k < eddy__profile_count_parts(i); k++) {
        const int n = eddy__profile_count_label(i, k);
        if (n == 0) continue;
        fprintf(to, "%s%s", k > 0 ? ", " : "", eddy__profile_part_label(i, k));
        if (n > 1) fprintf(to, " x%d", n);
    }
    if (fused_of(i)) eddy__profile_put_type(to, ") ", loop_type(fused_of(i)));
    else fprintf(to, ") %d parallel chains", (int)eddy__parallel_chains_of(i)->n_chains);
}

/* "MatMul(float32[2,3], float32[3,4]) [node 'dense/MatMul']" */
static void put_instruction(FILE *to, const instruction *i)
{
    enum { MOST = 8 };
    const eddy_kernel *k = &i->kernel;
    if (fused_of(i) || eddy__parallel_chains_of(i)) put_parts(to, i);
    else {
        fprintf(to, "%s(", eddy__profile_label(i));
        for (int n = 0; n < k->n_in && n < MOST; n++)
            eddy__profile_put_type(to, n > 0 ? ", " : "", k->in[n]->type);
        fprintf(to, k->n_in > MOST ? ", ...)" : ")");
    }
    fprintf(to, " [node '%s']\n", i->call.node->name);
}

/* The columns of numbers; `times` is the number of runs, or of iterations. */
static void put_numbers(const summary *s, const row *r, int64_t ticks, int64_t times)
{
    const double ns = (double)r->total.ticks * s->nanoseconds, per = ns > 0 ? 1 / ns : 0;
    fprintf(s->to, "  %5.1f%% %10.2f %10lld %8.2f %8.2f  ",
            ticks > 0 ? 100 * (double)r->total.ticks / (double)ticks : 0,
            times > 0 ? ns / 1000 / (double)times : 0, (long long)r->total.calls,
            r->total.flops * per, r->total.bytes * per);
}

static void put_heading(const summary *s, const char *per, const char *last)
{
    fprintf(s->to, "   share %10s      calls  GFLOP/s     GB/s  %s\n", per, last);
}

static void put_fetches(FILE *to, const eddy_plan *p)
{
    enum { MOST = 4 };
    for (int i = 0; i < p->n_fetches && i < MOST; i++)
        fprintf(to, "%s%s", i > 0 ? ", " : "; fetches ", eddy_name_of(p->fetches[i]));
    fprintf(to, p->n_fetches > MOST ? ", ...\n" : "\n");
}

/* A row for each instruction; their times are shares of `ticks`. */
static void put_rows(const summary *s, const eddy_plan *p, int64_t ticks)
{
    for (int32_t i = 0; i < p->n_code; i++) s->rows[i] = eddy__profile_row(p, i);
    qsort(s->rows, (size_t)p->n_code, sizeof *s->rows, eddy__profile_by_ticks);
    for (int32_t i = 0; i < p->n_code; i++) {
        put_numbers(s, &s->rows[i], ticks, p->profile->runs);
        put_instruction(s->to, s->rows[i].of);
    }
}

/* The plan of a body, whose times are shares of those of its Loop or Case. */
static void put_body(const summary *s, const eddy_plan *p, int64_t ticks, const char *per,
                     const char *what)
{
    if (!p || p->profile->runs == 0) return;
    put_heading(s, per, what);
    put_rows(s, p, ticks);
}

static void put_program(const summary *s, const eddy_program *q, const instruction_profile *total);

/* The bodies of the Loop and Case nodes of a plan, and of those in them. */
static void put_programs(const summary *s, const eddy_plan *p)
{
    for (const eddy_program *q = p ? p->programs : NULL; q; q = q->next) {
        int32_t number;
        if (eddy__profile_runner(p, q, &number)) put_program(s, q, &p->profile->each[number]);
    }
}

static void put_loop(const summary *s, const char *name, int64_t ticks, int64_t calls,
                     int64_t iterations)
{
    const double per = iterations > 0 ? 1 / (double)iterations : 0;
    fprintf(s->to, "  loop '%s': %lld calls, %.1f iterations a call, %.3f us an iteration\n", name,
            (long long)calls, calls > 0 ? (double)iterations / (double)calls : 0,
            (double)ticks * s->nanoseconds / 1000 * per);
}

static void put_program(const summary *s, const eddy_program *q, const instruction_profile *total)
{
    if (total->calls == 0) return;
    const char *name = q->node->name;
    if (q->node->op->flags & EDDY_OP_LOOP) {
        put_loop(s, name, total->ticks, total->calls, q->bodies[0].plan->profile->runs);
        put_body(s, q->condition.plan, total->ticks, "us/iter", "instruction of the condition");
        put_body(s, q->bodies[0].plan, total->ticks, "us/iter", "instruction of the body");
    } else
        fprintf(s->to, "  branches of '%s': %lld calls\n", name, (long long)total->calls);
    for (int b = 0; b < q->n_bodies && !(q->node->op->flags & EDDY_OP_LOOP); b++) {
        const int64_t calls = q->bodies[b].plan->profile->runs;
        char          what[60];
        snprintf(what, sizeof what, "instruction of branch %d (%lld calls)",
                 q->first_branch + b, (long long)calls);
        put_body(s, q->bodies[b].plan, total->ticks, "us/call", what);
    }
    put_programs(s, q->condition.plan);
    for (int b = 0; b < q->n_bodies; b++) put_programs(s, q->bodies[b].plan);
}

static void put_plan(const summary *s, int number)
{
    const eddy_plan *p = s->plans[number];
    const double     us = s->nanoseconds / 1000 / (double)p->profile->runs;
    int64_t          inside = 0;
    for (int32_t i = 0; i < p->n_code; i++) inside += p->profile->each[i].ticks;
    fprintf(s->to, "plan %d: %lld runs of %d instructions, %.2f us a run, %.2f of them outside",
            number + 1, (long long)p->profile->runs, (int)p->n_code,
            (double)p->profile->ticks * us, (double)(p->profile->ticks - inside) * us);
    put_fetches(s->to, p);
    put_heading(s, "us/run", "instruction");
    put_rows(s, p, p->profile->ticks);
    put_programs(s, p);
    fprintf(s->to, "\n");
}

/* The nodes in the body of `in`, or outside of bodies. */
static void put_nodes(const summary *s, const node_time *in)
{
    char          name[30], note[40];
    const int64_t times = !in ? 0 : in->iterations > 0 ? in->iterations : in->calls;
    for (int32_t i = 0; i < s->n_nodes; i++) {
        const node_time *t = &s->nodes[i];
        const double     us = (double)t->ticks * s->nanoseconds / 1000;
        if (t->place.in != (in ? in->node : NULL)) continue;
        snprintf(note, sizeof note, ", %s", eddy__profile_part(t->place.part, name, sizeof name));
        if (t->place.part == PART_BODY) note[0] = '\0';
        if (in)
            fprintf(s->to, "  %5.1f%% %10.2f %10lld %8s %8s  %s [node '%s'%s]\n",
                    in->ticks > 0 ? 100 * (double)t->ticks / (double)in->ticks : 0,
                    times > 0 ? us / (double)times : 0, (long long)t->calls, "-", "-",
                    t->node->op->name, t->node->name, note);
    }
    for (int32_t i = 0; i < s->n_nodes; i++) {
        const node_time *t = &s->nodes[i];
        if (t->place.in != (in ? in->node : NULL)) continue;
        if (t->node->op->flags & EDDY_OP_LOOP)
            put_loop(s, t->node->name, t->ticks, t->calls, t->iterations);
        else if (!in || (t->node->op->flags & EDDY_OP_BODY))
            fprintf(s->to, "  %s '%s': %lld calls, %.2f us a call\n", t->node->op->name,
                    t->node->name, (long long)t->calls,
                    (double)t->ticks * s->nanoseconds / 1000 / (double)t->calls);
        if (!(t->node->op->flags & EDDY_OP_BODY)) continue;
        put_heading(s, t->iterations > 0 ? "us/iter" : "us/call", "node of the body");
        put_nodes(s, t);
    }
}

void eddy__profile_tables(summary *s)
{
    int32_t n = 0;
    int64_t runs = 0;
    for (int i = 0; i < s->n_plans; i++) put_plan(s, i);
    if (s->n_nodes > 0) {
        fprintf(s->to, "node by node, because shapes change in a run\n");
        put_nodes(s, NULL);
        fprintf(s->to, "\n");
    }
    for (int i = 0; i < s->n_plans; i++) {
        runs += s->plans[i]->profile->runs;
        for (int32_t k = 0; k < s->plans[i]->n_code; k++)
            s->rows[n++] = eddy__profile_row(s->plans[i], k);
    }
    n = merge_rows(s->rows, n);
    qsort(s->rows, (size_t)n, sizeof *s->rows, eddy__profile_by_ticks);
    fprintf(s->to, "all plans: %lld runs, %.3f ms in all\n", (long long)runs,
            (double)s->ticks * s->nanoseconds / 1e6);
    put_heading(s, "us/run", "operation");
    for (int32_t i = 0; i < n; i++) {
        put_numbers(s, &s->rows[i], s->ticks, runs);
        fprintf(s->to, "%s x%lld\n", eddy__profile_label(s->rows[i].of),
                (long long)s->rows[i].instructions);
    }
}
