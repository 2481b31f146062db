/* golden.h -- messages compared with a file under tests/golden, a line each,
 * in the order in which the test provokes them.  With EDDY_WRITE_GOLDEN set
 * the file is written instead; read the difference before keeping it. */
#ifndef EDDY_TESTS_LIB_GOLDEN_H
#define EDDY_TESTS_LIB_GOLDEN_H

#include "tests/lib/checks.h"

/* Opens tests/golden/NAME.txt; one at a time. */
void golden_begin(const char *name);
/* The next line of the file must be this message.  A newline in it is written \n. */
void golden_line(const char *message);
/* The graph has failed with the next line; the error is then cleared. */
void golden_graph(eddy_graph *g);
/* The error carries the next line; it is then cleared. */
void golden_error(eddy_error *e);
/* Calls `attempt` with the first allocation failing, then the second, and so on, until all succeed.
 * `attempt` stores its error in *e; it may count from a later allocation by adding f->calls to
 * f->at. All memory must be released. The file's lines up to an empty one must be among the
 * messages, numbers aside: further messages depend on the sizes of structs, and such a line may be
 * deleted from the file. */
struct failing_allocator;
void golden_no_memory(void (*attempt)(struct failing_allocator *f, eddy_error *e));
/* In an attempt: clears an error about memory for a node, its name or its attributes, because it
 * depends on the sizes of structs which node needs a new block of memory. */
void golden_forget_nodes(eddy_error *e);
/* Every line has been used. */
void golden_end(void);

#endif
