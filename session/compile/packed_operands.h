/* packed_operands.h -- constant operands in the form in which kernels read them, packed once.
 *
 * Filters and matrices that never change are packed while a plan is compiled: a product and a
 * convolution otherwise pack them in each run. Plans of a session that read the same constant in
 * the same form, such as those for several batch sizes, share the packed operand, which is freed
 * with the last of them. A form takes at most four times the memory of its operand (the values of
 * a 3x3 filter at 36 points), in most kernels about as much. */
#ifndef EDDY_SESSION_COMPILE_PACKED_OPERANDS_H
#define EDDY_SESSION_COMPILE_PACKED_OPERANDS_H

#include "session/state/internal.h"

/* Whether kernels of this plan may keep packed operands: not without EDDY_PASS_HOIST and not where
 * memory is limited. */
bool        eddy__packs_operands(const compile *c);
/* As eddy_kernel_call.pack; `packer` is a compilation. */
const void *eddy__pack_operand(void *packer, const eddy_buffer *operand, const eddy_packing *p);
/* The bytes of the packed operands that the plan and its bodies read, and those of the session. */
size_t      eddy__packed_bytes(const eddy_plan *p);
size_t      eddy__packed_bytes_of_session(eddy_session *s);
/* The plan no longer reads its packed operands. */
void        eddy__packed_release(eddy_plan *p);

#endif
