/* diff.h -- what the comparisons of graphs and of checkpoints share. */
#ifndef COMMAND_DIFF_H
#define COMMAND_DIFF_H

#include "command/model.h"

/* Prints a difference: removed if `is` is NULL, added if `was` is NULL;
 * changed as `is` says if `was` is empty. */
void difference(const char *kind, const char *name, const char *was, const char *is);
/* How the elements of arrays of one type differ beyond the tolerance; NULL if they do not. */
const char *arrays_differ(const eddy_array *a, const eddy_array *b);
void diff_graphs(const model *a, const model *b);

#endif
