/* parse.h -- what the files that parse ONNX messages share. */
#ifndef EDDY_FORMATS_ONNX_PARSE_H
#define EDDY_FORMATS_ONNX_PARSE_H

#include "model.h"

/* A parser of one file: bad once anything is damaged or memory is out. */
typedef struct parser {
    region        *memory;
    const uint8_t *at;          /* the first damaged place */
    bool           bad;
} parser;

/* count elements of this size; NULL, and bad, if out of memory. */
void *eddy__onnx_take(parser *p, size_t count, size_t size);
/* Notes that w or the field is damaged. */
void  eddy__onnx_damaged(parser *p, const uint8_t *at);
const char *eddy__onnx_string(parser *p, const wire_field *f);
/* All strings, or numbers, of the repeated field `number` of w. */
const char **eddy__onnx_strings(parser *p, wire w, uint32_t number, size_t *count);
uint64_t    *eddy__onnx_numbers(parser *p, wire w, uint32_t number, wire_type as_type, size_t *count);
wire_bytes  *eddy__onnx_byte_strings(parser *p, wire w, uint32_t number, size_t *count);

void eddy__onnx_tensor(parser *p, wire w, onnx_tensor *t);
void eddy__onnx_sparse(parser *p, wire w, onnx_sparse *t);
void eddy__onnx_info(parser *p, wire w, onnx_info *info);
/* Of a TypeProto. */
void eddy__onnx_typeof(parser *p, wire w, onnx_info *info);

#endif
