/* weak_ops.h -- weak references to operation definitions: &eddy_op_x is NULL if x is not linked.
 *
 * A linker takes from libeddy.a only what a program refers to, directly or indirectly. The passes
 * of a session name many operations only to recognize them. If naming an operation linked it, every
 * program would contain all of them; yet an operation that no linked code builds cannot occur in a
 * graph of the program. Code that recognizes operations therefore includes this header. Its
 * references are weak: they link nothing, and where nothing else has linked a definition, they
 * compare unequal to the definition of every node.
 *
 * An operation that a pass creates must be linked wherever the pass finds its parts; the file of
 * a part declares this (ops/fusion_targets.h). Creating an operation that is not linked is no
 * error: the rule then does not apply (eddy__rewrite_add). `make size` compares the plans of
 * programs that link only the parts with the plans that the shared library makes, which has all
 * operations. */
#ifndef EDDY_WEAK_OPS_H
#define EDDY_WEAK_OPS_H

#include "graph/op.h"

/* Hidden, so that an executable or a plugin does not look for them when it is loaded. */
#if defined(__ELF__)
#define EDDY_WEAK __attribute__((weak, visibility("hidden")))
#else
#define EDDY_WEAK
#endif

#include "build/gen/weak_ops.h"

/* All of them, NULL for those that are not linked. */
extern const eddy_op_def *const eddy__linked_ops[];
extern const int                eddy__linked_op_count;

#endif
