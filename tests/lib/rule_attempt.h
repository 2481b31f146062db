/* rule_attempt.h -- asking a shape rule about a case with changes (rule_table.h), for rule_table.c,
 * which collects the answers, and rule_changes.c, which knows what to change. */
#ifndef EDDY_TESTS_LIB_RULE_ATTEMPT_H
#define EDDY_TESTS_LIB_RULE_ATTEMPT_H

#include "tests/lib/rule_table.h"

enum { RULE_ATTRS = 2048, RULE_ANSWERS = 1000, RULE_LINE = 900, RULE_SHOWN = 6 };

typedef struct rule_line {
    size_t n;
    char   text[2 * RULE_LINE];
} rule_line;

/* The answers so far, each with the changes that lead to it. */
typedef struct answer {
    char     *text;
    rule_line changes;
} answer;

/* A case that is being changed; attributes are a copy, and so is each list that it changes. */
typedef struct rule_attempt {
    rule_case        c;
    const rule_case *base;
    _Alignas(16) unsigned char attrs[RULE_ATTRS];
    bool       whole, asked;                /* asked for the case itself */
    int        n_texts, n_answers;
    const rule_text *texts;
    char       around[40];                  /* what else is changed: "0:?/" */
    answer     answers[RULE_ANSWERS];
    eddy_type  first[RULE_INPUTS * 8];      /* the outputs of the case itself */
    int        n_first;
} rule_attempt;

/* The attribute of a struct; its name and value as text. */
void *rule_member(const void *attrs, const eddy_attr_field *f);
void  rule_put_attribute(rule_line *l, const void *attrs, const eddy_attr_field *f);
/* Undoes all changes of a->c. */
void  rule_restore(rule_attempt *a);
/* Asks the rule about a->c, whose change has this name, and undoes the change. */
void  rule_ask(rule_attempt *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tries every change. */
void rule_try_changes(rule_attempt *a);

#endif
