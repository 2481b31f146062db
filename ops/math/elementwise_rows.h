/* elementwise_rows.h -- macros that define an elementwise operation in one row.
 *
 *   UNARY(tanh, "Tanh", "Tanh", FLOATS, tanh(x), Mul(dy, Sub(1, Square(y))))
 *
 * defines the inner loop for each element type, the definition eddy_op_tanh and the builder
 * eddy_tanh. The columns of a row are: C name, op type, default node name, element types, value
 * of one element (of x, or of a and b, of type T), and the gradient of each input in terms of x
 * (or a, b), y and dy. ops/kernels/elementwise/elementwise.c runs the loops: no other code
 * iterates over the elements of a broadcast. The loops of real numbers are compiled for each
 * instruction set (graph/base/cpu.h). */
#ifndef EDDY_OPS_MATH_ELEMENTWISE_ROWS_H
#define EDDY_OPS_MATH_ELEMENTWISE_ROWS_H

#include <tgmath.h>
#include "graph/op.h"
#include "graph/base/cpu.h"
#include "graph/base/element_types.h"
#include "ops/kernels/elementwise/elementwise.h"
#include "ops/short_names.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "build/gen/table.h"

/* The text of a value serves signed and unsigned types alike. */
#pragma GCC diagnostic ignored "-Wtype-limits"

#define TILE_UNARY(fn, T_, R_, value)                                           \
    static eddy_status fn(int64_t n_, void *out_, const void *const *in_, const void *attrs) \
    {                                                                           \
        typedef T_ T;                                                           \
        R_ *o_ = out_;                                                          \
        const T *x_ = in_[0];                                                   \
        (void)attrs;                                                            \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i_ = 0; i_ < n_; i_++) {                                   \
            const T x = x_[i_];                                                 \
            o_[i_] = (R_)(value);                                               \
        }                                                                       \
        return EDDY_OK;                                                         \
    }

#define TILE_BINARY(fn, T_, R_, value)                                          \
    static eddy_status fn(int64_t n_, void *out_, const void *const *in_, const void *attrs) \
    {                                                                           \
        typedef T_ T;                                                           \
        R_ *o_ = out_;                                                          \
        const T *a_ = in_[0], *b_ = in_[1];                                     \
        (void)attrs;                                                            \
        EDDY_INDEPENDENT                                                        \
        for (int64_t i_ = 0; i_ < n_; i_++) {                                   \
            const T a = a_[i_], b = b_[i_];                                     \
            o_[i_] = (R_)(value);                                               \
        }                                                                       \
        return EDDY_OK;                                                         \
    }

/* The loop of a type, with clones or without; of a test, whose results are bools. */
#define ROW_PLAIN(suffix, TILE, name, value)                                    \
    TILE(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), EDDY_COLUMN(ELEMENT, suffix), value)
#define ROW_CLONED(suffix, TILE, name, value)                                   \
    ROW_PLAIN(suffix, TILE, name, value) CLONES_OF_BITS(suffix, name##_##suffix)
#define ROW_PLAIN_TEST(suffix, TILE, name, value)                               \
    TILE(name##_##suffix, EDDY_COLUMN(ELEMENT, suffix), uint8_t, value)
#define ROW_TEST(suffix, TILE, name, value)                                     \
    ROW_PLAIN_TEST(suffix, TILE, name, value) CLONES_OF_BITS(suffix, name##_##suffix)
/* The baseline has vectors of bytes. */
#define CLONES_OF_BITS(suffix, fn) EDDY_NAME(CLONES, EDDY_COLUMN(BITS, suffix))(fn)
#define CLONES_8  EDDY_NO_CLONES
#define CLONES_32 EDDY_CLONES
#define CLONES_64 EDDY_CLONES

/* The element types that a row may name. Bools are bytes, 0 or 1. */
#define CLONED(TILE, fn, T_, R_, value) TILE(fn, T_, R_, value) EDDY_CLONES(fn)
#define DECLARE_FLOATS(TILE, name, value)   FOR_FLOATS(ROW_CLONED, TILE, name, value)
/* Floats whose value needs branches or calls for each element, so that cloning gains nothing. */
#define DECLARE_SCALAR_FLOATS(TILE, name, value) FOR_FLOATS(ROW_PLAIN, TILE, name, value)
#define DECLARE_INTEGERS(TILE, name, value) FOR_INTEGERS(ROW_CLONED, TILE, name, value)
#define DECLARE_NUMBERS(TILE, name, value)  FOR_NUMBERS(ROW_CLONED, TILE, name, value)
#define DECLARE_COMPLEX(TILE, name, value)  FOR_COMPLEX(ROW_PLAIN, TILE, name, value)
#define DECLARE_BOOLS(TILE, name, value)    FOR_BOOLS(ROW_PLAIN, TILE, name, value)
#define DECLARE_FLOATS_COMPLEX(TILE, name, value)                               \
    DECLARE_FLOATS(TILE, name, value)                                           \
    DECLARE_COMPLEX(TILE, name, value)
#define DECLARE_NUMBERS_COMPLEX(TILE, name, value)                              \
    DECLARE_NUMBERS(TILE, name, value)                                          \
    DECLARE_COMPLEX(TILE, name, value)
#define DECLARE_FLOAT_TESTS(TILE, name, value) FOR_FLOATS(ROW_TEST, TILE, name, value)
#define DECLARE_TESTS(TILE, name, value)                                        \
    FOR_NUMBERS(ROW_TEST, TILE, name, value)                                    \
    FOR_BOOLS(ROW_PLAIN_TEST, TILE, name, value)
#define DECLARE_TESTS_COMPLEX(TILE, name, value)                                \
    DECLARE_TESTS(TILE, name, value)                                            \
    FOR_COMPLEX(ROW_PLAIN_TEST, TILE, name, value)

#define CASE_BEST(suffix, name)  case EDDY_COLUMN(DTYPE, suffix): return EDDY_BEST(name##_##suffix);
#define CASE_PLAIN(suffix, name) case EDDY_COLUMN(DTYPE, suffix): return name##_##suffix;
#define PICK_FLOATS(name)          FOR_FLOATS(CASE_BEST, name)
#define PICK_SCALAR_FLOATS(name)   FOR_FLOATS(CASE_PLAIN, name)
#define PICK_INTEGERS(name)        FOR_INTEGERS(CASE_BEST, name)
#define PICK_NUMBERS(name)         FOR_NUMBERS(CASE_BEST, name)
#define PICK_COMPLEX(name)         FOR_COMPLEX(CASE_PLAIN, name)
#define PICK_BOOLS(name)           FOR_BOOLS(CASE_PLAIN, name)
#define PICK_FLOATS_COMPLEX(name)  PICK_FLOATS(name) PICK_COMPLEX(name)
#define PICK_NUMBERS_COMPLEX(name) PICK_NUMBERS(name) PICK_COMPLEX(name)
/* With clones for complex128. */
#define PICK_FLOATS_COMPLEX128(name) PICK_FLOATS(name) CASE_PLAIN(c64, name) CASE_BEST(c128, name)
#define PICK_FLOAT_TESTS(name)     PICK_FLOATS(name)
#define PICK_TESTS(name)           PICK_NUMBERS(name) PICK_BOOLS(name)
#define PICK_TESTS_COMPLEX(name)   PICK_TESTS(name) PICK_COMPLEX(name)
/* The same types as sets, for the inputs of the definition. */
#define SET_FLOATS          EDDY_TAKES_FLOATS
#define SET_SCALAR_FLOATS   EDDY_TAKES_FLOATS
#define SET_INTEGERS        EDDY_TAKES_INTEGERS
#define SET_NUMBERS         EDDY_TAKES_NUMBERS
#define SET_BOOLS           EDDY_TAKES_BOOLS
#define SET_TESTS           EDDY_TAKES_ORDERED
#define SET_FLOAT_TESTS     EDDY_TAKES_FLOATS
#define SET_COMPLEX         EDDY_TAKES_COMPLEX
#define SET_FLOATS_COMPLEX  EDDY_TAKES_FLOATS_COMPLEX
#define SET_FLOATS_COMPLEX128 EDDY_TAKES_FLOATS_COMPLEX
#define SET_NUMBERS_COMPLEX EDDY_TAKES_NUMBERS_COMPLEX
#define SET_TESTS_COMPLEX   EDDY_TAKES_ALL
#define ROW_INPUTS_1(types) EDDY_INPUTS({ "x", SET_##types })
#define ROW_INPUTS_2(types) EDDY_INPUTS({ "a", SET_##types }, { "b", EDDY_LIKE(0) })

#define ROW_PICK(name, types)                                                   \
    static eddy_tile_fn name##_tile(const eddy_type *in, const eddy_type *out)  \
    {                                                                           \
        (void)out;                                                              \
        switch ((int)in->dtype) { PICK_##types(name) }                          \
        return NULL;                                                            \
    }

/* The definition; the second form for a loop that may fail, with the reason (no_result). */
#define ROW_DEF(cname, type, shown, count, input_rows, rule_fn, infer_fn, more_flags) \
    const eddy_op_def eddy_op_##cname = {                                       \
        .inputs = input_rows,                                                   \
        ROW_MEMBERS(cname, type, shown, count, rule_fn, infer_fn, more_flags) };
#define ROW_CHECKED_DEF(cname, type, shown, count, input_rows, rule_fn, infer_fn, more_flags, \
                        reason)                                                 \
    const eddy_op_def eddy_op_##cname = {                                       \
        .inputs = input_rows, .no_result = reason,                              \
        ROW_MEMBERS(cname, type, shown, count, rule_fn, infer_fn, more_flags) };
#define ROW_MEMBERS(cname, type, shown, count, rule_fn, infer_fn, more_flags)   \
    .name = type, .label = shown, .min_inputs = count, .max_inputs = count, .outputs = 1, \
    .flags = EDDY_OP_ELEMENTWISE | (more_flags), .infer = infer_fn, .tile = cname##_tile, \
    .gradient = rule_fn

#define UNARY_BUILDER(cname)                                                    \
    eddy_tensor eddy_##cname(eddy_tensor x) { return eddy_apply1(&eddy_op_##cname, NULL, x); }
#define BINARY_BUILDER(cname)                                                   \
    eddy_tensor eddy_##cname(eddy_tensor a, eddy_tensor b)                      \
    {                                                                           \
        return eddy_apply2(&eddy_op_##cname, NULL, a, b);                       \
    }

/* y = f(x), of x's type; _OF: with loops defined above the row. */
#define UNARY(cname, type, shown, types, value, rule)                           \
    DECLARE_##types(TILE_UNARY, cname, value)                                   \
    UNARY_OF(cname, type, shown, types, 0, rule)
#define UNARY_OF(cname, type, shown, types, more_flags, rule)                   \
    ROW_PICK(cname, types)                                                      \
    static void cname##_gradient(eddy_rule *r)                                  \
    {                                                                           \
        const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];              \
        (void)x; (void)y; (void)dy;                                             \
        r->dx[0] = rule;                                                        \
    }                                                                           \
    ROW_DEF(cname, type, shown, 1, ROW_INPUTS_1(types),                         \
            cname##_gradient, eddy__infer_elementwise, more_flags)              \
    UNARY_BUILDER(cname)

/* y = f(x), constant almost everywhere. */
#define UNARY_FLAT(cname, type, shown, types, value)                            \
    DECLARE_##types(TILE_UNARY, cname, value)                                   \
    ROW_PICK(cname, types)                                                      \
    ROW_DEF(cname, type, shown, 1, ROW_INPUTS_1(types),                         \
            eddy_not_differentiable, eddy__infer_elementwise, 0)                \
    UNARY_BUILDER(cname)

/* y = a bool of x, whose types are FLOAT_TESTS or BOOLS. */
#define UNARY_TEST(cname, type, shown, types, more_flags, value)                \
    DECLARE_##types(TILE_UNARY, cname, value)                                   \
    ROW_PICK(cname, types)                                                      \
    ROW_DEF(cname, type, shown, 1, ROW_INPUTS_1(types),                         \
            eddy_not_differentiable, eddy__infer_comparison, more_flags)        \
    UNARY_BUILDER(cname)

/* y = f(a, b), of their common type; _OF: with loops defined above the row, and the reason if they
 * fail (eddy_op_def's no_result). */
#define BINARY(cname, type, shown, types, more_flags, value, rule_a, rule_b)    \
    DECLARE_##types(TILE_BINARY, cname, value)                                  \
    BINARY_OF(cname, type, shown, types, more_flags, NULL, rule_a, rule_b)
#define BINARY_OF(cname, type, shown, types, more_flags, reason, rule_a, rule_b) \
    ROW_PICK(cname, types)                                                      \
    static void cname##_gradient(eddy_rule *r)                                  \
    {                                                                           \
        const eddy_tensor a = r->x[0], b = r->x[1], y = r->y[0], dy = r->dy[0]; \
        (void)a; (void)b; (void)y; (void)dy;                                    \
        r->dx[0] = rule_a;                                                      \
        r->dx[1] = rule_b;                                                      \
    }                                                                           \
    ROW_CHECKED_DEF(cname, type, shown, 2, ROW_INPUTS_2(types),                 \
            cname##_gradient, eddy__infer_elementwise, more_flags, reason)      \
    BINARY_BUILDER(cname)

/* y = f(a, b), constant almost everywhere; likewise. */
#define BINARY_FLAT(cname, type, shown, types, more_flags, value)               \
    DECLARE_##types(TILE_BINARY, cname, value)                                  \
    BINARY_FLAT_OF(cname, type, shown, types, more_flags, NULL)
#define BINARY_FLAT_OF(cname, type, shown, types, more_flags, reason)           \
    ROW_PICK(cname, types)                                                      \
    ROW_CHECKED_DEF(cname, type, shown, 2, ROW_INPUTS_2(types),                 \
            eddy_not_differentiable, eddy__infer_elementwise, more_flags, reason) \
    BINARY_BUILDER(cname)

/* y = a bool of a and b, whose types are TESTS or TESTS_COMPLEX. */
#define COMPARISON(cname, type, shown, types, more_flags, value)                \
    DECLARE_##types(TILE_BINARY, cname, value)                                  \
    ROW_PICK(cname, types)                                                      \
    ROW_DEF(cname, type, shown, 2, ROW_INPUTS_2(types),                         \
            eddy_not_differentiable, eddy__infer_comparison, more_flags)        \
    BINARY_BUILDER(cname)

#endif
