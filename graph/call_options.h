/* call_options.h -- how a function takes over the options of a call (graph/options.h); not
 * installed. */
#ifndef EDDY_GRAPH_CALL_OPTIONS_H
#define EDDY_GRAPH_CALL_OPTIONS_H

#include "graph/graph.h"
#include "build/gen/option_members.h"

/* The first member of a list or tensor after EDDY_TAKE if the caller wrote the number 0 instead;
 * NULL there means that the option was left out. */
enum { EDDY_IS_ZERO = EDDY_OMITTED + 1 };

/* The caller's options: those that it knows over the defaults of this library; NULL: all defaults.
 *   eddy_reduce_args a = EDDY_TAKE(eddy_reduce_args, given);
 * Lists and tensors that were left out are zeroed. */
#define EDDY_TAKE(type, given)                                                        \
    (*(type *)eddy__take(&(type){ type##_DEFAULTS .size_ = sizeof(type) }, (given),   \
                         (const size_t[]){ type##_LIST_OFFSETS 0 }))

/* Copies the members that `given` has into `options`, which has the defaults; both begin with their
 * size. `offsets` are those of lists and tensors in it, ended by 0. Returns options. */
void *eddy__take(void *options, const void *given, const size_t *offsets);

/* The number in the EDDY_DEFAULT_SCALAR of a member. */
#define EDDY_DEFAULT_OF(type, member) type##_##member##_SCALAR

/* A number as an attribute, where 0 means that it was left out and -0.0 is the number 0. */
double eddy__attribute_number(double option);
/* The same for a count; as an attribute, 0 means that it was left out. False, with an error that
 * names it, for a count of 0; the operation refuses negative ones. */
bool eddy__attribute_count(eddy_graph *g, const char *what, int64_t option, int64_t *attribute);

#endif
