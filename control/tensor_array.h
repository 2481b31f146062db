/* tensor_array.h -- arrays of tensors: elements of one type and shape that are written and read by
 * index, one at a time in loops. TensorFlow 1's TensorArray.
 *
 *   eddy_tensor_array a = eddy_tensor_array_new(g, EDDY_FLOAT32, 10, .element_shape = &row);
 *   a = eddy_tensor_array_write(a, i, x);                        a new array; the old one remains
 *   eddy_tensor all = eddy_tensor_array_stack(a);                [10, ...]
 *
 * An array is a value: writing yields another one. Two tensors hold it, so it is carried through a
 * loop or a branch as two loop variables, and eddy_tensor_array_at makes an array of them again:
 *
 *   eddy_while_loop(cond, body, EDDY_LIST(i, a.values, a.written), y);
 *   eddy_tensor_array end = eddy_tensor_array_at(a, &y[1]);
 *
 *   static int body(eddy_list x, eddy_tensor *y, void *context)
 *   {
 *       eddy_tensor_array a = eddy_tensor_array_at(*(eddy_tensor_array *)context, &x.at[1]);
 *       a = eddy_tensor_array_write(a, x.at[0], square_of(x.at[0]));
 *       y[0] = Add(x.at[0], 1), y[1] = a.values, y[2] = a.written;
 *       return 3;
 *   }
 *
 * A session writes the element into the array's own memory if nothing else needs the old array, so
 * that an iteration, and its gradient, take time for one element only. Each index is written at
 * most once. An element that was not written is zero. The gradient of a written value is the sum of
 * those of all reads of it; indices have none.
 *
 * An array with .dynamic_size grows by a write or scatter with a constant index outside of a loop.
 * In one run, a shape in a loop cannot change: where the index is computed, an array has room for
 * .capacity elements, and its size is 1 + the largest index written, or the first size.
 *
 * Differences from TensorFlow: all elements have one shape; .clear_after_read changes nothing, so
 * elements may be read any number of times; an index out of range is EDDY_OUT_OF_RANGE.
 *
 * After an error, which is recorded on the graph, a function returns the array that it was given,
 * or an invalid tensor. Messages name the array. */
#ifndef EDDY_TENSOR_ARRAY_H
#define EDDY_TENSOR_ARRAY_H

#include "../graph/op.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Freely copied and never freed. Programs read the members but do not set them. */
typedef struct eddy_tensor_array {
    eddy_graph *graph;
    eddy_tensor values;             /* [size, element...]; invalid until the element shape is known */
    eddy_tensor written;            /* bool [size] */
    eddy_dtype  dtype;
    eddy_shape  element_shape;      /* as far as it was given or, with infer_shape, is known */
    int64_t     least;              /* the first size; EDDY_ANY if a tensor gave it */
    int64_t     used;               /* elements of a dynamic array; EDDY_ANY: known in a run */
    bool        dynamic_size, infer_shape;
    bool        fresh;              /* nothing has been written */
    const char *name;               /* the graph's */
} eddy_tensor_array;

typedef struct eddy_tensor_array_args {
    size_t size_ EDDY_DEFAULT(sizeof(eddy_tensor_array_args));
    eddy_graph *graph;
    eddy_dtype  dtype;              /* of the elements; any */
    int64_t     size;               /* elements, at least 0 */
    /* NULL: that of the first value that is written. A loop that carries the array needs the shape,
     * or `like`, beforehand */
    const eddy_shape *element_shape;
    eddy_tensor like;               /* an element has this tensor's shape; it is not computed */
    eddy_tensor size_tensor;        /* int32 or int64 scalar, known when a run is compiled: the size */
    bool        dynamic_size;
    int64_t     capacity;           /* of a dynamic array in loops; default: size */
    bool        no_infer_shape;     /* values need only be compatible with element_shape */
    bool        clear_after_read;   /* accepted; changes nothing */
    const char *name;               /* in messages; default "TensorArray" */
} eddy_tensor_array_args;

/* An array without elements. Errors: EDDY_INVALID_ARGUMENT for a negative size or
 * capacity, a capacity without dynamic_size, a size_tensor with it; EDDY_BAD_SHAPE for a
 * size_tensor that is not an integer scalar; EDDY_BAD_DTYPE without a dtype. tf.TensorArray. */
EDDY_API eddy_tensor_array eddy_tensor_array_new_with(const eddy_tensor_array_args *args);
#define eddy_tensor_array_new(...) \
    eddy_tensor_array_new_with(EDDY_ARGS(eddy_tensor_array_args, __VA_ARGS__))

/* The array `like` with the tensors x[0], its values, and x[1], which are loop variables, arguments
 * of a body or results. Errors: EDDY_INVALID_ARGUMENT for tensors of other types. */
EDDY_API eddy_tensor_array eddy_tensor_array_at(eddy_tensor_array like, const eddy_tensor *x);

/* a[index] = value.
 *
 * index  int32 or int64 scalar
 * value  the array's dtype and element shape
 *
 * Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE; in a run, EDDY_OUT_OF_RANGE for an index outside of the
 * array, EDDY_INVALID_ARGUMENT for an index that has been written.
 * Gradient: dvalue is that of the element. TensorArrayWriteV3. */
EDDY_API eddy_tensor_array eddy_tensor_array_write(eddy_tensor_array a, eddy_tensor index,
                                                   eddy_tensor value);

/* a[index], zero if it has not been written; index is an int32 or int64 scalar. Errors:
 * EDDY_BAD_DTYPE, EDDY_BAD_SHAPE; EDDY_INVALID_ARGUMENT while the element shape is unknown; in a
 * run, EDDY_OUT_OF_RANGE. TensorArrayReadV3. */
EDDY_API eddy_tensor eddy_tensor_array_read(eddy_tensor_array a, eddy_tensor index);

/* All elements along a new axis 0. If the size of a dynamic array is known only in a run, the
 * number of rows depends on data, as for eddy_nonzero. TensorArray.stack; TensorArrayGatherV3. */
EDDY_API eddy_tensor eddy_tensor_array_stack(eddy_tensor_array a);

/* The elements at `indices`, an int32 or int64 vector, along a new axis 0. Errors: as for
 * eddy_tensor_array_read. TensorArray.gather. */
EDDY_API eddy_tensor eddy_tensor_array_gather(eddy_tensor_array a, eddy_tensor indices);

/* a[i] = row i of value, of rank at least 1; a dynamic array grows to its rows. Errors: as for
 * eddy_tensor_array_write. TensorArray.unstack. */
EDDY_API eddy_tensor_array eddy_tensor_array_unstack(eddy_tensor_array a, eddy_tensor value);

/* a[indices[i]] = row i of value; indices is an int32 or int64 vector. Errors: as for
 * eddy_tensor_array_write; EDDY_BAD_SHAPE for another number of rows. TensorArrayScatterV3. */
EDDY_API eddy_tensor_array eddy_tensor_array_scatter(eddy_tensor_array a, eddy_tensor indices,
                                                     eddy_tensor value);

/* All elements, of rank at least 1, one after the other along their axis 0. Errors: EDDY_BAD_SHAPE
 * for scalars. TensorArrayConcatV3. */
EDDY_API eddy_tensor eddy_tensor_array_concat(eddy_tensor_array a);

/* a[i] = the next lengths[i] rows of value. `lengths` is a constant int32 or int64 vector, as long
 * as the array unless that is dynamic. Errors: as for eddy_tensor_array_write; EDDY_UNIMPLEMENTED
 * if the lengths are not constant or differ, since elements have one shape. TensorArraySplitV3. */
EDDY_API eddy_tensor_array eddy_tensor_array_split(eddy_tensor_array a, eddy_tensor value,
                                                   eddy_tensor lengths);

/* The number of elements, an int32 scalar. TensorArraySizeV3. */
EDDY_API eddy_tensor eddy_tensor_array_size(eddy_tensor_array a);

#ifdef __cplusplus
}
#endif
#endif
