/* checkpoint_files.h -- checkpoints of other programs in tests: their entries, and damage. */
#ifndef EDDY_TESTS_LIB_CHECKPOINT_FILES_H
#define EDDY_TESTS_LIB_CHECKPOINT_FILES_H

#include "session/checkpoint.h"
#include "tests/lib/files/memory_files.h"

/* The entry has these n numbers. */
void has_entry(const eddy_checkpoint *c, const char *name, eddy_dtype d, int n, const double *want);
/* Reads all values of a checkpoint, or of NULL with an error, and frees it. */
void use_checkpoint(eddy_checkpoint *c, const eddy_error *e);
/* Calls `use` with the file cut short at each byte, and with each byte changed. */
void damage_file(memory_files *files, const char *name, void (*use)(memory_files *));

#endif
