/* ctc_paths.c -- the CTC forward-backward algorithm over the steps of each example; see
 * ctc_paths.h.
 *
 * A state is a label, or the blank before it. Sums of products of many probabilities are stored
 * as a double and a power of two, so that none underflows, however small it is, and no step takes a
 * logarithm.
 *
 * Derivatives along directions w_1 .. w_n are computed with polynomials of 2^n coefficients, one
 * for each subset of the directions, in which the square of every e_i is zero: the factor p of a
 * step becomes p (1 + e_1 w_1) .. (1 + e_n w_n), and the coefficient of e_1 .. e_n is the
 * derivative. */
#include "graph/base/thread_pool.h"
#include "ops/kernels/arrays/index_checks.h"
#include "graph/base/cpu.h"
#include "graph/base/dtype.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/kernels/sequences/ctc_paths.h"

#include <math.h>
#include <string.h>

/* Powers of two: NEVER stands for probability 0, and anything below HARDLY counts as impossible. */
static const double NEVER = -0x1p50, HARDLY = -1e14;

/* The states of a step: state i is c[s * row + i] 2^e[i], with s the number of the subset. */
typedef struct states {
    double *e, *c;
} states;

/* The work on one example.  Blank i is before label i; the last blank is after the last label. */
typedef struct walk {
    const eddy_ctc *c;
    int64_t at, steps, n, row;       /* example; its steps and labels; doubles of a row */
    int     width;                   /* coefficients */
    int64_t *ids;                    /* of the labels */
    double *skip;                    /* NEVER where a blank is required before a label, else 0 */
    double *never;
    double *fe, *fc, *fw;            /* factors of a step: powers, values, directions */
    double *g;
    double *rooms;
    bool    bad;                     /* a log probability is NaN */
} walk;

double eddy__ctc_numbers(int64_t steps, int64_t labels, int directions, bool all)
{
    const double width = ldexp(1, directions), row = (double)labels + 3;
    return row * (7 + directions + ((all ? (double)steps : 1) + 4) * 2 * (1 + width)) + 2 * width;
}

static states states_at(const walk *w, int64_t i)
{
    double *e = w->rooms + i * w->row * (1 + w->width);
    return (states){ e, e + w->row };
}

/* ---------------------------------------------------------------- states -- */

/* 2^d for an integer d of at most 1000; 0 below 2^-1022. */
EDDY_INLINE double two_to(double d)
{
    const double x = (d > -1023 ? d : -1023) + (1023 + 0x1p52);
    uint64_t bits;
    double   y;
    memcpy(&bits, &x, sizeof bits);
    bits <<= 52;
    memcpy(&y, &bits, sizeof y);
    return y;
}

EDDY_INLINE double larger(double a, double b) { return a > b ? a : b; }

/* The sums of the three states that lead to each state: to = a + b + c 2^more. */
typedef struct sum_job {
    int64_t n, row;
    int     width;
    states  a, b, c, to;
    const double *more;
} sum_job;

EDDY_INLINE void sums_of(const sum_job *j, int width)
{
    const states  a = j->a, b = j->b, c = j->c, to = j->to;
    const double *more = j->more;
    for (int64_t i = 0; i < j->n; i++) {
        const double ec = c.e[i] + more[i], e = larger(larger(a.e[i], b.e[i]), ec);
        const double x = two_to(a.e[i] - e), y = two_to(b.e[i] - e), z = two_to(ec - e);
        to.e[i] = e;
        for (int64_t s = 0, at = i; s < width; s++, at += j->row)
            to.c[at] = x * a.c[at] + y * b.c[at] + z * c.c[at];
    }
}
EDDY_INLINE void sums_all(const sum_job *j)
{
    if (j->width == 1) sums_of(j, 1);
    else sums_of(j, j->width);
}
EDDY_CLONES_OF(sums, (const sum_job *j), (j))

/* to = from times the factors, scaled so that its first coefficient is in [1,2). */
typedef struct times_job {
    int64_t n, row;
    int     directions;
    states  from, to;
    const double *e, *f, *w;
} times_job;

EDDY_INLINE void times_of(const times_job *j, int directions)
{
    const states from = j->from, to = j->to;
    for (int64_t i = 0; i < j->n; i++) {
        const double first = from.c[i] * j->f[i];
        uint64_t bits, up;
        double   power, scale;
        memcpy(&bits, &first, sizeof bits);
        up = (bits >> 52) | 0x4330000000000000u;           /* 2^52 + the power */
        memcpy(&power, &up, sizeof power);
        bits = (2046 - (bits >> 52)) << 52;
        memcpy(&scale, &bits, sizeof scale);
        to.e[i] = larger(from.e[i] + j->e[i] + (power - (0x1p52 + 1023)), NEVER);
        for (int64_t s = 0, at = i; s < 1 << directions; s++, at += j->row)
            to.c[at] = from.c[at] * j->f[i] * scale;
        for (int d = 0; d < directions; d++)
            for (int64_t s = 0; s < 1 << directions; s++)
                if (s >> d & 1)
                    to.c[s * j->row + i] += j->w[d * j->row + i] * to.c[(s ^ 1 << d) * j->row + i];
    }
}
EDDY_INLINE void times_all(const times_job *j)
{
    if (j->directions == 0) times_of(j, 0);
    else times_of(j, j->directions);
}
EDDY_CLONES_OF(times, (const times_job *j), (j))

/* f 2^e = exp(x): x is split into a multiple of ln 2 and a remainder of at most ln(2) / 2, for
 * which a power series is used. */
EDDY_INLINE void factors_all(int64_t n, double *e, double *f)
{
    for (int64_t i = 0; i < n; i++) {
        const double x = f[i] > HARDLY ? f[i] : HARDLY, round = 0x1.8p52;
        const double k = (x * 1.4426950408889634074 + round) - round;
        const double r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
        double y = 1 + r / 13;
        for (int j = 12; j > 0; j--) y = 1 + y * r * (1.0 / j);
        e[i] = x > HARDLY ? k : NEVER;
        f[i] = x > HARDLY ? y : 1;
    }
}
EDDY_CLONES_OF(factors, (int64_t n, double *e, double *f), (n, e, f))

/* ---------------------------------------------------------------- labels -- */

static void give_rooms(walk *w, double *p)
{
    w->row = w->c->labels + 3;
    w->width = 1 << w->c->directions;
    w->ids = (int64_t *)p;
    double **const rows[] = { &w->skip, &w->never, &w->fe, &w->fc, &w->g };
    p += w->row;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++, p += w->row) *rows[i] = p;
    w->fw = p;
    w->rooms = p + w->row * (1 + w->c->directions) + 2 * w->width;
}

/* Loads the labels of an example, which have been checked. */
static void begin(walk *w, int64_t example)
{
    const eddy_buffer *const *in = (const eddy_buffer *const *)w->c->k->in;
    const int64_t given = eddy__index_at(in[2], example);
    w->at = example;
    w->steps = eddy__index_at(in[3], example);
    w->bad = false;
    w->n = 0;
    for (int64_t i = 0; i < given; i++) {
        const int64_t id = eddy__index_at(in[1], example * w->c->labels + i);
        const bool    again = w->n > 0 && id == w->ids[w->n - 1];
        if (again && w->c->collapse) continue;
        w->skip[w->n] = again || w->n == 0 ? NEVER : 0;
        w->ids[w->n++] = id;
    }
    w->skip[w->n] = NEVER;
    for (int64_t i = 0; i <= w->n; i++) w->never[i] = NEVER;
}

static eddy_status check_lengths(eddy_kernel *k, const eddy_buffer *x, const char *what,
                                 int64_t most)
{
    for (int64_t b = 0; b < x->count; b++) {
        const int64_t n = eddy__index_at(x, b);
        if (n < 0 || n > most)
            return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT,
                                    "%s of example %lld is %lld, which is not in [0,%lld]", what,
                                    (long long)b, (long long)n, (long long)most);
    }
    return EDDY_OK;
}

static eddy_status check(eddy_kernel *k, const eddy_ctc *c)
{
    eddy_status s = check_lengths(k, k->in[2], "label_length", c->labels);
    if (s == EDDY_OK) s = check_lengths(k, k->in[3], "logit_length", c->steps);
    for (int64_t b = 0; b < c->batch && s == EDDY_OK; b++) {
        const int64_t n = eddy__index_at(k->in[2], b);
        for (int64_t i = 0; i < n; i++) {
            const int64_t id = eddy__index_at(k->in[1], b * c->labels + i);
            if (id < 0 || id >= c->classes || id == c->blank)
                return eddy_kernel_fail(
                    k, EDDY_INVALID_ARGUMENT,
                    "label %lld of example %lld is %lld, which is not in [0,%lld) or is the blank",
                    (long long)i, (long long)b, (long long)id, (long long)c->classes);
        }
    }
    return s;
}

/* ----------------------------------------------------------------- steps -- */

/* Sets state i of a row to probability 0. */
static void never_at(const walk *w, states s, int64_t i)
{
    s.e[i] = NEVER;
    for (int j = 0; j < w->width; j++) s.c[j * w->row + i] = j == 0;
}

/* The states of a pair of rows: blanks from 0 on, labels from 1 on. */
static states blanks(const walk *w, int64_t pair) { return states_at(w, 2 * pair); }
static states labels(const walk *w, int64_t pair)
{
    states s = states_at(w, 2 * pair + 1);
    return (states){ s.e + 1, s.c + 1 };
}

static states moved(states s, int64_t by) { return (states){ s.e + by, s.c + by }; }

/* to = from times the probabilities at step t, of the blank or of the labels. */
static void multiply(walk *w, int64_t t, bool blank, states from, states to)
{
    const eddy_ctc *c = w->c;
    const int64_t   at = w->at * c->example + t * c->step, n = w->n + blank;
    const int64_t   some = blank ? 1 : n, *ids = blank ? &c->blank : w->ids;
    for (int64_t i = 0; i < some; i++) {
        w->fc[i] = eddy__real_at(c->k->in[0], at + ids[i]);
        w->bad = w->bad || isnan(w->fc[i]);
    }
    EDDY_BEST_OF(factors)(some, w->fe, w->fc);
    for (int d = 0; d < c->directions; d++)
        for (int64_t i = 0; i < some; i++)
            w->fw[d * w->row + i] = eddy__real_at(c->k->in[4 + d], at + ids[i]);
    for (int64_t i = some; i < n; i++) {
        w->fe[i] = w->fe[0], w->fc[i] = w->fc[0];
        for (int d = 0; d < c->directions; d++) w->fw[d * w->row + i] = w->fw[d * w->row];
    }
    EDDY_BEST_OF(times)(&(times_job){ n, w->row, c->directions, from, to, w->fe, w->fc, w->fw });
}

/* to = a + b + c 2^more for n states. */
static void add_up(const walk *w, int64_t n, const states *from, const double *more, states to)
{
    EDDY_BEST_OF(sums)(&(sum_job){ n, w->row, w->width, from[0], from[1], from[2], to, more });
}

/* Sets the labels of a pair before the first and after the last one, which do not exist, to
 * probability 0. */
static void close_ends(const walk *w, int64_t pair)
{
    never_at(w, labels(w, pair), -1);
    never_at(w, labels(w, pair), w->n);
}

/* Computes the pair of states after step t from the pair before it; `room` is another pair. */
static void step_forwards(walk *w, int64_t t, int64_t from, int64_t to, int64_t room)
{
    const states b = blanks(w, from), l = labels(w, from), before = moved(l, -1);
    const states sum = blanks(w, room);
    add_up(w, w->n + 1, (states[]){ b, before, before }, w->never, sum);
    multiply(w, t, true, sum, blanks(w, to));
    add_up(w, w->n, (states[]){ l, b, before }, w->skip, sum);
    multiply(w, t, false, sum, labels(w, to));
    close_ends(w, to);
}

/* Computes the sums over the paths after step t from those after step t + 1, which are first
 * multiplied by the probabilities at t + 1. */
static void step_backwards(walk *w, int64_t t, int64_t from, int64_t to)
{
    const states b = blanks(w, from), l = labels(w, from), next = moved(l, 1);
    multiply(w, t + 1, true, b, b);
    multiply(w, t + 1, false, l, l);
    add_up(w, w->n + 1, (states[]){ b, l, l }, w->never, blanks(w, to));
    add_up(w, w->n, (states[]){ l, moved(b, 1), next }, w->skip + 1, labels(w, to));
    close_ends(w, to);
}

/* The states before the first step: only the first blank has probability 1. */
static void start(const walk *w, int64_t pair)
{
    for (int64_t i = 0; i <= w->n; i++) {
        never_at(w, blanks(w, pair), i);
        never_at(w, labels(w, pair), i);
    }
    never_at(w, labels(w, pair), -1);
    blanks(w, pair).e[0] = 0;
}

/* The states after the last step: the last label and the last blank have probability 1. */
static void finish(const walk *w, int64_t pair)
{
    start(w, pair);
    blanks(w, pair).e[0] = NEVER;
    blanks(w, pair).e[w->n] = 0;
    if (w->n > 0) labels(w, pair).e[w->n - 1] = 0;
}

/* Z from the pair of states after the last step: returns its power of two, and stores its
 * coefficients in z. */
static double total(const walk *w, int64_t pair, double *z)
{
    const states b = moved(blanks(w, pair), w->n), l = moved(labels(w, pair), w->n - 1);
    const double e = larger(b.e[0], l.e[0]), x = two_to(b.e[0] - e), y = two_to(l.e[0] - e);
    for (int s = 0; s < w->width; s++) z[s] = x * b.c[s * w->row] + y * l.c[s * w->row];
    return e;
}

/* ---------------------------------------------------------------- losses -- */

typedef struct work {
    const eddy_ctc *c;
    double         *rooms;
    int64_t         room;            /* doubles of a worker */
} work;

static eddy_status run(eddy_kernel *k, const eddy_ctc *c, eddy_parallel_fn body)
{
    enum { WORK = 5000 };                      /* states that are worth a thread */
    const eddy_status s = check(k, c);
    work j = { c, k->scratch, (int64_t)(k->scratch_size / sizeof(double)) / k->threads };
    if (s != EDDY_OK || k->out[0]->count == 0) return s;
    eddy__parallel_or_stop(k, c->batch, 1 + WORK / ((c->steps + 1) * (c->labels + 1)), body, &j);
    return EDDY_OK;
}

static void some_losses(void *arg, int64_t from, int64_t to, int worker)
{
    const work *j = arg;
    walk w = { .c = j->c };
    give_rooms(&w, j->rooms + worker * j->room);
    for (int64_t b = from; b < to; b++) {
        double z, e;
        begin(&w, b);
        start(&w, 0);
        for (int64_t t = 0; t < w.steps; t++) step_forwards(&w, t, t & 1, ~t & 1, 2);
        e = total(&w, w.steps & 1, &z);
        eddy__real_put(j->c->k->out[0], b, w.bad ? NAN : e < HARDLY ? INFINITY
                                        : -(eddy__log_f64(z) + e * 0.69314718055994530942));
    }
}

eddy_status eddy__ctc_losses(eddy_kernel *k, const eddy_ctc *c) { return run(k, c, some_losses); }

/* ------------------------------------------------------------ posteriors -- */

/* y = a b; y is a separate array. */
static void product(int width, const double *a, const double *b, double *y)
{
    for (int s = 0; s < width; s++) {
        y[s] = a[0] * b[s];
        for (int t = s; t > 0; t = (t - 1) & s) y[s] += a[t] * b[s ^ t];
    }
}

/* y = 1 / a. */
static void inverse(int width, const double *a, double *y)
{
    y[0] = 1 / a[0];
    for (int s = 1; s < width; s++) {
        y[s] = 0;
        for (int t = s; t > 0; t = (t - 1) & s) y[s] -= a[t] * y[s ^ t];
        y[s] *= y[0];
    }
}

/* g = the last coefficient of a b z 2^-e, for n states. */
typedef struct join_job {
    int64_t n, row;
    int     width;
    states  a, b;
    const double *z;
    double  e, *g;
} join_job;

static void join_many(const join_job *j)
{
    double a[1 << EDDY_CTC_DIRECTIONS], b[1 << EDDY_CTC_DIRECTIONS];
    double ab[1 << EDDY_CTC_DIRECTIONS], y[1 << EDDY_CTC_DIRECTIONS];
    for (int64_t i = 0; i < j->n; i++) {
        for (int s = 0; s < j->width; s++) {
            a[s] = j->a.c[s * j->row + i];
            b[s] = j->b.c[s * j->row + i];
        }
        product(j->width, a, b, ab);
        product(j->width, ab, j->z, y);
        j->g[i] = y[j->width - 1] * two_to(j->a.e[i] + j->b.e[i] - j->e);
    }
}

EDDY_INLINE void join_all(const join_job *j)
{
    const double z = j->z[0];
    for (int64_t i = 0; i < j->n; i++)
        j->g[i] = j->a.c[i] * j->b.c[i] * z * two_to(j->a.e[i] + j->b.e[i] - j->e);
}
EDDY_CLONES_OF(join, (const join_job *j), (j))

/* Computes the posteriors of the classes at step t from the forward pair and the backward pair of
 * states. */
static void collect(walk *w, int64_t t, int64_t before, int64_t behind, const double *z, double e)
{
    const eddy_buffer *y = w->c->k->out[0];
    const int64_t      at = w->at * w->c->example + t * w->c->step;
    join_job j = { w->n + 1, w->row, w->width, blanks(w, before), blanks(w, behind), z, e, w->g };
    double sum = 0;
    if (w->width == 1) EDDY_BEST_OF(join)(&j);
    else join_many(&j);
    for (int64_t i = 0; i <= w->n; i++) sum += w->g[i];
    eddy__real_put(y, at + w->c->blank, sum);
    j.n = w->n, j.a = labels(w, before), j.b = labels(w, behind);
    if (w->width == 1) EDDY_BEST_OF(join)(&j);
    else join_many(&j);
    for (int64_t i = 0; i < w->n; i++)
        eddy__real_put(y, at + w->ids[i], eddy__real_at(y, at + w->ids[i]) + w->g[i]);
}

/* Fills all classes of the first steps with 0, or with NaN. */
static void fill(const walk *w, int64_t steps, bool nan)
{
    const eddy_buffer *y = w->c->k->out[0];
    const size_t       size = eddy_dtype_size(y->type.dtype);
    for (int64_t t = 0; t < steps; t++) {
        const int64_t at = w->at * w->c->example + t * w->c->step;
        if (!nan) memset((char *)y->data + (size_t)at * size, 0, (size_t)w->c->classes * size);
        for (int64_t i = 0; i < w->c->classes && nan; i++) eddy__real_put(y, at + i, NAN);
    }
}

static void example_posteriors(walk *w, int64_t b)
{
    double z[1 << EDDY_CTC_DIRECTIONS], inverse_z[1 << EDDY_CTC_DIRECTIONS];
    begin(w, b);
    fill(w, w->c->steps, false);
    start(w, 0);
    for (int64_t t = 0; t < w->steps; t++) step_forwards(w, t, t, t + 1, w->c->steps + 1);
    const double e = total(w, w->steps, z);
    if (w->bad) fill(w, w->steps, true);
    if (w->bad || e < HARDLY) return;
    inverse(w->width, z, inverse_z);
    int64_t at = w->c->steps + 1, other = at + 1;
    finish(w, at);
    for (int64_t t = w->steps - 1; t >= 0; t--) {
        collect(w, t, t + 1, at, inverse_z, e);
        if (t > 0) step_backwards(w, t - 1, at, other);
        const int64_t now = other;
        other = at;
        at = now;
    }
}

static void some_posteriors(void *arg, int64_t from, int64_t to, int worker)
{
    const work *j = arg;
    walk w = { .c = j->c };
    give_rooms(&w, j->rooms + worker * j->room);
    for (int64_t b = from; b < to; b++) example_posteriors(&w, b);
}

eddy_status eddy__ctc_posteriors(eddy_kernel *k, const eddy_ctc *c)
{
    return run(k, c, some_posteriors);
}
