/* system_calls.h -- the file functions of the system as the library calls them: counted, and failing
 * on request. The linker puts them in the place of libc's (SYSTEM_CALLS in the Makefile). */
#ifndef EDDY_TESTS_TORTURE_SYSTEM_CALLS_H
#define EDDY_TESTS_TORTURE_SYSTEM_CALLS_H

#include <stdbool.h>

/* Call `at` fails, counted from 1, or all from there on; or one in so many, by chance. */
typedef struct call_fault {
    int      at;
    int      number;                 /* errno; 0: short reads and writes of one byte */
    bool     persistent;
    unsigned one_in, seed;
} call_fault;

/* Counts calls from 0 again. */
void system_calls_begin(call_fault f);
/* No more failures; the calls since the beginning. */
int  system_calls_end(void);
/* Files that are open. */
int  system_calls_open(void);

#endif
