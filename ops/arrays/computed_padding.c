/* computed_padding.c -- padding whose numbers are tensors. With other values than zeros it is a
 * gather along one axis after the other, at computed positions. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/computed_sizes.h"
#include "ops/short_names.h"

#include <string.h>

static const double most = (double)((int64_t)1 << 48);

/* t; a run fails if an element is below `least` or exceeds the number of elements of any tensor. */
static eddy_tensor checked(eddy_tensor t, double least, const char *message)
{
    return eddy_ensure(t, LogicalAnd(GreaterEqual(t, least), LessEqual(t, most)), message);
}

/* -------------------------------------------------------------------- modes -- */

/* Where the elements at positions `at`, which may lie beyond the ends of n elements, come from; -1
 * for an element of zero. */
typedef eddy_tensor source(eddy_tensor at, eddy_tensor n);

static eddy_tensor zeros(eddy_tensor at, eddy_tensor n)
{
    return Where(LogicalAnd(GreaterEqual(at, 0), Less(at, n)), at, -1);
}

static eddy_tensor edge(eddy_tensor at, eddy_tensor n)
{
    return eddy_clip_by_value(at, ZerosLike(n), Sub(n, 1));
}

static eddy_tensor wrapped(eddy_tensor at, eddy_tensor n) { return FloorMod(at, Maximum(n, 1)); }

/* There and back again: 0 1 .. n-1 n-1 .. 1 0 */
static eddy_tensor symmetric(eddy_tensor at, eddy_tensor n)
{
    const eddy_tensor i = wrapped(at, Mul(n, 2));
    return Minimum(i, Sub(Sub(Mul(n, 2), 1), i));
}

/* 0 1 .. n-1 n-2 .. 1 */
static eddy_tensor reflected(eddy_tensor at, eddy_tensor n)
{
    const eddy_tensor period = Mul(Sub(n, 1), 2), i = wrapped(at, period);
    return Minimum(i, Abs(Sub(period, i)));
}

static const struct {
    const char *name;
    source     *from;
} modes[] = {
    { "constant", zeros }, { "edge", edge }, { "wrap", wrapped },
    { "symmetric", symmetric }, { "reflect", reflected },
};
enum { MODES = sizeof modes / sizeof *modes };

static source *mode_of(const char *name)
{
    for (int i = 0; name && i < MODES; i++)
        if (strcmp(modes[i].name, name) == 0) return modes[i].from;
    return NULL;
}

static eddy_tensor extended(eddy_tensor x, eddy_tensor before, eddy_tensor after, source *from)
{
    for (int i = 0, rank = eddy_shape_of(x).rank; i < rank; i++) {
        const eddy_tensor n = Cast(eddy_size_along(x, i), EDDY_INT64);
        const eddy_tensor b = eddy__size_entry(before, i);
        const eddy_tensor count = Maximum(Add(Add(n, b), eddy__size_entry(after, i)), 0);
        const eddy_tensor at = Sub(eddy__size_positions(count), b);
        x = eddy_gather(x, from(at, n), .axis = i, .skip_negative = true);
    }
    return x;
}

/* ------------------------------------------------------------ operations -- */

/** y = x padded with zeros, whose numbers are tensors.
 *
 *  x              any dtype and shape of known rank
 *  before, after  int32 or int64 [rank], in [0, 2^48]: zeros before and after x along each axis; a
 *                 run computes them first if they are not constant
 *
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match; at run time,
 *  EDDY_CHECK_FAILED for a number out of range, EDDY_LIMIT or EDDY_BAD_SHAPE if y would be too
 *  large.
 *  Gradient: dx = the part of dy that corresponds to x.  TensorFlow: Pad. */
eddy_tensor eddy_pad_to(eddy_tensor x, eddy_tensor before, eddy_tensor after)
{
    before = eddy__size_each_axis("pad_to", "before", before, x);
    after = eddy__size_each_axis("pad_to", "after", after, x);
    if (!eddy_is_valid(before) || !eddy_is_valid(after)) return eddy_none(x.graph);
    eddy_scope_begin(x.graph, "Pad");
    before = checked(before, 0, "pad_to: before has a number out of range");
    after = checked(after, 0, "pad_to: after has a number out of range");
    const eddy_tensor sizes = Add(Add(eddy_shape_tensor(x, EDDY_INT64), before), after);
    x = eddy_pad_at(x, before, eddy_zeros_of(sizes, EDDY_BOOL));
    eddy_scope_end(x.graph);
    return x;
}

/** y = x continued beyond its ends, or cut there, by numbers of elements that are tensors.
 *
 *  x              any dtype and shape of known rank
 *  before, after  int32 or int64 [rank], in [-2^48, 2^48]: elements added at each end of each axis,
 *                 or removed where the number is negative; a run computes them first if they are
 *                 not constant
 *  mode           what is added to 0 1 2: "constant", zeros; "edge", 0 0 [0 1 2] 2 2; "wrap",
 *                 1 2 [0 1 2] 0 1; "reflect", 2 1 [0 1 2] 1 0; "symmetric", 1 0 [0 1 2] 2 1
 *
 *  More elements may be added than x has.
 *  Errors: EDDY_INVALID_ARGUMENT for another mode, EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the
 *  arguments do not match; at run time, EDDY_CHECK_FAILED for a number out of range or elements
 *  added to none in another mode than "constant", EDDY_LIMIT or EDDY_BAD_SHAPE if y would be too
 *  large.
 *  Gradient: dx = the sum of dy over the copies.  TensorFlow: MirrorPad; numpy.pad. */
eddy_tensor eddy_extend_to(eddy_tensor x, eddy_tensor before, eddy_tensor after, const char *mode)
{
    source *from = mode_of(mode);
    before = eddy__size_each_axis("extend_to", "before", before, x);
    after = eddy__size_each_axis("extend_to", "after", after, x);
    if (!eddy_is_valid(before) || !eddy_is_valid(after)) return eddy_none(x.graph);
    if (!from)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "extend_to: there is no mode '%.40s'",
                         mode ? mode : "(null)");
    eddy_scope_begin(x.graph, "Pad");
    before = checked(before, -most, "extend_to: before has a number out of range");
    after = checked(after, -most, "extend_to: after has a number out of range");
    const eddy_tensor n = eddy_shape_tensor(x, EDDY_INT64), more = Maximum(before, after);
    if (from != zeros)
        before = eddy_ensure(before, LogicalOr(Greater(n, 0), LessEqual(more, 0)),
                             "extend_to: there is no element to repeat");
    x = extended(x, before, after, from);
    eddy_scope_end(x.graph);
    return x;
}
