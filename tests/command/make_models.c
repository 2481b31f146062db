/* make_models.c -- writes the models of the tests of the program eddy into a folder:
 *   cc -Ibuild/include tests/command/make_models.c build/libeddy.a -lopenblas -lyaml -lm -pthread
 *   ./a.out tests/command */
#include <eddy/eddy.h>
#include <stdio.h>

static bool save(eddy_graph *g, const char *folder, const char *name)
{
    char       path[1000];
    eddy_error e = { 0 };
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const bool fine = eddy_graph_save(g, path, &e) == EDDY_OK;
    if (!fine) fprintf(stderr, "%s\n", e.message);
    eddy_graph_free(g);
    return fine;
}

/* A line with two variables and its squared error. */
static eddy_graph *line(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor w = eddy_variable(g, .initial_value = eddy_scalar(g, 2), .name = "w");
    eddy_tensor b = eddy_variable(g, .initial_value = eddy_scalar(g, -1), .name = "b");
    eddy_tensor line = eddy_named("line", eddy_add(eddy_mul(w, x), b));
    eddy_named("loss", eddy_mean(eddy_square(eddy_sub(line, y))));
    return g;
}

/* Which channel of an image is the brightest: a network in two scopes. */
static eddy_graph *colors(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "image", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 4, 4, 3));
    eddy_tensor mean, w, p;
    EDDY_SCOPE(g, "features") mean = eddy_mean(x, EDDY_DIMS(1, 2));
    EDDY_SCOPE(g, "classes")
    {
        w = eddy_variable(g, .initial_value = eddy_mul(eddy_eye(g, 3), eddy_scalar(g, 10)),
                          .name = "w");
        p = eddy_softmax(eddy_matmul(mean, w));
    }
    eddy_collection_add(g, EDDY_MODEL_INPUTS, x);
    eddy_collection_add(g, EDDY_MODEL_OUTPUTS, eddy_named("probabilities", p));
    return g;
}

/* A network that takes sound of two channels. */
static eddy_graph *sound(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "sound", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor w = eddy_constant(g, EDDY_SHAPED(EDDY_FLOATS(1, 0, 0, 0, 1, 2), 2, 3));
    eddy_named("classes", eddy_matmul(x, w));
    return g;
}

/* A training of the line: the graph lists no outputs. */
static eddy_graph *fit(void)
{
    eddy_graph *g = line();
    eddy_minimize(eddy_gradient_descent(g, eddy_scalar(g, 0.1)), eddy_graph_tensor(g, "loss:0"));
    return g;
}

static int below_100(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_less(x.at[0], eddy_scalar(x.at[0].graph, 100));
    return 1;
}

static int doubled(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_add(x.at[0], x.at[0]);
    return 1;
}

/* A loop, whose functions have nodes in the graph, too. */
static eddy_graph *loop(void)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor y, x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_while_loop({ .build = below_100 }, { .build = doubled }, EDDY_LIST(x), &y);
    eddy_named("y", y);
    return g;
}

int main(int argc, char **argv)
{
    return argc != 2 || !save(line(), argv[1], "line.yaml") ||
           !save(fit(), argv[1], "fit.yaml") || !save(sound(), argv[1], "sound.yaml") ||
           !save(colors(), argv[1], "colors.yaml") || !save(loop(), argv[1], "loop.yaml");
}
