/* random_arguments.h -- random values of the types of the public interface, by hand where their
 * members alone would be too wrong or not checkable. calls.awk finds them by name: draw_TYPE, with
 * p for a star. */
#ifndef HOSTILE_RANDOM_ARGUMENTS_H
#define HOSTILE_RANDOM_ARGUMENTS_H

#include "tests/hostile/world.h"

/* Numbers: mostly small, sometimes as extreme as the type allows. */
int64_t  draw_int64_t(void);
uint64_t draw_uint64_t(void);
size_t   draw_size_t(void);
int      draw_int(void);
int32_t  draw_int32_t(void);
uint32_t draw_uint32_t(void);
unsigned draw_unsigned(void);
double   draw_double(void);
bool     draw_bool(void);
char     draw_char(void);
int      draw_enum(int values);         /* sometimes out of range */
size_t   draw_size(size_t of);          /* of a struct of options as another program knows it */

/* Texts: formats, patterns, paths, lists of names; all static. */
const char *draw_const_char_p(void);
char       *draw_char_p(void);          /* a buffer of as many bytes as there is room for */
/* Files to read are copied from the sources to ../whole, and each world begins with them. */
void        draws_begin(const char *home);
void        draws_begin_world(void);

eddy_dtype  draw_eddy_dtype(void);
eddy_shape  draw_eddy_shape(void);
eddy_shape  draw_small_shape(void);     /* valid, few elements */
eddy_dims   draw_eddy_dims(void);
eddy_tensor draw_eddy_tensor(void);
eddy_array *draw_eddy_array_p(void);

void        *draw_void_p(void);
const void  *draw_const_void_p(void);   /* as many bytes as there is room for: a damaged file */
FILE        *draw_FILE_p(void);
eddy_error  *draw_eddy_error_p(void);
const eddy_files     *draw_eddy_files_p(void);
const eddy_allocator *draw_eddy_allocator_p(void);
eddy_array_room      *draw_eddy_array_room_p(void);
eddy_graph_block     *draw_eddy_graph_block_p(void);
const eddy_rnn_state *draw_eddy_rnn_state_p(void);  /* cells keep the pointer */
const eddy_checkpoint_map *draw_struct_eddy_checkpoint_map_p(void);

/* Contexts, which exist only in functions that the library calls: NULL. */
eddy_infer  *draw_eddy_infer_p(void);
eddy_kernel *draw_eddy_kernel_p(void);
eddy_rule   *draw_eddy_rule_p(void);
eddy_batch  *draw_eddy_batch_p(void);
eddy_parallel_fn draw_eddy_parallel_fn(void);

/* Results that own memory, freed by draws_end_call. */
eddy_restore_report  *draw_eddy_restore_report_p(void);
eddy_quantize_report *draw_eddy_quantize_report_p(void);
eddy_gradient_report *draw_eddy_gradient_report_p(void);
eddy_lbfgs_report    *draw_eddy_lbfgs_report_p(void);
eddy_kept_checkpoint *draw_eddy_kept_checkpoint_p(void);
void                  draws_end_call(void);

#endif
