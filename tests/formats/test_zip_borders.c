/* test_zip_borders.c -- ZIP archives whose records end exactly where the file does, or a few bytes
 * behind it. */
#include "formats/zip.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *zip_borders_suite(void);

enum { END = 22, ENTRY = 46, LOCAL = 30, LOCATOR = 20, WIDE = 56 };

/* A file of zero bytes in a block of its size, and what is read from it. */
typedef struct trial {
    uint8_t    *file;
    size_t      size;
    region      memory;
    zip_archive archive;
} trial;

static trial begin(size_t size)
{
    trial t = { .file = calloc(1, size), .size = size };
    ck_assert_ptr_nonnull(t.file);
    return t;
}

static void put(const trial *t, size_t at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) t->file[at + (size_t)i] = (uint8_t)(v >> 8 * i);
}

static void put_mark(const trial *t, size_t at, const char *mark)
{
    memcpy(t->file + at, mark, strlen(mark));
}

/* The record at the end of an archive, before the note. */
static void put_end(const trial *t, size_t at, int entries, size_t directory, size_t size)
{
    put_mark(t, at, "PK\5\6");
    put(t, at + 10, (uint64_t)entries, 2);
    put(t, at + 12, size, 4);
    put(t, at + 16, directory, 4);
}

static void put_entry(const trial *t, size_t at, int method, int name, size_t place)
{
    put_mark(t, at, "PK\1\2");
    put(t, at + 10, (uint64_t)method, 2);
    put(t, at + 28, (uint64_t)name, 2);
    put(t, at + 42, place, 4);
}

/* The problem must be this one; NULL: there is none. */
static void opens(trial *t, const char *problem, size_t count)
{
    size_t      at = 0;
    const char *found = eddy__zip_open(&t->memory, (wire_bytes){ t->file, t->size }, &t->archive,
                                       &at);
    ck_assert_msg(problem ? found && strcmp(found, problem) == 0 : !found, "%s",
                  found ? found : "it is read");
    if (!problem) ck_assert_uint_eq(t->archive.count, count);
}

static void end(trial *t)
{
    eddy__region_free(&t->memory);
    free(t->file);
}

/* A member without a name and without data, whose header is the note of the archive; then a file
 * that ends within the header. */
START_TEST(header_at_the_end)
{
    const size_t size = ENTRY + END + LOCAL;
    trial        t = begin(size);
    put_entry(&t, 0, 0, 0, size - LOCAL);
    put_end(&t, ENTRY, 1, 0, ENTRY);
    put_mark(&t, size - LOCAL, "PK\3\4");
    opens(&t, NULL, 1);
    const zip_member *m = eddy__zip_find(&t.archive, "");
    ck_assert(m && m->stored && m->data.size == 0);
    put_entry(&t, 0, 0, 0, size - LOCAL / 3);
    put_mark(&t, size - LOCAL / 3, "PK\3\4");
    opens(&t, "a member is not inside the file", 0);
    end(&t);
}
END_TEST

/* The second entry has the mark of one, but not all of its bytes. */
START_TEST(cut_entry)
{
    enum { NAME = 10, DIRECTORY = 2 * ENTRY };
    trial t = begin(DIRECTORY + END);
    put_entry(&t, 0, 8, NAME, 0);
    put_entry(&t, ENTRY + NAME, 8, 0, 0);
    put_end(&t, DIRECTORY, 2, 0, DIRECTORY);
    opens(&t, "the directory is damaged", 0);
    end(&t);
}
END_TEST

START_TEST(empty_directory)
{
    trial t = begin(END);
    put_end(&t, 0, 0, END, 0);
    opens(&t, NULL, 0);
    put_end(&t, 0, 0, 0, END);
    opens(&t, NULL, 0);
    put_end(&t, 0, 0, END + 1, 0);
    opens(&t, "the directory is not inside the file", 0);
    put_end(&t, 0, 0, 0, END + 1);
    opens(&t, "the directory is not inside the file", 0);
    end(&t);
}
END_TEST

/* The record of 64 bits is the note of the archive; then it ends behind the file. */
START_TEST(wide_record_at_the_end)
{
    trial t = begin(LOCATOR + END + WIDE);
    put_mark(&t, 0, "PK\6\7");
    put(&t, 8, t.size - WIDE, 8);
    put_end(&t, LOCATOR, 0, 1000, 0);
    put_mark(&t, t.size - WIDE, "PK\6\6");
    opens(&t, NULL, 0);
    put(&t, 8, t.size - WIDE / 2, 8);
    put_mark(&t, t.size - WIDE / 2, "PK\6\6");
    opens(&t, "this is no ZIP archive", 0);
    end(&t);
}
END_TEST

/* The smallest file that has one: all of its records are in the same bytes. */
START_TEST(wide_record_is_the_file)
{
    trial t = begin(WIDE);
    put_mark(&t, 0, "PK\6\6");
    put_mark(&t, 4, "PK\6\7");
    put_end(&t, 4 + LOCATOR, 0, 0, 0);
    opens(&t, NULL, 0);
    end(&t);
}
END_TEST

Suite *zip_borders_suite(void)
{
    Suite *s = suite_create("zip_borders");
    TCase *t = tcase_create("borders");
    tcase_add_test(t, header_at_the_end);
    tcase_add_test(t, cut_entry);
    tcase_add_test(t, empty_directory);
    tcase_add_test(t, wide_record_at_the_end);
    tcase_add_test(t, wide_record_is_the_file);
    suite_add_tcase(s, t);
    return s;
}
