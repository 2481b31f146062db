/* fuzz_index.c -- arbitrary bytes as the index of a checkpoint of several files, for libFuzzer. All
 * files have the same bytes, so the files of an index are indexes, too, which are refused; an index
 * without entries is accepted. */
#include "tests/fuzz/fuzz.h"

int fuzz_index(const uint8_t *data, size_t size)
{
    eddy_error e = { 0 };
    one_file   f;
    one_file_init(&f, data, size);
    eddy_checkpoint *c = eddy_checkpoint_open("f.json", &f.table, .error = &e);
    require((c != NULL) == (e.status == EDDY_OK));
    require(eddy_checkpoint_count(c) == 0);
    eddy_checkpoint_free(c);
    one_file_free(&f);
    return 0;
}
