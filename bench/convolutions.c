/* convolutions.c -- the convolutions of two small networks on one thread: forward, the gradient of
 * the input and the gradient of the filter. They are compared with direct sums, and with the matrix
 * products of im2col, with and without the copying of patches. Prints GFLOP/s of the best slice,
 * counted as for direct sums.
 *
 *   convolutions [ROUNDS [PART]]: only those with PART in their names */
#include "bench/bench.h"
#include "ops/nets/conv2d.h"

#include <cblas.h>
#include <string.h>

typedef struct shape {
    const char *name;
    int         batch, c, h, o, k, s;        /* square images and filters, SAME */
} shape;

static const shape SHAPES[] = {
    { "1-32 5x5 @28 b64", 64, 1, 28, 32, 5, 1 },     { "32-64 5x5 @14 b64", 64, 32, 14, 64, 5, 1 },
    { "3-16 3x3 @32 b32", 32, 3, 32, 16, 3, 1 },     { "16-16 3x3 @32 b32", 32, 16, 32, 16, 3, 1 },
    { "16-32 3x3/2 @32 b32", 32, 16, 32, 32, 3, 2 }, { "32-32 3x3 @16 b32", 32, 32, 16, 32, 3, 1 },
    { "32-64 3x3/2 @16 b32", 32, 32, 16, 64, 3, 2 }, { "64-64 3x3 @8 b32", 32, 64, 8, 64, 3, 1 },
    { "16-32 1x1/2 @32 b32", 32, 16, 32, 32, 1, 2 },
    { "32-64 1x1/2 @16 b32", 32, 32, 16, 64, 1, 2 },
};
enum { FORWARD, INPUT, FILTER, PASSES, FLOATS = 64 * 28 * 28 * 32 };
static const char *const PASS[] = { "forward", "input", "filter" };

static float *x, *w, *y, *dx, *dw, *dy, *patches;

static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int out_of(const shape *s) { return (s->h + s->s - 1) / s->s; }
static int before(const shape *s)
{
    const int all = (out_of(s) - 1) * s->s + s->k - s->h;
    return all > 0 ? all / 2 : 0;
}

/* Patches of an image as rows, or with `back` added to the image from them. */
static void lay_out(const shape *s, float *image, bool back)
{
    float *row = patches;
    if (back) memset(image, 0, (size_t)(s->h * s->h * s->c) * sizeof *image);
    for (int i = 0; i < out_of(s); i++)
        for (int j = 0; j < out_of(s); j++)
            for (int a = 0; a < s->k; a++)
                for (int b = 0; b < s->k; b++, row += s->c) {
                    const int v = i * s->s + a - before(s), u = j * s->s + b - before(s);
                    const bool in = v >= 0 && v < s->h && u >= 0 && u < s->h;
                    float *at = image + (v * s->h + u) * s->c;
                    if (back && in) for (int c = 0; c < s->c; c++) at[c] += row[c];
                    else if (!back && in) memcpy(row, at, (size_t)s->c * sizeof *row);
                    else if (!back) memset(row, 0, (size_t)s->c * sizeof *row);
                }
}

static void by_product(const shape *s, int pass, bool laid_out)
{
    const int m = out_of(s) * out_of(s), k = s->k * s->k * s->c, o = s->o;
    for (int n = 0; n < s->batch; n++) {
        const size_t in = (size_t)(n * s->h * s->h * s->c), out = (size_t)(n * m * o);
        if (laid_out && pass != INPUT) lay_out(s, x + in, false);
        if (pass == FORWARD)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, o, k, 1, patches, k, w, o, 0,
                        y + out, o);
        else if (pass == INPUT)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, k, o, 1, dy + out, o, w, o, 0,
                        patches, k);
        else cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, o, m, 1, patches, k, dy + out,
                         o, n > 0, dw, o);
        if (laid_out && pass == INPUT) lay_out(s, dx + in, true);
    }
}

/* ------------------------------------------------------------------ eddy -- */

typedef struct op {
    eddy_graph    *graph;
    eddy_session  *session;
    eddy_callable *run;
    eddy_array    *in[2], *out[1];
} op;

static op make(const shape *s, int pass)
{
    const eddy_shape sx = EDDY_SHAPE(s->batch, s->h, s->h, s->c),
                     sw = EDDY_SHAPE(s->k, s->k, s->c, s->o),
                     sy = EDDY_SHAPE(s->batch, out_of(s), out_of(s), s->o);
    op made = { .graph = eddy_graph_new() };
    eddy_graph *g = made.graph;
    const eddy_tensor tx = eddy_placeholder(g, "x", EDDY_FLOAT32, sx),
                      tw = eddy_placeholder(g, "w", EDDY_FLOAT32, sw),
                      ty = eddy_placeholder(g, "dy", EDDY_FLOAT32, sy);
    const eddy_dims step = EDDY_DIMS(s->s);
    eddy_tensor t = eddy_conv2d(tx, tw, .strides = step, .padding = "SAME");
    if (pass == INPUT)
        t = eddy_conv2d_backprop_input(tx, tw, ty, .strides = step, .padding = "SAME");
    if (pass == FILTER)
        t = eddy_conv2d_backprop_filter(tx, tw, ty, .strides = step, .padding = "SAME");
    made.in[0] = pass == INPUT ? eddy_array_borrow(EDDY_FLOAT32, sw, w)
                               : eddy_array_borrow(EDDY_FLOAT32, sx, x);
    made.in[1] = pass == FORWARD ? eddy_array_borrow(EDDY_FLOAT32, sw, w)
                                 : eddy_array_borrow(EDDY_FLOAT32, sy, dy);
    made.session = eddy_session_new(g, .threads = 1);
    made.run = eddy_callable_new(made.session, EDDY_LIST(pass == INPUT ? tw : tx,
                                                         pass == FORWARD ? tw : ty), EDDY_LIST(t));
    bench_need(made.run, eddy_graph_message(g));
    return made;
}

static void run(op *o)
{
    const eddy_status s = eddy_callable_run(o->run, (const eddy_array *const *)o->in, o->out);
    bench_need(s == EDDY_OK, eddy_session_message(o->session));
}

static void release(op *o)
{
    for (int i = 0; i < 2; i++) eddy_array_free(o->in[i]);
    eddy_array_free(o->out[0]);
    eddy_session_free(o->session);
    eddy_graph_free(o->graph);
}

/* --------------------------------------------------------------- measure -- */

enum { EDDY, DIRECT, PATCHES, PRODUCT, WAYS };

static double once(op o[2], const shape *s, int pass, int how)
{
    const double start = cpu_now();
    if (how <= DIRECT) run(&o[how]);
    else by_product(s, pass, how == PATCHES);
    return cpu_now() - start;
}

/* The method that the library chooses, and direct sums; the first run fixes each. */
static void make_both(op o[2], const shape *s, int pass)
{
    for (int how = 0; how < 2; how++) {
        eddy__conv_method_ask(how == DIRECT ? EDDY_CONV_DIRECT : EDDY_CONV_BY_RULE);
        o[how] = make(s, pass);
        run(&o[how]);
    }
}

int main(int argc, char **argv)
{
    const int   rounds = argc > 1 ? atoi(argv[1]) : 20;
    const char *part = argc > 2 ? argv[2] : "";
    float   **all[] = { &x, &w, &y, &dx, &dw, &dy, &patches };
    for (int i = 0; i < 7; i++) {
        *all[i] = malloc((size_t)FLOATS * sizeof(float));
        bench_need(*all[i], "out of memory");
        bench_uniform(*all[i], FLOATS, (uint64_t)i, -1, 1);
    }
    openblas_set_num_threads(1);
    printf("%-22s %-8s %9s %9s %9s %9s %9s  GFLOP/s\n", "convolution", "pass", "eddy", "direct",
           "patches", "product", "eddy ms");
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
        for (int pass = 0; pass < PASSES && strstr(SHAPES[i].name, part); pass++) {
            const shape *s = &SHAPES[i];
            double best[WAYS] = { 1e9, 1e9, 1e9, 1e9 };
            op     o[2];
            make_both(o, s, pass);
            for (int r = 0; r < rounds + 2; r++)
                for (int how = 0; how < WAYS; how++) {
                    const double took = once(o, s, pass, how);
                    if (r >= 2 && took < best[how]) best[how] = took;
                }
            release(&o[0]);
            release(&o[1]);
            const double area = out_of(s) * out_of(s), taps = s->k * s->k;
            const double flops = 2e-9 * s->batch * area * s->o * s->c * taps;
            printf("%-22s %-8s %9.1f %9.1f %9.1f %9.1f %9.3f\n", s->name, PASS[pass],
                   flops / best[EDDY], flops / best[DIRECT], flops / best[PATCHES],
                   flops / best[PRODUCT], 1e3 * best[EDDY]);
            fflush(stdout);
        }
    return 0;
}
