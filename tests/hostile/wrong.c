#include "tests/hostile/wrong.h"
#include "tests/hostile/random_arguments.h"

#include <limits.h>
#include <string.h>

#define ONE_OF(all) all[draw((int)(sizeof(all) / sizeof *(all)))]

/* ---------------------------------------------------------------- functions -- */

static int as_they_are(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    for (int i = 0; i < x.count; i++) y[i] = x.at[i];
    return x.count;
}
static int one_more(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    for (int i = 0; i < x.count; i++) y[i] = eddy_add(x.at[i], eddy_number_like(1, x.at[i]));
    return x.count;
}
static int nothing(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x, (void)y, (void)context;
    return 0;
}
static int fewer_than_none(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x, (void)y, (void)context;
    return draw(2) ? -1 : INT_MIN;
}
static int too_many(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x, (void)y, (void)context;
    return draw(2) ? EDDY_MAX_RESULTS + 1 : INT_MAX;
}
static int unset(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x, (void)y, (void)context;
    return 1 + draw(3);
}
static int others(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x, (void)context;
    const int n = 1 + draw(3);
    for (int i = 0; i < n; i++) y[i] = draw_eddy_tensor();
    return n;
}
static int less_than_three(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor first = x.count > 0 ? x.at[0] : eddy_none(NULL);
    y[0] = eddy_less(eddy_sum(eddy_cast(first, EDDY_FLOAT32)), eddy_scalar(first.graph, 3));
    return 1;
}
static int sum_of_all(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = x.count > 0 ? eddy_sum(x.at[0]) : eddy_scalar(world_graph(), 1);
    for (int i = 1; i < x.count; i++) y[0] = eddy_add(y[0], eddy_sum(x.at[i]));
    return 1;
}
static int calls_others(eddy_list x, eddy_tensor *y, void *context)
{
    (void)x, (void)context;
    y[0] = nested_tensor();
    return 1;
}
static int breaks_the_graph(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_fail(world_graph(), EDDY_INVALID_ARGUMENT, "%s", "on purpose");
    return as_they_are(x, y, context);
}
static int leaves_scopes(eddy_list x, eddy_tensor *y, void *context)
{
    if (draw(2)) eddy_scope_begin(world_graph(), "left");
    else eddy_scope_end(world_graph());
    if (draw(2)) eddy_control_clear(world_graph());
    else eddy_control_end(world_graph());
    return one_more(x, y, context);
}

eddy_function draw_eddy_function(void)
{
    static int (*const all[])(eddy_list, eddy_tensor *, void *) = {
        as_they_are, one_more, one_more, sum_of_all, sum_of_all, less_than_three, less_than_three,
        nothing, fewer_than_none, too_many, unset, others, calls_others, breaks_the_graph,
        leaves_scopes, NULL
    };
    return (eddy_function){ ONE_OF(all), draw_void_p(), draw_const_char_p(),
                            draw(2) ? draw_const_char_p() : NULL };
}

static eddy_tensor no_tensor(eddy_tensor x) { return eddy_none(x.graph); }
static eddy_tensor another(eddy_tensor x) { return draw(2) ? nested_tensor() : x; }
static eddy_tensor whole_sum(eddy_tensor x) { return eddy_sum(x); }

eddy_activation draw_eddy_activation(void)
{
    static const eddy_activation all[] = { NULL, NULL, eddy_tanh, no_tensor, another, whole_sum };
    return ONE_OF(all);
}

static eddy_tensor initial_none(eddy_graph *g, eddy_dtype d, eddy_shape s, int64_t seed)
{
    (void)d, (void)s, (void)seed;
    return eddy_none(g);
}
static eddy_tensor initial_zeros(eddy_graph *g, eddy_dtype d, eddy_shape s, int64_t seed)
{
    (void)seed;
    return eddy_zeros(g, d, s);
}
static eddy_tensor initial_other(eddy_graph *g, eddy_dtype d, eddy_shape s, int64_t seed)
{
    (void)g, (void)d, (void)s, (void)seed;
    return draw_eddy_tensor();
}

eddy_initializer_fn draw_eddy_initializer_fn(void)
{
    static const eddy_initializer_fn all[] = { NULL, NULL, initial_none, initial_zeros,
                                               initial_other };
    return ONE_OF(all);
}

static eddy_tensor reduce_none(const eddy_reduce_args *a)
{
    return eddy_none(a ? a->x.graph : NULL);
}

eddy_reduce_fn draw_eddy_reduce_fn(void)
{
    static const eddy_reduce_fn all[] = { NULL, reduce_none, eddy_sum_with, eddy_max_with };
    return ONE_OF(all);
}

static double host_double(void *data, double x)
{
    (void)data;
    return 2 * x;
}

eddy_host_function draw_eddy_host_function(void) { return draw(4) ? host_double : NULL; }

static void composes_nothing(eddy_onnx_body *b) { (void)b; }
static void composes_inputs(eddy_onnx_body *b)
{
    for (int k = 0; k < b->n_out && b->n_in > 0; k++) b->y[k] = b->x[k % b->n_in];
}
static void composes_any(eddy_onnx_body *b)
{
    for (int k = 0; k < b->n_out; k++) b->y[k] = draw_eddy_tensor();
}

void (*wrong_compose(void))(eddy_onnx_body *)
{
    static void (*const all[])(eddy_onnx_body *) = { NULL, composes_nothing, composes_inputs,
                                                     composes_any };
    return ONE_OF(all);
}

eddy_tensor (*wrong_build(void))(eddy_tensor)
{
    static eddy_tensor (*const all[])(eddy_tensor) = { NULL, NULL, whole_sum, no_tensor, another };
    return ONE_OF(all);
}

static eddy_tensor same(eddy_tensor x, void *context)
{
    (void)context;
    return x;
}
static eddy_tensor other(eddy_tensor x, void *context)
{
    (void)x, (void)context;
    return draw_eddy_tensor();
}
static eddy_tensor (*with_context(void))(eddy_tensor, void *)
{
    static eddy_tensor (*const all[])(eddy_tensor, void *) = { NULL, NULL, same, other };
    return ONE_OF(all);
}
eddy_tensor (*wrong_apply(void))(eddy_tensor, void *) { return with_context(); }
eddy_tensor (*wrong_project(void))(eddy_tensor, void *) { return with_context(); }

static eddy_tensor difference(eddy_tensor inputs, eddy_tensor outputs)
{
    return draw(2) ? eddy_sub(inputs, outputs) : draw_eddy_tensor();
}
eddy_tensor (*wrong_residual_fn(void))(eddy_tensor, eddy_tensor)
{
    return draw(2) ? difference : NULL;
}

static void transforms_wrongly(void *context, eddy_gradient_pair *pairs, int count)
{
    (void)context;
    for (int i = 0; i < count; i++) {
        if (draw(4) == 0) pairs[i].gradient = draw_eddy_tensor();
        if (draw(8) == 0) pairs[i].variable = draw_eddy_tensor();
    }
}
void (*wrong_transform(void))(void *, eddy_gradient_pair *, int)
{
    return draw(4) ? transforms_wrongly : NULL;
}

/* Of the variables, and another answer each time. */
static bool selects_wrongly(void *context, eddy_tensor variable)
{
    (void)context, (void)variable;
    return draw(3) > 0;
}
bool (*wrong_selects(void))(void *, eddy_tensor) { return draw(8) ? selects_wrongly : NULL; }

static eddy_tensor completes_wrongly(void *context, int count, const eddy_tensor *variables,
                                     const eddy_tensor *values)
{
    (void)context, (void)variables;
    return draw(2) || count < 1 ? draw_eddy_tensor() : values[count - 1];
}
eddy_tensor (*wrong_complete(void))(void *, int, const eddy_tensor *, const eddy_tensor *)
{
    return draw(8) ? completes_wrongly : NULL;
}

static eddy_tensor creates_wrongly(void *context, const eddy_variable_request *r)
{
    (void)context;
    return draw(4) ? eddy_create_variable(r) : draw_eddy_tensor();
}
eddy_variable_creator draw_eddy_variable_creator(void) { return draw(8) ? creates_wrongly : NULL; }

static void sums_wrongly(int n, const eddy_tensor *variables, eddy_tensor *x)
{
    (void)variables;
    for (int i = 0; i < n; i++)
        if (draw(2)) x[i] = draw_eddy_tensor();
}
eddy_sum_parts draw_eddy_sum_parts(void) { return draw(8) ? sums_wrongly : NULL; }

static eddy_batch_moments measures_wrongly(void *context, eddy_tensor x, eddy_dims axes)
{
    const eddy_tensor mean = eddy_moments(x, axes, .keepdims = draw(4) > 0);
    return (eddy_batch_moments){ mean, context ? mean : draw_eddy_tensor(), mean };
}
eddy_moments_function draw_eddy_moments_function(void) { return draw(8) ? measures_wrongly : NULL; }

static eddy_tensor another_time(void *context, eddy_tensor t, eddy_tensor after)
{
    (void)context, (void)after;
    return draw(4) ? eddy_identity(t) : draw_eddy_tensor();
}
eddy_again draw_eddy_again(void) { return draw(8) ? another_time : NULL; }

static bool by_chance(eddy_tensor variable, void *context)
{
    (void)variable, (void)context;
    return draw(2);
}
bool (*wrong_picks(void))(eddy_tensor, void *) { return draw(2) ? by_chance : NULL; }

static bool prepares(eddy_graph *g, eddy_type x, void *context)
{
    (void)g, (void)x, (void)context;
    return draw(2);
}
bool (*wrong_prepare(void))(eddy_graph *, eddy_type, void *) { return draw(3) ? NULL : prepares; }

/* ---------------------------------------------------------------- gradients -- */

static void passes_on(eddy_rule *r)
{
    for (int i = 0; i < r->n_dx; i++) r->dx[i] = r->dy[0];
}
static void sets_nothing(eddy_rule *r) { (void)r; }
static void sets_others(eddy_rule *r)
{
    for (int i = 0; i < r->n_dx; i++) r->dx[i] = draw_eddy_tensor();
}
static void counts_wrongly(eddy_rule *r) { r->n_dx = draw(2) ? INT_MAX : -1; }
static void refuses(eddy_rule *r) { eddy_rule_fail(r, EDDY_UNIMPLEMENTED, "%s", "on purpose"); }
static void refuses_with_ok(eddy_rule *r) { eddy_rule_fail(r, EDDY_OK, "%s", ""); }
static void has_none(eddy_rule *r) { eddy_not_differentiable(r); }

wrong_gradient_rule wrong_gradient(void)
{
    static const wrong_gradient_rule all[] = { NULL, passes_on, sets_nothing, sets_others,
                                               counts_wrongly, refuses, refuses_with_ok, has_none };
    return ONE_OF(all);
}
wrong_gradient_rule wrong_rule(void) { return wrong_gradient(); }

/* ---------------------------------------------------------------- operations -- */

static bool like_input(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static bool says_no(eddy_infer *c)
{
    (void)c;
    return false;
}
static bool fails_to_infer(eddy_infer *c) { return eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s", "no"); }
static bool sets_wrong_type(eddy_infer *c)
{
    c->out[0] = (eddy_type){ draw_eddy_dtype(), draw_eddy_shape() };
    return true;
}
static bool many_outputs(eddy_infer *c)
{
    static const int all[] = { -1, 0, 1, 3, 1000, INT_MAX, INT_MIN };
    if (!eddy_infer_outputs(c, ONE_OF(all))) return false;
    for (int i = 0; i < c->n_out; i++) c->out[i] = c->in[0];
    return true;
}
static eddy_status kernel_copies(eddy_kernel *k)
{
    memcpy(k->out[0]->data, k->in[0]->data,
           (size_t)k->in[0]->count * eddy_dtype_size(k->in[0]->type.dtype));
    return EDDY_OK;
}
static eddy_status kernel_fails(eddy_kernel *k) { return eddy_kernel_fail(k, EDDY_IO, "%s", "no"); }
static eddy_status kernel_says_only(eddy_kernel *k)
{
    (void)k;
    return EDDY_CHECK_FAILED;
}
static eddy_status prepare_takes_all(eddy_kernel *k)
{
    k->scratch_size = SIZE_MAX / 2;
    return EDDY_OK;
}
static eddy_status prepare_state(eddy_kernel *k)
{
    return eddy_kernel_state(k, SIZE_MAX / 2) ? EDDY_OK : EDDY_NO_MEMORY;
}

static const eddy_op_def ops[] = {
    { .name = "HostileCopy", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = like_input,
      .kernel = kernel_copies, .gradient = passes_on },
    { .name = "HostileNo", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = says_no,
      .kernel = kernel_copies },
    { .name = "HostileReason", .min_inputs = 1, .max_inputs = 2, .outputs = 1,
      .infer = fails_to_infer, .kernel = kernel_copies },
    { .name = "HostileType", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
      .infer = sets_wrong_type, .kernel = kernel_fails, .gradient = sets_others },
    { .name = "HostileMany", .min_inputs = 1, .max_inputs = EDDY_MANY, .outputs = EDDY_MANY,
      .infer = many_outputs, .kernel = kernel_fails, .gradient = counts_wrongly },
    { .name = "HostileFails", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = like_input,
      .kernel = kernel_says_only, .gradient = sets_nothing },
    { .name = "HostileBig", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = like_input,
      .prepare = prepare_takes_all, .kernel = kernel_fails },
    { .name = "HostileState", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = like_input,
      .prepare = prepare_state, .kernel = kernel_fails },
    { .name = "HostileEmpty" },
    { .name = "HostileNoInfer", .min_inputs = 0, .max_inputs = 3, .outputs = 1 },
    { .name = "HostileCounts", .min_inputs = 5, .max_inputs = -7, .outputs = -9,
      .infer = like_input },
    { .name = "HostileOutputs", .min_inputs = 1, .max_inputs = 1, .outputs = INT_MAX,
      .infer = says_no },
    { .name = NULL, .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = like_input },
    { .name = "", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = like_input,
      .kernel = kernel_copies },
    { .name = "%s%n", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = like_input,
      .kernel = kernel_says_only, .gradient = refuses },
};

const eddy_op_def *draw_eddy_op_def_p(void) { return draw(16) ? &ONE_OF(ops) : NULL; }
const eddy_op_def *const *draw_const_eddy_op_def_pconst_p(void)
{
    static const eddy_op_def *const all[] = { &ops[0], &ops[1], &ops[12], &ops[13], NULL };
    return draw(2) ? all : NULL;
}

/* ---------------------------------------------------------------- optimizers -- */

static void slots(eddy_optimizer *o, eddy_tensor variable)
{
    eddy_make_slot(o, variable, "slot", draw(2) ? variable : draw_eddy_tensor());
}
static eddy_tensor dense(eddy_optimizer *o, eddy_tensor g, eddy_tensor variable)
{
    (void)o;
    return draw(2) ? eddy_assign_sub(variable, g) : draw_eddy_tensor();
}
static eddy_tensor no_step(eddy_optimizer *o, eddy_tensor g, eddy_tensor variable)
{
    (void)o, (void)g, (void)variable;
    return eddy_none(NULL);
}
static eddy_tensor no_end(eddy_optimizer *o, eddy_list updates)
{
    (void)updates;
    return draw(2) ? eddy_none(eddy_optimizer_graph(o)) : draw_eddy_tensor();
}
static void step(eddy_optimizer *o, eddy_tensor g, eddy_tensor *x)
{
    (void)o;
    x[0] = draw(2) ? eddy_sub(x[0], g) : draw_eddy_tensor();
}
static void change_pairs(eddy_optimizer *o, eddy_gradient_pair *pairs, int count)
{
    (void)o;
    for (int i = 0; i < count; i++)
        if (draw(2)) pairs[i].gradient = draw_eddy_tensor();
}

const eddy_optimizer_def *draw_eddy_optimizer_def_p(void)
{
    static const eddy_optimizer_def all[] = {
        { .name = "Dense", .create_slots = slots, .apply_dense = dense },
        { .name = "NoStep", .apply_dense = no_step, .finish = no_end },
        { .name = "Step", .step = step, .slots = { "a", "", "%n" } },
        { .name = "Pairs", .step = step, .transform = change_pairs },
        { .name = "Both", .step = step, .apply_dense = dense, .state_size = 16 },
        { .name = "Nothing" },
        { .name = NULL, .step = step },
        { .name = "", .step = step, .state_size = SIZE_MAX / 2 },
    };
    return draw(16) ? &ONE_OF(all) : NULL;
}

/* ------------------------------------------------------------------- records -- */

/* The misuse of a record depends only on its number, since threads call the function too; more
 * than some hundred records are an error, so that endless pipelines end. */
static bool misuse(eddy_record *r, int64_t i)
{
    if (i < 0 || i > 300) return eddy_record_fail(r, EDDY_OUT_OF_RANGE, "record %d", (int)i);
    switch (i % 11) {
    case 3: eddy_record_make(r, -1, EDDY_FLOAT32, EDDY_SHAPE(2)); break;
    case 4: eddy_record_make(r, INT_MAX, EDDY_FLOAT32, EDDY_SHAPE(2)); break;
    case 5: eddy_record_make(r, 0, (eddy_dtype)77, EDDY_SHAPE(2)); break;
    case 6: eddy_record_make(r, 0, EDDY_FLOAT64, EDDY_SHAPE(INT64_MAX, 2)); break;
    case 7: eddy_record_set(r, 0, NULL); break;
    case 8: eddy_record_array(r, INT_MIN); break;
    case 9: eddy_record_array(r, 5); break;
    }
    return true;
}

static bool reads_numbers(void *context, int64_t epoch, int64_t i, eddy_record *out)
{
    (void)context;
    if (!misuse(out, i)) return false;
    float *p = eddy_record_make(out, 0, EDDY_FLOAT32, EDDY_SHAPE(2));
    if (p) p[0] = (float)i, p[1] = (float)epoch;
    return p;
}
static bool reads_other_shapes(void *context, int64_t epoch, int64_t i, eddy_record *out)
{
    (void)context, (void)epoch;
    if (!misuse(out, i)) return false;
    int64_t *p = eddy_record_make(out, (int)(i % 3), EDDY_INT64, EDDY_SHAPE(i % 4));
    for (int k = 0; p && k < i % 4; k++) p[k] = k;
    return true;
}
static bool ends_early(void *context, int64_t epoch, int64_t i, eddy_record *out)
{
    (void)context, (void)epoch, (void)i, (void)out;
    return false;
}
static bool says_ok_without_any(void *context, int64_t epoch, int64_t i, eddy_record *out)
{
    (void)context, (void)epoch, (void)out;
    return i < 20;
}
wrong_reader wrong_read(void)
{
    static const wrong_reader all[] = { reads_numbers, reads_numbers, reads_other_shapes,
                                        ends_early, says_ok_without_any, NULL };
    return ONE_OF(all);
}

static bool copies(void *context, eddy_record *in, eddy_record *out)
{
    (void)context;
    misuse(out, eddy_record_number(in) % 300);
    for (int i = 0; i < eddy_record_width(in); i++)
        if (!eddy_record_set(out, i, eddy_record_array(in, i))) return false;
    return true;
}
static bool writes_into_input(void *context, eddy_record *in, eddy_record *out)
{
    (void)context;
    eddy_record_make(in, 0, EDDY_FLOAT32, EDDY_SHAPE(3));
    return eddy_record_set(out, 0, eddy_record_array(in, 0));
}
static bool maps_to_nothing(void *context, eddy_record *in, eddy_record *out)
{
    (void)context, (void)in, (void)out;
    return true;
}
static bool refuses_silently(void *context, eddy_record *in, eddy_record *out)
{
    (void)context, (void)in, (void)out;
    return false;
}
wrong_mapper wrong_function(void)
{
    static const wrong_mapper all[] = { copies, copies, writes_into_input, maps_to_nothing,
                                        refuses_silently, NULL };
    return ONE_OF(all);
}

static bool keeps_even(void *context, eddy_record *r)
{
    (void)context;
    return eddy_record_number(r) % 2 == 0;
}
static bool fails_to_decide(void *context, eddy_record *r)
{
    (void)context;
    return eddy_record_fail(r, EDDY_OK, "%s", "");
}
wrong_keeper wrong_keep(void)
{
    static const wrong_keeper all[] = { keeps_even, fails_to_decide, NULL };
    return ONE_OF(all);
}

static eddy_array *loads_nothing(const char *path, const eddy_files *files, eddy_error *error)
{
    (void)path, (void)files, (void)error;
    return NULL;
}
static eddy_array *loads_number(const char *path, const eddy_files *files, eddy_error *error)
{
    (void)path, (void)files, (void)error;
    return eddy_array_of(EDDY_FLOAT32, 1);
}
wrong_loader wrong_load(void)
{
    static const wrong_loader all[] = { eddy_array_load, eddy_image_load, eddy_bytes_load,
                                        loads_nothing, loads_number, NULL };
    return ONE_OF(all);
}

static void releases_nothing(void *context) { (void)context; }
void (*wrong_release(void))(void *) { return draw(2) ? releases_nothing : NULL; }

/* -------------------------------------------------------------------- others -- */

static bool goes_on_for_a_while(void *data, int iteration, double loss)
{
    (void)data, (void)loss;
    return iteration < 20;
}
bool (*wrong_callback(void))(void *, int, double) { return draw(4) ? goes_on_for_a_while : NULL; }

static void writes_line(void *user, const char *line)
{
    (void)user;
    text_is_whole(line);
}
void (*wrong_write(void))(void *, const char *) { return draw(4) ? writes_line : NULL; }

static void handles(void *user, eddy_status s, const char *message)
{
    (void)user;
    check_status(s);
    text_is_whole(message);
}
static void clears(void *user, eddy_status s, const char *message)
{
    (void)user, (void)s, (void)message;
    eddy_graph_clear_error(world_graph());
}
static void builds_more(void *user, eddy_status s, const char *message)
{
    (void)user, (void)s, (void)message;
    eddy_scalar(world_graph(), 1);
}
void (*wrong_handler(void))(void *, eddy_status, const char *)
{
    static void (*const all[])(void *, eddy_status, const char *) = { NULL, handles, clears,
                                                                      builds_more };
    return ONE_OF(all);
}

static bool names(void *context, const char *variable, eddy_shape shape, char *entry, size_t size,
                  const char **axes)
{
    (void)context, (void)shape;
    if (draw(2)) return false;
    if (draw(2)) *axes = draw_const_char_p();
    if (draw(4) == 0) memset(entry, 'e', size);      /* without an end */
    else snprintf(entry, size, "%s", draw(2) ? variable : "same");
    return true;
}
bool (*wrong_name(void))(void *, const char *, eddy_shape, char *, size_t, const char **)
{
    return draw(3) ? NULL : names;
}
