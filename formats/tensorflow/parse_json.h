/* parse_json.h -- the model.json of TensorFlow.js: a graph, its signature, and where the weights
 * are. */
#ifndef EDDY_FORMATS_TENSORFLOW_PARSE_JSON_H
#define EDDY_FORMATS_TENSORFLOW_PARSE_JSON_H

#include "../json.h"
#include "model.h"

/* One weight of the manifest. */
typedef struct tf_weight {
    const char *name, *dtype;
    eddy_shape  shape;
    const char *stored;         /* the type in the file if it is quantized; else NULL */
    double      scale, min;     /* of 8 and 16 bits: value = stored scale + min */
    int         group;
    int64_t     offset;         /* in the bytes of its group */
    eddy_array *array;
} tf_weight;

/* Files that together are the bytes of a group of weights. */
typedef struct tf_group {
    const char **paths;         /* relative to the folder of model.json */
    size_t       n_paths;
} tf_group;

typedef struct tf_manifest {
    tf_weight *weights;
    size_t     n_weights;
    tf_group  *groups;
    size_t     n_groups;
} tf_manifest;

/* NULL, or why this is not a graph model, with the place in *at. region->full if out of memory. */
const char *eddy__tf_parse_json(region *r, wire_bytes text, tf_file *file, tf_manifest *manifest,
                                size_t *at);

#endif
