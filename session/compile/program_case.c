/* program_case.c -- compiles the branches of a Case node into the plans of a program. */
#include "session/compile/program_parts.h"

#include <stdio.h>
#include <string.h>

/* Results whose shapes differ by branch: only a run tells them. */
static bool case_types_agree(assembly *a, const eddy_type *types, int n, int branch)
{
    char one[120], other[120], what[400];
    for (int k = 0; k < n; k++) {
        const eddy_type t = a->program->outputs[k], u = types[k];
        if (t.dtype == u.dtype && eddy_shape_equal(t.shape, u.shape)) continue;
        snprintf(what, sizeof what, "result %d is %s in branch 0 and %s in branch %d", k,
                 eddy_type_print(t, one, sizeof one), eddy_type_print(u, other, sizeof other),
                 branch);
        eddy__program_refuse(a, EDDY_BAD_SHAPE, what);
        return eddy__program_note_varying(a);
    }
    return true;
}

static eddy_tensor branch_result(const eddy_case_attrs *at, int64_t branch, int64_t k)
{
    return eddy__body_out(at->body, at->outs, branch * at->n_out + k);
}

static bool same_result(const case_result *r, const eddy_node *node, int k)
{
    const eddy_case_attrs *a = r->node->attrs, *b = node->attrs;
    for (int64_t branch = 0; branch < a->n_branches; branch++)
        if (!eddy_same(branch_result(a, branch, r->k), branch_result(b, branch, k))) return false;
    return true;
}

int eddy__case_result_number(case_result *list, int *n, const eddy_node *node, int k)
{
    for (int i = 0; i < *n; i++)
        if (same_result(&list[i], node, k)) return i;
    list[*n] = (case_result){ node, k };
    return (*n)++;
}

/* The effects of a branch come after the wanted results. */
static int branch_fetches(assembly *a, int branch, const case_result *results, int n_out)
{
    const eddy_case_attrs *at = a->node->attrs;
    int                    n = 0;
    for (int k = 0; k < n_out; k++)
        a->fetches[n++] = branch_result(results[k].node->attrs, branch, results[k].k);
    for (int64_t i = 0; i < at->effects.count / 2 && !eddy__program_is_quiet(a); i++)
        if (at->effects.at[2 * i] == branch)
            a->fetches[n++] = eddy__tensor_at(at->body, (int32_t)at->effects.at[2 * i + 1], 0);
    return n;
}

/* A branch that does not fit these shapes is an error only if it is taken, which a run tells. */
static bool refuse_branch(assembly *a, int n_branches)
{
    const eddy_status status = a->c->error->status;
    if (n_branches > 1 && (status == EDDY_BAD_SHAPE || status == EDDY_INVALID_ARGUMENT))
        eddy__program_note_varying(a);
    return false;
}

/* All branches, or the one that is chosen if that is known, as where it follows from shapes. */
static void choose_branches(const assembly *a, int *from, int *to)
{
    const eddy_array *index = eddy__folded_value(a->c, a->node->inputs[0]);
    const int         n = (int)((const eddy_case_attrs *)a->node->attrs)->n_branches;
    const double      i = index ? eddy_array_get(index, 0) : 0;
    *from = !index ? 0 : i >= 0 && i < n ? (int)i : n - 1;
    *to = index ? *from + 1 : n;
}

bool eddy__case_compile(assembly *a, const case_result *results, int n_out)
{
    eddy_program *p = a->program;
    int           to;
    if (!eddy__program_is_scalar(a, "the index of the branch", eddy__program_input(a, 0)))
        return false;
    for (int i = 0; i < a->n_args; i++) {
        if (!eddy__program_set_argument(a, i, eddy__program_input(a, i + 1))) return false;
        eddy__program_set_constant(a, i, i + 1);
    }
    choose_branches(a, &p->first_branch, &to);
    p->bodies = eddy__plan_alloc(a->c, (size_t)(to - p->first_branch), sizeof *p->bodies);
    p->outputs = eddy__plan_alloc(a->c, (size_t)n_out + 1, sizeof *p->outputs);
    if (!p->bodies || !p->outputs) return false;
    p->n_outputs = n_out;
    for (int b = p->first_branch; b < to; b++) {
        body_plan *body = &p->bodies[p->n_bodies++];
        if (!eddy__program_body(a, body, branch_fetches(a, b, results, n_out), a->types))
            return refuse_branch(a, to - p->first_branch);
        if (b == p->first_branch) memcpy(p->outputs, a->types, (size_t)n_out * sizeof *p->outputs);
        else if (!case_types_agree(a, a->types, n_out, b)) return false;
        if (!eddy__program_set_results(a, body, 0, NULL)) return false;
        const uint64_t bytes = body->plan->memory_bytes;
        if (bytes > p->scratch_bytes) p->scratch_bytes = bytes;
    }
    return true;
}
