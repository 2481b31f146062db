/* test_draws_in_files.c -- the counts of draws in checkpoints, and damaged ones. */
#include "build/gen/suites.h"
#include "graph/files/safetensors.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

/* A variable, and two operations that draw. */
typedef struct saved {
    memory_files  m;
    eddy_graph   *graph;
    eddy_session *session;
    eddy_tensor   v, a, b;
} saved;

static void begin_saved(saved *s)
{
    memory_files_init(&s->m);
    s->graph = eddy_graph_new(.files = &s->m.table);
    s->v = eddy_variable(s->graph, eddy_scalar(s->graph, 1), .name = "v");
    s->a = eddy_random_uniform(s->graph, EDDY_SCALAR, .name = "a");
    s->b = eddy_random_uniform(s->graph, EDDY_SCALAR, .name = "deep/b");
    s->session = eddy_session_new(s->graph);
    runs(s->session, eddy_initializer(s->graph));
}

static void end_saved(saved *s)
{
    eddy_session_free(s->session);
    eddy_graph_free(s->graph);
    memory_files_free(&s->m);
}

static void has_draws(saved *s, const char *path, const char *want)
{
    eddy_safetensors f;
    ck_assert_int_eq(eddy__safetensors_open(&s->m.table, NULL, path, false, &f, NULL), EDDY_OK);
    const char *text = eddy__safetensors_find_text(&f, "eddy.draws");
    if (want) ck_assert_str_eq(text, want);
    else ck_assert_ptr_null(text);
    eddy__safetensors_free(&f);
}

START_TEST(in_checkpoints)
{
    saved s;
    begin_saved(&s);
    ck_assert_int_eq(eddy_save(s.session, "none", EDDY_LIST()), EDDY_OK);
    has_draws(&s, "none", "");
    /* A session that has not run anything has not examined the graph either. */
    eddy_session *idle = eddy_session_new(s.graph);
    ck_assert_int_eq(eddy_restore(idle, "none", EDDY_LIST(s.v)), EDDY_OK);
    ck_assert_int_eq(eddy_save(idle, "idle", EDDY_LIST()), EDDY_OK);
    has_draws(&s, "idle", "");
    eddy_session_free(idle);
    eddy_graph *plain = eddy_graph_new(.files = &s.m.table);
    eddy_variable(plain, eddy_scalar(plain, 1), .name = "v");
    eddy_session *of_plain = eddy_session_new(plain);
    runs(of_plain, eddy_initializer(plain));
    ck_assert_int_eq(eddy_save(of_plain, "plain", EDDY_LIST()), EDDY_OK);
    has_draws(&s, "plain", NULL);
    eddy_session_free(of_plain);
    eddy_graph_free(plain);
    runs(s.session, s.a);
    runs(s.session, s.b);
    runs(s.session, s.b);
    ck_assert_int_eq(eddy_save(s.session, "all", EDDY_LIST()), EDDY_OK);
    ck_assert_int_eq(eddy_save(s.session, "listed", EDDY_LIST(s.v)), EDDY_OK);
    has_draws(&s, "all", "a=1 deep/b=2");
    has_draws(&s, "listed", NULL);
    const double a = number(s.session, s.a), b = number(s.session, s.b);
    ck_assert_int_eq(eddy_restore(s.session, "all", EDDY_LIST(s.v)), EDDY_OK);
    ck_assert_double_ne(number(s.session, s.a), a);
    const eddy_named_variable pair = { "v", s.v };
    ck_assert_int_eq(eddy_restore_checkpoint(s.session, "all", .named = &pair, .n_named = 1),
                     EDDY_OK);
    ck_assert_double_ne(number(s.session, s.a), a);
    ck_assert_int_eq(eddy_restore(s.session, "listed", EDDY_LIST()), EDDY_OK);
    ck_assert_double_ne(number(s.session, s.b), b);
    ck_assert_int_eq(eddy_restore(s.session, "all", EDDY_LIST()), EDDY_OK);
    ck_assert_double_eq(number(s.session, s.a), a);
    ck_assert_double_eq(number(s.session, s.b), b);
    ck_assert_int_eq(eddy_restore(s.session, "none", EDDY_LIST()), EDDY_OK);
    const double first = number(s.session, s.a);
    eddy_session *fresh = eddy_session_new(s.graph);
    ck_assert_double_eq(number(fresh, s.a), first);
    eddy_session_free(fresh);
    end_saved(&s);
}
END_TEST

/* Sessions that share the runs of a training draw together what one draws, and a checkpoint of one
 * is of all: another number of sessions goes on. */
START_TEST(shared_runs)
{
    enum { RUNS = 6 };
    saved  s;
    double alone[3 * RUNS];
    begin_saved(&s);
    for (int i = 0; i < 3 * RUNS; i++) alone[i] = number(s.session, s.a);
    for (int of = 1; of <= 3; of++)
        for (int i = 0; i < of; i++) {
            eddy_session *part = eddy_session_new(s.graph, .first_run = i, .run_stride = of);
            for (int k = 0; k < RUNS / of; k++)
                ck_assert_double_eq(number(part, s.a), alone[k * of + i]);
            eddy_variable_set(part, s.v, EDDY_NUMBER(EDDY_FLOAT32, 1));
            if (of == 2)
                ck_assert_int_eq(eddy_save(part, i ? "same" : "all", EDDY_LIST()), EDDY_OK);
            eddy_session_free(part);
        }
    has_draws(&s, "all", "a=6");
    has_draws(&s, "same", "a=6");
    eddy_session *one = eddy_session_new(s.graph);
    eddy_session *last = eddy_session_new(s.graph, .first_run = 2, .run_stride = 3);
    ck_assert_int_eq(eddy_restore(one, "all", EDDY_LIST()), EDDY_OK);
    ck_assert_int_eq(eddy_restore(last, "all", EDDY_LIST()), EDDY_OK);
    ck_assert_double_eq(number(one, s.a), alone[6]);
    ck_assert_double_eq(number(last, s.a), alone[8]);
    eddy_session_free(one);
    eddy_session_free(last);
    end_saved(&s);
}
END_TEST

/* Texts that a file may contain. */
START_TEST(damaged_checkpoints)
{
    static const char *const bad[] = { "a", "a=", "=1", "a=1=2", "a=x", "a=-1", "a=1x", "a=1  ",
                                       " a=1", "a=9223372036854775808", "b=1 c", "\xc3\xa9" };
    static const char *const good[] = { "", "a=9223372036854775807", "c=1 v=2 a=0 \xc3\xa9=4 ",
                                        "a=1 a=1" };
    saved       s;
    eddy_array *one = eddy_array_of(EDDY_FLOAT32, 5);
    begin_saved(&s);
    golden_begin("session/draws");
    for (size_t i = 0; i < sizeof bad / sizeof *bad + sizeof good / sizeof *good; i++) {
        const bool  fine = i >= sizeof bad / sizeof *bad;
        const eddy_safetensors_text pair = { "eddy.draws",
                                             fine ? good[i - sizeof bad / sizeof *bad] : bad[i] };
        ck_assert_int_eq(eddy__safetensors_write(&s.m.table, NULL, "f", 1, (const char *[]){ "v" },
                                                 (const eddy_array *[]){ one }, 1, &pair, NULL),
                         EDDY_OK);
        eddy_error e = { eddy_restore(s.session, "f", EDDY_LIST()), "" };
        ck_assert_int_eq(e.status, fine ? EDDY_OK : EDDY_CORRUPT);
        ck_assert_double_eq(number(s.session, s.v), fine ? 5 : 1);
        snprintf(e.message, sizeof e.message, "%s", eddy_session_message(s.session));
        if (!fine) golden_error(&e);
    }
    golden_end();
    eddy_array_free(one);
    end_saved(&s);
}
END_TEST

Suite *draws_in_files_suite(void)
{
    Suite *s = suite_create("draws_in_files");
    TCase *t = tcase_create("checkpoints");
    tcase_add_test(t, in_checkpoints);
    tcase_add_test(t, shared_runs);
    tcase_add_test(t, damaged_checkpoints);
    suite_add_tcase(s, t);
    return s;
}
