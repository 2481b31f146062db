/* runs.h -- what the event files below a folder contain, as series of points in the order of their
 * records: the input of the report. */
#ifndef EDDY_FORMATS_TRAINING_REPORT_RUNS_H
#define EDDY_FORMATS_TRAINING_REPORT_RUNS_H

#include "../region.h"
#include "../source.h"

typedef enum series_kind {
    SERIES_SCALAR, SERIES_HISTOGRAM, SERIES_IMAGE, SERIES_TEXT, SERIES_PROFILE
} series_kind;

typedef struct point {
    double     time;            /* seconds since 1970 */
    int64_t    step;
    double     number;          /* of a scalar */
    wire_bytes bytes;           /* the message of a histogram, an image or a profile; a text */
} point;

/* The values of a run under one tag. */
typedef struct series {
    series_kind    kind;
    int            run;
    wire_bytes     tag;
    point         *points;
    size_t         count, room;
    int            file;        /* of the last point */
    struct series *next;
} series;

/* The event files of one folder. */
typedef struct run {
    const char *name;           /* the folder, relative to the one that was read */
    double      begin, end;     /* the times of the first and the last value */
    int64_t     last_step;
    wire_bytes  graph;          /* a GraphDef; the last one */
    wire_bytes  hparams;        /* SessionStartInfo of the plugin of hyper-parameters */
} run;

typedef struct runs {
    region        memory;
    run          *at;
    int           count;
    series       *first, *last; /* in the order in which their tags appear */
    series      **table;        /* by hash */
    size_t        n_series, places;
    source      **files;
    int           n_files;
    const char  **notes;        /* sentences about files that are damaged */
    int           n_notes;
} runs;

/* Reads all files below `folder` with "tfevents" in their names. A record that ends before its length
 * is still being written and is left out, as is all that follows a record with a wrong checksum,
 * which a note says. False with the error: no such files, no memory, too many files. `r` must be
 * freed in either case. */
bool eddy__runs_read(runs *r, const char *folder, eddy_error *error);
/* Adds the records of a file to run `number`. The bytes must live as long as r, and r->notes have room
 * for one more. False without memory. */
bool eddy__runs_add(runs *r, int number, const char *path, wire_bytes b);
void eddy__runs_free(runs *r);

#endif
