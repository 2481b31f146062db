/* widen.h -- arithmetic on float16 and bfloat16: such elements are cast to float32 for a kernel,
 * and its results are rounded back (graph/op.h, EDDY_INPUTS). */
#ifndef EDDY_SESSION_COMPILE_WIDEN_H
#define EDDY_SESSION_COMPILE_WIDEN_H

#include "session/compile/ir.h"

/* True if the operation computes with input i, of this type, in float32. */
bool eddy__input_widens(const eddy_op_def *op, int i, eddy_dtype d);

/* True if the kernel takes 16-bit operands, of which a and b are the first two, and yields such a
 * result: then nothing is cast. */
bool eddy__kernel_widens(const eddy_op_def *op, const void *attrs, eddy_type a, eddy_type b);

/* Puts the casts into the IR as nodes, so that loops include them. Equal casts are merged only if no
 * kernel runs between their readers: elsewhere the float32 copy of a value would stay in memory from
 * its first reader to the last. */
bool eddy__widen(compile *c);

#endif
