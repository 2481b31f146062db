/* cancel.c -- how long a run goes on after it was cancelled.
 *
 *   cancel [TIMES] [THREADS] [NAME]
 *
 * Each of several runs (or those whose names contain NAME), of tens to hundreds of milliseconds, is
 * cancelled TIMES times at moments spread over its length. Prints the time from
 * eddy_session_cancel to the return of eddy_run, and the processor time of the thread that runs in
 * between, which does not count waits for a core. */
#include <eddy/eddy.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <time.h>

enum { MOST = 10000 };
/* If the processor left the thread that cancels for this long (ms), the latency is not known. */
static const double MOST_LATE = 0.5;

typedef struct work {
    const char *name;
    eddy_shape  shape;
    eddy_tensor (*build)(eddy_tensor x);
} work;

static eddy_tensor random_of(eddy_graph *g, eddy_shape s) { return eddy_random_normal(g, s); }
static eddy_tensor wide(eddy_tensor x) { return eddy_cast(x, EDDY_FLOAT64); }
static eddy_tensor positions(eddy_tensor x, double most)
{
    return eddy_cast(eddy_mul(x, eddy_scalar(x.graph, most)), EDDY_INT64);
}

/* ----------------------------------------------------------------- products -- */

static eddy_tensor product(eddy_tensor x) { return eddy_matmul(x, x); }
static eddy_tensor product64(eddy_tensor x) { return product(wide(x)); }
static eddy_tensor product_c(eddy_tensor x) { return product(eddy_complex(x, x)); }
static eddy_tensor product_of_integers(eddy_tensor x)
{
    return product(eddy_cast(eddy_mul(x, eddy_scalar(x.graph, 9)), EDDY_INT32));
}
static eddy_tensor einsum64(eddy_tensor x)
{
    return eddy_einsum("bij,bkj->bik", EDDY_LIST(wide(x), wide(x)));
}
static eddy_tensor attention(eddy_tensor x) { return eddy_scaled_dot_product_attention(x, x, x); }
static eddy_tensor lstm(eddy_tensor x)
{
    const eddy_tensor zero = eddy_zeros(x.graph, EDDY_FLOAT32, EDDY_SHAPE(64, 512));
    return eddy_block_lstm(x, zero, zero, random_of(x.graph, EDDY_SHAPE(512, 2048)));
}

/* ------------------------------------------------------------ factors, systems -- */

/* x x' + 1. */
static eddy_tensor positive(eddy_tensor x)
{
    const eddy_tensor one = eddy_eye(x.graph, eddy_shape_of(x).dim[0]);
    return eddy_add(eddy_matmul(x, x, .transpose_b = true), one);
}
static eddy_tensor cholesky(eddy_tensor x) { return eddy_cholesky(positive(x)); }
static eddy_tensor cholesky64(eddy_tensor x) { return eddy_cholesky(wide(positive(x))); }
static eddy_tensor solve64(eddy_tensor x) { return eddy_solve(wide(positive(x)), wide(x)); }
static eddy_tensor lu64(eddy_tensor x) { return eddy_lu(wide(positive(x)), EDDY_INT32); }
static eddy_tensor triangle64(eddy_tensor x)
{
    const eddy_tensor one = eddy_eye(x.graph, eddy_shape_of(x).dim[0]);
    return eddy_triangular_solve(wide(eddy_add(x, one)), wide(x));
}
static eddy_tensor inverse64(eddy_tensor x) { return eddy_inverse(wide(positive(x))); }
static eddy_tensor qr64(eddy_tensor x) { return eddy_qr(wide(x)); }
static eddy_tensor exponential(eddy_tensor x) { return eddy_matrix_exp(wide(x)); }
static eddy_tensor eigh64(eddy_tensor x) { return eddy_eigh(wide(positive(x))); }
static eddy_tensor svd64(eddy_tensor x) { return eddy_svd(wide(x)); }
static eddy_tensor eig64(eddy_tensor x) { return eddy_eig(wide(x)); }

/* ------------------------------------------------------------- convolutions -- */

static eddy_tensor convolution(eddy_tensor x)
{
    return eddy_conv2d(x, random_of(x.graph, EDDY_SHAPE(7, 7, 64, 128)));
}
static eddy_tensor convolution3(eddy_tensor x)
{
    return eddy_conv2d(x, random_of(x.graph, EDDY_SHAPE(3, 3, 64, 128)));
}
static eddy_tensor convolution64(eddy_tensor x)
{
    return eddy_conv2d(wide(x), wide(random_of(x.graph, EDDY_SHAPE(5, 5, 64, 128))));
}
static eddy_tensor volumes(eddy_tensor x)
{
    return eddy_conv3d(x, random_of(x.graph, EDDY_SHAPE(3, 3, 3, 32, 64)));
}
static eddy_tensor depthwise(eddy_tensor x)
{
    return eddy_depthwise_conv2d(x, random_of(x.graph, EDDY_SHAPE(7, 7, 64, 1)));
}
static eddy_tensor by_input(eddy_tensor x)
{
    const eddy_tensor w = random_of(x.graph, EDDY_SHAPE(7, 7, 64, 128));
    return eddy_conv2d_backprop_input(x, w, random_of(x.graph, EDDY_SHAPE(6, 58, 58, 128)));
}
static eddy_tensor by_filter(eddy_tensor x)
{
    const eddy_tensor w = random_of(x.graph, EDDY_SHAPE(7, 7, 64, 128));
    return eddy_conv2d_backprop_filter(x, w, random_of(x.graph, EDDY_SHAPE(6, 58, 58, 128)));
}
static eddy_tensor pool(eddy_tensor x) { return eddy_max_pool2d(x, EDDY_DIMS(5), EDDY_DIMS(1)); }
static eddy_tensor resize(eddy_tensor x)
{
    return eddy_resize_bicubic(x, EDDY_DIMS(200, 200));
}

/* ------------------------------------------------------------------- others -- */

static eddy_tensor functions(eddy_tensor x) { return eddy_tanh(eddy_exp(eddy_sin(x))); }
static eddy_tensor special(eddy_tensor x) { return eddy_igamma(eddy_add(x, x), x); }
static eddy_tensor softmax(eddy_tensor x) { return eddy_square(eddy_softmax(x)); }
static eddy_tensor sort(eddy_tensor x) { return eddy_sort(x); }
static eddy_tensor top_k(eddy_tensor x) { return eddy_top_k(x, 100); }
static eddy_tensor unique(eddy_tensor x) { return eddy_unique(eddy_ravel(x)); }
static eddy_tensor nonzero(eddy_tensor x) { return eddy_nonzero(x); }
static eddy_tensor cumsum(eddy_tensor x) { return eddy_cumsum(x, 0); }
static eddy_tensor sums(eddy_tensor x) { return eddy_sum(x, EDDY_DIMS(0)); }
static eddy_tensor argmax(eddy_tensor x) { return eddy_argmax(x, 0); }
static eddy_tensor fourier(eddy_tensor x) { return eddy_rfft2d(x); }
static eddy_tensor one_fourier(eddy_tensor x) { return eddy_fft(eddy_complex(x, x)); }
static eddy_tensor masked(eddy_tensor x)
{
    return eddy_boolean_mask(x, eddy_less(x, eddy_scalar(x.graph, 0.5)));
}
static eddy_tensor casts(eddy_tensor x) { return wide(eddy_cast(x, EDDY_BFLOAT16)); }
static eddy_tensor rows(eddy_tensor x)
{
    return eddy_gather(x, positions(eddy_index(x, ":, 0"), 900));
}
static eddy_tensor gather(eddy_tensor x)
{
    return eddy_gather(x, positions(eddy_index(x, ":, :2"), 900));
}
static eddy_tensor segments(eddy_tensor x)
{
    return eddy_unsorted_segment_sum(x, positions(eddy_index(x, ":, 0"), 900), 1000);
}
static eddy_tensor along(eddy_tensor x) { return eddy_take_along(x, positions(x, 900), 0); }
static eddy_tensor search(eddy_tensor x)
{
    return eddy_searchsorted(eddy_sort(eddy_index(x, "0")), eddy_ravel(x));
}
static eddy_tensor transpose(eddy_tensor x) { return eddy_transpose(x, EDDY_DIMS(1, 0)); }
static eddy_tensor concat(eddy_tensor x) { return eddy_concat(EDDY_LIST(x, x, x), 1); }
static eddy_tensor pad(eddy_tensor x)
{
    return eddy_mirror_pad(x, EDDY_DIMS(900, 900), EDDY_DIMS(900, 900));
}
static eddy_tensor normal(eddy_tensor x) { return random_of(x.graph, eddy_shape_of(x)); }
static eddy_tensor gamma_draws(eddy_tensor x)
{
    return eddy_random_gamma(eddy_add(x, x), eddy_scalar(x.graph, 1));
}
static eddy_tensor categorical(eddy_tensor x) { return eddy_random_categorical(x, 1000); }

/* ---------------------------------------------------------------- measuring -- */

/* Milliseconds. */
static double now(clockid_t of)
{
    struct timespec t;
    clock_gettime(of, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct canceller {
    eddy_session *session;
    clockid_t     processor;            /* of the thread that runs */
    double        delay, asked, used;   /* milliseconds */
    bool          late;                 /* the run went on while this thread did not */
} canceller;

static void *cancel(void *of)
{
    canceller            *c = of;
    const struct timespec t = { .tv_sec = (time_t)(c->delay / 1e3),
                                .tv_nsec = (long)(c->delay * 1e6) % 1000000000 };
    nanosleep(&t, NULL);
    c->asked = now(CLOCK_MONOTONIC);
    c->used = now(c->processor);
    eddy_session_cancel(c->session);
    c->late = now(c->processor) > c->used + MOST_LATE;
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double run(eddy_session *s, eddy_tensor x, const eddy_array *a, eddy_tensor y,
                  eddy_status *status)
{
    const double start = now(CLOCK_MONOTONIC);
    *status = eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL);
    return now(CLOCK_MONOTONIC) - start;
}

static void print(const work *w, double whole, int n, double *took, double *used)
{
    if (n == 0) return;
    qsort(took, (size_t)n, sizeof *took, by_size);
    qsort(used, (size_t)n, sizeof *used, by_size);
    const int late = (n * 99 + 99) / 100 - 1;
    printf("%-14s %8.1f %6d %7.2f %7.2f %7.2f   %7.2f %7.2f %7.2f\n", w->name, whole, n,
           took[n / 2], took[late], took[n - 1], used[n / 2], used[late], used[n - 1]);
    fflush(stdout);
}

static void measure(const work *w, int times, int threads)
{
    static double  took[MOST], used[MOST];
    int            n = 0;
    eddy_status    status;
    eddy_graph    *g = eddy_graph_new(.seed = 1);
    eddy_tensor    x = eddy_placeholder(g, "x", EDDY_FLOAT32, w->shape), y = w->build(x);
    eddy_session  *s = eddy_session_new(g, .threads = threads);
    eddy_array    *a = eddy_array_new(EDDY_FLOAT32, w->shape);
    canceller      c = { .session = s };
    pthread_getcpuclockid(pthread_self(), &c.processor);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ((float *)eddy_array_data(a))[i] = (float)(i * 7919 % 1000) / 1000;
    run(s, x, a, y, &status);
    const double whole = run(s, x, a, y, &status);
    if (status != EDDY_OK) printf("%s: %s\n", w->name, eddy_session_message(s));
    for (int i = 0; i < times && status != EDDY_INVALID_ARGUMENT; i++) {
        pthread_t thread;
        c.delay = whole * 0.9 * (i + 0.5) / times;
        pthread_create(&thread, NULL, cancel, &c);
        run(s, x, a, y, &status);
        const double end = now(CLOCK_MONOTONIC), end_used = now(c.processor);
        pthread_join(thread, NULL);
        if (status != EDDY_CANCELLED || c.late) continue;
        used[n] = end_used - c.used;
        took[n++] = end - c.asked;
    }
    print(w, whole, n, took, used);
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* Large pages are off: the first touch of a page of 2 MiB that the hypervisor has yet to provide
 * blocks the thread for up to 30 ms, that of one of 4 KiB for microseconds. */
static void use_small_pages(void)
{
#ifdef PR_SET_THP_DISABLE
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
#endif
}

int main(int argc, char **argv)
{
    use_small_pages();
    const work all[] = {
        { "matmul", EDDY_SHAPE(3000, 3000), product },
        { "matmul f64", EDDY_SHAPE(1500, 1500), product64 },
        { "matmul c64", EDDY_SHAPE(1000, 1000), product_c },
        { "matmul int32", EDDY_SHAPE(700, 700), product_of_integers },
        { "batched f64", EDDY_SHAPE(80, 256, 256), product64 },
        { "einsum f64", EDDY_SHAPE(2, 800, 800), einsum64 },
        { "attention", EDDY_SHAPE(2, 4000, 64), attention },
        { "lstm", EDDY_SHAPE(40, 64, 2048), lstm },
        { "cholesky", EDDY_SHAPE(1500, 1500), cholesky },
        { "cholesky f64", EDDY_SHAPE(2000, 2000), cholesky64 },
        { "solve f64", EDDY_SHAPE(1500, 1500), solve64 },
        { "lu f64", EDDY_SHAPE(2000, 2000), lu64 },
        { "triangle f64", EDDY_SHAPE(2000, 2000), triangle64 },
        { "inverse f64", EDDY_SHAPE(1500, 1500), inverse64 },
        { "qr f64", EDDY_SHAPE(1500, 1500), qr64 },
        { "matrix_exp", EDDY_SHAPE(1000, 1000), exponential },
        { "eigh f64", EDDY_SHAPE(1000, 1000), eigh64 },
        { "svd f64", EDDY_SHAPE(1000, 1000), svd64 },
        { "eig f64", EDDY_SHAPE(1000, 1000), eig64 },
        { "conv2d 7x7", EDDY_SHAPE(6, 64, 64, 64), convolution },
        { "conv2d 3x3", EDDY_SHAPE(32, 64, 64, 64), convolution3 },
        { "conv2d f64", EDDY_SHAPE(6, 64, 64, 64), convolution64 },
        { "conv3d", EDDY_SHAPE(4, 32, 32, 32, 32), volumes },
        { "depthwise", EDDY_SHAPE(32, 96, 96, 64), depthwise },
        { "conv2d input", EDDY_SHAPE(6, 64, 64, 64), by_input },
        { "conv2d filter", EDDY_SHAPE(6, 64, 64, 64), by_filter },
        { "pool", EDDY_SHAPE(32, 128, 128, 32), pool },
        { "resize", EDDY_SHAPE(32, 100, 100, 32), resize },
        { "functions", EDDY_SHAPE(4000, 4000), functions },
        { "igamma", EDDY_SHAPE(1000, 1000), special },
        { "softmax", EDDY_SHAPE(4000, 4000), softmax },
        { "sort", EDDY_SHAPE(2000, 4000), sort },
        { "sort, one row", EDDY_SHAPE(4000000), sort },
        { "top_k", EDDY_SHAPE(4000, 4000), top_k },
        { "unique", EDDY_SHAPE(2000, 2000), unique },
        { "nonzero", EDDY_SHAPE(4000, 4000), nonzero },
        { "cumsum", EDDY_SHAPE(4000, 8000), cumsum },
        { "sum", EDDY_SHAPE(8000, 16000), sums },
        { "argmax", EDDY_SHAPE(4000, 8000), argmax },
        { "rfft2d", EDDY_SHAPE(64, 512, 512), fourier },
        { "fft, one", EDDY_SHAPE(1 << 22), one_fourier },
        { "boolean_mask", EDDY_SHAPE(4000, 4000), masked },
        { "casts", EDDY_SHAPE(4000, 8000), casts },
        { "gather, rows", EDDY_SHAPE(4000, 16000), rows },
        { "gather", EDDY_SHAPE(4000, 8000), gather },
        { "segments", EDDY_SHAPE(4000, 8000), segments },
        { "take_along", EDDY_SHAPE(1000, 8000), along },
        { "searchsorted", EDDY_SHAPE(4000, 1000), search },
        { "transpose", EDDY_SHAPE(8000, 8000), transpose },
        { "concat", EDDY_SHAPE(4000, 8000), concat },
        { "mirror_pad", EDDY_SHAPE(4000, 8000), pad },
        { "normal", EDDY_SHAPE(4000, 4000), normal },
        { "gamma", EDDY_SHAPE(1000, 2000), gamma_draws },
        { "categorical", EDDY_SHAPE(1000, 1000), categorical },
    };
    const int   times = argc > 1 ? atoi(argv[1]) : 100, threads = argc > 2 ? atoi(argv[2]) : 1;
    const char *name = argc > 3 ? argv[3] : "";
    printf(
        "milliseconds               time: median, 99 %%, most   processor: median, 99 %%, most\n");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strstr(all[i].name, name))
            measure(&all[i], times < 1 ? 1 : times > MOST ? MOST : times, threads);
    return 0;
}
