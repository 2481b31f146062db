/* zip.h -- the members of a ZIP archive whose data are stored without compression, as PyTorch
 * and Keras write them; also archives above 4 GiB. */
#ifndef EDDY_FORMATS_ZIP_H
#define EDDY_FORMATS_ZIP_H

#include "region.h"

typedef struct zip_member {
    const char *name;
    wire_bytes  data;
    uint32_t    crc;            /* CRC-32 of data */
    bool        stored;         /* without compression; else data is empty */
} zip_member;

typedef struct zip_archive {
    zip_member *members;        /* by name */
    size_t      count;
} zip_archive;

/* Reads the directory at the end. NULL, or what is wrong, with the place in *at; region->full if
 * out of memory. */
const char *eddy__zip_open(region *r, wire_bytes file, zip_archive *z, size_t *at);
/* NULL if there is none. */
const zip_member *eddy__zip_find(const zip_archive *z, const char *name);
/* True if the checksum of the member is that of its data. */
bool eddy__zip_is_intact(const zip_member *m);

#endif
