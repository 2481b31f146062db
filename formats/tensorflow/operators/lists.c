/* lists.c -- tensor lists, and the tensor arrays of TensorFlow 1, as tensor arrays of Eddy. The
 * flow of a TensorArray is its state here, and its handle is not used. */
#include "../build.h"
#include "../../../ops/short_names.h"

static tf_value *array_in(tf_build *b, int i)
{
    if (eddy__tf_has(b, i) && b->in[i]->kind == TF_ARRAY) return b->in[i];
    eddy__tf_missing(b, "input %d is not a tensor list", i);
    return NULL;
}

static bool put_array(tf_build *b, int i, const tf_value *like, eddy_tensor_array list)
{
    tf_value *v = eddy__tf_new_value(b, TF_ARRAY);
    if (!v) return false;
    *v = *like;
    v->list = list;
    return eddy__tf_put_value(b, i, v);
}

static tf_value *new_array(tf_build *b, int type)
{
    tf_value *v = eddy__tf_new_value(b, TF_ARRAY);
    if (!v) return NULL;
    v->type = type;
    if (eddy__tf_dtype(type) != EDDY_DEFAULT_DTYPE) return v;
    eddy__tf_missing(b, "there are no values of type %s", eddy__tf_type_name(type));
    return NULL;
}

/* An array of `size` elements, a number or a tensor, of a shape that may be unknown. v->t keeps the
 * tensor, for an array that gets its shape later. */
static bool make(tf_build *b, int type, int size, eddy_shape shape)
{
    tf_value         *v = new_array(b, type);
    const bool        known = v && eddy__tf_has(b, size) && eddy__tf_array_of(b, b->in[size]);
    int64_t           n = 0;
    if (!v || (known && !eddy__tf_number_in(b, size, "the size", &n))) return false;
    if (!known) v->t = Reshape(eddy__tf_in(b, size), EDDY_SCALAR);
    v->list = eddy_tensor_array_new(b->graph, eddy__tf_dtype(type),
                                    n,
                                    eddy_shape_is_known(shape) ? &shape : NULL,
                                    .size_tensor = v->t);
    return eddy__tf_put_value(b, 0, v);
}

/* A list of sizes as a shape; -1, a scalar, is any shape. */
static eddy_shape shape_in(tf_build *b, int i)
{
    int            n;
    const int64_t *at = eddy__tf_partly(b, i, &n);
    if (!at || !eddy__tf_has(b, i) || (n == 1 && at[0] < 0) || n > EDDY_MAX_RANK)
        return eddy_shape_unknown();
    eddy_shape s = { .rank = n };
    for (int k = 0; k < n; k++) s.dim[k] = at[k] < 0 ? EDDY_ANY : at[k];
    return s;
}

static bool reserve(tf_build *b)
{
    return make(b, eddy__tf_type(b, "element_dtype", TF_FLOAT), 1, shape_in(b, 0));
}

static bool tensor_array(tf_build *b)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, "element_shape");
    const eddy_shape s = a && a->kind == TF_ATTR_SHAPE ? a->shape : eddy_shape_unknown();
    if (eddy__tf_flag(b, "dynamic_size"))
        return eddy__tf_missing(b, "arrays of dynamic size are not supported");
    return make(b, eddy__tf_type(b, "dtype", TF_FLOAT), 0, s) &&
           eddy__tf_put_value(b, 1, b->out[0]);
}

/* An array of the rows of a tensor. */
static eddy_tensor_array of_rows(tf_build *b, eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    const bool       known = s.rank > 0 && s.dim[0] != EDDY_ANY;
    const eddy_tensor size = known ? eddy_none(b->graph) : Cast(eddy_size_along(x, 0), EDDY_INT32);
    return eddy_tensor_array_unstack(eddy_tensor_array_new(b->graph, eddy_dtype_of(x),
                                                           known ? s.dim[0] : 0,
                                                           .size_tensor = size),
                                     x);
}

static bool from_tensor(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0);
    tf_value         *v = new_array(b, eddy__tf_type_in(b, 0));
    if (!v) return false;
    v->list = of_rows(b, x);
    return eddy__tf_put_value(b, 0, v);
}

/* The place of the state among the inputs: 0 of a list; the last one of a TensorArray. */
static int state(const tf_build *b) { return b->op->variant ? b->n_in - 1 : 0; }

static bool read_item(tf_build *b)
{
    const tf_value   *v = array_in(b, state(b));
    const eddy_tensor at = eddy__tf_in(b, 1);
    return v && eddy__tf_put_as(b, 0, eddy_tensor_array_read(v->list, Reshape(at, EDDY_SCALAR)),
                                v->type);
}

static bool write_item(tf_build *b)
{
    const tf_value   *v = array_in(b, state(b));
    const eddy_tensor at = eddy__tf_in(b, 1), x = eddy__tf_in(b, 2);
    return v && put_array(b, 0, v, eddy_tensor_array_write(v->list, Reshape(at, EDDY_SCALAR), x));
}

static bool stack(tf_build *b)
{
    const tf_value *v = array_in(b, state(b));
    return v && eddy__tf_put_as(b, 0, eddy_tensor_array_stack(v->list), v->type);
}

/* Of all elements in order, as models use it, that is the stack. */
static bool gather(tf_build *b)
{
    const tf_value *v = array_in(b, state(b));
    return v &&
           eddy__tf_put_as(b, 0, eddy_tensor_array_gather(v->list, eddy__tf_in(b, 1)), v->type);
}

static bool scatter(tf_build *b)
{
    const tf_value   *v = array_in(b, b->n_in - 1);
    const eddy_tensor at = eddy__tf_in(b, 1), x = eddy__tf_in(b, 2);
    return v && put_array(b, 0, v, eddy_tensor_array_scatter(v->list, at, x));
}

static bool length(tf_build *b)
{
    const tf_value *v = array_in(b, state(b));
    return v && eddy__tf_put_as(b, 0, eddy_tensor_array_size(v->list), TF_INT32);
}

static bool concatenate(tf_build *b)
{
    const tf_value *v = array_in(b, state(b));
    return v && eddy__tf_put_as(b, 0, eddy_tensor_array_concat(v->list), v->type);
}

const tf_operator eddy__tf_lists[] = {
    { "TensorArrayConcatV3", concatenate, .variant = 1 },
    { "TensorArrayGatherV3", gather, .variant = 1 },
    { "TensorArrayReadV3", read_item, .variant = 1 },
    { "TensorArrayScatterV3", scatter, .variant = 1 },
    { "TensorArraySizeV3", length, .variant = 1 },
    { "TensorArrayV3", tensor_array },
    { "TensorArrayWriteV3", write_item, .variant = 1 },
    { "TensorListConcatV2", concatenate },
    { "TensorListFromTensor", from_tensor },
    { "TensorListGather", gather },
    { "TensorListGetItem", read_item },
    { "TensorListLength", length },
    { "TensorListReserve", reserve },
    { "TensorListSetItem", write_item },
    { "TensorListStack", stack },
    { NULL },
};
