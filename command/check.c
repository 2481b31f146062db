/* check.c -- eddy check: whether a model can be built and its gradients agree with differences. */
#include "command/check.h"

#include <string.h>

static text_list   shapes, feeds, outputs;
static const char *weights = NULL;
static bool        no_gradients = false, all_rows = false;

static const option_row options[] = {
    { "shape", 's', OPTION_EACH, "INPUT=DIMS", &shapes, "for unknown dimensions (default 1)" },
    { "feed", 'f', OPTION_EACH, "NAME=VALUE", &feeds, "values of inputs; default: random numbers" },
    { "weights", 'w', OPTION_TEXT, "FILE", &weights, "a checkpoint with the values of variables" },
    { "outputs", 0, OPTION_NAMES, "NAMES", &outputs, "check only what these tensors need" },
    { "nodes", 'n', OPTION_FLAG, NULL, &all_rows, "a row for each node, not only for wrong ones" },
    { "no-gradients", 0, OPTION_FLAG, NULL, &no_gradients,
      "check only whether the model can be built" },
    { NULL, 0, OPTION_END, NULL, NULL, NULL },
};

static void json_begin(const model *m)
{
    json_open(NULL, '{');
    json_text("file", m->path);
    json_text("kind", kind_name(m->kind));
}

/* ----------------------------------------------------- operators that are missing -- */

static int list_missing(const model *m, eddy_model_report *r)
{
    int missing = 0;
    for (int i = 0; i < eddy_model_report_size(r); i++) {
        const eddy_model_entry *e = eddy_model_report_at(r, i);
        if (e->support != EDDY_MODEL_MISSING && e->support != EDDY_MODEL_BOUND) continue;
        if (missing++ == 0 && as_json) {
            json_begin(m);
            json_open("missing", '[');
        }
        if (!as_json) {
            printf("%s: %s: %s\n", e->place, e->op, e->reason);
            continue;
        }
        json_open(NULL, '{');
        json_text("node", e->place);
        json_text("op", e->op);
        json_text("reason", e->reason);
        json_close('}');
    }
    if (missing > 0 && as_json) {
        json_close(']');
        json_close('}');
    }
    eddy_model_report_free(r);
    return missing;
}

/* ------------------------------------------------------------------- printing -- */

static void print_json(const model *m, const node_checks *all)
{
    static const char *const results[] = { "agrees", "wrong", "no gradient", "not checked" };
    json_begin(m);
    json_number("nodes", (double)eddy_graph_size(m->graph));
    json_open("gradients", '[');
    for (int i = 0; i < all->count; i++) {
        const node_check *n = &all->at[i];
        json_open(NULL, '{');
        json_text("node", n->name);
        json_text("op", n->op);
        json_text("result", results[n->result]);
        if (n->result <= CHECK_WRONG) {
            json_text("type", eddy_dtype_name(n->dtype));
            json_number("absolute_error", n->absolute);
            json_number("relative_error", n->relative);
        }
        if (n->why) json_text("reason", n->why);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

static void print_text(const node_checks *all)
{
    table t = { .columns = "l l l r" };
    table_row(&t, "node", "operation", "result", "largest error");
    for (int i = 0; i < all->count; i++) {
        const node_check *n = &all->at[i];
        const char       *result = n->result == CHECK_AGREES
                                       ? text("agrees in %s", eddy_dtype_name(n->dtype))
                                   : n->result == CHECK_NONE    ? "no gradient"
                                   : n->result == CHECK_SKIPPED ? n->why
                                                                : "WRONG";
        if (!all_rows && n->result != CHECK_WRONG) continue;
        table_row(&t, n->name, n->op, result,
                  n->result <= CHECK_WRONG ? text("%.1e", n->absolute) : "");
        if (n->result == CHECK_WRONG) note(NULL, "%s", n->why);
    }
    if (t.rows > 1) table_print(&t, stdout);
    printf("gradients of %s agree with differences, %d wrong",
           number_of(all->results[CHECK_AGREES], "node"), all->results[CHECK_WRONG]);
    if (all->results[CHECK_NONE] > 0) printf(", %d without a gradient", all->results[CHECK_NONE]);
    if (all->results[CHECK_SKIPPED] > 0) printf(", %d not checked", all->results[CHECK_SKIPPED]);
    putchar('\n');
}

/* -------------------------------------------------------------------- command -- */

/* The values of all inputs: those of --feed, random numbers for the others. */
static eddy_feed *values_of(const model *m, int *count)
{
    static const image_options plain_images = { false, { 0, NULL }, { 0, NULL } };
    eddy_feed *given = feeds_read(m, feeds, &plain_images);
    eddy_feed *made = given ? feeds_made(m->inputs, m->n_inputs, true) : NULL;
    if (!made) return NULL;
    eddy_feed *all = room((size_t)(m->n_inputs + feeds.count), sizeof *all);
    *count = 0;
    for (int i = 0; i < feeds.count; i++) all[(*count)++] = given[i];
    for (int i = 0; i < m->n_inputs; i++) {
        bool is_given = false;
        for (int k = 0; k < feeds.count; k++)
            is_given |= eddy_same(given[k].tensor, made[i].tensor);
        if (is_given) feeds_free(&made[i], 1);
        else all[(*count)++] = made[i];
    }
    return all;
}

static int check_gradients(model *m)
{
    int           n = 0, status = TROUBLE;
    eddy_feed    *values = values_of(m, &n);
    eddy_session *s = values ? model_session(m, weights, false, 0) : NULL;
    node_checks   all = { 0 };
    if (s && nodes_check(m, s, (eddy_feeds){ n, values }, &all)) {
        if (as_json) print_json(m, &all);
        else print_text(&all);
        status = all.results[CHECK_WRONG] > 0 ? ANSWER_NO : SUCCESS;
    }
    eddy_session_free(s);
    feeds_free(values, n);
    return status;
}

static void print_valid(const model *m, const char *what, int count)
{
    if (!as_json) {
        printf("%s: %s, valid\n", m->path, kind_name(m->kind));
        return;
    }
    json_begin(m);
    json_number(what, count);
    json_close('}');
}

static int check(model *m)
{
    if (m->tensors) {                   /* each value is read, with its checksum if it has one */
        for (int i = 0; i < eddy_checkpoint_count(m->tensors); i++) {
            eddy_error  e = { 0 };
            eddy_array *a =
                eddy_checkpoint_value(m->tensors, eddy_checkpoint_entry_at(m->tensors, i).name, &e);
            if (!a) return fail_error(m->path, e.message), ANSWER_NO;
            eddy_array_free(a);
        }
        print_valid(m, "tensors", eddy_checkpoint_count(m->tensors));
        return SUCCESS;
    }
    if (!as_json || no_gradients) print_valid(m, "nodes", eddy_graph_size(m->graph));
    if (no_gradients) return SUCCESS;
    if (outputs.count > 0 && !(m->outputs = model_select(m, outputs, &m->n_outputs)))
        return TROUBLE;
    return model_fix_shapes(m, shapes, 1) ? check_gradients(m) : TROUBLE;
}

static int run(char **operands, int count)
{
    (void)count;
    model m;
    int   status = TROUBLE, missing = 0;
    if (model_open(&m, operands[0], true)) status = check(&m);
    else if (m.kind == KIND_ONNX) missing = list_missing(&m, eddy_onnx_check(operands[0]));
    else if (m.kind == KIND_TENSORFLOW)
        missing = list_missing(&m, eddy_tensorflow_check(operands[0]));
    model_close(&m);
    return missing > 0 ? ANSWER_NO : status;
}

const command command_check = {
    "check", "MODEL", "Validate a model, and its gradients by finite differences", 1, 1,
    options, run,
};
