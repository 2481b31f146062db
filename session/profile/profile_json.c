/* profile_json.c -- profiles as JSON, line by line. */
#include "session/profile/profile_rows.h"

void eddy__profile_put_string(FILE *to, const char *before, const char *text)
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
        eddy__profile_put_type(to, i > 0 ? ", \"" : "\"", at[i]->type);
        fprintf(to, "\"");
    }
    fprintf(to, "]");
}

static void put_part_counts(FILE *to, const instruction *i)
{
    fprintf(to, ", \"parts\": {");
    for (int k = 0; k < eddy__profile_count_parts(i); k++) {
        const int n = eddy__profile_count_label(i, k);
        if (n == 0) continue;
        eddy__profile_put_string(to, k > 0 ? ", " : "", eddy__profile_part_label(i, k));
        fprintf(to, ": %d", n);
    }
    fprintf(to, "}");
}

/* Where a line is: the number of its plan, and the node and the part of it whose body it is in. */
typedef struct line_place {
    int         plan;
    const char *in, *part;      /* NULL: outside of bodies */
} line_place;

static void put_place(FILE *to, line_place at)
{
    if (at.plan > 0) fprintf(to, "{\"plan\": %d", at.plan);
    else fprintf(to, "{\"plan\": null");
    if (!at.in) return;
    eddy__profile_put_string(to, ", \"in\": ", at.in);
    eddy__profile_put_string(to, ", \"part\": ", at.part);
}

/* Of all chains of parallel instructions. */
static double bytes_of_results(const instruction *i)
{
    const parallel_chains *w = eddy__parallel_chains_of(i);
    double                 bytes = 0;
    for (int n = 0; n < (w ? w->n_parts : 1); n++) {
        const eddy_kernel *k = w ? &w->parts[n].kernel : &i->kernel;
        for (int o = 0; o < k->n_out; o++)
            bytes += (double)k->out[o]->count * (double)eddy_dtype_size(k->out[o]->type.dtype);
    }
    return bytes;
}

static void put_line(const summary *s, line_place at, const eddy_plan *p, int32_t number)
{
    const instruction         *i = &p->code[number];
    const instruction_profile *e = &p->profile->each[number];
    const eddy_program        *q = i->program;
    put_place(s->to, at);
    fprintf(s->to, ", \"runs\": %lld, \"instruction\": %d", (long long)p->profile->runs,
            (int)number + 1);
    eddy__profile_put_string(s->to, ", \"op\": ", eddy__profile_label(i));
    eddy__profile_put_string(s->to, ", \"node\": ", i->call.node->name);
    if (is_combined(i)) put_part_counts(s->to, i);
    put_types(s->to, "inputs", i->kernel.in, i->kernel.n_in);
    put_types(s->to, "outputs", i->kernel.out, i->kernel.n_out);
    if (q && (q->node->op->flags & EDDY_OP_LOOP))
        fprintf(s->to, ", \"iterations\": %lld", (long long)q->bodies[0].plan->profile->runs);
    fprintf(s->to, ", \"calls\": %lld, \"seconds\": %.9f, \"flops\": %.0f, \"bytes\": %.0f, "
            "\"result_bytes\": %.0f}\n", (long long)e->calls,
            (double)e->ticks * s->nanoseconds / 1e9, e->flops, e->bytes, bytes_of_results(i));
}

const char *eddy__profile_part(int32_t number, char *text, size_t size)
{
    if (number == PART_BODY) return "body";
    if (number == PART_CONDITION) return "condition";
    snprintf(text, size, "branch %d", (int)number);
    return text;
}

/* The instructions of the plan, and behind them those of bodies. */
static void put_plan(const summary *s, line_place at, const eddy_plan *p)
{
    char name[30];
    if (!p || p->profile->runs == 0) return;
    for (int32_t k = 0; k < p->n_code; k++) put_line(s, at, p, k);
    for (const eddy_program *q = p->programs; q; q = q->next) {
        put_plan(s, (line_place){ at.plan, q->node->name, "condition" }, q->condition.plan);
        for (int b = 0; b < q->n_bodies; b++) {
            const int32_t number = q->node->op->flags & EDDY_OP_LOOP ? PART_BODY
                                                                           : q->first_branch + b;
            put_plan(s, (line_place){ at.plan, q->node->name,
                                      eddy__profile_part(number, name, sizeof name) },
                     q->bodies[b].plan);
        }
    }
}

void eddy__profile_lines(summary *s)
{
    char name[30];
    for (int i = 0; i < s->n_plans; i++) put_plan(s, (line_place){ .plan = i + 1 }, s->plans[i]);
    for (int32_t i = 0; i < s->n_nodes; i++) {
        const node_time *t = &s->nodes[i];
        put_place(s->to, (line_place){ .in = t->place.in ? t->place.in->name : NULL,
                                       .part = eddy__profile_part(t->place.part, name,
                                                                  sizeof name) });
        eddy__profile_put_string(s->to, ", \"op\": ", t->node->op->name);
        eddy__profile_put_string(s->to, ", \"node\": ", t->node->name);
        if (t->node->op->flags & EDDY_OP_LOOP)
            fprintf(s->to, ", \"iterations\": %lld", (long long)t->iterations);
        fprintf(s->to, ", \"calls\": %lld, \"seconds\": %.9f}\n", (long long)t->calls,
                (double)t->ticks * s->nanoseconds / 1e9);
    }
}
