/* lists.c -- tensor lists, and the tensor arrays of TensorFlow 1, as tensor arrays of Eddy. The
 * flow of a TensorArray is its state here, and its handle is not used. */
#include "../build.h"
#include "../../../ops/short_names.h"

static tf_value *array_in(tf_build *b, int i)
{
    if (eddy__tf_has(b, i) && b->in[i]->kind == TF_ARRAY) return b->in[i];
    if (!eddy__tf_has(b, i)) eddy__tf_invalid(b, "input %d is missing", i < 0 ? 0 : i);
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
    if (!at || (n == 1 && at[0] < 0) || n > EDDY_MAX_RANK)
        return eddy_shape_unknown();
    eddy_shape s = { .rank = n };
    for (int k = 0; k < n; k++) s.dim[k] = at[k] < 0 ? EDDY_ANY : at[k];
    return s;
}

/* A list that grows: PushBack makes it longer. */
static bool empty(tf_build *b)
{
    const eddy_shape s = shape_in(b, 0);
    tf_value        *v = new_array(b, eddy__tf_type(b, "element_dtype", TF_FLOAT));
    if (!v) return false;
    v->growing = true;
    v->list = eddy_tensor_array_new(b->graph, eddy__tf_dtype(v->type), 0,
                                    eddy_shape_is_known(s) ? &s : NULL);
    return eddy__tf_put_value(b, 0, v);
}

static bool reserve(tf_build *b)
{
    return make(b, eddy__tf_type(b, "element_dtype", TF_FLOAT), 1, shape_in(b, 0));
}

static bool tensor_array(tf_build *b)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, "element_shape");
    const eddy_shape s = a && a->kind == TF_ATTR_SHAPE ? a->shape : eddy_shape_unknown();
    if (!make(b, eddy__tf_type(b, "dtype", TF_FLOAT), 0, s)) return false;
    b->out[0]->growing = eddy__tf_flag(b, "dynamic_size");
    return eddy__tf_put_value(b, 1, b->out[0]);
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

/* Puts rows of values and marks in place of those of the list. */
static eddy_tensor_array with_rows(eddy_tensor_array a, eddy_tensor values, eddy_tensor written)
{
    return eddy_tensor_array_at(a, (eddy_tensor[]){ values, written });
}

static eddy_tensor more_rows(eddy_tensor x, eddy_tensor more)
{
    const int         rank = eddy_shape_of(x).rank;
    const eddy_tensor after = eddy_pad(ExpandDims(more, 0), EDDY_DIMS(0), EDDY_DIMS(rank - 1));
    return eddy_pad_to(x, ZerosLike(after), after);
}

/* The list v, whose elements have the shape of `like`, with room for n elements if it grows. */
static eddy_tensor_array with_room(tf_build *b, const tf_value *v, eddy_tensor like, eddy_tensor n)
{
    eddy_tensor_array a = v->list;
    if (!v->growing) return a;
    if (!eddy_is_valid(a.values))
        a = eddy_tensor_array_new(b->graph, a.dtype, a.least < 0 ? 0 : a.least, .like = like,
                                  .size_tensor = v->t, .no_infer_shape = !a.infer_shape);
    const eddy_tensor rows = Cast(eddy_size_along(a.written, 0), EDDY_INT32);
    const eddy_tensor more = Maximum(Sub(Cast(n, EDDY_INT32), rows), 0);
    return with_rows(a, more_rows(a.values, more), more_rows(a.written, more));
}

static bool push_back(tf_build *b)
{
    const tf_value   *v = array_in(b, 0);
    const eddy_tensor x = eddy__tf_in(b, 1);
    if (!v) return false;
    if (!v->growing) return eddy__tf_missing(b, "the list does not come from EmptyTensorList");
    const eddy_tensor_array a = with_room(b, v, x, eddy_number(b->graph, EDDY_INT32, 0));
    const eddy_tensor mark = eddy_ones(b->graph, EDDY_BOOL, EDDY_SHAPE(1));
    return put_array(b, 0, v,
                     with_rows(a, eddy_concat(EDDY_LIST(a.values, ExpandDims(x, 0)), 0),
                               eddy_concat(EDDY_LIST(a.written, mark), 0)));
}

static bool pop_back(tf_build *b)
{
    const tf_value *v = array_in(b, 0);
    if (!v) return false;
    if (!eddy_is_valid(v->list.values))
        return eddy__tf_missing(b, "the shape of the elements of a tensor list is not known");
    const eddy_tensor last = eddy_index(v->list.values, "-1");
    return put_array(b, 0, v, with_rows(v->list, eddy_index(v->list.values, ":-1"),
                                        eddy_index(v->list.written, ":-1"))) &&
           eddy__tf_put_as(b, 1, last, v->type);
}

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
    if (!v) return false;
    const eddy_tensor       i = Reshape(at, EDDY_SCALAR);
    const eddy_tensor_array a = with_room(b, v, x, v->growing ? Add(i, 1) : i);
    return put_array(b, 0, v, eddy_tensor_array_write(a, i, x));
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
    if (!v) return false;
    const eddy_tensor       first = v->growing ? eddy_index(x, "0") : x;
    const eddy_tensor_array a = with_room(b, v, first, v->growing ? Add(Max(at), 1) : at);
    return put_array(b, 0, v, eddy_tensor_array_scatter(a, at, x));
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
    { "EmptyTensorList", empty },
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
    { "TensorListPopBack", pop_back },
    { "TensorListPushBack", push_back },
    { "TensorListReserve", reserve },
    { "TensorListSetItem", write_item },
    { "TensorListStack", stack },
    { NULL },
};
