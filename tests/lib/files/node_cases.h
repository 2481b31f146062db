/* node_cases.h -- single nodes of models as texts, and the ways to damage them, for tests of
 * readers.
 *
 * A tensor is a letter for its type, its sizes and its elements: "f[2,2] 1 2 3 4", "i 3". Letters:
 * f, d floating; h half; i, l int32, int64; j int8; u uint8; b bool; z complex64, two numbers for
 * each element; s strings. Without elements, they are any numbers. Inputs are constants; "?" before
 * one makes it an input that is fed, "~" one whose sizes are not known before, "*" one whose rank is
 * not known either, "&" a sequence of two of it; "-" alone is an input that is left out. Attributes
 * are separated by spaces; what is after "=" is for the writer of the model. */
#ifndef EDDY_TESTS_LIB_NODE_CASES_H
#define EDDY_TESTS_LIB_NODE_CASES_H

#include "graph/graph.h"

enum { CASE_INPUTS = 12, CASE_ATTRIBUTES = 12, CASE_ELEMENTS = 64 };

typedef struct case_tensor {
    char    kind, letter;           /* 'c' for a constant, or as in the text */
    int     rank, n;
    int64_t dims[EDDY_MAX_RANK];
    double  at[CASE_ELEMENTS];
} case_tensor;

/* Reads up to a semicolon; the rest of the text. */
const char *case_tensor_parse(const char *text, case_tensor *t);
eddy_dtype  case_tensor_dtype(const case_tensor *t);    /* int32 for int8 and strings */
/* NULL if there is no array of these sizes. */
eddy_array *case_tensor_array(const case_tensor *t);

typedef struct node_case {
    const char *op;
    int         opset, n_in, n_out, n_attributes;
    case_tensor in[CASE_INPUTS];
    char        attributes[CASE_ATTRIBUTES][100];
} node_case;

/* opset 0: the format has neither operator sets nor numbers of outputs. */
node_case node_case_of(const char *op, int opset, const char *inputs, const char *attributes,
                       int n_out);
/* Calls `with` for the node with one thing changed, in each way, then with two things changed, in
 * some ways: inputs and attributes left out, too many, of another kind, type, rank, size, empty, out
 * of range, and so on. The texts of attributes are changed by their first characters: numbers; numbers
 * with a point; [lists]; 'words; %graphs; anything else. */
void node_case_damage(const node_case *c, void (*with)(const node_case *c, void *context),
                      void *context);

#endif
