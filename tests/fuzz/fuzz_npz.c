/* fuzz_npz.c -- arbitrary bytes as an .npz archive, for libFuzzer. */
#include "input.h"
#include "tests/fuzz/fuzz.h"

int fuzz_npz(const uint8_t *data, size_t size)
{
    eddy_error e = { EDDY_OK, "" };
    one_file   f;
    one_file_init(&f, data, size);
    eddy_npz *z = eddy_npz_open("f", &f.table, &e);
    require((z != NULL) == (e.status == EDDY_OK));
    for (int i = 0; i < eddy_npz_count(z) && i < 20; i++) {
        e.status = EDDY_OK;
        eddy_array *a = eddy_npz_array(z, eddy_npz_name(z, i), &e);
        require((a != NULL) == (e.status == EDDY_OK));
        eddy_array_free(a);
    }
    eddy_npz_free(z);
    one_file_free(&f);
    return 0;
}
