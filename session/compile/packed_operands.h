/* packed_operands.h -- constant operands in the form in which kernels read them, packed once.
 *
 * Filters and matrices that never change are packed while a plan is compiled: a product and a
 * convolution otherwise pack them in each run. Plans of a session that read the same constant in
 * the same form, such as those for several batch sizes, share the packed operand, which is freed
 * with the last of them. A form takes about the memory of its operand in most kernels, four times
 * as much for 3x3 filters with minimal filtering (36 points instead of 9); columns, or channels of
 * the result, are filled up to whole vectors, so a few of them take as much as 16 or 32. */
#ifndef EDDY_SESSION_COMPILE_PACKED_OPERANDS_H
#define EDDY_SESSION_COMPILE_PACKED_OPERANDS_H

#include "session/state/internal.h"

/* Whether kernels of this plan may keep packed operands: not without EDDY_PASS_HOIST and not where
 * memory is limited. */
bool        eddy__packs_operands(const compile *c);
/* As eddy_kernel_call.pack; `packer` is a compilation. */
const void *eddy__pack_operand(void *packer, const eddy_buffer *operand, const eddy_packing *p,
                               eddy_shared_packing **shared);
/* The bytes of the packed operands that the plan and its bodies read, and those of the session. */
size_t      eddy__packed_bytes(const eddy_plan *p);
size_t      eddy__packed_bytes_of_session(eddy_session *s);
/* The plan no longer reads its packed operands. */
void        eddy__packed_release(eddy_plan *p);

#endif
