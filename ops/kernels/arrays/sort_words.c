/* sort_words.c -- sort keys (words) that pack the value and the index of an element, by element
 * type; radix_sort_loops.h sorts them. */
#include "ops/kernels/arrays/sort_words.h"
#include "graph/base/cpu.h"
#include "graph/base/dtype.h"
#include "graph/base/stop.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* SORT_PART: words between two looks at the stop. */
enum { FEW = 32, SPARE = 256, SORT_PART = 1 << 16 };

/* ---------------------------------------------------------------- sorting -- */

#define W          uint64_t
#define BITS       32
#define NAME(name) narrow_##name
#include "ops/kernels/arrays/radix_sort_loops.h"
#undef W
#undef BITS
#undef NAME

#define W          wide
#define BITS       64
#define NAME(name) broad_##name
#include "ops/kernels/arrays/radix_sort_loops.h"
#undef W
#undef BITS
#undef NAME

int64_t eddy__sort_words(int64_t n, int64_t k)
{
    const int64_t most = k + (k > SPARE ? k : SPARE);
    return n < most ? n : most;
}

/* ---------------------------------------------------------- element types -- */

#define TEMPLATE "ops/kernels/arrays/sort_words_loops.h"
#define TYPES    FOR_NUMBERS
#include "ops/kernels/for_types.h"

const eddy_words *eddy__words_of(eddy_dtype d)
{
    return EDDY_FOR_TYPE(&words, FOR_NUMBERS, eddy__dtype_as_number(d));
}
