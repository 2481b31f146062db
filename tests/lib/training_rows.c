/* training_rows.c -- see training_rows.h. */
#include "tests/lib/training_rows.h"

enum { PAIRS = 16 };

/* ----------------------------------------------------------- optimizers -- */

/* An optimizer from its graph and rate; other arguments are its options. */
#define RULE(name, ...)                                                         \
    static eddy_optimizer *name(const training_problem *p)                      \
    {                                                                           \
        return eddy_##name(.graph = p->g, .learning_rate = p->rate, __VA_ARGS__); \
    }

static eddy_tensor number(const training_problem *p, double v) { return eddy_scalar(p->g, v); }

RULE(gradient_descent, .name = "o")
RULE(momentum, .momentum = number(p, 0.9), .use_nesterov = true)
RULE(adam, .name = "o")
RULE(adagrad, .name = "o")
RULE(adagrad_da, .global_step = p->step)
RULE(adadelta, .name = "o")
RULE(rmsprop, .momentum = number(p, 0.5), .centered = true)
RULE(ftrl, .name = "o")
RULE(proximal_gradient_descent, .name = "o")
RULE(proximal_adagrad, .name = "o")
RULE(asgd, .name = "o")
RULE(adamw, .name = "o")
RULE(adamax, .name = "o")
RULE(nadam, .name = "o")
RULE(radam, .name = "o")
RULE(adabelief, .name = "o")
RULE(adan, .name = "o")
RULE(yogi, .name = "o")
RULE(lion, .name = "o")
RULE(lamb, .name = "o")
RULE(lars, .name = "o")
RULE(novograd, .name = "o")
RULE(adafactor, .name = "o")
RULE(sm3, .name = "o")
RULE(shampoo, .momentum = number(p, 0.9))
RULE(prodigy, .name = "o")
RULE(schedule_free_adamw, .name = "o")

/* ------------------------------------------------------------- wrappers -- */

static eddy_optimizer *lookahead(const training_problem *p)
{
    return eddy_lookahead(.optimizer = adam(p), .sync_period = 3);
}
static eddy_optimizer *accumulated(const training_problem *p)
{
    return eddy_accumulate_gradients(.optimizer = adam(p), .steps = 3);
}
static eddy_optimizer *scaled(const training_problem *p)
{
    return eddy_loss_scale(.optimizer = adam(p), .increment_period = 3);
}
static eddy_optimizer *guarded(const training_problem *p)
{
    return eddy_apply_if_finite(.optimizer = adam(p), .quiet = true);
}
static eddy_optimizer *clipped(const training_problem *p)
{
    return eddy_clipped_gradients(.optimizer = adam(p), .global_norm = number(p, 0.1));
}
static eddy_optimizer *decoupled(const training_problem *p)
{
    return eddy_decoupled_weight_decay(.optimizer = momentum(p), .weight_decay = number(p, 0.01));
}
static eddy_optimizer *coupled(const training_problem *p)
{
    return eddy_coupled_weight_decay(.optimizer = adam(p), .weight_decay = number(p, 0.01));
}
static eddy_optimizer *several(const training_problem *p)
{
    const eddy_tensor         first = eddy_collection_at(p->g, EDDY_TRAINABLE_VARIABLES, 0);
    const eddy_optimizer_part parts[] = { { lion(p), { 1, &first } }, { adam(p), { 0, NULL } } };
    return eddy_multi_optimizer(.parts = parts, .count = 2);
}
/* Its rate is an initial value, so it cannot be a schedule. */
static eddy_optimizer *rprop(const training_problem *p)
{
    return eddy_rprop(.graph = p->g, .learning_rate = number(p, 0.01));
}
/* Muon takes matrices only. */
static eddy_optimizer *muon(const training_problem *p)
{
    eddy_optimizer *o = eddy_muon(.graph = p->g, .learning_rate = p->rate);
    const eddy_tensor kernels[] = { eddy_collection_at(p->g, EDDY_TRAINABLE_VARIABLES, 0),
                                    eddy_collection_at(p->g, EDDY_TRAINABLE_VARIABLES, 2) };
    const eddy_optimizer_part parts[] = { { o, { 2, kernels } }, { adam(p), { 0, NULL } } };
    return eddy_multi_optimizer(.parts = parts, .count = 2);
}
static eddy_optimizer *nested(const training_problem *p)
{
    eddy_optimizer *o = eddy_accumulate_gradients(.optimizer = clipped(p), .steps = 2);
    return eddy_loss_scale(.optimizer = eddy_lookahead(.optimizer = o, .sync_period = 2),
                           .increment_period = 2);
}

/* ------------------------------------------------------ training operations -- */

static eddy_tensor minimized(const training_problem *p, eddy_optimizer *o)
{
    return eddy_minimize(o, p->loss, .global_step = p->step);
}
static eddy_tensor minimized_scaled(const training_problem *p, eddy_optimizer *o)
{
    return eddy_minimize(o, eddy_scale_loss(o, p->loss), .global_step = p->step);
}
static eddy_tensor sharpened(const training_problem *p, eddy_optimizer *o)
{
    eddy_gradient_pair pairs[PAIRS];
    const int          n = eddy_sharpness_aware_gradients(.optimizer = o, .loss = p->loss,
                                                          .out = pairs, .max_out = PAIRS);
    return eddy_apply_gradients(o, pairs, n, .global_step = p->step);
}
static eddy_tensor averaged(const training_problem *p, eddy_optimizer *o)
{
    eddy_averages *a = eddy_exponential_moving_average(.graph = p->g, .decay = number(p, 0.9),
                                                       .num_updates = p->step);
    eddy_control_begin(p->g, EDDY_LIST(minimized(p, o)));
    const eddy_tensor t = eddy_averages_apply(a, EDDY_LIST());
    eddy_control_end(p->g);
    return t;
}
static eddy_tensor weights_averaged(const training_problem *p, eddy_optimizer *o)
{
    eddy_averages *a = eddy_stochastic_weight_average(.graph = p->g);
    eddy_control_begin(p->g, EDDY_LIST(minimized(p, o)));
    const eddy_tensor t = eddy_averages_apply(a, EDDY_LIST());
    eddy_control_end(p->g);
    return t;
}

/* The rate depends on the losses, and the optimizer is another one. */
static eddy_tensor reduced(const training_problem *p, eddy_optimizer *o)
{
    const eddy_plateau plateau = eddy_reduce_on_plateau(
        number(p, 0.1), p->loss, number(p, 0.5), .patience = 0, .threshold = number(p, 0.01));
    o = eddy_momentum(.graph = p->g, .learning_rate = plateau.learning_rate,
                      .momentum = number(p, 0.9));
    const eddy_tensor t = minimized(p, o);
    return eddy_group(p->g, EDDY_LIST(t, plateau.update));
}

#define ROW(name) { #name, name, minimized }

const training_row training_rows[TRAINING_ROWS] = {
    ROW(gradient_descent), ROW(momentum), ROW(adam), ROW(adagrad), ROW(adagrad_da), ROW(adadelta),
    ROW(rmsprop), ROW(ftrl), ROW(proximal_gradient_descent), ROW(proximal_adagrad), ROW(rprop),
    ROW(asgd), ROW(adamw), ROW(adamax), ROW(nadam), ROW(radam), ROW(adabelief), ROW(adan),
    ROW(yogi), ROW(lion), ROW(lamb), ROW(lars), ROW(novograd), ROW(adafactor), ROW(sm3),
    ROW(shampoo), ROW(muon), ROW(prodigy), ROW(schedule_free_adamw), ROW(lookahead),
    ROW(accumulated), ROW(guarded), ROW(clipped), ROW(decoupled), ROW(coupled), ROW(several),
    { "scaled", scaled, minimized_scaled }, { "nested", nested, minimized_scaled },
    { "sharpness aware", momentum, sharpened }, { "averages", adam, averaged },
    { "average of weights", gradient_descent, weights_averaged },
    { "reduced on plateau", gradient_descent, reduced },
};

/* ---------------------------------------------------------------- the model -- */

eddy_graph *training_graph(const training_row *r, const eddy_files *files)
{
    training_problem p = { .g = eddy_graph_new(.files = files) };
    eddy_graph *g = p.g;
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 4));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor h = eddy_dropout(eddy_relu(eddy_dense(x, 8, "hidden")), .rate = 0.25);
    eddy_tensor logits = eddy_dense(h, 3, "logits");
    p.loss = eddy_mean(eddy_sparse_softmax_cross_entropy(y, logits), .name = "loss");
    p.step = eddy_create_global_step(g);
    p.rate = eddy_noisy_linear_cosine_decay(number(&p, 0.05), p.step, number(&p, 20));
    p.rate = eddy_maximum(p.rate, number(&p, 0.01));
    eddy_group(g, EDDY_LIST(r->train(&p, r->make(&p))), "train");
    h = eddy_relu(eddy_dense(x, 8, .reuse = "hidden"));
    eddy_mean(eddy_dense(h, 3, .reuse = "logits"), .name = "look");
    eddy_random_normal(g, EDDY_SHAPE(3), .name = "noise");
    eddy_initializer(g);
    return g;
}
