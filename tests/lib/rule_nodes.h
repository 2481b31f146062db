/* rule_nodes.h -- nodes for the table of shape rules (rule_table.h) that no row of the sweep has:
 * operations without a row, constants that rules read, options. */
#ifndef EDDY_TESTS_LIB_RULE_NODES_H
#define EDDY_TESTS_LIB_RULE_NODES_H

#include "../../eddy.h"

/* Builds them all. */
void rule_nodes_build(eddy_graph *g);

#endif
