/* region.h -- memory that a reader takes piece by piece and frees at once. */
#ifndef EDDY_FORMATS_REGION_H
#define EDDY_FORMATS_REGION_H

#include "wire.h"

/* Zero-initialize it. */
typedef struct region {
    struct region_block *blocks;
    size_t              used, size;     /* of the last block */
    bool                full;           /* an allocation failed */
} region;

/* count zeroed elements of this size; NULL, and full, if out of memory. 0 elements give a valid
 * address. */
void *eddy__region_take(region *a, size_t count, size_t size);
/* A copy with a zero at the end, cut at the first zero within; NULL if out of memory. */
const char *eddy__region_text(region *a, wire_bytes b);
const char *eddy__region_print(region *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void  eddy__region_free(region *a);

#endif
