/* variables.c -- variables, whose values are in the checkpoint of a SavedModel. */
#include "../reader.h"
#include "../../../ops/short_names.h"

/* Where the value is: under the name that the variable has when it is shared, or its own. */
static eddy_array *stored_value(tf_build *b)
{
    const char *names[] = { eddy__tf_text(b, "shared_name", ""), b->node->name };
    eddy_error  e = { 0 };
    for (int i = 0; i < 2; i++) {
        if (eddy_checkpoint_find(b->reader->checkpoint, names[i]) < 0) continue;
        eddy_array *a = eddy_checkpoint_value(b->reader->checkpoint, names[i], &e);
        if (a) return a;
        eddy__tf_invalid(b, "%s", e.message);
        b->status = e.status;
        return NULL;
    }
    if (!b->reader->checkpoint)
        eddy__tf_missing(b, b->reader->model->saved_model ? "there is no variables/variables.index"
                                                          : "variables need a SavedModel");
    else eddy__tf_invalid(b, "the checkpoint has no value for the variable");
    return NULL;
}

static bool variable(tf_build *b)
{
    const int        type = eddy__tf_type(b, "dtype", TF_FLOAT);
    const eddy_dtype d = eddy__tf_dtype(type);
    const tf_attr   *shape = eddy__tf_attr_of(b->node, "shape");
    if (b->scope->depth > 0) return eddy__tf_missing(b, "a function makes a variable");
    eddy_array *a = stored_value(b);
    if (!a || !eddy__reading_keep(&b->reader->base, a)) return false;
    tf_value *v = eddy__tf_new_value(b, TF_VARIABLE);
    if (!v) return false;
    if (d == EDDY_DEFAULT_DTYPE || eddy__tf_dtype(eddy__tf_type_of(eddy_array_dtype(a))) != d ||
        (shape && shape->kind == TF_ATTR_SHAPE &&
         !eddy_shape_compatible(shape->shape, eddy_array_shape(a))))
        return eddy__tf_invalid(b, "the value in the checkpoint has another type or shape");
    const char *name = eddy__tf_text(b, "shared_name", "");
    name = eddy__name_clean(b->memory, *name ? name : b->node->name);
    eddy_scope_begin(b->graph, b->reader->base.root);
    if (b->reader->options.variables) {
        const eddy_tensor start = eddy_cast(eddy_constant(b->graph, .value = a), d);
        v->t = eddy_variable(b->graph, .initial_value = start, .name = name,
                             .not_trainable = !eddy_dtype_is_floating(d));
    } else v->t = eddy_cast(eddy_constant(b->graph, .value = a, .name = name), d);
    eddy_scope_end(b->graph);
    v->type = type;
    return eddy__tf_put_value(b, 0, v);
}

/* NULL with a reason. */
static const tf_value *variable_in(tf_build *b)
{
    if (eddy__tf_has(b, 0) && b->in[0]->kind == TF_VARIABLE) return b->in[0];
    eddy__tf_missing(b, "input 0 is not a variable");
    return NULL;
}

static bool read_variable(tf_build *b)
{
    const tf_value *v = variable_in(b);
    return v && eddy__tf_put_as(b, 0, v->t, v->type);
}

static bool gather(tf_build *b)
{
    const tf_value   *v = variable_in(b);
    const eddy_tensor at = eddy__tf_in(b, 1);
    return v && eddy__tf_put_as(b, 0, Gather(v->t, at), v->type);
}

static bool shape_of(tf_build *b)
{
    const tf_value *v = variable_in(b);
    const int       type = eddy__tf_type(b, "out_type", TF_INT32);
    return v && eddy__tf_put_as(b, 0, eddy_shape_tensor(v->t, eddy__tf_dtype(type)), type);
}

const tf_operator eddy__tf_variables[] = {
    { "ReadVariableOp", read_variable },
    { "ResourceGather", gather },
    { "VarHandleOp", variable },
    { "Variable", variable },
    { "VariableShape", shape_of },
    { "VariableV2", variable },
    { NULL },
};
