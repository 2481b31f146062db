/* training.c -- each optimizer builds its step, and trains, without enough memory. */
#include "tests/lib/training_rows.h"
#include "tests/torture/scenario.h"

enum { ROWS = 6, STEPS = 2 };

static void train(outcome *o, eddy_graph *g, eddy_session *s)
{
    float   x[ROWS][4];
    int32_t y[ROWS];
    for (int i = 0; i < ROWS; i++) {
        y[i] = i % 3;
        for (int j = 0; j < 4; j++) x[i][j] = 0.5f * (float)(y[i] * j - 1) + 0.01f * (float)i;
    }
    const eddy_tensor tx = eddy_graph_tensor(g, "x:0"), ty = eddy_graph_tensor(g, "y:0");
    run_and_add(o, s, EDDY_FEED(), EDDY_FETCH(eddy_graph_operation(g, "init")));
    for (int i = 0; i < STEPS && o->status == EDDY_OK; i++)
        run_and_add(o, s,
                    EDDY_FEED({ tx, EDDY_VIEW(&x[0][0], ROWS, 4) }, { ty, EDDY_VIEW(y, ROWS) }),
                    EDDY_FETCH(eddy_graph_operation(g, "train"), eddy_graph_tensor(g, "loss:0")));
}

static void act(int i, void *state, outcome *o)
{
    (void)state;
    eddy_graph *g = training_graph(&training_rows[i], NULL);
    if (outcome_of_graph(o, g)) {
        eddy_session *s = eddy_session_new(g, .threads = 1);
        train(o, g, s);
        eddy_session_free(s);
    }
    eddy_graph_free(g);
}

static int         count(void) { return TRAINING_ROWS; }
static const char *name(int i) { return training_rows[i].name; }

const scenarios training[] = {
    { .kind = "optimizer:", .count = count, .name = name, .act = act },
    { .kind = NULL },
};
