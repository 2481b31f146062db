/* profile_rows.c -- rows of profiles, and the labels of instructions. */
#include "session/profile/profile_rows.h"

#include <string.h>

int eddy__profile_count_parts(const instruction *i)
{
    return fused_of(i) ? fused_of(i)->n_parts : eddy__parallel_chains_of(i)->n_parts;
}

const char *eddy__profile_label(const instruction *i)
{
    if (fused_of(i)) return "Fused";
    if (eddy__parallel_chains_of(i)) return "Parallel";
    const bool copies = !i->program && i->run != eddy__kernel_of(i->kernel.op);
    return copies ? "Copy" : i->kernel.op->name;
}

const char *eddy__profile_part_label(const instruction *i, int number)
{
    return fused_of(i) ? fused_of(i)->parts[number].op->name
                       : eddy__profile_label(&eddy__parallel_chains_of(i)->parts[number]);
}

int eddy__profile_count_label(const instruction *i, int k)
{
    const char *of = eddy__profile_part_label(i, k);
    int         n = 0;
    for (int j = 0; j < eddy__profile_count_parts(i); j++) {
        const bool same = strcmp(eddy__profile_part_label(i, j), of) == 0;
        if (same && j < k) return 0;
        n += same;
    }
    return n;
}

row eddy__profile_row(const eddy_plan *p, int32_t i)
{
    row r = { .of = &p->code[i], .number = i, .instructions = 1,
              .total = p->profile->each[i] };
    r.total.flops *= (double)r.total.calls;
    r.total.bytes *= (double)r.total.calls;
    return r;
}

int eddy__profile_by_ticks(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->total.ticks != y->total.ticks) return x->total.ticks < y->total.ticks ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

const instruction *eddy__profile_runner(const eddy_plan *p, const eddy_program *q, int32_t *number)
{
    for (*number = 0; *number < p->n_code; ++*number)
        if (p->code[*number].program == q) return &p->code[*number];
    return NULL;
}

void eddy__profile_put_type(FILE *to, const char *before, eddy_type t)
{
    char type[100];
    fprintf(to, "%s%s", before, eddy_type_print(t, type, sizeof type));
}
