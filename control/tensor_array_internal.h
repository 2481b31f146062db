/* tensor_array_internal.h -- declarations shared by the files of tensor arrays. */
#ifndef EDDY_CONTROL_TENSOR_ARRAY_INTERNAL_H
#define EDDY_CONTROL_TENSOR_ARRAY_INTERNAL_H

#include "control/internal.h"
#include "control/tensor_array.h"

/* Records an error that names the array. */
void eddy__array_fail(eddy_tensor_array *a, eddy_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The number of elements for which the array has room; EDDY_ANY. */
int64_t eddy__array_rows(const eddy_tensor_array *a);
/* Gives a dynamic array room for n elements. */
void    eddy__array_grow(eddy_tensor_array *a, int64_t n);
/* The largest of constant indices; -1 if they are not constant, or one is too large for any
 * array. */
int64_t eddy__array_largest(eddy_tensor indices);

/* Checks, with the error on the graph: the array is usable; and has values; `index` is an integer
 * tensor of this rank; `value` is a tensor of the graph; an element may have the type of `value`
 * with shape s, which is then noted. */
bool eddy__array_is_ready(eddy_tensor_array *a);
bool eddy__array_has_values(eddy_tensor_array *a);
bool eddy__array_is_index(eddy_tensor_array *a, eddy_tensor index, int rank);
bool eddy__array_is_value(eddy_tensor_array *a, eddy_tensor value);
bool eddy__array_takes(eddy_tensor_array *a, eddy_tensor value, eddy_shape s);

/* Writes rows at a vector of indices; the elements at indices of any shape. */
void        eddy__array_put(eddy_tensor_array *a, eddy_tensor indices, eddy_tensor rows);
eddy_tensor eddy__array_get(const eddy_tensor_array *a, eddy_tensor indices);

#endif
