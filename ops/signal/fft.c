/* fft.c -- discrete Fourier transforms (FFT) of the last one, two or three axes.
 *
 * Each of the four operations is linear, and its gradient is its adjoint: the transform in the
 * other direction, with another scale. An attribute selects either scale, so that a gradient is
 * one of these operations again. A real transform omits half of the frequencies, which are the
 * conjugates of the other half. A coefficient that represents two frequencies counts twice in
 * the inverse, and half in the adjoint. */
#include "graph/base/interruptible.h"
#include "graph/base/thread_pool.h"
#include "graph/kernel.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/kernels/libraries/fftw.h"
#include "ops/signal/rfft_factors.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_rfft_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_rfft_args));
    eddy_tensor x;
    int64_t     fft_length EDDY_DEFAULT(EDDY_OMITTED); /* default: that of x */
    const char *name;
} eddy_rfft_args;

typedef struct eddy_rfft_many_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_rfft_many_args));
    eddy_tensor x;
    eddy_dims   fft_length;        /* one per axis; default: those of x */
    const char *name;
} eddy_rfft_many_args;
#endif

typedef struct fft_attrs {
    int64_t dims;              /* number of axes */
    int64_t length;            /* of the result of IRFFT; -1: 2 (n - 1) */
    bool    adjoint;           /* the adjoint of the op in the other direction, not its inverse */
} fft_attrs;

static const eddy_attr_field fft_fields[] = EDDY_FIELDS(fft_attrs, dims, length, adjoint);

/* ------------------------------------------------------------ inferring -- */

static int64_t last_of(eddy_shape s) { return s.rank > 0 ? s.dim[s.rank - 1] : EDDY_ANY; }

/* The number of frequencies that are kept for n real numbers. */
static int64_t half_of(int64_t n) { return n <= 0 ? n : n / 2 + 1; }

static eddy_dtype result_type(eddy_fft_kind kind, eddy_dtype x)
{
    if (kind == EDDY_FFT_TO_REAL) return eddy_dtype_real(x);
    if (kind != EDDY_FFT_OF_REAL) return x;
    return eddy__dtype_complex(x);
}

/* The last dimension of the result: that of input 1 if there is one. */
static bool infer_last(eddy_infer *c, int64_t n, int64_t *to)
{
    const fft_attrs *a = c->attrs;
    const bool       of_real = c->op->variant == EDDY_FFT_OF_REAL;
    *to = n;
    if (!of_real && c->op->variant != EDDY_FFT_TO_REAL) return true;
    if (c->n_in > 1) *to = last_of(c->in[1].shape);
    else if (of_real) *to = half_of(n);
    else if (a->length >= 0) *to = a->length;
    else if (n >= 0) *to = n == 0 ? 0 : 2 * (n - 1);
    const int64_t real = of_real ? n : *to, half = of_real ? *to : n;
    if (real == EDDY_ANY || half == EDDY_ANY || half == half_of(real) || (real == 0 && half == 1))
        return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "the number of frequencies is %lld; expected %lld for %lld real numbers",
                           (long long)half, (long long)half_of(real), (long long)real);
}

static bool fft_infer(eddy_infer *c)
{
    const fft_attrs *a = c->attrs;
    eddy_shape       s = c->in[0].shape;
    const eddy_dtype d = result_type(c->op->variant, c->in[0].dtype);
    if (a->dims < 1 || a->dims > EDDY_FFT_RANK)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "a transform of %lld axes; expected 1 to 3", (long long)a->dims);
    if (s.rank < 0) return eddy__infer_yield(c, 0, d, s);
    if (s.rank < a->dims)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "x has rank %d, which is less than the %lld axes to transform",
                               s.rank, (long long)a->dims);
    int64_t all = 1, *last = &s.dim[s.rank - 1];
    const int64_t n = *last;
    if (!infer_last(c, n, last)) return false;
    for (int i = s.rank - (int)a->dims; i < s.rank; i++) {
        const int64_t most = i == s.rank - 1 && n > *last ? n : s.dim[i];
        if (most > INT_MAX || (most > 0 && all > INT_MAX / most))
            return eddy_infer_fail(c, EDDY_LIMIT, "a transform has more than %d elements", INT_MAX);
        if (most > 0) all *= most;
    }
    return eddy__infer_yield(c, 0, d, s);
}

/* --------------------------------------------------------------- kernel -- */

/* The transforms of one kernel, divided into blocks of f.many. */
typedef struct fft_work {
    const eddy_kernel *k;
    eddy_fft_job       f;
    int64_t            count, from, to;    /* transforms; numbers of one in x and in y */
    double             ends, others;       /* weights of frequencies; see weigh */
    const eddy_rfft_factors *factors;      /* NULL: FFTW's transform */
} fft_work;

typedef struct fft_run {
    fft_work    w;
    uint64_t    each;                      /* bytes of scratch memory */
    atomic_bool failed;                    /* out of memory */
} fft_run;

/* One transform that takes some milliseconds: it runs as an interruptible call, on copies. */
typedef struct fft_call {
    eddy_call_block block;
    fft_work        w;
    char           *x, *y;
    bool            good;
} fft_call;

enum { BLOCK = 4096 };       /* numbers of a block, which fits in the cache of a core */

static fft_work work_of(const eddy_kernel *k)
{
    const fft_attrs *a = k->attrs;
    const eddy_fft_kind kind = k->op->variant;
    const eddy_type  x = k->in[0]->type, y = k->out[0]->type;
    const eddy_shape real = kind == EDDY_FFT_TO_REAL ? y.shape : x.shape;
    const int        first = real.rank - (int)a->dims;
    fft_work w = { .k = k, .factors = k->state,
                   .f = { .kind = kind, .rank = (int)a->dims,
                          .single = eddy_dtype_real(x.dtype) == EDDY_FLOAT32 } };
    w.count = eddy__shape_product(x.shape, 0, first);
    w.from = eddy__shape_product(x.shape, first, x.shape.rank);
    w.to = eddy__shape_product(y.shape, first, y.shape.rank);
    for (int i = 0; i < w.f.rank; i++) w.f.n[i] = (int)real.dim[first + i];
    const int64_t n = eddy__shape_product(real, first, real.rank);
    const int64_t many = n > 0 && n < BLOCK ? BLOCK / n : 1;
    w.f.many = (int)(many < w.count ? many : w.count);
    const bool back = kind == EDDY_FFT_BACKWARD || kind == EDDY_FFT_TO_REAL;
    w.ends = back == a->adjoint || n == 0 ? 1 : 1 / (double)n;
    w.others = w.ends;
    if (a->adjoint && kind == EDDY_FFT_OF_REAL) w.others *= 2;
    if (a->adjoint && kind == EDDY_FFT_TO_REAL) w.others /= 2;
    return w;
}

/* FFTW does not look at the stop. */
static bool is_long(const fft_work *w) { return w->f.many == 1 && w->from + w->to >= 1 << 18; }

static uint64_t rounded(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Bytes of a block of x and of y. */
static uint64_t bytes_of_x(const fft_work *w)
{
    const uint64_t each = (w->f.single ? 4 : 8) * (w->f.kind == EDDY_FFT_OF_REAL ? 1u : 2u);
    return (uint64_t)(w->from * w->f.many) * each;
}

static uint64_t bytes_of_y(const fft_work *w)
{
    const uint64_t each = (w->f.single ? 4 : 8) * (w->f.kind == EDDY_FFT_TO_REAL ? 1u : 2u);
    return (uint64_t)(w->to * w->f.many) * each;
}

static int64_t blocks_of(const fft_work *w)
{
    return w->f.many > 0 ? (w->count + w->f.many - 1) / w->f.many : 0;
}

/* One block runs in the thread of the run. */
static uint64_t workers_of(const fft_work *w)
{
    return blocks_of(w) <= 1 || w->k->threads < 1 ? 1 : (uint64_t)w->k->threads;
}

static eddy_status fft_prepare(eddy_kernel *k)
{
    fft_work w = work_of(k);
    uint64_t each = 0;
    k->state = NULL;
    w.factors = NULL;
    if (w.f.kind == EDDY_FFT_OF_REAL && w.f.single && w.f.rank == 1 && w.count > 0)
        w.factors = eddy__rfft_prepare(k, w.f.n[0]);
    if (is_long(&w)) each = rounded(sizeof(fft_call)) + rounded(bytes_of_x(&w)) + bytes_of_y(&w);
    else if (w.f.kind == EDDY_FFT_TO_REAL) each = bytes_of_x(&w);
    else if (w.factors) each = eddy__rfft_scratch(w.factors, w.f.many);
    k->scratch_size = rounded(each) * workers_of(&w);
    return EDDY_OK;
}

#define TEMPLATE "ops/kernels/elementwise/weigh_loops.h"
#include "ops/kernels/for_floats.h"

static void weigh(const fft_work *w, int64_t rows, int64_t n, const void *from, void *to)
{
    const bool even = w->f.n[w->f.rank - 1] % 2 == 0;
    const eddy_dtype d = w->f.single ? EDDY_FLOAT32 : EDDY_FLOAT64;
    EDDY_FOR_TYPE(weigh, FOR_FLOATS, d)(rows, n, even, w->ends, w->others, from, to);
}

static void scale(const fft_work *w, int64_t n, void *y)
{
    float  *f = y;
    double *d = y;
    if (w->f.single)
        for (int64_t i = 0; i < n; i++) f[i] *= (float)w->ends;
    else
        for (int64_t i = 0; i < n; i++) d[i] *= w->ends;
}

/* One block, from x to y; scratch may be x. */
static bool transform(const fft_work *w, int64_t many, char *x, char *y, char *scratch)
{
    const int64_t last = w->f.n[w->f.rank - 1], half = half_of(last);
    const int64_t reals = w->f.kind == EDDY_FFT_TO_REAL ? 1 : 2;
    eddy_fft_job f = w->f;
    f.many = (int)many;
    if (f.kind == EDDY_FFT_TO_REAL && w->others < w->ends) {
        weigh(w, many * w->from / half, half, x, scratch);
        return eddy__fft_run(&f, scratch, y);
    }
    if (f.kind == EDDY_FFT_TO_REAL && scratch != x) {
        memcpy(scratch, x, (size_t)(many * w->from) * (f.single ? 8 : 16));
        x = scratch;
    }
    const bool good = w->factors ? eddy__rfft_rows(w->factors, many, (void *)x, (void *)y,
                                                   (void *)scratch)
                                 : eddy__fft_run(&f, x, y);
    if (!good) return false;
    if (w->others > w->ends) weigh(w, many * w->to / half, half, y, y);
    else if (w->ends < 1) scale(w, many * w->to * reals, y);
    return true;
}

static void run_call(void *block)
{
    fft_call *c = block;
    c->good = transform(&c->w, 1, c->x, c->y, c->x);
}

/* False if out of memory. The plan counts the memory, too: as scratch memory. */
static bool transform_apart(const fft_run *r, const char *x, char *y)
{
    const eddy_kernel      *k = r->w.k;
    const eddy_kernel_call *own = k->impl;
    fft_call *c = eddy__call_block(own->arena->allocator, k->stop->requests, r->each);
    if (!c) return false;
    c->w = r->w;
    c->w.k = NULL;                          /* of the run */
    c->x = (char *)c + rounded(sizeof *c);
    c->y = c->x + rounded(bytes_of_x(&r->w));
    eddy__copy_or_stop(k->stop, c->x, x, (size_t)bytes_of_x(&r->w));
    if (!eddy__interruptible(k->stop, run_call, c)) return true;
    eddy__copy_or_stop(k->stop, y, c->y, (size_t)bytes_of_y(&r->w));
    const bool good = c->good;
    eddy__call_block_give(c);
    return good;
}

static void blocks(void *arg, int64_t from, int64_t to, int worker)
{
    fft_run        *r = arg;
    const fft_work *w = &r->w;
    const uint64_t  size_x = bytes_of_x(w), size_y = bytes_of_y(w);
    const bool      apart = is_long(w) && w->k->stop && w->k->stop->requests;
    char           *scratch = w->k->scratch;
    if (scratch) scratch += r->each * (uint64_t)worker;
    for (int64_t i = from; i < to; i++) {
        const int64_t left = w->count - i * w->f.many;
        char *x = (char *)w->k->in[0]->data + (uint64_t)i * size_x;
        char *y = (char *)w->k->out[0]->data + (uint64_t)i * size_y;
        const bool good = apart ? transform_apart(r, x, y)
                                : transform(w, left < w->f.many ? left : w->f.many, x, y, scratch);
        if (!good) atomic_store(&r->failed, true);
    }
}

static eddy_status fft_kernel(eddy_kernel *k)
{
    fft_run r = { .w = work_of(k) };
    r.each = k->scratch_size / workers_of(&r.w);
    atomic_init(&r.failed, false);
    if (k->out[0]->count == 0) return EDDY_OK;
    if (k->in[0]->count == 0) {
        memset(k->out[0]->data, 0,
               (size_t)k->out[0]->count * eddy_dtype_size(k->out[0]->type.dtype));
        return EDDY_OK;
    }
    const char *missing = eddy__fft_missing(r.w.f.single);
    if (missing) return eddy_kernel_fail(k, EDDY_UNIMPLEMENTED, "%s", missing);
    if (blocks_of(&r.w) == 1) blocks(&r, 0, 1, 0);
    else eddy__parallel_or_stop(k, blocks_of(&r.w), 1, blocks, &r);
    if (!atomic_load(&r.failed)) return EDDY_OK;
    return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for a transform or a plan of FFTW");
}

/* 5 n log n for n complex numbers, as usual, and half of it for real ones. */
static double fft_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const fft_attrs *a = attrs;
    (void)n_in;
    const bool to_real = out->dtype != in->dtype && eddy_dtype_real(out->dtype) == out->dtype;
    const eddy_shape s = to_real ? out->shape : in->shape;
    const double n = (double)eddy__shape_product(s, s.rank - (int)a->dims, s.rank);
    const double all = (double)eddy_shape_count(s) * (out->dtype == in->dtype ? 5 : 2.5);
    return n > 1 ? all * log2(n) : 0;
}

/* ---------------------------------------------------------------- graphs -- */

static eddy_tensor apply_fft(const eddy_op_def *op, int64_t dims, int64_t length, eddy_tensor x,
                             const char *name)
{
    const fft_attrs a = { dims, length, false };
    return eddy__apply_named(name, op, &a, 1, &x);
}

/* The other direction, with the other scale; real transforms take their size from x. */
static void fft_gradient(eddy_rule *r)
{
    static const eddy_op_def *const others[] = {
        [EDDY_FFT_FORWARD] = &eddy_op_ifft,  [EDDY_FFT_BACKWARD] = &eddy_op_fft,
        [EDDY_FFT_OF_REAL] = &eddy_op_irfft, [EDDY_FFT_TO_REAL] = &eddy_op_rfft,
    };
    const fft_attrs    *a = r->attrs;
    const eddy_op_def  *op = others[r->node->op->variant];
    const fft_attrs     opposite = { a->dims, -1, !a->adjoint };
    const eddy_tensor   in[] = { r->dy[0], r->x[0] };
    r->dx[0] = eddy__apply_named(NULL, op, &opposite, op->max_inputs, in);
}

/* x with its last axes padded with zeros or truncated to these lengths. */
static eddy_tensor fitted(eddy_tensor x, const char *what, int dims, const int64_t *length)
{
    const eddy_shape s = eddy_shape_of(x);
    if (!eddy_is_valid(x)) return x;
    if (s.rank < dims)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                         "%s: fft_length requires an x of known rank, at least %d", what, dims);
    eddy_dims after = { .count = s.rank }, begin = { .count = s.rank }, size = { .count = s.rank };
    bool grow = false, cut = false;
    for (int i = 0; i < s.rank; i++) size.at[i] = -1;
    for (int i = 0; i < dims; i++) {
        const int     at = s.rank - dims + i;
        const int64_t have = s.dim[at];
        if (length[i] < 1)
            return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                             "%s: fft_length is %lld; it must be positive", what,
                             (long long)length[i]);
        if (have != EDDY_ANY && have == length[i]) continue;
        if (have < length[i]) after.at[at] = have == EDDY_ANY ? length[i] : length[i] - have;
        if (have == EDDY_ANY || have > length[i]) size.at[at] = length[i];
        grow = grow || after.at[at] > 0;
        cut = cut || size.at[at] >= 0;
    }
    if (grow) x = eddy_pad(x, .after = after);
    return cut ? eddy_slice(x, begin, size) : x;
}

static eddy_tensor rfft_of(const eddy_rfft_many_args *given, const char *what, int dims,
                           bool inverse)
{
    eddy_rfft_many_args a = EDDY_TAKE(eddy_rfft_many_args, given);
    const eddy_op_def *op = inverse ? &eddy_op_irfft : &eddy_op_rfft;
    if (eddy_refuse_number(a.x.graph, what, "fft_length", a.fft_length))
        return eddy_none(a.x.graph);
    if (a.fft_length.count == 0) return apply_fft(op, dims, -1, a.x, a.name);
    if (a.fft_length.count != dims)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT,
                         "%s: the number of entries of fft_length is %d; expected %d", what,
                         a.fft_length.count, dims);
    int64_t      *last = &a.fft_length.at[dims - 1];
    const int64_t length = *last;
    if (inverse) *last = half_of(length);
    const eddy_tensor x = fitted(a.x, what, dims, a.fft_length.at);
    return apply_fft(op, dims, inverse ? length : -1, x, a.name);
}

static eddy_tensor rfft_of_one(const eddy_rfft_args *given, const char *what, bool inverse)
{
    const eddy_rfft_args a = EDDY_TAKE(eddy_rfft_args, given);
    const eddy_dims length = { .count = a.fft_length != EDDY_OMITTED, .at = { a.fft_length } };
    return rfft_of(EDDY_ARGS(eddy_rfft_many_args, a.x, length, a.name), what, 1, inverse);
}

#define FFT(type, shown, direction)                                             \
    .name = type, .label = shown, .min_inputs = 1, .outputs = 1, .variant = direction, \
    .attrs_size = sizeof(fft_attrs), .attrs = fft_fields, .infer = fft_infer,   \
    .prepare = fft_prepare, .kernel = fft_kernel, .gradient = fft_gradient,     \
    .batch = eddy_batch_as_is, .flops = fft_flops

/* -------------------------------------------------------------- complex -- */

const eddy_op_def eddy_op_fft = {
    FFT("FFT", "fft", EDDY_FFT_FORWARD), .max_inputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_COMPLEX }),
};

/** y[..., k] = the sum over j of x[..., j] exp(-2 pi i j k / n): the discrete Fourier
 *  transform of the last axis, of length n.
 *
 *  x  complex64 or complex128, rank at least 1; y has its type and shape
 *
 *  A run requires FFTW 3 (libfftw3f.so.3 for complex64, libfftw3.so.3 for complex128), and
 *  fails with EDDY_UNIMPLEMENTED without it; the environment variable EDDY_FFTW may name the
 *  folder that contains it.
 *  Errors: EDDY_BAD_SHAPE for a scalar; EDDY_LIMIT above 2^31 - 1 numbers.
 *  Gradient: dx = n times the inverse transform of dy.  TensorFlow: FFT. */
eddy_tensor eddy_fft(eddy_tensor x) { return apply_fft(&eddy_op_fft, 1, -1, x, NULL); }

/** y = the discrete Fourier transform of the last two axes of x; otherwise like eddy_fft.
 *
 *  x  complex64 or complex128, rank at least 2
 *
 *  Errors, Gradient: as for eddy_fft.  TensorFlow: FFT2D. */
eddy_tensor eddy_fft2d(eddy_tensor x) { return apply_fft(&eddy_op_fft, 2, -1, x, "fft2d"); }

/** y = the discrete Fourier transform of the last three axes of x; otherwise like eddy_fft.
 *
 *  x  complex64 or complex128, rank at least 3
 *
 *  Errors, Gradient: as for eddy_fft.  TensorFlow: FFT3D. */
eddy_tensor eddy_fft3d(eddy_tensor x) { return apply_fft(&eddy_op_fft, 3, -1, x, "fft3d"); }

const eddy_op_def eddy_op_ifft = {
    FFT("IFFT", "ifft", EDDY_FFT_BACKWARD), .max_inputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_COMPLEX }),
};

/** y[..., j] = the sum over k of x[..., k] exp(2 pi i j k / n), divided by n: the inverse of
 *  eddy_fft.
 *
 *  x  complex64 or complex128, rank at least 1; y has its type and shape
 *
 *  Errors: as for eddy_fft.
 *  Gradient: dx = the transform of dy divided by n.  TensorFlow: IFFT. */
eddy_tensor eddy_ifft(eddy_tensor x) { return apply_fft(&eddy_op_ifft, 1, -1, x, NULL); }

/** y = the inverse of eddy_fft2d, over the last two axes.
 *
 *  x  complex64 or complex128, rank at least 2
 *
 *  Errors, Gradient: as for eddy_ifft.  TensorFlow: IFFT2D. */
eddy_tensor eddy_ifft2d(eddy_tensor x) { return apply_fft(&eddy_op_ifft, 2, -1, x, "ifft2d"); }

/** y = the inverse of eddy_fft3d, over the last three axes.
 *
 *  x  complex64 or complex128, rank at least 3
 *
 *  Errors, Gradient: as for eddy_ifft.  TensorFlow: IFFT3D. */
eddy_tensor eddy_ifft3d(eddy_tensor x) { return apply_fft(&eddy_op_ifft, 3, -1, x, "ifft3d"); }

/* ----------------------------------------------------------------- real -- */

const eddy_op_def eddy_op_rfft = {
    FFT("RFFT", "rfft", EDDY_FFT_OF_REAL), .max_inputs = 2, .shape_inputs = 1u << 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_FLOATS }, { "like", EDDY_ANY_TYPE }),
};

/** y = the first n/2 + 1 frequencies of the eddy_fft of n real numbers; the others are the
 *  conjugates of these.
 *
 *  x           float32 or float64, rank at least 1; y is complex64 or complex128
 *  fft_length  n: x is truncated or padded with zeros to this length; default: that of x
 *
 *  Errors: as for eddy_fft; EDDY_INVALID_ARGUMENT for a negative fft_length, EDDY_BAD_SHAPE for
 *  an fft_length with an x of unknown rank.
 *  Gradient: dx = the real part of the sum over k of dy[..., k] exp(2 pi i j k / n).
 *  TensorFlow: RFFT. */
eddy_tensor eddy_rfft_with(const eddy_rfft_args *given)
{
    return rfft_of_one(given, "rfft", false);
}

/** y = eddy_fft2d of real numbers, with the first half of the frequencies along the last axis.
 *
 *  x           float32 or float64, rank at least 2
 *  fft_length  two lengths, as for eddy_rfft
 *
 *  Errors, Gradient: as for eddy_rfft.  TensorFlow: RFFT2D. */
eddy_tensor eddy_rfft2d_with(const eddy_rfft_many_args *given)
{
    return rfft_of(given, "rfft2d", 2, false);
}

/** y = eddy_fft3d of real numbers, with the first half of the frequencies along the last axis.
 *
 *  x           float32 or float64, rank at least 3
 *  fft_length  three lengths, as for eddy_rfft
 *
 *  Errors, Gradient: as for eddy_rfft.  TensorFlow: RFFT3D. */
eddy_tensor eddy_rfft3d_with(const eddy_rfft_many_args *given)
{
    return rfft_of(given, "rfft3d", 3, false);
}

const eddy_op_def eddy_op_irfft = {
    FFT("IRFFT", "irfft", EDDY_FFT_TO_REAL), .max_inputs = 2, .shape_inputs = 1u << 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_COMPLEX }, { "like", EDDY_ANY_TYPE }),
};

/** y = the n real numbers whose eddy_rfft is x.
 *
 *  x           complex64 or complex128, rank at least 1: m frequencies; y is float32 or float64
 *  fft_length  n; x is truncated or padded with zeros to n/2 + 1 frequencies;
 *              default: 2 (m - 1)
 *
 *  The imaginary part of the first frequency is ignored, as is that of the last if n is
 *  even.
 *  Errors: as for eddy_rfft.
 *  Gradient: dx = the eddy_rfft of dy divided by n, doubled where a frequency also represents
 *  its conjugate.  TensorFlow: IRFFT. */
eddy_tensor eddy_irfft_with(const eddy_rfft_args *given)
{
    return rfft_of_one(given, "irfft", true);
}

/** y = the inverse of eddy_rfft2d, over the last two axes.
 *
 *  x           complex64 or complex128, rank at least 2
 *  fft_length  two lengths, as for eddy_irfft
 *
 *  Errors, Gradient: as for eddy_irfft.  TensorFlow: IRFFT2D. */
eddy_tensor eddy_irfft2d_with(const eddy_rfft_many_args *given)
{
    return rfft_of(given, "irfft2d", 2, true);
}

/** y = the inverse of eddy_rfft3d, over the last three axes.
 *
 *  x           complex64 or complex128, rank at least 3
 *  fft_length  three lengths, as for eddy_irfft
 *
 *  Errors, Gradient: as for eddy_irfft.  TensorFlow: IRFFT3D. */
eddy_tensor eddy_irfft3d_with(const eddy_rfft_many_args *given)
{
    return rfft_of(given, "irfft3d", 3, true);
}
