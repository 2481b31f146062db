/* fuzz_bundle.c -- arbitrary bytes as the pairs of an index of a checkpoint of TensorFlow, in a
 * table with right checksums, for libFuzzer. The file of elements has the same bytes. */
#include "formats.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/files/tensorflow_writer.h"

#include <stdlib.h>
#include <string.h>

int fuzz_bundle(const uint8_t *data, size_t size)
{
    message pairs = { malloc(size + 1), size };
    if (size) memcpy(pairs.at, data, size);
    message table = tf_table_of(pairs, 1);
    one_file f;
    one_file_init(&f, table.at, table.size);
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_tensorflow_checkpoint_open("f", &f.table, .error = &e);
    use_values(c, &e);
    one_file_free(&f);
    message_free(&table);
    return 0;
}
