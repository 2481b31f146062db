/* ctc_greedy_decode.c -- CTC greedy decoder: the most probable class of each step of logits trained
 * with eddy_ctc_loss, with repeated classes merged and blanks removed. */
#include "ops/arrays/arrays.h"
#include "ops/kernels/arrays/index_checks.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

/* ------------------------------------------------------ repeated labels -- */

typedef struct collapse_attrs {
    int64_t blank;                    /* removed; none if negative */
    int64_t pad;                      /* follows the remaining labels */
    bool    repeated;                 /* repeated labels are kept */
} collapse_attrs;

static bool collapse_infer(eddy_infer *c)
{
    const eddy_shape s = c->in[0].shape;
    const eddy_shape lengths = s.rank < 0 ? s : eddy__shape_without(s, s.rank - 1);
    return eddy__expect_shape(c, 1, "seq_length", lengths) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, s) &&
           eddy__infer_yield(c, 1, c->in[1].dtype, s.rank < 0 ? c->in[1].shape : lengths);
}

static eddy_status collapse_kernel(eddy_kernel *k)
{
    const collapse_attrs *a = k->attrs;
    const eddy_shape s = k->in[0]->type.shape;
    const int64_t    n = s.dim[s.rank - 1];
    for (int64_t row = 0; row < k->in[1]->count; row++) {
        const int64_t length = eddy__index_at(k->in[1], row);
        int64_t to = row * n, last = 0;
        if (length < 0 || length > n)
            return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT,
                                    "seq_length of row %lld is %lld, which is not in [0,%lld]",
                                    (long long)row, (long long)length, (long long)n);
        for (int64_t i = 0; i < length; i++) {
            const int64_t id = eddy__index_at(k->in[0], row * n + i);
            const bool    again = i > 0 && id == last && !a->repeated;
            last = id;
            if (!again && (a->blank < 0 || id != a->blank)) eddy__index_put(k->out[0], to++, id);
        }
        eddy__index_put(k->out[1], row, to - row * n);
        while (to < (row + 1) * n) eddy__index_put(k->out[0], to++, a->pad);
    }
    return EDDY_OK;
}

static void collapse_batch(eddy_batch *b)
{
    const eddy_tensor in[] = { eddy_batch_input(b, 0), eddy_batch_input(b, 1) };
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, 2, in, (eddy_apply_args){ 0 });
    for (int i = 0; i < 2; i++) b->y[i] = eddy_output(y, i);
}

const eddy_op_def eddy_op_collapse_repeated = {
    .name = "CollapseRepeated", .label = "collapse_repeated", .min_inputs = 2, .max_inputs = 2,
    .outputs = 2, .attrs_size = sizeof(collapse_attrs),
    .attrs = EDDY_ATTRS(collapse_attrs, blank, pad, repeated),
    .inputs = EDDY_INPUTS({ "labels", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) },
                          { "seq_length", EDDY_TAKES_INDICES }),
    .infer = collapse_infer, .kernel = collapse_kernel, .gradient = eddy_not_differentiable,
    .batch = collapse_batch,
};

/** y = the labels of each row with consecutive equal ones merged, followed by zeros.
 *
 *  labels      int32 or int64 [..., n]
 *  seq_length  int32 or int64 [...]: the number of labels of each row
 *
 *  Output 1 of the node is the number of remaining labels, with the type of seq_length; y is
 *  [..., n], which TensorFlow truncates to the longest row.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; at run time, EDDY_INVALID_ARGUMENT for a
 *  length that is not in [0, n].
 *  Gradient: none.  TensorFlow: tf.nn.collapse_repeated. */
eddy_tensor eddy_collapse_repeated(eddy_tensor labels, eddy_tensor seq_length)
{
    const collapse_attrs a = { -1, 0, false };
    return eddy_apply2(&eddy_op_collapse_repeated, &a, labels, seq_length);
}

/* ----------------------------------------------------------- greedy decoder -- */

/** The label sequence of the most probable class of each step.
 *
 *  inputs           float32 or float64 [steps, batch, classes]: logits or log probabilities
 *  sequence_length  int32 or int64 [batch]: the number of steps of each example
 *  blank_index      the class of the blank; a negative one counts from the last class, which
 *                   TensorFlow's decoder uses
 *  merge_repeated   merge equal classes of consecutive steps into one label
 *
 *  Three outputs: int64 [batch, steps], the labels followed by -1; int64 [batch], the number of
 *  labels; and [batch, 1], minus the sum of the largest input of each step.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if the number of classes is unknown or sequence_length
 *  does not match; EDDY_INVALID_ARGUMENT for a blank_index out of range, and at run time for a
 *  length that is not in [0, steps].
 *  Gradient: of the third output, with respect to the inputs summed in it.
 *  TensorFlow: tf.nn.ctc_greedy_decoder, whose labels are sparse. */
eddy_tensor eddy_ctc_greedy_decoder(eddy_tensor inputs, eddy_tensor sequence_length,
                                    int64_t blank_index, bool merge_repeated)
{
    const eddy_shape s = eddy_shape_of(inputs);
    char text[128];
    if (!eddy_is_valid(inputs)) return inputs;
    if (s.rank != 3 || s.dim[2] == EDDY_ANY)
        return eddy_fail(inputs.graph, EDDY_BAD_SHAPE,
                         "ctc_greedy_decoder: inputs has shape %s; expected [steps, examples, "
                         "classes] with classes known",
                         eddy_shape_print(s, text, sizeof text));
    if (blank_index >= s.dim[2] || blank_index < -s.dim[2])
        return eddy_fail(inputs.graph, EDDY_INVALID_ARGUMENT,
                         "ctc_greedy_decoder: blank_index is %lld; expected a class in [-%lld, "
                         "%lld)",
                         (long long)blank_index, (long long)s.dim[2], (long long)s.dim[2]);
    const collapse_attrs a = { blank_index < 0 ? blank_index + s.dim[2] : blank_index, -1,
                               !merge_repeated };
    const eddy_tensor length = Cast(sequence_length, EDDY_INT64);
    const eddy_tensor best = eddy_argmax(inputs, 2), top = Transpose(Max(inputs, EDDY_AXES(2)));
    const eddy_tensor y = eddy_apply2(&eddy_op_collapse_repeated, &a,
                                      Cast(Transpose(best), EDDY_INT64), length);
    const eddy_tensor steps = eddy_row_numbers(inputs, EDDY_INT64);
    const eddy_tensor counts = Less(steps, ExpandDims(length, -1));
    const eddy_tensor sum = Sum(Where(counts, top, ZerosLike(top)), EDDY_AXES(1), true);
    const eddy_tensor all[] = { y, eddy_output(y, 1), Neg(sum) };
    return eddy_identity_n((eddy_list){ 3, all }, 3);
}
