/* exact.h -- numbers of some thousand bits from MPFR, and the functions of them that operations
 * compute. A function returns a new number, which lives until exact_begin. */
#ifndef EDDY_TESTS_HUNT_EXACT_H
#define EDDY_TESTS_HUNT_EXACT_H

#include "graph/op.h"

#include <mpfr.h>

typedef mpfr_ptr num;

/* Forgets all numbers; new ones have this many bits. */
void exact_begin(int bits);
void exact_end(void);
int  exact_bits(void);
/* Of numbers from now on; returns how many it was. */
int  exact_set_bits(int bits);

num exact_number(double x);
num exact_add(num a, num b);
num exact_sub(num a, num b);
num exact_mul(num a, num b);
num exact_div(num a, num b);
num exact_sqrt(num x);
num exact_exp(num x);
num exact_log(num x);

/* An elementwise operation on the elements x of its inputs, n of them. */
typedef num exact_fn(const eddy_node *node, int n, const num *x);
/* NULL if it is not known. */
exact_fn *exact_function(const char *op);
/* Special functions: error functions, gamma, beta and Bessel functions. */
exact_fn *exact_special_function(const char *op);
/* fn(node, n, x), which does not depend on the node, computed once for the same numbers. */
num  exact_remembered(exact_fn *fn, const eddy_node *node, int n, const num *x);
void exact_forget(void);

#endif
