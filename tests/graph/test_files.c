/* test_files.c -- file functions: POSIX files; replacing a file under failures and power loss. */
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/whole_files.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *files_suite(void);

/* ---------------------------------------------------------------- POSIX -- */

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/eddy-files-%s", "XX" "XX" "XX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* rmdir fails, and with it the test, if a file was left behind. */
static void remove_folder(void)
{
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(posix_replace)
{
    eddy_error e = { 0 };
    void      *data;
    size_t     size;
    for (int i = 0; i < 3; i++) {
        char text[16];
        int  n = snprintf(text, sizeof text, "%.*s", i, "ab");       /* also no byte at all */
        ck_assert(file_replace(NULL, in_folder("x"), text, (size_t)n, &e));
        ck_assert(file_read(NULL, &eddy__libc, in_folder("x"), 2, &data, &size, &e));
        ck_assert_uint_eq(size, (size_t)n);
        ck_assert_mem_eq(data, text, size);
        eddy__release(&eddy__libc, data, size);
    }
    ck_assert(!file_read(NULL, &eddy__libc, in_folder("x"), 1, &data, &size, &e));
    ck_assert_int_eq(e.status, EDDY_LIMIT);
    ck_assert_ptr_null(data);
    unlink(in_folder("x"));
}
END_TEST

/* A path without a slash: the folder is the current one. */
START_TEST(posix_relative)
{
    char       before[1024];
    eddy_error e = { 0 };
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    ck_assert_int_eq(chdir(folder), 0);
    bool ok = file_replace(NULL, "y", "1", 1, &e);
    ck_assert_int_eq(unlink("y"), 0);
    ck_assert_int_eq(chdir(before), 0);
    ck_assert_msg(ok, "%s", e.message);
}
END_TEST

START_TEST(posix_errors)
{
    char        deep[6000];
    eddy_error  e;
    eddy_reader in;
    const struct { const char *path; eddy_status read, write; const char *text; } rows[] = {
        { "absent", EDDY_NOT_FOUND, EDDY_OK, "there is no such file" },
        { "no/such/folder", EDDY_NOT_FOUND, EDDY_IO, "No such file or directory" },
        { ".", EDDY_IO, EDDY_IO, "Is a directory" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        e = (eddy_error){ 0 };
        ck_assert(!eddy__reader_open(&in, NULL, in_folder(rows[i].path), &e));
        eddy__reader_close(&in);
        ck_assert_int_eq(e.status, rows[i].read);
        ck_assert_ptr_nonnull(strstr(e.message, folder));
        ck_assert(i == 1 || strstr(e.message, rows[i].text));
        e = (eddy_error){ 0 };
        file_replace(NULL, in_folder(rows[i].path), "", 0, &e);
        ck_assert_int_eq(e.status, rows[i].write);
    }
    unlink(in_folder("absent"));
    memset(deep, 'a', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    ck_assert(!file_replace(NULL, deep, "", 0, NULL));
    ck_assert(!file_replace(NULL, NULL, "", 0, NULL));
    ck_assert(!file_replace(NULL, "", "", 0, NULL));
    for (int i = 0; i < 9; i++) {
        eddy_files gap = *eddy_posix_files();
        memset((char *)&gap + (size_t)i * sizeof gap.open, 0, sizeof gap.open);
        ck_assert(!file_replace(&gap, in_folder("z"), "", 0, NULL));
    }
    ck_assert(!eddy__reader_open(&in, NULL, NULL, NULL));
}
END_TEST

/* More bytes than a long has where addresses have 32 bits; nearly all of them are a hole. */
START_TEST(posix_large)
{
    const int64_t size = INT64_C(3) << 30;
    eddy_error    e = { 0 };
    eddy_reader   in;
    char          first = 0;
    ck_assert(file_replace(NULL, in_folder("large"), "x", 1, &e));
    ck_assert_int_eq(truncate(in_folder("large"), (off_t)size), 0);
    ck_assert_msg(eddy__reader_open(&in, NULL, in_folder("large"), &e), "%s", e.message);
    ck_assert_int_eq((int64_t)in.size, size);
    ck_assert(eddy__reader_read(&in, &first, 1));
    ck_assert_int_eq(first, 'x');
    eddy__reader_close(&in);
    ck_assert_int_eq(unlink(in_folder("large")), 0);
}
END_TEST

/* Temporary names left by a killed process are skipped; a link is replaced by the file, not
 * followed. */
START_TEST(posix_temporaries)
{
    eddy_error  e = { 0 };
    struct stat st;
    char        taken[160];
    snprintf(taken, sizeof taken, "%s/x.tmp-%ld-0", folder, (long)getpid());
    ck_assert(file_replace(NULL, taken, "old", 3, &e));
    ck_assert_int_eq(symlink("elsewhere", in_folder("x")), 0);
    ck_assert(file_replace(NULL, in_folder("x"), "new", 3, &e));
    ck_assert_int_eq(lstat(in_folder("x"), &st), 0);
    ck_assert(S_ISREG(st.st_mode) && st.st_size == 3 && (st.st_mode & 0111) == 0);
    ck_assert_int_eq(unlink(in_folder("x")), 0);
    ck_assert_int_eq(unlink(taken), 0);
}
END_TEST

START_TEST(posix_sync_dir)
{
    const eddy_files *f = eddy_posix_files();
    ck_assert_int_eq(f->sync_dir(NULL, in_folder("x")), 0);
    ck_assert_int_eq(f->sync_dir(NULL, "x"), 0);
    ck_assert_int_eq(f->sync_dir(NULL, "/x"), 0);
    errno = 0;
    ck_assert_int_eq(f->sync_dir(NULL, in_folder("no/x")), -1);
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* --------------------------------------------------------------- faults -- */

static const int numbers[] = { 0, EIO, ENOSPC, EACCES, EINTR, EEXIST };
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Every call of a replacement fails, once or from then on, in every way: the
 * file is the old or the new one, and only OK means that it is the new one. */
START_TEST(replace_under_faults)
{
    static const char old[] = "the old file", new[] = "the new file, and longer";
    bool persistent = _i % 2, reached = true;
    int  number = numbers[_i / 2];
    for (int at = 1; reached; at++) {
        memory_files m;
        eddy_error   e = { 0 };
        memory_files_init(&m);
        memory_files_put(&m, "f", old, sizeof old);
        m.fault = (memory_fault){ .at = at, .number = number, .persistent = persistent };
        bool ok = file_replace(&m.table, "f", new, sizeof new, &e);
        reached = m.calls >= at;
        const memory_content *c = memory_files_get(&m, "f");
        ck_assert_int_eq(m.n_open, 0);
        ck_assert(ok == (e.status == EDDY_OK) && (ok || e.message[0]));
        ck_assert(c->size == sizeof old
                      ? !ok && !memcmp(c->bytes, old, sizeof old)
                      : c->size == sizeof new && !memcmp(c->bytes, new, sizeof new));
        if (!persistent) ck_assert_int_eq(memory_files_count(&m), 1); /* nothing left behind */
        if (number == 0) ck_assert(ok); /* short writes are no error */
        if (number == EINTR && !persistent) ck_assert(ok);
        memory_files_free(&m);
    }
}
END_TEST

START_TEST(read_under_faults)
{
    static const char text[] = "some text to read";
    bool persistent = _i % 2, reached = true;
    int  number = numbers[_i / 2];
    for (int at = 1; reached; at++) {
        memory_files m;
        eddy_error   e = { 0 };
        void        *data;
        size_t       size;
        memory_files_init(&m);
        memory_files_put(&m, "f", text, sizeof text);
        m.fault = (memory_fault){ .at = at, .number = number, .persistent = persistent };
        bool ok = file_read(&m.table, &eddy__libc, "f", 1000, &data, &size, &e);
        reached = m.calls >= at;
        ck_assert_int_eq(m.n_open, 0);
        ck_assert(ok == (e.status == EDDY_OK));
        ck_assert(!ok || (size == sizeof text && !memcmp(data, text, size)));
        if (number == 0 || !reached) ck_assert(ok);
        eddy__release(&eddy__libc, data, size);
        memory_files_free(&m);
    }
}
END_TEST

static int64_t too_much(void *context, int fd, const void *p, size_t n)
{
    (void)context;
    (void)fd;
    (void)p;
    return (int64_t)n + 1;
}
static int64_t nothing(void *context, int fd, const void *p, size_t n)
{
    (void)context;
    (void)fd;
    (void)p;
    (void)n;
    return 0;
}
static int64_t read_too_much(void *context, int fd, void *p, size_t n)
{
    return too_much(context, fd, p, n);
}

/* A table that tells of more bytes than it was asked for, or of none. */
START_TEST(tables_that_lie)
{
    memory_files m;
    void        *data;
    size_t       size;
    memory_files_init(&m);
    memory_files_put(&m, "f", "text", 4);
    m.table.write = too_much;
    ck_assert(!file_replace(&m.table, "f", "new", 3, NULL));
    m.table.write = nothing;
    ck_assert(!file_replace(&m.table, "f", "new", 3, NULL));
    m.table.read = read_too_much;
    ck_assert(!file_read(&m.table, &eddy__libc, "f", 4, &data, &size, NULL));
    ck_assert(m.n_open == 0 && memory_files_count(&m) == 1);
    memory_files_free(&m);
}
END_TEST

/* Power is lost at every call; a thousand states each of what may be left. */
static int images(bool lazy)
{
    static const char old[] = "the old file", new[] = "the new file, and longer";
    int damaged = 0;
    for (int at = 1; at <= 12; at++) {
        memory_files m;
        memory_files_init(&m);
        memory_files_put(&m, "f", old, sizeof old);
        m.lazy = lazy;
        m.fault = (memory_fault){ .at = at, .number = EIO, .persistent = true, .power = true };
        bool ok = file_replace(&m.table, "f", new, sizeof new, NULL);
        for (unsigned seed = 0; seed < 1000; seed++) {
            memory_files after;
            memory_files_crash(&m, seed, &after);
            const memory_content *c = memory_files_get(&after, "f");
            bool is_old = c && c->size == sizeof old && !memcmp(c->bytes, old, sizeof old);
            bool is_new = c && c->size == sizeof new && !memcmp(c->bytes, new, sizeof new);
            damaged += !is_new && (ok || !is_old);
            memory_files_free(&after);
        }
        memory_files_free(&m);
    }
    return damaged;
}

START_TEST(power_loss)
{
    ck_assert_int_eq(images(false), 0);
    ck_assert_int_gt(images(true), 0);       /* without syncs the same check finds damage */
}
END_TEST

/* ---------------------------------------------------------------- suite -- */

Suite *files_suite(void)
{
    Suite *s = suite_create("files");
    TCase *posix = tcase_create("posix"), *faults = tcase_create("faults");
    tcase_add_checked_fixture(posix, make_folder, remove_folder);
    tcase_add_test(posix, posix_replace);
    tcase_add_test(posix, posix_relative);
    tcase_add_test(posix, posix_errors);
    tcase_add_test(posix, posix_large);
    tcase_add_test(posix, posix_temporaries);
    tcase_add_test(posix, posix_sync_dir);
    tcase_add_loop_test(faults, replace_under_faults, 0, 2 * NUMBERS);
    tcase_add_loop_test(faults, read_under_faults, 0, 2 * NUMBERS);
    tcase_add_test(faults, tables_that_lie);
    tcase_add_test(faults, power_loss);
    suite_add_tcase(s, posix);
    suite_add_tcase(s, faults);
    return s;
}
