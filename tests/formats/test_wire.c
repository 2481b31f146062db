/* test_wire.c -- the reader of the protobuf wire format. */
#include "formats/wire.h"
#include "tests/lib/files/onnx_writer.h"

#include <check.h>
#include <string.h>

Suite *wire_suite(void);

static wire wire_of(const message *m) { return eddy__wire_of((wire_bytes){ m->at, m->size }); }

START_TEST(fields)
{
    message m = { NULL, 0 };
    message_number(&m, 1, 300);
    message_number(&m, 536870911, UINT64_MAX);
    message_text(&m, 2, "ab");
    wire       w = wire_of(&m);
    wire_field f;
    ck_assert(eddy__wire_next(&w, &f) && f.number == 1 && f.value == 300 && f.type == WIRE_VARINT);
    ck_assert(eddy__wire_next(&w, &f) && f.number == 536870911 && f.value == UINT64_MAX);
    ck_assert(eddy__wire_next(&w, &f) && f.number == 2 && f.bytes.size == 2 &&
              memcmp(f.bytes.at, "ab", 2) == 0);
    ck_assert(!eddy__wire_next(&w, &f) && !w.bad);
    ck_assert_uint_eq(eddy__wire_count(wire_of(&m), 2), 1);
    message_free(&m);
}
END_TEST

START_TEST(fixed_numbers)
{
    const uint8_t bytes[] = { 0x0d, 0, 0, 0x80, 0x3f, 0x11, 0, 0, 0, 0, 0, 0, 0, 0x40 };
    wire          w = eddy__wire_of((wire_bytes){ bytes, sizeof bytes });
    wire_field    f;
    ck_assert(eddy__wire_next(&w, &f) && f.type == WIRE_FIXED32 && eddy__wire_float(f.value) == 1);
    ck_assert(eddy__wire_next(&w, &f) && f.type == WIRE_FIXED64 && eddy__wire_double(f.value) == 2);
}
END_TEST

START_TEST(packed_numbers)
{
    const uint8_t bytes[] = { 0x0a, 4, 1, 0xac, 0x02, 3 };
    wire          w = eddy__wire_of((wire_bytes){ bytes, sizeof bytes });
    wire_field    f;
    uint64_t      v;
    ck_assert(eddy__wire_next(&w, &f));
    ck_assert(eddy__wire_unpack(&f.bytes, WIRE_VARINT, &v) && v == 1);
    ck_assert(eddy__wire_unpack(&f.bytes, WIRE_VARINT, &v) && v == 300);
    ck_assert(eddy__wire_unpack(&f.bytes, WIRE_VARINT, &v) && v == 3);
    ck_assert(!eddy__wire_unpack(&f.bytes, WIRE_VARINT, &v));
}
END_TEST

/* Single numbers and packed ones, between other fields. */
START_TEST(repeated_numbers)
{
    uint8_t bytes[] = { 0x08, 7, 0x0a, 3, 1, 0xac, 0x02, 0x10, 9, 0x0a, 0, 0x08, 5, 0x0a, 1, 4 };
    const wire   w = eddy__wire_of((wire_bytes){ bytes, sizeof bytes });
    wire_numbers n = { .left = w, .field = 1, .as = WIRE_VARINT };
    uint64_t     v, want[] = { 7, 1, 300, 5, 4 };
    for (int i = 0; i < 5; i++) ck_assert(eddy__wire_next_number(&n, &v) && v == want[i]);
    ck_assert(!eddy__wire_next_number(&n, &v) && !n.damaged);
    n = (wire_numbers){ .left = w, .field = 1, .as = WIRE_VARINT };
    for (int i = 0; i < 2; i++) ck_assert(eddy__wire_next_number(&n, &v));
    ck_assert_uint_eq(eddy__wire_skip_packed(&n), 1);
    ck_assert(eddy__wire_next_number(&n, &v) && v == 5);
    bytes[5] = 0x80;                    /* 2 * 128 */
    n = (wire_numbers){ .left = w, .field = 1, .as = WIRE_VARINT };
    for (int i = 0; i < 3; i++) ck_assert(eddy__wire_next_number(&n, &v));
    ck_assert_uint_eq(v, 256);
    bytes[15] = 0x80;                   /* a number that goes on behind its field */
    n = (wire_numbers){ .left = w, .field = 1, .as = WIRE_VARINT };
    for (int i = 0; i < 4; i++) ck_assert(eddy__wire_next_number(&n, &v));
    ck_assert_uint_eq(eddy__wire_skip_packed(&n), 0);
    ck_assert(!eddy__wire_next_number(&n, &v) && n.damaged == bytes + 13);
}
END_TEST

/* Each of these is not a message. */
START_TEST(damage)
{
    static const struct { uint8_t at[12]; size_t size;
    } cases[] = {
        { { 0x08 }, 1 },       /* a number that is missing */
        { { 0x08, 0x80 }, 2 }, /* ... that does not end */
        { { 0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 }, 12 }, /* ... of 11 bytes */
        { { 0x00, 0 }, 2 },                                                    /* field 0 */
        { { 0x80, 0x80, 0x80, 0x80, 0x10, 0 }, 6 },                            /* field 2^29 */
        { { 0x0a, 5, 1 }, 3 }, /* bytes beyond the end */
        { { 0x0b, 0x0c }, 2 }, /* a group */
        { { 0x0d, 1, 2 }, 3 }, /* half of a float */
        { { 0x0f }, 1 },       /* wire type 7 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wire       w = eddy__wire_of((wire_bytes){ cases[i].at, cases[i].size });
        wire_field f;
        while (eddy__wire_next(&w, &f)) continue;
        ck_assert_msg(w.bad, "case %zu", i);
    }
}
END_TEST

START_TEST(nesting)
{
    message m = { NULL, 0 };
    for (int i = 0; i < WIRE_MAX_DEPTH + 1; i++) {
        message outer = { NULL, 0 };
        message_inner(&outer, 1, m);
        m = outer;
    }
    wire       w = wire_of(&m);
    wire_field f;
    int        depth = 0;
    for (; eddy__wire_next(&w, &f); depth++) w = eddy__wire_enter(&w, &f);
    ck_assert(w.bad);
    ck_assert_int_eq(depth, WIRE_MAX_DEPTH + 1);
    message_free(&m);
}
END_TEST

Suite *wire_suite(void)
{
    Suite *s = suite_create("wire");
    TCase *t = tcase_create("messages");
    tcase_add_test(t, fields);
    tcase_add_test(t, fixed_numbers);
    tcase_add_test(t, packed_numbers);
    tcase_add_test(t, repeated_numbers);
    tcase_add_test(t, damage);
    tcase_add_test(t, nesting);
    suite_add_tcase(s, t);
    return s;
}
