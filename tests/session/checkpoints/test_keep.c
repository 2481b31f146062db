/* test_keep.c -- keeping the last checkpoints and the best one, also when calls fail and the power
 * is lost. */
#include "session/checkpoints/kept_list.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/files/memory_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>

Suite *keep_suite(void);

typedef struct training {
    eddy_graph   *graph;
    eddy_session *session;
    eddy_tensor   v;
} training;

static training begin(memory_files *m)
{
    training t = { .graph = eddy_graph_new(.files = &m->table) };
    t.v = eddy_variable(t.graph, eddy_scalar(t.graph, 0), .name = "v");
    t.session = eddy_session_new(t.graph);
    runs(t.session, eddy_initializer(t.graph));
    return t;
}

static void end(training *t)
{
    eddy_session_free(t->session);
    eddy_graph_free(t->graph);
}

/* Saves the number of the step. */
static eddy_status keep(const training *t, int step, int last, double metric)
{
    eddy_variable_set(t->session, t->v, EDDY_NUMBER(EDDY_FLOAT32, step));
    return eddy_keep_checkpoint(t->session, "d", step, last, metric);
}

static bool has_step(const memory_files *m, int step)
{
    char path[64];
    snprintf(path, sizeof path, "d/checkpoint-%d.safetensors", step);
    return memory_files_get(m, path) != NULL;
}

/* The value that the checkpoint has is its step. */
static void is_complete(const memory_files *m, const eddy_kept_checkpoint *k)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_checkpoint_open(k->path, &m->table, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    eddy_array *v = eddy_checkpoint_value(c, "v", &e);
    ck_assert_double_eq(eddy_array_item(v), (double)k->step);
    eddy_array_free(v);
    eddy_checkpoint_free(c);
}

START_TEST(last_and_best)
{
    static const double metrics[] = { 5, 2, NAN, 2, 7, 6 };
    memory_files         m;
    eddy_kept_checkpoint k;
    memory_files_init(&m);
    training t = begin(&m);
    ck_assert_int_eq(eddy_latest_checkpoint("d", &m.table, &k, NULL), EDDY_OK);
    ck_assert(k.step == -1 && isnan(k.metric));
    for (int step = 0; step < 6; step++) {
        ck_assert_int_eq(keep(&t, step, 2, metrics[step]), EDDY_OK);
        ck_assert_int_eq(eddy_latest_checkpoint("d", &m.table, &k, NULL), EDDY_OK);
        ck_assert_int_eq(k.step, step);
        is_complete(&m, &k);
    }
    ck_assert_int_eq(memory_files_count(&m), 4);
    ck_assert(has_step(&m, 1) && has_step(&m, 4) && has_step(&m, 5));
    ck_assert_int_eq(eddy_best_checkpoint("d", &m.table, &k, NULL), EDDY_OK);
    ck_assert_int_eq(k.step, 1);
    ck_assert_double_eq(k.metric, 2);
    is_complete(&m, &k);
    ck_assert_int_eq(eddy_keep_checkpoint(t.session, "d", 9, 1, 1, .larger_is_better = true),
                     EDDY_OK);
    eddy_best_checkpoint("d", &m.table, &k, NULL);
    ck_assert_int_eq(k.step, 4);
    ck_assert(has_step(&m, 4) && has_step(&m, 9) && memory_files_count(&m) == 3);
    /* A step again, and with options. */
    const eddy_metadata             pair = { "epoch", "3" };
    const eddy_save_checkpoint_args options =
        *EDDY_OPTIONS(eddy_save_checkpoint_args, .metadata = &pair, .n_metadata = 1);
    ck_assert_int_eq(eddy_keep_checkpoint(t.session, "d", 9, 1, .options = &options), EDDY_OK);
    eddy_latest_checkpoint("d", &m.table, &k, NULL);
    ck_assert(k.step == 9 && isnan(k.metric));
    eddy_checkpoint *c = eddy_checkpoint_open(k.path, &m.table);
    ck_assert_str_eq(eddy_checkpoint_text(c, "epoch"), "3");
    eddy_checkpoint_free(c);
    end(&t);
    memory_files_free(&m);
}
END_TEST

/* The list gives back to the allocator of the graph what it took from it. */
START_TEST(memory_of_the_list)
{
    memory_files      m;
    failing_allocator f;
    memory_files_init(&m);
    failing_allocator_init(&f);
    training t = { .graph = eddy_graph_new(.allocator = &f.table, .files = &m.table) };
    t.v = eddy_variable(t.graph, eddy_scalar(t.graph, 0), .name = "v");
    t.session = eddy_session_new(t.graph);
    runs(t.session, eddy_initializer(t.graph));
    for (int step = 0; step < 12; step++) ck_assert_int_eq(keep(&t, step, 10, step), EDDY_OK);
    end(&t);
    ck_assert_int_eq(f.live, 0);
    memory_files_free(&m);
}
END_TEST

/* A training that goes back to an earlier step and on from there. */
START_TEST(steps_go_back)
{
    static const int     steps[] = { 100, 200, 110, 120, 110 };
    memory_files         m;
    eddy_kept_checkpoint k;
    memory_files_init(&m);
    training t = begin(&m);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(keep(&t, steps[i], 2, NAN), EDDY_OK);
        ck_assert_int_eq(eddy_latest_checkpoint("d", &m.table, &k, NULL), EDDY_OK);
        ck_assert_int_eq(k.step, steps[i]);
        is_complete(&m, &k);
        ck_assert_int_eq(has_step(&m, 200), i == 1 || i == 2);
    }
    ck_assert(has_step(&m, 110) && has_step(&m, 120) && memory_files_count(&m) == 3);
    end(&t);
    memory_files_free(&m);
}
END_TEST

/* The listed checkpoints are complete after any failure, and the next call continues. */
START_TEST(calls_fail)
{
    bool reached = true;
    for (int at = 1; reached; at++) {
        memory_files         m;
        eddy_kept_checkpoint k;
        memory_files_init(&m);
        training t = begin(&m);
        for (int step = 0; step < 3; step++) ck_assert_int_eq(keep(&t, step, 2, 1), EDDY_OK);
        const int begun = m.calls;
        m.fault = (memory_fault){
            .at = begun + at, .number = EIO, .persistent = _i > 0, .power = _i == 2
        };
        const eddy_status status = keep(&t, 3, 2, 0.5);
        reached = m.calls >= begun + at;
        for (unsigned seed = 0; seed < (_i == 2 ? 20u : 1u); seed++) {
            memory_files after;
            if (_i == 2) memory_files_crash(&m, seed, &after);
            m.fault.at = 0;
            memory_files *now = _i == 2 ? &after : &m;
            ck_assert_int_eq(eddy_latest_checkpoint("d", &now->table, &k, NULL), EDDY_OK);
            ck_assert(k.step == 3 || (k.step == 2 && status != EDDY_OK));
            is_complete(now, &k);
            ck_assert_int_eq(eddy_best_checkpoint("d", &now->table, &k, NULL), EDDY_OK);
            is_complete(now, &k);
            if (_i == 2) memory_files_free(&after);
        }
        ck_assert_int_eq(keep(&t, 4, 1, 2), EDDY_OK);
        ck_assert(!has_step(&m, 1) && !has_step(&m, 2) && has_step(&m, 4));
        end(&t);
        memory_files_free(&m);
        ck_assert_int_lt(at, 200);
    }
}
END_TEST

/* The largest number of them, and the best one besides. */
START_TEST(as_many_as_possible)
{
    enum { MOST = 9999 };
    static char          list[MOST * 16];
    memory_files         m;
    eddy_kept_checkpoint k;
    int                  n = sprintf(list, "eddy checkpoints, best: smallest\n0 -5\n");
    for (int step = 1; step < MOST; step++) n += sprintf(list + n, "%d none\n", step);
    memory_files_init(&m);
    memory_files_put(&m, "d/checkpoints.txt", list, (size_t)n);
    for (int step = 1; step < 4; step++) {
        char path[64];
        snprintf(path, sizeof path, "d/checkpoint-%d.safetensors", step);
        memory_files_put(&m, path, "", 0);
    }
    training t = begin(&m);
    for (int step = MOST; step < MOST + 4; step++)
        ck_assert_msg(keep(&t, step, MOST, NAN) == EDDY_OK, "%s",
                      eddy_session_message(t.session));
    ck_assert_int_eq(eddy_best_checkpoint("d", &m.table, &k, NULL), EDDY_OK);
    ck_assert_int_eq(k.step, 0);
    end(&t);
    memory_files_free(&m);
}
END_TEST

/* -------------------------------------------------------- restoring the last -- */

/* Three checkpoints, of steps 0 to 2; the variable is 7 in the session. */
static training with_three(memory_files *m)
{
    memory_files_init(m);
    training t = begin(m);
    for (int step = 0; step < 3; step++) ck_assert_int_eq(keep(&t, step, 3, NAN), EDDY_OK);
    eddy_variable_set(t.session, t.v, EDDY_NUMBER(EDDY_FLOAT32, 7));
    return t;
}

/* Flips a bit of the value in the file of a step, or removes the file. */
static void spoil(memory_files *m, int step, bool removed)
{
    char path[64];
    snprintf(path, sizeof path, "d/checkpoint-%d.safetensors", step);
    const memory_content *c = memory_files_get(m, path);
    if (removed) m->table.unlink(m, path);
    else c->bytes[c->size - 1] ^= 1;
}

/* What is restored is `step`, the variable has its value, and the session names the file `why`. */
static void restores(const training *t, eddy_status want, int step, int value, const char *why)
{
    eddy_kept_checkpoint k;
    ck_assert_int_eq(eddy_restore_latest(t->session, "d", .restored = &k), want);
    ck_assert_int_eq(k.step, step);
    ck_assert_double_eq(number(t->session, t->v), value);
    ck_assert_msg(strstr(eddy_session_message(t->session), why), "%s",
                  eddy_session_message(t->session));
}

/* The newest file that is whole, whatever is wrong with later ones. */
START_TEST(restores_the_last_whole_one)
{
    for (int spoilt = 0; spoilt <= 3; spoilt++)
        for (int removed = 0; removed < 2; removed++) {
            static const char *const names[] = { "", "checkpoint-2", "checkpoint-1",
                                                 "checkpoint-0" };
            memory_files m;
            training     t = with_three(&m);
            for (int i = 0; i < spoilt; i++) spoil(&m, 2 - i, removed);
            restores(&t, spoilt < 3 ? EDDY_OK : removed ? EDDY_NOT_FOUND : EDDY_CORRUPT,
                     2 - spoilt, spoilt < 3 ? 2 - spoilt : 7, names[spoilt]);
            end(&t);
            memory_files_free(&m);
        }
}
END_TEST

/* A flipped bit can make the header of a large file longer than the limit. */
START_TEST(passes_over_a_long_header)
{
    enum { SIZE = 100000016 };
    memory_files m;
    training     t = with_three(&m);
    char        *bytes = calloc(1, SIZE);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, &(uint64_t){ 100000001 }, 8);
    memory_files_put(&m, "d/checkpoint-2.safetensors", bytes, SIZE);
    restores(&t, EDDY_OK, 1, 1, "the limit is 100000000");
    free(bytes);
    end(&t);
    memory_files_free(&m);
}
END_TEST

/* A call that fails while the newest file is read costs that one only. */
START_TEST(calls_fail_while_restoring)
{
    bool reached = true;
    int  older = 0;
    for (int at = 1; reached; at++) {
        memory_files m;
        training     t = with_three(&m);
        m.fault = (memory_fault){ .at = m.calls + at, .number = EIO };
        const eddy_status status = eddy_restore_latest(t.session, "d");
        reached = m.calls >= m.fault.at;
        const double v = number(t.session, t.v);
        ck_assert(status == EDDY_OK ? v == 2 || v == 1 : status == EDDY_IO && v == 7);
        ck_assert(reached || v == 2);
        older += v == 1;
        end(&t);
        memory_files_free(&m);
    }
    ck_assert_int_gt(older, 0);
}
END_TEST

/* Other errors are not those of a file, and an older one would not help. */
START_TEST(older_ones_do_not_help)
{
    memory_files        m;
    eddy_restore_report report;
    training            t = with_three(&m);
    const eddy_tensor   w = eddy_variable(t.graph, eddy_scalar(t.graph, 0), .name = "w");
    runs(t.session, eddy_assign(w, eddy_scalar(t.graph, 5)));
    restores(&t, EDDY_NOT_FOUND, -1, 7, "no value for the variable 'w'");
    const eddy_restore_checkpoint_args partial =
        *EDDY_OPTIONS(eddy_restore_checkpoint_args, .partial = true, .report = &report);
    spoil(&m, 2, false);
    ck_assert_int_eq(eddy_restore_latest(t.session, "d", &partial), EDDY_OK);
    ck_assert(report.n_restored == 1 && report.n_missing == 1);
    ck_assert_double_eq(number(t.session, t.v), 1);
    eddy_restore_report_free(&report);
    memory_files_put(&m, "d/checkpoints.txt", "x", 1);
    restores(&t, EDDY_CORRUPT, -1, 1, "line 1 is not one");
    end(&t);
    memory_files_free(&m);
}
END_TEST

static const char *const bad[] = {
    "", "x", "x\n", "eddy checkpoints, best: \n", "eddy checkpoints, best: smallest",
    "eddy checkpoints, best: smallest\n1\n", "eddy checkpoints, best: smallest\n1 2 3\n",
    "eddy checkpoints, best: smallest\n1 x\n", "eddy checkpoints, best: smallest\n-1 2\n",
    "eddy checkpoints, best: smallest\n1 2", "eddy checkpoints, best: smallest\n2 1\n1 1\n2 3\n",
    "eddy checkpoints, best: smallest\n1 1\n1 1\n", "eddy checkpoints, best: smallest\n1 .nan\n",
};

static void list_fails(const char *text, size_t n, eddy_status status)
{
    memory_files         m;
    eddy_error           e = { 0 };
    eddy_kept_checkpoint k;
    memory_files_init(&m);
    memory_files_put(&m, "d/checkpoints.txt", text, n);
    training t = begin(&m);
    ck_assert_int_eq(eddy_latest_checkpoint("d", &m.table, &k, &e), status);
    ck_assert_int_eq(k.step, -1);
    ck_assert_int_eq(keep(&t, 3, 2, 1), status);
    ck_assert_int_eq(memory_files_count(&m), 1);
    golden_error(&e);
    end(&t);
    memory_files_free(&m);
}

static int cannot_unlink(void *context, const char *path)
{
    (void)context, (void)path;
    errno = EACCES;
    return -1;
}

START_TEST(messages)
{
    static char          large[2000001];
    memory_files         m;
    eddy_error           e = { 0 };
    eddy_kept_checkpoint k;
    golden_begin("session/kept_checkpoints");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        list_fails(bad[i], strlen(bad[i]), EDDY_CORRUPT);
    list_fails("x\0", 2, EDDY_CORRUPT);
    list_fails(large, sizeof large, EDDY_LIMIT);
    list_fails(large, sizeof large - 1, EDDY_CORRUPT);
    ck_assert_int_eq(eddy_best_checkpoint(NULL, NULL, &k, &e), EDDY_INVALID_ARGUMENT);
    golden_error(&e);
    memory_files_init(&m);
    training t = begin(&m);
    ck_assert_int_eq(eddy_keep_checkpoint(t.session), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(t.session));
    ck_assert_int_eq(eddy_keep_checkpoint(t.session, ""), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(t.session));
    ck_assert_int_eq(eddy_best_checkpoint("", &m.table, &k, &e), EDDY_INVALID_ARGUMENT);
    golden_error(&e);
    ck_assert_int_eq(eddy_keep_checkpoint(t.session, "d", -1), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(t.session));
    ck_assert_int_eq(eddy_keep_checkpoint(t.session, "d", 1, 0), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(t.session));
    ck_assert_int_eq(eddy_restore_latest(t.session), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(t.session));
    ck_assert_int_eq(eddy_restore_latest(t.session, ""), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(t.session));
    ck_assert_int_eq(eddy_restore_latest(t.session, "d"), EDDY_NOT_FOUND);
    golden_line(eddy_session_message(t.session));
    end(&t);
    memset(large, 'd', sizeof large - 1);
    ck_assert_int_eq(eddy_best_checkpoint(large, &m.table, &k, &e), EDDY_LIMIT);
    golden_error(&e);
    m.table.unlink = cannot_unlink;
    t = begin(&m);
    ck_assert_int_eq(keep(&t, 1, 1, NAN), EDDY_OK);
    ck_assert_int_eq(keep(&t, 2, 1, NAN), EDDY_IO);
    golden_line(eddy_session_message(t.session));
    end(&t);
    golden_end();
    memory_files_free(&m);
}
END_TEST

static void read_list(const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    kept_list    l = { .allocator = &eddy__libc };
    memory_files_init(&m);
    memory_files_put(&m, "f", file, size);
    if (!eddy__kept_list_read(&l, &m.table, "f", &e)) answer_add(answer, room, "%s", e.message);
    else answer_add(answer, room, "%s is best", l.larger_is_better ? "largest" : "smallest");
    for (int i = 0; e.status == EDDY_OK && i < l.n; i++)
        answer_add(answer, room, "; %lld %g%s", (long long)l.at[i].step, l.at[i].metric,
                   l.at[i].dropped ? " dropped" : "");
    eddy__kept_list_free(&l);
    memory_files_free(&m);
}

/* A step that is listed is taken out of its place; of equal metrics the first one is the best. */
START_TEST(places)
{
    kept_list  l = { .allocator = &eddy__libc };
    eddy_error e = { 0 };
    const int  steps[] = { 1, 2, 3, 4, 2, 1, 4 }, want[] = { 3, 2, 1, 4 };
    for (int i = 0; i < 7; i++)
        ck_assert(eddy__kept_list_add(&l, (kept){ .step = steps[i], .metric = i }, "f", &e));
    ck_assert_int_eq(l.n, 4);
    for (int i = 0; i < 4; i++) ck_assert_int_eq(l.at[i].step, want[i]);
    ck_assert(l.at[0].metric == 2 && l.at[3].metric == 6);
    eddy__kept_list_free(&l);
    for (int larger = 0; larger < 2; larger++) {
        static const char *const lists[] = {
            "eddy checkpoints, best: smallest\n1 5\n2 5\n3 none\n4 6\n",
            "eddy checkpoints, best: largest\n1 5\n2 5\n3 none\n4 4\n"
        };
        memory_files         m;
        eddy_kept_checkpoint k;
        memory_files_init(&m);
        memory_files_put(&m, "d/checkpoints.txt", lists[larger], strlen(lists[larger]));
        ck_assert_int_eq(eddy_best_checkpoint("d", &m.table, &k, &e), EDDY_OK);
        ck_assert_int_eq(k.step, 1);
        memory_files_free(&m);
    }
}
END_TEST

START_TEST(changed_list)
{
    static const char file[] = "eddy checkpoints, best: largest\n0 none\n3 -0.5 dropped\n12 1e2\n";
    golden_begin("session/changed_list");
    changed_bytes("list", file, sizeof file - 1, read_list);
    golden_end();
}
END_TEST

Suite *keep_suite(void)
{
    Suite *suite = suite_create("keep");
    TCase *c = tcase_create("keep");
    tcase_add_test(c, last_and_best);
    tcase_add_test(c, memory_of_the_list);
    tcase_add_test(c, steps_go_back);
    tcase_add_test(c, as_many_as_possible);
    tcase_add_loop_test(c, calls_fail, 0, 3);
    tcase_add_test(c, restores_the_last_whole_one);
    tcase_add_test(c, passes_over_a_long_header);
    tcase_add_test(c, calls_fail_while_restoring);
    tcase_add_test(c, older_ones_do_not_help);
    tcase_add_test(c, messages);
    tcase_add_test(c, places);
    tcase_add_test(c, changed_list);
    suite_add_tcase(suite, c);
    return suite;
}
