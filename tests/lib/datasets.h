/* datasets.h -- pipelines for tests, and what they give. */
#ifndef EDDY_TESTS_LIB_DATASETS_H
#define EDDY_TESTS_LIB_DATASETS_H

#include "input.h"

#include <check.h>

/* Records i of n: float32[2] of i and i + 0.5, and int32 i. With an allocator, or NULL. */
eddy_dataset *numbered(int64_t n, const eddy_allocator *a);
/* The same as a stream, which must be read from the beginning of an epoch on. */
eddy_dataset *streamed(int64_t n, const eddy_allocator *a);
/* Records of int32[length]: record i has the length 1 + i * 7 % 10, and elements i. */
eddy_dataset *ragged(int64_t n, bool stream, const eddy_allocator *a);
/* Each int32 becomes 10 times itself plus a random digit of the record. */
eddy_dataset *changed(eddy_dataset *d);
/* Pipelines of all stages, for tests that go through them: NULL behind the last. Some have threads. */
eddy_dataset *pipeline(int i, const eddy_allocator *a);

/* A hash of the types and bytes of a record. */
uint64_t record_hash(const eddy_dataset *d, const eddy_array *const *record);
/* Reads up to `most` records over the ends of epochs, with 1 for such an end; sets their hashes. The
 * number of hashes; the test fails on an error. */
int read_hashes(eddy_dataset *d, uint64_t *hashes, int most);
void no_error(const eddy_dataset *d);

#endif
