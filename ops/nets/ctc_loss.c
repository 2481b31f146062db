/* ctc_loss.c -- CTC loss, connectionist temporal classification: the loss of a sequence of
 * labels that is not aligned with its logits (Graves, Fernandez, Gomez, Schmidhuber:
 * "Connectionist temporal classification", 2006).
 *
 * CTCLoss is -ln Z of log probabilities, CTCPosteriors the derivative of ln Z: the probability
 * of each class at each step, given the labels. The derivatives of CTCPosteriors are again
 * derivatives of ln Z, along the tensors that are passed as directions, so that one operation
 * provides all of them. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/sequences/ctc_paths.h"
#include "ops/short_names.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_ctc_loss_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_ctc_loss_args));
    eddy_tensor labels, logits;
    eddy_tensor label_length;         /* default: all labels */
    eddy_tensor logit_length;         /* default: all steps */
    int64_t     blank_index;          /* default: 0; -1: the last class */
    bool        batch_major;          /* logits are [batch, steps, classes] */
    bool        collapse_repeated;    /* merge repeated labels first */
    const char *name;
} eddy_ctc_loss_args;
#endif

typedef struct ctc_attrs {
    int64_t blank_index;
    bool    batch_major, preprocess_collapse_repeated;
} ctc_attrs;

static const eddy_attr_field ctc_fields[] =
    EDDY_FIELDS(ctc_attrs, blank_index, batch_major, preprocess_collapse_repeated);

enum { LOSS, POSTERIORS };
enum { LOGITS, LABELS, LABEL_LENGTH, LOGIT_LENGTH, DIRECTIONS };

/* ------------------------------------------------------------- inferring -- */

/* Limits the memory of the paths. */
static bool infer_room(eddy_infer *c, int64_t steps, int64_t labels, int64_t classes)
{
    const ctc_attrs *a = c->attrs;
    const double most = 0x1p40;
    if (classes != EDDY_ANY && (a->blank_index >= classes || a->blank_index < -classes))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "blank_index is %lld; expected a class in [-%lld, %lld)",
                               (long long)a->blank_index, (long long)classes, (long long)classes);
    if (steps != EDDY_ANY && labels != EDDY_ANY &&
        eddy__ctc_numbers(steps, labels, c->n_in - DIRECTIONS, true) > most)
        return eddy_infer_fail(c, EDDY_LIMIT, "%lld labels at %lld steps are too many",
                               (long long)labels, (long long)steps);
    return true;
}

/* The shape of the logits and the number of examples, as far as they are known. */
static bool infer_all(eddy_infer *c, eddy_shape *logits, int64_t *batch)
{
    const ctc_attrs *a = c->attrs;
    char text[128];
    if (!eddy_shape_compatible(c->in[LOGITS].shape, eddy__shape_open(3)))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "logits has shape %s; expected [steps, examples, classes]",
                               eddy_shape_print(c->in[LOGITS].shape, text, sizeof text));
    *logits = c->in[LOGITS].shape.rank < 0 ? eddy__shape_open(3) : c->in[LOGITS].shape;
    int64_t *n = &logits->dim[a->batch_major ? 0 : 1];
    for (int i = LABELS; i < DIRECTIONS; i++) {
        const eddy_shape s = c->in[i].shape;
        if (s.rank >= 0 && !eddy__dim_unify(n, s.dim[0]))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the number of examples is %lld in one input "
                                   "and %lld in another; expected equal numbers",
                                   (long long)*n, (long long)s.dim[0]);
    }
    *batch = *n;
    const eddy_shape labels = c->in[LABELS].shape;
    return infer_room(c, logits->dim[a->batch_major ? 1 : 0],
                      labels.rank < 0 ? EDDY_ANY : labels.dim[1], logits->dim[2]);
}

static eddy_ctc ctc_of(const eddy_kernel *k)
{
    const ctc_attrs *a = k->attrs;
    const eddy_shape s = k->in[LOGITS]->type.shape;
    eddy_ctc c = { .k = k, .batch = s.dim[a->batch_major ? 0 : 1], .classes = s.dim[2],
                   .steps = s.dim[a->batch_major ? 1 : 0],
                   .labels = k->in[LABELS]->type.shape.dim[1],
                   .collapse = a->preprocess_collapse_repeated,
                   .directions = k->n_in - DIRECTIONS };
    c.step = a->batch_major ? c.classes : c.batch * c.classes;
    c.example = a->batch_major ? c.steps * c.classes : c.classes;
    c.blank = a->blank_index < 0 ? a->blank_index + c.classes : a->blank_index;
    return c;
}

static eddy_status prepare(eddy_kernel *k)
{
    const eddy_ctc c = ctc_of(k);
    const double   room = eddy__ctc_numbers(c.steps, c.labels, c.directions,
                                            k->op->variant == POSTERIORS);
    k->scratch_size = (uint64_t)room * sizeof(double) * (uint64_t)k->threads;
    return EDDY_OK;
}

/* Merges the examples of the map with those of the op, along the axis of the latter. */
static void ctc_batch(eddy_batch *b)
{
    ctc_attrs a = *(const ctc_attrs *)b->attrs;
    const bool time_major = !a.batch_major;
    const eddy_tensor like = eddy_batch_input(b, LABEL_LENGTH);
    eddy_tensor x[DIRECTIONS + EDDY_CTC_DIRECTIONS];
    a.batch_major = true;
    for (int i = 0; i < b->n_in; i++) {
        x[i] = eddy_batch_input(b, i);
        if (time_major && (i == LOGITS || i >= DIRECTIONS)) x[i] = eddy__batch_swap(x[i], 1, 2);
        x[i] = eddy_merge_leading(x[i], like);
    }
    const eddy_tensor y = eddy_apply(b->node->op, &a, b->n_in, x, (eddy_apply_args){ 0 });
    b->y[0] = eddy_unflatten_like(y, like, 0, 0);
    if (time_major && b->node->op == &eddy_op_ctc_posteriors)
        b->y[0] = eddy__batch_swap(b->y[0], 1, 2);
}

/* ------------------------------------------------------------ posteriors -- */

static bool posteriors_infer(eddy_infer *c)
{
    eddy_shape s;
    int64_t    batch = EDDY_ANY;
    if (c->n_in > DIRECTIONS + EDDY_CTC_DIRECTIONS)
        return eddy_infer_fail(c, EDDY_LIMIT,
                               "derivatives of order %d of the loss are not implemented",
                               EDDY_CTC_DIRECTIONS + 1);
    if (!infer_all(c, &s, &batch)) return false;
    for (int i = DIRECTIONS; i < c->n_in; i++) {
        if (!eddy__expect_shape(c, i, "a direction", s)) return false;
    }
    return eddy__infer_yield(c, 0, c->in[LOGITS].dtype, s);
}

static eddy_status posteriors_kernel(eddy_kernel *k)
{
    const eddy_ctc c = ctc_of(k);
    return eddy__ctc_posteriors(k, &c);
}

/* The directions of a derivative have no order: dy is one more of them for the log
 * probabilities, and replaces each in turn. */
static void posteriors_gradient(eddy_rule *r)
{
    eddy_tensor x[EDDY_CTC_DIRECTIONS + DIRECTIONS + 1];
    memcpy(x, r->x, (size_t)r->n_in * sizeof *x);
    x[r->n_in] = r->dy[0];
    r->dx[LOGITS] = eddy_apply(r->node->op, r->attrs, r->n_in + 1, x, (eddy_apply_args){ 0 });
    for (int i = DIRECTIONS; i < r->n_in; i++) {
        x[i] = r->dy[0];
        r->dx[i] = eddy_apply(r->node->op, r->attrs, r->n_in, x, (eddy_apply_args){ 0 });
        x[i] = r->x[i];
    }
}

/* About 40 operations for each of three states per label and step, and twice that for each
 * direction. */
static double flops_of(int n_in, const eddy_type *in)
{
    const eddy_shape x = in[LOGITS].shape, labels = in[LABELS].shape;
    const double cells = (double)x.dim[0] * (double)x.dim[1] * (2 * (double)labels.dim[1] + 1);
    return 40 * cells * (double)(1 << (n_in - DIRECTIONS));
}

static double posteriors_flops(const void *attrs, int n_in, const eddy_type *in,
                               const eddy_type *out)
{
    (void)attrs, (void)out;
    return 2 * flops_of(n_in, in);
}

const eddy_op_def eddy_op_ctc_posteriors = {
    .name = "CTCPosteriors", .min_inputs = DIRECTIONS,
    .max_inputs = DIRECTIONS + EDDY_CTC_DIRECTIONS + 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "logits", EDDY_TAKES_FLOATS },
                          { "labels", EDDY_TAKES_INDICES | EDDY_RANK(2) },
                          { "label_length", EDDY_TAKES_INDICES | EDDY_RANK(1) },
                          { "logit_length", EDDY_TAKES_INDICES | EDDY_RANK(1) },
                          { "direction", EDDY_LIKE(0) }),
    .attrs_size = sizeof(ctc_attrs), .attrs = ctc_fields, .flops = posteriors_flops,
    .variant = POSTERIORS, .infer = posteriors_infer, .prepare = prepare,
    .kernel = posteriors_kernel, .gradient = posteriors_gradient, .batch = ctc_batch,
};

/* ------------------------------------------------------------------ loss -- */

static bool loss_infer(eddy_infer *c)
{
    eddy_shape s;
    int64_t    batch = EDDY_ANY;
    return infer_all(c, &s, &batch) &&
           eddy__infer_yield(c, 0, c->in[LOGITS].dtype, EDDY_SHAPE(batch));
}

static eddy_status loss_kernel(eddy_kernel *k)
{
    const eddy_ctc c = ctc_of(k);
    return eddy__ctc_losses(k, &c);
}

static void loss_gradient(eddy_rule *r)
{
    const ctc_attrs  *a = r->attrs;
    const eddy_tensor p = eddy_apply(&eddy_op_ctc_posteriors, a, r->n_in, r->x,
                                     (eddy_apply_args){ 0 });
    eddy_tensor dy = ExpandDims(r->dy[0], -1);
    if (a->batch_major) dy = ExpandDims(dy, -1);
    r->dx[LOGITS] = Neg(Mul(dy, p));
}

static double loss_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    (void)attrs, (void)out;
    return flops_of(n_in, in);
}

const eddy_op_def eddy_op_ctc_loss = {
    .name = "CTCLoss", .label = "ctc_loss", .min_inputs = DIRECTIONS, .max_inputs = DIRECTIONS,
    .outputs = 1, .attrs_size = sizeof(ctc_attrs), .attrs = ctc_fields, .flops = loss_flops,
    .inputs = EDDY_INPUTS({ "logits", EDDY_TAKES_FLOATS },
                          { "labels", EDDY_TAKES_INDICES | EDDY_RANK(2) },
                          { "label_length", EDDY_TAKES_INDICES | EDDY_RANK(1) },
                          { "logit_length", EDDY_TAKES_INDICES | EDDY_RANK(1) }),
    .variant = LOSS, .infer = loss_infer, .prepare = prepare, .kernel = loss_kernel,
    .gradient = loss_gradient, .batch = ctc_batch,
};

/* As many numbers as x has along axis 0, each equal to the size of `of` along `axis`. */
static eddy_tensor lengths_of(eddy_tensor x, eddy_tensor of, int axis)
{
    const eddy_tensor n = eddy_size_along(of, axis), rows = eddy_row_numbers(x, EDDY_INT64);
    return Add(Mul(rows, 0), Cast(n, EDDY_INT64));
}

/** loss[b] = -ln p(labels[b] given the logits of example b): the probability that classes drawn
 *  at each step yield the labels, once repeated classes are merged and blanks removed.
 *
 *  labels        int32 or int64 [batch, labels]: classes, none of them the blank; entries from
 *                label_length on are ignored
 *  logits        float32 or float64 [steps, batch, classes]; the softmax is computed here
 *  label_length  int32 or int64 [batch]; default: all labels
 *  logit_length  int32 or int64 [batch]; default: all steps
 *  blank_index   default: class 0; a negative one counts from the last class
 *  batch_major   logits are [batch, steps, classes]; the negation of TensorFlow's
 *                logits_time_major
 *  collapse_repeated  merge consecutive equal labels
 *
 *  The loss is infinite and its gradient 0 if there are too few steps for the labels, or if no
 *  path is more probable than exp(-1e14).
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; EDDY_INVALID_ARGUMENT for a blank_index out
 *  of range, and at run time for a length or a label out of range.
 *  Gradient: dlogits = dy[b] (softmax(logits) - p(class at the step | labels)), 0 from
 *  logit_length on; correct up to the fifth order, and EDDY_LIMIT beyond it.
 *  TensorFlow: tf.nn.ctc_loss_v2 with dense labels. */
eddy_tensor eddy_ctc_loss_with(const eddy_ctc_loss_args *given)
{
    eddy_ctc_loss_args a = EDDY_TAKE(eddy_ctc_loss_args, given);
    const ctc_attrs attrs = { a.blank_index, a.batch_major, a.collapse_repeated };
    const int time = a.batch_major ? 1 : 0;
    eddy_tensor n = a.label_length, steps = a.logit_length;
    if (!n.graph) n = lengths_of(a.labels, a.labels, 1);
    if (!steps.graph) steps = lengths_of(a.labels, a.logits, time);
    const eddy_tensor in[] = { LogSoftmax(a.logits), a.labels, n, steps };
    return eddy__apply_named(a.name, &eddy_op_ctc_loss, &attrs, DIRECTIONS, in);
}
