/* for_types.h -- includes the header TEMPLATE, ordinary functions over an element type T, once
 * for each type of the set TYPES. The types and sets are in graph/base/element_types.h.
 *
 *   #define TEMPLATE "ops/kernels/elementwise/cross_loops.h"
 *   #define TYPES    FOR_NUMBERS_COMPLEX
 *   #include "ops/kernels/for_types.h"
 *
 *   ... EDDY_FOR_TYPE(cross, FOR_NUMBERS_COMPLEX, dtype)     cross_f32, cross_i32, ...
 *
 * for_floats.h does the same without the second line. In a template
 *
 *   T, TOTAL         the type, and the type of its sums; halves have none
 *   LOWEST, HIGHEST  its limits; halves and complex numbers have none
 *   NUMBER           of a float: the signed integer of the same width
 *   SUFFIX           f32 for float
 *   NAME(name)       name_f32 for float; if KIND(name) is defined, what KIND makes of the name
 *   LOOP(name)       name_f32_all, which EDDY_CLONES_OF(NAME(name), ...) clones
 *
 * TEMPLATE, TYPES and KIND are undefined at the end. */
#ifndef EDDY_OPS_KERNELS_FOR_TYPES_H
#define EDDY_OPS_KERNELS_FOR_TYPES_H

#include "graph/base/element_types.h"

#define EDDY_OR_BIT(suffix, ...) | EDDY_COLUMN(BIT, suffix)
#define EDDY_IS_WANTED(suffix)   ((0 TYPES(EDDY_OR_BIT, 0)) & EDDY_COLUMN(BIT, suffix))
#endif

#ifndef KIND
#define KIND(name) name
#endif
#define NAME(name) EDDY_NAME(KIND(name), SUFFIX)
#define LOOP(name) EDDY_NAME(NAME(name), all)

#if EDDY_IS_WANTED(f32)
#define SUFFIX f32
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(f64)
#define SUFFIX f64
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(i32)
#define SUFFIX i32
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(i64)
#define SUFFIX i64
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(u8)
#define SUFFIX u8
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(b8)
#define SUFFIX b8
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(f16)
#define SUFFIX f16
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(bf16)
#define SUFFIX bf16
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(c64)
#define SUFFIX c64
#include "ops/kernels/for_one_type.h"
#endif

#if EDDY_IS_WANTED(c128)
#define SUFFIX c128
#include "ops/kernels/for_one_type.h"
#endif

#undef NAME
#undef LOOP
#undef KIND
#undef TYPES
#undef TEMPLATE
