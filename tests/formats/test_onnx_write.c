/* test_onnx_write.c -- graphs written as ONNX models: what is read back gives the same values;
 * names, variables, errors, and files that stay whole. */
#include "build/gen/table.h"
#include "formats/onnx/writer/part.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/onnx_written.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

Suite *onnx_write_suite(void);

/* ------------------------------------------------------------------ every row -- */

START_TEST(every_operation)
{
    for (const eddy_op_def *const *op = eddy_op_table; *op; op++) {
        const bool row = eddy__onnx_row((*op)->name) != NULL;
        const bool reason = eddy__onnx_absence((*op)->name) != NULL;
        ck_assert_msg(row != reason, "%s has %s", (*op)->name,
                      row ? "a rule and a reason why it is not written"
                          : "neither a rule nor a reason");
    }
}
END_TEST

static void check_close(const char *title, int k, const eddy_array *want, const eddy_array *got)
{
    ck_assert_msg(eddy_array_dtype(want) == eddy_array_dtype(got), "%s: type of output %d", title,
                  k);
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(want), eddy_array_shape(got)),
                  "%s: shape of output %d", title, k);
    for (int64_t i = 0; i < eddy_array_count(want); i++) {
        const double a = eddy_array_get(want, i), b = eddy_array_get(got, i);
        ck_assert_msg((isnan(a) && isnan(b)) || a == b || fabs(a - b) <= 1e-5 * (1 + fabs(a)),
                      "%s: output %d element %d is %g, not %g", title, k, (int)i, b, a);
    }
}

/* Whether the reader refuses a model for a reason that ONNX Runtime does not share. */
static bool reader_refuses(const char *why) { return strstr(why, "positions of maxima"); }

/* Whether the model was written and read; its values are then those of the graph. */
static bool check_again(const trial *t, const fetches *f)
{
    eddy_model_report *report = NULL;
    eddy_array       *want[FETCHES] = { NULL }, *got[FETCHES] = { NULL };
    eddy_feed         feed[TRIAL_FEEDS];
    eddy_error        e;
    bool              done = false;
    if (!written_obstacle(f, &report)) {
        done = written_again(t, f, got, &e);
        ck_assert_msg(done || reader_refuses(e.message), "%s: %s", f->title, e.message);
        for (int i = 0; i < t->n; i++) feed[i] = (eddy_feed){ t->tensor[i], t->array[i] };
        ck_assert_int_eq(
            eddy_run(t->session, (eddy_feeds){ t->n, feed }, (eddy_list){ f->n, f->at }, want),
            EDDY_OK);
        for (int k = 0; done && k < f->n; k++) check_close(f->title, k, want[k], got[k]);
    }
    eddy_model_report_free(report);
    free_arrays(f->n, want);
    free_arrays(f->n, got);
    return done;
}

/* 1 if the row was written and read. */
static int check_row(int row)
{
    trial      t;
    fetches    f;
    char       title[96];
    const bool done = written_row(row, &t, &f, title) && check_again(&t, &f);
    trial_end(&t);
    return done;
}

START_TEST(rows)
{
    int done = 0;
    for (int i = 0; i < sweep_count(); i++) {
        if (!(sweep_row_at(i)->options & SWEEP_RANDOM)) done += check_row(i);
    }
    ck_assert_int_gt(done, 500);
}
END_TEST

START_TEST(others)
{
    trial   t;
    fetches f;
    written_model(_i, &t, &f);
    ck_assert_msg(check_again(&t, &f), "%s is not written", f.title);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------- training -- */

typedef struct model {
    memory_files    *files;
    eddy_graph      *graph;
    eddy_onnx_model *onnx;
    eddy_session    *session;
} model;

static model model_begin(void)
{
    model m = { .files = malloc(sizeof *m.files), .graph = eddy_graph_new() };
    ck_assert_ptr_nonnull(m.files);
    memory_files_init(m.files);
    m.session = eddy_session_new(m.graph);
    return m;
}

static void model_read(model *m)
{
    eddy_error e = { 0 };
    m->onnx = eddy_onnx_read(m->graph, "m.onnx", .files = &m->files->table, .error = &e);
    ck_assert_msg(m->onnx != NULL, "%s", e.message);
}

static void model_end(model *m)
{
    eddy_session_free(m->session);
    eddy_onnx_free(m->onnx);
    eddy_graph_free(m->graph);
    memory_files_free(m->files);
    free(m->files);
}

static void write_fine(eddy_onnx_write_args a)
{
    eddy_error e = { 0 };
    a.size_ = sizeof a;
    a.error = &e;
    ck_assert_msg(eddy_onnx_write_with(&a) == EDDY_OK, "%s", e.message);
}

/* A step of training of the network, with momentum. */
typedef struct training {
    eddy_graph   *graph;
    eddy_session *session;
    eddy_tensor   x, w, loss, train;
} training;

static training training_begin(void)
{
    training t = { .graph = eddy_graph_new() };
    t.session = eddy_session_new(t.graph);
    t.x = eddy_placeholder(t.graph, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3));
    t.w = eddy_variable(t.graph,
                        .initial_value =
                            eddy_constant(t.graph, EDDY_SHAPED(EDDY_FLOATS(1, -1, 2), 3, 1), NULL),
                        .name = "w");
    t.loss = eddy_named("loss", Mean(Square(Sub(Tanh(MatMul(t.x, t.w)), 0.5))));
    t.train = eddy_minimize(
        eddy_momentum(t.graph, eddy_scalar(t.graph, 0.1), eddy_scalar(t.graph, 0.9)), t.loss);
    runs(t.session, eddy_initializer(t.graph));
    return t;
}

static void training_end(training *t)
{
    eddy_session_free(t->session);
    eddy_graph_free(t->graph);
}

START_TEST(trains_elsewhere)
{
    training t = training_begin();
    model    m = model_begin();
    write_fine((eddy_onnx_write_args){ .outputs = EDDY_LIST(t.train, t.loss),
                                       .path = "m.onnx",
                                       .session = t.session,
                                       .no_initial_values = true,
                                       .files = &m.files->table });
    model_read(&m);
    ck_assert_int_eq(eddy_onnx_input_count(m.onnx), 3);
    ck_assert_str_eq(eddy_onnx_input_name(m.onnx, 0), "x");
    ck_assert_str_eq(eddy_onnx_output_name(m.onnx, 0), "loss");
    ck_assert_str_eq(eddy_onnx_output_name(m.onnx, 1), "w:next");
    ck_assert_str_eq(eddy_onnx_output_name(m.onnx, 2), "w/Momentum:next");
    const eddy_tensor y[] = { eddy_onnx_output(m.onnx, "loss"), eddy_onnx_output(m.onnx, "w:next"),
                              eddy_onnx_output(m.onnx, "w/Momentum:next") };
    eddy_array *state[3] = { NULL, eddy_variable_value(t.session, t.w),
                             eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3, 1)) };
    for (int step = 0; step < 5; step++) {
        const float at[6] = { 0.5f, -1, (float)step, 0.25f, 1, -0.5f };
        eddy_array *next[3] = { NULL, NULL, NULL }, *loss[2] = { NULL, NULL };
        const eddy_feed feeds[] = { { eddy_onnx_input(m.onnx, "x"), EDDY_VIEW(at, 2, 3) },
                                    { eddy_onnx_input(m.onnx, "w"), state[1] },
                                    { eddy_onnx_input(m.onnx, "w/Momentum"), state[2] } };
        ck_assert_int_eq(eddy_run(m.session, (eddy_feeds){ 3, feeds }, (eddy_list){ 3, y }, next),
                         EDDY_OK);
        ck_assert_int_eq(eddy_run(t.session, EDDY_FEED({ t.x, EDDY_VIEW(at, 2, 3) }),
                                  EDDY_FETCH(t.train, t.loss), loss),
                         EDDY_OK);
        check_close("loss", step, loss[1], next[0]);
        free_arrays(3, state);
        free_arrays(2, loss);
        for (int i = 0; i < 3; i++) state[i] = next[i];
    }
    eddy_array *w = eddy_variable_value(t.session, t.w);
    check_close("w", 0, w, state[1]);
    eddy_array_free(w);
    free_arrays(3, state);
    model_end(&m);
    training_end(&t);
}
END_TEST

/* Reads see the updates that they see in a session. */
START_TEST(order_of_updates)
{
    training t = training_begin();
    model    m = model_begin();
    eddy_graph *g = t.graph;
    const eddy_tensor v = eddy_variable(g, .initial_value = eddy_scalar(g, 1), .name = "v");
    const eddy_tensor before = eddy_named("before", Mul(v, 10)), twice = eddy_assign(v, Mul(v, 2));
    eddy_control_begin(g, EDDY_LIST(twice));
    const eddy_tensor after = eddy_named("after", eddy_read(v)),
                      late = eddy_named("late", Add(v, 100));
    const eddy_tensor more = eddy_assign_add(v, eddy_scalar(g, 5));
    eddy_control_end(g);
    eddy_tensor now = eddy_named("now", Identity(v));
    runs(t.session, eddy_initializer(g));
    write_fine((eddy_onnx_write_args){ .outputs = EDDY_LIST(before, after, late, now, more),
                                       .path = "m.onnx",
                                       .session = t.session,
                                       .files = &m.files->table });
    model_read(&m);
    const double want[] = { 10, 2, 102, 1, 7, 7 };
    ck_assert_int_eq(eddy_onnx_output_count(m.onnx), 6);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(
            eddy_fetch_number(m.session,
                              eddy_onnx_output(m.onnx, eddy_onnx_output_name(m.onnx, i))),
            want[i]);
    model_end(&m);
    training_end(&t);
}
END_TEST

BODY(below_three, Less(x[0], 3))
BODY(count_and_double, Add(x[0], 1), Mul(x[1], 2))
BODY(both, c[0], c[1])
BODY(neither, Mul(c[0], 2), Neg(c[1]))
BODY(sums, Add(x[0], x[2]), Add(x[1], x[3]))

/* Loops and branches do not compute nodes that only unread results need, nor wait for their
 * updates. */
START_TEST(unread_results)
{
    training t = training_begin();
    eddy_graph *g = t.graph;
    const eddy_tensor v = eddy_variable(g, .initial_value = eddy_scalar(g, 1), .name = "v");
    const eddy_tensor update = eddy_assign_add(v, eddy_scalar(g, 5)), zero = eddy_scalar(g, 0);
    const float       two_rows[] = { 1, 2 };
    const eddy_tensor numbers = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), two_rows);
    const eddy_tensor late_rows = Mul(numbers, update);
    eddy_control_begin(g, EDDY_LIST(update));
    const eddy_tensor late = eddy_identity(eddy_scalar(g, 7));
    eddy_control_end(g);
    eddy_tensor y[3][EDDY_MAX_RESULTS];
    eddy_while_loop(PLAIN(below_three), PLAIN(count_and_double), EDDY_LIST(zero, late), y[0]);
    eddy_cond(eddy_placeholder(g, "p", EDDY_BOOL, EDDY_SCALAR), FUNCTION(both, t.loss, late),
              FUNCTION(neither, t.loss, late), y[1]);
    eddy_foldl(PLAIN(sums), EDDY_LIST(numbers, late_rows), y[2], EDDY_LIST(zero, late));
    fits(g);
    runs(t.session, eddy_initializer(g));
    for (int k = 0; k < 3; k++)
        for (int all = 0; all < 2; all++) {
            model m = model_begin();
            write_fine((eddy_onnx_write_args){ .outputs = { 1 + all, y[k] }, .path = "m.onnx",
                                               .session = t.session,
                                               .files = &m.files->table });
            model_read(&m);
            ck_assert_int_eq(eddy_onnx_output_count(m.onnx), 1 + 2 * all);
            if (k != 1) {
                const char *name = eddy_onnx_output_name(m.onnx, 0);
                ck_assert_double_eq(eddy_fetch_number(m.session, eddy_onnx_output(m.onnx, name)),
                                    3);
            }
            model_end(&m);
        }
    ck_assert_double_eq(eddy_fetch_number(t.session, y[0][0]), 3);
    ck_assert_double_eq(eddy_fetch_number(t.session, y[2][0]), 3);
    ck_assert_double_eq(eddy_fetch_number(t.session, v), 1);
    training_end(&t);
}
END_TEST

/* Variables that nothing updates are constants; large ones are in a second file. */
START_TEST(inference)
{
    training t = training_begin();
    for (int external = 0; external < 2; external++) {
        model             m = model_begin();
        const eddy_tensor y = eddy_named(external ? "z" : "y", MatMul(t.x, t.w));
        write_fine((eddy_onnx_write_args){ .outputs = EDDY_LIST(y, t.x, t.w, y),
                                           .path = "m.onnx",
                                           .session = t.session,
                                           .external_bytes = external * 12,
                                           .files = &m.files->table });
        ck_assert_int_eq(memory_files_count(m.files), 1 + external);
        model_read(&m);
        ck_assert_int_eq(eddy_onnx_input_count(m.onnx), 1);
        ck_assert_int_eq(eddy_onnx_output_count(m.onnx), 3);
        ck_assert_str_eq(eddy_onnx_output_name(m.onnx, 1), "x:output");
        ck_assert_str_eq(eddy_onnx_output_name(m.onnx, 2), "w:output");
        const double got = eddy_fetch_number(
            m.session, eddy_onnx_output(m.onnx, external ? "z" : "y"),
            EDDY_FEED({ eddy_onnx_input(m.onnx, "x"), EDDY_SHAPED(EDDY_FLOATS(1, 2, 3), 1, 3) }));
        ck_assert_double_eq(got, 5);
        model_end(&m);
    }
    training_end(&t);
}
END_TEST

/* Bits of the least and the largest numbers, and shifts by all widths. */
static void check_bits(eddy_dtype d, int n, const int64_t *values)
{
    model       m = model_begin();
    eddy_graph *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(n, 1)), *b = eddy_array_new(d, EDDY_SHAPE(n));
    for (int i = 0; i < n; i++) {
        const int32_t narrow = (int32_t)values[i];
        const uint8_t byte = (uint8_t)values[i];
        const void   *v = d == EDDY_INT64 ? (const void *)&values[i]
                        : d == EDDY_INT32 ? (const void *)&narrow : (const void *)&byte;
        const size_t size = eddy_dtype_size(d);
        memcpy((char *)eddy_array_data(a) + (size_t)i * size, v, size);
        memcpy((char *)eddy_array_data(b) + (size_t)i * size, v, size);
    }
    const eddy_tensor x = eddy_placeholder(g, "x", d, EDDY_SHAPE(n, 1)),
                      y = eddy_placeholder(g, "y", d, EDDY_SHAPE(n));
    const eddy_tensor out[] = { eddy_bitwise_and(x, y), eddy_bitwise_or(x, y),
                                eddy_bitwise_xor(x, y), eddy_left_shift(x, y),
                                eddy_right_shift(x, y), eddy_population_count(x) };
    write_fine((eddy_onnx_write_args){
        .outputs = { 6, out }, .path = "m.onnx", .session = s, .files = &m.files->table });
    model_read(&m);
    for (int k = 0; k < 6; k++) {
        eddy_array *want = eddy_fetch(s, out[k], EDDY_FEED({ x, a }, { y, b }));
        const eddy_tensor in = eddy_onnx_input(m.onnx, "x"), by = eddy_onnx_input(m.onnx, "y"),
                          at = eddy_onnx_output(m.onnx, eddy_onnx_output_name(m.onnx, k));
        eddy_array *got = k < 5 ? eddy_fetch(m.session, at, EDDY_FEED({ in, a }, { by, b }))
                                : eddy_fetch(m.session, at, EDDY_FEED({ in, a }));
        ck_assert_msg(want && got && eddy_array_equal(want, got), "%s of %s",
                      eddy_type_of(out[k]), eddy_dtype_name(d));
        eddy_array_free(want);
        eddy_array_free(got);
    }
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_session_free(s);
    eddy_graph_free(g);
    model_end(&m);
}

START_TEST(bits)
{
    static const int64_t values[] = { 0, 1, -1, 2, 7, 31, 33, 62, 63, 64, -64, INT32_MAX, INT32_MIN,
                                      0x5a5a5a5a5a5a5a5a, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
    enum { N = sizeof values / sizeof *values };
    check_bits(EDDY_UINT8, N, values);
    check_bits(EDDY_INT32, N, values);
    check_bits(EDDY_INT64, N, values);
}
END_TEST

/* Special functions in float64 where their forms meet, and far out. */
START_TEST(special_functions)
{
    static eddy_tensor (*const functions[])(eddy_tensor) = {
        eddy_erf, eddy_erfc, eddy_erfcx, eddy_erfinv, eddy_erfcinv, eddy_ndtri, eddy_ndtr,
        eddy_log_ndtr, eddy_dawsn, eddy_bessel_i0e, eddy_bessel_i1e, eddy_lgamma, eddy_digamma,
        eddy_atan, eddy_asin, eddy_acos, eddy_asinh, eddy_sinh, eddy_atanh, eddy_logit,
    };
    static const double points[] = { 1e-9, 0.01, 0.25, 0.5,  0.500000001, 0.75, 0.999, 1.0,
                                     1.5,  2.5,  3.75, 4.99, 5.01,        7.99, 8.01,  9.99,
                                     10.01, 20.5, -0.01, -0.5, -1.5, -7.3 };
    enum { N = sizeof points / sizeof *points };
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        model             m = model_begin();
        eddy_graph       *g = eddy_graph_new();
        eddy_session     *s = eddy_session_new(g);
        const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(N));
        const eddy_tensor y = eddy_named("y", functions[f](x));
        eddy_array       *at = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(N), points);
        write_fine((eddy_onnx_write_args){
            .outputs = EDDY_LIST(y), .path = "m.onnx", .session = s, .files = &m.files->table });
        model_read(&m);
        eddy_array *want = eddy_fetch(s, y, EDDY_FEED({ x, at }));
        eddy_array *got = eddy_fetch(m.session, eddy_onnx_output(m.onnx, "y"),
                                     EDDY_FEED({ eddy_onnx_input(m.onnx, "x"), at }));
        const double least = functions[f] != eddy_logit;    /* logit keeps its digits near 1/2 */
        for (int i = 0; i < N; i++) {
            const double a = eddy_array_get(want, i), b = eddy_array_get(got, i);
            ck_assert_msg((isnan(a) && isnan(b)) || a == b ||
                              fabs(a - b) <= 1e-12 * (fabs(a) + least),
                          "%s(%g) is %.17g, not %.17g", eddy_type_of(y),
                          points[i], b, a);
        }
        eddy_array_free(want);
        eddy_array_free(got);
        eddy_array_free(at);
        eddy_session_free(s);
        eddy_graph_free(g);
        model_end(&m);
    }
}
END_TEST

/* Any tensor can be an input; then what computes it is not written. */
START_TEST(cut)
{
    training t = training_begin();
    model    m = model_begin();
    const eddy_tensor h = eddy_named("h", MatMul(t.x, t.w)), y = eddy_named("y", Mul(h, 3));
    write_fine((eddy_onnx_write_args){ .outputs = EDDY_LIST(y),
                                       .path = "m.onnx",
                                       .inputs = EDDY_LIST(h),
                                       .files = &m.files->table });
    model_read(&m);
    ck_assert_int_eq(eddy_onnx_input_count(m.onnx), 1);
    ck_assert_double_eq(eddy_fetch_number(m.session, eddy_onnx_output(m.onnx, "y"),
                                          EDDY_FEED({ eddy_onnx_input(m.onnx, "h"),
                                                      EDDY_SHAPED(EDDY_FLOATS(2), 1, 1) })),
                        6);
    model_end(&m);
    training_end(&t);
}
END_TEST

/* --------------------------------------------------------------------- the file -- */

/* Other programs read these bytes, so a change of them is a change of the format. */
START_TEST(golden_model)
{
    const char *path = "tests/golden/formats/step.onnx";
    training    t = training_begin();
    model       m = model_begin();
    write_fine((eddy_onnx_write_args){ .outputs = EDDY_LIST(t.train, t.loss),
                                       .path = "m.onnx",
                                       .session = t.session,
                                       .files = &m.files->table });
    const memory_content *c = memory_files_get(m.files, "m.onnx");
    ck_assert_ptr_nonnull(c);
    if (getenv("EDDY_WRITE_GOLDEN"))
        write_fine((eddy_onnx_write_args){
            .outputs = EDDY_LIST(t.train, t.loss), .path = path, .session = t.session });
    FILE  *f = fopen(path, "rb");
    char  *bytes = malloc(c->size + 1);
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(bytes, 1, c->size + 1, f), c->size);
    ck_assert_mem_eq(bytes, c->bytes, c->size);
    fclose(f);
    free(bytes);
    model_end(&m);
    training_end(&t);
}
END_TEST

/* Whatever call fails, the file is the old one or the new one. */
START_TEST(file_failures)
{
    training t = training_begin();
    bool     succeeded = false;
    int      at = 1;
    for (; !succeeded && at < 1000; at++) {
        model      m = model_begin();
        eddy_error e = { 0 };
        memory_files_put(m.files, "m.onnx", "old", 3);
        m.files->fault = (memory_fault){ .at = at, .number = EIO, .persistent = at % 2 == 0 };
        const eddy_status s =
            eddy_onnx_write(EDDY_LIST(t.train), "m.onnx", .session = t.session, .external_bytes = 4,
                            .files = &m.files->table, .error = &e);
        succeeded = s == EDDY_OK;
        if (!succeeded) ck_assert_int_eq(s, EDDY_IO);
        const memory_content *c = memory_files_get(m.files, "m.onnx");
        ck_assert_ptr_nonnull(c);
        const bool old = c->size == 3 && memcmp(c->bytes, "old", 3) == 0;
        ck_assert(s != EDDY_OK || !old);
        m.files->fault = (memory_fault){ 0 };
        if (!old) model_read(&m);
        model_end(&m);
    }
    ck_assert(succeeded);
    training_end(&t);
}
END_TEST

/* ------------------------------------------------------------------------ errors -- */

#define REFUSED(...)                                                                       \
    do {                                                                                   \
        eddy_error e_ = { 0 };                                                             \
        ck_assert_int_ne(eddy_onnx_write(__VA_ARGS__, .error = &e_), EDDY_OK);             \
        golden_error(&e_);                                                                 \
    } while (0)

START_TEST(errors)
{
    training    t = training_begin(), other = training_begin();
    eddy_graph *g = t.graph;
    char        longest[5000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    golden_begin("formats/onnx_write");
    REFUSED(.path = "m.onnx");
    REFUSED((eddy_list){ 1, NULL }, "m.onnx");
    REFUSED(EDDY_LIST(EDDY_NO_TENSOR), "m.onnx");
    REFUSED(EDDY_LIST(t.loss, other.loss), "m.onnx", .session = t.session);
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .inputs = { 1, NULL });
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .inputs = EDDY_LIST(other.x));
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .inputs = EDDY_LIST(t.w));
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .inputs = EDDY_LIST(t.train));
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .inputs = EDDY_LIST(t.x, t.x));
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .external_bytes = -1);
    REFUSED(EDDY_LIST(t.loss), .session = t.session);
    REFUSED(EDDY_LIST(t.loss), "", .session = t.session);
    REFUSED(EDDY_LIST(t.loss), longest, .session = t.session);
    REFUSED(EDDY_LIST(t.loss), "no/such/folder/m.onnx", .session = t.session);
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .session = t.session, .files = &(eddy_files){ 0 });
    REFUSED(EDDY_LIST(t.loss), "m.onnx");
    REFUSED(EDDY_LIST(t.w), "m.onnx");
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .inputs = EDDY_LIST(Mul(t.x, 2)), .session = t.session);
    REFUSED(EDDY_LIST(eddy_no_op(g, NULL)), "m.onnx");
    REFUSED(EDDY_LIST(eddy_cholesky(eddy_constant(g, EDDY_SHAPED(EDDY_FLOATS(4), 1, 1), NULL))),
            "m.onnx");
    REFUSED(EDDY_LIST(eddy_complex(t.loss, t.loss)), "m.onnx", .session = t.session);
    REFUSED(EDDY_LIST(Identity(eddy_complex(t.loss, t.loss))), "m.onnx", .session = t.session);
    Add(t.x, eddy_constant(g, EDDY_FLOATS(1, 2, 3, 4), NULL));
    REFUSED(EDDY_LIST(t.loss), "m.onnx", .session = t.session);
    golden_end();
    ck_assert_int_eq(eddy_onnx_write_with(NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_onnx_write_check_with(NULL));
    training_end(&t);
    training_end(&other);
}
END_TEST

START_TEST(report)
{
    training          t = training_begin();
    const eddy_tensor y = eddy_cholesky(MatMul(t.w, t.w, .transpose_a = true));
    eddy_model_report *r = eddy_onnx_write_check(EDDY_LIST(y, t.loss));
    int               missing = 0;
    ck_assert_ptr_nonnull(r);
    for (int i = 0; i < eddy_model_report_size(r); i++) {
        const eddy_model_entry *e = eddy_model_report_at(r, i);
        if (e->support != EDDY_MODEL_MISSING) continue;
        missing++;
        ck_assert_str_eq(e->op, "Cholesky");
        ck_assert_str_eq(e->place, "node 'Cholesky'");
        ck_assert_str_eq(e->reason, "ONNX has no decompositions of matrices");
    }
    ck_assert_int_eq(missing, 1);
    ck_assert_ptr_null(eddy_model_report_at(r, -1));
    eddy_model_report_free(r);
    training_end(&t);
}
END_TEST

Suite *onnx_write_suite(void)
{
    Suite *s = suite_create("onnx_write");
    TCase *c = tcase_create("rows"), *d = tcase_create("models");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, every_operation);
    tcase_add_test(c, rows);
    tcase_add_loop_test(c, others, 0, written_models());
    tcase_add_test(d, trains_elsewhere);
    tcase_add_test(d, order_of_updates);
    tcase_add_test(d, unread_results);
    tcase_add_test(d, inference);
    tcase_add_test(d, bits);
    tcase_add_test(d, special_functions);
    tcase_add_test(d, cut);
    tcase_add_test(d, golden_model);
    tcase_add_test(d, file_failures);
    tcase_add_test(d, errors);
    tcase_add_test(d, report);
    suite_add_tcase(s, c);
    suite_add_tcase(s, d);
    return s;
}
