/* safetensors_header.h -- declarations shared by the safetensors reader and writer. */
#ifndef EDDY_GRAPH_FILES_SAFETENSORS_HEADER_H
#define EDDY_GRAPH_FILES_SAFETENSORS_HEADER_H

#include "graph/base/text.h"
#include "graph/files/safetensors.h"

enum { EDDY_SAFETENSORS_HEADER = 100000000 }; /* the largest header, in bytes; the format's limit */

/* The keys of metadata that the writer adds, and that the reader checks and leaves out: the CRC-32C
 * of each array, eight digits for each in the order of the data, and that of the eight bytes and
 * the header before the data, with zeros in the place of its own digits. */
#define EDDY_SAFETENSORS_CRCS       "eddy.crc32c"
#define EDDY_SAFETENSORS_HEADER_CRC "eddy.header_crc32c"
enum { EDDY_CRC_DIGITS = 8 };

/* For qsort, on entries and on pairs of the metadata. */
int eddy__safetensors_by_name(const void *a, const void *b);
int eddy__safetensors_by_key(const void *a, const void *b);

/* Reads names, types, offsets and metadata from the JSON text into s, sorted by name and by key.
 * Checks each entry, and that no name and no key occurs twice. Strings are decoded in place: those
 * of s point into the text. */
bool eddy__safetensors_parse(eddy_safetensors *s, const char *path, char *text, size_t n,
                             eddy_error *e);

#endif
