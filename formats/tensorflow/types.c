/* types.c -- the element types of TensorFlow and those in which Eddy computes. */
#include "../elements.h"
#include "build.h"

/* compute: the type of arithmetic; stored: of weights; bits: of an element of a file. */
static const struct {
    const char *name;
    eddy_dtype  compute, stored;
    int         bits;
} types[TF_TYPES] = {
    [TF_NO_TYPE] = { "unknown", 0, 0, 0 },
    [TF_FLOAT] = { "float32", EDDY_FLOAT32, EDDY_FLOAT32, 32 },
    [TF_DOUBLE] = { "float64", EDDY_FLOAT64, EDDY_FLOAT64, 64 },
    [TF_INT32] = { "int32", EDDY_INT32, EDDY_INT32, 32 },
    [TF_UINT8] = { "uint8", EDDY_UINT8, EDDY_UINT8, 8 },
    [TF_INT16] = { "int16", EDDY_INT32, EDDY_INT32, 16 },
    [TF_INT8] = { "int8", EDDY_INT32, EDDY_INT32, 8 },
    [TF_STRING] = { "string", 0, 0, 0 },
    [TF_COMPLEX64] = { "complex64", EDDY_COMPLEX64, EDDY_COMPLEX64, 32 },
    [TF_INT64] = { "int64", EDDY_INT64, EDDY_INT64, 64 },
    [TF_BOOL] = { "bool", EDDY_BOOL, EDDY_BOOL, 8 },
    [TF_QINT8] = { "qint8", 0, 0, 0 },
    [TF_QUINT8] = { "quint8", 0, 0, 0 },
    [TF_QINT32] = { "qint32", 0, 0, 0 },
    [TF_BFLOAT16] = { "bfloat16", EDDY_FLOAT32, EDDY_BFLOAT16, 16 },
    [TF_QINT16] = { "qint16", 0, 0, 0 },
    [TF_QUINT16] = { "quint16", 0, 0, 0 },
    [TF_UINT16] = { "uint16", EDDY_INT32, EDDY_INT32, 16 },
    [TF_COMPLEX128] = { "complex128", EDDY_COMPLEX128, EDDY_COMPLEX128, 64 },
    [TF_HALF] = { "float16", EDDY_FLOAT32, EDDY_FLOAT16, 16 },
    [TF_RESOURCE] = { "resource", 0, 0, 0 },
    [TF_VARIANT] = { "variant", 0, 0, 0 },
    [TF_UINT32] = { "uint32", EDDY_INT64, EDDY_INT64, 32 },
    [TF_UINT64] = { "uint64", EDDY_INT64, EDDY_INT64, 64 },
};

/* Types of references have 100 added. */
static int plain(int type)
{
    if (type > 100) type -= 100;
    return type > 0 && type < TF_TYPES ? type : TF_NO_TYPE;
}

eddy_dtype  eddy__tf_dtype(int type) { return types[plain(type)].compute; }
eddy_dtype  eddy__tf_stored(int type) { return types[plain(type)].stored; }
int         eddy__tf_bits(int type) { return types[plain(type)].bits; }
const char *eddy__tf_type_name(int type) { return types[plain(type)].name; }

int eddy__tf_type_of(eddy_dtype d)
{
    static const int of[EDDY_DTYPES] = {
        [EDDY_FLOAT32] = TF_FLOAT, [EDDY_FLOAT64] = TF_DOUBLE, [EDDY_INT32] = TF_INT32,
        [EDDY_INT64] = TF_INT64, [EDDY_UINT8] = TF_UINT8, [EDDY_BOOL] = TF_BOOL,
        [EDDY_FLOAT16] = TF_HALF, [EDDY_BFLOAT16] = TF_BFLOAT16,
        [EDDY_COMPLEX64] = TF_COMPLEX64, [EDDY_COMPLEX128] = TF_COMPLEX128,
    };
    return of[d];
}

void eddy__tf_store(eddy_array *a, int type, int64_t i, uint64_t bits)
{
    type = plain(type);
    eddy__element_store(a, types[type].bits,
                        type == TF_INT8 || type == TF_INT16 || type == TF_INT32, i, bits);
}
