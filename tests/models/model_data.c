/* model_data.c -- see model_data.h. */
#include "tests/models/model_data.h"
#include "graph/op.h"
#include "tests/lib/own_operations.h"

#include <stdlib.h>
#include <string.h>

static FILE *open_beside(const char *path, const char *suffix)
{
    char name[1100];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    FILE *f = fopen(name, "wb");
    if (f) return f;
    perror(name);
    exit(1);
}

static unsigned flags_of(eddy_tensor t) { return eddy_node_of(t)->op->flags; }

bool draws_numbers(const char *op)
{
    return strncmp(op, "Random", 6) == 0 || strcmp(op, "TruncatedNormal") == 0 ||
           strcmp(op, "Multinomial") == 0;
}

static bool is_writable(eddy_list outputs, char why[500])
{
    eddy_error        e = { 0 };
    eddy_model_report *r = eddy_onnx_write_check(outputs, .operators = own_operators,
                                                 .operator_count = own_operator_count, .error = &e);
    snprintf(why, 500, "%.400s", e.message);
    bool ok = r != NULL;
    for (int i = 0; ok && i < eddy_model_report_size(r); i++) {
        const eddy_model_entry *entry = eddy_model_report_at(r, i);
        const bool             random = draws_numbers(entry->op);
        ok = entry->support != EDDY_MODEL_MISSING && !random;
        if (!ok)
            snprintf(why, 500, "%.60s: %.300s", entry->op,
                     random ? "other numbers" : entry->reason);
    }
    eddy_model_report_free(r);
    return ok;
}

static void add_array(model_data *d, bool *first, const char *name, int output, const char *suffix,
                      const eddy_array *a)
{
    const eddy_shape s = eddy_array_shape(a);
    char             number[16] = "";
    if (output) snprintf(number, sizeof number, ":%d", output);
    fprintf(d->json, "%s\n  {\"name\": \"%s%s%s\", \"type\": \"%s\", \"dims\": [",
            *first ? "" : ",", name, number, suffix, eddy_dtype_name(eddy_array_dtype(a)));
    for (int i = 0; i < s.rank; i++) fprintf(d->json, "%s%lld", i ? ", " : "", (long long)s.dim[i]);
    fprintf(d->json, "], \"at\": %lld, \"bytes\": %zu}", (long long)d->at, eddy_array_bytes(a));
    fwrite(eddy_array_data(a), 1, eddy_array_bytes(a), d->bin);
    d->at += (int64_t)eddy_array_bytes(a);
    *first = false;
}

/* The values of all variables, although the model has inputs and outputs only for those that the
 * run updates. */
static void add_variables(model_data *d, bool *first, const char *suffix)
{
    for (int i = 0; i < eddy_collection_size(d->graph, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(d->graph, EDDY_GLOBAL_VARIABLES, i);
        eddy_array       *a = eddy_variable_value(d->session, v);
        if (a) add_array(d, first, eddy_name_of(v), 0, suffix, a);
        eddy_array_free(a);
    }
}

static void begin_files(model_data *d, const char *path, const char *title)
{
    bool first = true;
    d->json = open_beside(path, ".json");
    d->bin = open_beside(path, ".bin");
    fprintf(d->json, "{\"title\": \"%s\", \"variables\": [", title);
    add_variables(d, &first, "");
    fprintf(d->json, "], \"steps\": [");
}

bool model_data_begin(model_data *d, const char *path, const char *title, eddy_session *s,
                      eddy_list inputs, eddy_list outputs, char why[500])
{
    char       model[1100];
    eddy_error e = { 0 };
    *d = (model_data){
        .session = s, .graph = outputs.at[0].graph, .inputs = inputs, .outputs = outputs
    };
    for (int i = 0; i < inputs.count; i++) {
        d->listed = d->listed || !(flags_of(inputs.at[i]) & EDDY_OP_PLACEHOLDER);
        if (!(flags_of(inputs.at[i]) & EDDY_OP_VARIABLE)) continue;
        snprintf(why, 500, "a variable is fed");
        return false;
    }
    if (!is_writable(outputs, why)) return false;
    snprintf(model, sizeof model, "%s.onnx", path);
    if (eddy_onnx_write(outputs, model, .inputs = d->listed ? inputs : (eddy_list){ 0, NULL },
                        .session = s, .no_initial_values = true, .operators = own_operators,
                        .operator_count = own_operator_count, .error = &e) != EDDY_OK) {
        snprintf(why, 500, "%.450s", e.message);
        return false;
    }
    begin_files(d, path, title);
    return true;
}

void model_data_step(model_data *d, const eddy_array *const *fed, eddy_array *const *got)
{
    bool first = true;
    fprintf(d->json, "%s{\"inputs\": [", d->steps++ ? ",\n" : "");
    for (int i = 0; i < d->inputs.count; i++)
        add_array(d, &first, eddy_name_of(d->inputs.at[i]), d->inputs.at[i].output, "", fed[i]);
    fprintf(d->json, "], \"outputs\": [");
    first = true;
    for (int i = 0; i < d->outputs.count; i++) {
        const eddy_tensor t = d->outputs.at[i];
        bool              bound = (flags_of(t) & (EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER)) != 0;
        for (int k = 0; d->listed && k < d->inputs.count; k++)
            bound = bound || eddy_same(d->inputs.at[k], t);
        if (got[i]) add_array(d, &first, eddy_name_of(t), t.output, bound ? ":output" : "", got[i]);
    }
    add_variables(d, &first, ":next");
    fprintf(d->json, "]}");
}

void model_data_end(model_data *d)
{
    if (!d->json) return;
    fprintf(d->json, "]}\n");
    fclose(d->json);
    fclose(d->bin);
    d->json = NULL;
}
