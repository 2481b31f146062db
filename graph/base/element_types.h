/* element_types.h -- the list of element types, and the selection of a function by element type;
 * private. docs/inside/adding-a-type.md says what a new type needs.
 *
 * The suffix of a type is the end of the names of its functions: sum_f32. Its row has the columns
 *
 *   BIT               a bit of its own, by which ops/kernels/for_types.h recognizes a member of a set
 *   DTYPE, NAME       EDDY_FLOAT32, "float32"
 *   KIND              FLOATING, HALF (computed in float32), INTEGER, BOOLEAN or COMPLEX
 *   ELEMENT, BITS     the type in C, and its size
 *   LOWEST, HIGHEST   of an integer: its limits
 *   DIGITS, EXPONENT  of a float, or of the parts of a complex number, in the place of the limits:
 *                     FLT_MANT_DIG and FLT_MAX_EXP, or what corresponds to them
 *
 * and EDDY_COLUMN(ELEMENT, f32) is float. */
#ifndef EDDY_GRAPH_BASE_ELEMENT_TYPES_H
#define EDDY_GRAPH_BASE_ELEMENT_TYPES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define EDDY_ROW_f32  (0x001, EDDY_FLOAT32, "float32", FLOATING, float, 32, 24, 128)
#define EDDY_ROW_f64  (0x002, EDDY_FLOAT64, "float64", FLOATING, double, 64, 53, 1024)
#define EDDY_ROW_i32  (0x004, EDDY_INT32, "int32", INTEGER, int32_t, 32, INT32_MIN, INT32_MAX)
#define EDDY_ROW_i64  (0x008, EDDY_INT64, "int64", INTEGER, int64_t, 64, INT64_MIN, INT64_MAX)
#define EDDY_ROW_u8   (0x010, EDDY_UINT8, "uint8", INTEGER, uint8_t, 8, 0, UINT8_MAX)
#define EDDY_ROW_b8   (0x020, EDDY_BOOL, "bool", BOOLEAN, uint8_t, 8, 0, 1)
#define EDDY_ROW_f16  (0x040, EDDY_FLOAT16, "float16", HALF, uint16_t, 16, 11, 16)
#define EDDY_ROW_bf16 (0x080, EDDY_BFLOAT16, "bfloat16", HALF, uint16_t, 16, 8, 128)
#define EDDY_ROW_c64  (0x100, EDDY_COMPLEX64, "complex64", COMPLEX, float _Complex, 64, 24, 128)
#define EDDY_ROW_c128 (0x200, EDDY_COMPLEX128, "complex128", COMPLEX, double _Complex, 128, 53, 1024)

/* Sets of types: FOR_FLOATS(M, a, b) is M(f32, a, b) M(f64, a, b). */
#define FOR_FLOATS(M, ...)          M(f32, __VA_ARGS__) M(f64, __VA_ARGS__)
#define FOR_SMALL_INTEGERS(M, ...)  M(i32, __VA_ARGS__) M(u8, __VA_ARGS__)   /* up to 32 bits */
#define FOR_INTEGERS(M, ...)        FOR_SMALL_INTEGERS(M, __VA_ARGS__) M(i64, __VA_ARGS__)
#define FOR_INDICES(M, ...)         M(i32, __VA_ARGS__) M(i64, __VA_ARGS__)
#define FOR_BOOLS(M, ...)           M(b8, __VA_ARGS__)
#define FOR_HALVES(M, ...)          M(f16, __VA_ARGS__) M(bf16, __VA_ARGS__)
#define FOR_COMPLEX(M, ...)         M(c64, __VA_ARGS__) M(c128, __VA_ARGS__)

#define FOR_NUMBERS(M, ...)         FOR_FLOATS(M, __VA_ARGS__) FOR_INTEGERS(M, __VA_ARGS__)
#define FOR_NUMBERS_COMPLEX(M, ...) FOR_NUMBERS(M, __VA_ARGS__) FOR_COMPLEX(M, __VA_ARGS__)
#define FOR_ALL_TYPES(M, ...)                                                   \
    FOR_NUMBERS_COMPLEX(M, __VA_ARGS__) FOR_BOOLS(M, __VA_ARGS__) FOR_HALVES(M, __VA_ARGS__)

/* Of the functions for a set of types, the one for type d; NULL if d is not in the set. The second
 * macro is for functions with clones (EDDY_CLONES_OF in graph/base/cpu.h). */
#define EDDY_FOR_TYPE(name, types, d)      (types(EDDY_CHOICE, name, d) NULL)
#define EDDY_BEST_FOR_TYPE(name, types, d) (types(EDDY_BEST_CHOICE, name, d) NULL)

#define EDDY_CHOICE(suffix, name, d)      (d) == EDDY_COLUMN(DTYPE, suffix) ? name##_##suffix :
#define EDDY_BEST_CHOICE(suffix, name, d)                                       \
    (d) == EDDY_COLUMN(DTYPE, suffix) ? EDDY_BEST_OF(name##_##suffix) :

/* ------------------------------------------------------------- columns -- */

#define EDDY_COLUMN(column, suffix)        EDDY_COLUMN_IN(EDDY_COLUMN_##column, suffix)
#define EDDY_COLUMN_IN(column, suffix)     EDDY_COLUMN_OF(column, EDDY_ROW_##suffix)
#define EDDY_COLUMN_OF(column, row)        column row

#define EDDY_COLUMN_BIT(bit, d, name, kind, T, bits, low, high)      bit
#define EDDY_COLUMN_DTYPE(bit, d, name, kind, T, bits, low, high)    d
#define EDDY_COLUMN_NAME(bit, d, name, kind, T, bits, low, high)     name
#define EDDY_COLUMN_KIND(bit, d, name, kind, T, bits, low, high)     kind
#define EDDY_COLUMN_ELEMENT(bit, d, name, kind, T, bits, low, high)  T
#define EDDY_COLUMN_BITS(bit, d, name, kind, T, bits, low, high)     bits
#define EDDY_COLUMN_LOWEST(bit, d, name, kind, T, bits, low, high)   low
#define EDDY_COLUMN_HIGHEST(bit, d, name, kind, T, bits, low, high)  high
#define EDDY_COLUMN_DIGITS(bit, d, name, kind, T, bits, low, high)   low
#define EDDY_COLUMN_EXPONENT(bit, d, name, kind, T, bits, low, high) high

/* name_FLOATING for a type of that kind. Sums of elements are of type EDDY_OF_KIND(EDDY_TOTAL,
 * f32). */
#define EDDY_OF_KIND(name, suffix) EDDY_NAME(name, EDDY_COLUMN(KIND, suffix))

#define EDDY_KIND_FLOATING 1
#define EDDY_KIND_HALF     2
#define EDDY_KIND_INTEGER  3
#define EDDY_KIND_BOOLEAN  4
#define EDDY_KIND_COMPLEX  5

#define EDDY_TOTAL_FLOATING double
#define EDDY_TOTAL_INTEGER  int64_t
#define EDDY_TOTAL_BOOLEAN  uint8_t
#define EDDY_TOTAL_COMPLEX  double _Complex

/* int32_t for 32. */
#define EDDY_SIGNED(bits)        EDDY_SIGNED_JOINED(bits)
#define EDDY_SIGNED_JOINED(bits) int##bits##_t

#define EDDY_NAME(name, suffix)        EDDY_NAME_JOINED(name, suffix)
#define EDDY_NAME_JOINED(name, suffix) name##_##suffix

#endif
