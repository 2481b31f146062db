/* odd_files.h -- a file system with one file, "f", whose functions may fail, lie or be missing. */
#ifndef EDDY_TESTS_LIB_ODD_FILES_H
#define EDDY_TESTS_LIB_ODD_FILES_H

#include "tests/lib/files/memory_files.h"

typedef struct odd_files {
    int64_t      size;                  /* what size() says; 0: the truth; -1: it fails */
    int64_t      extra;                 /* added to the number of bytes that read() says */
    int          interrupted, number;   /* so many reads or writes fail; errno of these and of size() */
    int          missing;               /* 1 open, 2 read, 3 size, 4 close, 5 write; 0: none */
    int64_t      written;               /* write() says one less and writes nothing; 0: the truth */
    memory_files files;                 /* only its fault is set before */
} odd_files;

/* Sets odd->files up, with these bytes as "f"; the caller frees it. The table uses odd. */
eddy_files odd_files_begin(odd_files *odd, const void *p, size_t n);

#endif
