/* show_training.c -- eddy train --dry-run: the network, its memory and the steps. */
#include "command/train/training.h"

#include <math.h>
#include <string.h>

typedef struct costs {
    int64_t parameters, variables;      /* trainable elements; bytes of all variables */
    double  flops, memory;              /* of a step */
} costs;

/* Compiles a step, for the costs of its plan. */
static bool plan_step(const training *t, costs *c)
{
    eddy_feed    feeds[MOST_PARTS + 1];
    eddy_array  *batch[MOST_PARTS];
    eddy_session *s = eddy_session_new(t->b.graph, .threads = (int)t->threads);
    for (int i = 0; i < t->train.n; i++) {
        eddy_shape shape = eddy_array_shape(t->train.arrays[i]);
        shape.dim[0] = t->batch;
        batch[i] = eddy_array_new(eddy_array_dtype(t->train.arrays[i]), shape);
    }
    const eddy_tensor fetches[3] = { t->loss, t->step, t->updates };
    const eddy_list   of = { eddy_is_valid(t->updates) ? 3 : 2, fetches };
    const bool        fine =
        eddy_prepare(s, training_feeds(t, (const eddy_array *const *)batch, true, feeds), of) ==
        EDDY_OK;
    const eddy_plan_info info = eddy_session_plan_info(s);
    c->flops = fine ? info.flops : NAN;
    c->memory = fine ? (double)info.arena_bytes : NAN;
    if (!fine) fail(NULL, "%s", eddy_session_message(s));
    for (int i = 0; i < t->train.n; i++) eddy_array_free(batch[i]);
    eddy_session_free(s);
    return fine;
}

static void count_variables(const training *t, costs *c)
{
    eddy_graph *g = t->b.graph;
    for (int i = 0; i < t->n_layers; i++) c->parameters += t->layers[i].parameters;
    for (int i = 0; i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        c->variables += eddy_shape_count(eddy_shape_of(v)) *
                        (int64_t)eddy_dtype_size(eddy_dtype_of(v));
    }
}

static void print_json(const training *t, const costs *c)
{
    json_open(NULL, '{');
    json_text("name", t->name);
    json_number("records", (double)t->train.size);
    json_number("validation_records", t->held.n > 0 ? (double)t->held.size : 0);
    json_number("batch", (double)t->batch);
    json_number("steps_per_epoch", (double)t->steps_per_epoch);
    json_number("steps", (double)t->steps);
    json_number("parameters", (double)c->parameters);
    json_number("variable_bytes", (double)c->variables);
    json_number("planned_bytes", c->memory);
    json_number("flops", c->flops);
    json_text("folder", t->folder);
    json_open("layers", '[');
    for (int i = 0; i < t->n_layers; i++) {
        const layer_note *l = &t->layers[i];
        json_open(NULL, '{');
        json_text("name", l->name);
        json_text("type", eddy_dtype_name(eddy_dtype_of(l->y)));
        json_shape("shape", eddy_shape_of(l->y));
        json_number("parameters", (double)l->parameters);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

int training_show(const training *t)
{
    costs c = { 0 };
    table rows = { .columns = "l l r" };
    count_variables(t, &c);
    if (!plan_step(t, &c)) return TROUBLE;
    if (as_json) {
        print_json(t, &c);
        return SUCCESS;
    }
    table_row(&rows, "layer", "result", "parameters");
    for (int i = 0; i < t->train.n; i++)
        if (eddy_is_valid(t->inputs[i]))
            table_row(&rows, t->train.names[i],
                      type_text(eddy_dtype_of(t->inputs[i]), eddy_shape_of(t->inputs[i])), "");
    for (int i = 0; i < t->n_layers; i++) {
        const layer_note *l = &t->layers[i];
        table_row(&rows, l->name, type_text(eddy_dtype_of(l->y), eddy_shape_of(l->y)),
                  l->parameters > 0 ? whole_text(l->parameters) : "");
    }
    table_print(&rows, stdout);
    printf("\n%s; with the slots of the optimizer %s\n", number_of(c.parameters, "parameter"),
           bytes_text((double)c.variables));
    printf("a step takes %s, and %s of memory for temporaries\n", count_text(c.flops, "FLOP"),
           bytes_text(c.memory));
    printf("%s, %s for validation; batches of %s; %s an epoch, %s in all\n",
           number_of(t->train.size, "record"),
           t->held.n > 0 ? whole_text(t->held.size) : "none",
           whole_text(t->batch), number_of(t->steps_per_epoch, "step"), whole_text(t->steps));
    printf("results go to %s\n", t->folder);
    return SUCCESS;
}
