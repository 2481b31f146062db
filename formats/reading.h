/* reading.h -- the state of one reading that the readers of all models share. It is the first
 * member of theirs.
 *
 * A model is built twice, first in a graph of its own as a trial, so that an error leaves the
 * caller's graph as it was. */
#ifndef EDDY_FORMATS_READING_H
#define EDDY_FORMATS_READING_H

#include "names.h"
#include "node_report.h"
#include "source.h"

#include <stdarg.h>

typedef struct reading {
    region        memory;
    source       *file;
    const char   *path;             /* for messages */
    eddy_error   *error;            /* the caller's; may be NULL */
    eddy_graph   *graph;            /* in which nodes are built */
    const char   *root;             /* the scope of the model in the graph, with its slash */
    eddy_session *session;          /* evaluates constants */
    struct kept  *kept;             /* arrays to release */
    entry_list    entries;
    bool          trial;            /* builds in a graph of its own */
    bool          reporting;        /* goes on after nodes that cannot be built */
    bool          failed;           /* *error says why */
    int           nodes;            /* built so far */
    int64_t       computed;         /* elements: see eddy__reading_computes */
} reading;

/* Builds the model in r->graph, in its current scope; false with the error. */
typedef bool reading_pass(reading *r);

/* Clears *error and checks that there is a file; `what` is named without a path. */
bool eddy__reading_begin(reading *r, eddy_error *error, const char *path, const void *data,
                         const char *what);
/* Reads the file, or copies the data. */
bool eddy__reading_open(reading *r, const void *data, size_t size, const eddy_files *files,
                        int64_t max_bytes);
/* Builds the model in g, after a trial. */
bool eddy__reading_build(reading *r, eddy_graph *g, const char *scope, reading_pass *pass);
/* Builds it in a trial and reports what cannot be built; NULL with the error. */
eddy_model_report *eddy__reading_report(reading *r, const char *scope, reading_pass *pass);
void eddy__reading_close(reading *r);

/* Records the first error, with the path; returns false. */
bool eddy__reading_error(reading *r, eddy_status s, const char *format, va_list args);
bool eddy__reading_no_memory(reading *r);
/* Why a node cannot be built; a text in any case. */
const char *eddy__reading_reason(region *memory, const char *format, va_list args);
/* Records the error of a file as it is; it is the first one. */
bool eddy__reading_file_error(reading *r, const eddy_error *e);

/* Keeps an array until the reader is closed; false with the error for NULL. */
bool        eddy__reading_keep(reading *r, eddy_array *a);
/* Counts elements of constants that are computed while a model is read, in the trial and in the
 * build after it anew. False if there would be more than 2^20: a small file must not take much
 * memory. */
bool        eddy__reading_computes(reading *r, int64_t count);
/* The elements of a tensor if they are known, or if it is constant and they are few; else NULL. */
eddy_array *eddy__reading_elements(reading *r, eddy_tensor t, bool constant);
/* Elements of the file as a constant, or a variable, computed in this type. Halves are stored as
 * halves. */
eddy_tensor eddy__reading_weight(reading *r, eddy_array *a, const char *name, eddy_dtype compute,
                                 bool variable, bool not_trainable);
/* The tensor for one of the caller's graph: in a trial, a tensor of the trial's graph. */
eddy_tensor eddy__reading_stand_in(reading *r, eddy_tensor t);

#endif
