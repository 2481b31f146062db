/* readers.h -- arrays from data files.
 *
 * Each reader takes the path of a file, how to access it (NULL: POSIX) and where to report an error
 * (may be NULL), and returns an array that the caller frees, or NULL. So each can be the function
 * of eddy_dataset_from_files. Messages name the file, the byte and the reason: EDDY_NOT_FOUND and
 * EDDY_IO; EDDY_CORRUPT for a damaged file, EDDY_UNIMPLEMENTED for a variant of the format that is
 * not read, and if the library was built without the package that the reader needs; EDDY_LIMIT for
 * a file above 2^40 bytes or an image above 2^28 pixels; EDDY_NO_MEMORY. Memory is never taken for
 * more than a file can contain: a reader takes at most the file, the arrays that it returns, and a
 * little.
 *
 * .npy files are read by eddy_array_load (graph/graph.h). */
#ifndef EDDY_READERS_H
#define EDDY_READERS_H

#include "../eddy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- arrays -- */

/* An IDX file, the format of MNIST, plain or compressed with gzip (zlib): uint8, int32, float32 and
 * float64 as they are, int8 and int16 as int32. */
EDDY_API eddy_array *eddy_idx_load(const char *path, const eddy_files *files, eddy_error *error);

/* An .npz archive of NumPy (savez, savez_compressed), whose arrays are read one by one. Compressed
 * arrays need zlib. */
typedef struct eddy_npz eddy_npz;
EDDY_API eddy_npz   *eddy_npz_open(const char *path, const eddy_files *files, eddy_error *error);
/* The number of arrays, and the name of array i without ".npy"; NULL if there is none. */
EDDY_API int         eddy_npz_count(const eddy_npz *z);
EDDY_API const char *eddy_npz_name(const eddy_npz *z, int i);
/* The array of that name, checked against the archive's CRC-32; EDDY_NOT_FOUND if there is none. */
EDDY_API eddy_array *eddy_npz_array(const eddy_npz *z, const char *name, eddy_error *error);
EDDY_API void        eddy_npz_free(eddy_npz *z);

/* -------------------------------------------------------------- images -- */

/* uint8[height, width, channels]: 1 channel for gray, 2 for gray and alpha, 3 for RGB, 4 with
 * alpha. Palettes become RGB, 1, 2 and 4 bits 8 bits; the upper 8 of 16 bits are kept. libpng. */
EDDY_API eddy_array *eddy_png_load(const char *path, const eddy_files *files, eddy_error *error);
/* The same for JPEG: gray, RGB or CMYK. libjpeg-turbo; its exact integer transform. */
EDDY_API eddy_array *eddy_jpeg_load(const char *path, const eddy_files *files, eddy_error *error);
/* Either, by the first bytes of the file. */
EDDY_API eddy_array *eddy_image_load(const char *path, const eddy_files *files, eddy_error *error);

/* --------------------------------------------------------------- sound -- */

/* A WAV file as float32[frames, channels]: PCM of 8, 16, 24 and 32 bits in [-1, 1), and float of 32
 * and 64 bits as it is. */
EDDY_API eddy_array *eddy_wav_load(const char *path, const eddy_files *files, eddy_error *error);
/* Its frames per second; 0 on an error. */
EDDY_API int64_t     eddy_wav_rate(const char *path, const eddy_files *files, eddy_error *error);

/* ---------------------------------------------------------------- text -- */

/* The bytes of a file, uint8[n], and its characters, int32[n] code points of UTF-8; EDDY_CORRUPT
 * for bytes that are not UTF-8. */
EDDY_API eddy_array *eddy_bytes_load(const char *path, const eddy_files *files, eddy_error *error);
EDDY_API eddy_array *eddy_characters_load(const char *path, const eddy_files *files,
                                          eddy_error *error);

/* ----------------------------------------------------------------- CSV -- */

/* Type of a column: an element type, or categories for words. */
typedef enum eddy_csv_type {
    EDDY_CSV_INFER,              /* int64 if all fields are integers, else float64 if all are numbers,
                                  * else categories */
    EDDY_CSV_INT64,
    EDDY_CSV_FLOAT32,
    EDDY_CSV_FLOAT64,
    EDDY_CSV_CATEGORY,           /* int32: the number of the word, in order of first appearance */
    EDDY_CSV_SKIP                /* no array */
} eddy_csv_type;

typedef struct eddy_csv_read_args {
    size_t               size_ EDDY_DEFAULT(sizeof(eddy_csv_read_args));
    const char          *path;
    bool                 no_header;      /* the first row has values, and columns are "0", "1" ... */
    const eddy_csv_type *types;          /* n of them, in order; default: all are inferred */
    int                  n;
    char                 separator EDDY_DEFAULT(',');
    const char          *missing EDDY_DEFAULT("NA"); /* a field without a value, as is an empty one */
    double               integer_for_missing; /* a float column gets NaN, a category -1 */
    const eddy_files    *files;          /* default POSIX */
    eddy_error          *error;          /* may be NULL */
} eddy_csv_read_args;

/* A table from a CSV file as in RFC 4180: fields may be in quotes, where a quote is doubled and
 * separators and line ends are part of the field. Each row has as many fields as the first; an
 * empty line at the end counts for nothing in a table of several columns, and is a missing value in
 * a table of one. Numbers are read as by strtod in the C locale. An inferred column with a field in
 * quotes has categories, and an inferred integer column with missing values is float64.
 * EDDY_CORRUPT for another number of fields, an open quote, a zero byte, or a field that is not of
 * the given type, with the row, the column and the byte. At most 4096 columns. */
typedef struct eddy_csv eddy_csv;
EDDY_API eddy_csv   *eddy_csv_read_with(const eddy_csv_read_args *given);
#define eddy_csv_read(...) eddy_csv_read_with(EDDY_ARGS(eddy_csv_read_args, __VA_ARGS__))
EDDY_API int64_t     eddy_csv_rows(const eddy_csv *c);
EDDY_API int         eddy_csv_columns(const eddy_csv *c);
EDDY_API const char *eddy_csv_name(const eddy_csv *c, int column);     /* NULL if there is none */
EDDY_API int         eddy_csv_find(const eddy_csv *c, const char *name); /* -1 if there is none */
/* The values of a column, one for each row. The array belongs to the table; retain it to keep it
 * longer. NULL for a column that was skipped or does not exist. */
EDDY_API const eddy_array *eddy_csv_array(const eddy_csv *c, int column);
/* Words of a category column: their number, 0 for other columns, and word i. */
EDDY_API int         eddy_csv_words(const eddy_csv *c, int column);
EDDY_API const char *eddy_csv_word(const eddy_csv *c, int column, int i);
EDDY_API void        eddy_csv_free(eddy_csv *c);

#ifdef __cplusplus
}
#endif
#endif
