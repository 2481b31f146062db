/* tapes.c -- rows T of seeds.c: nodes built between begin and end. */
#include <eddy/ops/short_names.h>
#include "result_rows.h"

#include <string.h>

static eddy_tensor along(eddy_tape *tape, eddy_tensor y, eddy_tensor x)
{
    eddy_tensor dx;
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), &dx);
    return dx;
}

/* The graph's message, which is then cleared. */
static void row_says(const char *id, const char *what, eddy_graph *g, const char *want)
{
    row_text(id, what, eddy_graph_message(g), want);
    eddy_graph_clear_error(g);
}

static void t1_and_t2(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_scalar(g, 3), y, dy;
    eddy_tape  *tape = eddy_tape_new(g), *inner = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x));
        EDDY_RECORD(inner)
        {
            eddy_tape_watch(inner, EDDY_LIST(x));
            y = Mul(x, x);
        }
        dy = along(inner, y, x);
    }
    eddy_tensor   ddy = along(tape, dy, x);
    eddy_session *s = begin(g);
    double        got[MOST];
    values(s, EDDY_LIST(dy, ddy), got);
    row("T1", "x*x at 3", 1, got, WANT(6));
    row("T2", "nested tapes", 2, got, WANT(6, 2));
    end(s, g);
}

static void t3_and_t4(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_scalar(g, 3), y, z;
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true), *once = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        EDDY_RECORD(once)
        {
            eddy_tape_watch(tape, EDDY_LIST(x));
            y = Mul(x, x), z = Mul(y, y);
        }
    }
    along(once, z, x);
    along(once, z, x);
    row_says("T4", "asked twice", g, "GradientTape.gradient can only be called once on "
                                     "non-persistent tapes.");
    row_of("T3", "persistent", g, EDDY_LIST(along(tape, z, x), along(tape, y, x)), WANT(108, 6));
}

static void t5(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor a = eddy_variable(g, eddy_scalar(g, 3)), b = eddy_variable(g, eddy_scalar(g, 2));
    eddy_tensor y, z, d[2];
    eddy_tape  *tape = eddy_tape_new(g, .no_watch_accessed_variables = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(a));
        y = Square(a), z = Pow(b, 3);
    }
    eddy_tape_gradient(tape, EDDY_LIST(y, z), EDDY_LIST(a, b), d);
    row_of("T5", "one of two variables watched", g, EDDY_LIST(d[0], d[1]), WANT(6, NONE));
}

static void t6_and_t7(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_scalar(g, 3), u = eddy_scalar(g, 1), n = eddy_number(g, EDDY_INT32, 2);
    eddy_tensor y, m, d[2], inside, second, weighted, zero[2], whole;
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x, n));
        y = Mul(x, Mul(x, x)), m = Mul(n, n);
        inside = along(tape, y, x);
    }
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), &weighted,
                       .output_gradients = EDDY_LIST(eddy_scalar(g, 10)));
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x, u), zero,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(u), d);
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(x), d + 1,
                       .unconnected_gradients = (eddy_unconnected)5);
    row_says("T7", "unknown unconnected value", g, "Unknown value for unconnected_gradients: '5'");
    whole = along(tape, m, x);
    second = along(tape, inside, x);
    eddy_session *s = begin(g);
    double        got[MOST];
    values(s, EDDY_LIST(weighted, zero[0], zero[1], d[0]), got);
    row("T6", "output_gradients, unconnected zero and none", 4, got, WANT(270, 27, 0, NONE));
    values(s, EDDY_LIST(inside, second, whole), got);
    row("T7", "asked while recording, integer target", 3, got, WANT(27, 18, NONE));
    end(s, g);
}

static void t8(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor v = eddy_variable(g, eddy_scalar(g, 3)), loss;
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        loss = Square(v);
        eddy_tape_reset(tape);
        loss = Add(loss, Mul(5, v));
    }
    row_of("T8", "reset: the second loss alone", g, EDDY_LIST(along(tape, loss, v)), WANT(5));
}

static void t9(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_scalar(g, 3), y, z;
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true), *idle = eddy_tape_new(g);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x));
        EDDY_STOP_RECORDING(tape) y = Mul(x, x);
        z = Mul(x, x);
    }
    eddy_tape_stop_recording(idle);
    row_says("T9", "nothing is being recorded", g,
             "Trying to stop recording a tape which is not recording.");
    row_of("T9", "stop_recording", g, EDDY_LIST(along(tape, y, x), along(tape, z, x)),
           WANT(NONE, 6));
}

static void t10(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor a = eddy_variable(g, eddy_scalar(g, 1), .name = "a"), seen[2];
    eddy_tensor b = eddy_variable(g, eddy_scalar(g, 1), .name = "b");
    eddy_tape  *tape = eddy_tape_new(g);
    EDDY_RECORD(tape) Add(Mul(b, b), a);
    char text[64] = "";
    if (eddy_tape_watched_variables(tape, seen, 2) == 2) {
        strcat(text, eddy_name_of(seen[0]));
        strcat(text, eddy_name_of(seen[1]));
    }
    row_text("T10", "watched variables, in order of first use", text, "ba");
    eddy_graph_free(g);
}

static void t11_to_t13(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 2 }), y, j[2][2];
    eddy_tensor m = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2, 2), (float[]){ 1, 2, 3, 4 }), my;
    eddy_tensor u = eddy_scalar(g, 1), none[2], zero;
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(x, m));
        y = Mul(x, x), my = Mul(m, m);
    }
    for (int loop = 0; loop < 2; loop++) {
        eddy_tape_jacobian(tape, y, EDDY_LIST(x), &j[loop][0], .no_pfor = loop,
                           .parallel_iterations = 4);
        j[loop][1] = eddy_tape_batch_jacobian(tape, my, m, .no_pfor = loop);
    }
    eddy_tape_jacobian(tape, y, EDDY_LIST(u), none);
    eddy_tape_jacobian(tape, y, EDDY_LIST(u), &zero,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    eddy_tape_batch_jacobian(tape, my, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(3, 2)));
    row_says("T13", "first dimensions that differ", g,
             "Need first dimension of target shape ([2,2]) and source shape ([3,2]) to match.");
    eddy_session *s = begin(g);
    double        got[MOST];
    values(s, EDDY_LIST(j[0][0]), got);
    row("T11", "jacobian", 4, got, WANT(2, 0, 0, 4));
    values(s, EDDY_LIST(j[0][1]), got);
    row("T12", "batch_jacobian", 8, got, WANT(2, 0, 0, 4, 6, 0, 0, 8));
    values(s, EDDY_LIST(j[1][0], j[1][1]), got);
    row("T13", "row by row", 12, got, WANT(2, 0, 0, 4, 2, 0, 0, 4, 6, 0, 0, 8));
    values(s, EDDY_LIST(none[0], zero), got);
    row("T13", "unconnected", 3, got, WANT(NONE, 0, 0));
    end(s, g);
}

static void t14(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor n = eddy_number(g, EDDY_INT32, 3), x = eddy_scalar(g, 3), y, d[2];
    eddy_tape  *tape = eddy_tape_new(g, .persistent = true);
    EDDY_RECORD(tape)
    {
        eddy_tape_watch(tape, EDDY_LIST(n, x));
        y = Mul(x, eddy_cast(n, EDDY_FLOAT32));
    }
    eddy_tape_gradient(tape, EDDY_LIST(y), EDDY_LIST(n, x), d);
    row_of("T14", "integer source, integer target", g,
           EDDY_LIST(d[0], d[1], along(tape, n, x)), WANT(NONE, 3, NONE));
}

void tape_rows(void)
{
    t1_and_t2();
    t3_and_t4();
    t5();
    t6_and_t7();
    t8();
    t9();
    t10();
    t11_to_t13();
    t14();
}
