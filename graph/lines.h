/* lines.h -- the lines of C that build nodes, for messages and tools.
 *
 *   cc -DEDDY_LINES -c model.c
 *
 * In a source that is compiled with EDDY_LINES, each call of the core that builds nodes first notes
 * its file and line for the thread, and nodes remember them. Messages then name the line of a node,
 * those of runs and of .check_numerics included:
 *
 *   MatMul(float32[?,512], float32[784,10]): inner dimensions 512 and 784 differ
 *   [node 'logits/MatMul', model.c:42]
 *
 * A node has the last line that was noted before it was built. So nodes of a layer or of gradients
 * have the line of the call that asked for them; a call whose arguments call other functions of the
 * program may have a line in those, since C evaluates arguments first, and a loop has that of the
 * last call in its body. Sources without EDDY_LINES, and the libraries beside the core, note
 * nothing: compile all sources that build nodes with it, or none. It costs a few nanoseconds and 16
 * bytes a node; without it, nothing. Functions that are passed as values, such as
 * .activation = eddy_relu, note nothing. */
#ifndef EDDY_LINES_H
#define EDDY_LINES_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The line that built the node of t, and in *file its source as the compiler names it, which
 * belongs to the graph; file may be NULL. 0 and "" if it is not known. */
EDDY_API int eddy_line_of(eddy_tensor t, const char **file);

/* The line of the calls that follow in this thread, for other languages and generators of C. `file`
 * must live until the next call; NULL: no line. A module that is unloaded calls it with NULL
 * first. */
EDDY_API void eddy_line_(const char *file, int line);

#ifdef __cplusplus
}
#endif
#endif
