/* test_reader_memory.c -- no reader takes more memory than the file, the arrays that it returns
 * and a little. Each runs in a process of its own, which may not take more. */
#include "build/gen/suites.h"
#include "tests/lib/files/hdf5_writer.h"
#include "tests/lib/files/tensorflow_writer.h"

#include "formats.h"
#include "input.h"

#include <check.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 24, COUNT = SIZE / 4, SPARE = 6 << 20 };

/* No status of the library: the result is not the expected one. */
static const eddy_status wrong = (eddy_status)100;

static char path[64], shard[100];

/* A file with a head and n bytes of this value. */
static void write_named(const char *name, const void *head, size_t head_size, int value, size_t n)
{
    FILE    *f = fopen(name, "wb");
    uint8_t *bytes = malloc(n + 1);
    ck_assert(f && bytes);
    memset(bytes, value, n);
    ck_assert(fwrite(head, 1, head_size, f) == head_size && fwrite(bytes, 1, n, f) == n);
    ck_assert_int_eq(fclose(f), 0);
    free(bytes);
}

static void write_file(const void *head, size_t head_size, int value, size_t n)
{
    write_named(path, head, head_size, value, n);
}

static void write_message(message m)
{
    write_file(m.at, m.size, 0, 0);
    message_free(&m);
}

/* ------------------------------------------------------------------- limits -- */

/* The writable memory of this process, in bytes. */
static int64_t writable(void)
{
    FILE     *f = fopen("/proc/self/statm", "r");
    long long pages = 0;
    const int n = f ? fscanf(f, "%*s %*s %*s %*s %*s %lld", &pages) : 0;
    if (f) fclose(f);
    return n == 1 ? (int64_t)pages * sysconf(_SC_PAGESIZE) : -1;
}

/* The status of read() in a process that may take so many bytes more. */
static eddy_status limited(eddy_status (*read)(void), int64_t bytes)
{
#ifdef __GLIBC__
    malloc_trim(0); /* what has been freed would be memory that is not counted */
#endif
    const pid_t child = fork();
    if (child == 0) {
        const int64_t now = writable();
        const rlim_t  most = (rlim_t)(now + bytes);
        if (now >= 0) setrlimit(RLIMIT_DATA, &(struct rlimit){ most, most });
        _exit((int)read());
    }
    int how = 0;
    ck_assert(child > 0 && waitpid(child, &how, 0) == child);
    ck_assert_msg(WIFEXITED(how), "killed by signal %d", how & 127);
    return (eddy_status)WEXITSTATUS(how);
}

/* The file and its array, of SIZE bytes each. */
static void fits(eddy_status (*read)(void), const char *what)
{
    const eddy_status s = limited(read, 2 * SIZE + SPARE);
    ck_assert_msg(s == EDDY_OK, "%s: %s", what, eddy_status_name(s));
    unlink(path);
    unlink(shard);
}

/* ------------------------------------------------------------------ readers -- */

/* The status, if the array has COUNT elements. */
static eddy_status done(eddy_array *a, int64_t count, const eddy_error *e)
{
    if (!a) return e->status == EDDY_OK ? wrong : e->status;
    return eddy_array_count(a) == count ? EDDY_OK : wrong;
}

static eddy_status read_npy(void)
{
    eddy_error e = { 0 };
    return done(eddy_array_load(path, NULL, &e), COUNT, &e);
}

static eddy_status read_idx(void)
{
    eddy_error e = { 0 };
    return done(eddy_idx_load(path, NULL, &e), SIZE, &e);
}

static eddy_status read_wav(void)
{
    eddy_error e = { 0 };
    return done(eddy_wav_load(path, NULL, &e), SIZE / 2, &e);
}

static eddy_status read_bytes(void)
{
    eddy_error e = { 0 };
    return done(eddy_bytes_load(path, NULL, &e), SIZE, &e);
}

static eddy_status read_image(void)
{
    eddy_error e = { 0 };
    return done(eddy_image_load(path, NULL, &e), SIZE, &e);
}

static eddy_status read_csv(void)
{
    eddy_error e = { 0 };
    eddy_csv  *c = eddy_csv_read(path, .no_header = true, .error = &e);
    if (!c) return e.status;
    return eddy_csv_rows(c) == SIZE / 8 ? EDDY_OK : wrong;
}

/* "x" of a checkpoint. */
static eddy_status value_of(eddy_checkpoint *c, eddy_error *e)
{
    return c ? done(eddy_checkpoint_value(c, "x", e), COUNT, e) : e->status;
}

static eddy_status read_safetensors(void)
{
    eddy_error e = { 0 };
    return value_of(eddy_checkpoint_open(path, .error = &e), &e);
}

static eddy_status read_torch(void)
{
    eddy_error e = { 0 };
    return value_of(eddy_torch_checkpoint_open(path, .error = &e), &e);
}

static eddy_status read_keras(void)
{
    eddy_error e = { 0 };
    return value_of(eddy_keras_checkpoint_open(path, .error = &e), &e);
}

static eddy_status read_bundle(void)
{
    eddy_error e = { 0 };
    return value_of(eddy_tensorflow_checkpoint_open(path, .error = &e), &e);
}

static eddy_status read_npz(void)
{
    eddy_error e = { 0 };
    eddy_npz  *z = eddy_npz_open(path, NULL, &e);
    return z ? done(eddy_npz_array(z, "x", &e), COUNT, &e) : e.status;
}

static eddy_status read_onnx(void)
{
    eddy_error       e = { 0 };
    eddy_onnx_model *m = eddy_onnx_read(eddy_graph_new(), path, .error = &e);
    const eddy_array *w = eddy_constant_value(eddy_onnx_value(m, "w"));
    return done((eddy_array *)(uintptr_t)w, COUNT, &e);
}

static eddy_status read_windows(void)
{
    eddy_error e = { 0 };
    return eddy_onnx_read(eddy_graph_new(), path, .error = &e) ? EDDY_OK : e.status;
}

static eddy_status read_tensorflow(void)
{
    eddy_error             e = { 0 };
    eddy_tensorflow_model *m = eddy_tensorflow_read(eddy_graph_new(), path, .error = &e);
    const eddy_array      *w = eddy_constant_value(eddy_tensorflow_value(m, "w"));
    return done((eddy_array *)(uintptr_t)w, COUNT, &e);
}

/* -------------------------------------------------------------- large files -- */

/* Of a vector of COUNT float32. */
static void npy_head(char head[128])
{
    memset(head, ' ', 128);
    memcpy(head, "\x93NUMPY\1\0v\0", 10);
    const int n =
        snprintf(head + 10, 118, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,)}", COUNT);
    head[10 + n] = ' ';
    head[127] = '\n';
}

START_TEST(data_files)
{
    char head[128];
    npy_head(head);
    write_file(head, sizeof head, 1, SIZE);
    fits(read_npy, "npy");
    static const uint8_t idx[] = { 0, 0, 8, 1, SIZE >> 24, SIZE >> 16 & 255, 0, 0 };
    write_file(idx, sizeof idx, 1, SIZE);
    fits(read_idx, "IDX");
    static const uint8_t wav[] = { 'R',
                                   'I',
                                   'F',
                                   'F',
                                   0,
                                   0,
                                   0,
                                   0,
                                   'W',
                                   'A',
                                   'V',
                                   'E',
                                   'f',
                                   'm',
                                   't',
                                   ' ',
                                   16,
                                   0,
                                   0,
                                   0,
                                   1,
                                   0,
                                   1,
                                   0,
                                   68,
                                   172,
                                   0,
                                   0,
                                   136,
                                   88,
                                   1,
                                   0,
                                   2,
                                   0,
                                   16,
                                   0,
                                   'd',
                                   'a',
                                   't',
                                   'a',
                                   0,
                                   0,
                                   SIZE >> 16 & 255,
                                   SIZE >> 24 };
    write_file(wav, sizeof wav, 1, SIZE);
    fits(read_wav, "WAV");              /* the array is twice as large as the file */
    write_file("", 0, 'a', SIZE);
    fits(read_bytes, "bytes");
}
END_TEST

START_TEST(tables)
{
    FILE *f = fopen(path, "wb");
    ck_assert(f);
    for (int i = 0; i < SIZE / 8; i++) fprintf(f, "%07d\n", i);
    ck_assert_int_eq(fclose(f), 0);
    fits(read_csv, "CSV");
    char      head[200] = { 0 };
    const int n =
        snprintf(head + 8, sizeof head - 8,
                 "{\"x\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[0,%d]}}", COUNT, SIZE);
    head[0] = (char)n;
    write_file(head, (size_t)n + 8, 1, SIZE);
    fits(read_safetensors, "safetensors");
}
END_TEST

/* A graph with a constant of which y is the negative. */
static message tensorflow_constant(int type, uint64_t count, uint32_t field, const void *bytes,
                                   size_t n)
{
    message graph = { NULL, 0 };
    message_inner(&graph, TF_GRAPH_NODE, tf_constant_message("w", type, count, field, bytes, n));
    message_inner(&graph, TF_GRAPH_NODE, tf_node_message("y", "Neg", "w"));
    return graph;
}

/* Weights as the bytes of their elements, as packed floats and as packed integers of one
 * byte each in the file. */
START_TEST(models)
{
    static const struct { int type; uint32_t field; size_t bytes;
    } of_onnx[] = { { 1, 9, SIZE }, { 1, 4, SIZE }, { 6, 5, COUNT } },
      of_tensorflow[] = { { 1, 4, SIZE }, { 1, 5, SIZE }, { 3, 7, COUNT } };
    const int64_t dims[] = { COUNT };
    uint8_t      *bytes = calloc(SIZE, 1);
    for (int i = 0; i < 3; i++) {
        message w = onnx_tensor_message("w", of_onnx[i].type, 1, dims, NULL, 0), g = { NULL, 0 };
        message_bytes(&w, of_onnx[i].field, bytes, of_onnx[i].bytes);
        message_inner(&g, GRAPH_INITIALIZER, w);
        message_inner(&g, GRAPH_NODE, onnx_node_message("Neg", "w", "y"));
        message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", of_onnx[i].type, 1, dims));
        write_message(onnx_model_message(g, 13));
        fits(read_onnx, "ONNX");

        write_message(tensorflow_constant(of_tensorflow[i].type, COUNT, of_tensorflow[i].field,
                                          bytes, of_tensorflow[i].bytes));
        fits(read_tensorflow, "TensorFlow");
    }
    free(bytes);
}
END_TEST

/* A graph model of TensorFlow.js, whose weights are in a file beside it. */
START_TEST(model_in_two_files)
{
    char text[600];
    snprintf(shard, sizeof shard, "%s.bin", path);
    const int n = snprintf(
        text, sizeof text,
        "{\"modelTopology\":{\"node\":[{\"name\":\"w\",\"op\":\"Const\",\"attr\":{\"value\":"
        "{\"tensor\":{\"dtype\":\"DT_FLOAT\",\"tensorShape\":{\"dim\":[{\"size\":%d}]}}}}},"
        "{\"name\":\"y\",\"op\":\"Neg\",\"input\":[\"w\"]}]},\"weightsManifest\":"
        "[{\"paths\":[\"%s\"],\"weights\":"
        "[{\"name\":\"w\",\"shape\":[%d],\"dtype\":\"float32\"}]}]}",
        COUNT, strrchr(shard, '/') + 1, COUNT);
    write_file(text, (size_t)n, 0, 0);
    write_named(shard, "", 0, 1, SIZE);
    fits(read_tensorflow, "TensorFlow.js");
}
END_TEST

/* -------------------------------------------------------------- checkpoints -- */

static message archive_of(const char *name, message first, const char *second_name, size_t n)
{
    zip_part f[] = { { .name = name, .data = first },
                   { .name = second_name, .data = { calloc(n + 1, 1), n } } };
    return zip_of(f, second_name ? 2 : 1, (zip_ending){ 0 });
}

static message hdf5_file_of(size_t n)
{
    message      m = hdf5_begin();
    const size_t x = hdf5_floats(&m, n, 200);
    const size_t root = hdf5_object(&m, HDF5_LINK_BYTES + 1);
    hdf5_link(&m, "x", x);
    hdf5_end(&m, root);
    m.at = realloc(m.at, 200 + 4 * n);
    memset(m.at + m.size, 0, 200 + 4 * n - m.size);
    m.size = 200 + 4 * n;
    return m;
}

START_TEST(checkpoints)
{
    static const char pickle[] =
        "}U\1xctorch._utils\n_rebuild_tensor_v2\n((U\7storagectorch\nFloatStorage\nU\1kU\3cpuK\1tQ"
        "K\0(J\0\0\x40\0t(K\1ttRs.";
    ck_assert_int_eq(COUNT, 0x400000);
    write_message(hdf5_file_of(COUNT));
    fits(read_keras, "HDF5");
    write_message(archive_of("model.weights.h5", hdf5_file_of(COUNT), NULL, 0));
    fits(read_keras, "Keras");
    message data = { NULL, 0 };
    message_put(&data, pickle, sizeof pickle - 1);
    write_message(archive_of("m/data.pkl", data, "m/data/k", SIZE));
    fits(read_torch, "PyTorch");
    message npy = { calloc(SIZE + 128, 1), SIZE + 128 };
    npy_head((char *)npy.at);
    write_message(archive_of("x.npy", npy, NULL, 0));
    fits(read_npz, "npz");
    eddy_array           *x = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(COUNT));
    const tf_bundle_entry entry = { .name = "x", .type = 1, .array = x };
    tf_bundle             b = tf_bundle_of(&entry, 1);
    char                  name[100];
    eddy_array_free(x);
    snprintf(name, sizeof name, "%s.index", path);
    write_named(name, b.index.at, b.index.size, 0, 0);
    snprintf(shard, sizeof shard, "%s.data-00000-of-00001", path);
    write_named(shard, b.data.at, b.data.size, 0, 0);
    tf_bundle_free(&b);
    fits(read_bundle, "bundle");
    unlink(name);
}
END_TEST

/* -------------------------------------------------- small files that promise much -- */

/* It is refused with this status, with hardly any memory. */
static void refuses(eddy_status (*read)(void), eddy_status expected, const char *what)
{
    const eddy_status s = limited(read, SPARE);
    ck_assert_msg(s == expected, "%s: %s", what, eddy_status_name(s));
    unlink(path);
}

START_TEST(promises)
{
    /* 60000 by 60000 pixels of a byte. */
    static const uint8_t png[] = { 0x89, 'P',  'N', 'G', '\r', '\n', 26,  '\n', 0,    0,    0,
                                   13,   'I',  'H', 'D', 'R',  0,    0,   0xea, 0x60, 0,    0,
                                   0xea, 0x60, 8,   0,   0,    0,    0,   0xa5, 0xb9, 0x2a, 0x9e,
                                   0,    0,    0,   1,   'I',  'D',  'A', 'T' };
    write_file(png, sizeof png, 0, 100);
    refuses(read_image, EDDY_LIMIT, "PNG");
    static const uint8_t idx[] = { 0, 0, 8, 2, 127, 255, 255, 255, 0, 0, 1, 0 };
    write_file(idx, sizeof idx, 0, 100);
    refuses(read_idx, EDDY_CORRUPT, "IDX");
    static const uint8_t gzip[] = { 0x1f, 0x8b, 8,    0,    0,    0,    0,    0,    2,
                                    3,    0x63, 0x60, 0xe0, 0x60, 0xaa, 0xff, 0xff, 0xff,
                                    0x3f, 3,    3,    0x23, 3,    0x3d, 0,    0,    0xcb,
                                    0x39, 0xc6, 0x94, 0x70, 0,    0,    0 };
    write_file(gzip, sizeof gzip, 0, 0);
    refuses(read_idx, EDDY_CORRUPT, "IDX in gzip");
    static const uint8_t wav[] = { 'R', 'I', 'F', 'F', 0,   0,   0,   0,   'W', 'A', 'V',
                                   'E', 'f', 'm', 't', ' ', 16,  0,   0,   0,   1,   0,
                                   1,   0,   68,  172, 0,   0,   136, 88,  1,   0,   2,
                                   0,   16,  0,   'd', 'a', 't', 'a', 255, 255, 255, 255 };
    write_file(wav, sizeof wav, 0, 100);
    refuses(read_wav, EDDY_CORRUPT, "WAV");
    static const char npy[] = "\x93NUMPY\1\0\x44\0{'descr': '<f4', 'fortran_order': False, "
                              "'shape': (99999999999,), }\n";
    write_file(npy, sizeof npy - 1, 0, 100);
    refuses(read_npy, EDDY_CORRUPT, "npy");
    static const char safetensors[] = "\x4b\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":"
                                      "[99999999999],\"data_offsets\":[0,399999999996]}}";
    write_file(safetensors, sizeof safetensors - 1, 0, 100);
    refuses(read_safetensors, EDDY_CORRUPT, "safetensors");
    /* The last element that is written stands for all others; none are zeros. */
    static const uint8_t one[] = { 0, 0, 0x80, 0x3f };
    write_message(tensorflow_constant(1, 1 << 30, 5, one, sizeof one));
    refuses(read_tensorflow, EDDY_LIMIT, "TensorFlow");
    write_message(tensorflow_constant(1, 1 << 30, 4, one, 0));
    refuses(read_tensorflow, EDDY_LIMIT, "TensorFlow, zeros");
}
END_TEST

/* The longest names of as many links as are read, all to one dataset. */
START_TEST(many_links)
{
    enum { LINKS = 1 << 16, NAME = 240 };
    message      m = hdf5_begin();
    const size_t data = hdf5_floats(&m, 2, 0);
    const size_t inner = hdf5_object(&m, LINKS * (HDF5_LINK_BYTES + 8));
    for (int i = 0; i < LINKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%06d:0", i);
        hdf5_link(&m, name, data);
    }
    char name[NAME + 1] = "";
    memset(name, 'n', NAME);
    const size_t outer = hdf5_object(&m, HDF5_LINK_BYTES + NAME);
    hdf5_link(&m, name, inner);
    const size_t root = hdf5_object(&m, HDF5_LINK_BYTES + NAME);
    hdf5_link(&m, name, outer);
    hdf5_end(&m, root);
    const int64_t most = 2 * (int64_t)m.size + (64 << 20);
    write_message(m);
    const eddy_status s = limited(read_keras, most);
    ck_assert_msg(s == EDDY_NOT_FOUND, "HDF5: %s", eddy_status_name(s)); /* there is no x */
    unlink(path);
}
END_TEST

/* Small models of ONNX that compute constants: one of the most elements, then more of them. */
static void windows(int count, int64_t size, eddy_status expected)
{
    message g = { NULL, 0 };
    message_inner(&g, GRAPH_INITIALIZER, onnx_tensor_message("n", 7, 0, NULL, &size, sizeof size));
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", i);
        message_inner(&g, GRAPH_NODE, onnx_node_message("HannWindow", "n", name));
    }
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y0", 1, -1, NULL));
    message       m = onnx_model_message(g, 17);
    const int64_t most = 2 * (int64_t)m.size + (64 << 20);
    write_message(m);
    const eddy_status s = limited(read_windows, most);
    ck_assert_msg(s == expected, "%d windows: %s", count, eddy_status_name(s));
    unlink(path);
}

START_TEST(computed)
{
    windows(1, 1 << 20, EDDY_OK);
    windows(1000, 1 << 10, EDDY_OK);
    windows(1, (1 << 20) + 1, EDDY_UNIMPLEMENTED);
    windows(1000, 1 << 20, EDDY_UNIMPLEMENTED);
}
END_TEST

Suite *reader_memory_suite(void)
{
    Suite *s = suite_create("reader_memory");
    snprintf(path, sizeof path, "/tmp/eddy-reader-memory-%d.pb", (int)getpid());
    TCase *t = tcase_create("memory");
    tcase_set_tags(t, "slow");          /* the sanitizers and valgrind take memory of their own */
    tcase_add_test(t, data_files);
    tcase_add_test(t, tables);
    tcase_add_test(t, models);
    tcase_add_test(t, model_in_two_files);
    tcase_add_test(t, checkpoints);
    tcase_add_test(t, many_links);
    tcase_add_test(t, computed);
    tcase_add_test(t, promises);
    suite_add_tcase(s, t);
    return s;
}
