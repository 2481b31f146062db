/* test_hdf5_links.c -- HDF5 files whose groups, trees and headers are linked in circles, deeply or
 * many times: a file is refused before it is visited more often than its size allows. */
#include "build/gen/suites.h"
#include "formats.h"
#include "formats/keras/hdf5.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/hdf5_writer.h"
#include "tests/lib/files/memory_files.h"

#include <stdlib.h>

enum { DEPTH = 32, DATASETS = 1 << 16, NAME = 500 };

static size_t group_of(message *m, const char *name, int links, size_t to)
{
    const size_t at = hdf5_object(m, (size_t)links * (HDF5_LINK_BYTES + strlen(name)));
    for (int i = 0; i < links; i++) hdf5_link(m, name, to);
    return at;
}

/* Groups around a dataset, each with so many links to the next one. */
static message chain(int groups, int links)
{
    message m = hdf5_begin();
    size_t  to = hdf5_floats(&m, 2, 0);
    for (int i = 0; i < groups; i++) to = group_of(&m, "a", links, to);
    hdf5_end(&m, to);
    return m;
}

/* Names of one dataset. */
static message names(int n)
{
    message      m = hdf5_begin();
    const size_t to = hdf5_floats(&m, 2, 0);
    const size_t root = hdf5_object(&m, (size_t)n * (HDF5_LINK_BYTES + 5));
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%05d", i);
        hdf5_link(&m, name, to);
    }
    hdf5_end(&m, root);
    return m;
}

/* A dataset in a group, whose names together have so many characters and a slash. */
static message long_names(size_t characters)
{
    char    name[NAME + 2] = "";
    message m = hdf5_begin();
    const size_t data = hdf5_floats(&m, 2, 0);
    memset(name, 'n', characters - 250);
    const size_t inner = group_of(&m, name, 1, data);
    name[250] = 0;
    hdf5_end(&m, group_of(&m, name, 1, inner));
    return m;
}

static message itself(void)
{
    message m = hdf5_begin();
    hdf5_end(&m, group_of(&m, "a", 3, m.size));
    return m;
}

static message each_other(void)
{
    message      m = hdf5_begin();
    const size_t first = m.size, bytes = 10 + HDF5_LINK_BYTES + 1;
    group_of(&m, "a", 1, first + bytes);
    hdf5_end(&m, group_of(&m, "b", 1, first));
    return m;
}

/* A block of a header that names itself as the next one. */
static message blocks(void)
{
    message      m = hdf5_begin();
    const size_t block = m.size;
    message_put_text(&m, "OCHK");
    message_put_number(&m, 16 | 16 << 8, 4);
    message_put_number(&m, block, 8);
    message_put_number(&m, 28, 8);
    message_put_number(&m, 0, 4);
    const size_t root = hdf5_object(&m, 20);
    uint8_t again[20];
    memcpy(again, m.at + block + 4, sizeof again);
    message_put(&m, again, sizeof again);
    hdf5_end(&m, root);
    return m;
}

/* A tree whose nodes name themselves as their children. */
static message endless_tree(void)
{
    message      m = hdf5_begin();
    const size_t heap = hdf5_heap(&m, "a", 2);
    hdf5_end(&m, hdf5_old_group(&m, hdf5_tree(&m, 1, 2, m.size), heap));
    return m;
}

/* A tree with one list of links many times, each of which is to an empty group or to a dataset. */
static message wide_tree(bool dataset)
{
    message      m = hdf5_begin();
    const size_t heap = hdf5_heap(&m, "a", 2);
    const size_t to = dataset ? hdf5_floats(&m, 2, 0) : hdf5_object(&m, 0);
    const size_t list = hdf5_symbols(&m, 60000, 0, to);
    hdf5_end(&m, hdf5_old_group(&m, hdf5_tree(&m, 0, 60000, list), heap));
    return m;
}

/* A tree of so many empty lists of links, or of empty trees, in so many others; and bytes that
 * nothing uses. */
static message empty_parts(int lists, int trees, size_t rest)
{
    message      m = hdf5_begin();
    const size_t heap = hdf5_heap(&m, "a", 2);
    size_t       part = lists ? hdf5_symbols(&m, 0, 0, 0) : hdf5_tree(&m, 0, 0, 0);
    if (lists) part = hdf5_tree(&m, 0, lists, part);
    else part = hdf5_tree(&m, 1, trees, part);
    hdf5_end(&m, hdf5_old_group(&m, hdf5_tree(&m, 2, trees, part), heap));
    uint8_t *zeros = calloc(rest + 1, 1);
    message_put(&m, zeros, rest);
    free(zeros);
    return m;
}

static message made(int i)
{
    switch (i) {
    case 0: return chain(DEPTH, 1);
    case 1: return names(DATASETS);
    case 2: return long_names(NAME);
    case 3: return chain(DEPTH + 1, 1);
    case 4: return names(DATASETS + 1);
    case 5: return long_names(NAME + 1);
    case 6: return chain(DEPTH, 2);
    case 7: return chain(DEPTH, 100);
    case 8: return itself();
    case 9: return each_other();
    case 10: return blocks();
    case 11: return endless_tree();
    case 12: return wide_tree(false);
    case 13: return wide_tree(true);
    case 14: return empty_parts(250, 250, 0);
    case 15: return empty_parts(0, 60, 0);
    default: return empty_parts(1000, 1100, 5000000);
    }
}

enum { CASES = 17, ACCEPTED = 3 };

START_TEST(visits)
{
    message    m = made(_i);
    region     memory = { 0 };
    hdf5_file  f = { .memory = &memory, .bytes = { m.at, m.size } };
    const bool ok = eddy__hdf5_read(&f);
    ck_assert_msg(ok == (_i < ACCEPTED), "%s", ok ? "it is read" : f.problem);
    ck_assert_uint_le((size_t)f.visits, m.size / 4 + 64 + 1);
    ck_assert_int_le(f.count, DATASETS);
    eddy__region_free(&memory);
    message_free(&m);
}
END_TEST

START_TEST(messages)
{
    golden_begin("formats/hdf5_links");
    for (int i = 0; i < CASES; i++) {
        message      m = made(i);
        memory_files files;
        eddy_error   e = { 0 };
        memory_files_init(&files);
        memory_files_put(&files, "x", m.at, m.size);
        eddy_checkpoint *c = eddy_keras_checkpoint_open("x", &files.table, .error = &e);
        ck_assert_msg((c != NULL) == (i < ACCEPTED), "case %d: %s", i, e.message);
        if (!c) golden_error(&e);
        else ck_assert_int_eq(eddy_checkpoint_count(c), i == 1 ? DATASETS : 1);
        if (i == 1) ck_assert_str_eq(eddy_checkpoint_entry_at(c, DATASETS - 1).name, "65535");
        if (i == 2) ck_assert_uint_eq(strlen(eddy_checkpoint_entry_at(c, 0).name), NAME + 1);
        eddy_checkpoint_free(c);
        ck_assert_int_eq(files.n_open, 0);
        memory_files_free(&files);
        message_free(&m);
    }
    golden_end();
}
END_TEST

/* A group in the older form, of which a record of so many bytes has moved behind all others; with
 * `empty`, its count is 0. */
static message moved(int record, size_t bytes, bool empty)
{
    message      m = hdf5_begin();
    const size_t to = hdf5_floats(&m, 2, 0), heap = hdf5_heap(&m, "a", 2);
    const size_t list = hdf5_symbols(&m, 1, 0, to), tree = hdf5_tree(&m, 0, 1, list);
    hdf5_end(&m, hdf5_old_group(&m, tree, heap));
    const uint64_t from = ((size_t[]){ heap, tree, list })[record], at = m.size;
    for (size_t i = 0; i + 8 <= at; i++)        /* what names it */
        if (memcmp(m.at + i, &from, 8) == 0) memcpy(m.at + i, &at, 8);
    uint8_t copy[64];
    memcpy(copy, m.at + from, bytes);
    if (empty) memset(copy + 6, 0, 2);
    message_put(&m, copy, bytes);
    return m;
}

START_TEST(last_records)
{
    static const struct { int record; size_t bytes; bool empty; } rows[] = {
        { 0, 32, false }, { 1, 24 + 16, false }, { 2, 8 + 40, false },
        { 1, 24, true }, { 2, 8, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t missing = 0; missing < 2; missing++) {
            message    m = moved(rows[i].record, rows[i].bytes, rows[i].empty);
            region     memory = { 0 };
            hdf5_file  f = { .memory = &memory, .bytes = { m.at, m.size - missing } };
            const bool ok = eddy__hdf5_read(&f);
            ck_assert_msg(ok == (missing == 0), "row %zu: %s", i, ok ? "it is read" : f.problem);
            if (ok) ck_assert_int_eq(f.count, rows[i].empty ? 0 : 1);
            eddy__region_free(&memory);
            message_free(&m);
        }
}
END_TEST

Suite *hdf5_links_suite(void)
{
    Suite *s = suite_create("hdf5_links");
    TCase *t = tcase_create("links"), *again = tcase_create("messages");
    tcase_add_loop_test(t, visits, 0, CASES);
    tcase_add_test(t, last_records);
    tcase_add_test(again, messages);
    tcase_set_tags(again, "slow");      /* the same files, of which some are large */
    tcase_set_timeout(again, 60);
    suite_add_tcase(s, t);
    suite_add_tcase(s, again);
    return s;
}
