/* assert_values.c -- assertions about values: comparisons, signs, closeness, finiteness,
 * monotonicity.
 *
 * Assertions about constants are checked while building; the others become Assert nodes. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/kernels/elementwise/elementwise.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

#ifdef EDDY_HEADER
/* Assertions. Each returns an operation that fails the run unless its condition holds for every
 * element. Fetch it, or build the operations that depend on it between eddy_control_begin(g,
 * EDDY_LIST(assertion)) and eddy_control_end(g). If both operands are constants of at most 4096
 * elements, a condition that does not hold is an error while building, and one that holds gives
 * an operation that does nothing. */

/* Options of assertions that compare two tensors, whose shapes broadcast. */
typedef struct eddy_assert_pair_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assert_pair_args));
    eddy_tensor x, y;
    eddy_list   data;        /* shown in the error message; default x and y */
    int64_t     summarize EDDY_DEFAULT(3); /* elements shown of each; -1: all */
    const char *message;     /* begins the error message */
    const char *name;
} eddy_assert_pair_args;

/* Options of assertions about one tensor. */
typedef struct eddy_assert_one_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assert_one_args));
    eddy_tensor x;
    eddy_list   data;        /* shown in the error message; default x */
    int64_t     summarize EDDY_DEFAULT(3); /* elements shown of each; -1: all */
    const char *message;     /* begins the error message */
    const char *name;
} eddy_assert_one_args;

typedef struct eddy_assert_near_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_assert_near_args));
    eddy_tensor x, y;
    double      rtol EDDY_DEFAULT(EDDY_OMITTED);
    /* default 10 epsilon of the type for both; negative: none */
    double      atol EDDY_DEFAULT(EDDY_OMITTED);
    eddy_list   data;        /* shown in the error message; default x and y */
    int64_t     summarize EDDY_DEFAULT(3); /* elements shown of each; -1: all */
    const char *message;     /* begins the error message */
    const char *name;
} eddy_assert_near_args;
#endif

enum { MOST_KNOWN = 4096, MOST_TEXT = 1024 };

/* A comparison, and its text in messages: "x < y", "x > 0". */
typedef struct claim {
    const char        *who, *says;
    const eddy_op_def *op;
    eddy_tensor        x, y;
    bool               of_one;
} claim;

/* Whether the claim holds for constants: 1, 0, or -1 if an operand is not a constant. */
static int known_truth(const claim *c)
{
    const eddy_array *x = eddy_constant_value(c->x), *y = eddy_constant_value(c->y);
    uint8_t           truth[MOST_KNOWN];
    if (!x || !y || c->x.graph != c->y.graph) return -1;
    const eddy_type in[2] = { { eddy_array_dtype(x), eddy_array_shape(x) },
                              { eddy_array_dtype(y), eddy_array_shape(y) } };
    eddy_type out = { EDDY_BOOL, EDDY_SCALAR };
    if (in[0].dtype != in[1].dtype || !c->op->tile(in, &out) ||
        !eddy_shape_broadcast(in[0].shape, in[1].shape, &out.shape))
        return -1;
    const int64_t n = eddy_shape_count(out.shape);
    if (n > MOST_KNOWN) return -1;
    if (n == 0) return 1;
    eddy__elementwise_apply(c->op->tile(in, &out), NULL, out, truth, 2, in,
                            (const void *const[]){ eddy_array_data(x), eddy_array_data(y) });
    return memchr(truth, 0, (size_t)n) == NULL;
}

/* "MESSAGE Condition x < y did not hold element-wise: x is 'a:0', y is 'b:0'". */
static const char *sentence(const claim *c, const char *message, char text[MOST_TEXT])
{
    const int n = snprintf(text, MOST_TEXT, "%.500s%sCondition %s did not hold element-wise: x is "
                           "'%.150s'", message ? message : "", message && *message ? " " : "",
                           c->says, eddy_name_of(c->x));
    if (!c->of_one && n > 0 && n < MOST_TEXT)
        snprintf(text + n, (size_t)(MOST_TEXT - n), ", y is '%.150s'", eddy_name_of(c->y));
    return text;
}

/* The assertion that `condition`, which belongs to the claim, holds. */
static eddy_tensor assert_that(const claim *c, eddy_tensor condition,
                               const eddy_assert_pair_args *a)
{
    char              text[MOST_TEXT];
    const eddy_tensor both[] = { c->x, c->y };
    const eddy_list   data = a->data.count ? a->data : (eddy_list){ c->of_one ? 1 : 2, both };
    if (!eddy_is_valid(condition)) return eddy_none(c->x.graph);
    return eddy_assert(condition, data, sentence(c, a->message, text), a->summarize);
}

static eddy_tensor compare(claim c, const eddy_assert_pair_args *a)
{
    char      text[MOST_TEXT];
    const int truth = known_truth(&c);
    if (truth == 0)
        return eddy_fail(c.x.graph, EDDY_CHECK_FAILED, "%s: %s", c.who,
                         sentence(&c, a->message, text));
    if (truth == 1) return eddy_no_op(c.x.graph, a->name ? a->name : c.who);
    if (!eddy_is_valid(c.x) || !eddy_is_valid(c.y)) return eddy_apply2(c.op, NULL, c.x, c.y);
    eddy_scope_begin(c.x.graph, a->name ? a->name : c.who);
    const eddy_tensor y = assert_that(&c, eddy_apply2(c.op, NULL, c.x, c.y), a);
    eddy_scope_end(c.x.graph);
    return y;
}

/* Compares x with 0. */
static eddy_tensor compare_one(const char *who, const char *says, const eddy_op_def *op,
                               const eddy_assert_one_args *given)
{
    const eddy_assert_one_args a = EDDY_TAKE(eddy_assert_one_args, given);
    const eddy_assert_pair_args rest = { .data = a.data, .summarize = a.summarize,
                                         .message = a.message, .name = a.name };
    const eddy_tensor zero = eddy_is_valid(a.x) ? NumberLike(0, a.x) : a.x;
    return compare((claim){ who, says, op, a.x, zero, true }, &rest);
}

/* ------------------------------------------------------------- comparisons -- */

/** Returns an operation that fails the run unless x == y for all elements.
 *
 *  x, y       any type except float16 and bfloat16, the same for both, shapes that broadcast
 *  data       up to 63 tensors shown in the error message; default x and y
 *  summarize  the number of elements shown of each; -1: all
 *  message    begins the error message
 *
 *  It holds if there are no elements.
 *  Errors: as for eddy_equal and eddy_assert; EDDY_CHECK_FAILED at run time, or while building
 *  for constants.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_equal. */
eddy_tensor eddy_assert_equal_with(const eddy_assert_pair_args *given)
{
    eddy_assert_pair_args a = EDDY_TAKE(eddy_assert_pair_args, given);
    return compare((claim){ "assert_equal", "x == y", &eddy_op_equal, a.x, a.y, false }, &a);
}

/** Returns an operation that fails the run unless x != y for all elements.
 *
 *  Arguments and errors are as for eddy_assert_equal.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_none_equal. */
eddy_tensor eddy_assert_none_equal_with(const eddy_assert_pair_args *given)
{
    eddy_assert_pair_args a = EDDY_TAKE(eddy_assert_pair_args, given);
    return compare((claim){ "assert_none_equal", "x != y for every single element",
                            &eddy_op_not_equal, a.x, a.y, false }, &a);
}

/** Returns an operation that fails the run unless x < y for all elements.
 *
 *  Arguments and errors are as for eddy_assert_equal, for real types.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_less. */
eddy_tensor eddy_assert_less_with(const eddy_assert_pair_args *given)
{
    eddy_assert_pair_args a = EDDY_TAKE(eddy_assert_pair_args, given);
    return compare((claim){ "assert_less", "x < y", &eddy_op_less, a.x, a.y, false }, &a);
}

/** Returns an operation that fails the run unless x <= y for all elements.
 *
 *  Arguments and errors are as for eddy_assert_less.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_less_equal. */
eddy_tensor eddy_assert_less_equal_with(const eddy_assert_pair_args *given)
{
    eddy_assert_pair_args a = EDDY_TAKE(eddy_assert_pair_args, given);
    return compare((claim){ "assert_less_equal", "x <= y", &eddy_op_less_equal, a.x, a.y, false },
                   &a);
}

/** Returns an operation that fails the run unless x > y for all elements.
 *
 *  Arguments and errors are as for eddy_assert_less.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_greater. */
eddy_tensor eddy_assert_greater_with(const eddy_assert_pair_args *given)
{
    eddy_assert_pair_args a = EDDY_TAKE(eddy_assert_pair_args, given);
    return compare((claim){ "assert_greater", "x > y", &eddy_op_greater, a.x, a.y, false }, &a);
}

/** Returns an operation that fails the run unless x >= y for all elements.
 *
 *  Arguments and errors are as for eddy_assert_less.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_greater_equal. */
eddy_tensor eddy_assert_greater_equal_with(const eddy_assert_pair_args *given)
{
    eddy_assert_pair_args a = EDDY_TAKE(eddy_assert_pair_args, given);
    return compare((claim){ "assert_greater_equal", "x >= y", &eddy_op_greater_equal, a.x, a.y,
                            false }, &a);
}

/* ------------------------------------------------------------------- signs -- */

/** Returns an operation that fails the run unless x > 0 for all elements.
 *
 *  x                         float32, float64, int32, int64 or uint8, any shape
 *  data, summarize, message  as for eddy_assert_equal; data defaults to x
 *
 *  Errors: as for eddy_assert_less.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_positive. */
eddy_tensor eddy_assert_positive_with(const eddy_assert_one_args *given)
{
    return compare_one("assert_positive", "x > 0", &eddy_op_greater, given);
}

/** Returns an operation that fails the run unless x < 0 for all elements.
 *
 *  Arguments and errors are as for eddy_assert_positive.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_negative. */
eddy_tensor eddy_assert_negative_with(const eddy_assert_one_args *given)
{
    return compare_one("assert_negative", "x < 0", &eddy_op_less, given);
}

/** Returns an operation that fails the run unless x >= 0 for all elements.
 *
 *  Arguments and errors are as for eddy_assert_positive.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_non_negative. */
eddy_tensor eddy_assert_non_negative_with(const eddy_assert_one_args *given)
{
    return compare_one("assert_non_negative", "x >= 0", &eddy_op_greater_equal, given);
}

/** Returns an operation that fails the run unless x <= 0 for all elements.
 *
 *  Arguments and errors are as for eddy_assert_positive.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_non_positive. */
eddy_tensor eddy_assert_non_positive_with(const eddy_assert_one_args *given)
{
    return compare_one("assert_non_positive", "x <= 0", &eddy_op_less_equal, given);
}

/* ---------------------------------------------------- closeness, finiteness -- */

/** Returns an operation that fails the run unless |x - y| <= atol + rtol |y| for all elements.
 *
 *  x, y        float32 or float64, of the same type, shapes that broadcast
 *  rtol, atol  default 10 epsilon of the type for both; negative: none
 *  data, summarize, message  as for eddy_assert_equal
 *
 *  Fails for NaN.
 *  Errors: EDDY_BAD_DTYPE for other element types; otherwise as for eddy_sub and eddy_assert;
 *  EDDY_CHECK_FAILED at run time.
 *  Gradient: none.  TensorFlow: tf.debugging.assert_near. */
eddy_tensor eddy_assert_near_with(const eddy_assert_near_args *given)
{
    eddy_assert_near_args a = EDDY_TAKE(eddy_assert_near_args, given);
    const eddy_dtype d = eddy_dtype_of(a.x);
    const double     epsilon = 10 * eddy__dtype_epsilon(d);
    const double     rtol = a.rtol == EDDY_OMITTED ? epsilon : a.rtol > 0 ? a.rtol : 0;
    const double     atol = a.atol == EDDY_OMITTED ? epsilon : a.atol > 0 ? a.atol : 0;
    const eddy_assert_pair_args rest = { .data = a.data, .summarize = a.summarize,
                                         .message = a.message };
    char says[120];
    if (!eddy_is_valid(a.x) || !eddy_is_valid(a.y)) return Sub(a.x, a.y);
    if (!eddy__expect_type(a.x.graph, "assert_near", "x", d, EDDY_TAKES_WIDE_FLOATS))
        return eddy_none(a.x.graph);
    snprintf(says, sizeof says, "|x - y| <= %g + %g |y|", atol, rtol);
    eddy_scope_begin(a.x.graph, a.name ? a.name : "assert_near");
    const eddy_tensor near = LessEqual(Abs(Sub(a.x, a.y)), Add(Mul(rtol, Abs(a.y)), atol));
    const eddy_tensor y = assert_that(&(claim){ "assert_near", says, NULL, a.x, a.y, false }, near,
                                      &rest);
    eddy_scope_end(a.x.graph);
    return y;
}

/** y = x, and the run fails if an element of x is infinite or NaN: the same as
 *  eddy_check_numerics.
 *
 *  x        float32 or float64, any shape
 *  message  begins the error message
 *
 *  Errors, Gradient: as for eddy_check_numerics.
 *  TensorFlow: tf.debugging.assert_all_finite, verify_tensor_all_finite. */
eddy_tensor eddy_assert_all_finite(eddy_tensor x, const char *message)
{
    return eddy_check_numerics(x, message);
}

/* ------------------------------------------------------------------- order -- */

/* Whether all elements except the first compare as requested with their predecessors. */
static eddy_tensor in_order(eddy_tensor x, eddy_tensor (*compared)(eddy_tensor a, eddy_tensor b))
{
    const eddy_tensor all = eddy_ravel(x);
    if (!eddy_is_valid(all)) return all;
    return eddy_all(compared(eddy_index(all, "1:"), eddy_index(all, ":-1")));
}

/** y = whether no element of x is less than the one before it, a bool scalar.
 *
 *  x  float32, float64, int32, int64 or uint8, any shape; elements are taken in row-major order;
 *     true for fewer than two elements
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none.  TensorFlow: tf.debugging.is_non_decreasing. */
eddy_tensor eddy_is_non_decreasing(eddy_tensor x) { return in_order(x, eddy_greater_equal); }

/** y = whether each element of x is greater than the one before it, a bool scalar.
 *
 *  x  float32, float64, int32, int64 or uint8, any shape; elements are taken in row-major order;
 *     true for fewer than two elements
 *
 *  Errors: EDDY_BAD_DTYPE for other element types.
 *  Gradient: none.  TensorFlow: tf.debugging.is_strictly_increasing. */
eddy_tensor eddy_is_strictly_increasing(eddy_tensor x) { return in_order(x, eddy_greater); }
