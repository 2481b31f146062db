/* for_types.h -- includes the header TEMPLATE, ordinary functions over an element type T, once
 * for each of TYPES. This is the one list of types that have arithmetic.
 *
 *   #define TEMPLATE "ops/kernels/normalization/layer_norm_loops.h"
 *   #define TYPES    FOR_FLOATS
 *   #include "ops/kernels/for_types.h"
 *
 * for_floats.h does the same without the second line. In a template
 *
 *   T, TOTAL         the type, and the type of its sums
 *   LOWEST, HIGHEST  its limits; complex numbers have none
 *   NUMBER           of a float: the signed integer of the same width
 *   NAME(name)       name_f32 for float; if KIND(name) is defined, what KIND makes of the name
 *   LOOP(name)       name_f32_all, which EDDY_CLONES_OF(NAME(name), ...) clones
 *
 * TEMPLATE, TYPES and KIND are undefined at the end. */
#ifndef EDDY_OPS_KERNELS_FOR_TYPES_H
#define EDDY_OPS_KERNELS_FOR_TYPES_H

#include <math.h>
#include <stdint.h>

#define FOR_F32      1
#define FOR_F64      2
#define FOR_I32      4
#define FOR_I64      8
#define FOR_U8       16
#define FOR_B8       32
#define FOR_C64      64
#define FOR_C128     128
#define FOR_FLOATS   (FOR_F32 | FOR_F64)
#define FOR_INTEGERS (FOR_I32 | FOR_I64 | FOR_U8)
#define FOR_NUMBERS  (FOR_FLOATS | FOR_INTEGERS)
#define FOR_COMPLEX  (FOR_C64 | FOR_C128)

#define EDDY_NAME(name, suffix)        EDDY_NAME_JOINED(name, suffix)
#define EDDY_NAME_JOINED(name, suffix) name##_##suffix
#endif

#ifndef KIND
#define KIND(name) name
#endif
#define NAME(name) EDDY_NAME(KIND(name), SUFFIX)
#define LOOP(name) EDDY_NAME(NAME(name), all)

#if (TYPES) & FOR_F32
#define T       float
#define TOTAL   double
#define SUFFIX  f32
#define NUMBER  int32_t
#define LOWEST  (-INFINITY)
#define HIGHEST INFINITY
#include TEMPLATE
#undef T
#undef TOTAL
#undef SUFFIX
#undef NUMBER
#undef LOWEST
#undef HIGHEST
#endif

#if (TYPES) & FOR_F64
#define T       double
#define TOTAL   double
#define SUFFIX  f64
#define NUMBER  int64_t
#define LOWEST  ((double)-INFINITY)
#define HIGHEST ((double)INFINITY)
#include TEMPLATE
#undef T
#undef TOTAL
#undef SUFFIX
#undef NUMBER
#undef LOWEST
#undef HIGHEST
#endif

#if (TYPES) & FOR_I32
#define T       int32_t
#define TOTAL   int64_t
#define SUFFIX  i32
#define LOWEST  INT32_MIN
#define HIGHEST INT32_MAX
#include TEMPLATE
#undef T
#undef TOTAL
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#endif

#if (TYPES) & FOR_I64
#define T       int64_t
#define TOTAL   int64_t
#define SUFFIX  i64
#define LOWEST  INT64_MIN
#define HIGHEST INT64_MAX
#include TEMPLATE
#undef T
#undef TOTAL
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#endif

#if (TYPES) & FOR_U8
#define T       uint8_t
#define TOTAL   int64_t
#define SUFFIX  u8
#define LOWEST  0
#define HIGHEST UINT8_MAX
#include TEMPLATE
#undef T
#undef TOTAL
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#endif

#if (TYPES) & FOR_B8
#define T       uint8_t
#define TOTAL   uint8_t
#define SUFFIX  b8
#define LOWEST  0
#define HIGHEST 1
#include TEMPLATE
#undef T
#undef TOTAL
#undef SUFFIX
#undef LOWEST
#undef HIGHEST
#endif

#if (TYPES) & FOR_C64
#define T       float _Complex
#define TOTAL   double _Complex
#define SUFFIX  c64
#include TEMPLATE
#undef T
#undef TOTAL
#undef SUFFIX
#endif

#if (TYPES) & FOR_C128
#define T       double _Complex
#define TOTAL   double _Complex
#define SUFFIX  c128
#include TEMPLATE
#undef T
#undef TOTAL
#undef SUFFIX
#endif

#undef NAME
#undef LOOP
#undef KIND
#undef TYPES
#undef TEMPLATE
