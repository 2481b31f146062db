/* write_models.c -- writes graphs as ONNX models, with the feeds and results of one run, for a
 * comparison with ONNX Runtime (scripts/onnx_written.sh).
 *
 *   write_models FOLDER rows              every row of the sweep, with its gradients; other models
 *   write_models FOLDER random FROM TO    random graphs of these seeds
 *   write_models FOLDER expressible FROM TO
 *                                         ... that leave out what ONNX, its checker or ONNX Runtime
 *                                         cannot express; says what that is */
#include "tests/lib/files/onnx_written.h"
#include "tests/lib/random_graphs/random_graph.h"
#include "tests/models/expressible.h"
#include "tests/models/model_data.h"

#include <stdlib.h>

/* The feeds that a model can have as inputs: ONNX's checker wants their ranks, and the fetches of
 * expressible graphs need no others. */
static int inputs_of(const trial *t, bool ranked, eddy_feed feed[TRIAL_FEEDS])
{
    int n = 0;
    for (int i = 0; i < t->n; i++)
        if (!ranked || eddy_shape_of(t->tensor[i]).rank >= 0)
            feed[n++] = (eddy_feed){ t->tensor[i], t->array[i] };
    return n;
}

static void save(const char *path, const trial *t, const fetches *f, bool ranked)
{
    const eddy_list   outputs = { f->n, f->at };
    eddy_feed         feed[TRIAL_FEEDS];
    const int         n = inputs_of(t, ranked, feed);
    eddy_tensor       in[TRIAL_FEEDS];
    const eddy_array *fed[TRIAL_FEEDS];
    eddy_array       *out[FETCHES] = { NULL };
    model_data        d;
    char              why[500] = "";
    for (int i = 0; i < n; i++) {
        in[i] = feed[i].tensor;
        fed[i] = feed[i].value;
    }
    if (!model_data_begin(&d, path, f->title, t->session, (eddy_list){ n, in }, outputs, why)) {
        printf("%s: not written: %s\n", f->title, why);
        return;
    }
    if (eddy_run(t->session, (eddy_feeds){ n, feed }, outputs, out) == EDDY_OK)
        model_data_step(&d, fed, out);
    else printf("%s: does not run: %s\n", f->title, eddy_session_message(t->session));
    model_data_end(&d);
    free_arrays(f->n, out);
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
    if (written_row(_i, &t, &f, title)) save(path, &t, &f, false);
    trial_end(&t);
}
END_TEST

START_TEST(one_other)
{
    trial   t;
    fetches f;
    char    path[1000];
    snprintf(path, sizeof path, "%s/other%03d", folder, _i);
    written_model(_i, &t, &f);
    save(path, &t, &f, false);
    trial_end(&t);
}
END_TEST

static random_filter filter;

START_TEST(one_random)
{
    random_graph g = random_graph_of((unsigned)_i, filter);
    char         path[1000], title[40];
    snprintf(title, sizeof title, "random %d", _i);
    snprintf(path, sizeof path, "%s/random%05d", folder, _i);
    g.fetch.title = title;
    if (eddy_is_valid(g.train)) keep_fetch(&g.fetch, g.train);
    if (!g.t.session) g.t.session = eddy_session_new(g.t.graph);
    initialize(&g.t);
    save(path, &g.t, &g.fetch, filter != NULL);
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
    if (argc == 3 && strcmp(argv[2], "rows") == 0) {
        tcase_add_loop_test(c, one_row, 0, sweep_count());
        tcase_add_loop_test(c, one_other, 0, written_models());
    } else if (argc == 5) tcase_add_loop_test(c, one_random, atoi(argv[3]), atoi(argv[4]));
    else return 2;
    if (strcmp(argv[2], "expressible") == 0) filter = is_expressible;
    folder = argv[1];
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    const int failures = srunner_ntests_failed(r);
    srunner_free(r);
    print_exclusions();
    return failures != 0;
}
