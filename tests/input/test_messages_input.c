/* test_messages_input.c -- the messages of pipelines and readers, and failing allocations. */
#include "build/gen/suites.h"
#include "tests/lib/datasets.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------- pipelines -- */

/* The next line of the golden file is the dataset's error, at once or when it is read. */
static void says(eddy_dataset *d)
{
    ck_assert(d != NULL);
    for (int i = 0; i < 100 && eddy_dataset_status(d) == EDDY_OK; i++) eddy_dataset_next(d, NULL);
    ck_assert_int_ne(eddy_dataset_status(d), EDDY_OK);
    ck_assert(!eddy_dataset_next(d, NULL));
    ck_assert_int_eq(eddy_dataset_width(d), 0);
    golden_line(eddy_dataset_message(d));
    eddy_dataset_free(d);
}

static bool refuses(void *context, eddy_record *in, eddy_record *out)
{
    return (void)context, (void)in, (void)out, false;
}

static bool complains(void *context, eddy_record *in, eddy_record *out)
{
    (void)context;
    if (eddy_record_number(in) < 2) return eddy_record_set(out, 0, eddy_record_array(in, 0)) &&
                                           eddy_record_set(out, 1, eddy_record_array(in, 1));
    return eddy_record_fail(out, EDDY_OUT_OF_RANGE, "no more than %d", 2);
}

static bool forgets(void *context, eddy_record *in, eddy_record *out)
{
    return (void)context, eddy_record_set(out, 0, eddy_record_array(in, 0));
}

static bool misuses(void *context, eddy_record *in, eddy_record *out)
{
    return (void)in,
           eddy_record_make(out, context ? 9 : 0, EDDY_INT32, EDDY_SHAPE(EDDY_ANY)) != NULL;
}

static bool sets_nothing(void *context, eddy_record *in, eddy_record *out)
{
    return (void)context, (void)in, eddy_record_set(out, 0, NULL);
}

static bool grows(void *context, eddy_record *in, eddy_record *out)
{
    (void)context;
    const int64_t n = eddy_record_number(in) < 2 ? 3 : 4;
    return eddy_record_make(out, 0, EDDY_INT32, EDDY_SHAPE(n)) != NULL;
}

static bool ranks(void *context, eddy_record *in, eddy_record *out)
{
    const eddy_shape s = { .rank = 1 + (int)(eddy_record_number(in) & 1), .dim = { 1, 1 } };
    return (void)context, eddy_record_make(out, 0, EDDY_INT32, s) != NULL;
}

static bool scalars(void *context, eddy_record *in, eddy_record *out)
{
    return (void)context, (void)in, eddy_record_make(out, 0, EDDY_INT32, EDDY_SCALAR) != NULL;
}

static bool deepest(void *context, eddy_record *in, eddy_record *out)
{
    const eddy_shape s = EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 1);
    return (void)context, (void)in, eddy_record_make(out, 0, EDDY_INT32, s) != NULL;
}

static bool no_record(void *context, int64_t epoch, int64_t i, eddy_record *out)
{
    return (void)context, (void)epoch, (void)i, (void)out, false;
}

static eddy_dataset *function(int64_t size, int n)
{
    const eddy_component c = { EDDY_INT32, EDDY_SCALAR };
    return eddy_dataset_from_function(no_record, .components = &c, .n = n, .size = size);
}

START_TEST(sources)
{
    const eddy_component bad = { (eddy_dtype)99, EDDY_SCALAR },
                         image = { EDDY_UINT8, EDDY_SHAPE(1) };
    const char *const    paths[] = { "/nowhere", NULL };
    golden_begin("input/sources");
    says(eddy_dataset_from_arrays(NULL, 2));
    says(eddy_dataset_from_arrays((const eddy_array *[]){ NULL }, 1));
    says(eddy_dataset_from_arrays((const eddy_array *[]){ EDDY_NUMBER(EDDY_FLOAT32, 1) }, 1));
    says(eddy_dataset_from_arrays((const eddy_array *[]){ EDDY_INTS(1, 2), EDDY_INTS(1) }, 2));
    says(eddy_dataset_from_function(NULL, .components = &image, .n = 1));
    says(function(3, 0));
    says(function(3, 1));
    says(eddy_dataset_from_function(no_record, .components = &bad, .n = 1));
    says(eddy_dataset_from_files(NULL, 3, eddy_idx_load, .component = image));
    says(eddy_dataset_from_files(paths, 1, NULL, .component = image));
    says(eddy_dataset_from_files(paths, 2, eddy_idx_load, .component = image));
    says(eddy_dataset_from_files(paths, 1, eddy_idx_load, .component = image));
    says(eddy_dataset_from_files((const char *[]){ "tests/input/fixtures/table.csv" }, 1,
                                 eddy_bytes_load, .component = image));
    says(eddy_dataset_from_lines(NULL));
    says(eddy_dataset_from_lines("/nowhere", .max_line = 0));
    says(eddy_dataset_from_lines("/nowhere"));
    says(eddy_dataset_from_lines("tests/input/fixtures/table.csv", .max_line = 5));
    golden_end();
}
END_TEST

START_TEST(stages)
{
    const int64_t        down[] = { 3, 3 };
    const eddy_component row = { EDDY_INT32, EDDY_SHAPE(EDDY_ANY) };
    const eddy_component deep = { EDDY_INT32, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 1) };
    const eddy_component open = { EDDY_INT32, { .rank = EDDY_UNKNOWN_RANK } };
    eddy_dataset        *two[2], *d;
    golden_begin("input/stages");
    says(eddy_dataset_map(numbered(3, NULL), NULL));
    says(eddy_dataset_map(numbered(3, NULL), refuses));
    says(eddy_dataset_prefetch(eddy_dataset_map(numbered(9, NULL), complains), .threads = 2));
    says(eddy_dataset_prefetch(eddy_dataset_map(streamed(9, NULL), complains), .threads = 3));
    says(eddy_dataset_map(numbered(3, NULL), forgets));
    says(eddy_dataset_map(numbered(3, NULL), misuses));
    says(eddy_dataset_map(numbered(3, NULL), misuses, (void *)&two));
    says(eddy_dataset_map(numbered(3, NULL), sets_nothing));
    says(eddy_dataset_filter(numbered(3, NULL), NULL, NULL));
    says(eddy_dataset_take(numbered(3, NULL), -2));
    says(eddy_dataset_skip(numbered(3, NULL), -2));
    says(eddy_dataset_shard(numbered(3, NULL), 2, 2));
    says(eddy_dataset_shuffle(streamed(3, NULL)));
    says(eddy_dataset_shuffle(numbered(3, NULL), .buffer = -1));
    says(eddy_dataset_shuffle(eddy_dataset_repeat(numbered(3, NULL), -1)));
    says(eddy_dataset_cache(eddy_dataset_repeat(numbered(3, NULL), -1)));
    says(eddy_dataset_batch(numbered(3, NULL), 0));
    says(eddy_dataset_batch(numbered(3, NULL), 2, .lengths = true));
    says(eddy_dataset_batch(ragged(9, false, NULL), 3));
    says(eddy_dataset_batch(eddy_dataset_map(numbered(5, NULL), grows, .components = &row, .n = 1),
                            4));
    d = eddy_dataset_from_function(no_record, .components = &deep, .n = 1, .size = 1);
    says(eddy_dataset_batch(d, 1));
    two[0] = eddy_dataset_map(numbered(3, NULL), grows, .components = &open, .n = 1);
    says(eddy_dataset_bucket(numbered(3, NULL), .size = 0));
    says(eddy_dataset_bucket(two[0], down, 2, 3));
    two[0] = eddy_dataset_take(numbered(3, NULL), 2);
    says(eddy_dataset_bucket(eddy_dataset_zip((eddy_dataset *[]){ function(3, 1) }, 1), .size = 1,
                             .lengths = true));
    two[1] = ragged(3, false, NULL);
    says(eddy_dataset_interleave(two, 2));
    says(eddy_dataset_interleave(NULL, 0));
    says(eddy_dataset_zip(NULL, 2));
    says(eddy_dataset_zip(two, 0));
    says(eddy_dataset_batch(eddy_dataset_map(numbered(3, NULL), ranks, .components = &open, .n = 1),
                            3, .padded = true));
    two[0] = eddy_dataset_map(numbered(3, NULL), scalars, .components = &open, .n = 1);
    says(eddy_dataset_bucket(two[0], .size = 2));
    two[0] = eddy_dataset_map(numbered(3, NULL), scalars, .components = &open, .n = 1);
    says(eddy_dataset_batch(two[0], 2, .padded = true, .lengths = true));
    for (int padded = 0; padded < 2; padded++) {
        two[0] = eddy_dataset_map(numbered(3, NULL), deepest, .components = &open, .n = 1);
        says(eddy_dataset_batch(two[0], 2, .padded = padded));
    }
    says(eddy_dataset_shard(eddy_dataset_prefetch(numbered(3, NULL), .buffer = 70000), 2, 0));
    says(eddy_dataset_interleave((eddy_dataset *[]){ numbered(3, NULL) }, 1, .cycle = 0));
    d = streamed(3, NULL);
    for (int i = 0; i < 3; i++) d = eddy_dataset_interleave(&d, 1, .cycle = 4096);
    says(d);
    says(eddy_dataset_prefetch(numbered(3, NULL), .threads = 0));
    d = numbered(3, NULL);
    for (int i = 0; i < 70 && eddy_dataset_status(d) == EDDY_OK; i++) d = eddy_dataset_take(d, 3);
    says(d);
    d = numbered(3, NULL);
    two[0] = eddy_dataset_take(d, 2);
    two[1] = eddy_dataset_take(d, 2);
    says(two[1]);
    says(d); /* read although it is part of another one, and not freed */
    eddy_dataset_free(two[0]);
    golden_end();
}
END_TEST

START_TEST(graphs)
{
    golden_begin("input/graphs");
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_tensor y = eddy_placeholder(g, "y", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor z = eddy_add(x, eddy_cast(y, EDDY_FLOAT32));
    says(eddy_dataset_map_graph(numbered(3, NULL), g, EDDY_LIST(x), EDDY_LIST(z)));
    says(eddy_dataset_map_graph(numbered(3, NULL), NULL, EDDY_LIST(x, y), EDDY_LIST(z)));
    says(eddy_dataset_map_graph(numbered(3, NULL), g, EDDY_LIST(y, x), EDDY_LIST(z)));
    eddy_graph *other = eddy_graph_new();
    says(eddy_dataset_map_graph(numbered(3, NULL), other, EDDY_LIST(x, y), EDDY_LIST(z)));
    eddy_graph_free(other);
    eddy_graph_free(g);
    golden_end();
}
END_TEST

static void seek_says(eddy_dataset *d, const char *text)
{
    ck_assert_int_ne(eddy_dataset_seek(d, text), EDDY_OK);
    golden_line(eddy_dataset_message(d));
    ck_assert_int_eq(eddy_dataset_status(d), EDDY_OK);
    ck_assert(eddy_dataset_next(d, NULL));
    ck_assert_int_eq(eddy_dataset_begin(d, 0), EDDY_OK);
}

START_TEST(positions)
{
    static const char *const streams[] = {
        "eddy 1: shuffle(1,3) function(-1): 0 0 2 1 0 0 0",
        "eddy 1: shuffle(1,3) function(-1): 0 0 0 9 0 0 0",
        "eddy 1: shuffle(1,3) function(-1): 0 0 2 4 0 0 7",
        "eddy 1: shuffle(1,3) function(-1): 0 0 -2 4 0 0 7",
        "eddy 1: shuffle(1,3) function(-1): 0 0 99999999999999 99999999999999 0 0 0",
        "eddy 1: shuffle(1,3) function(-1): 0 0 2 4 0 0 -1",
    };
    golden_begin("input/positions");
    eddy_dataset *d = eddy_dataset_batch(numbered(9, NULL), 2);
    seek_says(d, NULL);
    seek_says(d, "?");
    seek_says(d, "eddy 1: batch(3) arrays(9): 0 0 0");
    seek_says(d, "eddy 1: batch(2) arrays(9): 0 0");
    seek_says(d, "eddy 1: batch(2) arrays(9): 0 0 0 0");
    seek_says(d, "eddy 1: batch(2) arrays(9): 0 -1 0");
    seek_says(d, "eddy 1: batch(2) arrays(9): 0 0 99999999999999999999");
    eddy_dataset_free(d);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        d = eddy_dataset_shuffle(streamed(5, NULL), 1, .buffer = 3);
        seek_says(d, streams[i]);
        eddy_dataset_free(d);
    }
    d = eddy_dataset_shuffle(numbered(5, NULL), 1, .buffer = 3);
    seek_says(d, "eddy 1: shuffle(1,3) arrays(5): 0 0 6");
    eddy_dataset_free(d);
    d = eddy_dataset_bucket(ragged(9, true, NULL), .size = 2);
    seek_says(d, "eddy 1: bucket(0,2) function(-1): 0 1 0 2 0 -1 0 0");
    seek_says(d, "eddy 1: bucket(0,2) function(-1): 0 3 0 2 -1 0 0 1");
    eddy_dataset_free(d);
    d = eddy_dataset_from_lines("tests/input/fixtures/table.csv");
    seek_says(d, "eddy 1: lines: 0 0 100");
    eddy_dataset_free(d);
    d = eddy_dataset_shuffle(streamed(5, NULL), 1, .buffer = 3);
    seek_says(d, "eddy 1: shuffle(1,3) function(-1): 0 0 5 7 0 0 4");
    eddy_dataset_free(d);
    d = numbered(3, NULL);
    eddy_dataset *owner = eddy_dataset_take(d, 2);
    ck_assert_int_ne(eddy_dataset_seek(d, "x"), EDDY_OK);
    golden_line(eddy_dataset_message(d));
    eddy_dataset_free(owner);
    eddy_dataset *one[] = { streamed(4, NULL) };
    d = eddy_dataset_interleave(one, 1);
    seek_says(d, "eddy 1: interleave(1,1,1) function(-1): 0 0 0 9 0 0 0 0 0");
    eddy_dataset_free(d);
    golden_end();
}
END_TEST

START_TEST(checkpoints)
{
    eddy_error    e = { EDDY_OK, "" };
    memory_files  m;
    memory_files_init(&m);
    golden_begin("input/checkpoints");
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   v = eddy_variable(g, eddy_scalar(g, 0), .name = "v");
    eddy_session *s = eddy_session_new(g);
    eddy_dataset *d = numbered(3, NULL);
    const char   *path = "/tmp/eddy-messages-input";
    unlink(path);
    ck_assert_int_ne(eddy_save_with_dataset(s, path, NULL, &e), EDDY_OK);
    golden_error(&e);
    ck_assert_int_ne(eddy_save_with_dataset(NULL, path, d, &e), EDDY_OK);
    golden_error(&e);
    ck_assert_int_ne(eddy_save_with_dataset(s, path, d, &e), EDDY_OK);     /* no value */
    golden_error(&e);
    ck_assert_int_ne(eddy_restore_with_dataset(NULL, path, d, &e), EDDY_OK);
    golden_error(&e);
    ck_assert_int_ne(eddy_restore_with_dataset(s, path, d, &e), EDDY_OK);
    golden_error(&e);
    ck_assert_int_eq(eddy_variable_set(s, v, EDDY_NUMBER(EDDY_FLOAT32, 1)), EDDY_OK);
    ck_assert_int_eq(eddy_save(s, path, EDDY_LIST()), EDDY_OK);
    ck_assert_int_eq(eddy_restore_with_dataset(s, path, d, &e), EDDY_NOT_FOUND);
    golden_error(&e);
    ck_assert_int_eq(eddy_save_with_dataset(s, path, d, &e), EDDY_OK);
    eddy_dataset *other = eddy_dataset_take(numbered(3, NULL), 2);
    ck_assert_int_eq(eddy_restore_with_dataset(s, path, other, &e), EDDY_INVALID_ARGUMENT);
    golden_error(&e);
    /* The graph has a variable more: the position is as it was. */
    eddy_variable(g, eddy_scalar(g, 0), .name = "w");
    ck_assert(eddy_dataset_next(d, NULL));
    ck_assert_int_eq(eddy_restore_with_dataset(s, path, d, &e), EDDY_NOT_FOUND);
    golden_error(&e);
    ck_assert_str_eq(eddy_dataset_position(d), "eddy 1: arrays(3): 0 0 1");
    unlink(path);
    eddy_dataset_free(other);
    eddy_dataset_free(d);
    eddy_session_free(s);
    eddy_graph_free(g);
    memory_files_free(&m);
    golden_end();
}
END_TEST

/* ---------------------------------------------------------------- readers -- */

typedef struct bad_file {
    eddy_array *(*load)(const char *path, const eddy_files *files, eddy_error *error);
    const char  *bytes;
    size_t       n;
} bad_file;

#define BAD(reader, text) { reader, text, sizeof text - 1 }

static const bad_file bad_files[] = {
    BAD(eddy_idx_load, ""),
    BAD(eddy_idx_load, "abcd"),
    BAD(eddy_idx_load, "\0\0\10\11"),
    BAD(eddy_idx_load, "\0\0\10\1\0\0\0\5abc"),
    BAD(eddy_idx_load, "\0\0\10\1\0\0"),
    BAD(eddy_idx_load, "\x1f\x8b\10\0\0\0\0\0\0\3"),
    BAD(eddy_idx_load, "\x1f\x8b*"),
    BAD(eddy_image_load, "GIF"),
    BAD(eddy_image_load, "\x89PNG"),
    BAD(eddy_png_load, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x70\0\0\0\x70\0\10\2\0\0\0\0\0\0\0"),
    BAD(eddy_image_load, "\xff\xd8\xff\xd9"),
    BAD(eddy_jpeg_load, "no"),
    BAD(eddy_wav_load, "RIFF"),
    BAD(eddy_wav_load, "RIFF\0\0\0\0WAVE"),
    BAD(eddy_wav_load, "RIFF\0\0\0\0WAVEdata\0\0\0\0"),
    BAD(eddy_wav_load, "RIFF\0\0\0\0WAVEdata\7\0\0\0"),
    BAD(eddy_wav_load, "RIFF\0\0\0\0WAVEfmt \4\0\0\0abcd"),
    BAD(eddy_wav_load, "RIFF\0\0\0\0WAVEfmt \20\0\0\0\7\0\1\0\0\0\0\0\0\0\0\0\1\0\10\0"),
    BAD(eddy_wav_load, "RIFF\0\0\0\0WAVEfmt \20\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1\0\10\0"),
    BAD(eddy_wav_load, "RIFF\0\0\0\0WAVEfmt \20\0\0\0\1\0\1\0\0\0\0\0\0\0\0\0\3\0\10\0"),
    BAD(eddy_wav_load,
        "RIFF\0\0\0\0WAVEfmt \20\0\0\0\1\0\1\0\0\0\0\0\0\0\0\0\2\0\20\0data\1\0\0\0a"),
    BAD(eddy_characters_load, "ab\xff"),
    BAD(eddy_characters_load, "\xed\xa0\x80"),
    BAD(eddy_array_load,
        "\x93NUMPY\1\0\x3d\0{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }   \n"
        "\1\1\1\1\1\1\1\xff"),
};

static eddy_csv *table(memory_files *m, const char *text, eddy_error *e)
{
    const eddy_csv_type types[] = { EDDY_CSV_INT64, EDDY_CSV_FLOAT64, EDDY_CSV_FLOAT32 };
    memory_files_put(m, "t.csv", text, strlen(text));
    return eddy_csv_read("t.csv", .types = types, .n = 3, .files = &m->table, .error = e);
}

START_TEST(readers)
{
    static const char *const tables[] = {
        "",
        "a,b,c\n1,2\n",
        "a,b,c\n1,2,3,4\n",
        "a,b,c\nx,2,3\n",
        "a,b,c\n1,y,3\n",
        "a,b,c\n1,2,z\n",
        "a,b,c\n1,2,\"z\n",
        "a,b,c\n1,2,\"z\"z\n",
        "a,b\n1,2\n",
    };
    memory_files m;
    eddy_error   e = { EDDY_OK, "" };
    memory_files_init(&m);
    golden_begin("input/readers");
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        memory_files_put(&m, "f", bad_files[i].bytes, bad_files[i].n);
        ck_assert_ptr_null(bad_files[i].load("f", &m.table, &e));
        golden_error(&e);
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        ck_assert_ptr_null(table(&m, tables[i], &e));
        golden_error(&e);
    }
    ck_assert_ptr_null(eddy_csv_read("t.csv", .separator = '"', .error = &e));
    golden_error(&e);
    ck_assert_ptr_null(eddy_csv_read("t.csv", .integer_for_missing = 1e300, .error = &e));
    golden_error(&e);
    ck_assert_ptr_null(
        eddy_csv_read("t.csv", .types = &(const eddy_csv_type){ 77 }, .n = 1, .error = &e));
    golden_error(&e);
    ck_assert_ptr_null(eddy_csv_read("t.csv", .n = 3, .error = &e));
    golden_error(&e);
    ck_assert_ptr_null(eddy_idx_load(NULL, NULL, &e));
    golden_error(&e);
    ck_assert_ptr_null(eddy_idx_load("tests", NULL, &e));
    golden_error(&e);
    ck_assert_ptr_null(eddy_idx_load("f", &(const eddy_files){ 0 }, &e));
    golden_error(&e);
    char *wide = malloc(5000);
    memset(wide, ',', 4999);
    memory_files_put(&m, "wide", wide, 5000);
    free(wide);
    ck_assert_ptr_null(eddy_csv_read("wide", .files = &m.table, .error = &e));
    golden_error(&e);
    /* A header with its checksum, for 28672 by 28672 pixels. */
    static const uint8_t png[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 26,  '\n', 0,    0,    0,
                                   13,   'I', 'H', 'D', 'R',  0,    0,   0x70, 0,    0,    0,
                                   0x70, 0,   8,   0,   0,    0,    0,   0x0c, 0xaa, 0xa1, 0x16,
                                   0,    0,   0,   1,   'I',  'D',  'A', 'T' };
    memory_files_put(&m, "large.png", png, sizeof png);
    ck_assert_ptr_null(eddy_png_load("large.png", &m.table, &e));
    golden_error(&e);
    eddy_npz *z = eddy_npz_open("tests/input/fixtures/stored.npz", NULL, &e);
    ck_assert_ptr_null(eddy_npz_array(z, "no", &e));
    golden_error(&e);
    ck_assert_ptr_null(eddy_npz_array(NULL, NULL, &e));
    golden_error(&e);
    eddy_npz_free(z);
    memory_files_free(&m);
    golden_end();
}
END_TEST

/* Bytes of an archive, one of them changed. */
START_TEST(archives)
{
    static const struct { int64_t from_end, at; uint8_t value;
    } changes[] = {
        { 22, 0, 'x' }, { 22, 10, 200 }, { 22, 16, 1 },       { 22, 19, 0x7f },      { 0, 0, 'x' },
        { 0, 64, 'x' }, { 0, 193, 1 },   { 1717 + 22, 8, 1 }, { 1717 + 22, 10, 12 },
    };
    memory_files m;
    eddy_error   e = { EDDY_OK, "" };
    eddy_array  *a = eddy_bytes_load("tests/input/fixtures/stored.npz", NULL, NULL);
    uint8_t     *p = eddy_array_data(a);
    const int64_t n = eddy_array_count(a);
    golden_begin("input/archives");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint8_t *at = p + (changes[i].from_end ? n - changes[i].from_end : 0) + changes[i].at;
        const uint8_t was = *at;
        *at = changes[i].value;
        memory_files_init(&m);
        memory_files_put(&m, "f", p, (size_t)n);
        eddy_npz *z = eddy_npz_open("f", &m.table, &e);
        if (z) ck_assert_ptr_null(eddy_npz_array(z, eddy_npz_name(z, 0), &e));
        golden_error(&e);
        eddy_npz_free(z);
        memory_files_free(&m);
        *at = was;
    }
    eddy_array_free(a);
    golden_end();
}
END_TEST

/* ------------------------------------------------------- memory, closing -- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long            calls, live, failing;

static void *allocate(void *context, size_t n)
{
    (void)context;
    pthread_mutex_lock(&lock);
    const bool ok = ++calls != failing;
    if (ok) live += (long)n;
    pthread_mutex_unlock(&lock);
    return ok ? malloc(n) : NULL;
}

static void release(void *context, void *p, size_t n)
{
    (void)context;
    pthread_mutex_lock(&lock);
    live -= (long)n;
    pthread_mutex_unlock(&lock);
    free(p);
}

/* Each allocation fails once: the pipeline then says so, and keeps nothing. */
START_TEST(failing_memory)
{
    const eddy_allocator a = { .allocate = allocate, .release = release };
    bool                 failed = true;
    for (failing = 1; failed; failing++) {
        calls = 0;
        eddy_dataset *d = pipeline(_i, &a);
        for (int i = 0; i < 12 && eddy_dataset_status(d) == EDDY_OK; i++)
            eddy_dataset_next(d, NULL);
        const char *text = eddy_dataset_position(d);
        if (text) {
            char copy[2000];
            snprintf(copy, sizeof copy, "%s", text);
            const eddy_status s = eddy_dataset_seek(d, copy);
            ck_assert_msg(s == EDDY_OK || s == EDDY_NO_MEMORY, "%s", eddy_dataset_message(d));
        }
        failed = calls >= failing;
        if (eddy_dataset_status(d) != EDDY_OK) {
            ck_assert_int_eq(eddy_dataset_status(d), EDDY_NO_MEMORY);
            ck_assert_str_eq(eddy_dataset_message(d), "dataset: out of memory");
        }
        eddy_dataset_free(d);
        ck_assert_msg(live == 0, "pipeline %d, allocation %ld: %ld bytes", _i, failing, live);
        ck_assert_int_lt(failing, 2000);
    }
}
END_TEST

/* Threads that are waiting or working are ended at any moment. */
START_TEST(closed_early)
{
    for (int round = 0; round < 40; round++) {
        eddy_dataset *d =
            eddy_dataset_prefetch(pipeline(round % 15, NULL), .threads = 1 + round % 4);
        for (int i = 0; i < round % 5; i++) eddy_dataset_next(d, NULL);
        if (round % 2) ck_assert_int_eq(eddy_dataset_begin(d, 2), EDDY_OK);
        for (int i = 0; i < round % 3; i++) eddy_dataset_next(d, NULL);
        no_error(d);
        eddy_dataset_free(d);
    }
}
END_TEST

START_TEST(forked)
{
    eddy_dataset *d = eddy_dataset_prefetch(numbered(9, NULL));
    int           status;
    ck_assert(eddy_dataset_next(d, NULL));
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        const bool closed =
            !eddy_dataset_next(d, NULL) && eddy_dataset_status(d) == EDDY_CLOSED &&
            strcmp(eddy_dataset_message(d), "dataset_prefetch: the threads are in the "
                                            "process that forked this one") == 0;
        eddy_dataset_free(d);
        raise(closed ? SIGUSR1 : SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
    ck_assert(eddy_dataset_next(d, NULL));
    eddy_dataset_free(d);
}
END_TEST

START_TEST(null_handles)
{
    eddy_error e = { EDDY_OK, "" };
    ck_assert(!eddy_dataset_next(NULL, NULL));
    ck_assert_int_eq(eddy_dataset_status(NULL), EDDY_NO_MEMORY);
    ck_assert_str_ne(eddy_dataset_message(NULL), "");
    ck_assert_int_eq(eddy_dataset_width(NULL), 0);
    ck_assert_int_eq(eddy_dataset_size(NULL), -1);
    ck_assert_int_eq(eddy_dataset_epoch(NULL), 0);
    ck_assert_int_ne(eddy_dataset_begin(NULL, 0), EDDY_OK);
    ck_assert_ptr_null(eddy_dataset_position(NULL));
    ck_assert_int_ne(eddy_dataset_seek(NULL, "x"), EDDY_OK);
    ck_assert_ptr_null(eddy_dataset_batch(NULL, 3));
    ck_assert_ptr_null(eddy_dataset_shuffle(NULL, .buffer = 3));
    ck_assert_ptr_null(eddy_dataset_map_graph(NULL));
    ck_assert_ptr_null(eddy_dataset_zip((eddy_dataset *[]){ numbered(2, NULL), NULL }, 2));
    ck_assert_ptr_null(eddy_record_array(NULL, 0));
    ck_assert_ptr_null(eddy_record_make(NULL, 0, EDDY_INT32, EDDY_SCALAR));
    ck_assert(!eddy_record_set(NULL, 0, NULL) && !eddy_record_fail(NULL, EDDY_IO, "x"));
    ck_assert_int_ne(eddy_restore_with_dataset(NULL, NULL, NULL, NULL), EDDY_OK);
    ck_assert_int_ne(eddy_save_with_dataset(NULL, NULL, NULL, &e), EDDY_OK);
    eddy_dataset_free(NULL);
    eddy_npz_free(NULL);
    eddy_csv_free(NULL);
    ck_assert_ptr_null(eddy_csv_read_with(NULL));
    ck_assert_int_eq(eddy_csv_columns(NULL), 0);
    ck_assert_ptr_null(eddy_csv_array(NULL, 0));
}
END_TEST

Suite *messages_input_suite(void)
{
    Suite *s = suite_create("messages_input");
    TCase *t = tcase_create("messages");
    tcase_add_test(t, sources);
    tcase_add_test(t, stages);
    tcase_add_test(t, graphs);
    tcase_add_test(t, positions);
    tcase_add_test(t, checkpoints);
    tcase_add_test(t, readers);
    tcase_add_test(t, archives);
    tcase_add_test(t, null_handles);
    suite_add_tcase(s, t);
    t = tcase_create("threads");
    tcase_set_tags(t, "threads");
    tcase_add_loop_test(t, failing_memory, 0, 15);
    tcase_add_test(t, closed_early);
    tcase_add_test(t, forked);
    suite_add_tcase(s, t);
    return s;
}
