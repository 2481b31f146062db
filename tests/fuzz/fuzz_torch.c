/* fuzz_torch.c -- arbitrary bytes as a file of torch.save, for libFuzzer, and as the pickle in one:
 * the checksum of an archive would refuse most of them. */
#include "formats.h"
#include "formats/torch/pickle.h"
#include "tests/fuzz/fuzz.h"

int fuzz_torch(const uint8_t *data, size_t size)
{
    region      r = { 0 };
    const char *problem = NULL;
    size_t      at = 0;
    const pickle_value *v = eddy__pickle_read(&r, (wire_bytes){ data, size }, &problem, &at);
    require((v == NULL) == (problem != NULL) && at <= size);
    eddy__region_free(&r);
    one_file f;
    one_file_init(&f, data, size);
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_torch_checkpoint_open("f", &f.table, .error = &e);
    use_values(c, &e);
    one_file_free(&f);
    return 0;
}
