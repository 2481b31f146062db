/* check_program.c -- verifier for the programs of a plan, for tests: the plans of their bodies, and
 * the memory of carried values. */
#include "session/compile/program.h"

static bool wrong(const eddy_program *p, eddy_error *error, const char *what)
{
    return eddy__error_set(error, EDDY_INTERNAL, "the program of '%s' is wrong: %s", p->node->name,
                           what);
}

/* Bytes of the program's scratch memory. */
typedef struct range {
    uint64_t begin, bytes;
} range;

static bool overlap(range a, range b)
{
    return a.bytes > 0 && b.bytes > 0 && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

/* The buffers of carried value j; at most two. */
static int buffers_of(const eddy_program *p, int j, range *r)
{
    const carried_value *v = &p->carried[j];
    int                  n = 0;
    if (v->output < 0) r[n++] = (range){ v->at[0], v->bytes };
    if (p->bodies[0].how[j] != RESULT_IN_PLACE) r[n++] = (range){ v->at[1], v->bytes };
    return n;
}

/* A buffer of carried value j is neither part of the memory of the bodies nor another one. */
static bool is_alone(const eddy_program *p, int j, range r)
{
    range other[2];
    int   same = 0;
    if (r.begin + r.bytes > p->scratch_bytes) return false;
    if (overlap(r, (range){ 0, p->bodies[0].plan->memory_bytes })) return false;
    if (p->condition.plan && overlap(r, (range){ 0, p->condition.plan->memory_bytes }))
        return false;
    for (int k = 0; k < p->n_carried; k++)
        for (int i = buffers_of(p, k, other) - 1; i >= 0; i--)
            if (overlap(r, other[i])) same += k == j ? 1 : 2;
    return same <= 1;
}

static bool check_carried(const eddy_program *p, eddy_error *error)
{
    range r[2];
    for (int j = 0; j < p->n_carried; j++)
        for (int i = buffers_of(p, j, r) - 1; i >= 0; i--)
            if (!is_alone(p, j, r[i])) return wrong(p, error, "memory of a carried value");
    return true;
}

/* A result that stays where the carried value was is in that memory. */
static bool check_results(const eddy_program *p, const body_plan *b, eddy_error *error)
{
    for (int j = 0; j < p->n_carried; j++) {
        const int32_t    buffer = b->plan->outputs[j].buffer;
        const plan_root *r = buffer < 0 ? NULL : &b->plan->roots[b->plan->buffer_root[buffer]];
        if (b->how[j] != RESULT_IN_PLACE) continue;
        if (!r || r->kind != VALUE_FEED || r->index != p->carried[j].index + 1)
            return wrong(p, error, "a carried value that stays elsewhere");
    }
    return true;
}

static bool check_plan(const eddy_plan *outer, const eddy_program *p, const body_plan *b,
                       eddy_error *error)
{
    const char *memory = b->plan->memory, *arena = outer->memory;
    const bool beyond = memory < arena || memory + p->scratch_bytes > arena + outer->memory_bytes;
    if (b->plan->memory_bytes > p->scratch_bytes || (p->scratch_bytes > 0 && beyond))
        return wrong(p, error, "memory beyond the arena");
    return eddy__plan_check(b->plan, error);
}

bool eddy__program_check(const eddy_plan *outer, const eddy_program *p, eddy_error *error)
{
    /* without memory, no instruction has it: a pass has made its node superfluous */
    if (p->scratch_bytes > 0 && !p->bodies[0].plan->memory) return true;
    if (p->condition.plan && !check_plan(outer, p, &p->condition, error)) return false;
    for (int b = 0; b < p->n_bodies; b++)
        if (!check_plan(outer, p, &p->bodies[b], error)) return false;
    return p->n_carried == 0 ||
           (check_carried(p, error) && check_results(p, &p->bodies[0], error));
}
