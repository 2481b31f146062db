/* fuzz_keras.c -- arbitrary bytes as a file of Keras's weights, for libFuzzer. */
#include "formats.h"
#include "tests/fuzz/fuzz.h"

int fuzz_keras(const uint8_t *data, size_t size)
{
    one_file   f;
    eddy_error e = { 0 };
    one_file_init(&f, data, size);
    eddy_checkpoint *c = eddy_keras_checkpoint_open("f", &f.table, .error = &e);
    use_values(c, &e);
    one_file_free(&f);
    return 0;
}
