/* model.c -- see model.h. */
#include "tests/lib/ranks/model.h"

#include "ops/short_names.h"

#include <math.h>

enum { INPUTS = 5, WORDS = 11 };

rank_model rank_model_build(void)
{
    rank_model m = { .graph = eddy_graph_new(.seed = 11) };
    m.x = eddy_placeholder(m.graph, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, INPUTS));
    m.words = eddy_placeholder(m.graph, "words", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    m.y = eddy_placeholder(m.graph, "y", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 1));
    m.examples = eddy_placeholder(m.graph, "examples", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor table = eddy_variable(
        m.graph, eddy_random_normal(m.graph, EDDY_SHAPE(WORDS, 4), .dtype = EDDY_FLOAT64),
        .name = "table");
    eddy_tensor h = eddy_concat(EDDY_LIST(m.x, eddy_gather(table, m.words)), .axis = 1);
    h = eddy_tanh(eddy_dense(h, 7, "hidden"));
    m.loss = eddy_mean(Square(Sub(eddy_dense(h, 1, "out"), m.y)));
    return m;
}

bool rank_model_steps(const eddy_communicator *c, const rank_model *m, eddy_session *s, int from,
                      int to, int first, int count)
{
    bool ok = true;
    for (int t = from; ok && t < to; t++) {
        double  x[RANK_EXAMPLES][INPUTS], y[RANK_EXAMPLES];
        int32_t words[RANK_EXAMPLES];
        for (int i = 0; i < count; i++) {
            const int example = first + i;
            for (int j = 0; j < INPUTS; j++) x[i][j] = sin(example * 3.1 + j + t);
            words[i] = (example * 7 + t) % (WORDS - 3);
            y[i] = cos(example + t);
        }
        eddy_array *of_x = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(count, INPUTS), x);
        eddy_array *of_words = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(count), words);
        eddy_array *of_y = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(count, 1), y);
        eddy_array *examples = eddy_array_of(EDDY_INT32, count);
        ok = eddy_run(s, EDDY_FEED({ m->x, of_x }, { m->words, of_words }, { m->y, of_y },
                                   { m->examples, examples }), EDDY_FETCH(m->step), NULL) ==
             EDDY_OK;
        eddy_array_free(of_x);
        eddy_array_free(of_words);
        eddy_array_free(of_y);
        eddy_array_free(examples);
    }
    return expect(c, ok, "%s", eddy_session_message(s));
}
