/* test_mutators.c -- mutators of `make fuzz`, from valid files, and from the valid inputs in
 * tests/fuzz/corpus: the same seed gives the same bytes, never too many, and many results have the
 * structure of the format. */
#include "build/gen/suites.h"
#include "formats/zip.h"
#include "graph/files/safetensors.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"
#include "tests/lib/files/onnx_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MOST = 10000, GUARD = 16, ROUNDS = 40 };

/* In the place of libFuzzer's. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    if (size < most) data[size++] = 0;
    if (size > 0) data[size / 2]++;
    return size;
}

/* -------------------------------------------------- whether bytes are right -- */

static bool is_array(const uint8_t *data, size_t size)
{
    eddy_error e = { 0 };
    one_file   f;
    one_file_init(&f, data, size);
    eddy_array *a = eddy_array_load("f", &f.table, &e);
    eddy_array_free(a);
    return a != NULL;
}

static bool is_archive(const uint8_t *data, size_t size)
{
    region      r = { 0 };
    zip_archive z;
    size_t      at;
    bool        right = !eddy__zip_open(&r, (wire_bytes){ data, size }, &z, &at) && z.count > 0;
    for (size_t i = 0; right && i < z.count; i++)
        right = z.members[i].stored && eddy__zip_is_intact(&z.members[i]);
    eddy__region_free(&r);
    return right;
}

static bool is_safetensors(const uint8_t *data, size_t size)
{
    eddy_error       e = { 0 };
    eddy_safetensors s;
    one_file         f;
    one_file_init(&f, data, size);
    const bool right = eddy__safetensors_open(&f.table, NULL, "f", false, &s, &e) == EDDY_OK;
    eddy__safetensors_free(&s);
    return right;
}

/* All fields, and those of messages in the field that `inner` begins with, and so on. */
static bool is_message(wire w, const uint32_t *inner)
{
    wire_field f;
    bool       right = true;
    while (right && eddy__wire_next(&w, &f))
        if (*inner && f.number == *inner && f.type == WIRE_BYTES)
            right = is_message(eddy__wire_enter(&w, &f), inner + 1);
    return right && !w.bad;
}

static bool is_model(const uint8_t *data, size_t size)
{
    static const uint32_t nodes_of_graph[] = { 7, 1, 0 };
    return size > 0 && is_message(eddy__wire_of((wire_bytes){ data, size }), nodes_of_graph);
}

static bool is_graph_def(const uint8_t *data, size_t size)
{
    static const uint32_t attributes_of_nodes[] = { 1, 5, 2, 0 };
    return size > 0 && is_message(eddy__wire_of((wire_bytes){ data, size }), attributes_of_nodes);
}

static bool are_events(const uint8_t *data, size_t size)
{
    static const uint32_t none[] = { 0 };
    size_t                at = 0;
    while (size - at >= 2) {
        const size_t n = (size_t)data[at] | (size_t)data[at + 1] << 8;
        at += 2;
        if (n > size - at || !is_message(eddy__wire_of((wire_bytes){ data + at, n }), none))
            return false;
        at += n;
    }
    return at > 0 && at == size;
}

/* Pairs of small lengths. */
static bool are_pairs(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (size - at >= 3 && (data[at + 1] | data[at + 2]) < 128) {
        const size_t n = 3u + data[at + 1] + data[at + 2];
        if (n > size - at) return false;
        at += n;
    }
    return at > 0 && at == size;
}

/* JSON is YAML, too. */
static bool is_yaml(const uint8_t *data, size_t size)
{
    yaml_parser_t p;
    bool          right = yaml_parser_initialize(&p), end = false;
    yaml_parser_set_input_string(&p, data, size);
    while (right && !end) {
        yaml_event_t e;
        right = yaml_parser_parse(&p, &e);
        if (!right) break;
        end = e.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
    }
    yaml_parser_delete(&p);
    return right;
}

/* ------------------------------------------------------------------ mutators -- */

static const struct {
    const char *name;
    size_t (*mutate)(uint8_t *data, size_t size, size_t most, unsigned seed);
    bool (*is_right)(const uint8_t *data, size_t size);
    int least;                                  /* percent of the results that are right */
    const char *file;                           /* besides the inputs, or NULL */
} rows[] = {
    { "bundle", mutate_bundle, are_pairs, 30, "tests/formats/files/two.block" },
    { "events", mutate_events, are_events, 30, NULL },
    { "graph", mutate_graph, is_yaml, 60, NULL },
    { "index", mutate_index, is_yaml, 60, NULL },
    { "keras", mutate_keras, is_archive, 60, "tests/formats/files/net.keras" },
    { "npy", mutate_npy, is_array, 20, NULL },
    { "npz", mutate_npz, is_archive, 60, "tests/input/fixtures/stored.npz" },
    { "onnx", mutate_onnx, is_model, 60, "data/sine.onnx" },
    { "safetensors", mutate_safetensors, is_safetensors, 12, NULL },
    { "tensorflow", mutate_tensorflow, is_graph_def, 60, "data/sine.pb" },
    { "torch", mutate_torch, is_archive, 60, "tests/formats/files/net.pt" },
};
enum { ROWS = sizeof rows / sizeof *rows };

static size_t read_input(const char *path, uint8_t *data)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s cannot be read", path);
    const size_t size = fread(data, 1, MOST, f);
    fclose(f);
    return size;
}

typedef struct tally {
    int n, right, changed;
} tally;

static void mutate_input(int row, const uint8_t *input, size_t size, tally *t)
{
    static uint8_t a[MOST + GUARD], b[MOST + GUARD];
    if (!rows[row].is_right(input, size)) return;
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        const size_t most = seed % 2 ? MOST : size;             /* also without room */
        memset(a, 0xa5, sizeof a);
        memcpy(a, input, size);
        memcpy(b, a, sizeof a);
        const size_t n_a = rows[row].mutate(a, size, most, seed);
        const size_t n_b = rows[row].mutate(b, size, most, seed);
        ck_assert(n_a <= most && n_a == n_b && memcmp(a, b, n_a) == 0);
        for (size_t k = most; k < sizeof a; k++) ck_assert_int_eq(a[k], 0xa5);
        t->n++;
        t->right += rows[row].is_right(a, n_a);
        t->changed += n_a != size || memcmp(a, input, size) != 0;
    }
}

START_TEST(mutations)
{
    static uint8_t input[MOST];
    char           path[512], folder[256];
    int            files;
    tally          t = { 0, 0, 0 };
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", rows[_i].name);
    char **names = names_in(folder, &files);
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        mutate_input(_i, input, read_input(path, input), &t);
    }
    if (rows[_i].file) mutate_input(_i, input, read_input(rows[_i].file, input), &t);
    free_names(names);
    printf("%-12s %5d mutations, %5d right, %5d changed\n", rows[_i].name, t.n, t.right, t.changed);
    fflush(stdout);
    ck_assert_int_gt(t.n, 0);
    ck_assert_int_ge(t.right, t.n * rows[_i].least / 100);
    ck_assert_int_ge(t.changed, t.n / 2);
}
END_TEST

/* A field of the second message is in the first one, whose lengths fit. */
START_TEST(crossings)
{
    static uint8_t input[2][MOST], out[MOST];
    size_t         size[2] = { 0, 0 };
    int            files, n = 0, right = 0;
    char           path[512], **names = names_in("tests/fuzz/corpus/onnx", &files);
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, "tests/fuzz/corpus/onnx/%s", names[i]);
        size[i % 2] = read_input(path, input[i % 2]);
        if (!is_model(input[0], size[0]) || !is_model(input[1], size[1])) continue;
        for (unsigned seed = 0; seed < ROUNDS; seed++) {
            const size_t got =
                cross_protobuf(input[0], size[0], input[1], size[1], out, sizeof out, seed);
            ck_assert(got <= sizeof out);
            n++;
            right += is_model(out, got);
        }
    }
    free_names(names);
    ck_assert_int_gt(n, 0);
    ck_assert_int_ge(right, n * 3 / 4);
}
END_TEST

Suite *mutators_suite(void)
{
    Suite *s = suite_create("mutators");
    TCase *t = tcase_create("formats");
    tcase_add_loop_test(t, mutations, 0, ROWS);
    tcase_add_test(t, crossings);
    suite_add_tcase(s, t);
    return s;
}
