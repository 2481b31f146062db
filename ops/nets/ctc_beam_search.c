/* ctc_beam_search.c -- CTC beam search decoder: the most probable labels of logits trained with
 * eddy_ctc_loss, by prefix beam search (Graves, "Sequence transduction with recurrent neural
 * networks", 2012; Hannun, Maas, Jurafsky, Ng, 2014).
 *
 * Prefixes are nodes of a tree; each appends a label to its parent. The prefixes that are kept
 * are the beams. A step adds to each beam the paths that stay there, and tries every label after
 * it; the best of all these become the beams of the next step. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/base/dtype.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/short_names.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

#include <math.h>
#include <string.h>

typedef struct beam_attrs {
    int64_t beam_width, top_paths, blank_index;
} beam_attrs;

/* A tree has a root, and a step adds no more nodes than there are beams. */
static double nodes_of(const beam_attrs *a, int64_t steps)
{
    return (double)steps * (double)a->beam_width + 1;
}

static bool beam_infer(eddy_infer *c)
{
    const beam_attrs *a = c->attrs;
    const eddy_shape  x = c->in[0].shape.rank < 0 ? eddy__shape_open(3) : c->in[0].shape;
    const eddy_dtype  d = c->in[0].dtype;
    char text[128];
    if (x.rank != 3)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "inputs has shape %s; expected [steps, examples, classes]",
                               eddy_shape_print(x, text, sizeof text));
    if (a->top_paths < 1 || a->top_paths > a->beam_width || a->beam_width > 1 << 20)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "top_paths is %lld and beam_width is %lld; expected 1 <= top_paths "
                               "<= beam_width <= 2^20",
                               (long long)a->top_paths, (long long)a->beam_width);
    if (x.dim[2] != EDDY_ANY && (a->blank_index >= x.dim[2] || a->blank_index < -x.dim[2]))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "blank_index is %lld; expected a class in [-%lld, %lld)",
                               (long long)a->blank_index, (long long)x.dim[2], (long long)x.dim[2]);
    if (x.dim[2] > INT32_MAX || (x.dim[0] != EDDY_ANY && nodes_of(a, x.dim[0]) > 0x1p29))
        return eddy_infer_fail(c, EDDY_LIMIT, "too many beams for inputs of shape %s",
                               eddy_shape_print(x, text, sizeof text));
    if (!eddy__expect_shape(c, 1, "sequence_length", EDDY_SHAPE(x.dim[1]))) return false;
    return eddy__infer_yield(c, 0, EDDY_INT64, EDDY_SHAPE(x.dim[1], a->top_paths, x.dim[0])) &&
           eddy__infer_yield(c, 1, EDDY_INT64, EDDY_SHAPE(x.dim[1], a->top_paths)) &&
           eddy__infer_yield(c, 2, d, EDDY_SHAPE(x.dim[1], a->top_paths));
}

/* ------------------------------------------------------------------- tree -- */

/* Log probabilities: of the paths that end with a blank, with the label, and of both; then those
 * of the step in progress. */
typedef struct node {
    int32_t parent, label;            /* -1 at the root */
    int32_t child, next;              /* a beam that extends it, and the next such beam */
    bool    beam;
    double  blank, same, all;
    double  new_blank, new_same;
} node;

/* A beam may stay (label -1) or be extended. */
typedef struct candidate {
    double  score;
    int32_t at, label;
} candidate;

typedef struct search {
    int64_t    classes, width, places;
    int32_t    blank;
    node      *nodes;
    candidate *best;                  /* a heap, the worst in front */
    int32_t   *beams, *places_of;     /* nodes; a table of nodes by parent and label */
    double    *x;                     /* log probabilities of the step */
    bool      *taken;                 /* labels of beams that extend the current one */
    int32_t    n, n_beams, n_best;
} search;

static int64_t places_for(double nodes)
{
    int64_t n = 2;
    while ((double)n < 2 * nodes) n *= 2;
    return n;
}

/* The memory of a search; if base is NULL, only its size. */
static uint64_t lay_out(search *s, char *base, const beam_attrs *a, int64_t steps)
{
    const uint64_t nodes = (uint64_t)nodes_of(a, steps), width = (uint64_t)s->width;
    s->places = places_for((double)nodes);
    const uint64_t best = nodes * sizeof(node), x = best + width * sizeof(candidate);
    const uint64_t beams = x + (uint64_t)s->classes * sizeof(double);
    const uint64_t table = beams + width * sizeof(int32_t);
    const uint64_t taken = table + (uint64_t)s->places * sizeof(int32_t);
    if (base) {
        s->nodes = (node *)base;
        s->best = (candidate *)(base + best);
        s->x = (double *)(base + x);
        s->beams = (int32_t *)(base + beams);
        s->places_of = (int32_t *)(base + table);
        s->taken = (bool *)(base + taken);
    }
    return (taken + (uint64_t)s->classes + 63) & ~(uint64_t)63;
}

static double log_add(double a, double b)
{
    const double top = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? top : top + eddy__log1p_f64(eddy__exp_f64(low - top));
}

/* The child of that node with this label, created if there is none. */
static int32_t node_behind(search *s, int32_t parent, int32_t label)
{
    const uint64_t key = (uint64_t)(uint32_t)parent << 32 | (uint32_t)label;
    uint64_t at = key * 0x9e3779b97f4a7c15u;
    for (at = (at ^ at >> 32) & (uint64_t)(s->places - 1); s->places_of[at] >= 0;
         at = (at + 1) & (uint64_t)(s->places - 1)) {
        const node *n = &s->nodes[s->places_of[at]];
        if (n->parent == parent && n->label == label) return s->places_of[at];
    }
    s->nodes[s->n] = (node){ .parent = parent, .label = label };
    return s->places_of[at] = s->n++;
}

static void begin(search *s)
{
    memset(s->places_of, 0xff, (size_t)s->places * sizeof *s->places_of);
    memset(s->taken, 0, (size_t)s->classes);
    s->nodes[0] = (node){ .parent = -1, .label = -1, .beam = true, .same = -INFINITY };
    s->beams[0] = 0;
    s->n = s->n_beams = 1;
}

/* ------------------------------------------------------------------- heap -- */

/* Of equal candidates, the first is better. */
static bool is_worse(candidate a, candidate b)
{
    if (a.score < b.score || a.score > b.score) return a.score < b.score;
    return a.at != b.at ? a.at > b.at : a.label > b.label;
}

static void heap_sift_down(candidate *best, int32_t n, int32_t at)
{
    const candidate c = best[at];
    for (int32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && is_worse(best[child + 1], best[child])) child++;
        if (!is_worse(best[child], c)) break;
        best[at] = best[child];
        at = child;
    }
    best[at] = c;
}

static void add_candidate(search *s, candidate c)
{
    if (!(c.score > -INFINITY)) return;
    if (s->n_best < s->width) {
        s->best[s->n_best++] = c;
        for (int32_t i = s->n_best / 2; s->n_best == s->width && i-- > 0;)
            heap_sift_down(s->best, s->n_best, i);
    } else if (is_worse(s->best[0], c)) {
        s->best[0] = c;
        heap_sift_down(s->best, s->n_best, 0);
    }
}

/* ------------------------------------------------------------------ steps -- */

/* The paths that end in a beam that stays: from itself, and from its parent if that is a beam. */
static void extend_by_stay(search *s, int32_t at)
{
    node *b = &s->nodes[at];
    b->new_blank = b->all + s->x[s->blank];
    b->new_same = b->label < 0 ? -INFINITY : b->same + s->x[b->label];
    if (b->parent >= 0 && s->nodes[b->parent].beam) {
        node *p = &s->nodes[b->parent];
        const double from = p->label == b->label ? p->blank : p->all;
        b->new_same = log_add(b->new_same, from + s->x[b->label]);
        b->next = p->child;
        p->child = at;
    }
    add_candidate(s, (candidate){ log_add(b->new_blank, b->new_same), at, -1 });
}

static double extended_score(const search *s, const node *b, int32_t label)
{
    return s->x[label] + (label == b->label ? b->blank : b->all);
}

/* All extensions of a beam except those that are beams themselves. */
static void extend(search *s, int32_t at)
{
    const node *b = &s->nodes[at];
    for (int32_t i = b->child; i >= 0; i = s->nodes[i].next) s->taken[s->nodes[i].label] = true;
    for (int32_t label = 0; label < s->classes; label++)
        if (label != s->blank && !s->taken[label])
            add_candidate(s, (candidate){ extended_score(s, b, label), at, label });
    for (int32_t i = b->child; i >= 0; i = s->nodes[i].next) s->taken[s->nodes[i].label] = false;
}

static void step(search *s)
{
    s->n_best = 0;
    for (int32_t i = 0; i < s->n_beams; i++) s->nodes[s->beams[i]].child = -1;
    for (int32_t i = 0; i < s->n_beams; i++) extend_by_stay(s, s->beams[i]);
    for (int32_t i = 0; i < s->n_beams; i++) extend(s, s->beams[i]);
    for (int32_t i = 0; i < s->n_beams; i++) s->nodes[s->beams[i]].beam = false;
    for (int32_t i = 0; i < s->n_best; i++) {
        candidate *c = &s->best[i];
        if (c->label < 0) continue;
        const int32_t at = node_behind(s, c->at, c->label);
        s->nodes[at].new_blank = -INFINITY;
        s->nodes[at].new_same = c->score;
        c->at = at;
    }
    for (int32_t i = 0; i < s->n_best; i++) {
        node *b = &s->nodes[s->beams[i] = s->best[i].at];
        b->beam = true;
        b->blank = b->new_blank;
        b->same = b->new_same;
        b->all = log_add(b->blank, b->same);
    }
    s->n_beams = s->n_best;
}

/* ----------------------------------------------------------------- kernel -- */

typedef struct work {
    const eddy_kernel *k;
    int64_t            steps, batch;
    search             s;
    uint64_t           room;
} work;

static work work_of(const eddy_kernel *k)
{
    const beam_attrs *a = k->attrs;
    const eddy_shape  x = k->in[0]->type.shape;
    work w = { .k = k, .steps = x.dim[0], .batch = x.dim[1] };
    w.s.classes = x.dim[2];
    w.s.width = a->beam_width;
    w.s.blank = (int32_t)(a->blank_index < 0 ? a->blank_index + x.dim[2] : a->blank_index);
    return w;
}

/* Writes the best of the remaining beams as path `row` of the results. */
static void take_best(const work *w, search *s, int64_t row)
{
    const eddy_kernel *k = w->k;
    int64_t *labels = (int64_t *)k->out[0]->data + row * w->steps, n = 0;
    int32_t  best = 0;
    double   score = -INFINITY;
    for (int32_t i = 1; i < s->n_beams; i++) {
        const double a = s->nodes[s->beams[best]].all, b = s->nodes[s->beams[i]].all;
        if (b > a || (b >= a && s->beams[i] < s->beams[best])) best = i;
    }
    int32_t at = s->n_beams > 0 ? s->beams[best] : 0;
    if (s->n_beams > 0) score = s->nodes[at].all;
    else at = 0;
    for (int32_t i = at; s->nodes[i].parent >= 0; i = s->nodes[i].parent) n++;
    for (int64_t i = w->steps; i-- > n;) labels[i] = -1;
    ((int64_t *)k->out[1]->data)[row] = n;
    for (; s->nodes[at].parent >= 0; at = s->nodes[at].parent) labels[--n] = s->nodes[at].label;
    eddy__real_put(k->out[2], row, score);
    if (s->n_beams > 0) s->beams[best] = s->beams[--s->n_beams];
}

static void some_examples(void *arg, int64_t from, int64_t to, int worker)
{
    const work       *w = arg;
    const beam_attrs *a = w->k->attrs;
    search s = w->s;
    lay_out(&s, (char *)w->k->scratch + (size_t)worker * w->room, a, w->steps);
    for (int64_t b = from; b < to; b++) {
        const int64_t length = eddy__index_at(w->k->in[1], b);
        begin(&s);
        for (int64_t t = 0; t < length; t++) {
            for (int64_t i = 0; i < s.classes; i++)
                s.x[i] = eddy__real_at(w->k->in[0], (t * w->batch + b) * s.classes + i);
            step(&s);
        }
        for (int64_t i = 0; i < a->top_paths; i++) take_best(w, &s, b * a->top_paths + i);
    }
}

static eddy_status beam_prepare(eddy_kernel *k)
{
    work w = work_of(k);
    if (w.batch > 0)
        k->scratch_size = (uint64_t)k->threads * lay_out(&w.s, NULL, k->attrs, w.steps);
    return EDDY_OK;
}

static eddy_status beam_kernel(eddy_kernel *k)
{
    work w = work_of(k);
    w.room = k->scratch_size / (uint64_t)k->threads;
    for (int64_t b = 0; b < w.batch; b++) {
        const int64_t n = eddy__index_at(k->in[1], b);
        if (n < 0 || n > w.steps)
            return eddy_kernel_fail(
                k, EDDY_INVALID_ARGUMENT,
                "sequence_length of example %lld is %lld, which is not in [0,%lld]", (long long)b,
                (long long)n, (long long)w.steps);
    }
    eddy__parallel_or_stop(k, w.batch, 1, some_examples, &w);
    return EDDY_OK;
}

static void beam_batch(eddy_batch *b)
{
    const eddy_tensor like = eddy_batch_input(b, 1);
    const eddy_tensor rows = eddy__batch_swap(eddy_batch_input(b, 0), 1, 2);
    const eddy_tensor in[] = { eddy__batch_swap(eddy_merge_leading(rows, like), 0, 1),
                               eddy_merge_leading(like, like) };
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, 2, in, (eddy_apply_args){ 0 });
    for (int i = 0; i < 3; i++) b->y[i] = eddy_unflatten_like(eddy_output(y, i), like, 0, 0);
}

/* Two operations for each class after each beam. */
static double beam_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const beam_attrs *a = attrs;
    (void)n_in, (void)out;
    return 2 * (double)eddy_shape_count(in[0].shape) * (double)a->beam_width;
}

const eddy_op_def eddy_op_ctc_beam_search_decoder = {
    .name = "CTCBeamSearchDecoder", .label = "ctc_beam_search_decoder", .min_inputs = 2,
    .max_inputs = 2, .outputs = 3, .attrs_size = sizeof(beam_attrs),
    .attrs = EDDY_ATTRS(beam_attrs, beam_width, top_paths, blank_index),
    .inputs = EDDY_INPUTS({ "inputs", EDDY_TAKES_FLOATS },
                          { "sequence_length", EDDY_TAKES_INDICES }),
    .flops = beam_flops, .infer = beam_infer, .prepare = beam_prepare, .kernel = beam_kernel,
    .gradient = eddy_not_differentiable, .batch = beam_batch,
};

/** The most probable label sequences, where the probability of a sequence is the sum over all
 *  paths that yield it; at most beam_width prefixes, the beams, are kept from step to step.
 *
 *  inputs           float32 or float64 [steps, batch, classes]: logits
 *  sequence_length  int32 or int64 [batch]: the number of steps of each example
 *  beam_width       the number of beams; TensorFlow's default is 100
 *  top_paths        the number of results per example, the most probable first; at most beam_width
 *  blank_index      the class of the blank; a negative one counts from the last class, which
 *                   TensorFlow's decoder uses
 *
 *  Three outputs: int64 [batch, top_paths, steps], the labels followed by -1; int64
 *  [batch, top_paths], the number of labels; and [batch, top_paths], the logarithms of the
 *  probabilities.  If there are fewer results, the others have no labels and probability 0.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; EDDY_INVALID_ARGUMENT for invalid numbers,
 *  and at run time for a length that is not in [0, steps]; EDDY_LIMIT for more than 2^29 prefixes.
 *  Gradient: none.  TensorFlow: tf.nn.ctc_beam_search_decoder_v2, whose labels are sparse. */
eddy_tensor eddy_ctc_beam_search_decoder(eddy_tensor inputs, eddy_tensor sequence_length,
                                         int64_t beam_width, int64_t top_paths,
                                         int64_t blank_index)
{
    const beam_attrs a = { beam_width, top_paths, blank_index };
    return eddy_apply2(&eddy_op_ctc_beam_search_decoder, &a, LogSoftmax(inputs), sequence_length);
}
