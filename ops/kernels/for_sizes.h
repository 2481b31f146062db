/* for_sizes.h -- includes the header TEMPLATE, ordinary functions that move elements of any type,
 * once for each size of an element: 1, 2, 4, 8 and 16 bytes.
 *
 *   #define TEMPLATE "ops/kernels/arrays/box_copy_loops.h"
 *   #include "ops/kernels/for_sizes.h"
 *
 * In a template U is a type of that size, and NAME(name) is name_8 for 8 bits. An element may be
 * of any type and, if complex, aligned to half its size. TEMPLATE is undefined at the end. */
#ifndef EDDY_OPS_KERNELS_FOR_SIZES_H
#define EDDY_OPS_KERNELS_FOR_SIZES_H

#include <stdint.h>

typedef uint8_t  __attribute__((may_alias))             eddy_bits8;
typedef uint16_t __attribute__((may_alias))             eddy_bits16;
typedef uint32_t __attribute__((may_alias))             eddy_bits32;
typedef uint64_t __attribute__((may_alias, aligned(4))) eddy_bits64;
typedef struct __attribute__((may_alias)) eddy_bits128 { eddy_bits64 a, b; } eddy_bits128;

#define EDDY_OF_SIZE(name, size)        EDDY_OF_SIZE_JOINED(name, size)
#define EDDY_OF_SIZE_JOINED(name, size) name##_##size

/* Of the functions that TEMPLATE has defined, the one for elements of `size` bytes. */
#define EDDY_FOR_SIZE(name, size)                                                               \
    ((size) == 1 ? name##_8 : (size) == 2 ? name##_16 : (size) == 4 ? name##_32                 \
                 : (size) == 8 ? name##_64 : name##_128)
#endif

#define NAME(name) EDDY_OF_SIZE(name, SIZE)

#define U    eddy_bits8
#define SIZE 8
#include TEMPLATE
#undef U
#undef SIZE

#define U    eddy_bits16
#define SIZE 16
#include TEMPLATE
#undef U
#undef SIZE

#define U    eddy_bits32
#define SIZE 32
#include TEMPLATE
#undef U
#undef SIZE

#define U    eddy_bits64
#define SIZE 64
#include TEMPLATE
#undef U
#undef SIZE

#define U    eddy_bits128
#define SIZE 128
#include TEMPLATE
#undef U
#undef SIZE

#undef NAME
#undef TEMPLATE
