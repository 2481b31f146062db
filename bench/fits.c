/* fits.c -- minimizers and solvers: processor time of a call, and how often it evaluated the
 * function, on one thread. With the argument "-" it reads names of problems and answers each with
 * both numbers, so that bench/scipy/fits.py can take turns with it. */
#include "bench/bench.h"

#include <eddy/ops/short_names.h>
#include <math.h>
#include <string.h>

enum { VALLEY = 200, POINTS = 37, GRID = 100, ROUNDS = 5 };

typedef struct problem {
    const char   *name;
    void        (*build)(struct problem *p);
    int         (*solve)(struct problem *p);        /* the number of evaluations, 0 if unknown */
    eddy_graph   *g;
    eddy_session *s;
    eddy_tensor   x, start, loss, bound;
    eddy_tensor   fed, y;
    eddy_array   *value;
} problem;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- minimizers -- */

static void set_start(problem *p, int64_t n, const double *start)
{
    p->x = eddy_variable(p->g, eddy_zeros(p->g, EDDY_FLOAT64, EDDY_SHAPE(n)));
    p->value = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(n), start);
}

static void build_valley(problem *p)
{
    double start[VALLEY];
    for (int i = 0; i < VALLEY; i++) start[i] = i % 2 ? 1 : -1.2;
    set_start(p, VALLEY, start);
    const eddy_tensor x = eddy_read(p->x), a = eddy_index(x, ":-1"), b = eddy_index(x, "1:");
    p->loss = Sum(Add(Mul(100, Square(Sub(b, Square(a)))), Square(Sub(1, a))));
    p->bound = eddy_number(p->g, EDDY_FLOAT64, 0.9);
}

static int by_lbfgs(problem *p)
{
    eddy_lbfgs_report r;
    eddy_minimize_lbfgs(p->s, p->loss, .loss_tolerance = 0, .report = &r,
                        .max_iterations = 15000);
    bench_need(r.end == EDDY_LBFGS_GRADIENT, r.message);
    return r.evaluations;
}

static int by_bounded_lbfgs(problem *p)
{
    eddy_lbfgs_report r;
    eddy_minimize_lbfgs(p->s, p->loss, .loss_tolerance = 0, .upper = EDDY_LIST(p->bound),
                        .max_iterations = 15000, .report = &r);
    bench_need(r.end == EDDY_LBFGS_GRADIENT, r.message);
    return r.evaluations;
}

static int by_newton(problem *p)
{
    eddy_newton_cg_report r;
    eddy_newton_cg(p->s, p->loss, .loss_tolerance = 0, .report = &r,
                        .max_iterations = 15000);
    bench_need(r.end == EDDY_NEWTON_CG_GRADIENT, r.message);
    return r.evaluations;
}

/* NIST's Thurber problem, from its second starting point. */
static void build_fit(problem *p)
{
    static const double x[POINTS] = {
        -3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481,
        -2.363, -2.322, -1.501, -1.460, -1.274, -1.212, -1.100, -1.046, -0.915, -0.714,
        -0.566, -0.545, -0.400, -0.309, -0.109, -0.103, 0.010,  0.119,  0.377,  0.790,
        0.963,  1.006,  1.115,  1.572,  1.841,  2.047,  2.200,
    };
    static const double y[POINTS] = {
        80.574,   84.248,   87.264,   87.195,   89.076,   89.608,   89.868,   90.101,
        92.405,   95.854,   100.696,  101.060,  401.672,  390.724,  567.534,  635.316,
        733.054,  759.087,  894.206,  990.785,  1090.109, 1080.914, 1122.643, 1178.351,
        1260.531, 1273.514, 1288.339, 1327.543, 1353.863, 1414.509, 1425.208, 1421.384,
        1442.962, 1464.350, 1468.705, 1447.894, 1457.628,
    };
    set_start(p, 7, (double[]){ 1300, 1500, 500, 75, 1, 0.4, 0.05 });
    const eddy_tensor t = eddy_const(p->g, EDDY_FLOAT64, EDDY_SHAPE(POINTS), x);
    eddy_tensor       b[7], in = eddy_read(p->x);
    for (int i = 0; i < 7; i++) b[i] = Gather(in, eddy_number(p->g, EDDY_INT32, i));
    const eddy_tensor above = Add(b[0], Mul(t, Add(b[1], Mul(t, Add(b[2], Mul(t, b[3]))))));
    const eddy_tensor below = Add(1, Mul(t, Add(b[4], Mul(t, Add(b[5], Mul(t, b[6]))))));
    p->loss = Sub(Div(above, below), eddy_const(p->g, EDDY_FLOAT64, EDDY_SHAPE(POINTS), y));
}

static int by_least_squares(problem *p)
{
    eddy_least_squares_report r;
    eddy_least_squares(p->s, EDDY_LIST(p->loss), .report = &r);
    bench_need(fabs(2 * r.loss - 5.6427082397e3) < 1e-4, r.message);
    return r.evaluations;
}

/* ------------------------------------------------------------------- solvers -- */

/* -(second differences) of a square grid with zeros around it. */
static eddy_tensor laplacian(eddy_tensor x)
{
    const eddy_tensor u = eddy_pad(x, EDDY_DIMS(1, 1), EDDY_DIMS(1, 1));
    const eddy_tensor rows = Add(eddy_index(u, ":-2, 1:-1"), eddy_index(u, "2:, 1:-1"));
    const eddy_tensor columns = Add(eddy_index(u, "1:-1, :-2"), eddy_index(u, "1:-1, 2:"));
    return Sub(Mul(4, x), Add(rows, columns));
}
static int diffusion(eddy_list x, eddy_tensor *y, void *none)
{
    (void)none;
    y[0] = laplacian(x.at[0]);
    return 1;
}
static int transport(eddy_list x, eddy_tensor *y, void *none)
{
    (void)none;
    const eddy_tensor u = eddy_pad(x.at[0], EDDY_DIMS(0, 1), EDDY_DIMS(0, 0));
    const eddy_tensor wind = Sub(x.at[0], eddy_index(u, ":, :-1"));
    y[0] = Add(Add(laplacian(x.at[0]), Mul(0.5, wind)), Mul(0.1, x.at[0]));
    return 1;
}

/* The right side is fed: a run computes what is constant once. */
static void set_side(problem *p)
{
    p->value = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(GRID, GRID));
    bench_need(p->value != NULL, "out of memory");
    for (int64_t i = 0; i < GRID * GRID; i++)
        eddy_array_set(p->value, i, sin(0.1 * (double)(i % 97)) + 1);
    p->fed = eddy_placeholder(p->g, "b", EDDY_FLOAT64, EDDY_SHAPE(GRID, GRID));
}
static void build_gradients(problem *p)
{
    set_side(p);
    eddy_conjugate_gradient((eddy_function){ .build = diffusion }, EDDY_LIST(p->fed), &p->y);
}
static void build_gmres(problem *p)
{
    set_side(p);
    eddy_gmres((eddy_function){ .build = transport }, EDDY_LIST(p->fed), &p->y);
}
static void build_lanczos(problem *p)
{
    eddy_tensor y[2];
    set_side(p);
    eddy_lanczos((eddy_function){ .build = diffusion }, EDDY_LIST(p->fed), y, 6,
                 .maximum_iterations = 2000);
    p->y = y[0];
}
static int by_run(problem *p)
{
    eddy_array *out = NULL;
    bench_need(eddy_run(p->s, EDDY_FEED({ p->fed, p->value }), EDDY_FETCH(p->y), &out) == EDDY_OK,
               eddy_session_message(p->s));
    eddy_array_free(out);
    return 0;
}

/* ---------------------------------------------------------------------- runs -- */

static problem problems[] = {
    { .name = "L-BFGS, valley of 200", .build = build_valley, .solve = by_lbfgs },
    { .name = "L-BFGS-B, valley of 200", .build = build_valley, .solve = by_bounded_lbfgs },
    { .name = "Newton-CG, valley of 200", .build = build_valley, .solve = by_newton },
    { .name = "least squares, Thurber", .build = build_fit, .solve = by_least_squares },
    { .name = "conjugate gradients, 100 x 100", .build = build_gradients, .solve = by_run },
    { .name = "GMRES, 100 x 100", .build = build_gmres, .solve = by_run },
    { .name = "Lanczos, 6 of 100 x 100", .build = build_lanczos, .solve = by_run },
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* Seconds of processor time. */
static double run(problem *p, int *evaluations)
{
    if (!eddy_same(p->x, EDDY_NO_TENSOR))
        bench_need(eddy_variable_set(p->s, p->x, p->value) == EDDY_OK, "no variable");
    const double before = now();
    *evaluations = p->solve(p);
    return now() - before;
}

static void begin(problem *p)
{
    if (p->g) return;
    p->g = eddy_graph_new();
    p->build(p);
    bench_need(eddy_graph_status(p->g) == EDDY_OK, eddy_graph_message(p->g));
    p->s = eddy_session_new(p->g, .threads = 1);
}

static void answer(const char *name)
{
    for (int k = 0; k < PROBLEMS; k++) {
        int evaluations;
        if (strcmp(name, problems[k].name) != 0) continue;
        begin(&problems[k]);
        const double seconds = run(&problems[k], &evaluations);
        printf("%.9g %d\n", seconds, evaluations);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    static bench_table table = { .program = "fits, one thread" };
    char               line[100];
    (void)argv;
    while (argc > 1 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(line);
    }
    for (int k = 0; argc == 1 && k < PROBLEMS; k++) {
        bench_samples samples = { 0 };
        int           evaluations;
        begin(&problems[k]);
        for (int round = -1; round < ROUNDS; round++) {
            const double seconds = run(&problems[k], &evaluations);
            if (round >= 0) bench_add(&samples, 1e3 * seconds);
        }
        bench_enter(&table, problems[k].name, &samples, "ms");
    }
    if (argc == 1) bench_print(&table);
    for (int k = 0; k < PROBLEMS; k++) {
        eddy_array_free(problems[k].value);
        eddy_session_free(problems[k].s);
        eddy_graph_free(problems[k].g);
    }
    return 0;
}
