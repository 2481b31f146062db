/* fuzz_safetensors.c -- arbitrary bytes as a safetensors file, for libFuzzer. Arrays and
 * metadata that are accepted are written and read again and must be the same. */
#include "graph/files/safetensors.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void write_and_read(one_file *f, const eddy_safetensors *s)
{
    const char       **names = calloc((size_t)s->count + 1, sizeof *names);
    eddy_array       **arrays = calloc((size_t)s->count + 1, sizeof *arrays);
    eddy_safetensors   t;
    eddy_error         e = { 0 };
    int                n = 0;
    for (int i = 0; i < s->count; i++) {
        arrays[n] = eddy__safetensors_value(s, &s->entries[i], NULL);
        if (arrays[n]) names[n++] = s->entries[i].name;
    }
    require(eddy__safetensors_write(&f->table, NULL, "f", n, names,
                                    (const eddy_array *const *)arrays,
                                    s->metadata_count, s->metadata, &e) == EDDY_OK);
    one_file_rewind(f);
    require(eddy__safetensors_open(&f->table, NULL, "f", false, &t, &e) == EDDY_OK && t.count == n);
    require(t.metadata_count == s->metadata_count);
    for (int i = 0; i < s->metadata_count; i++)
        require(strcmp(s->metadata[i].key, t.metadata[i].key) == 0 &&
                strcmp(s->metadata[i].value, t.metadata[i].value) == 0);
    for (int i = 0; i < n; i++) {
        eddy_array *a = eddy__safetensors_value(&t, eddy__safetensors_find(&t, names[i]), NULL);
        require(eddy_array_equal(a, arrays[i]));
        eddy_array_free(a);
        eddy_array_free(arrays[i]);
    }
    eddy__safetensors_free(&t);
    free(names);
    free(arrays);
}

int fuzz_safetensors(const uint8_t *data, size_t size)
{
    eddy_error       e = { 0 };
    eddy_safetensors s;
    one_file         f;
    one_file_init(&f, data, size);
    eddy_status status = eddy__safetensors_open(&f.table, NULL, "f", false, &s, &e);
    require(status == e.status && (status == EDDY_OK || s.count == 0));
    if (status == EDDY_OK) write_and_read(&f, &s);
    eddy__safetensors_free(&s);
    one_file_free(&f);
    return 0;
}
