/* test_safetensors_faults.c -- safetensors files on failing disks, without memory, cut and with
 * changed bits. */
#include "graph/files/safetensors.h"
#include "build/gen/suites.h"
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/golden.h"

#include <check.h>
#include <errno.h>

static const char *const           two_names[] = { "w", "b" };
static const eddy_safetensors_text two_texts[] = { { "step", "12" }, { "made by", "a test" } };

static eddy_status write_two(const eddy_files *files, const eddy_allocator *a, double v,
                             eddy_error *e)
{
    eddy_array *w = eddy_array_of(EDDY_FLOAT64, v), *b = eddy_array_of(EDDY_FLOAT32, -v);
    eddy_status s =
        eddy__safetensors_write(files, a, "f", 2, two_names, (const eddy_array *[]){ w, b }, 2,
                                two_texts, e);
    eddy_array_free(w);
    eddy_array_free(b);
    return s;
}

/* The contents of the file: v of write_two. */
static double value_of(const eddy_files *files)
{
    eddy_safetensors s;
    eddy_error       e = { 0 };
    ck_assert_msg(eddy__safetensors_open(files, NULL, "f", false, &s, &e) == EDDY_OK, "%s",
                  e.message);
    eddy_array  *w = eddy__safetensors_value(&s, eddy__safetensors_find(&s, "w"), &e);
    eddy_array  *b = eddy__safetensors_value(&s, eddy__safetensors_find(&s, "b"), &e);
    ck_assert_msg(w && b, "%s", e.message);
    const double v = eddy_array_item(w);
    ck_assert(eddy_array_item(b) == -v);
    eddy__safetensors_free(&s);
    eddy_array_free(w);
    eddy_array_free(b);
    return v;
}

START_TEST(files_fail)
{
    static const int numbers[] = { 0, EIO, ENOSPC, EINTR };
    for (int k = 0; k < 8; k++) {
        bool reached = true;
        for (int at = 1; reached; at++) {
            memory_files m;
            memory_files_init(&m);
            ck_assert_int_eq(write_two(&m.table, NULL, 1, NULL), EDDY_OK);
            int before = m.calls;
            m.fault =
                (memory_fault){ .at = before + at, .number = numbers[k / 2], .persistent = k % 2 };
            eddy_status s = write_two(&m.table, NULL, 2, NULL);
            reached = m.calls >= before + at;
            m.fault.at = 0;
            double v = value_of(&m.table);
            ck_assert(s == EDDY_OK ? v == 2 : v == 1 || v == 2);
            m.fault =
                (memory_fault){ .at = m.calls + at, .number = numbers[k / 2], .persistent = k % 2 };
            eddy_safetensors out;
            s = eddy__safetensors_open(&m.table, NULL, "f", false, &out, NULL);
            ck_assert(s == EDDY_OK || (numbers[k / 2] && out.count == 0));
            eddy__safetensors_free(&out);
            ck_assert_int_eq(m.n_open, 0);
            memory_files_free(&m);
        }
    }
}
END_TEST

START_TEST(memory_fails)
{
    for (int persistent = 0; persistent < 2; persistent++) {
        bool wrote = false, read = false;
        for (int at = 1; !wrote || !read; at++) {
            failing_allocator f;
            memory_files      m;
            eddy_safetensors  out;
            failing_allocator_init(&f);
            memory_files_init(&m);
            ck_assert_int_eq(write_two(&m.table, NULL, 1, NULL), EDDY_OK);
            f.at = at;
            f.persistent = persistent;
            eddy_status s = write_two(&m.table, &f.table, 2, NULL);
            wrote = f.calls < at;
            ck_assert_int_eq(s, wrote ? EDDY_OK : EDDY_NO_MEMORY);
            ck_assert_int_eq(f.live, 0);
            ck_assert(value_of(&m.table) == (wrote ? 2 : 1));
            f.calls = 0;
            s = eddy__safetensors_open(&m.table, &f.table, "f", false, &out, NULL);
            read = f.calls < at;
            ck_assert_int_eq(s, read ? EDDY_OK : EDDY_NO_MEMORY);
            eddy__safetensors_free(&out);
            ck_assert_int_eq(f.live, 0);
            ck_assert_int_lt(at, 100);
            memory_files_free(&m);
        }
    }
}
END_TEST

/* False if the file or one of its arrays is refused. */
static bool reads_all(const eddy_files *files)
{
    eddy_safetensors s;
    bool ok = eddy__safetensors_open(files, NULL, "f", false, &s, NULL) == EDDY_OK;
    for (int i = 0; i < s.count; i++) {
        eddy_array *a = eddy__safetensors_value(&s, &s.entries[i], NULL);
        ok = ok && a;
        eddy_array_free(a);
    }
    eddy__safetensors_free(&s);
    return ok;
}

/* Each prefix of a file, and the file with any bit changed, is refused. */
START_TEST(cut_and_flipped)
{
    memory_files m;
    memory_files_init(&m);
    ck_assert_int_eq(write_two(&m.table, NULL, 1, NULL), EDDY_OK);
    ck_assert(reads_all(&m.table));
    const memory_content *c = memory_files_get(&m, "f");
    for (size_t i = 0; i < c->size; i++) {
        for (int bit = -1; bit < 8; bit++) {
            memory_files other;
            memory_files_init(&other);
            memory_files_put(&other, "f", c->bytes, bit < 0 ? i : c->size);
            if (bit >= 0) other.contents[0].bytes[i] = (char)(c->bytes[i] ^ 1 << bit);
            ck_assert_msg(!reads_all(&other.table), "byte %zu, bit %d", i, bit);
            memory_files_free(&other);
        }
    }
    memory_files_free(&m);
}
END_TEST

static void read_file(const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "f", file, size);
    eddy_checkpoint *c = eddy_checkpoint_open("f", .files = &m.table, .error = &e);
    for (int i = 0; i < eddy_checkpoint_metadata_count(c); i++) {
        const eddy_metadata pair = eddy_checkpoint_metadata_at(c, i);
        answer_add(answer, room, "%s=%s; ", pair.key, pair.value);
    }
    answer_checkpoint(answer, room, c, &e);
    memory_files_free(&m);
}

/* Each byte changed, of a file without checksums. */
START_TEST(changed)
{
    static const char file[] =
        "\x9d\0\0\0\0\0\0\0{\"__metadata__\":{\"k\":\"\\u00e9\\ud83d\\ude00\"},\"b\":{"
        "\"dtype\":\"I16\",\"shape\":"
        "[2,1],\"data_offsets\":[0,4]}, \"w\" : "
        "{\"shape\":[],\"data_offsets\":[ 4 ,8],\"dtype\":\"F32\"}"
        " } \1\0\xfe\xff\0\0\xc0\x3f";
    ck_assert_uint_eq(sizeof file - 1, 8 + (uint8_t)file[0] + 8);
    golden_begin("graph/changed_safetensors");
    changed_bytes("file", file, sizeof file - 1, read_file);
    golden_end();
}
END_TEST

Suite *safetensors_faults_suite(void)
{
    Suite *s = suite_create("safetensors_faults");
    TCase *c = tcase_create("faults");
    tcase_add_test(c, files_fail);
    tcase_add_test(c, memory_fails);
    tcase_add_test(c, cut_and_flipped);
    tcase_add_test(c, changed);
    suite_add_tcase(s, c);
    return s;
}
