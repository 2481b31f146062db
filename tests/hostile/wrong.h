/* wrong.h -- functions that the library calls back: some of them fail, count wrongly, or return
 * tensors that are not theirs. calls.awk finds them by the name of the parameter or member. */
#ifndef HOSTILE_WRONG_H
#define HOSTILE_WRONG_H

#include "autodiff/compute_again.h"
#include "layers/batch_moments.h"
#include "layers/variable_creator.h"
#include "optim/variable_parts.h"
#include "tests/hostile/world.h"

eddy_function       draw_eddy_function(void);
eddy_activation     draw_eddy_activation(void);
eddy_initializer_fn draw_eddy_initializer_fn(void);
eddy_reduce_fn      draw_eddy_reduce_fn(void);
eddy_host_function  draw_eddy_host_function(void);
const eddy_optimizer_def *draw_eddy_optimizer_def_p(void);
const eddy_op_def  *draw_eddy_op_def_p(void);
const eddy_op_def *const *draw_const_eddy_op_def_pconst_p(void);

/* Of records, which threads of the library may call. */
typedef bool (*wrong_reader)(void *context, int64_t epoch, int64_t i, eddy_record *out);
typedef bool (*wrong_mapper)(void *context, eddy_record *in, eddy_record *out);
typedef bool (*wrong_keeper)(void *context, eddy_record *r);
typedef eddy_array *(*wrong_loader)(const char *path, const eddy_files *files, eddy_error *error);
wrong_reader wrong_read(void);
wrong_mapper wrong_function(void);
wrong_keeper wrong_keep(void);
wrong_loader wrong_load(void);
void (*wrong_release(void))(void *context);

/* Of nodes. */
typedef void (*wrong_gradient_rule)(eddy_rule *r);
wrong_gradient_rule wrong_gradient(void);
wrong_gradient_rule wrong_rule(void);
eddy_tensor (*wrong_build(void))(eddy_tensor x);
eddy_tensor (*wrong_apply(void))(eddy_tensor value, void *context);
eddy_tensor (*wrong_project(void))(eddy_tensor x, void *context);
eddy_tensor (*wrong_residual_fn(void))(eddy_tensor inputs, eddy_tensor outputs);
void (*wrong_transform(void))(void *context, eddy_gradient_pair *pairs, int count);
bool (*wrong_selects(void))(void *context, eddy_tensor variable);
eddy_tensor (*wrong_complete(void))(void *context, int count, const eddy_tensor *variables,
                                    const eddy_tensor *values);
eddy_variable_creator draw_eddy_variable_creator(void);
eddy_again            draw_eddy_again(void);
eddy_sum_parts        draw_eddy_sum_parts(void);
eddy_moments_function draw_eddy_moments_function(void);
bool (*wrong_picks(void))(eddy_tensor variable, void *context);
bool (*wrong_prepare(void))(eddy_graph *g, eddy_type x, void *context);

/* Others. */
void (*wrong_compose(void))(eddy_onnx_body *b);
bool (*wrong_callback(void))(void *data, int iteration, double loss);
void (*wrong_write(void))(void *user, const char *line);
void (*wrong_handler(void))(void *user, eddy_status s, const char *message);
bool (*wrong_name(void))(void *context, const char *variable, eddy_shape shape, char *entry,
                         size_t size, const char **axes);

#endif
