/* functions.c -- rows F of seeds.c: functions and their gradient functions. */
#include <eddy/ops/short_names.h>
#include "result_rows.h"

static int built;                    /* number of calls of the function */

/* w1 x1 + w2 x2, w in the context. */
static int weighted_sum(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor *w = context;
    built++;
    y[0] = Add(Mul(w[0], x.at[0]), Mul(w[1], x.at[1]));
    return 1;
}

/* The same of w1, x1, w2, x2. */
static int weighted_sum_with_weights(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Add(Mul(x.at[0], x.at[1]), Mul(x.at[2], x.at[3]));
    return 1;
}

typedef struct problem {
    eddy_graph *g;
    eddy_tensor w[2], x[2];
} problem;

static problem of_document(bool w1_is_trainable)
{
    problem p = { .g = eddy_graph_new() };
    p.w[0] = eddy_variable(p.g, eddy_scalar(p.g, 2), .not_trainable = !w1_is_trainable);
    p.w[1] = eddy_variable(p.g, eddy_scalar(p.g, 3));
    p.x[0] = eddy_scalar(p.g, 5);
    p.x[1] = eddy_scalar(p.g, 7);
    return p;
}

static void f1_and_f2(void)
{
    problem     p = of_document(true);
    eddy_tensor y, d;
    eddy_tape  *tape = eddy_tape_new(p.g);
    EDDY_RECORD(tape) weighted_sum(EDDY_LIST(p.x[0], p.x[1]), &y, p.w);
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(p.w[0]), &d);
    eddy_session *s = begin(p.g);
    double        got[MOST];
    values(s, EDDY_LIST(y, d), got);
    row("F1", "weighted sum", 1, got, WANT(31));
    row("F2", "tape, d/dw1", 1, got + 1, WANT(5));
    end(s, p.g);
}

static void f3_and_f4(void)
{
    problem       p = of_document(true);
    eddy_tensor   d[4];
    eddy_function f = { .build = weighted_sum, .context = p.w };
    eddy_gradients_function(f, EDDY_LIST(p.x[0], p.x[1]), d);
    row_of("F3", "gradients_function", p.g, EDDY_LIST(d[0], d[1]), WANT(2, 3));
    p = of_document(true);
    f = (eddy_function){ .build = weighted_sum_with_weights, .parameters = "w1, x1, w2, x2" };
    eddy_gradients_function(f, EDDY_LIST(p.w[0], p.x[0], p.w[1], p.x[1]), d, .names = "w1, w2");
    row_of("F4", "gradients_function of w1 and w2", p.g, EDDY_LIST(d[0], d[1]), WANT(5, 7));
}

/* The gradients, and whether the variables beside them are these. */
static void implicit_row(const char *id, const char *what, bool w1_is_trainable, const double *want)
{
    problem       p = of_document(w1_is_trainable);
    eddy_tensor   d[2], v[2];
    eddy_function f = { .build = weighted_sum, .context = p.w };
    int  n = eddy_implicit_gradients(f, EDDY_LIST(p.x[0], p.x[1]), d, v, 2);
    bool ok = n == 1 + w1_is_trainable;
    for (int i = 0; ok && i < n; i++) ok = eddy_same(v[i], p.w[2 - n + i]);
    if (!ok) complain("other variables");
    row_of(id, what, p.g, (eddy_list){ n, d }, want);
}

static void f7(void)
{
    problem       p = of_document(true);
    eddy_tensor   d[2], v[2], value[EDDY_MAX_RESULTS];
    eddy_function f = { .build = weighted_sum, .context = p.w };
    built = 0;
    eddy_implicit_gradients(f, EDDY_LIST(p.x[0], p.x[1]), d, v, 2, value);
    eddy_session *s = begin(p.g);
    double        got[MOST];
    int           n = values(s, EDDY_LIST(value[0], d[0], d[1]), got);
    got[n++] = built;
    row("F7", "implicit_value_and_gradients, evaluations", n, got, WANT(31, 5, 7, 1));
    end(s, p.g);
}

void function_rows(void)
{
    f1_and_f2();
    f3_and_f4();
    implicit_row("F5", "implicit_gradients", true, WANT(5, 7));
    implicit_row("F6", "w1 not trainable", false, WANT(7));
    f7();
}
