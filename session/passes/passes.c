/* passes.c -- the list of optimization passes over a plan's IR, their order, and statistics of
 * their changes. */
#include "session/passes/passes.h"
#include "session/compile/widen.h"
#include "ops/weak_ops.h"

#include <string.h>

enum { MAX_ROUNDS = 10, MAX_OPS = 8 };

typedef struct pass {
    const char *name;
    unsigned    bit;                /* that leaves it out */
    bool      (*rule)(rewrite *r);
    bool        repeat;             /* the pass is repeated until nothing changes */
    const eddy_op_def *ops[MAX_OPS];    /* each graph that the rule changes has one of them; none
                                         * are given if the rule applies to many */
} pass;

/* Later passes also merge equal nodes. */
static const pass PASSES[] = {
    { "merge",    EDDY_PASS_MERGE,    NULL,          false, { NULL } },
    { "simplify", EDDY_PASS_SIMPLIFY, eddy__simplify, true, { NULL } },
    { "stabilize", EDDY_PASS_STABILIZE, eddy__stabilize, true,
      { &eddy_op_exp, &eddy_op_log, &eddy_op_sigmoid, &eddy_op_softmax } },
    { "patterns", EDDY_PASS_PATTERNS, eddy__find_patterns, true,
      { &eddy_op_exp, &eddy_op_softmax, &eddy_op_erf, &eddy_op_tanh, &eddy_op_sqrt, &eddy_op_rsqrt,
        &eddy_op_layer_norm, &eddy_op_fused_batch_norm } },
    { "products", EDDY_PASS_PRODUCTS, eddy__improve_products, true,
      { &eddy_op_matmul, &eddy_op_batch_matmul, &eddy_op_fused_matmul } },
    { "epilogues", EDDY_PASS_EPILOGUES, eddy__take_in_epilogues, true,
      { &eddy_op_matmul, &eddy_op_fused_matmul, &eddy_op_conv2d, &eddy_op_fused_conv2d,
        &eddy_op_depthwise } },
    { "chains", EDDY_PASS_CHAINS, eddy__chain_up, false, { NULL } },
};
enum { N_PASSES = sizeof PASSES / sizeof *PASSES };

static int bit_number(unsigned bit) { return __builtin_ctz(bit); }

static void report(const compile *c, const char *name, unsigned bit, int changes, int32_t before)
{
    const eddy_session_args *o = &c->session->options;
    c->plan->info.changes[bit_number(bit)] += changes;
    if (!o->report) return;
    fprintf(o->report, "%s: %d changes, %d nodes, %d before\n", name, changes,
            (int)c->ir->size, (int)before);
    if (o->report_nodes && changes > 0) eddy__ir_print(c->ir, o->report);
}

static bool may_change(const ir_graph *f, const pass *p)
{
    if (!p->ops[0] || !f->settled) return true;
    for (int32_t id = 1; id <= f->size; id++)
        for (int i = 0; i < MAX_OPS; i++)
            if (f->nodes[id]->op == p->ops[i]) return true;
    return false;
}

static bool run_pass(compile *c, const pass *p)
{
    const bool    merge = !(c->without & EDDY_PASS_MERGE);
    const int32_t before = c->ir->size;
    const int     rounds = !may_change(c->ir, p) ? 0 : p->repeat ? MAX_ROUNDS : 1;
    int           changes = 0;
    for (int round = 0; round == 0 || !c->ir->settled; round++) {
        if (round == rounds) break;
        if (!eddy__ir_transform(c, p->rule, merge, &changes)) return false;
    }
    report(c, p->name, p->bit, changes, before);
    return true;
}

/* Removes nodes whose result fused loops can compute themselves; they would need memory. */
static bool recompute(compile *c)
{
    const int32_t before = c->ir->size;
    int           changes = 0;
    if (c->without & (EDDY_PASS_RECOMPUTE | EDDY_PASS_FUSE)) return true;
    if (!eddy__recompute(c, &changes)) return false;
    report(c, "recompute", EDDY_PASS_RECOMPUTE, changes, before);
    return true;
}

bool eddy__improve(compile *c)
{
    const eddy_session_args *o = &c->session->options;
    if (o->report && c->part)
        fprintf(o->report, "%s of '%s': plan of %d nodes\n", c->part, c->of, (int)c->ir->size);
    else if (o->report) fprintf(o->report, "plan of %d nodes\n", (int)c->ir->size);
    if (o->report && o->report_nodes) eddy__ir_print(c->ir, o->report);
    for (int i = 0; i < N_PASSES; i++)
        if (!(c->without & PASSES[i].bit) && !run_pass(c, &PASSES[i])) return false;
    int dropped = 0;
    if (!eddy__widen(c)) return false;
    if (!eddy__ir_transform(c, NULL, false, &dropped)) return false;
    if (!(c->without & EDDY_PASS_SCHEDULE) && !eddy__schedule_nodes(c)) return false;
    if (o->report) fprintf(o->report, "scheduled: %d nodes\n", (int)c->ir->size);
    if (o->report && o->report_nodes) eddy__ir_print(c->ir, o->report);
    return recompute(c);
}
