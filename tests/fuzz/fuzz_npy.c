/* fuzz_npy.c -- arbitrary bytes as an .npy file, for libFuzzer. An array that is accepted is
 * written and read again and must be the same. */
#include "tests/fuzz/fuzz.h"

int fuzz_npy(const uint8_t *data, size_t size)
{
    eddy_error e = { 0 };
    one_file   f;
    one_file_init(&f, data, size);
    eddy_array *a = eddy_array_load("f", &f.table, &e);
    require((a != NULL) == (e.status == EDDY_OK));
    if (a) {
        require(eddy_array_save(a, "f", &f.table, &e) == EDDY_OK);
        one_file_rewind(&f);
        eddy_array *b = eddy_array_load("f", &f.table, &e);
        require(eddy_array_equal(a, b));
        eddy_array_free(b);
    }
    eddy_array_free(a);
    one_file_free(&f);
    return 0;
}
