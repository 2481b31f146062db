/* levels.h -- for tests that run with one instruction set after the other. */
#ifndef EDDY_TESTS_LIB_LEVELS_H
#define EDDY_TESTS_LIB_LEVELS_H

#include "graph/base/cpu.h"

/* Limits loops to an instruction set. False if this processor does not have it, so that the test
 * would repeat the set before. */
static inline bool limit_to(int set)
{
    eddy__instructions_limit((eddy_instructions)set);
    return (int)eddy__instructions_used() == set;
}

#endif
