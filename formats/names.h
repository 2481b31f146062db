/* names.h -- names of nodes and of files in models. */
#ifndef EDDY_FORMATS_NAMES_H
#define EDDY_FORMATS_NAMES_H

#include "region.h"

/* A hash of n characters. */
size_t eddy__name_hash(const char *s, size_t n);
/* A name that Eddy accepts. */
const char *eddy__name_clean(region *memory, const char *name);
/* Whether a path stays in the folder of the model: it is relative and has no "..". */
bool eddy__name_is_inside(const char *path);
/* `file` in the folder of `path`; NULL if out of memory. */
const char *eddy__name_beside(region *memory, const char *path, const char *file);

#endif
