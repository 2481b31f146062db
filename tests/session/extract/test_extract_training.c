/* test_extract_training.c -- losses and gradients of models with loops, built for one number of
 * examples and extracted for any: the values are those of the graph built for that number. */
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"

#include <math.h>

Suite *extract_training_suite(void);

enum { TIME = 4, WIDTH = 2, MOST = 8 };

/* A model for n examples, and the tensors that are compared. */
typedef struct built {
    eddy_graph *graph;
    int64_t     n;
    eddy_tensor x, w;           /* x: [n, TIME, WIDTH] */
    eddy_tensor at[MOST];       /* the loss, gradients, values after a step of training */
    int         count;
} built;

typedef eddy_tensor builder(built *b);
typedef struct model {
    const char *name;
    builder    *build;
} model;

static eddy_tensor steps_first(const built *b) { return eddy_transpose(b->x, EDDY_AXES(1, 0, 2)); }
static eddy_tensor first_step(const built *b) { return eddy_index(b->x, ":, 0"); }

/* ------------------------------------------------------------------ models -- */

static int step(eddy_list a, eddy_tensor *y, void *context)
{
    const built *b = context;
    y[0] = eddy_tanh(Add(eddy_matmul(a.at[0], b->w), a.at[a.count - 1]));
    return 1;
}

static eddy_tensor scanned(built *b)
{
    const eddy_function f = { .build = step, .context = b };
    eddy_tensor         y[1];
    eddy_scan(f, EDDY_LIST(steps_first(b)), y, EDDY_LIST(eddy_zeros_like(first_step(b))));
    return y[0];
}

static eddy_tensor folded(built *b)
{
    const eddy_function f = { .build = step, .context = b };
    eddy_tensor         y[1];
    eddy_foldr(f, EDDY_LIST(steps_first(b)), y);
    return y[0];
}

static eddy_tensor in_segments(built *b)
{
    const eddy_function f = { .build = step, .context = b };
    eddy_tensor         y[1];
    eddy_scan(f, EDDY_LIST(steps_first(b)), y, EDDY_LIST(eddy_zeros_like(first_step(b))),
              .segment = 3);
    return y[0];
}

static int row(eddy_list a, eddy_tensor *y, void *context)
{
    const built *b = context;
    y[0] = eddy_tanh(eddy_matmul(a.at[0], b->w));
    return 1;
}

/* The examples are the rows of the loop. */
static eddy_tensor mapped(built *b)
{
    const eddy_function f = { .build = row, .context = b };
    eddy_tensor         y[1];
    eddy_map_fn(f, EDDY_LIST(b->x), y);
    return y[0];
}

static eddy_tensor mapped_in_segments(built *b)
{
    const eddy_function f = { .build = row, .context = b };
    eddy_tensor         y[1];
    eddy_map_fn(f, EDDY_LIST(b->x), y, .segment = 2);
    return y[0];
}

static int another(eddy_list a, eddy_tensor *y, void *context)
{
    const built *b = context;
    y[0] = Add(Mul(a.at[0], 0.5), eddy_tanh(eddy_matmul(a.at[1], b->w)));
    return 1;
}

static eddy_tensor over_examples(built *b)
{
    const eddy_function f = { .build = another, .context = b };
    eddy_tensor         y[1];
    eddy_scan(f, EDDY_LIST(b->x), y);
    return y[0];
}

static int below(eddy_list a, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_less(a.at[0], eddy_number_like(5, a.at[0]));
    return 1;
}

static int turn(eddy_list a, eddy_tensor *y, void *context)
{
    const built *b = context;
    y[0] = Add(a.at[0], 1);
    y[1] = eddy_sin(eddy_matmul(a.at[1], b->w));
    return 2;
}

static eddy_tensor repeated(built *b, int64_t most)
{
    const eddy_function cond = { .build = below }, f = { .build = turn, .context = b };
    eddy_tensor         y[2];
    eddy_while_loop(cond, f, EDDY_LIST(real(b->graph, 0), first_step(b)), y,
                    .maximum_iterations = most);
    return y[1];
}

static eddy_tensor limited(built *b) { return repeated(b, 6); }
static eddy_tensor unlimited(built *b) { return repeated(b, -1); }

/* Reshapes, and a mean over the examples, inside the body. */
static int reshaping(eddy_list a, eddy_tensor *y, void *context)
{
    const built      *b = context;
    const eddy_tensor flat = eddy_reshape(a.at[0], EDDY_SHAPE(b->n * WIDTH));
    const eddy_tensor wide = eddy_reshape(eddy_sin(flat), EDDY_SHAPE(b->n, WIDTH));
    const eddy_tensor mean = eddy_mean(a.at[1], .axes = EDDY_AXES(0), .keepdims = true);
    y[0] = Add(eddy_matmul(wide, b->w), Sub(a.at[1], mean));
    return 1;
}

static eddy_tensor reshaped(built *b)
{
    const eddy_function f = { .build = reshaping, .context = b };
    eddy_tensor         y[1];
    eddy_scan(f, EDDY_LIST(steps_first(b)), y, EDDY_LIST(first_step(b)));
    return y[0];
}

static int grow(eddy_list a, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_exp(Mul(a.at[0], -1));
    return 1;
}
static int shrink(eddy_list a, eddy_tensor *y, void *context)
{
    const built *b = context;
    y[0] = eddy_tanh(eddy_matmul(a.at[0], b->w));
    return 1;
}

static int branching(eddy_list a, eddy_tensor *y, void *context)
{
    const eddy_function yes = { .build = grow, .context = context };
    const eddy_function no = { .build = shrink, .context = context };
    eddy_cond(eddy_greater(eddy_sum(a.at[1]), eddy_sum(a.at[0])), yes, no, y,
              .x = EDDY_LIST(Add(a.at[0], a.at[1])));
    return 1;
}

static eddy_tensor branched(built *b)
{
    const eddy_function f = { .build = branching, .context = b };
    eddy_tensor         y[1];
    eddy_scan(f, EDDY_LIST(steps_first(b)), y, EDDY_LIST(first_step(b)));
    return y[0];
}

/* A loop over time in a loop of a fixed number of iterations. */
static int inner(eddy_list a, eddy_tensor *y, void *context)
{
    const built        *b = context;
    const eddy_function f = { .build = step, .context = context };
    eddy_foldl(f, EDDY_LIST(steps_first(b)), y, EDDY_LIST(a.at[0]));
    return 1;
}

static eddy_tensor nested(built *b)
{
    const eddy_function f = { .build = inner, .context = b };
    eddy_tensor         y[1];
    eddy_iterate(3, f, EDDY_LIST(first_step(b)), y);
    return y[0];
}

/* Sequences of different lengths. */
static eddy_tensor recurrent(built *b, eddy_rnn_cell cell, int groups)
{
    const eddy_tensor some = eddy_greater(eddy_sum(b->x, .axes = EDDY_AXES(2)), real(b->graph, 0));
    const eddy_tensor lengths = eddy_sum(eddy_cast(some, EDDY_INT32), .axes = EDDY_AXES(1));
    return eddy_dynamic_rnn(cell, b->x, NULL, .sequence_length = lengths, .length_groups = groups);
}

static eddy_tensor ragged(built *b)
{
    return recurrent(b, eddy_gru_cell(b->graph, 3, .seed = 5), 1);
}
static eddy_tensor grouped(built *b)
{
    return recurrent(b, eddy_lstm_cell(b->graph, 3, .seed = 5), 3);
}

static eddy_tensor layered(built *b)
{
    const eddy_cell cell = EDDY_CELL(EDDY_LSTM_CELL, 3);
    return eddy_rnn(b->x, cell, .seed = 5).outputs;
}

static int decay(eddy_list a, eddy_tensor *y, void *context)
{
    const built *b = context;
    y[0] = eddy_tanh(eddy_matmul(a.at[1], b->w));
    return 1;
}

static eddy_tensor solved(built *b, eddy_ode_gradient gradient)
{
    const eddy_function f = { .build = decay, .context = b };
    const double        t[3] = { 0, 0.5, 1 };
    eddy_tensor         y[1];
    eddy_odeint(f, EDDY_LIST(first_step(b)), vector(b->graph, 3, t), y, .method = EDDY_RK4,
                .gradient = gradient);
    return y[0];
}

static eddy_tensor unrolled(built *b) { return solved(b, EDDY_ODE_UNROLLED); }
static eddy_tensor adjoint(built *b) { return solved(b, EDDY_ODE_ADJOINT); }

static int contraction(eddy_list a, eddy_tensor *y, void *context)
{
    const built *b = context;
    y[0] = Add(Mul(eddy_tanh(eddy_matmul(a.at[0], b->w)), 0.25), a.at[1]);
    return 1;
}

static eddy_tensor fixed(built *b)
{
    const eddy_function f = { .build = contraction, .context = b };
    eddy_tensor         y[1];
    eddy_fixed_point(f, EDDY_LIST(eddy_zeros_like(first_step(b))), y,
                     .theta = EDDY_LIST(first_step(b)), .tolerance = 1e-15);
    return y[0];
}

static const model models[] = {
    { "scan", scanned },
    { "foldr", folded },
    { "scan in segments", in_segments },
    { "map_fn", mapped },
    { "map_fn in segments", mapped_in_segments },
    { "scan over examples", over_examples },
    { "while with a limit", limited },
    { "while without one", unlimited },
    { "reshapes in a body", reshaped },
    { "branches in a loop", branched },
    { "a loop in a loop", nested },
    { "a GRU", ragged },
    { "an LSTM in groups", grouped },
    { "a layer", layered },
    { "an equation, unrolled", unrolled },
    { "an equation, adjoint", adjoint },
    { "a fixed point", fixed },
};
enum { MODELS = sizeof models / sizeof models[0] };

/* ------------------------------------------------------------------- checks -- */

/* The loss, its gradients, those of their squares, and a step of training. */
static built build(const model *m, int64_t n)
{
    const double w[WIDTH * WIDTH] = { 0.5, -0.25, 0.125, 1 };
    built        b = { .graph = eddy_graph_new(.seed = 7), .n = n };
    eddy_tensor  dx[2];
    b.x = eddy_placeholder(b.graph, "x", EDDY_FLOAT64, EDDY_SHAPE(n, TIME, WIDTH));
    b.w = eddy_variable(b.graph, .initial_value = matrix(b.graph, WIDTH, WIDTH, w), .name = "w");
    const eddy_tensor loss = eddy_mean(eddy_square(m->build(&b)));
    fits(b.graph);
    b.at[b.count++] = loss;
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(loss), EDDY_LIST(b.x, b.w), dx), EDDY_OK);
    eddy_tensor sum = EDDY_NO_TENSOR;
    for (int i = 0; i < 2; i++)
        if (eddy_is_valid(dx[i])) {
            b.at[b.count++] = dx[i];
            sum = eddy_is_valid(sum) ? Add(sum, Sum(eddy_square(dx[i]))) : Sum(eddy_square(dx[i]));
        }
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(sum), EDDY_LIST(b.x, b.w), dx), EDDY_OK);
    for (int i = 0; i < 2; i++)
        if (eddy_is_valid(dx[i])) b.at[b.count++] = dx[i];
    b.at[b.count++] = eddy_minimize(eddy_adam(b.graph, .learning_rate = real(b.graph, 0.1)), loss);
    fits(b.graph);
    return b;
}

static eddy_array *examples(int64_t n)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n, TIME, WIDTH));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin(1 + 2.5 * (double)i));
    return a;
}

/* The values after three steps. */
static void run_steps(eddy_graph *g, eddy_tensor x, const eddy_tensor *at, int n,
                      const eddy_array *fed, eddy_array **y)
{
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    for (int k = 0; k < 3; k++) {
        const eddy_status status = eddy_run(s, EDDY_FEED({ x, fed }), (eddy_list){ n, at }, y);
        ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
    }
    eddy_session_free(s);
}

static void same(const model *m, int64_t n, int i, const eddy_array *got, const eddy_array *want)
{
    char shape[80];
    ck_assert(!got == !want);
    if (!want) return;
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(got), eddy_array_shape(want)),
                  "%s, %d examples: value %d has shape %s", m->name, (int)n, i,
                  eddy_shape_print(eddy_array_shape(got), shape, sizeof shape));
    for (int64_t k = 0; k < eddy_array_count(want); k++) {
        const double a = eddy_array_get(got, k), b = eddy_array_get(want, k);
        ck_assert_msg(fabs(a - b) <= 1e-12 * fmax(1, fabs(b)),
                      "%s, %d examples: element %d of value %d is %.17g, not %.17g", m->name,
                      (int)n, (int)k, i, a, b);
    }
}

static void runs_with(const model *m, eddy_graph *opened, eddy_tensor x, const eddy_tensor *at,
                      int64_t n)
{
    built       b = build(m, n);
    eddy_array *fed = examples(n), *want[MOST] = { 0 }, *got[MOST] = { 0 };
    run_steps(b.graph, b.x, b.at, b.count, fed, want);
    run_steps(opened, x, at, b.count, fed, got);
    for (int i = 0; i < b.count; i++) {
        same(m, n, i, got[i], want[i]);
        eddy_array_free(want[i]);
        eddy_array_free(got[i]);
    }
    eddy_array_free(fed);
    eddy_graph_free(b.graph);
}

START_TEST(trained)
{
    const model *m = &models[_i / 2];
    built        b = build(m, _i % 2 ? 2 : 3);
    eddy_tensor  x, at[MOST];
    eddy_error   e = { 0 };
    eddy_graph  *opened = eddy_extract((eddy_list){ b.count, b.at }, .inputs = EDDY_LIST(b.x),
                                       .open_batch = true, .new_inputs = &x, .new_outputs = at,
                                       .error = &e);
    ck_assert_msg(opened, "%s: %s", m->name, e.message);
    eddy_graph_free(b.graph);
    const int64_t sizes[] = { 3, 1, 5, 8 };
    for (int i = 0; i < 4; i++) runs_with(m, opened, x, at, sizes[i]);
    eddy_graph_free(opened);
}
END_TEST

/* Every allocation fails once: an error, or a graph that runs. */
START_TEST(no_memory)
{
    const model *m = &models[_i];
    built        b = build(m, 3);
    int          errors = 0;
    bool         done = false;
    for (long at = 1; !done; at++) {
        failing_allocator f;
        eddy_error        e = { 0 };
        eddy_tensor       x, y[MOST];
        eddy_array       *fed = examples(5), *got[MOST] = { 0 };
        failing_allocator_init(&f);
        f.at = at;
        eddy_graph *opened = eddy_extract(EDDY_LIST(b.at[0], b.at[1]), .inputs = EDDY_LIST(b.x),
                                          .open_batch = true, .allocator = &f.table,
                                          .new_inputs = &x, .new_outputs = y, .error = &e);
        done = f.calls < at;
        f.at = 0;
        ck_assert_msg(opened || e.status == EDDY_NO_MEMORY, "%ld: %s", at, e.message);
        if (opened) run_steps(opened, x, y, 2, fed, got);
        else errors++;
        for (int i = 0; i < 2; i++) eddy_array_free(got[i]);
        eddy_graph_free(opened);
        ck_assert_int_eq(f.live, 0);
        eddy_array_free(fed);
    }
    ck_assert_int_gt(errors, 100);
    eddy_graph_free(b.graph);
}
END_TEST

Suite *extract_training_suite(void)
{
    Suite *suite = suite_create("extract_training");
    TCase *c = tcase_create("extract_training");
    tcase_add_loop_test(c, trained, 0, 2 * MODELS);
    tcase_add_loop_test(c, no_memory, 9, 11);
    suite_add_tcase(suite, c);
    return suite;
}
