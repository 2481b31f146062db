/* pickle.h -- the pickles of PyTorch, which describe tensors by a program for a stack machine.
 *
 * Python runs any function that a pickle names. This reader runs none: it knows the instructions
 * that torch.save writes, and the few names that stand for tensors, their storages and dicts. Any
 * other instruction or name is an error. */
#ifndef EDDY_FORMATS_TORCH_PICKLE_H
#define EDDY_FORMATS_TORCH_PICKLE_H

#include "../region.h"

typedef enum pickle_kind {
    PICKLE_NONE, PICKLE_NUMBER, PICKLE_TEXT, PICKLE_LIST, PICKLE_DICT, PICKLE_NAME, PICKLE_STORAGE,
    PICKLE_TENSOR, PICKLE_MARK
} pickle_kind;

/* The elements of a storage. */
typedef struct torch_type {
    const char *storage;        /* "FloatStorage" */
    const char *code;           /* "F32", as in safetensors */
    int         dtype;          /* eddy_dtype of the value */
    int         bits;           /* of an element, or of a part of a complex one */
    bool        is_signed;
} torch_type;

typedef struct pickle_value pickle_value;
struct pickle_value {
    pickle_kind    kind;
    int64_t        integer;     /* of NUMBER; the offset of a TENSOR, the elements of a STORAGE */
    const char    *text;        /* of TEXT; the key of a STORAGE; the last part of a NAME */
    pickle_value **items;       /* of LIST, also tuples; of DICT, keys and values in turn */
    size_t         count, room;
    const torch_type *type;     /* of NAME and STORAGE, if it is that of elements */
    pickle_value  *storage, *size, *stride;     /* of TENSOR: a STORAGE and two LISTs of NUMBERs */
};

/* The value that the pickle yields. NULL with the problem, and the byte in *at; region->full if out
 * of memory. */
const pickle_value *eddy__pickle_read(region *r, wire_bytes b, const char **problem, size_t *at);

#endif
