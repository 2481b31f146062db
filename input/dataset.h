/* dataset.h -- training data as a pipeline: records from arrays, files or functions, which are
 * shuffled, changed, put into batches and read ahead by threads, as in tf.data.
 *
 *   eddy_dataset *d = eddy_dataset_from_arrays((const eddy_array *[]){ images, labels }, 2);
 *   d = eddy_dataset_shuffle(d, .seed = 7);
 *   d = eddy_dataset_batch(d, 32);
 *   d = eddy_dataset_prefetch(d);
 *   const eddy_array *batch[2];
 *   for (int epoch = 0; epoch < 10; epoch++)
 *       while (eddy_dataset_next(d, batch))
 *           eddy_run(s, EDDY_FEED({ x, batch[0] }, { y, batch[1] }), EDDY_FETCH(train), NULL);
 *   if (eddy_dataset_status(d) != EDDY_OK) puts(eddy_dataset_message(d));
 *   eddy_dataset_free(d);
 *
 * A record is a list of arrays, its components. Each call below makes a stage from the one before
 * it and takes it over, also if it fails: only the last one is freed. The first error stays with
 * the pipeline, and every later call passes it on, so only the end of a loop must be checked.
 *
 * The order of records and everything random follow from seeds, epochs and numbers of records: they
 * are the same for any number of threads. The position of a pipeline is a short text, which a
 * checkpoint holds (eddy_save_with_dataset): a training that is resumed gets the same batches, bit
 * for bit, as one that was not interrupted.
 *
 * A dataset is indexed if each record can be read by its number: sources of arrays, files and
 * functions with a size are, and map, zip, shuffle (of everything), batch, repeat, take, skip,
 * shard and cache keep it. Then a position is an epoch and a number, and several threads make
 * records at the same time. The others are streams: their position is that of each stage, and
 * shuffling with a buffer and buckets read some records again when it is restored.
 *
 * These functions are a library of their own, libeddy_input, which uses only the public interface
 * of
 * Eddy: include <eddy/input.h> and link with pkg-config --libs eddy-input. */
#ifndef EDDY_DATASET_H
#define EDDY_DATASET_H

#include "../eddy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pipeline up to one of its stages. One thread at a time uses it. */
typedef struct eddy_dataset eddy_dataset;

enum { EDDY_MAX_COMPONENTS = 32 };       /* of a record */

/* The type of a component of every record; unknown dimensions are EDDY_ANY. */
typedef struct eddy_component {
    eddy_dtype dtype;
    eddy_shape shape;
} eddy_component;

/* -------------------------------------------------------------- reading -- */

/* Reads the next record: sets arrays[i] for each component (arrays may be NULL). They are valid
 * until the next call on d and must not be changed or freed; memory is used again from record to
 * record, so that nothing is allocated while shapes repeat. False at the end of an epoch, after
 * which the next call begins the next epoch, and on an error, after which every call returns
 * false. */
EDDY_API bool eddy_dataset_next(eddy_dataset *d, const eddy_array **arrays);

/* The first error and its message; EDDY_OK and "" if there is none. After eddy_dataset_seek failed,
 * the message is that of its error. A NULL dataset is EDDY_NO_MEMORY: memory ran out, or a stage
 * was made of no dataset. The message lives as long as d. */
EDDY_API eddy_status eddy_dataset_status(const eddy_dataset *d);
EDDY_API const char *eddy_dataset_message(const eddy_dataset *d);

/* The number of components of each record, 0 after an error, and component i, of type
 * EDDY_DEFAULT_DTYPE if there is none. */
EDDY_API int            eddy_dataset_width(const eddy_dataset *d);
EDDY_API eddy_component eddy_dataset_component(const eddy_dataset *d, int i);
/* The number of records of an epoch: -1 if it is not known, INT64_MAX if there is no end. A cache
 * of a stream reads it for this. */
EDDY_API int64_t        eddy_dataset_size(eddy_dataset *d);
/* The epoch of the next record, from 0; a stage that repeats counts as one epoch. */
EDDY_API int64_t        eddy_dataset_epoch(const eddy_dataset *d);
/* Begins that epoch. EDDY_INVALID_ARGUMENT for a negative one and one above 2^61. */
EDDY_API eddy_status    eddy_dataset_begin(eddy_dataset *d, int64_t epoch);

/* Stops the threads of all stages and frees them. For NULL, and for a stage that another one has
 * taken over, it does nothing. */
EDDY_API void           eddy_dataset_free(eddy_dataset *d);

/* -------------------------------------------------------------- position -- */

/* The position of the next record, as a text without line ends: the stages with the options on which
 * the order depends, and numbers. It lives until the next call on d; NULL on an error. */
EDDY_API const char *eddy_dataset_position(eddy_dataset *d);
/* Goes to a position of a pipeline with the same stages; the numbers of threads may differ. The
 * next record is then the one that came next. EDDY_INVALID_ARGUMENT if the stages differ,
 * EDDY_CORRUPT for another text, EDDY_OUT_OF_RANGE if a source has fewer records; then d is where
 * it was. Streams read their records up to there: a position in a stream without end may take as
 * long as it says. */
EDDY_API eddy_status eddy_dataset_seek(eddy_dataset *d, const char *position);

/* The key of the position in the metadata of a checkpoint, for programs that call
 * eddy_save_checkpoint and eddy_keep_checkpoint with metadata of their own. */
#define EDDY_DATASET_POSITION "dataset.position"

/* eddy_save and eddy_restore of all variables together with the position of a pipeline, in one
 * file, which is replaced atomically. If restoring fails, neither changes. EDDY_NOT_FOUND if the
 * file has no position; other errors as there. The message is in *error, which may be NULL. */
EDDY_API eddy_status eddy_save_with_dataset(eddy_session *s, const char *path, eddy_dataset *d,
                                            eddy_error *error);
EDDY_API eddy_status eddy_restore_with_dataset(eddy_session *s, const char *path, eddy_dataset *d,
                                               eddy_error *error);

/* --------------------------------------------------- records in functions -- */

/* A record that a function of the user reads or makes. */
typedef struct eddy_record eddy_record;

/* Component i of a record that was given; NULL if there is none. Valid during the call. */
EDDY_API const eddy_array *eddy_record_array(eddy_record *r, int i);
EDDY_API int               eddy_record_width(const eddy_record *r);
/* Makes component i of a new record and returns its elements, which the caller writes: all of them,
 * since the memory may have held another record. NULL if the shape is not known or too large, or if
 * out of memory; the function then returns false. */
EDDY_API void             *eddy_record_make(eddy_record *r, int i, eddy_dtype d, eddy_shape s);
/* The same with the elements of an array. */
EDDY_API bool              eddy_record_set(eddy_record *r, int i, const eddy_array *a);
/* Reports an error from a function, which returns the result, false. */
EDDY_API bool              eddy_record_fail(eddy_record *r, eddy_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The epoch, and the number of the record in its source: the same record has the same number in
 * each epoch, wherever shuffling puts it. */
EDDY_API int64_t           eddy_record_epoch(const eddy_record *r);
EDDY_API int64_t           eddy_record_number(const eddy_record *r);
/* Random numbers for changing a record, such as cropping an image: functions of the epoch and
 * number of the record, the seed, and `draw`, which distinguishes several numbers of one call.
 * uniform is in [0, 1). Philox4x32-10 (Salmon et al., Parallel random numbers, SC 2011). */
EDDY_API uint64_t          eddy_record_random(const eddy_record *r, uint64_t seed, uint32_t draw);
EDDY_API double            eddy_record_uniform(const eddy_record *r, uint64_t seed, uint32_t draw);

/* --------------------------------------------------------------- sources -- */

/* Options of sources: `allocator`, of the memory of the pipeline, default libc's; it must be
 * thread-safe if a stage has threads. */

typedef struct eddy_from_arrays_args {
    size_t                   size_ EDDY_DEFAULT(sizeof(eddy_from_arrays_args));
    const eddy_array *const *arrays;
    int                      count;
    const eddy_allocator    *allocator;
} eddy_from_arrays_args;

/* Record i has row i of each array, along its first axis, which must have the same length in all
 * arrays. The arrays are retained. */
EDDY_API eddy_dataset *eddy_dataset_from_arrays_with(const eddy_from_arrays_args *given);
#define eddy_dataset_from_arrays(...) \
    eddy_dataset_from_arrays_with(EDDY_ARGS(eddy_from_arrays_args, __VA_ARGS__))

typedef struct eddy_from_function_args {
    size_t                size_ EDDY_DEFAULT(sizeof(eddy_from_function_args));
    bool                (*read)(void *context, int64_t epoch, int64_t i, eddy_record *out);
    void                 *context;
    const eddy_component *components;        /* n of them, which all records have */
    int                   n;
    int64_t               size EDDY_DEFAULT(-1); /* records of an epoch; -1: a stream */
    void                (*release)(void *context); /* called when the source is freed */
    const eddy_allocator *allocator;
} eddy_from_function_args;

/* Records that a function makes with eddy_record_make. With a size, it is asked for record i of 0
 * to size - 1 in any order and by several threads at once. Without one it is asked for 0, 1, 2 ...
 * and returns false for the end of the epoch; it is asked for 0 again when an epoch begins or a
 * position is restored, and then again for the records before that position. Returns false with
 * eddy_record_fail on an error. */
EDDY_API eddy_dataset *eddy_dataset_from_function_with(const eddy_from_function_args *given);
#define eddy_dataset_from_function(...) \
    eddy_dataset_from_function_with(EDDY_ARGS(eddy_from_function_args, __VA_ARGS__))

typedef struct eddy_from_files_args {
    size_t                size_ EDDY_DEFAULT(sizeof(eddy_from_files_args));
    const char *const    *paths;             /* count of them, copied */
    int                   count;
    eddy_array         *(*load)(const char *path, const eddy_files *files, eddy_error *error);
    eddy_component        component;         /* of every file, EDDY_ANY where files differ */
    const eddy_files     *files;             /* copied; default POSIX */
    const eddy_allocator *allocator;
} eddy_from_files_args;

/* Record i is the array in file i, read when it is needed by a function such as eddy_jpeg_load
 * (readers.h) or eddy_array_load. */
EDDY_API eddy_dataset *eddy_dataset_from_files_with(const eddy_from_files_args *given);
#define eddy_dataset_from_files(...) \
    eddy_dataset_from_files_with(EDDY_ARGS(eddy_from_files_args, __VA_ARGS__))

typedef struct eddy_from_lines_args {
    size_t                size_ EDDY_DEFAULT(sizeof(eddy_from_lines_args));
    const char           *path;
    const eddy_files     *files;             /* copied; default POSIX */
    int64_t               max_line EDDY_DEFAULT(1048576); /* bytes; a longer line is an EDDY_LIMIT error */
    const eddy_allocator *allocator;
} eddy_from_lines_args;

/* A stream of the lines of a text file, uint8[bytes] without "\n" or "\r\n". The file is opened
 * when its first line is read, and only a part of it is in memory. */
EDDY_API eddy_dataset *eddy_dataset_from_lines_with(const eddy_from_lines_args *given);
#define eddy_dataset_from_lines(...) \
    eddy_dataset_from_lines_with(EDDY_ARGS(eddy_from_lines_args, __VA_ARGS__))

/* ---------------------------------------------------------------- stages -- */

typedef struct eddy_map_args {
    size_t                size_ EDDY_DEFAULT(sizeof(eddy_map_args));
    eddy_dataset         *dataset;
    bool                (*function)(void *context, eddy_record *in, eddy_record *out);
    void                 *context;
    const eddy_component *components;        /* of the new records; default: those of the old */
    int                   n;
    void                (*release)(void *context);
} eddy_map_args;

/* Each record becomes what a function makes of it. With prefetching by several threads it is called
 * by all of them. */
EDDY_API eddy_dataset *eddy_dataset_map_with(const eddy_map_args *given);
#define eddy_dataset_map(...) eddy_dataset_map_with(EDDY_ARGS(eddy_map_args, __VA_ARGS__))

typedef struct eddy_map_graph_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_map_graph_args));
    eddy_dataset *dataset;
    eddy_graph   *graph;
    eddy_list     inputs;            /* are fed the components of a record */
    eddy_list     outputs;           /* are the new components */
    eddy_tensor   key;               /* int64[2], is fed the epoch and number; default: none */
} eddy_map_graph_args;

/* The same with a graph, run in a session of the dataset, which first runs the initializer if there
 * are variables. The graph must live as long as the dataset. Random operations draw by the order of
 * runs: for results that resume and do not depend on threads, use those that are functions of a
 * seed, such as eddy_stateless_random_uniform(shape, key), or .stateless_seed = key where there is
 * one. */
EDDY_API eddy_dataset *eddy_dataset_map_graph_with(const eddy_map_graph_args *given);
#define eddy_dataset_map_graph(...) \
    eddy_dataset_map_graph_with(EDDY_ARGS(eddy_map_graph_args, __VA_ARGS__))

/* Keeps the records for which the function is true. A stream. */
EDDY_API eddy_dataset *eddy_dataset_filter(eddy_dataset *d,
                                           bool (*keep)(void *context, eddy_record *r),
                                           void *context);

typedef struct eddy_shuffle_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_shuffle_args));
    eddy_dataset *dataset;
    int64_t       seed;
    int64_t       buffer;            /* records to choose from; 0: all of an epoch */
} eddy_shuffle_args;

/* Another order in each epoch. Without a buffer it is a permutation of all records, with the same
 * probability for each (Fisher-Yates); the dataset must be indexed, such as by
 * eddy_dataset_cache, and have at most 2^32 - 1 records, for each of which it keeps 8 bytes. With a
 * buffer, each record is drawn from that many, as by tf.data's shuffle. */
EDDY_API eddy_dataset *eddy_dataset_shuffle_with(const eddy_shuffle_args *given);
#define eddy_dataset_shuffle(...) eddy_dataset_shuffle_with(EDDY_ARGS(eddy_shuffle_args, __VA_ARGS__))

typedef struct eddy_batch_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_batch_args));
    eddy_dataset *dataset;
    int64_t       size;
    bool          drop_remainder;    /* of an epoch, if it is less than a batch */
    bool          padded;            /* components may differ in shape: see below */
    double        padding;           /* the elements that are added */
    bool          lengths;           /* adds a component, int64[size]: component 0's first axis */
} eddy_batch_args;

/* Joins `size` records along a new first axis. Their shapes must be equal; `padded` extends each to
 * the largest of its batch, on each axis at the end. */
EDDY_API eddy_dataset *eddy_dataset_batch_with(const eddy_batch_args *given);
#define eddy_dataset_batch(...) eddy_dataset_batch_with(EDDY_ARGS(eddy_batch_args, __VA_ARGS__))

typedef struct eddy_bucket_args {
    size_t         size_ EDDY_DEFAULT(sizeof(eddy_bucket_args));
    eddy_dataset  *dataset;
    const int64_t *boundaries;       /* n of them, increasing: n + 1 buckets */
    int            n;
    int64_t        size;             /* of a batch */
    bool           drop_remainder;
    double         padding;
    bool           lengths;
} eddy_bucket_args;

/* Padded batches of records of similar length, which is the first axis of component 0: a record
 * goes into the first bucket whose boundary is larger than its length, else into the last one, and
 * a full bucket is the next batch, as in tf.data's bucket_by_sequence_length. A stream; at most
 * 2^20 records in all buckets. */
EDDY_API eddy_dataset *eddy_dataset_bucket_with(const eddy_bucket_args *given);
#define eddy_dataset_bucket(...) eddy_dataset_bucket_with(EDDY_ARGS(eddy_bucket_args, __VA_ARGS__))

/* `count` epochs as one, or without end if count is negative. Each has its own shuffled order. */
EDDY_API eddy_dataset *eddy_dataset_repeat(eddy_dataset *d, int64_t count);
/* The first n records; all except the first n; for -1 all, and none, as in tf.data. Records i,
 * i + n, i + 2n ...: part i of n, such as the share of process i of n. */
EDDY_API eddy_dataset *eddy_dataset_take(eddy_dataset *d, int64_t n);
EDDY_API eddy_dataset *eddy_dataset_skip(eddy_dataset *d, int64_t n);
EDDY_API eddy_dataset *eddy_dataset_shard(eddy_dataset *d, int64_t n, int64_t i);
/* Keeps each record in memory after it was read for the first time, as it is in epoch 0. Of a
 * stream it reads all records at once, and is indexed. */
EDDY_API eddy_dataset *eddy_dataset_cache(eddy_dataset *d);

typedef struct eddy_interleave_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_interleave_args));
    eddy_dataset *const *datasets;   /* count of them, with the same components */
    int                  count;
    int                  cycle EDDY_DEFAULT(1); /* datasets that are read at the same time */
    int64_t              block EDDY_DEFAULT(1); /* records from one before the next is read */
} eddy_interleave_args;

/* Reads `cycle` datasets in turn, `block` records from each; one that ends gives up its turn, and
 * the next of the list takes its place. The default reads one after the other. As tf.data's
 * interleave. A stream. */
EDDY_API eddy_dataset *eddy_dataset_interleave_with(const eddy_interleave_args *given);
#define eddy_dataset_interleave(...) \
    eddy_dataset_interleave_with(EDDY_ARGS(eddy_interleave_args, __VA_ARGS__))

/* Records of all components of `count` datasets, as many as the shortest has. */
EDDY_API eddy_dataset *eddy_dataset_zip(eddy_dataset *const *datasets, int count);

typedef struct eddy_prefetch_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_prefetch_args));
    eddy_dataset *dataset;
    int           threads EDDY_DEFAULT(1);  /* 1 to 256 */
    int           buffer;            /* records that are ready or being made; default threads + 1 */
} eddy_prefetch_args;

/* Makes records before they are asked for, in threads, which begin with the first record. Of an
 * indexed dataset they make different records at the same time; of a stream that ends with
 * eddy_dataset_map they run its function at the same time. The order does not change. After fork(),
 * the child gets the error EDDY_CLOSED. */
EDDY_API eddy_dataset *eddy_dataset_prefetch_with(const eddy_prefetch_args *given);
#define eddy_dataset_prefetch(...) \
    eddy_dataset_prefetch_with(EDDY_ARGS(eddy_prefetch_args, __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
