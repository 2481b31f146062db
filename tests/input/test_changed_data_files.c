/* test_changed_data_files.c -- data files of which each byte is changed: the answers are in
 * tests/golden/input. */
#include "build/gen/suites.h"
#include "input.h"
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/zip_writer.h"
#include "tests/lib/golden.h"

#include <string.h>

/* Calls `load` with the bytes as the file "f". */
static void answer_load(eddy_array *(*load)(const char *, const eddy_files *, eddy_error *),
                        const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "f", file, size);
    eddy_array *a = load("f", &m.table, &e);
    if (a) answer_add_array(answer, room, a);
    else answer_add(answer, room, "%s", e.message);
    eddy_array_free(a);
    memory_files_free(&m);
}

static void tell(const char *what, message m, changed_read *read)
{
    changed_bytes(what, m.at, m.size, read);
    message_free(&m);
}

/* ----------------------------------------------------------------- archives -- */

static void read_npz(const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "f", file, size);
    eddy_npz *z = eddy_npz_open("f", &m.table, &e);
    answer_add(answer, room, "%s", e.message);
    for (int i = 0; i < eddy_npz_count(z); i++) {
        eddy_array *a = eddy_npz_array(z, eddy_npz_name(z, i), &e);
        answer_add(answer, room, " %s: ", eddy_npz_name(z, i));
        if (a) answer_add_array(answer, room, a);
        else answer_add(answer, room, "%s", e.message);
        eddy_array_free(a);
    }
    eddy_npz_free(z);
    memory_files_free(&m);
}

/* A short header: NumPy fills the line with blanks. */
static message array_file(void)
{
    static const char head[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}\n";
    message           m = { NULL, 0 };
    message_put_text(&m, "\x93NUMPY\1");
    message_put_number(&m, 0, 1);
    message_put_number(&m, sizeof head - 1, 2);
    message_put_text(&m, head);
    message_put(&m, (float[]){ 1, 2 }, 8);
    return m;
}

/* Directories of both sizes, with a note and an extra field; the second array is none. */
START_TEST(npz)
{
    golden_begin("input/changed_npz");
    for (int wide = 0; wide < 2; wide++) {
        zip_part f[] = {
            { .name = "x.npy", .data = array_file(), .wide = wide, .extra = 3 * !wide },
            { .name = "y", .data = { NULL, 0 } }
        };
        tell(wide ? "64 bits" : "32 bits",
             zip_of(f, 2 - wide, (zip_ending){ .wide = wide, .note = "ab" }), read_npz);
    }
    golden_end();
}
END_TEST

/* ------------------------------------------------------------ sound and idx -- */

static void read_wav(const void *file, size_t size, char *answer, size_t room)
{
    answer_load(eddy_wav_load, file, size, answer, room);
}

/* Two channels of 16 bits behind another chunk, or float32 as an extension says. */
static message sound(bool extended)
{
    message   m = { NULL, 0 };
    const int bytes = extended ? 4 : 2;
    message_put_text(&m, "RIFF");
    message_put_number(&m, 0, 4);
    message_put_text(&m, "WAVEfmt ");
    message_put_number(&m, extended ? 40 : 16, 4);
    message_put_number(&m, extended ? 0xfffe : 1, 2);
    message_put_number(&m, 2, 2);
    message_put_number(&m, 44100, 4);
    message_put_number(&m, 0, 4);
    message_put_number(&m, 2 * (uint64_t)bytes, 2);
    message_put_number(&m, 8 * (uint64_t)bytes, 2);
    for (int i = 0; extended && i < 24; i++) message_put_number(&m, i == 8 ? 3 : 0, 1);
    message_put_text(&m, "LIST");
    message_put_number(&m, 3, 4);
    message_put_text(&m, "abcd");
    message_put_text(&m, "data");
    message_put_number(&m, 4 * (uint64_t)bytes, 4);
    for (int i = 0; i < 4; i++)
        message_put_number(
            &m, extended ? 0x3f800000u + (uint64_t)i : 0x4000u - (uint64_t)i * 0x3000u, bytes);
    return m;
}

static void read_idx(const void *file, size_t size, char *answer, size_t room)
{
    answer_load(eddy_idx_load, file, size, answer, room);
}

START_TEST(sounds_and_idx)
{
    static const uint8_t idx[] = { 0, 0, 0x0b, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 3, 0xff, 0xfe },
                         one[] = { 0, 0, 9, 1, 0, 0, 0, 1, 0xfe };
    golden_begin("input/changed_sounds");
    tell("PCM", sound(false), read_wav);
    tell("float32", sound(true), read_wav);
    changed_bytes("int16", idx, sizeof idx, read_idx);
    changed_bytes("int8", one, sizeof one, read_idx);
    golden_end();
}
END_TEST

/* ------------------------------------------------------------------ texts -- */

static void read_csv(const void *file, size_t size, char *answer, size_t room)
{
    memory_files m;
    eddy_error   e = { 0 };
    memory_files_init(&m);
    memory_files_put(&m, "f", file, size);
    eddy_csv *c = eddy_csv_read("f", .files = &m.table, .error = &e);
    answer_add(answer, room, "%s", e.message);
    for (int i = 0; i < eddy_csv_columns(c); i++) {
        answer_add(answer, room, " %s: ", eddy_csv_name(c, i));
        answer_add_array(answer, room, eddy_csv_array(c, i));
        for (int k = 0; k < eddy_csv_words(c, i); k++)
            answer_add(answer, room, " '%s'", eddy_csv_word(c, i, k));
    }
    eddy_csv_free(c);
    memory_files_free(&m);
}

static void read_characters(const void *file, size_t size, char *answer, size_t room)
{
    answer_load(eddy_characters_load, file, size, answer, room);
}

START_TEST(texts)
{
    static const char table[] = "\xef\xbb\xbf"
                                "a,\"b\",c\r\n1,x,2.5\n-2,\"y \"\"z\"\"\", 1e3\r\n,,";
    static const char text[] =
        "a\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
    golden_begin("input/changed_texts");
    changed_bytes("table", table, sizeof table - 1, read_csv);
    changed_bytes("characters", text, sizeof text - 1, read_characters);
    golden_end();
}
END_TEST

Suite *changed_data_files_suite(void)
{
    Suite *s = suite_create("changed_data_files");
    TCase *t = tcase_create("bytes");
    tcase_add_test(t, npz);
    tcase_add_test(t, sounds_and_idx);
    tcase_add_test(t, texts);
    suite_add_tcase(s, t);
    return s;
}
