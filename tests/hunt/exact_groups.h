/* exact_groups.h -- operations that take groups of elements together: products, norms, softmax. */
#ifndef EDDY_TESTS_HUNT_EXACT_GROUPS_H
#define EDDY_TESTS_HUNT_EXACT_GROUPS_H

#include "tests/hunt/exact_nodes.h"

/* NULL if the operation is none of them. */
exact_run *exact_group_run(const char *op);

#endif
