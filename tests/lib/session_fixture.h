/* session_fixture.h -- a new graph and a session of it for each case of a suite, which adds `setup`
 * and `teardown` to its cases. */
#ifndef EDDY_TESTS_LIB_SESSION_FIXTURE_H
#define EDDY_TESTS_LIB_SESSION_FIXTURE_H

#include "tests/lib/checks.h"

static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
    ck_assert_ptr_nonnull(s);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

#endif
