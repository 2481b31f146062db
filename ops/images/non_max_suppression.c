/* non_max_suppression.c -- non-maximum suppression: of boxes that overlap, the one with the best
 * score is kept. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/ops.h"
#include "build/gen/table.h"

#include <math.h>

#ifdef EDDY_HEADER
typedef struct eddy_non_max_suppression_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_non_max_suppression_args));
    eddy_tensor boxes, scores;
    int64_t     max_output_size;
    double      iou_threshold EDDY_DEFAULT(0.5);
    double      score_threshold EDDY_DEFAULT(EDDY_OMITTED); /* default: none */
    double      soft_nms_sigma;    /* default: none */
    const char *name;
} eddy_non_max_suppression_args;
#endif

typedef struct nms_attrs {
    int64_t max_output_size;
    double  iou_threshold, score_threshold, soft_nms_sigma;
} nms_attrs;

static bool check_attrs(eddy_infer *c)
{
    const nms_attrs *a = c->attrs;
    if (a->max_output_size < 0 || a->max_output_size > INT32_MAX)
        return eddy_infer_fail(
            c, EDDY_INVALID_ARGUMENT,
            "max_output_size is %lld; it must not be negative and must fit in int32",
            (long long)a->max_output_size);
    if (a->iou_threshold >= 0 && a->iou_threshold <= 1 && a->soft_nms_sigma >= 0 &&
        !isnan(a->score_threshold))
        return true;
    return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                           "iou_threshold %g is not in [0, 1], soft_nms_sigma %g is negative, or "
                           "score_threshold is NaN",
                           a->iou_threshold, a->soft_nms_sigma);
}

/* Checks boxes [..., n, 4] and scores [..., n] of one type; *s is [..., n], as far as it is
 * known. */
static bool check_inputs(eddy_infer *c, eddy_shape *s)
{
    const eddy_shape boxes = c->in[0].shape;
    char text[2][128];
    *s = c->in[1].shape;
    bool good = s->rank != 0 && (boxes.rank < 0 || boxes.rank >= 2);
    if (good && boxes.rank > 0) {
        const int64_t four = boxes.dim[boxes.rank - 1];
        if (s->rank < 0) *s = eddy__shape_open(boxes.rank - 1);
        good = s->rank == boxes.rank - 1 && (four == 4 || four == EDDY_ANY);
        for (int i = 0; good && i < s->rank; i++) good = eddy__dim_unify(&s->dim[i], boxes.dim[i]);
    }
    if (!good)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "boxes have shape %s and scores %s; [...,n,4] "
                               "and [...,n] expected",
                               eddy_shape_print(boxes, text[0], sizeof text[0]),
                               eddy_shape_print(c->in[1].shape, text[1], sizeof text[1]));
    if (s->rank < 0 || s->dim[s->rank - 1] <= INT32_MAX) return true;
    return eddy_infer_fail(c, EDDY_LIMIT, "%lld boxes, too many for int32",
                           (long long)s->dim[s->rank - 1]);
}

static bool nms_infer(eddy_infer *c)
{
    const nms_attrs *a = c->attrs;
    eddy_shape s;
    if (!check_attrs(c) || !check_inputs(c, &s)) return false;
    const eddy_shape all = s.rank < 0 ? s : eddy__shape_without(s, s.rank - 1);
    if (s.rank > 0) s.dim[s.rank - 1] = a->max_output_size;
    return eddy__infer_yield(c, 0, EDDY_INT32, s) && eddy__infer_yield(c, 1, c->in[0].dtype, s) &&
           eddy__infer_yield(c, 2, EDDY_INT32, all);
}

/* ----------------------------------------------------------------- boxes -- */

typedef struct corners {
    double y1, x1, y2, x2;
} corners;

/* Box i; its corners may be any two opposite ones. */
static corners box_at(const eddy_buffer *b, int64_t i)
{
    double v[4];
    for (int j = 0; j < 4; j++) v[j] = eddy__real_at(b, 4 * i + j);
    return (corners){ fmin(v[0], v[2]), fmin(v[1], v[3]), fmax(v[0], v[2]), fmax(v[1], v[3]) };
}

static double area_of(corners a) { return (a.y2 - a.y1) * (a.x2 - a.x1); }

/* Intersection over union: the area of the intersection of two boxes over that of their union; 0 if
 * a box or the intersection has no area. */
static double overlap_of(corners a, corners b)
{
    const double h = fmin(a.y2, b.y2) - fmax(a.y1, b.y1), w = fmin(a.x2, b.x2) - fmax(a.x1, b.x1);
    const double p = area_of(a), q = area_of(b);
    if (!(p > 0) || !(q > 0) || !(h > 0) || !(w > 0)) return 0;
    return h * w / (p + q - h * w);
}

/* ------------------------------------------------------------------ a heap -- */

/* A candidate box; it has been compared with the first `seen` of the selected ones. */
typedef struct candidate {
    double  score;
    int32_t box, seen;
} candidate;

static bool is_before(candidate a, candidate b)
{
    return a.score > b.score || (a.score == b.score && a.box < b.box);
}

/* A heap with the best one first; item i sinks to its position. */
static void heap_sift_down(candidate *heap, int64_t n, int64_t i)
{
    const candidate it = heap[i];
    for (int64_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_before(heap[child + 1], heap[child])) child++;
        if (!is_before(heap[child], it)) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = it;
}

/* ------------------------------------------------------------- suppression -- */

typedef struct nms_work {
    const nms_attrs   *a;
    const eddy_kernel *k;
    int64_t            n;
    double             least;            /* scores must be above it */
} nms_work;

/* The score of a candidate, reduced for the boxes selected since it was last compared; 0
 * or below the threshold if it is suppressed. */
static double held_against(const nms_work *w, candidate c, int64_t first, const int32_t *taken,
                           int64_t count)
{
    const eddy_buffer *boxes = w->k->in[0];
    const corners it = box_at(boxes, first + c.box);
    for (int64_t j = count - 1; j >= c.seen; j--) {
        const double both = overlap_of(it, box_at(boxes, first + taken[j]));
        if (both > w->a->iou_threshold) return -INFINITY;
        if (w->a->soft_nms_sigma > 0)
            c.score *= eddy__exp_f64(-0.5 / w->a->soft_nms_sigma * both * both);
        if (!(c.score > w->least)) return -INFINITY;
    }
    return c.score;
}

/* Selects the boxes of one image, in order; returns their number. */
static int64_t choose(const nms_work *w, int64_t image, candidate *heap, int32_t *taken,
                      double *scores)
{
    const int64_t first = image * w->n;
    int64_t waiting = 0, count = 0;
    for (int64_t i = 0; i < w->n; i++) {
        const double score = eddy__real_at(w->k->in[1], first + i);
        if (score > w->least) heap[waiting++] = (candidate){ score, (int32_t)i, 0 };
    }
    for (int64_t i = waiting / 2 - 1; i >= 0; i--) heap_sift_down(heap, waiting, i);
    while (count < w->a->max_output_size && waiting > 0) {
        const double left = held_against(w, heap[0], first, taken, count);
        if (left == heap[0].score) {
            scores[count] = left;
            taken[count++] = heap[0].box;
        }
        if (left == heap[0].score || left == -(double)INFINITY) {
            heap[0] = heap[--waiting];
        } else {
            heap[0].score = left;
            heap[0].seen = (int32_t)count;
        }
        if (waiting > 0) heap_sift_down(heap, waiting, 0);
    }
    return count;
}

static uint64_t scratch_of(const eddy_kernel *k, int64_t n)
{
    const nms_attrs *a = k->attrs;
    const int64_t most = a->max_output_size < n ? a->max_output_size : n;
    const uint64_t each = sizeof(double) + sizeof(int32_t);
    return (uint64_t)n * sizeof(candidate) + (uint64_t)most * each + 64;
}

static void images(void *arg, int64_t from, int64_t to, int worker)
{
    const nms_work *w = arg;
    const int64_t most = w->a->max_output_size, room = most < w->n ? most : w->n;
    char *scratch = (char *)w->k->scratch + (uint64_t)worker * (scratch_of(w->k, w->n) / 64 * 64);
    candidate *heap = (candidate *)(void *)scratch;
    double    *scores = (double *)(void *)(heap + w->n);
    int32_t   *taken = (int32_t *)(void *)(scores + room);
    const eddy_buffer *y = w->k->out[1];
    for (int64_t i = from; i < to; i++) {
        const int64_t count = choose(w, i, heap, taken, scores);
        for (int64_t j = 0; j < most; j++) {
            const double score = j < count ? scores[j] : 0;
            ((int32_t *)w->k->out[0]->data)[i * most + j] = j < count ? taken[j] : -1;
            eddy__real_put(y, i * most + j, score);
        }
        ((int32_t *)w->k->out[2]->data)[i] = (int32_t)count;
    }
}

static int64_t boxes_of(const eddy_kernel *k)
{
    const eddy_shape s = k->in[1]->type.shape;
    return s.dim[s.rank - 1];
}

static eddy_status nms_prepare(eddy_kernel *k)
{
    const uint64_t threads = (uint64_t)(k->threads > 1 ? k->threads : 1);
    k->scratch_size = threads * (scratch_of(k, boxes_of(k)) / 64 * 64);
    return EDDY_OK;
}

static eddy_status nms_kernel(eddy_kernel *k)
{
    const nms_attrs *a = k->attrs;
    const double     least = a->score_threshold;
    nms_work w = { a, k, boxes_of(k), least == 0 && !signbit(least) ? -(double)INFINITY : least };
    if (k->out[2]->count > 0)
        eddy__parallel_or_stop(k, k->out[2]->count, 1000 / (w.n + 1) + 1, images, &w);
    return EDDY_OK;
}

static void nms_batch(eddy_batch *b)
{
    const eddy_tensor in[] = { eddy_batch_input(b, 0), eddy_batch_input(b, 1) };
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, 2, in, (eddy_apply_args){ 0 });
    for (int i = 0; i < 3; i++) b->y[i] = eddy_output(y, i);
}

const eddy_op_def eddy_op_non_max_suppression = {
    .name = "NonMaxSuppressionV5", .label = "non_max_suppression", .min_inputs = 2,
    .max_inputs = 2, .outputs = 3, .attrs_size = sizeof(nms_attrs),
    .attrs = EDDY_ATTRS(nms_attrs, max_output_size, iou_threshold, score_threshold, soft_nms_sigma),
    .inputs = EDDY_INPUTS({ "boxes", EDDY_TAKES_FLOATS }, { "scores", EDDY_LIKE(0) }),
    .infer = nms_infer, .prepare = nms_prepare, .kernel = nms_kernel,
    .gradient = eddy_not_differentiable, .batch = nms_batch,
};

/** y = the indices of the selected boxes: the box with the best score first, then always the
 *  next best box that does not overlap too much with a selected one; -1 after the last.
 *
 *  boxes            float32 or float64 [..., n, 4]: two opposite corners y, x, y, x
 *  scores           same type, [..., n]
 *  max_output_size  the maximum number of boxes selected
 *  iou_threshold    boxes overlap too much if their intersection over union exceeds it
 *  score_threshold  scores must be above it; default: none
 *  soft_nms_sigma   if not 0, an overlap o that does not exceed iou_threshold lowers a score by
 *                   exp(-o^2 / (2 sigma)); an iou_threshold of 1 then leaves suppression to it
 *
 *  Returns output 0, int32 [..., max_output_size].  eddy_output(y, 1) is their scores, 0 after
 *  the last; eddy_output(y, 2) is their number, int32 [...].  Of equal scores, the one with the
 *  lower index comes first; boxes whose score is NaN are not selected.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; EDDY_INVALID_ARGUMENT for invalid options.
 *  Gradient: none.  TensorFlow: NonMaxSuppressionV5 (tf.image.non_max_suppression_padded, which
 *  writes 0 after the last). */
eddy_tensor eddy_non_max_suppression_with(const eddy_non_max_suppression_args *given)
{
    eddy_non_max_suppression_args p = EDDY_TAKE(eddy_non_max_suppression_args, given);
    const nms_attrs a = { p.max_output_size, p.iou_threshold,
                          eddy__attribute_number(p.score_threshold), p.soft_nms_sigma };
    return eddy__apply_named(p.name, &eddy_op_non_max_suppression, &a, 2,
                             (eddy_tensor[]){ p.boxes, p.scores });
}
