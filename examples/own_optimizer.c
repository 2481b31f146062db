/* own_optimizer.c -- a user-defined optimizer, written like those of the library.
 *
 * It is quasi-hyperbolic momentum (Ma and Yarats 2019), an average of gradient descent and
 * momentum:
 *
 *   m <- beta m + (1 - beta) g
 *   x <- x - rate ((1 - nu) g + nu m)
 *
 * One constant eddy_optimizer_def defines the update of an element. From it the library derives the
 * slots, the step for a whole variable, fused into one loop, and the step for the rows of a sparse
 * gradient.
 *
 * The program compares steps with plain loops, lets the optimizer learn a table of ratings from
 * rows of two other tables, and fails if either gives a wrong result. */
#include <eddy/eddy.h>
#include <eddy/ops/short_names.h>

#include <math.h>
#include <stdio.h>

/* --------------------------------------------------------------- the optimizer -- */

/* Its state.  Hyper-parameters are tensors, so that a schedule or a placeholder can be one. */
typedef struct qhm_state {
    eddy_tensor rate, beta, nu;
} qhm_state;

/* x[0] is the variable and x[1] its slot, or some rows of both; g is the gradient. */
static void qhm_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    const qhm_state *s = eddy_optimizer_state(o);
    eddy_tensor beta = eddy_hyper(s->beta, g), nu = eddy_hyper(s->nu, g);
    x[1] = Add(Mul(beta, x[1]), Mul(Sub(1, beta), g));
    eddy_tensor mixed = Add(Mul(Sub(1, nu), g), Mul(nu, x[1]));
    x[0] = Sub(x[0], Mul(eddy_hyper(s->rate, g), mixed));
}

static const eddy_optimizer_def qhm_def = {
    .name = "QHM", .state_size = sizeof(qhm_state), .step = qhm_step, .slots = { "momentum" },
};

/* The paper's defaults for omitted tensors, which are invalid: `eddy_tensor none = { 0 }`. */
static eddy_optimizer *qhm(eddy_graph *g, eddy_tensor rate, eddy_tensor beta, eddy_tensor nu)
{
    qhm_state s = { rate, beta, nu };
    if (!eddy_is_valid(s.beta)) s.beta = eddy_number(g, EDDY_FLOAT64, 0.999);
    if (!eddy_is_valid(s.nu)) s.nu = eddy_number(g, EDDY_FLOAT64, 0.7);
    return eddy_optimizer_new(g, &qhm_def, &s, NULL);
}

/* ------------------------------------------------------- does it do what it says? -- */

enum { ELEMENTS = 5, STEPS = 30 };

/* The same on the bowl sum(c x^2) / 2, as a loop; x starts as ones. */
static void plain_steps(const double *c, double *x)
{
    double m[ELEMENTS] = { 0 };
    for (int i = 0; i < ELEMENTS; i++) x[i] = 1;
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < ELEMENTS; i++) {
            const double g = c[i] * x[i];
            m[i] = 0.9 * m[i] + (1 - 0.9) * g;
            x[i] -= 0.05 * ((1 - 0.6) * g + 0.6 * m[i]);
        }
}

static bool check_steps(void)
{
    const double c[ELEMENTS] = { 0.5, 1, 2, 5, 10 };
    double       want[ELEMENTS], worst = 0;
    eddy_graph  *g = eddy_graph_new();
    eddy_tensor  ones = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(ELEMENTS));
    eddy_tensor  x = eddy_variable(g, ones, .name = "x");
    eddy_tensor  bowl = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(ELEMENTS), c);
    eddy_tensor  loss = Mul(0.5, Sum(Mul(bowl, Square(x))));
    eddy_optimizer *o = qhm(g, eddy_number(g, EDDY_FLOAT64, 0.05),
                            eddy_number(g, EDDY_FLOAT64, 0.9), eddy_number(g, EDDY_FLOAT64, 0.6));
    eddy_tensor   train = eddy_minimize(o, loss);
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    for (int t = 0; t < STEPS; t++) eddy_run(s, EDDY_FEED(), EDDY_FETCH(train), NULL);
    const int   loops = eddy_session_plan_info(s).instructions;
    eddy_array *got = eddy_fetch(s, x);
    plain_steps(c, want);
    for (int i = 0; i < ELEMENTS; i++) {
        const double error = fabs(eddy_array_get(got, i) - want[i]);
        if (!(error <= worst)) worst = error;          /* NaN if a run failed */
    }
    if (eddy_session_status(s) != EDDY_OK) fprintf(stderr, "%s\n", eddy_session_message(s));
    printf("%d steps against a loop: %.1e; gradient and update are %d instruction(s)\n", STEPS,
           worst, loops);
    eddy_array_free(got);
    eddy_session_free(s);
    eddy_graph_free(g);
    return worst < 1e-14;
}

/* -------------------------------------------------------------------- used to learn -- */

enum { PEOPLE = 12, FILMS = 9, TASTES = 2, KNOWN = 80 };

/* The rating of film f by person p: the sum over two tastes.  Nobody has seen film 8. */
static double rating(int p, int f)
{
    return sin(p + 1.0) * cos(2.0 * f) + cos(3.0 * p) * sin(f + 0.5);
}

static void known_ratings(int32_t *person, int32_t *film, float *value)
{
    for (int i = 0; i < KNOWN; i++) {
        person[i] = i % PEOPLE;
        film[i] = (i / PEOPLE + i) % (FILMS - 1);
        value[i] = (float)rating(person[i], film[i]);
    }
}

static double value_of(eddy_session *s, eddy_tensor t)
{
    eddy_array  *a = eddy_fetch(s, t);
    const double x = eddy_array_item(a);
    eddy_array_free(a);
    return x;
}

/* The gradients of both tables consist of the rows that were looked up. */
static bool learn(void)
{
    int32_t person[KNOWN], film[KNOWN];
    float   value[KNOWN];
    known_ratings(person, film, value);
    eddy_graph *g = eddy_graph_new(.seed = 7);
    eddy_tensor people = eddy_variable(g, eddy_random_normal(g, EDDY_SHAPE(PEOPLE, TASTES)),
                                       .name = "people");
    eddy_tensor films = eddy_variable(g, eddy_random_normal(g, EDDY_SHAPE(FILMS, TASTES)),
                                      .name = "films");
    eddy_tensor p = Gather(people, eddy_const(g, EDDY_INT32, EDDY_SHAPE(KNOWN), person));
    eddy_tensor f = Gather(films, eddy_const(g, EDDY_INT32, EDDY_SHAPE(KNOWN), film));
    eddy_tensor error = Sub(Sum(Mul(p, f), EDDY_AXES(1)),
                            eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(KNOWN), value));
    eddy_tensor     loss = Mean(Square(error)), none = { 0 };
    eddy_optimizer *o = qhm(g, eddy_scalar(g, 1), eddy_scalar(g, 0.95), none);
    eddy_tensor     train = eddy_minimize(o, loss);
    eddy_tensor     unknown = Sum(Gather(films, eddy_const(g, EDDY_INT32, EDDY_SCALAR,
                                                           (int32_t[]){ FILMS - 1 })));
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL);
    const double before = value_of(s, loss), row = value_of(s, unknown);
    for (int t = 0; t < 400; t++) eddy_run(s, EDDY_FEED(), EDDY_FETCH(train), NULL);
    const double after = value_of(s, loss), same = value_of(s, unknown);
    if (eddy_session_status(s) != EDDY_OK) fprintf(stderr, "%s\n", eddy_session_message(s));
    printf("mean squared error of ratings: %.3f, after 400 steps %.1e\n", before, after);
    printf("the film that nobody knows is %s\n", row == same ? "where it was" : "moved");
    eddy_session_free(s);
    eddy_graph_free(g);
    return after < 1e-4 && row == same;
}

int main(void)
{
    const bool right = check_steps(), learns = learn();
    printf("%s\n", right && learns ? "ok" : "FAILED");
    return right && learns ? 0 : 1;
}
