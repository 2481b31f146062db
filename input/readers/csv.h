/* csv.h -- fields of a CSV file, and columns made of them. */
#ifndef EDDY_INPUT_CSV_H
#define EDDY_INPUT_CSV_H

#include "file.h"

enum { CSV_COLUMNS = 4096 };

/* Where the scanner is, and the field that it read last. */
typedef struct scanner {
    const data_file *f;
    char             separator;
    int64_t          at;
    char            *text;           /* the field, ended by a zero; grows with the fields */
    size_t           length, room;
    int64_t          begin;          /* its first byte in the file */
    bool             quoted, last;   /* last: of its row */
} scanner;

/* The next field; false at the end of the file, and with an error for an open quote, a zero, or
 * if out of memory. */
bool eddy__csv_field(scanner *s);

/* Words with their numbers. */
typedef struct words {
    char    *bytes;                  /* each ended by a zero */
    size_t   length, room;
    size_t  *begin;                  /* of each word */
    int32_t  n, n_room;
    int32_t *table;                  /* open addressing: 1 + number, 0 for a free place */
    int32_t  places;                 /* a power of 2 */
} words;

typedef struct column {
    char         *name;
    eddy_csv_type type;
    bool          no_int, no_float, missing;  /* what was seen while inferring */
    eddy_array   *array;
    words         words;
} column;

/* The number of a word, which is added if it is new; -1 if out of memory. */
int32_t eddy__words_number(words *w, const char *text, size_t n);
void    eddy__words_free(words *w);

/* The types that a field can have; false if it is not a number. */
bool eddy__csv_int64(const char *text, int64_t *v);
bool eddy__csv_float64(const char *text, double *v);
bool eddy__csv_float32(const char *text, float *v);

#endif
