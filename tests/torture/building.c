/* building.c -- graphs that are built without enough memory: names, shapes, errors, layers, parts
 * of other graphs. */
#include "tests/torture/scenario.h"

#include <stdlib.h>

/* The graph as a text, and the graph freed. */
static void written(outcome *o, eddy_graph *g)
{
    if (outcome_of_graph(o, g)) {
        char *text = eddy_graph_to_yaml(g);
        if (!text) outcome_of(o, EDDY_NO_MEMORY, "no text");
        outcome_add_text(o, text);
        eddy_string_free(text);
    }
    eddy_graph_free(g);
}

static void names(int i, void *state, outcome *o)
{
    (void)i, (void)state;
    eddy_graph *g = eddy_graph_new(.seed = 3);
    EDDY_SCOPE(g, "outer") {
        for (int k = 0; k < 20; k++) {
            eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 4));
            eddy_collection_add(g, "kept", eddy_relu(x));
        }
    }
    eddy_control_begin(g, EDDY_LIST(eddy_graph_tensor(g, "outer/x:0")));
    eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3)), .name = "v");
    eddy_control_end(g);
    written(o, g);
}

static void shapes(int i, void *state, outcome *o)
{
    (void)i, (void)state;
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 6));
    eddy_tensor y = eddy_reshape_to(x, eddy_shape_tensor(eddy_transpose(x), EDDY_INT32));
    y = eddy_concat(EDDY_LIST(x, x), 0);
    y = eddy_reshape(y, EDDY_SHAPE(EDDY_ANY, 2, 3));
    y = eddy_einsum("bij,bkj->bik", EDDY_LIST(y, y));
    y = eddy_strided_slice(y, EDDY_DIMS(0, 1), EDDY_DIMS(1, 2), EDDY_DIMS(1, 1));
    eddy_sum(eddy_gather(y, eddy_ints(g, 0, 0), .axis = 0));
    eddy_unique(eddy_ints(g, 5, 7, 5, 9));           /* the number of results is known */
    written(o, g);
}

/* A wrong call is an error of the graph with its message, unless memory runs out before. */
static void errors(int i, void *state, outcome *o)
{
    (void)i, (void)state;
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 64));
    eddy_tensor w = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(32, 10));
    for (int k = 0; k < 6 && (!g || eddy_graph_status(g) == EDDY_OK); k++) {
        eddy_matmul(x, w);
        if (g && eddy_graph_status(g) == EDDY_BAD_SHAPE) {
            outcome_add_text(o, eddy_graph_message(g));
            eddy_graph_clear_error(g);
        } else if (g && eddy_graph_status(g) == EDDY_OK)
            outcome_of(o, EDDY_INTERNAL, "a wrong product was built");
    }
    written(o, g);
}

static void layers(int i, void *state, outcome *o)
{
    (void)i, (void)state;
    eddy_graph *g = eddy_graph_new(.seed = 3);
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 8, 8, 3));
    eddy_tensor h = eddy_conv2d_layer(x, 4, EDDY_DIMS(3, 3), .activation = eddy_relu);
    h = eddy_batch_norm_layer(h, .training = true);
    h = eddy_separable_conv2d_layer(h, 4, EDDY_DIMS(3, 3));
    h = eddy_reshape(h, EDDY_SHAPE(2, EDDY_ANY));
    h = eddy_dense(eddy_layer_norm_layer(h), 5, "out");
    eddy_minimize(eddy_adam(g, eddy_scalar(g, 0.1)), eddy_mean(eddy_square(h)));
    eddy_update_ops(g, NULL);
    written(o, g);
}

static void attention(int i, void *state, outcome *o)
{
    (void)i, (void)state;
    eddy_graph *g = eddy_graph_new(.seed = 3);
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 4, 8));
    eddy_tensor h = eddy_transformer_block(eddy_position_layer(x, .learned = true), 2);
    eddy_gradient(eddy_sum(h), x);
    written(o, g);
}

static void recurrent(int i, void *state, outcome *o)
{
    (void)i, (void)state;
    eddy_graph   *g = eddy_graph_new(.seed = 3);
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 4, 3));
    eddy_rnn_result r = eddy_rnn(x, EDDY_CELL(EDDY_LSTM_CELL, 4));
    eddy_gradient(eddy_sum(r.outputs), x);
    written(o, g);
}

/* ------------------------------------------------------------ parts of graphs -- */

static void *trained(int i)
{
    (void)i;
    fixture    *f = calloc(1, sizeof *f);
    eddy_graph *g = f->graph = eddy_graph_new(.seed = 3);
    f->x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    f->y = eddy_dense(eddy_dropout(eddy_dense(f->x, 4, "a"), .rate = 0.5), 2, "b");
    f->init = eddy_initializer(g);
    f->session = eddy_session_new(g, .threads = 1);
    eddy_run(f->session, EDDY_FEED(), EDDY_FETCH(f->init), NULL);
    return f;
}

static void extract(int i, void *state, outcome *o)
{
    const fixture *f = state;
    eddy_error     e = { 0 };
    (void)i;
    eddy_graph *part = eddy_extract(EDDY_LIST(f->y), .freeze = f->session, .open_batch = true,
                                    .inputs = EDDY_LIST(f->x), .error = &e);
    outcome_of_error(o, &e);
    if (part) written(o, part);
}

/* The operand that a constant condition selects takes the place of the choice. */
static void choice(int i, void *state, outcome *o)
{
    eddy_error        e = { 0 };
    eddy_graph       *g = eddy_graph_new();
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY)),
                      when = eddy_placeholder(g, "when", EDDY_BOOL, EDDY_SCALAR),
                      y = eddy_where(when, eddy_square(x), eddy_neg(x));
    (void)i;
    if (outcome_of_graph(o, g)) {
        eddy_graph *part = eddy_extract(EDDY_LIST(y), .inputs = EDDY_LIST(x),
                                        .values = EDDY_FEED({ when, state }), .error = &e);
        outcome_of_made(o, &e, part);
        if (part) written(o, part);
    }
    eddy_graph_free(g);
}

static void *begin_choice(int i)
{
    (void)i;
    return numbers_in(EDDY_BOOL, EDDY_SCALAR, 1, 1);
}
static void end_choice(void *state) { eddy_array_free(state); }

static void import(int i, void *state, outcome *o)
{
    const fixture *f = state;
    (void)i;
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_import(g, f->graph, "part", EDDY_LIST(f->y), EDDY_REPLACE({ f->x, x }));
    written(o, g);
}

const scenarios building[] = {
    { .kind = "names, scopes, collections", .act = names },
    { .kind = "shape rules", .act = shapes },
    { .kind = "messages of errors", .act = errors },
    { .kind = "layers", .act = layers },
    { .kind = "attention", .act = attention },
    { .kind = "recurrent layer", .act = recurrent },
    { .kind = "extract", .begin = trained, .act = extract, .end = fixture_end },
    { .kind = "extract an operand", .begin = begin_choice, .act = choice, .end = end_choice,
      .every_item = true },
    { .kind = "import", .begin = trained, .act = import, .end = fixture_end },
    { .kind = NULL },
};
