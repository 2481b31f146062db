/* lines.h -- the lines of C that build nodes, for messages and tools.
 *
 *   cc -DEDDY_LINES -c model.c
 *
 * In a source that is compiled with EDDY_LINES, each call that builds nodes first notes its file and
 * line for the thread, and nodes remember them. Messages then name the line of a node, those of runs
 * and of .check_numerics included:
 *
 *   MatMul(float32[?,512], float32[784,10]): inner dimensions 512 and 784 differ
 *   [node 'logits/MatMul', model.c:42]
 *
 * Nodes that the library builds, such as those of a layer or of gradients, have the line of the call
 * that asked for them. A call in a source without EDDY_LINES leaves the line
 * of the call before, so compile all sources that build nodes with it, or none. It costs a few
 * nanoseconds and 16 bytes a node; without it, nothing. Functions that are passed as values, such as
 * .activation = eddy_relu, note nothing. */
#ifndef EDDY_LINES_H
#define EDDY_LINES_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The line that built the node of t, and in *file its source as the compiler names it, which belongs to
 * the graph; file may be NULL. 0 and "" if it is not known. */
EDDY_API int eddy_line_of(eddy_tensor t, const char **file);

/* The line of the calls that follow in this thread, for other languages and generators of C: `file`
 * must live until the next call; NULL: no line. */
EDDY_API void eddy_line_(const char *file, int line);

#ifdef __cplusplus
}
#endif
#endif
