/* graph_fixture.h -- a new graph for each case of a suite, which adds `setup` and `teardown` to its
 * cases. */
#ifndef EDDY_TESTS_LIB_GRAPH_FIXTURE_H
#define EDDY_TESTS_LIB_GRAPH_FIXTURE_H

#include "tests/lib/checks.h"

static eddy_graph *g;

static void setup(void)
{
    g = eddy_graph_new();
    ck_assert_ptr_nonnull(g);
}

static void teardown(void) { eddy_graph_free(g); }

#endif
