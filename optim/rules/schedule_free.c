/* schedule_free.c -- schedule-free AdamW: two sequences, the average of which makes a schedule
 * unnecessary (Defazio et al. 2024).
 *
 *   w  = (the largest lr so far)^2,  c = w / the sum of all w
 *   v <- v + (1 - beta2) (g^2 - v)
 *   u  = g / (sqrt(v / (1 - beta2^t)) + epsilon) + decay y
 *   y <- y + c (z - y) - lr (1 - beta1 (1 - c)) u
 *   z <- z - lr u
 *
 * The variable is y; its average x = y + (1 - 1 / beta1) (z - y) is not stored in a slot. */
#include "optim/rules/rule_formulas.h"
#include "graph/call_options.h"

#include <string.h>

typedef struct free_state {
    eddy_schedule_free_adamw_args a;
    eddy_tensor                   highest, total;            /* of the rates, of w: the new ones */
    eddy_tensor                   rate, share, part, root;   /* of this step; share is c */
} free_state;

static void free_slots(eddy_optimizer *o, eddy_tensor v)
{
    eddy_make_slot(o, v, "z", eddy_initialized_value(v));
    eddy_make_shared_slot(o, "lr_max", eddy_number(o->graph, EDDY_FLOAT64, 0));
    eddy_make_shared_slot(o, "weight_sum", eddy_number(o->graph, EDDY_FLOAT64, 0));
    eddy__counted_slots(o, v);
}

static void free_prepare(eddy_optimizer *o)
{
    free_state *s = eddy_optimizer_state(o);
    s->rate = eddy__exact(s->a.learning_rate);
    s->highest = Maximum(eddy__shared_slot(o, "lr_max"), s->rate);
    eddy_tensor weight = Square(s->highest);
    s->total = Add(eddy__shared_slot(o, "weight_sum"), weight);
    s->share = DivNoNan(weight, s->total);
    s->part = Mul(s->rate, Sub(1, Mul(eddy__exact(s->a.beta1), Sub(1, s->share))));
    s->root = Rsqrt(eddy__one_less_power(s->a.beta2, eddy__step_number(o)));
}

static void free_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const free_state *s = eddy_optimizer_state(o);
    x[2] = eddy__moving(x[2], Square(g), s->a.beta2);
    eddy_tensor root = Mul(Sqrt(x[2]), eddy_hyper(s->root, g));
    eddy_tensor u = Div(g, Add(root, eddy_hyper(s->a.epsilon, g)));
    if (s->a.weight_decay.node != 0 && !eddy__picks(&s->a.without_decay, o->variable))
        u = Add(u, Mul(eddy_hyper(s->a.weight_decay, g), x[0]));
    eddy_tensor y = Add(x[0], Mul(eddy_hyper(s->share, g), Sub(x[1], x[0])));
    x[0] = Sub(y, Mul(eddy_hyper(s->part, g), u));
    x[1] = Sub(x[1], Mul(eddy_hyper(s->rate, g), u));
}

static eddy_tensor free_finish(eddy_optimizer *o, eddy_list updates)
{
    const free_state *s = eddy_optimizer_state(o);
    eddy_control_begin(o->graph, updates);
    eddy_tensor highest = eddy_assign(eddy__shared_slot(o, "lr_max"), s->highest);
    eddy_tensor total = eddy_assign(eddy__shared_slot(o, "weight_sum"), s->total);
    eddy_control_end(o->graph);
    return eddy_group(o->graph, EDDY_LIST(highest, total, eddy__count_step(o, updates)), NULL);
}

static const eddy_option_row options[] = {
    TENSOR(eddy_schedule_free_adamw_args, learning_rate),
    TENSOR(eddy_schedule_free_adamw_args, beta1),
    TENSOR(eddy_schedule_free_adamw_args, beta2),
    TENSOR(eddy_schedule_free_adamw_args, epsilon),
    OPTIONAL(eddy_schedule_free_adamw_args, weight_decay),
    { 0 },
};

static const eddy_optimizer_rule schedule_free = {
    { .name = "ScheduleFreeAdamW", .state_size = sizeof(free_state),
      .create_slots = free_slots, .prepare = free_prepare, .finish = free_finish,
      .step = free_step, .slots = { "z", "v" } },
    sizeof(eddy_schedule_free_adamw_args), options,
};

eddy_optimizer *eddy_schedule_free_adamw_with(const eddy_schedule_free_adamw_args *given)
{
    eddy_schedule_free_adamw_args a = EDDY_TAKE(eddy_schedule_free_adamw_args, given);
    return eddy__optimizer_make_lazy(&schedule_free, &a, a.name, false);
}

/* -------------------------------------- changing between train and eval -- */

/* All variables moved toward their z by that share of the way. */
static eddy_tensor move_all(eddy_optimizer *o, const char *what, bool forth)
{
    eddy_graph *g = eddy__optimizer_ready(o);
    if (!g) return eddy_none(eddy_optimizer_graph(o));
    const free_state *s = eddy_optimizer_state(o);
    if (o->def.step != free_step || o->n_slots == 0)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "%s: '%s' is not a ScheduleFreeAdamW that updates variables", what,
                         o->name);
    eddy_scope_begin(g, what);
    eddy_tensor beta1 = eddy__exact(s->a.beta1), last = eddy_group(g, (eddy_list){ 0 }, NULL);
    eddy_tensor by = Sub(1, forth ? Div(1, beta1) : beta1);
    for (int i = 0; i < o->n_slots; i++) {
        const eddy_tensor v = { .graph = g, .node = o->slots[i].owner }, z = o->slots[i].variable;
        if (v.node == 0 || strcmp(o->slots[i].name, "z") != 0) continue;
        eddy_tensor moved = eddy_assign(v, Add(v, Mul(eddy_hyper(by, v), Sub(z, v))));
        last = eddy_group(g, EDDY_LIST(last, moved), NULL);
    }
    eddy_scope_end(g);
    return last;
}

eddy_tensor eddy_schedule_free_evaluate(eddy_optimizer *o)
{
    return move_all(o, "schedule_free_evaluate", true);
}

eddy_tensor eddy_schedule_free_train(eddy_optimizer *o)
{
    return move_all(o, "schedule_free_train", false);
}
