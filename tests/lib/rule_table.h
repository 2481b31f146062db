/* rule_table.h -- what the shape rule of an operation answers to the inputs and attributes of a
 * node, and to those that differ from them in one place: a rank, a dimension, an element type, an
 * attribute, the number of inputs. The answers are lines of a golden file (tests/lib/golden.h). */
#ifndef EDDY_TESTS_LIB_RULE_TABLE_H
#define EDDY_TESTS_LIB_RULE_TABLE_H

#include "graph/op.h"

enum { RULE_INPUTS = 8 };

/* The arguments of a shape rule. Attributes and values belong to the node's graph. */
typedef struct rule_case {
    const eddy_op_def *op;
    const void        *attrs;
    int                n;
    eddy_type          in[RULE_INPUTS];
    const eddy_array  *value[RULE_INPUTS];      /* NULL where the rule does not read elements */
    char               title[800];              /* "Concat(float64[3,4], float64[3,4]) axis=1" */
    char               kind[800];               /* the same with less of the shapes */
} rule_case;

/* False if the node has too many inputs, or graphs among its attributes. */
bool rule_case_of(rule_case *c, const eddy_node *node);

/* The golden lines of a case: its title, the answer to most changes, and a line for each other answer
 * with the changes that lead to it; if `whole`, also those of changes to inputs of which less is
 * known. `texts` are texts to try for attributes, with the names of these. */
typedef struct rule_text {
    const char *attribute, *text;
} rule_text;
void rule_table_add(const rule_case *c, bool whole, int n_texts, const rule_text *texts);

#endif
