/* file.h -- what the readers share: whole files as bytes, numbers in them, and inflated bytes. */
#ifndef EDDY_INPUT_FILE_H
#define EDDY_INPUT_FILE_H

#include "../internal.h"
#include "../readers.h"

/* A file that was read, or that is being read in pieces. */
typedef struct data_file {
    const eddy_files *files;
    const char       *path;
    eddy_error       *error;
    int64_t           size;
    int               fd;            /* -1: closed */
    int64_t           at;            /* bytes read by eddy__file_next */
    uint8_t          *bytes;         /* size of them, of eddy__file_read, and a zero behind them */
} data_file;

/* False with the error, also for a NULL path; then nothing is open. */
bool    eddy__file_open(data_file *f, const char *path, const eddy_files *files, eddy_error *error);
/* 1 to n bytes; 0 at the end, -1 with the error. */
int64_t eddy__file_some(data_file *f, void *p, size_t n);
/* The next n bytes; false with the error, also if the file ends before. */
bool    eddy__file_next(data_file *f, void *p, int64_t n);
/* Opens, reads everything and closes. */
bool    eddy__file_read(data_file *f, const char *path, const eddy_files *files, eddy_error *error);
/* Closes the file and frees its bytes; for one that is closed, nothing. */
void    eddy__file_free(data_file *f);
/* "PATH: byte N: what", EDDY_CORRUPT; returns false. */
bool    eddy__file_damaged(const data_file *f, int64_t at, const char *what);

/* Numbers of n bytes, little-endian and big-endian. */
uint64_t eddy__little(const uint8_t *p, int n);
uint64_t eddy__big(const uint8_t *p, int n);

/* The bytes of a deflated stream. */
typedef enum deflated { DEFLATED_RAW, DEFLATED_GZIP } deflated;
typedef struct inflater inflater;
/* Of n bytes of f at `at`. NULL with the error. */
inflater *eddy__inflate_begin(const data_file *f, int64_t at, int64_t n, deflated kind);
/* Exactly n bytes, at least 1; EDDY_CORRUPT if there are fewer. */
bool      eddy__inflate(inflater *z, void *to, size_t n);
/* True if the stream has ended, and with it the bytes; its checksum was right. */
bool      eddy__inflate_ended(inflater *z);
void      eddy__inflate_free(inflater *z);
/* The most bytes that n deflated bytes can hold. */
int64_t   eddy__inflate_most(int64_t n);
uint32_t  eddy__crc32(uint32_t crc, const void *p, size_t n);

/* A new array of elements that a reader writes; NULL with the error. */
eddy_array *eddy__file_array(const data_file *f, eddy_dtype d, eddy_shape s);

#endif
