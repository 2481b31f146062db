/* internal.h -- what the stages of a pipeline share; not installed.
 *
 * A stage is a struct that begins with an eddy_dataset. An indexed stage implements `at` and `size`
 * and may be called by several threads at once; a stream implements the other functions and is
 * called by one thread at a time. eddy__next and the functions beside it read both kinds one record
 * after another. */
#ifndef EDDY_INPUT_INTERNAL_H
#define EDDY_INPUT_INTERNAL_H

#include "dataset.h"

#include <pthread.h>

enum { INPUT_MAX_DEPTH = 64, INPUT_ALIGNMENT = 64, INPUT_LABEL = 96 };

/* Epochs that a pipeline can begin with, and numbers of a position: counting on from there does not
 * overflow. */
static const int64_t input_last_epoch = (int64_t)1 << 61, input_last_number = (int64_t)1 << 62;

/* --------------------------------------------------------------- records -- */

/* The elements of a component: in memory of its own, which grows, or in lent memory, such as a row
 * of a batch, if the component has exactly the type for which that was lent. */
typedef struct slot {
    eddy_dtype dtype;
    eddy_shape shape;
    size_t     bytes;
    char      *at;                   /* the elements */
    char      *block;                /* own memory, not aligned; room bytes are usable */
    size_t     room;
    char      *lent;
    eddy_dtype lent_dtype;
    eddy_shape lent_shape;
} slot;

struct eddy_record {
    eddy_record          *next;      /* in a list of spare records */
    const eddy_allocator *allocator;
    eddy_error           *error;     /* where functions that make the record report an error */
    int64_t               epoch, number;
    int                   n;
    slot                 *slots;
    eddy_array_room      *rooms;     /* for views of the components */
};

/* NULL if out of memory. The allocator must outlive the record. */
eddy_record *eddy__record_new(const eddy_allocator *a, int n);
void         eddy__record_free(eddy_record *r);              /* NULL is allowed */
/* Copies the components; false with an error in to->error. */
bool         eddy__record_copy(eddy_record *to, const eddy_record *from);
/* The same, without copying where both have memory of their own: `from` is then undefined. */
bool         eddy__record_move(eddy_record *to, eddy_record *from);
void        *eddy__slot_make(const eddy_allocator *a, slot *s, eddy_dtype d, eddy_shape shape);
/* Lends memory for the next record, for a component of that type; lent NULL ends it. */
void         eddy__slot_lend(slot *s, char *lent, eddy_dtype d, eddy_shape shape);
/* False with an error if the components are not as the dataset promises. `who` made them. */
bool         eddy__record_check(const eddy_record *r, const eddy_component *c, int n,
                                const char *who);

void *eddy__input_take(const eddy_allocator *a, size_t bytes);   /* zeros; NULL if there is none */
void  eddy__input_give(const eddy_allocator *a, void *p, size_t bytes);
/* Records the first error and returns false; e may be NULL. */
bool  eddy__input_fail(eddy_error *e, eddy_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool  eddy__input_no_memory(eddy_error *e);
/* "float32[3,?]" */
char *eddy__component_print(eddy_component c, char *buf, size_t size);

/* ---------------------------------------------------------------- stages -- */

typedef enum outcome { INPUT_FAILED, INPUT_RECORD, INPUT_END } outcome;

typedef struct stage {
    /* Indexed. Errors go to *e and to out->error. size: -1 on an error, INT64_MAX without end. */
    int64_t (*size)(eddy_dataset *d, eddy_error *e);
    bool    (*at)(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out);
    /* Streams. rewind begins an epoch; save writes d->words numbers, among them those of the
     * sources, and load goes where they were written. */
    outcome (*next)(eddy_dataset *d, eddy_record *out);
    void    (*rewind)(eddy_dataset *d, int64_t epoch);
    void    (*save)(eddy_dataset *d, int64_t *words);
    bool    (*load)(eddy_dataset *d, const int64_t *words, eddy_error *e);
    void    (*release)(eddy_dataset *d);  /* all except the sources; also of a half-made stage */
} stage;

struct eddy_dataset {
    const stage    *stage;
    eddy_allocator  allocator;
    size_t          bytes;           /* of the struct of the stage */
    eddy_dataset  **sources;
    int             n_sources;
    int             depth;           /* stages down to the source */
    bool            indexed, taken;  /* taken: it is the source of another stage */
    char            label[INPUT_LABEL]; /* what a position must agree with */
    eddy_component *components;
    int             n;
    int             words;           /* numbers of a position */
    int64_t         epoch, at;       /* the next record of an indexed dataset */
    bool            ended;           /* until the next epoch is begun */
    int64_t         user_epoch;      /* of the dataset that the user reads */
    eddy_record    *current;         /* likewise */
    eddy_error      error;
    char           *text;            /* the position that was given last */
    size_t          text_bytes;
    int64_t        *saved;
    int             n_saved;
    pthread_mutex_t lock;            /* of `spare`, and whatever the stage says */
    eddy_record    *spare;
};

/* A stage that takes over its sources; NULL if out of memory, also if a source is NULL: then the
 * sources are freed. It is indexed if `st` is and all sources are. Its components are those of the
 * first source. An error of a source, and wrong use, is an error of the stage. */
void *eddy__stage_new(size_t bytes, const stage *st, eddy_dataset *const *sources, int n,
                      const char *name);
/* The same for a source. */
void *eddy__source_new(size_t bytes, const stage *st, const eddy_allocator *a, const char *name);
/* Records the first error; returns false. */
bool  eddy__dataset_fail(eddy_dataset *d, eddy_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The text that every position of the stage must contain after its name. */
void  eddy__label(eddy_dataset *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same about the stages of its sources, except the first, which a position names: a
 * checksum. */
void  eddy__label_sources(eddy_dataset *d);
/* Copies the list; false with an error of d. */
bool  eddy__set_components(eddy_dataset *d, const eddy_component *c, int n, const char *who);

int64_t eddy__size(eddy_dataset *d, eddy_error *e);
bool    eddy__at(eddy_dataset *d, int64_t epoch, int64_t i, eddy_record *out);
outcome eddy__next(eddy_dataset *d, eddy_record *out);
void    eddy__rewind(eddy_dataset *d, int64_t epoch);
void    eddy__save(eddy_dataset *d, int64_t *words);
bool    eddy__load(eddy_dataset *d, const int64_t *words, eddy_error *e);
/* A record with the components of d that belongs to the caller until it is given back; NULL with an
 * error in *e. */
eddy_record *eddy__borrow(eddy_dataset *d, eddy_error *e);
void         eddy__give_back(eddy_dataset *d, eddy_record *r);
/* eddy_dataset_shuffle with a buffer. */
eddy_dataset *eddy__shuffle_buffer(eddy_dataset *d, int64_t seed, int64_t buffer);
/* Joins n records to a batch. With `lengths`, the last component of the batch is the size of their
 * components 0 along the first axis. In batch_join.c. */
bool          eddy__join_padded(eddy_record *const *records, int64_t n, double padding, bool lengths,
                                eddy_record *out);
/* The components of batches of at most `size` records of d; `size` EDDY_ANY: not all are full. */
bool          eddy__batch_components(eddy_dataset *batch, const eddy_dataset *d, int64_t size,
                                     bool padded, bool lengths, const char *who);
/* The function of a stage made by eddy_dataset_map. */
bool         eddy__is_map(const eddy_dataset *d);
bool         eddy__map_apply(eddy_dataset *d, eddy_record *in, eddy_record *out);

/* ---------------------------------------------------------- random numbers -- */

/* 64 bits, a function of all arguments. */
uint64_t eddy__random(uint64_t seed, uint64_t a, uint64_t b);
/* 0 to n - 1, for n of at most 2^32. */
uint64_t eddy__random_below(uint64_t seed, uint64_t a, uint64_t b, uint64_t n);

#endif
