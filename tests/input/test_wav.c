/* test_wav.c -- WAV files written byte by byte: each format of samples, and each wrong number. */
#include "input.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/zip_writer.h"

#include <check.h>
#include <string.h>

Suite *wav_suite(void);

/* The members of the chunk "fmt ", and the bytes of the samples. */
typedef struct sound {
    int         size, format, channels, bits, frame;    /* size of the chunk */
    int         inner;                  /* format in the extension */
    int         before;                 /* bytes of another chunk before "data"; 0: none */
    int         cut;                    /* bytes missing at the end of the file */
    const char *samples;
    size_t      bytes;
} sound;

static message file_of(const sound *s)
{
    message m = { NULL, 0 };
    message_put_text(&m, "RIFF");
    message_put_number(&m, 0, 4);
    message_put_text(&m, "WAVEfmt ");
    message_put_number(&m, (uint64_t)s->size, 4);
    const size_t start = m.size;
    message_put_number(&m, (uint64_t)s->format, 2);
    message_put_number(&m, (uint64_t)s->channels, 2);
    message_put_number(&m, 44100, 4);
    message_put_number(&m, 0, 4);
    message_put_number(&m, (uint64_t)s->frame, 2);
    message_put_number(&m, (uint64_t)s->bits, 2);
    message_put_number(&m, 22, 2);
    message_put_number(&m, 0, 6);
    message_put_number(&m, (uint64_t)s->inner, 2);
    for (int i = 0; i < 64; i++) message_put_number(&m, 0, 1);
    m.size = start + (size_t)s->size + (size_t)(s->size & 1);
    if (s->before) {
        message_put_text(&m, "LIST");
        message_put_number(&m, (uint64_t)s->before, 4);
        for (int i = 0; i < s->before + (s->before & 1); i++) message_put_number(&m, 'x', 1);
    }
    message_put_text(&m, "data");
    message_put_number(&m, s->bytes, 4);
    message_put(&m, s->samples, s->bytes);
    m.size -= (size_t)s->cut;
    return m;
}

static eddy_array *load(const sound *s, eddy_error *e)
{
    memory_files files;
    message      m = file_of(s);
    memory_files_init(&files);
    memory_files_put(&files, "f", m.at, m.size);
    message_free(&m);
    eddy_array   *a = eddy_wav_load("f", &files.table, e);
    const int64_t rate = eddy_wav_rate("f", &files.table, NULL);
    ck_assert((a != NULL) == (e->status == EDDY_OK));
    if (a) ck_assert_int_eq(rate, 44100);
    memory_files_free(&files);
    return a;
}

static const struct { sound s; int frames, channels; float samples[4]; } good[] = {
    { { 16, 1, 1, 8, 1, 0, 0, 0, "\x00\x80\xff", 3 }, 3, 1, { -1, 0, 127.f / 128 } },
    { { 16, 1, 1, 16, 2, 0, 0, 0, "\x00\x80\xff\x7f", 4 }, 2, 1, { -1, 32767.f / 32768 } },
    { { 16, 1, 2, 16, 4, 0, 0, 0, "\x00\x80\x00\x40", 4 }, 1, 2, { -1, .5f } },
    { { 16, 1, 1, 24, 3, 0, 0, 0, "\x00\x00\x80\x00\x00\x40", 6 }, 2, 1, { -1, .5f } },
    { { 16, 1, 1, 32, 4, 0, 0, 0, "\x00\x00\x00\x80\x00\x00\x00\x40", 8 }, 2, 1, { -1, .5f } },
    { { 16, 3, 1, 32, 4, 0, 0, 0, "\x00\x00\xc0\x3f", 4 }, 1, 1, { 1.5f } },
    { { 16, 3, 1, 64, 8, 0, 0, 0, "\x00\x00\x00\x00\x00\x00\xf8\x3f", 8 }, 1, 1, { 1.5f } },
    { { 40, 0xfffe, 1, 8, 1, 1, 0, 0, "\xc0", 1 }, 1, 1, { .5f } },
    { { 44, 0xfffe, 1, 32, 4, 3, 0, 0, "\x00\x00\xc0\x3f", 4 }, 1, 1, { 1.5f } },
    { { 17, 1, 1, 8, 1, 0, 0, 0, "\xc0", 1 }, 1, 1, { .5f } },
    { { 16, 1, 1, 8, 1, 0, 3, 0, "\xc0", 1 }, 1, 1, { .5f } },
    { { 16, 1, 1, 8, 1, 0, 4096, 0, "\xc0", 1 }, 1, 1, { .5f } },
    { { 16, 1, 1, 8, 1, 0, 4097, 0, "\xc0", 1 }, 1, 1, { .5f } },
    { { 16, 1, 1, 8, 1, 0, 9000, 0, "\xc0", 1 }, 1, 1, { .5f } },
    { { 16, 1, 1, 8, 1, 0, 0, 0, "", 0 }, 0, 1, { 0 } },
    { { 16, 1, 1024, 8, 1024, 0, 0, 0, "", 0 }, 0, 1024, { 0 } },
};

START_TEST(samples)
{
    eddy_error       e = { 0 };
    eddy_array      *a = load(&good[_i].s, &e);
    ck_assert_msg(a != NULL, "%s", e.message);
    const eddy_shape s = eddy_array_shape(a);
    ck_assert(s.rank == 2 && s.dim[0] == good[_i].frames && s.dim[1] == good[_i].channels);
    for (int i = 0; i < eddy_array_count(a); i++)
        ck_assert(eddy_array_get(a, i) == (double)good[_i].samples[i]);
    eddy_array_free(a);
}
END_TEST

static const char format_of[] = "PCM of 8, 16, 24 and 32 bits", no_frame[] = "the size of a frame",
                  no_channels[] = "the number of channels";

static const struct { sound s; const char *problem; } bad[] = {
    { { 15, 1, 1, 8, 1, 0, 0, 0, "a", 1 }, "the chunk 'fmt ' is too short" },
    { { 16, 1, 1, 7, 1, 0, 0, 0, "a", 1 }, format_of },
    { { 16, 1, 1, 0, 0, 0, 0, 0, "a", 1 }, format_of },
    { { 16, 1, 1, 12, 1, 0, 0, 0, "a", 1 }, format_of },
    { { 16, 1, 1, 40, 5, 0, 0, 0, "a", 1 }, format_of },
    { { 16, 2, 1, 8, 1, 0, 0, 0, "a", 1 }, format_of },
    { { 16, 3, 1, 16, 2, 0, 0, 0, "a", 1 }, format_of },
    { { 16, 3, 1, 128, 16, 0, 0, 0, "a", 1 }, format_of },
    { { 39, 0xfffe, 1, 8, 1, 1, 0, 0, "a", 1 }, format_of },
    { { 40, 0xfffe, 1, 8, 1, 2, 0, 0, "a", 1 }, format_of },
    { { 16, 1, 0, 8, 0, 0, 0, 0, "a", 1 }, no_channels },
    { { 16, 1, 1025, 8, 1025, 0, 0, 0, "a", 1 }, no_channels },
    { { 16, 1, 1, 8, 2, 0, 0, 0, "a", 1 }, no_frame },
    { { 16, 1, 2, 16, 2, 0, 0, 0, "abcd", 4 }, no_frame },
    { { 16, 1, 2, 16, 4, 0, 0, 0, "abcdef", 6 }, "the last frame is incomplete" },
    { { 16, 1, 1, 8, 1, 0, 0, 1, "abc", 3 }, "the chunk is too long" },
    { { 16, 1, 1, 8, 1, 0, 0, 4, "abc", 3 }, "the chunk 'data' is missing" },
    { { 16, 1, 1, 8, 1, 0, 0, 11, "abc", 3 }, "the chunk 'data' is missing" },
    { { 16, 1, 1, 8, 1, 0, 100, 20, "abc", 3 }, "the chunk is too long" },
    { { 16, 1, 1, 8, 1, 0, 0, 20, "abc", 3 }, "the chunk is too long" },
};

START_TEST(refused)
{
    eddy_error e = { 0 };
    ck_assert_ptr_null(load(&bad[_i].s, &e));
    ck_assert_msg(strstr(e.message, bad[_i].problem), "%s", e.message);
}
END_TEST

/* Every read of the file fails, in turn. */
START_TEST(reads_fail)
{
    const sound  s = { 16, 1, 1, 8, 1, 0, 9000, 0, "abc", 3 };
    memory_files files;
    message      m = file_of(&s);
    int          at = 1;
    /* What is skipped would be a chunk of samples if it were not. */
    memcpy(m.at + 44, "data\1\0\0\0", 8);
    memcpy(m.at + 44 + 8192, "data\1\0\0\0", 8);
    for (bool read = false; !read; at++) {
        eddy_error e = { 0 };
        memory_files_init(&files);
        memory_files_put(&files, "f", m.at, m.size);
        files.fault = (memory_fault){ .at = at, .number = 5 };
        eddy_array *a = eddy_wav_load("f", &files.table, &e);
        read = a != NULL;
        ck_assert_msg(e.status == (read ? EDDY_OK : EDDY_IO), "%d: %s", at, e.message);
        eddy_array_free(a);
        memory_files_free(&files);
    }
    ck_assert_int_gt(at, 8);
    message_free(&m);
    ck_assert_int_eq(eddy_wav_rate("none", NULL, NULL), 0);
}
END_TEST

Suite *wav_suite(void)
{
    Suite *s = suite_create("wav");
    TCase *t = tcase_create("wav");
    tcase_add_loop_test(t, samples, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(t, refused, 0, sizeof bad / sizeof *bad);
    tcase_add_test(t, reads_fail);
    suite_add_tcase(s, t);
    return s;
}
