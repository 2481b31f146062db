/* onnx_written.c -- see onnx_written.h. */
#include "tests/lib/files/onnx_written.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/own_operations.h"
#include "ops/short_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Multiples of 1/1024, all different if the intervals are the same. */
static eddy_array *draw(trial *t, const sweep_row *r, int k)
{
    const bool    given = r->low[k] != r->high[k];
    const double  low = given ? r->low[k] : -2, high = given ? r->high[k] : 2;
    eddy_array   *a = eddy_array_new(EDDY_FLOAT32, r->shape[k]);
    const int64_t n = eddy_array_count(a);
    int           order[256];
    ck_assert_int_le(n, 256);
    for (int i = 0; i < n; i++) {
        const int j = pick(t, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < n; i++)
        eddy_array_set(
            a, i,
            round((low + (high - low) * (order[i] + 0.25 + 0.25 * k) / (double)n) * 1024) / 1024);
    return a;
}

/* A tensor that is listed twice is one output of the model. */
static void keep_once(fetches *f, eddy_tensor x)
{
    for (int i = 0; i < f->n; i++)
        if (eddy_same(f->at[i], x)) return;
    keep_fetch(f, x);
}

bool written_row(int row, trial *t, fetches *f, char title[96])
{
    const sweep_row *r = sweep_row_at(row);
    eddy_tensor x[SWEEP_INPUTS] = { EDDY_ZERO_TENSOR }, dx[SWEEP_INPUTS], sum = EDDY_ZERO_TENSOR;
    *t = (trial){ .graph = eddy_graph_new(), .random = sweep_seed(r) };
    t->session = eddy_session_new(t->graph);
    snprintf(title, 96, "%s %s", r->op, r->how ? r->how : "");
    *f = (fetches){ .title = title };
    for (int k = 0; k < r->n; k++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", k);
        t->array[t->n] = draw(t, r, k);
        x[k] = t->tensor[t->n++] = eddy_placeholder(t->graph, name, EDDY_FLOAT32, r->shape[k]);
    }
    const eddy_tensor y = r->unary ? r->unary(x[0])
                        : r->binary ? r->binary(x[0], x[1]) : r->build(t->graph, x);
    if (eddy_graph_status(t->graph) != EDDY_OK) return false;       /* of float64 only */
    for (int i = 0; i < eddy_outputs_of(y) && f->n < 8; i++) {
        const eddy_tensor v = eddy_output(y, i);
        keep_once(f, v);
        if (!eddy_dtype_is_floating(eddy_dtype_of(v))) continue;
        const eddy_tensor part = Sum(Mul(Cast(v, EDDY_FLOAT32), Cast(v, EDDY_FLOAT32)));
        sum = eddy_is_valid(sum) ? Add(sum, part) : part;
    }
    if (eddy_is_valid(sum) && r->n > 0 && !(r->options & SWEEP_REFUSES)) {
        eddy_gradients(EDDY_LIST(sum), ((eddy_list){ r->n, x }), dx);
        if (eddy_graph_status(t->graph) != EDDY_OK) eddy_graph_clear_error(t->graph);
        else for (int k = 0; k < r->n; k++) keep_once(f, dx[k]);
    }
    if (eddy_graph_status(t->graph) != EDDY_OK) return false;
    initialize(t);
    return true;
}

const char *written_obstacle(const fetches *f, eddy_model_report **report)
{
    eddy_error e = { 0 };
    *report = eddy_onnx_write_check((eddy_list){ f->n, f->at }, .operators = own_operators,
                                    .operator_count = own_operator_count, .error = &e);
    ck_assert_msg(*report != NULL, "%s: %s", f->title, e.message);
    for (int i = 0; i < eddy_model_report_size(*report); i++) {
        const eddy_model_entry *entry = eddy_model_report_at(*report, i);
        if (entry->support == EDDY_MODEL_MISSING) return entry->reason;
    }
    return NULL;
}

static bool run_model(const trial *t, const fetches *f, const eddy_onnx_model *m, eddy_graph *g,
                      eddy_array **out, eddy_error *error)
{
    eddy_session *s = eddy_session_new(g);
    eddy_feed     feed[TRIAL_FEEDS];
    eddy_tensor   y[FETCHES];
    int           n = 0;
    for (int i = 0; i < t->n; i++) {
        const eddy_tensor x = eddy_onnx_input(m, eddy_name_of(t->tensor[i]));
        if (eddy_is_valid(x)) feed[n++] = (eddy_feed){ x, t->array[i] };
    }
    for (int i = 0; i < f->n; i++) y[i] = eddy_onnx_output(m, eddy_onnx_output_name(m, i));
    const eddy_status status = eddy_run(s, (eddy_feeds){ n, feed }, (eddy_list){ f->n, y }, out);
    if (status != EDDY_OK) {
        error->status = status;
        snprintf(error->message, sizeof error->message, "%s", eddy_session_message(s));
    }
    eddy_session_free(s);
    return status == EDDY_OK;
}

bool written_again(const trial *t, const fetches *f, eddy_array **out, eddy_error *error)
{
    memory_files *files = malloc(sizeof *files);
    ck_assert_ptr_nonnull(files);
    memory_files_init(files);
    *error = (eddy_error){ 0 };
    bool ok = eddy_onnx_write((eddy_list){ f->n, f->at }, "m.onnx", .session = t->session,
                              .files = &files->table, .operators = own_operators,
                              .operator_count = own_operator_count, .error = error) == EDDY_OK;
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m =
        ok ? eddy_onnx_read(g, "m.onnx", .files = &files->table, .error = error) : NULL;
    ok = m && run_model(t, f, m, g, out, error);
    eddy_onnx_free(m);
    eddy_graph_free(g);
    memory_files_free(files);
    free(files);
    return ok;
}
