/* parse.h -- what the files that parse TensorFlow's messages share. */
#ifndef EDDY_FORMATS_TENSORFLOW_PARSE_H
#define EDDY_FORMATS_TENSORFLOW_PARSE_H

#include "model.h"

/* A parser of one file: bad once anything is damaged or memory is out. */
typedef struct tf_parser {
    region        *memory;
    wire_bytes     file;
    const uint8_t *at;          /* the first damaged place */
    bool           bad;
} tf_parser;

/* count elements of this size; NULL, and bad, if out of memory. */
void       *eddy__tf_take(tf_parser *p, size_t count, size_t size);
void        eddy__tf_damaged(tf_parser *p, const uint8_t *at);
const char *eddy__tf_string(tf_parser *p, const wire_field *f);
/* All strings of the repeated field `number`. */
const char **eddy__tf_strings(tf_parser *p, wire w, uint32_t number, size_t *count);
/* All numbers of a repeated field, converted to 64 bits. */
uint64_t   *eddy__tf_numbers(tf_parser *p, wire w, uint32_t number, wire_type as_type, size_t *count);

/* TensorShapeProto; *rank is that of the file, -1 if it is unknown. */
eddy_shape  eddy__tf_shape(tf_parser *p, wire w, int *rank);
void        eddy__tf_tensor(tf_parser *p, wire w, tf_tensor *t);
void        eddy__tf_attr(tf_parser *p, wire w, tf_attr *a);
void        eddy__tf_graph_def(tf_parser *p, wire w, tf_file *file);

#endif
