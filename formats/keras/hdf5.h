/* hdf5.h -- the datasets of an HDF5 file, as far as Keras writes them.
 *
 * A reader of our own, because files come from strangers: of 4000 copies of a small file with 1 to
 * 4 changed bytes, one made libhdf5 1.10 crash, which is 3.9 MB besides. This one sees nothing
 * outside the file in memory, takes no memory for what the file only claims, and follows no link to
 * another file. It reads superblocks 0 to 3, groups with symbol tables or with links in their
 * headers, and contiguous and compact datasets; not chunks, and therefore no compression, and not
 * groups of many links in the newest layout.
 *
 * Source: HDF5 File Format Specification Version 3.0, The HDF Group. */
#ifndef EDDY_FORMATS_KERAS_HDF5_H
#define EDDY_FORMATS_KERAS_HDF5_H

#include "../region.h"

#include "../../graph/graph.h"

/* The elements of a dataset; bits is 0 for types that are not read. */
typedef struct hdf5_type {
    const char *code;           /* "F32", as in safetensors */
    eddy_dtype  dtype;          /* of the array */
    int         bits;
    bool        is_signed;
} hdf5_type;

typedef struct hdf5_dataset {
    const char *name;           /* the names of the groups around it and its own, between slashes */
    hdf5_type   type;
    eddy_shape  shape;          /* of unknown rank if there are more than 8 dimensions */
    wire_bytes  data;           /* a view of the file */
    const char *missing;        /* why there are no data; NULL if there are */
} hdf5_dataset;

typedef struct hdf5_file {
    region       *memory;
    wire_bytes    bytes;
    hdf5_dataset *datasets;     /* in `memory`, in the order of the file */
    int           count, room;
    int           visits;       /* objects, blocks and links so far */
    eddy_status   status;       /* EDDY_OK, or of the problem */
    const char   *problem;
    uint64_t      at;           /* its byte, which may be no place in memory */
} hdf5_file;

/* Lists all datasets; false with the problem. f has the bytes and a region, and else zeros. */
bool eddy__hdf5_read(hdf5_file *f);

/* ---------------------------------------------- what the files of the reader share -- */

/* Sets the problem, unless there is one; at may be NULL. Returns false. */
bool eddy__hdf5_fail(hdf5_file *f, eddy_status status, const char *problem, const uint8_t *at);
/* The bytes from an address of the file on, at least `size`; NULL with the problem. */
const uint8_t *eddy__hdf5_place(hdf5_file *f, uint64_t address, uint64_t size);
/* Counts something that was visited; false beyond the limit. */
bool eddy__hdf5_visit(hdf5_file *f);

/* A message in the header of an object. */
typedef enum hdf5_message {
    HDF5_DATASPACE = 1, HDF5_LINK_INFO = 2, HDF5_DATATYPE = 3, HDF5_LINK = 6, HDF5_EXTERNAL = 7,
    HDF5_LAYOUT = 8, HDF5_CONTINUATION = 16, HDF5_SYMBOLS = 17
} hdf5_message;

/* Calls `take` for each message of the object at an address; `shared` ones refer to others. */
typedef bool hdf5_take(void *context, hdf5_message kind, bool shared, wire_bytes data);
bool eddy__hdf5_messages(hdf5_file *f, uint64_t address, hdf5_take *take, void *context);

/* Adds the dataset that these messages describe; the name is copied, without a ":0" at its end. */
typedef struct hdf5_description {
    wire_bytes space, type, layout;     /* empty: there is no such message */
    bool       shared, external;
} hdf5_description;
bool eddy__hdf5_dataset(hdf5_file *f, const hdf5_description *d, const char *name);

#endif
