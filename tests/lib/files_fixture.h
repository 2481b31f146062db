/* files_fixture.h -- files in memory, a new graph that uses them and a session of it for each case of
 * a suite, which adds `setup` and `teardown` to its cases. */
#ifndef EDDY_TESTS_LIB_FILES_FIXTURE_H
#define EDDY_TESTS_LIB_FILES_FIXTURE_H

#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"

static memory_files  files;
static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    memory_files_init(&files);
    g = eddy_graph_new(.files = &files.table);
    s = eddy_session_new(g);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
    memory_files_free(&files);
}

#endif
