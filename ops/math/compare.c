/* compare.c -- comparisons, logical operations, and where (elementwise selection). */
#include "graph/base/dtype.h"
#include "ops/fusion_targets.h"
#include "ops/math/elementwise_rows.h"

EDDY_FUSION_TARGETS(&eddy_op_choice)

/* ---------------------------------------------------------- comparisons -- */

/** y = a < b.
 *
 *  False where either is NaN.
 *  Gradient: none.  TensorFlow: Less. */
COMPARISON(less, "Less", "Less", TESTS, EDDY_OP_CHEAP, a < b)

/** y = a <= b.
 *
 *  False where either is NaN.
 *  Gradient: none.  TensorFlow: LessEqual. */
COMPARISON(less_equal, "LessEqual", "LessEqual", TESTS, EDDY_OP_CHEAP, a <= b)

/** y = a > b.
 *
 *  False where either is NaN.
 *  Gradient: none.  TensorFlow: Greater. */
COMPARISON(greater, "Greater", "Greater", TESTS, EDDY_OP_CHEAP, a > b)

/** y = a >= b.
 *
 *  False where either is NaN.
 *  Gradient: none.  TensorFlow: GreaterEqual. */
COMPARISON(greater_equal, "GreaterEqual", "GreaterEqual", TESTS, EDDY_OP_CHEAP, a >= b)

/** y = (a equals b).
 *
 *  False where either is NaN.
 *  Gradient: none.  TensorFlow: Equal. */
COMPARISON(equal, "Equal", "Equal", TESTS_COMPLEX, EDDY_OP_CHEAP, a == b)

/** y = (a differs from b).
 *
 *  True where either is NaN.
 *  Gradient: none.  TensorFlow: NotEqual. */
COMPARISON(not_equal, "NotEqual", "NotEqual", TESTS_COMPLEX, EDDY_OP_CHEAP, a != b)

/* ---------------------------------------------------------------- logic -- */

/** y = a and b.
 *
 *  Gradient: none.  TensorFlow: LogicalAnd. */
BINARY_FLAT(logical_and, "LogicalAnd", "LogicalAnd", BOOLS, EDDY_OP_CHEAP,
            (a != 0) & (b != 0))

/** y = a or b.
 *
 *  Gradient: none.  TensorFlow: LogicalOr. */
BINARY_FLAT(logical_or, "LogicalOr", "LogicalOr", BOOLS, EDDY_OP_CHEAP,
            (a | b) != 0)

/** y = a or b, but not both.
 *
 *  Gradient: none.  TensorFlow: tf.logical_xor, which is composed of three operations. */
BINARY_FLAT(logical_xor, "LogicalXor", "LogicalXor", BOOLS, EDDY_OP_CHEAP,
            (a != 0) != (b != 0))

/* --------------------------------------------------------------- choice -- */

static bool where_infer(eddy_infer *c)
{
    c->out[0].dtype = c->in[1].dtype;
    return eddy__infer_broadcast_shape(c);
}

#define WHERE_OF(fn, T)                                                         \
    static eddy_status fn(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        T *o = y;                                                               \
        const uint8_t *cond = x[0];                                             \
        const T *a = x[1], *b = x[2];                                           \
        (void)attrs;                                                            \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i = 0; i < n; i++) {                                       \
            const T yes = a[i], no = b[i];                                      \
            o[i] = cond[i] ? yes : no;                                          \
        }                                                                       \
        return EDDY_OK;                                                         \
    }
#define WHERE(suffix, ...)        WHERE_OF(where_##suffix, EDDY_COLUMN(ELEMENT, suffix))
#define WHERE_CLONED(suffix, ...) WHERE(suffix, 0) CLONES_OF_BITS(suffix, where_##suffix)
FOR_NUMBERS(WHERE_CLONED, 0)
FOR_COMPLEX(WHERE, 0)

static eddy_tile_fn where_tile(const eddy_type *in, const eddy_type *out)
{
    (void)out;
    switch ((int)eddy__dtype_as_number(in[1].dtype)) { PICK_NUMBERS_COMPLEX(where) }
    return NULL;
}

static void where_gradient(eddy_rule *r)
{
    const eddy_tensor cond = r->x[0], dy = r->dy[0];
    r->dx[1] = Where(cond, dy, 0);
    r->dx[2] = Where(cond, 0, dy);
}

const eddy_op_def eddy_op_where = {
    .name = "SelectV2", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS({ "cond", EDDY_TAKES_BOOLS }, { "a", EDDY_TAKES_ALL },
                          { "b", EDDY_LIKE(1) }),
    .flags = EDDY_OP_ELEMENTWISE | EDDY_OP_CHEAP, .infer = where_infer, .tile = where_tile,
    .gradient = where_gradient,
};

/** y = a where cond is true, else b.
 *
 *  cond  bool
 *  a, b  the same type, any except float16 and bfloat16; y has their type
 *
 *  The three shapes broadcast together.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not broadcast.
 *  Gradient: da = where(cond, dy, 0), db = where(cond, 0, dy).  The unselected branch still
 *  multiplies that 0 by its own derivative, which gives NaN where the derivative is infinite:
 *  keep the input of the branch away from such points.
 *  TensorFlow: SelectV2. */
eddy_tensor eddy_where(eddy_tensor cond, eddy_tensor a, eddy_tensor b)
{
    return eddy_apply(&eddy_op_where, NULL, 3, (eddy_tensor[]){ cond, a, b },
                      (eddy_apply_args){ 0 });
}
