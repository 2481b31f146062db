/* test_resume.c -- training that is resumed from a graph file and a checkpoint goes on with the
 * same bits as training that was never interrupted: every optimizer and wrapper, with dropout, a
 * schedule, and batches that a pipeline shuffles and reads ahead. */
#include "../../../input.h"
#include "build/gen/suites.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/training_rows.h"
#include "tests/lib/third_rows.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 10, HALF = 5, ROWS = 6 };

/* ---------------------------------------------------------------- models -- */

static eddy_graph *classifier(const training_row *r, const eddy_files *files)
{
    eddy_graph *g = training_graph(r, files);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s: %s", r->name, eddy_graph_message(g));
    return g;
}

static void succeeds(eddy_session *s, eddy_status status)
{
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
}

/* A run that must change nothing: it shares variables with the steps, and draws, but executes no
 * operation of theirs that does. */
static void look(eddy_session *s, eddy_graph *g)
{
    const float point[4] = { 1, 2, 3, 4 };
    eddy_array *x = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(1, 4), point);
    eddy_array *out[2] = { NULL, NULL };
    succeeds(s, eddy_run(s, EDDY_FEED({ eddy_graph_tensor(g, "x:0"), x }),
                         EDDY_FETCH(eddy_graph_tensor(g, "noise:0"),
                                    eddy_graph_tensor(g, "look:0")), out));
    eddy_array_free(x);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
}

/* Trains from step `from` to `to`; sets the loss of each. */
static void train(eddy_session *s, eddy_graph *g, int from, int to, float *losses)
{
    float   x[ROWS][4];
    int32_t y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 3;
        for (int j = 0; j < 4; j++) x[i][j] = 0.5f * (float)(y[i] * j - 1) + 0.01f * (float)i;
    }
    eddy_array *ax = eddy_array_borrow(EDDY_FLOAT32, EDDY_SHAPE(ROWS, 4), x);
    eddy_array *ay = eddy_array_borrow(EDDY_INT32, EDDY_SHAPE(ROWS), y), *out[2] = { NULL, NULL };
    const eddy_tensor tx = eddy_graph_tensor(g, "x:0"), ty = eddy_graph_tensor(g, "y:0");
    for (int i = from; i < to; i++) {
        succeeds(s, eddy_run(s, EDDY_FEED({ tx, ax }, { ty, ay }),
                             EDDY_FETCH(eddy_graph_operation(g, "train"),
                                        eddy_graph_tensor(g, "loss:0")), out));
        losses[i] = *(float *)eddy_array_data(out[1]);
    }
    eddy_array_free(ax);
    eddy_array_free(ay);
    eddy_array_free(out[1]);
}

/* A training that is saved after each step, under the step's number. */
typedef struct training {
    memory_files m;
    char        *graph;
    float        losses[STEPS];
} training;

static void begin(training *t, const training_row *r)
{
    memory_files_init(&t->m);
    eddy_graph   *g = classifier(r, &t->m.table);
    eddy_session *s = eddy_session_new(g);
    t->graph = eddy_graph_to_yaml(g);
    ck_assert_msg(t->graph != NULL, "%s: %s", r->name, eddy_graph_message(g));
    succeeds(s, eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_graph_operation(g, "init")), NULL));
    for (int i = 0; i < STEPS; i++) {
        char name[16];
        train(s, g, i, i + 1, t->losses);
        snprintf(name, sizeof name, "%d", i + 1);
        succeeds(s, eddy_save(s, name, EDDY_LIST()));
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}

static void end(training *t)
{
    eddy_string_free(t->graph);
    memory_files_free(&t->m);
}

/* The training from a step on, from the files; `looks`: with other fetches between the steps. The
 * number of steps that differ, and 1 more if a variable or a count does. */
static int resume(training *t, int from, bool looks)
{
    char        name[16];
    float       losses[STEPS];
    int         wrong = 0;
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_load("graph", t->graph, .files = &t->m.table, .error = &e);
    ck_assert_msg(g != NULL, "%s", e.message);
    eddy_session *s = eddy_session_new(g);
    snprintf(name, sizeof name, "%d", from);
    succeeds(s, eddy_restore(s, name, EDDY_LIST()));
    for (int i = from; i < STEPS; i++) {
        train(s, g, i, i + 1, losses);
        if (looks) look(s, g);
        wrong += memcmp(&losses[i], &t->losses[i], sizeof *losses) != 0;
    }
    succeeds(s, eddy_save(s, "resumed", EDDY_LIST()));
    snprintf(name, sizeof name, "%d", STEPS);
    const memory_content *a = memory_files_get(&t->m, name),
                         *b = memory_files_get(&t->m, "resumed");
    if (!looks) wrong += a->size != b->size || memcmp(a->bytes, b->bytes, a->size) != 0;
    eddy_session_free(s);
    eddy_graph_free(g);
    return wrong;
}

/* -------------------------------------------------------------- pipelines -- */

enum { IMAGES = 20 };

static bool shift(void *context, eddy_record *in, eddy_record *out)
{
    (void)context;
    float *x = eddy_record_make(out, 0, EDDY_FLOAT32, EDDY_SHAPE(4));
    if (!x || !eddy_record_set(out, 1, eddy_record_array(in, 1))) return false;
    memcpy(x, eddy_array_data(eddy_record_array(in, 0)), 4 * sizeof *x);
    x[eddy_record_random(in, 5, 0) % 4] += (float)eddy_record_uniform(in, 5, 1);
    return true;
}

/* Batches of 6 of 20 records: an epoch ends with a smaller one. */
static eddy_dataset *batches(void)
{
    float   x[IMAGES][4];
    int32_t y[IMAGES];
    for (int i = 0; i < IMAGES; i++) {
        y[i] = i % 3;
        for (int j = 0; j < 4; j++) x[i][j] = 0.5f * (float)(y[i] * j - 1) + 0.01f * (float)i;
    }
    const eddy_array *arrays[] = { EDDY_VIEW(&x[0][0], IMAGES, 4), EDDY_VIEW(y, IMAGES) };
    eddy_dataset     *d = eddy_dataset_shuffle(eddy_dataset_from_arrays(arrays, 2), .seed = 9);
    d = eddy_dataset_batch(eddy_dataset_map(d, shift), ROWS);
    return eddy_dataset_prefetch(eddy_dataset_repeat(d, -1), .threads = 2);
}

static void step(eddy_session *s, eddy_graph *g, eddy_dataset *d)
{
    const eddy_array *b[2];
    ck_assert_msg(eddy_dataset_next(d, b), "%s", eddy_dataset_message(d));
    succeeds(s, eddy_run(s, EDDY_FEED({ eddy_graph_tensor(g, "x:0"), b[0] },
                                      { eddy_graph_tensor(g, "y:0"), b[1] }),
                         EDDY_FETCH(eddy_graph_operation(g, "train")), NULL));
}

/* A session that begins, or goes on from a file. */
static eddy_session *session_from(eddy_graph *g, const char *path, eddy_dataset *d)
{
    eddy_error    e = { EDDY_OK, "" };
    eddy_session *s = eddy_session_new(g);
    if (!path)
        succeeds(s, eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_graph_operation(g, "init")), NULL));
    else
        ck_assert_msg(eddy_restore_with_dataset(s, path, d, &e) == EDDY_OK, "%s", e.message);
    return s;
}

static void saves(eddy_session *s, const char *path, eddy_dataset *d)
{
    eddy_error e = { EDDY_OK, "" };
    ck_assert_msg(eddy_save_with_dataset(s, path, d, &e) == EDDY_OK, "%s", e.message);
}

static void make_folder(char name[32])
{
    snprintf(name, 32, "/tmp/eddy-resume-%ld", (long)getpid());
    ck_assert_int_eq(mkdir(name, 0700), 0);
}

/* Saved after HALF steps, in the middle of an epoch, and after STEPS, by one session and by two:
 * the files must be equal. */
START_TEST(goes_on_with_its_batches)
{
    const training_row *r = &training_rows[_i];
    char        folder[32], half[64], path[2][64];
    make_folder(folder);
    snprintf(half, sizeof half, "%s/half", folder);
    for (int k = 0; k < 2; k++) {
        snprintf(path[k], sizeof path[k], "%s/%d", folder, k);
        eddy_graph   *g = classifier(r, NULL);
        eddy_dataset *d = batches();
        eddy_session *s = session_from(g, k == 0 ? NULL : half, d);
        for (int i = k == 0 ? 0 : HALF; i < STEPS; i++) {
            if (k == 0 && i == HALF) saves(s, half, d);
            step(s, g, d);
        }
        saves(s, path[k], d);
        eddy_session_free(s);
        eddy_dataset_free(d);
        eddy_graph_free(g);
    }
    eddy_array *bytes[2];
    for (int k = 0; k < 2; k++) bytes[k] = eddy_bytes_load(path[k], NULL, NULL);
    ck_assert_msg(eddy_array_equal(bytes[0], bytes[1]), "%s goes on with other bits", r->name);
    for (int k = 0; k < 2; k++) {
        eddy_array_free(bytes[k]);
        unlink(path[k]);
    }
    unlink(half);
    rmdir(folder);
}
END_TEST

enum { LONG = 20 };                      /* steps of a training that is killed */

/* Trains up to LONG steps, going on from the file if it exists, and saves after each; in a process
 * that has nothing else than the two files. */
static void train_on(const char *graph, const char *path)
{
    eddy_error    e = { EDDY_OK, "" };
    eddy_graph   *g = eddy_graph_load(graph, .error = &e);
    ck_assert_msg(g != NULL, "%s", e.message);
    eddy_dataset *d = batches();
    eddy_session *s = session_from(g, access(path, F_OK) == 0 ? path : NULL, d);
    const eddy_tensor count = eddy_collection_at(g, EDDY_GLOBAL_STEP, 0);
    for (;;) {
        eddy_array *at = eddy_variable_value(s, count);
        const bool  done = eddy_array_item(at) >= LONG;
        eddy_array_free(at);
        if (done) break;
        step(s, g, d);
        saves(s, path, d);
    }
    eddy_session_free(s);
    eddy_dataset_free(d);
    eddy_graph_free(g);
}

static int64_t microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Trains in a process that is killed after so many microseconds, if not negative. Whether it was
 * killed before its end. */
static bool killed_after(int64_t wait, const char *graph, const char *path)
{
    int         status = 0;
    const pid_t child = fork();
    if (child == 0) {
        train_on(graph, path);
        raise(SIGUSR2);
    }
    if (wait >= 0) {
        const struct timespec pause = { (time_t)(wait / 1000000), (long)(wait % 1000000 * 1000) };
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status), "the training failed");
    return WTERMSIG(status) != SIGUSR2;
}

/* A process that is killed at any moment, again and again, ends with the same file. EDDY_KILLS
 * sets how often all rows together are killed; without it, a few rows are killed once. */
START_TEST(goes_on_after_kills)
{
    const char *asked = getenv("EDDY_KILLS");
    const int   kills = asked ? (atoi(asked) + TRAINING_ROWS - 1) / TRAINING_ROWS : 1;
    const training_row *r = &training_rows[_i];
    char        folder[32], graph[64], whole[64], path[64], command[100];
    uint32_t    random = (uint32_t)_i;
    int         killed = 0;
    if (!asked && _i % 9 != 0) return;
    make_folder(folder);
    snprintf(graph, sizeof graph, "%s/graph", folder);
    snprintf(whole, sizeof whole, "%s/whole", folder);
    snprintf(path, sizeof path, "%s/killed", folder);
    eddy_graph *g = classifier(r, NULL);
    ck_assert_int_eq(eddy_graph_save(g, graph, NULL), EDDY_OK);
    eddy_graph_free(g);
    int64_t length = -microseconds();
    killed_after(-1, graph, whole);
    length += microseconds();
    eddy_array *want = eddy_bytes_load(whole, NULL, NULL);
    ck_assert(want != NULL);
    for (int trainings = 0; killed < kills; trainings++) {
        ck_assert_int_lt(trainings, 100);
        for (bool done = false; !done;) {
            random = random * 1664525 + 1013904223;
            const int64_t wait = killed < kills ? (random >> 8) % length : -1;
            done = !killed_after(wait, graph, path);
            killed += !done;
        }
        eddy_array *got = eddy_bytes_load(path, NULL, NULL);
        ck_assert_msg(eddy_array_equal(got, want), "%s after %d kills", r->name, killed);
        eddy_array_free(got);
        unlink(path);
    }
    eddy_array_free(want);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* ----------------------------------------------------------------- tests -- */

START_TEST(goes_on)
{
    const training_row *r = &training_rows[_i];
    training   t;
    begin(&t, r);
    ck_assert_msg(t.losses[HALF] != t.losses[0], "%s does not train", r->name);
    for (int from = 1; from < STEPS; from++)
        ck_assert_msg(resume(&t, from, false) == 0, "%s goes on with other bits after step %d",
                      r->name, from);
    ck_assert_msg(resume(&t, HALF, true) == 0, "%s sees other fetches", r->name);
    end(&t);
}
END_TEST

/* In another process. The child ends by a signal, see test_thread_pool.c. */
START_TEST(goes_on_elsewhere)
{
    static const int some[] = { 2, 25, 29, 37 };
    training         t;
    int              status;
    begin(&t, &training_rows[some[_i]]);
    const pid_t child = fork();
    if (child == 0) {
        if (resume(&t, HALF, false) == 0) raise(SIGKILL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s: status %d",
                  training_rows[some[_i]].name, status);
    end(&t);
}
END_TEST

Suite *resume_suite(void)
{
    Suite *s = suite_create("resume");
    TCase *t = tcase_create("optimizers"), *many = tcase_create("other rows");
    tcase_set_tags(many, "threads many");
    tcase_set_timeout(many, 120);
    add_third_rows(t, many, goes_on, 0, TRAINING_ROWS);
    tcase_add_loop_test(t, goes_on_elsewhere, 0, 4);
    suite_add_tcase(s, t);
    t = tcase_create("pipelines");
    tcase_set_tags(t, "threads");
    tcase_set_timeout(t, 120);
    add_third_rows(t, many, goes_on_with_its_batches, 1, TRAINING_ROWS);
    add_third_rows(t, many, goes_on_after_kills, 2, TRAINING_ROWS);
    suite_add_tcase(s, t);
    suite_add_tcase(s, many);
    return s;
}
