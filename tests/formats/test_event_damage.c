/* test_event_damage.c -- reports of event files whose records have right checksums and odd
 * contents: values in the forms that other programs write, fields of other types, and each byte
 * changed. */
#include "formats/json.h"
#include "formats/training_report/report_data.h"
#include "tests/lib/files/event_files.h"
#include "tests/lib/files/memory_files.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *event_damage_suite(void);

enum {
    EVENT_TIME = 1,
    EVENT_STEP = 2,
    EVENT_GRAPH = 4,
    EVENT_SUMMARY = 5,
    EVENT_METADATA = 8,
    FIXED64 = 1
};
enum { VALUE_TAG = 1, VALUE_SIMPLE = 2, VALUE_IMAGE = 4, VALUE_HISTOGRAM = 5, VALUE_TENSOR = 8,
       VALUE_METADATA = 9 };

static memory_files files;
static region       memory;             /* of the JSON */

static void teardown(void)
{
    eddy__region_free(&memory);
    memory = (region){ 0 };
}

/* ------------------------------------------------------------------- reports -- */

/* The data of the report about a file with these events. */
static const json *report_of(const message *events, int n)
{
    message     file = { NULL, 0 };
    page_out   *p = calloc(1, sizeof *p);
    const char *notes[1];
    eddy_error  e = { 0 };
    run         one = { .name = "." };
    runs        r = { .at = &one, .count = 1, .notes = notes };
    size_t      at;
    for (int i = 0; i < n; i++) put_event(&file, &events[i]);
    ck_assert_ptr_nonnull(p);
    ck_assert(eddy__runs_add(&r, 0, "a", (wire_bytes){ file.at, file.size }));
    ck_assert_int_eq(r.n_notes, 0);
    memory_files_init(&files);
    ck_assert(eddy__sink_begin(&p->file, "page", &files.table, &e));
    ck_assert(eddy__report_data(p, &r, "a title"));
    eddy__page_flush(p);
    ck_assert_msg(eddy__sink_end(&p->file), "%s", e.message);
    const memory_content *page = memory_files_get(&files, "page");
    teardown();
    const json *data = eddy__json_parse(
        &memory, (wire_bytes){ (const uint8_t *)page->bytes, page->size }, &at);
    ck_assert_msg(data != NULL, "damaged JSON at %zu", at);
    memory_files_free(&files);
    eddy__runs_free(&r);
    free(p);
    message_free(&file);
    return data;
}

static const json *report(const message *event) { return report_of(event, 1); }

static const json *item(const json *list, size_t i)
{
    ck_assert_ptr_nonnull(list);
    ck_assert_uint_lt(i, list->count);
    const json *v = eddy__json_items(list);
    while (i-- > 0) v = v->next;
    return v;
}

/* Point i of series `at` of a kind. */
static const json *point_at(const json *data, const char *kind, size_t at, size_t i)
{
    return item(eddy__json_get(item(eddy__json_get(data, kind), at), "points"), i);
}

static const char *text_at(const json *list, size_t i)
{
    return eddy__json_text(item(list, i), "-");
}

/* ----------------------------------------------------------------- messages -- */

/* A field of eight bytes. */
static void message_double(message *m, uint32_t field, double value)
{
    uint8_t  bytes[8];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> 8 * i);
    message_bytes(m, field, bytes, 8);          /* a tag, the length 8, and the bytes */
    memmove(m->at + m->size - 9, m->at + m->size - 8, 8);
    m->at[m->size - 10] = (uint8_t)(field << 3 | FIXED64);
    m->size--;
}

/* An event with one value of this tag, which `value` adds to. */
static message event_of(const char *tag, message value)
{
    message summary = { NULL, 0 }, event = { NULL, 0 };
    message_text(&value, VALUE_TAG, tag);
    message_inner(&summary, 1, value);
    message_number(&event, EVENT_STEP, 3);
    message_inner(&event, EVENT_SUMMARY, summary);
    return event;
}

static message plugin(const char *name, const char *content, size_t size)
{
    message data = { NULL, 0 }, metadata = { NULL, 0 };
    message_text(&data, 1, name);
    if (size) message_bytes(&data, 2, content, size);
    message_inner(&metadata, 1, data);
    return metadata;
}

/* -------------------------------------------------------------------- forms -- */

/* A scalar in each form of a tensor; the last two have no element. */
START_TEST(scalar_tensors)
{
    const float  single = 1.5f;
    const double wide = -2.25;
    for (int i = 0; i < 8; i++) {
        message tensor = { NULL, 0 }, value = { NULL, 0 };
        if (i != 5) message_number(&tensor, 1, i == 1 ? 2 : 1);
        if (i == 0 || i == 5) message_bytes(&tensor, 4, &single, sizeof single);
        if (i == 1) message_bytes(&tensor, 4, &wide, sizeof wide);
        if (i == 2) message_float(&tensor, 5, single);
        if (i == 3) message_bytes(&tensor, 5, &single, sizeof single);
        if (i == 4) message_double(&tensor, 6, wide);
        if (i == 7) message_bytes(&tensor, 5, &single, 3);
        message_inner(&value, VALUE_TENSOR, tensor);
        message     event = event_of("loss", value);
        const json *data = report(&event);
        ck_assert_uint_eq(eddy__json_get(data, "scalars")->count, i < 6);
        if (i < 6)
            ck_assert_double_eq(item(point_at(data, "scalars", 0, 0), 2)->number,
                                i == 1 || i == 4 ? wide : (double)single);
        message_free(&event);
    }
}
END_TEST

/* A run begins at the earliest of its times. */
START_TEST(times_that_go_back)
{
    message events[2];
    for (int i = 0; i < 2; i++) {
        message value = { NULL, 0 };
        message_float(&value, VALUE_SIMPLE, 1);
        events[i] = event_of("v", value);
        message_double(&events[i], EVENT_TIME, i == 0 ? 5 : 3);
    }
    const json *first = item(eddy__json_get(report_of(events, 2), "runs"), 0);
    ck_assert_double_eq(eddy__json_get(first, "begin")->number, 3);
    ck_assert_double_eq(eddy__json_get(first, "end")->number, 5);
    for (int i = 0; i < 2; i++) message_free(&events[i]);
}
END_TEST

/* A name, and a value of this kind of JSON's (0: none), in what hparams say of a run. */
static void add_hparam(message *info, const char *name, int kind)
{
    message value = { NULL, 0 }, entry = { NULL, 0 };
    if (kind == 1) message_double(&value, 2, 0.5);
    if (kind == 2) message_text(&value, 3, "adam");
    if (kind >= 3) message_number(&value, 4, kind == 3);
    message_text(&entry, 1, name);
    message_inner(&entry, 2, value);
    message_inner(info, 1, entry);
}

START_TEST(hparams)
{
    static const char *const wanted[] = { "", "-", "adam", "true", "false" };
    message info = { NULL, 0 }, session = { NULL, 0 }, value = { NULL, 0 };
    message_number(&info, 1, 7);            /* no entries */
    message_text(&info, 2, "the group");
    for (int i = 0; i < 5; i++) add_hparam(&info, "h", i);
    message_inner(&session, 3, info);
    message_inner(&value, VALUE_METADATA,
                  plugin("hparams", (const char *)session.at, session.size));
    message_inner(&value, VALUE_TENSOR, (message){ NULL, 0 });
    message_free(&session);
    message     event = event_of("_hparams_/session_start_info", value);
    const json *first = item(eddy__json_get(report(&event), "runs"), 0);
    const json *pairs = eddy__json_get(first, "hparams");
    ck_assert_uint_eq(pairs->count, 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_eq(text_at(item(pairs, i), 0), "h");
        ck_assert_str_eq(text_at(item(pairs, i), 1), wanted[i]);
    }
    ck_assert_double_eq(item(item(pairs, 1), 1)->number, 0.5);
    message_free(&event);
}
END_TEST

/* A histogram from `least` to `most` with one bucket of n values. */
static message histogram(double least, double most, double n)
{
    message h = { NULL, 0 }, value = { NULL, 0 };
    message_double(&h, 1, least);
    message_double(&h, 2, most);
    message_double(&h, 3, n);
    message_double(&h, 4, 0);
    message_bytes(&h, 6, &most, sizeof most);
    message_bytes(&h, 7, &n, sizeof n);
    message_inner(&value, VALUE_HISTOGRAM, h);
    return event_of("w", value);
}

START_TEST(histograms)
{
    const double huge = 1.5e308;
    const struct { double least, most, n, low, high; } rows[] = {
        { 1, 2, 4, 1, 2 },
        { 1, 1, 4, 1, 2 },
        { -8, -8, 4, -8, 0 },
        { 0.25, 0.5, 4, 0.25, 0.5 },
        { 1, 2, 0, 0, 1 },
        { -(double)INFINITY, 2, 4, 0, 1 },
        { 1, INFINITY, 4, 0, 1 },
        { 2, 1, 4, 0, 1 },
        { -huge, huge, 4, -huge, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message     event = histogram(rows[i].least, rows[i].most, rows[i].n);
        const json *at = point_at(report(&event), "histograms", 0, 0);
        double      sum = 0;
        ck_assert_double_eq(item(at, 1)->number, rows[i].low);
        ck_assert_double_eq(item(at, 2)->number, rows[i].high);
        for (size_t k = 0; k < 40; k++) sum += item(item(at, 3), k)->number;
        if (i < 4) ck_assert_double_lt(fabs(sum - rows[i].n), 0.5);
        message_free(&event);
    }
}
END_TEST

START_TEST(images)
{
    message image = { NULL, 0 }, value = { NULL, 0 };
    message_number(&image, 1, 4);
    message_number(&image, 4, 4);           /* no bytes */
    message_inner(&value, VALUE_IMAGE, image);
    message     event = event_of("i", value);
    const json *s = item(eddy__json_get(report(&event), "images"), 0);
    ck_assert_uint_eq(eddy__json_get(s, "points")->count, 0);
    message_free(&event);
}
END_TEST

/* As many series as a search through all of them for each would not read in time; two without a tag
 * are one. */
START_TEST(many_series)
{
    enum { MANY = 100000, TAG = 8 };
    message summary = { NULL, 0 }, event = { NULL, 0 };
    /* A value with a tag of so many bytes, or one less, and a number. */
    uint8_t *values = malloc((size_t)MANY * (TAG + 9)), *to = values;
    for (int i = 0; i < MANY; i++) {
        char      tag[TAG + 1];
        const int n = TAG - i % 2;
        snprintf(tag, sizeof tag, "%0*d", n, i);
        memcpy(to, (uint8_t[]){ 10, (uint8_t)(n + 7), 10, (uint8_t)n }, 4);
        memcpy(to + 4, tag, (size_t)n);
        memcpy(to + 4 + n, (uint8_t[]){ VALUE_SIMPLE << 3 | 5, 0, 0, 128, 63 }, 5);
        to += n + 9;
    }
    message_bytes(&event, EVENT_SUMMARY, values, (size_t)(to - values));
    free(values);
    ck_assert_uint_eq(eddy__json_get(report(&event), "scalars")->count, MANY);
    message_free(&event);
    for (int i = 0; i < 2; i++) {
        message value = { NULL, 0 };
        message_float(&value, VALUE_SIMPLE, 1);
        message_inner(&summary, 1, value);
    }
    message_inner(&event, EVENT_SUMMARY, summary);
    const json *s = eddy__json_get(report(&event), "scalars");
    ck_assert_uint_eq(s->count, 1);
    ck_assert_uint_eq(eddy__json_get(item(s, 0), "points")->count, 2);
    message_free(&event);
}
END_TEST

/* All images of a page have at most 48 MiB: the first one is too large, and the others fill it. */
START_TEST(large_image)
{
    enum { IMAGES = 3, MOST = 48 << 20 };
    const size_t sizes[IMAGES] = { MOST + 1, 3, MOST - 3 };
    message      events[IMAGES];
    char        *png = calloc(MOST + 1, 1);
    for (int i = 0; i < IMAGES; i++) {
        message image = { NULL, 0 }, value = { NULL, 0 };
        message_bytes(&image, 4, png, sizes[i]);
        message_inner(&value, VALUE_IMAGE, image);
        events[i] = event_of("i", value);
    }
    free(png);
    const json *s = item(eddy__json_get(report_of(events, IMAGES), "images"), 0);
    ck_assert_uint_eq(eddy__json_get(s, "points")->count, 2);
    ck_assert_str_eq(text_at(item(eddy__json_get(s, "points"), 0), 1), "AAAA");
    for (int i = 0; i < IMAGES; i++) message_free(&events[i]);
}
END_TEST

/* --------------------------------------------------------- graphs and times -- */

static message shape_of(int rank, const int64_t *dims)
{
    message shape = { NULL, 0 };
    if (rank < 0) message_number(&shape, 3, 1);
    else message_number(&shape, 3, 0);
    for (int i = 0; i < rank; i++) {
        message dim = { NULL, 0 };
        message_text(&dim, 2, "a name");
        message_number(&dim, 1, (uint64_t)dims[i]);
        message_inner(&shape, 2, dim);
    }
    return shape;
}

static void add_attribute(message *node, const char *name, message shapes)
{
    message value = { NULL, 0 }, attribute = { NULL, 0 };
    message_number(&value, 5, 1);
    message_inner(&value, 1, shapes);
    message_number(&value, 1, 7);
    message_text(&value, 2, "text");
    message_text(&attribute, 1, name);
    message_inner(&attribute, 2, value);
    message_inner(node, 5, attribute);
}

/* A node with n inputs and n outputs of rank 8. */
static message node_of(int n)
{
    const int64_t dims[] = { -1, 123456789, 123456789, 123456789, 123456789, 123456789, 1, 2 };
    message       node = { NULL, 0 }, shapes = { NULL, 0 }, other = { NULL, 0 };
    message_text(&node, 1, "n");
    message_text(&node, 2, "Op");
    message_number(&node, 9, 1);
    for (int i = 0; i < n; i++) message_text(&node, 3, "in");
    message_number(&other, 3, 1);
    add_attribute(&node, "T", other);
    for (int i = 0; i < n; i++) message_inner(&shapes, 7, shape_of(8, dims));
    message_inner(&shapes, 7, shape_of(-1, NULL));
    message_number(&shapes, 3, 1);
    add_attribute(&node, "_output_shapes", shapes);
    add_attribute(&node, "later", (message){ NULL, 0 });
    return node;
}

static message graph_event(int n)
{
    message event = { NULL, 0 }, graph = { NULL, 0 };
    message_inner(&graph, 1, node_of(n));
    message_number(&graph, 3, 1);
    message_inner(&event, EVENT_GRAPH, graph);
    message_float(&event, 6, 1);
    return event;
}

START_TEST(graphs)
{
    for (int n = 1; n < 100; n += 33) {
        message     event = graph_event(n);
        const json *first = item(eddy__json_get(report(&event), "runs"), 0);
        const json *node = item(eddy__json_get(first, "graph"), 0);
        const char *shapes = text_at(node, 2);
        ck_assert_str_eq(text_at(node, 1), "Op");
        ck_assert_uint_eq(node->count, 3 + (size_t)(n < 64 ? n : 64));
        ck_assert_int_eq(strncmp(shapes, "[?,123456789,", 13), 0);
        ck_assert_uint_lt(strlen(shapes), 400);
        if (n == 1) ck_assert_ptr_nonnull(strstr(shapes, ",1,2] [...]"));
        message_free(&event);
    }
}
END_TEST

/* A page has 20000 nodes. */
START_TEST(large_graph)
{
    enum { MOST = 20000 };
    uint8_t *nodes = malloc(2 * (MOST + 1));
    message  event = { NULL, 0 };
    for (int i = 0; i <= MOST; i++) nodes[2 * i] = 10, nodes[2 * i + 1] = 0;
    message_bytes(&event, EVENT_GRAPH, nodes, 2 * (MOST + 1));
    free(nodes);
    const json *first = item(eddy__json_get(report(&event), "runs"), 0);
    ck_assert_uint_eq(eddy__json_get(first, "graph")->count, MOST);
    message_free(&event);
}
END_TEST

static message times_event(int nodes)
{
    message device = { NULL, 0 }, step = { NULL, 0 }, all = { NULL, 0 }, tagged = { NULL, 0 },
            event = { NULL, 0 };
    for (int i = 0; i < nodes; i++) {
        message stats = { NULL, 0 }, bytes = { NULL, 0 };
        message_text(&stats, 1, i == 1 ? "slow" : "quick");
        message_number(&stats, 5, i == 1 ? 70 : 10);
        message_text(&stats, 8, "label");
        message_number(&bytes, 2, 5);
        message_text(&bytes, 1, "cpu");
        message_inner(&stats, 6, bytes);
        message_inner(&device, 2, stats);
    }
    message_text(&device, 1, "/cpu:0");
    message_inner(&step, 1, device);
    message_number(&step, 3, 1);
    message_inner(&all, 1, step);
    message_number(&all, 2, 1);
    message_text(&tagged, 1, "run");
    message_bytes(&tagged, 2, all.at, all.size);
    message_free(&all);
    message_inner(&event, EVENT_METADATA, tagged);
    return event;
}

START_TEST(times)
{
    message     event = times_event(3);
    const json *at = point_at(report(&event), "profiles", 0, 0);
    ck_assert_uint_eq(at->count, 4);
    ck_assert_double_eq(item(at, 0)->number, 90);
    ck_assert_str_eq(text_at(item(at, 1), 0), "slow");
    ck_assert_double_eq(item(item(at, 1), 2)->number, 70);
    ck_assert_double_eq(item(item(at, 1), 3)->number, 5);
    ck_assert_str_eq(text_at(item(at, 3), 0), "quick");
    message_free(&event);
    event = times_event(100);                   /* the sum, and the slowest 60 */
    at = point_at(report(&event), "profiles", 0, 0);
    ck_assert_uint_eq(at->count, 61);
    ck_assert_double_eq(item(at, 0)->number, 1060);
    message_free(&event);
}
END_TEST

/* The borders of UTF-8: what is none becomes U+FFFD for each byte. */
START_TEST(characters)
{
    static const struct { const char *bytes, *text; } rows[] = {
        { "\xc2\x80", "\xc2\x80" },
        { "\xc1\xbf", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xc3", "\xef\xbf\xbd" },
        { "\xe0\xa0\x80", "\xe0\xa0\x80" },
        { "\xe0\x9f\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xed\x9f\xbf", "\xed\x9f\xbf" },
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf0\x90\x80\x80", "\xf0\x90\x80\x80" },
        { "\xf0\x8f\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
        { "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf5", "\xef\xbf\xbd" },
        { "\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\x7f\x1f<\"\\", "\x7f\x1f<\"\\" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message tensor = { NULL, 0 }, value = { NULL, 0 };
        message_text(&tensor, 8, rows[i].bytes);
        message_inner(&value, VALUE_TENSOR, tensor);
        message_inner(&value, VALUE_METADATA, plugin("text", NULL, 0));
        message event = event_of("t", value);
        ck_assert_str_eq(text_at(point_at(report(&event), "texts", 0, 0), 1), rows[i].text);
        message_free(&event);
    }
}
END_TEST

/* Each byte of an event changed in some ways: its tag has another number or type, its length is
 * another one. There is a report each time. */
static void change_each(message event)
{
    static const uint8_t by[] = { 1, 2, 5, 8, 0x80, 0xff };
    for (size_t i = 0; i < event.size; i++)
        for (size_t k = 0; k < sizeof by; k++) {
            event.at[i] ^= by[k];
            ck_assert_ptr_nonnull(eddy__json_get(report(&event), "profiles"));
            event.at[i] ^= by[k];
        }
    message_free(&event);
}

START_TEST(changed)
{
    const double wide = 2;
    message      info = { NULL, 0 }, session = { NULL, 0 }, value = { NULL, 0 },
                 tensor = { NULL, 0 };
    add_hparam(&info, "h", 2);
    message_inner(&session, 3, info);
    message_inner(&value, VALUE_METADATA,
                  plugin("hparams", (const char *)session.at, session.size));
    message_free(&session);
    message_number(&tensor, 1, 2);
    message_bytes(&tensor, 4, &wide, sizeof wide);
    message_inner(&value, VALUE_TENSOR, tensor);
    change_each(event_of("v", value));
    value = (message){ NULL, 0 };
    message_float(&value, VALUE_SIMPLE, 1);
    change_each(event_of("v", value));
    change_each(histogram(1, 2, 3));
    change_each(graph_event(1));
    change_each(times_event(3));
}
END_TEST

Suite *event_damage_suite(void)
{
    Suite *s = suite_create("event_damage");
    TCase *t = tcase_create("events");
    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, scalar_tensors);
    tcase_add_test(t, times_that_go_back);
    tcase_add_test(t, hparams);
    tcase_add_test(t, histograms);
    tcase_add_test(t, images);
    tcase_add_test(t, many_series);
    tcase_add_test(t, large_image);
    tcase_add_test(t, graphs);
    tcase_add_test(t, large_graph);
    tcase_add_test(t, times);
    tcase_add_test(t, characters);
    tcase_add_test(t, changed);
    suite_add_tcase(s, t);
    return s;
}
