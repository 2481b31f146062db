/* rule_lines.h -- attributes, arrays and messages as text, for tables of shape rules. */
#ifndef EDDY_TESTS_LIB_RULE_LINES_H
#define EDDY_TESTS_LIB_RULE_LINES_H

#include "graph/op.h"

enum { RULE_LINE = 1800 };

typedef struct rule_line {
    size_t n;
    char   text[RULE_LINE];
} rule_line;

/* They append to the line; the test fails if it is too long. */
void rule_put(rule_line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rule_put_list(rule_line *l, int64_t n, const int64_t *at);
void rule_put_array(rule_line *l, const eddy_array *a);
/* "axis=1" */
void rule_put_attribute(rule_line *l, const void *attrs, const eddy_attr_field *f);
/* "float64[n,1,?]": which dimensions are unknown, 0 or 1. */
void rule_put_kind(rule_line *l, eddy_type t);
/* A message with # for each number and shape in it: other golden files have these. */
void rule_put_shortened(rule_line *l, const char *text, const char *end);

/* The attribute in the struct of all. */
void *rule_member(const void *attrs, const eddy_attr_field *f);

#endif
