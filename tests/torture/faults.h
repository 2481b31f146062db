/* faults.h -- malloc and its relatives for the whole process, libraries included, which count blocks
 * and fail on request. */
#ifndef EDDY_TESTS_TORTURE_FAULTS_H
#define EDDY_TESTS_TORTURE_FAULTS_H

#include <stdbool.h>

/* Which calls fail: call `at`, counted from 1, or all from there on; or one in so many, by chance. */
typedef struct faults {
    long     at;
    bool     persistent;
    unsigned one_in, seed;
} faults;

/* Counts calls from 0 again. */
void faults_begin(faults f);
/* No more failures. */
void faults_end(void);
/* Since the beginning: calls, and those that failed. */
long faults_calls(void);
long faults_failed(void);
/* Blocks that have not been freed. */
long faults_blocks(void);

#endif
