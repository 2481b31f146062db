/* fuzz_idx.c -- arbitrary bytes as a file for eddy_idx_load, for libFuzzer. */
#include "input.h"
#include "tests/fuzz/fuzz.h"

int fuzz_idx(const uint8_t *data, size_t size)
{
    eddy_error e = { EDDY_OK, "" };
    one_file   f;
    one_file_init(&f, data, size);
    eddy_array *a = eddy_idx_load("f", &f.table, &e);
    require((a != NULL) == (e.status == EDDY_OK));
    eddy_array_free(a);
    one_file_free(&f);
    return 0;
}
