/* variable.c -- variables, initialization and assignment.
 *
 * The output of the Variable node is the value before the run, regardless of updates in the run;
 * eddy_read with a control dependency on an update returns the updated value. */
#include "ops/math/elementwise_rows.h"
#include "graph/call_options.h"
#include "ops/state/variable.h"
#include "graph/internal.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_variable_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_variable_args));
    eddy_graph *graph;
    eddy_tensor initial_value;     /* required; determines the shape and dtype */
    bool        not_trainable;     /* not added to EDDY_TRAINABLE_VARIABLES */
    bool        no_validate_shape; /* unknown shape, set by initializer or eddy_variable_set */
    eddy_dtype  dtype;             /* casts the initial value; default its type */
    const char *name;              /* default "Variable" */
    eddy_constraint constraint;    /* applied by optimizers after each dense update; default none */
} eddy_variable_args;
#endif

/* ------------------------------------------------------------- variable -- */

typedef struct variable_attrs {
    eddy_dtype dtype;
    eddy_shape shape;
    bool       trainable;
} variable_attrs;
static bool variable_infer(eddy_infer *c)
{
    const variable_attrs *a = c->attrs;
    c->out[0] = (eddy_type){ a->dtype, a->shape };
    return true;
}

const eddy_op_def eddy_op_variable = {
    .name = "Variable", .outputs = 1, .flags = EDDY_OP_VARIABLE | EDDY_OP_STATEFUL,
    .attrs_size = sizeof(variable_attrs),
    .attrs = EDDY_ATTRS(variable_attrs, dtype, shape, trainable),
    .infer = variable_infer, .gradient = eddy_not_differentiable,
};

static eddy_tensor assign_named(eddy_tensor var, eddy_tensor value, bool no_validate_shape,
                                const char *name);

/** A variable: a tensor whose value is kept in the session from run to run.
 *
 *  As a tensor, it is the value before the run.  Its initializer is the assignment
 *  "<name>/Assign", which eddy_initializer runs.  It is added to EDDY_GLOBAL_VARIABLES and,
 *  unless not_trainable, to EDDY_TRAINABLE_VARIABLES.
 *  Errors: EDDY_INVALID_ARGUMENT without an initial value; at run time, EDDY_UNINITIALIZED if it
 *  is read before it has a value.  TensorFlow: Variable. */
eddy_tensor eddy_variable_with(const eddy_variable_args *given)
{
    eddy_variable_args args = EDDY_TAKE(eddy_variable_args, given);
    eddy_tensor value = args.initial_value;
    eddy_graph *g = args.graph ? args.graph : value.graph;
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    if (!eddy_is_valid(value) || eddy_outputs_of(value) == 0)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "Variable: no initial value for '%.200s'",
                         args.name ? args.name : "Variable");
    eddy_control_clear(g);
    if (args.dtype != EDDY_DEFAULT_DTYPE && args.dtype != eddy_dtype_of(value))
        value = eddy_cast(value, args.dtype);
    variable_attrs a = {
        .dtype = eddy_dtype_of(value), .trainable = !args.not_trainable,
        .shape = args.no_validate_shape ? EDDY_UNKNOWN_SHAPE : eddy_shape_of(value),
    };
    eddy_tensor var = eddy_apply(&eddy_op_variable, &a, 0, NULL,
                                 (eddy_apply_args){ .graph = g, .name = args.name });
    if (eddy_is_valid(var)) {
        char scope[EDDY_MAX_NAME];
        snprintf(scope, sizeof scope, "%s/", eddy_name_of(var));
        eddy__scope_enter(g, scope);
        eddy_tensor init = assign_named(var, value, args.no_validate_shape, "Assign");
        eddy_scope_end(g);
        eddy_collection_add(g, EDDY_GLOBAL_VARIABLES, var);
        if (a.trainable) eddy_collection_add(g, EDDY_TRAINABLE_VARIABLES, var);
        eddy_collection_add(g, EDDY_INITIALIZERS, init);
        if (args.constraint.apply) var = eddy_variable_constrain(var, args.constraint);
    }
    eddy_control_end(g);
    return var;
}

/** Returns the operation that runs the initializers of all global variables.
 *
 *  Call it after the last variable is built, including optimizer slots.  Each call builds a node.
 *  TensorFlow: global_variables_initializer. */
eddy_tensor eddy_initializer(eddy_graph *g)
{
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    int          n = eddy_collection_size(g, EDDY_INITIALIZERS);
    size_t       bytes = (size_t)n * sizeof(eddy_tensor);
    eddy_tensor *all = eddy__allocate(eddy__graph_allocator(g), bytes);
    if (!all) return eddy_fail(g, EDDY_NO_MEMORY, "initializer: out of memory");
    eddy_collection_get(g, EDDY_INITIALIZERS, NULL, all, n);
    eddy_control_clear(g);
    eddy_tensor t = eddy_group(g, (eddy_list){ n, all }, "init");
    eddy_control_end(g);
    eddy__release(eddy__graph_allocator(g), all, bytes);
    return t;
}

/* --------------------------------------------------------------- assign -- */

typedef struct assign_attrs {
    bool validate_shape;
} assign_attrs;
static bool update_infer(eddy_infer *c)
{
    const assign_attrs *a = c->attrs;
    eddy_shape var = c->in[0].shape, value = c->in[1].shape;
    bool free_shape = a && !a->validate_shape;
    if (!free_shape && !eddy_shape_compatible(var, value))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "Shapes of variable and value are incompatible");
    c->out[0] =
        (eddy_type){ c->in[0].dtype, free_shape || !eddy_shape_is_known(var) ? value : var };
    return true;
}

eddy_status eddy__variable_ready(eddy_kernel *k)
{
    if (!k->in[0]->state || k->in[0]->state->initialized) return EDDY_OK;
    return eddy_kernel_fail(k, EDDY_UNINITIALIZED, "Attempting to use uninitialized value");
}

/* Copied only if the output has memory of its own. */
eddy_status eddy__variable_yield(eddy_kernel *k)
{
    if (k->n_out > 0 && k->out[0]->data != k->in[0]->data && k->out[0]->count > 0)
        memcpy(k->out[0]->data, k->in[0]->data,
               (size_t)k->out[0]->count * eddy_dtype_size(k->out[0]->type.dtype));
    return EDDY_OK;
}

static eddy_status assign_kernel(eddy_kernel *k)
{
    eddy_buffer *var = k->in[0], *value = k->in[1];
    if (value->count != var->count) return EDDY_BAD_SHAPE;     /* the caller allocated the memory */
    size_t bytes = (size_t)value->count * eddy_dtype_size(value->type.dtype);
    if (bytes > 0 && var->data != value->data) memmove(var->data, value->data, bytes);
    if (var->state) var->state->initialized = true;
    return eddy__variable_yield(k);
}

/* y = the operand, for each element size. */
static eddy_status take_1(int64_t n, void *y, const void *const *x, const void *attrs)
{
    (void)attrs;
    memcpy(y, x[1], (size_t)n);
    return EDDY_OK;
}
static eddy_status take_4(int64_t n, void *y, const void *const *x, const void *attrs)
{
    return take_1(4 * n, y, x, attrs);
}
static eddy_status take_8(int64_t n, void *y, const void *const *x, const void *attrs)
{
    return take_1(8 * n, y, x, attrs);
}
static eddy_status take_16(int64_t n, void *y, const void *const *x, const void *attrs)
{
    return take_1(16 * n, y, x, attrs);
}

static eddy_tile_fn assign_tile(const eddy_type *in, const eddy_type *out)
{
    (void)out;
    switch (eddy_dtype_size(in[0].dtype)) {
    case 1: return take_1;
    case 4: return take_4;
    case 8: return take_8;
    case 16: return take_16;
    default: return NULL;
    }
}

const eddy_op_def eddy_op_assign = {
    .name = "Assign", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "var", EDDY_ANY_TYPE }, { "value", EDDY_LIKE(0) }),
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_REPLACES | EDDY_OP_SIDE_EFFECT |
             EDDY_OP_STATEFUL |
             EDDY_OP_IN_PLACE,
    .attrs_size = sizeof(assign_attrs), .attrs = EDDY_ATTRS(assign_attrs, validate_shape),
    .infer = update_infer, .tile = assign_tile, .kernel = assign_kernel,
    .gradient = eddy_not_differentiable,
};

static eddy_tensor assign_named(eddy_tensor var, eddy_tensor value, bool no_validate_shape,
                                const char *name)
{
    return eddy_apply(&eddy_op_assign, &(assign_attrs){ !no_validate_shape }, 2,
                      (eddy_tensor[]){ var, value }, (eddy_apply_args){ .name = name });
}

/** var = value; y = the variable's new value.
 *
 *  var    a variable
 *  value  same type and shape as var
 *
 *  Errors: EDDY_BAD_SHAPE if the shapes differ; EDDY_INVALID_ARGUMENT if var is not a variable.
 *  Gradient: none.  TensorFlow: Assign. */
eddy_tensor eddy_assign(eddy_tensor var, eddy_tensor value)
{
    return assign_named(var, value, false, NULL);
}

static eddy_status accumulate(eddy_kernel *k)
{
    eddy_buffer *var = k->in[0];
    eddy_type    types[2] = { k->in[1]->type, k->in[1]->type };
    eddy_status  s = eddy__variable_ready(k);
    if (s != EDDY_OK) return s;
    eddy__elementwise_apply(k->op->tile(types, types), NULL, types[0], var->data, 2, types,
                            (const void *const[]){ var->data, k->in[1]->data });
    return eddy__variable_yield(k);
}

static eddy_tile_fn add_tile(const eddy_type *in, const eddy_type *out)
{
    return eddy_op_add.tile(in, out);
}
static eddy_tile_fn sub_tile(const eddy_type *in, const eddy_type *out)
{
    return eddy_op_sub.tile(in, out);
}

const eddy_op_def eddy_op_assign_add = {
    .name = "AssignAdd", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "var", EDDY_TAKES_WIDE_NUMBERS_COMPLEX }, { "value", EDDY_LIKE(0) }),
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL |
             EDDY_OP_IN_PLACE,
    .flops = eddy_flops_per_output, .infer = update_infer, .tile = add_tile, .kernel = accumulate,
    .gradient = eddy_not_differentiable,
};
const eddy_op_def eddy_op_assign_sub = {
    .name = "AssignSub", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "var", EDDY_TAKES_WIDE_NUMBERS_COMPLEX }, { "value", EDDY_LIKE(0) }),
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL |
             EDDY_OP_IN_PLACE,
    .flops = eddy_flops_per_output, .infer = update_infer, .tile = sub_tile, .kernel = accumulate,
    .gradient = eddy_not_differentiable,
};

/** var = var + value; y = the variable's new value.
 *
 *  Arguments are as for eddy_assign; var has any numeric type except float16 and bfloat16.
 *  Errors: as for eddy_assign; EDDY_UNINITIALIZED at run time.
 *  Gradient: none.  TensorFlow: AssignAdd. */
eddy_tensor eddy_assign_add(eddy_tensor var, eddy_tensor value)
{
    return eddy_apply2(&eddy_op_assign_add, NULL, var, value);
}

/** var = var - value; y = the variable's new value.
 *
 *  Arguments are as for eddy_assign_add.
 *  Errors: as for eddy_assign; EDDY_UNINITIALIZED at run time.
 *  Gradient: none.  TensorFlow: AssignSub. */
eddy_tensor eddy_assign_sub(eddy_tensor var, eddy_tensor value)
{
    return eddy_apply2(&eddy_op_assign_sub, NULL, var, value);
}

/* -------------------------------------------------------------- reading -- */

static bool read_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static eddy_status read_kernel(eddy_kernel *k)
{
    eddy_status s = eddy__variable_ready(k);
    return s != EDDY_OK ? s : eddy__variable_yield(k);
}
static void read_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

const eddy_op_def eddy_op_read = {
    .name = "ReadVariable", .label = "read", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_REFERENCE | EDDY_OP_READ | EDDY_OP_STATEFUL,
    .infer = read_infer, .kernel = read_kernel, .gradient = read_gradient,
};

/* The value between two updates: after all updates that were created before it. A loop or branch
 * that updates the variable begins with it. */
const eddy_op_def eddy_op_latest_value = {
    .name = "LatestValue", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_STATEFUL,
    .infer = read_infer, .kernel = read_kernel, .gradient = read_gradient,
};

/** y = the value of a variable at this point of the run.
 *
 *  Built under eddy_control_begin after an update, it returns the value after that update and
 *  earlier ones; otherwise the value before the run.
 *  Errors: EDDY_UNINITIALIZED at run time.
 *  Gradient: dvar = dy.  TensorFlow: ReadVariableOp. */
eddy_tensor eddy_read(eddy_tensor var)
{
    return eddy_apply1(&eddy_op_read, NULL, var);
}

static bool is_initialized_infer(eddy_infer *c)
{
    c->out[0] = (eddy_type){ EDDY_BOOL, EDDY_SCALAR };
    return true;
}
static eddy_status is_initialized_kernel(eddy_kernel *k)
{
    *(uint8_t *)k->out[0]->data = k->in[0]->state && k->in[0]->state->initialized;
    return EDDY_OK;
}

const eddy_op_def eddy_op_is_initialized = {
    .name = "IsVariableInitialized", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_REFERENCE | EDDY_OP_STATEFUL, .infer = is_initialized_infer,
    .kernel = is_initialized_kernel, .gradient = eddy_not_differentiable,
};

/** y = whether the variable has a value, a bool scalar.
 *
 *  Gradient: none.  TensorFlow: IsVariableInitialized. */
eddy_tensor eddy_is_initialized(eddy_tensor var)
{
    return eddy_apply1(&eddy_op_is_initialized, NULL, var);
}

/* ---------------------------------------------------- initialized_value -- */

static bool initialized_value_infer(eddy_infer *c)
{
    if (!eddy_shape_compatible(c->in[0].shape, c->in[1].shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the initial value does not have the shape of the variable");
    c->out[0] = c->in[1];
    return true;
}
static eddy_status initialized_value_kernel(eddy_kernel *k)
{
    const eddy_buffer *from = k->in[0]->state && k->in[0]->state->initialized ? k->in[0] : k->in[1];
    if (k->out[0]->count > 0)
        memcpy(k->out[0]->data, from->data,
               (size_t)k->out[0]->count * eddy_dtype_size(k->out[0]->type.dtype));
    return EDDY_OK;
}

const eddy_op_def eddy_op_initialized_value = {
    .name = "InitializedValue", .label = "initialized_value", .min_inputs = 2, .max_inputs = 2,
    .outputs = 1, .inputs = EDDY_INPUTS({ "var", EDDY_ANY_TYPE }, { "initial", EDDY_LIKE(0) }),
    .flags = EDDY_OP_REFERENCE | EDDY_OP_STATEFUL, .infer = initialized_value_infer,
    .kernel = initialized_value_kernel, .gradient = eddy_not_differentiable,
};

/** y = the variable's value, or its initial value if it has none yet, to initialize one variable
 *  from another in the same run.
 *
 *  Errors: EDDY_INVALID_ARGUMENT if var is not a variable.
 *  Gradient: none.  TensorFlow: Variable.initialized_value. */
eddy_tensor eddy_initialized_value(eddy_tensor var)
{
    eddy_graph      *g = var.graph;
    const eddy_node *behind = eddy_node_of(eddy_node_at(g, var.node + 1));   /* usually its own */
    if (behind && behind->op == &eddy_op_assign && eddy_same(behind->inputs[0], var))
        return eddy_apply2(&eddy_op_initialized_value, NULL, var, behind->inputs[1]);
    const int n = eddy_collection_size(g, EDDY_INITIALIZERS);
    for (int i = 0; i < n; i++) {
        eddy_tensor init = eddy_collection_at(g, EDDY_INITIALIZERS, i);
        if (eddy_same(eddy_input(init, 0), var))
            return eddy_apply2(&eddy_op_initialized_value, NULL, var, eddy_input(init, 1));
    }
    return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                     "initialized_value: '%.200s' is not a variable with an initializer",
                     eddy_name_of(var));
}
