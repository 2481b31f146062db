/* zip_writer.h -- writes ZIP archives, also damaged ones, for tests. */
#ifndef EDDY_TESTS_LIB_ZIP_WRITER_H
#define EDDY_TESTS_LIB_ZIP_WRITER_H

#include "tests/lib/files/onnx_writer.h"

#include <stdbool.h>

typedef struct zip_part {
    const char *name;
    message     data;                   /* as it is stored */
    int         method, flags;          /* as in the directory */
    uint32_t    wrong;                  /* added to the checksum of data */
    uint64_t    longer;                 /* the size without compression is that much larger */
    uint64_t    more_stored;            /* added to both sizes in the directory */
    bool        wide;                   /* its sizes and place have 64 bits */
    bool        half_wide;              /* only its place has */
    uint64_t    beyond;                 /* added to its place */
    int         extra;                  /* bytes of another extra field; -1: a cut one of sizes;
                                         * -2: an empty one that says it has a byte */
    int         far;                    /* added to the length of its extra field in front of it */
} zip_part;

/* The end of the archive. Members named `more_` are added to the right number. */
typedef struct zip_ending {
    bool        wide;                   /* a directory of 64 bits */
    const char *note;
    uint64_t    more_at, more_size, more_entries, more_record;
} zip_ending;

/* The archive; the data of the members are freed. */
message zip_of(zip_part *f, int n, zip_ending end);

#endif
