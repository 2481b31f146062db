/* write_models.c -- writes graphs as ONNX models, with the feeds and results of one run, for a
 * comparison with ONNX Runtime (scripts/onnx_written.sh).
 *
 *   write_models FOLDER rows              every row of the sweep, with its gradients
 *   write_models FOLDER random FROM TO    random graphs of these seeds
 *
 * NAME.json lists the inputs and outputs of NAME.onnx with their places in NAME.bin. */
#include "tests/lib/onnx_written.h"
#include "tests/lib/random_graph.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct record {
    FILE   *json, *bin;
    int64_t at;
    bool    first;
} record;

static void add_array(record *r, const char *name, const char *suffix, const eddy_array *a)
{
    const eddy_shape s = eddy_array_shape(a);
    fprintf(r->json, "%s\n  {\"name\": \"%s%s\", \"type\": \"%s\", \"dims\": [", r->first ? "" : ",", name,
            suffix, eddy_dtype_name(eddy_array_dtype(a)));
    for (int i = 0; i < s.rank; i++) fprintf(r->json, "%s%lld", i ? ", " : "", (long long)s.dim[i]);
    fprintf(r->json, "], \"at\": %lld, \"bytes\": %zu}", (long long)r->at, eddy_array_bytes(a));
    fwrite(eddy_array_data(a), 1, eddy_array_bytes(a), r->bin);
    r->at += (int64_t)eddy_array_bytes(a);
    r->first = false;
}

static FILE *open_beside(const char *path, const char *suffix)
{
    char  name[1100];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    FILE *f = fopen(name, "wb");
    if (f) return f;
    perror(name);
    exit(1);
}

/* False if the graph cannot be written. */
static bool save(const char *path, trial *t, const fetches *f)
{
    eddy_onnx_report *report = NULL;
    char              model[1100];
    eddy_feed         feed[TRIAL_FEEDS];
    eddy_array       *out[FETCHES] = { NULL };
    eddy_error        e = { 0 };
    const char       *why = written_obstacle(f, &report);
    if (why) printf("%s: not written: %s\n", f->title, why);
    bool random = false;                /* other numbers than Eddy's */
    for (int i = 0; i < eddy_onnx_report_size(report); i++)
        random = random || strncmp(eddy_onnx_report_at(report, i)->op, "Random", 6) == 0;
    eddy_onnx_report_free(report);
    if (why || random) return false;
    snprintf(model, sizeof model, "%s.onnx", path);
    eddy_list inputs = { 0, t->tensor };      /* listed if one is not a placeholder */
    for (int i = 0; i < t->n; i++) {
        const unsigned flags = eddy_node_of(t->tensor[i])->op->flags;
        if (flags & EDDY_OP_VARIABLE) return false;
        if (!(flags & EDDY_OP_PLACEHOLDER)) inputs.count = t->n;
    }
    if (eddy_onnx_write((eddy_list){ f->n, f->at }, model, .inputs = inputs, .session = t->session, .error = &e) != EDDY_OK) {
        printf("%s: FAILED: %s\n", f->title, e.message);
        return false;
    }
    for (int i = 0; i < t->n; i++) feed[i] = (eddy_feed){ t->tensor[i], t->array[i] };
    if (eddy_run(t->session, (eddy_feeds){ t->n, feed }, (eddy_list){ f->n, f->at }, out) != EDDY_OK) {
        printf("%s: no run: %s\n", f->title, eddy_session_message(t->session));
        remove(model);
        return false;
    }
    record r = { open_beside(path, ".json"), open_beside(path, ".bin"), 0, true };
    fprintf(r.json, "{\"title\": \"%s\", \"inputs\": [", f->title);
    for (int i = 0; i < t->n; i++) {
        char k[16] = "";
        if (t->tensor[i].output) snprintf(k, sizeof k, ":%d", t->tensor[i].output);
        add_array(&r, eddy_name_of(t->tensor[i]), k, t->array[i]);
    }
    r.first = true;
    fprintf(r.json, "], \"outputs\": [");
    for (int i = 0; i < f->n; i++) {
        char              k[32] = "";
        const eddy_node  *node = eddy_node_of(f->at[i]);
        if (!out[i]) continue;
        bool bound = (node->op->flags & (EDDY_OP_VARIABLE | EDDY_OP_PLACEHOLDER)) != 0;
        for (int q = 0; q < inputs.count; q++) bound = bound || eddy_same(inputs.at[q], f->at[i]);
        if (f->at[i].output) snprintf(k, sizeof k, ":%d", f->at[i].output);
        if (bound) strcat(k, ":output");
        add_array(&r, eddy_name_of(f->at[i]), k, out[i]);
    }
    for (int i = 0; i < eddy_collection_size(t->graph, EDDY_GLOBAL_VARIABLES); i++) {
        const eddy_tensor v = eddy_collection_at(t->graph, EDDY_GLOBAL_VARIABLES, i);
        eddy_array       *a = eddy_variable_value(t->session, v);
        if (a) add_array(&r, eddy_name_of(v), ":next", a);      /* if the run updates it */
        eddy_array_free(a);
    }
    fprintf(r.json, "]}\n");
    fclose(r.json);
    fclose(r.bin);
    free_arrays(f->n, out);
    return true;
}

/* Each graph is a test, as the helpers of tests need. */
static const char *folder;

START_TEST(one_row)
{
    trial   t;
    fetches f;
    char    title[96], path[1000];
    if (sweep_row_at(_i)->options & SWEEP_RANDOM) return;
    snprintf(path, sizeof path, "%s/row%03d", folder, _i);
    if (written_row(_i, &t, &f, title)) save(path, &t, &f);
    trial_end(&t);
}
END_TEST

START_TEST(one_random)
{
    random_graph g = random_graph_new((unsigned)_i);
    char         path[1000], title[40];
    snprintf(title, sizeof title, "random %d", _i);
    snprintf(path, sizeof path, "%s/random%05d", folder, _i);
    g.fetch.title = title;
    if (eddy_is_valid(g.train)) keep_fetch(&g.fetch, g.train);
    if (!g.t.session) g.t.session = eddy_session_new(g.t.graph);
    initialize(&g.t);
    save(path, &g.t, &g.fetch);
    random_graph_free(&g);
}
END_TEST

int main(int argc, char **argv)
{
    Suite   *s = suite_create("models");
    TCase   *c = tcase_create("graphs");
    SRunner *r = srunner_create(s);
    suite_add_tcase(s, c);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 3 && strcmp(argv[2], "rows") == 0) tcase_add_loop_test(c, one_row, 0, sweep_count());
    else if (argc == 5) tcase_add_loop_test(c, one_random, atoi(argv[3]), atoi(argv[4]));
    else return 2;
    folder = argv[1];
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    const int failures = srunner_ntests_failed(r);
    srunner_free(r);
    return failures != 0;
}
