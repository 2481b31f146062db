/* test_special_files.c -- every reader of files is given a pipe that nobody writes to, a device and
 * a folder: it says so and does not wait. Saves replace no pipe. */
#include "build/gen/suites.h"
#include "formats.h"
#include "input.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef bool reader(const char *path, eddy_error *e);   /* true if it gave a value */

static bool free_array(eddy_array *a)
{
    eddy_array_free(a);
    return a != NULL;
}

static bool read_array(const char *path, eddy_error *e)
{
    return free_array(eddy_array_load(path, NULL, e));
}

static bool read_idx(const char *path, eddy_error *e)
{
    return free_array(eddy_idx_load(path, NULL, e));
}

static bool read_bytes(const char *path, eddy_error *e)
{
    return free_array(eddy_bytes_load(path, NULL, e));
}

static bool read_wav(const char *path, eddy_error *e)
{
    return free_array(eddy_wav_load(path, NULL, e));
}

static bool read_npz(const char *path, eddy_error *e)
{
    eddy_npz *z = eddy_npz_open(path, NULL, e);
    eddy_npz_free(z);
    return z != NULL;
}

static bool read_csv(const char *path, eddy_error *e)
{
    eddy_csv *c = eddy_csv_read(path, .error = e);
    eddy_csv_free(c);
    return c != NULL;
}

static bool read_lines(const char *path, eddy_error *e)
{
    eddy_dataset *d = eddy_dataset_from_lines(path);
    const bool    read = eddy_dataset_next(d, NULL);
    e->status = eddy_dataset_status(d);
    snprintf(e->message, sizeof e->message, "%s", eddy_dataset_message(d));
    eddy_dataset_free(d);
    return read;
}

static bool read_graph(const char *path, eddy_error *e)
{
    eddy_graph *g = eddy_graph_load(path, .error = e);
    eddy_graph_free(g);
    return g != NULL;
}

static bool free_checkpoint(eddy_checkpoint *c)
{
    eddy_checkpoint_free(c);
    return c != NULL;
}

static bool read_safetensors(const char *path, eddy_error *e)
{
    return free_checkpoint(eddy_checkpoint_open(path, .error = e));
}

static bool read_torch(const char *path, eddy_error *e)
{
    return free_checkpoint(eddy_torch_checkpoint_open(path, .error = e));
}

static bool read_keras(const char *path, eddy_error *e)
{
    return free_checkpoint(eddy_keras_checkpoint_open(path, .error = e));
}

static bool read_onnx(const char *path, eddy_error *e)
{
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m = eddy_onnx_read(g, path, .error = e);
    eddy_onnx_free(m);
    eddy_graph_free(g);
    return m != NULL;
}

static bool read_tensorflow(const char *path, eddy_error *e)
{
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = eddy_tensorflow_read(g, path, .error = e);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    return m != NULL;
}

/* The name without ".index". */
static bool read_bundle(const char *path, eddy_error *e)
{
    char prefix[200];
    snprintf(prefix, sizeof prefix, "%.*s", (int)(strlen(path) - strlen(".index")), path);
    return free_checkpoint(eddy_tensorflow_checkpoint_open(prefix, .error = e));
}

static const struct { const char *file; reader *read; } readers[] = {
    { "x.npy", read_array }, { "x.idx", read_idx }, { "x.txt", read_bytes }, { "x.wav", read_wav },
    { "x.npz", read_npz }, { "x.csv", read_csv }, { "lines", read_lines }, { "x.yaml", read_graph },
    { "x.safetensors", read_safetensors }, { "x.pt", read_torch }, { "x.onnx", read_onnx },
    { "x.pb", read_tensorflow }, { "x.index", read_bundle }, { "x.h5", read_keras }
};
enum { READERS = sizeof readers / sizeof *readers };

static char folder[64];

static const char *in_folder(int i)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, readers[i].file);
    return path;
}

static void refuse(int i, const char *reason)
{
    const char *path = in_folder(i);
    eddy_error  e = { EDDY_OK, "" };
    ck_assert_msg(!readers[i].read(path, &e), "%s is read", path);
    ck_assert_msg(e.status == EDDY_IO, "%s: %s", path, e.message);
    ck_assert_msg(strstr(e.message, path) && strstr(e.message, reason), "%s", e.message);
    remove(path);
}

START_TEST(pipes)
{
    ck_assert_int_eq(mkfifo(in_folder(_i), 0600), 0);
    refuse(_i, "this is not a regular file");
}
END_TEST

START_TEST(devices)
{
    ck_assert_int_eq(symlink("/dev/zero", in_folder(_i)), 0);
    refuse(_i, "this is not a regular file");
}
END_TEST

START_TEST(folders)
{
    ck_assert_int_eq(mkdir(in_folder(_i), 0700), 0);
    refuse(_i, "Is a directory");
}
END_TEST

static eddy_tensor a_variable(eddy_graph *g)
{
    return eddy_variable(g, eddy_scalar(g, 1), .name = "v");
}

static eddy_status save_graph(const char *path, eddy_error *e)
{
    eddy_graph *g = eddy_graph_new();
    a_variable(g);
    const eddy_status s = eddy_graph_save(g, path, e);
    eddy_graph_free(g);
    return s;
}

static eddy_status save_array(const char *path, eddy_error *e)
{
    return eddy_array_save(EDDY_NUMBER(EDDY_FLOAT32, 1), path, NULL, e);
}

static eddy_status save_checkpoint(const char *path, eddy_error *e)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    eddy_variable_set(s, a_variable(g), EDDY_NUMBER(EDDY_FLOAT32, 1));
    e->status = eddy_save(s, path, EDDY_LIST());
    snprintf(e->message, sizeof e->message, "%s", eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
    return e->status;
}

static eddy_status save_onnx(const char *path, eddy_error *e)
{
    eddy_graph       *g = eddy_graph_new();
    const eddy_status s = eddy_onnx_write(EDDY_LIST(eddy_exp(eddy_scalar(g, 1))), path, .error = e);
    eddy_graph_free(g);
    return s;
}

/* A pipe, as a device, is no file that a save may replace, and nothing is left beside it. */
START_TEST(not_replaced)
{
    static eddy_status (*const saves[])(const char *, eddy_error *) = {
        save_graph, save_array, save_checkpoint, save_onnx
    };
    const char *path = in_folder(0);
    eddy_error  e = { EDDY_OK, "" };
    struct stat st;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(saves[_i](path, &e), EDDY_IO);
    ck_assert_msg(strstr(e.message, path) && strstr(e.message, "this is not a regular file"), "%s",
                  e.message);
    ck_assert(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode));
    remove(path);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/eddy-special-%s", "XX" "XX" "XX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    rmdir(folder);
}

Suite *special_files_suite(void)
{
    Suite *suite = suite_create("special_files");
    TCase *t = tcase_create("special");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_add_loop_test(t, pipes, 0, READERS);
    tcase_add_loop_test(t, devices, 0, READERS);
    tcase_add_loop_test(t, folders, 0, READERS);
    tcase_add_loop_test(t, not_replaced, 0, 4);
    suite_add_tcase(suite, t);
    return suite;
}
