/* network.c -- the graph of a training: placeholders, preparation, layers, loss, optimizer and
 * metrics. */
#include "command/train/training.h"

#include <eddy/formats/events.h>

#include <string.h>

/* ------------------------------------------------------------------ inputs -- */

/* A placeholder for a batch of each part; labels of small integer types become int32. */
static bool make_inputs(training *t, const config *at)
{
    eddy_graph *g = t->b.graph;
    for (int i = 0; i < t->train.n; i++) {
        const eddy_dtype d = eddy_array_dtype(t->train.arrays[i]);
        eddy_shape       s = eddy_array_shape(t->train.arrays[i]);
        s.dim[0] = EDDY_ANY;
        t->inputs[i] = eddy_placeholder(g, t->train.names[i], d, s);
        eddy_tensor  x = t->inputs[i];
        const bool   label = strcmp(t->train.names[i], "y") == 0;
        if (label && d == EDDY_UINT8) x = eddy_cast(x, EDDY_INT32);
        if (label) t->b.labels = x;
        if (strcmp(t->train.names[i], "x") == 0) t->x = t->b.x = x;
        if (!graph_is_fine(&t->b, at) || !name_add(&t->b, at, t->train.names[i], x)) return false;
    }
    return eddy_is_valid(t->x) ||
           config_fail(at, "no part of the records is named 'x', which the first layer takes");
}

/* (x - mean) / deviation of the training data, for each entry of the last axis. */
static bool normalize(training *t, const config *c)
{
    bool wanted = false;
    int  part = 0;
    if (!config_bool(c, &wanted)) return false;
    if (!wanted) return true;
    while (strcmp(t->train.names[part], "x") != 0) part++;
    const eddy_shape s = eddy_array_shape(t->train.arrays[part]);
    const int64_t    n = s.rank > 1 ? s.dim[s.rank - 1] : 1;
    double          *mean = room((size_t)n, sizeof *mean), *by = room((size_t)n, sizeof *by);
    if (!records_moments(&t->train, part, c, mean, by)) return false;
    eddy_array *m = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(n)),
               *d = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(n));
    for (int64_t k = 0; m && d && k < n; k++) {
        eddy_array_set(m, k, mean[k]);
        eddy_array_set(d, k, by[k]);
    }
    eddy_tensor x = eddy_cast(t->b.x, EDDY_FLOAT32);
    t->b.x = eddy_div(eddy_sub(x, eddy_constant(t->b.graph, m)), eddy_constant(t->b.graph, d));
    eddy_array_free(m);
    eddy_array_free(d);
    return graph_is_fine(&t->b, c);
}

/* Prepares x for the first layer; random changes happen in training only. */
static bool prepare(training *t, const config *data)
{
    const config *steps = config_get(data, "prepare"), *augment = config_get(data, "augment");
    eddy_tensor   y;
    if (!normalize(t, config_get(data, "normalize"))) return false;
    if (steps && !chain_make(&t->b, steps, &t->b.x)) return false;
    if (augment) {
        if (!chain_make(&t->b, augment, &y)) return false;
        t->b.x = eddy_where(t->b.training, y, t->b.x);
    }
    return graph_is_fine(&t->b, augment) && name_add(&t->b, data, "input", t->b.x);
}

/* ------------------------------------------------------------------ layers -- */

static int64_t parameters_of(eddy_graph *g)
{
    int64_t n = 0;
    for (int i = 0; i < eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES); i++)
        n += eddy_shape_count(
            eddy_shape_of(eddy_collection_at(g, EDDY_TRAINABLE_VARIABLES, i)));
    return n;
}

/* One layer after another, as chain_make, with notes for the table. */
static bool make_layers(training *t, const config *layers)
{
    if (!layers) return config_fail(t->root, "there is no 'model'");
    if (layers->kind != CONFIG_LIST || layers->count == 0)
        return config_fail(layers, "model is a list of layers, each with '- ' in front");
    for (int i = 0; i < layers->count; i++) {
        const config *c = layers->at[i];
        const int64_t before = parameters_of(t->b.graph);
        config        one = { .kind = CONFIG_LIST, .place = c->place, .count = 1,
                              .at = &layers->at[i] };
        if (!chain_make(&t->b, &one, &t->b.x)) return false;
        if (t->n_layers == MOST_LAYERS) return config_fail(c, "more than %d layers", MOST_LAYERS);
        t->layers[t->n_layers++] = (layer_note){
            c->kind == CONFIG_TEXT ? c->text : c->keys[layer_key(c)]->text, t->b.x,
            parameters_of(t->b.graph) - before,
        };
    }
    t->output = t->b.x;
    return true;
}

/* The layers in the precision of the training; the loss and what follows are in float32. */
static bool make_layers_in(training *t, const config *layers)
{
    if (t->precision != EDDY_FLOAT32) eddy_mixed_precision(t->b.graph, t->precision);
    const bool fine = make_layers(t, layers);
    if (t->precision == EDDY_FLOAT32 || !fine) return fine;
    eddy_mixed_precision(t->b.graph, EDDY_FLOAT32);
    if (eddy_dtype_of(t->output) == t->precision)
        t->output = t->b.x = eddy_cast(t->output, EDDY_FLOAT32);
    return graph_is_fine(&t->b, layers);
}

/* -------------------------------------------------------------------- loss -- */

/* The loss of a batch, a number, with the penalties of layers. */
static bool make_loss(training *t, const config *c)
{
    const config *options;
    if (!c) return config_fail(t->root, "there is no 'loss'");
    const call *k = call_find(c, ROLE_LOSS, &options);
    eddy_tensor loss = EDDY_NO_TENSOR;
    if (!k) return false;
    if (!eddy_is_valid(t->b.labels) && !(options && config_get(options, "labels")))
        return config_fail(c, "no part of the records is named 'y', with which the loss compares");
    if (!call_make(&t->b, k, ROLE_LOSS, c, options, &loss)) return false;
    if (eddy_shape_of(loss).rank != 0) loss = eddy_mean(loss);
    if (eddy_collection_size(t->b.graph, EDDY_REGULARIZATION_LOSSES) > 0)
        loss = eddy_add(loss, eddy_get_regularization_loss(t->b.graph, NULL));
    t->loss = loss;
    return graph_is_fine(&t->b, c);
}

/* Whether an optimizer of the configuration, or one inside it, is of this name. */
static bool names_optimizer(const config *c, const char *name)
{
    if (c->kind == CONFIG_TEXT) return strcmp(c->text, name) == 0;
    for (int i = 0; i < c->count; i++)
        if ((c->kind == CONFIG_MAP && strcmp(c->keys[i]->text, name) == 0) ||
            names_optimizer(c->at[i], name))
            return true;
    return false;
}

/* Around an optimizer: what ranks need. */
static eddy_optimizer *divided(const training *t, eddy_optimizer *o)
{
    if (t->divided) o = eddy_accumulate_gradients(o, t->parts / t->ranks, .pairwise = true);
    return t->communicator ? eddy_distributed(o, t->communicator) : o;
}

/* Around the optimizer: what float16 and ranks need. */
static eddy_optimizer *wrapped(const training *t, const config *c, eddy_optimizer *o)
{
    if (t->precision == EDDY_FLOAT16 && !names_optimizer(c, "loss_scale")) o = eddy_loss_scale(o);
    return divided(t, o);
}

/* Those of batch_norm; on ranks, with the mean over the parts of a batch. */
static eddy_tensor moving_averages(const training *t)
{
    eddy_graph *g = t->b.graph;
    if (!t->divided) return eddy_update_ops(g, NULL);
    return eddy_apply_update_ops(divided(t, eddy_gradient_descent(g, eddy_scalar(g, 1))), NULL);
}

static bool make_step(training *t, const config *c)
{
    const config   *options;
    eddy_optimizer *o = NULL;
    if (!c) return config_fail(t->root, "there is no 'optimizer'");
    const call *k = call_find(c, ROLE_OPTIMIZER, &options);
    if (!k || !call_make(&t->b, k, ROLE_OPTIMIZER, c, options, &o)) return false;
    o = wrapped(t, c, o);
    t->learning_rate = t->b.learning_rate;
    const int n = eddy_collection_size(t->b.graph, EDDY_TRAINABLE_VARIABLES);
    t->pairs = room((size_t)n, sizeof *t->pairs);
    t->n_pairs = eddy_compute_gradients(o, t->loss, t->pairs, n);
    /* Dense: rows of equal indices would be summed in an order that depends on the ranks. */
    for (int i = 0; t->divided && i < t->n_pairs; i++)
        if (eddy_slices_parts(t->pairs[i].gradient, NULL, NULL))
            t->pairs[i].gradient = eddy_identity(t->pairs[i].gradient);
    t->step = eddy_apply_gradients(o, t->pairs, t->n_pairs, .global_step = t->runs);
    if (eddy_collection_size(t->b.graph, EDDY_UPDATE_OPS) > 0) t->updates = moving_averages(t);
    return graph_is_fine(&t->b, c);
}

/* ----------------------------------------------------------------- metrics -- */

/* The predictions that a metric compares with labels: the most likely class, where the network has
 * a number for each class, labels are classes, and so the metric compares classes. */
static eddy_tensor predictions(const training *t, const call *k)
{
    const eddy_shape out = eddy_shape_of(t->output), labels = eddy_shape_of(t->b.labels);
    const bool classes = strcmp(k->name, "metric_accuracy") == 0 ||
                         strcmp(k->name, "metric_mean_iou") == 0;
    if (!classes || out.rank != labels.rank + 1 ||
        eddy_dtype_is_floating(eddy_dtype_of(t->b.labels)))
        return t->output;
    return eddy_argmax(t->output, .axis = -1, .output_type = EDDY_INT32);
}

/* "accuracy", and "accuracy_2" for the second one. */
static const char *name_of_metric(const training *t, const char *name)
{
    const char *all = name;
    for (int i = 0, n = 1; i < t->n_metrics; i++)
        if (strcmp(t->metrics[i].name, all) == 0) {
            all = text("%s_%d", name, ++n);
            i = -1;
        }
    return all;
}

static bool make_metric(training *t, const config *c)
{
    const config *options;
    const call   *k = call_find(c, ROLE_METRIC, &options);
    if (!k) return false;
    if (t->n_metrics == MOST_METRICS) return config_fail(c, "more than %d metrics", MOST_METRICS);
    metric *m = &t->metrics[t->n_metrics];
    m->name = name_of_metric(t, k->name + strlen("metric_"));
    t->b.x = predictions(t, k);
    const bool fine = call_make(&t->b, k, ROLE_METRIC, c, options, &m->value);
    t->b.x = t->output;
    m->update = t->b.update;
    t->n_metrics++;
    return fine;
}

static bool make_metrics(training *t, const config *c)
{
    if (!c) return true;
    if (t->held.n == 0) return config_fail(c, "metrics need 'validation' in the data");
    if (c->kind != CONFIG_LIST) return make_metric(t, c);
    for (int i = 0; i < c->count; i++)
        if (!make_metric(t, c->at[i])) return false;
    return true;
}

/* Smaller values of these are better. */
static bool is_error(const char *name)
{
    return strstr(name, "error") || strstr(name, "false_") || strcmp(name, "loss") == 0;
}

/* Chooses the number that decides which checkpoint is best: the first metric, or the loss. */
static bool choose_monitor(training *t, const config *c)
{
    const char *name = t->n_metrics > 0 ? t->metrics[0].name : "loss";
    if (!config_text(c, &name)) return false;
    t->monitor = -1;
    const char *words[MOST_METRICS + 2] = { "loss" };
    for (int i = 0; i < t->n_metrics; i++) {
        words[i + 1] = t->metrics[i].name;
        if (strcmp(name, words[i + 1]) == 0) t->monitor = i;
    }
    t->larger_is_better = !is_error(name);
    if (t->monitor >= 0 || strcmp(name, "loss") == 0) return true;
    const char *near = nearest(name, words);
    return near ? config_fail(c, "no metric is named '%s'; is '%s' meant?", name, near)
                : config_fail(c, "no metric is named '%s'", name);
}

/* What only the report needs: norms of gradients and updates, and the class of each record. */
static void make_report(training *t)
{
    const eddy_shape out = eddy_shape_of(t->output);
    if (!t->events) return;
    eddy_summary_training(t->step, t->pairs, t->n_pairs);
    if (t->report && t->held.n > 0 && eddy_is_valid(t->b.labels) &&
        eddy_shape_of(t->b.labels).rank == 1 && out.rank == 2 && out.dim[1] > 1 &&
        out.dim[1] <= MOST_CLASSES && eddy_dtype_is_integer(eddy_dtype_of(t->b.labels)))
        t->predicted = eddy_argmax(t->output, .axis = 1, .output_type = EDDY_INT32);
}

bool network_make(training *t)
{
    const config *data = config_get(t->root, "data");
    eddy_graph   *g = eddy_graph_new(.seed = t->seed);
    t->b.graph = g;
    for (int i = 0; i < 2; i++)
        t->learns[i] = eddy_array_copy_of(EDDY_BOOL, EDDY_SCALAR, &(bool){ i == 1 });
    t->b.training = eddy_placeholder(g, "training", EDDY_BOOL, EDDY_SCALAR);
    t->runs = eddy_create_global_step(g);
    t->b.global_step = t->runs;
    if (t->divided)         /* even by 1: random draws depend on the numbers of nodes */
        t->b.global_step = eddy_floordiv(
            t->runs, eddy_number(g, EDDY_INT64, (double)(t->parts / t->ranks)));
    if (!make_inputs(t, data) || !prepare(t, data) ||
        !make_layers_in(t, config_get(t->root, "model")) ||
        !make_loss(t, config_get(t->root, "loss")) ||
        !make_step(t, config_get(t->root, "optimizer")) ||
        !make_metrics(t, config_get(t->root, "metrics")) ||
        !choose_monitor(t, config_get(t->root, "monitor")))
        return false;
    if (t->n_metrics > 0) t->start_metrics = eddy_local_initializer(g);
    make_report(t);
    return graph_is_fine(&t->b, t->root);
}
