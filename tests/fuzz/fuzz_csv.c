/* fuzz_csv.c -- arbitrary bytes as a CSV file, for libFuzzer. */
#include "input.h"
#include "tests/fuzz/fuzz.h"

int fuzz_csv(const uint8_t *data, size_t size)
{
    eddy_error e = { EDDY_OK, "" };
    one_file   f;
    one_file_init(&f, data, size);
    eddy_csv *c = eddy_csv_read("f", .no_header = size % 2, .files = &f.table, .error = &e);
    require((c != NULL) == (e.status == EDDY_OK));
    for (int i = 0; i < eddy_csv_columns(c); i++) {
        require(eddy_array_count(eddy_csv_array(c, i)) == eddy_csv_rows(c));
        if (eddy_csv_words(c, i) == 0) continue;
        for (int64_t k = 0; k < eddy_csv_rows(c); k++)
            require(eddy_array_get(eddy_csv_array(c, i), k) < eddy_csv_words(c, i));
    }
    eddy_csv_free(c);
    one_file_free(&f);
    return 0;
}
