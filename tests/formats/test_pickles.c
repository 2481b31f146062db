/* test_pickles.c -- pickles of PyTorch, instruction by instruction: K, U and 0x8a push a number, a
 * text and an integer; ( marks, t makes a tuple, c pushes a name, R calls it, . ends. */
#include "formats/torch/pickle.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *pickles_suite(void);

#define STORAGE   "(U\7storagectorch\nFloatStorage\nU\1kU\3cpuK\6tQ"
#define TENSOR    "ctorch._utils\n_rebuild_tensor_v2\n("
#define PARAMETER "ctorch._utils\n_rebuild_parameter\n"

static const pickle_value *read_pickle(region *r, const char *bytes, const char **problem)
{
    size_t at = 0;
    *r = (region){ 0 };
    const pickle_value *v = eddy__pickle_read(
        r, (wire_bytes){ (const uint8_t *)bytes, strlen(bytes) }, problem, &at);
    ck_assert_int_le((int64_t)at, (int64_t)strlen(bytes));
    ck_assert((v == NULL) == (*problem != NULL));
    return v;
}

START_TEST(tensors)
{
    region              r;
    const char         *problem;
    const pickle_value *v = read_pickle(
        &r, PARAMETER "(" TENSOR STORAGE "K\4K\2K\3\x86K\3K\1\x86tRtR.", &problem);
    ck_assert_msg(v != NULL, "%s", problem);
    ck_assert_int_eq(v->kind, PICKLE_TENSOR);
    ck_assert_int_eq(v->integer, 4);
    ck_assert_str_eq(v->storage->text, "k");
    ck_assert_int_eq(v->storage->integer, 6);
    ck_assert_int_eq(v->storage->type->bits, 32);
    ck_assert_uint_eq(v->size->count, 2);
    ck_assert_int_eq(v->size->items[1]->integer, 3);
    ck_assert_int_eq(v->stride->items[0]->integer, 3);
    eddy__region_free(&r);
}
END_TEST

static const struct {
    const char *bytes;
    pickle_kind kind;
    int64_t     integer;
    size_t      count;
} good[] = {
    { "N.", PICKLE_NONE, 0, 0 },
    { "\x88.", PICKLE_NUMBER, 1, 0 },
    { "\x89.", PICKLE_NUMBER, 0, 0 },
    { "J\xfe\xff\xff\xff.", PICKLE_NUMBER, -2, 0 },
    { "M\1\2.", PICKLE_NUMBER, 513, 0 },
    { "\x8a\1\xff.", PICKLE_NUMBER, -1, 0 },
    { "\x8a\2\xff\1.", PICKLE_NUMBER, 511, 0 },
    { "\x8a\1\x40.", PICKLE_NUMBER, 64, 0 },
    { "\x8a\1\x80.", PICKLE_NUMBER, -128, 0 },
    { "\x8a\x8\xff\xff\xff\xff\xff\xff\xff\xff.", PICKLE_NUMBER, -1, 0 },
    { "\x8a\x8\xff\xff\xff\xff\xff\xff\xff\x7f.", PICKLE_NUMBER, INT64_MAX, 0 },
    { "ccollections\nOrderedDict\n)R.", PICKLE_DICT, 0, 0 },
    { "ctorch\ndevice\nU\3cpu\x85R.", PICKLE_NONE, 0, 0 },
    { "ctorch\nSize\nK\2\x85\x85R.", PICKLE_LIST, 0, 1 },
    { "}U\1aK\1sU\1bK\2s.", PICKLE_DICT, 0, 4 },
    { "}(U\1aK\1U\1bK\2u.", PICKLE_DICT, 0, 4 },
    { "(U\1aK\1d.", PICKLE_DICT, 0, 2 },
    { "]K\1aK\2a(K\3K\4K\5e.", PICKLE_LIST, 0, 5 },
    { "K\1K\2K\3\x87.", PICKLE_LIST, 0, 3 },
    { "K\7q\1K\x8q\2"
      "0h\1.",
      PICKLE_NUMBER, 7, 0 },
    { "K\7\x94K\x8\x94"
      "0h\1.",
      PICKLE_NUMBER, 8, 0 },
    { "K\1(K\2K\3"
      "1.",
      PICKLE_NUMBER, 1, 0 },
    { "K\1"
      "2\x86.",
      PICKLE_LIST, 0, 2 },
    { "G\1\1\1\1\1\1\1\1.", PICKLE_NONE, 0, 0 },
    { "C\1x.", PICKLE_TEXT, 0, 0 },
    { "\x8c\1x.", PICKLE_TEXT, 0, 0 },
    { "ccollections\nOrderedDict\n)\x81.", PICKLE_DICT, 0, 0 },
    { "U\5torchU\4Size\x93K\1\x85\x85R.", PICKLE_LIST, 0, 1 },
    { "}Nb.", PICKLE_DICT, 0, 0 },
    { "](e.", PICKLE_LIST, 0, 0 },
    { "}(u.", PICKLE_DICT, 0, 0 },
    { "(l.", PICKLE_LIST, 0, 0 },
};

/* The function of PyTorch before 0.4 has fewer arguments. */
START_TEST(old_function)
{
    region              r;
    const char         *problem;
    const pickle_value *v = read_pickle(
        &r, "ctorch._utils\n_rebuild_tensor\n(" STORAGE "K\4K\2\x85K\1\x85tR.", &problem);
    ck_assert_msg(v && v->kind == PICKLE_TENSOR && v->integer == 4, "%s", problem);
    eddy__region_free(&r);
}
END_TEST

START_TEST(values)
{
    region              r;
    const char         *problem;
    const pickle_value *v = read_pickle(&r, good[_i].bytes, &problem);
    ck_assert_msg(v != NULL, "%s", problem);
    ck_assert_int_eq(v->kind, good[_i].kind);
    ck_assert_int_eq(v->integer, good[_i].integer);
    ck_assert_uint_eq(v->count, good[_i].count);
    eddy__region_free(&r);
}
END_TEST

/* Instructions with operands of 4 and 8 bytes. */
static const struct {
    const char *bytes;
    size_t      size;
    pickle_kind kind;
    int64_t     integer;
    const char *text;
} wide[] = {
    { "\x80\2K\0.", 5, PICKLE_NUMBER, 0, NULL },
    { "\x8a\0.", 3, PICKLE_NUMBER, 0, NULL },
    { "\x8b\2\0\0\0\xfe\xff.", 8, PICKLE_NUMBER, -2, NULL },
    { "\x95\4\0\0\0\0\0\0\0N.", 11, PICKLE_NONE, 0, NULL },
    { "X\2\0\0\0ab.", 8, PICKLE_TEXT, 0, "ab" },
    { "T\2\0\0\0ab.", 8, PICKLE_TEXT, 0, "ab" },
    { "B\2\0\0\0ab.", 8, PICKLE_TEXT, 0, "ab" },
    { "\x8d\2\0\0\0\0\0\0\0ab.", 12, PICKLE_TEXT, 0, "ab" },
    { "\x8e\2\0\0\0\0\0\0\0ab.", 12, PICKLE_TEXT, 0, "ab" },
    { "K\7r\0\0\1\0" "0j\0\0\1\0.", 14, PICKLE_NUMBER, 7, NULL },
    { "K\7r\0\0\1\0K\x8q\x63" "0h\x63.", 15, PICKLE_NUMBER, 8, NULL },
};

START_TEST(wide_operands)
{
    const wire_bytes    b = { (const uint8_t *)wide[_i].bytes, wide[_i].size };
    region              r = { 0 };
    const char         *problem;
    size_t              at;
    const pickle_value *v = eddy__pickle_read(&r, b, &problem, &at);
    ck_assert_msg(v != NULL, "%s", problem);
    ck_assert_int_eq(v->kind, wide[_i].kind);
    ck_assert_int_eq(v->integer, wide[_i].integer);
    ck_assert(wide[_i].text ? strcmp(v->text, wide[_i].text) == 0 : !v->text);
    eddy__region_free(&r);
}
END_TEST

/* The memo has 2^22 places. */
START_TEST(last_place)
{
    const wire_bytes last = { (const uint8_t *)"Nr\xff\xff\x3f\0.", 7 },
                     next = { (const uint8_t *)"Nr\0\0\x40\0.", 7 };
    const char      *problem;
    region           r = { 0 };
    size_t           at;
    ck_assert_ptr_nonnull(eddy__pickle_read(&r, last, &problem, &at));
    ck_assert_ptr_null(eddy__pickle_read(&r, next, &problem, &at));
    ck_assert_str_eq(problem, "a place of the memo is out of range");
    eddy__region_free(&r);
}
END_TEST

/* There is room for 2^22 values, which take 400 MB. */
START_TEST(too_many)
{
    enum { MOST = 1 << 22 };
    char       *bytes = malloc(MOST + 2);
    const char *problem;
    region      r = { 0 };
    size_t      at;
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 'N', MOST + 1);
    bytes[MOST + 1] = '.';
    ck_assert_ptr_null(eddy__pickle_read(
        &r, (wire_bytes){ (const uint8_t *)bytes, MOST + 2 }, &problem, &at));
    ck_assert_str_eq(problem, "there are too many values");
    ck_assert_uint_eq(at, MOST);
    eddy__region_free(&r);
    free(bytes);
}
END_TEST

static const struct { const char *bytes, *problem; } bad[] = {
    { "", "it ends early" },
    { "K", "it ends early" },
    { "U\5ab", "it ends early" },
    { "X\1\1\1\1ab", "it ends early" },
    { "ctorch", "it ends early" },
    { "ctorch\nSize", "it ends early" },
    { ".", "the stack is empty" },
    { "(.", "the stack is empty" },
    { "K\1(K\2\x86.", "the stack is empty" },
    { "K\1\x86.", "the stack is empty" },
    { "K\1t.", "a mark is missing" },
    { "K\1u.", "a mark is missing" },
    { "i.", "an instruction is not allowed" },
    { "2.", "an instruction is not allowed" },
    { "\x8a\x9" "123456789.", "an integer has more than 64 bits" },
    { "\x8b\1\1\1\1.", "an integer has more than 64 bits" },
    { "K\1(2.", "the stack is empty" },
    { "e.", "a mark is missing" },
    { "d.", "a mark is missing" },
    { "1.", "a mark is missing" },
    { "a.", "the stack is empty" },
    { "K\1a.", "an instruction has a wrong operand" },
    { "s.", "the stack is empty" },
    { "K\1s.", "the stack is empty" },
    { "K\1K\1s.", "an instruction has a wrong operand" },
    { "R.", "the stack is empty" },
    { "NR.", "the stack is empty" },
    { "\x93.", "the stack is empty" },
    { "N\x93.", "the stack is empty" },
    { "U\1a\x93.", "the stack is empty" },
    { "Q.", "the stack is empty" },
    { "b.", "the stack is empty" },
    { "0.", "the stack is empty" },
    { "\x85.", "the stack is empty" },
    { "\x94.", "a place of the memo is out of range" },
    { "G123.", "it ends early" },
    { "J12.", "it ends early" },
    { "K\1q\1hB.", "a place of the memo is empty" },            /* the first behind the memo */
    { "K\1q", "it ends early" },
    { "K\1q\1h", "it ends early" },
    { "U\5torch\x8c", "it ends early" },
    { "\x80", "it ends early" },
    { "\x95" "1234567", "it ends early" },
    { "cos\nsystem\n.", "the name os.system is not allowed" },
    { "ctorch\nOrderedDict\n.", "the name torch.OrderedDict is not allowed" },
    { "U\2osU\6system\x93.", "the name os.system is not allowed" },
    { "K\1U\4Size\x93.", "an instruction has a wrong operand" },
    { "U\5torchK\1\x93.", "an instruction has a wrong operand" },
    { "K\1)R.", "an instruction has a wrong operand" },
    { "ctorch\nSize\nK\1R.", "an instruction has a wrong operand" },
    { "ctorch\nSize\n)R.", "a parameter has wrong arguments" },
    { "ctorch\nFloatStorage\n)R.", "a name is called that is not a function" },
    { "ccollections\nOrderedDict\nK\1\x85R.", "a dict has wrong arguments" },
    { "]U\1aK\1s.", "an instruction has a wrong operand" },
    { "}K\1a.", "an instruction has a wrong operand" },
    { "}(K\1e.", "an instruction has a wrong operand" },
    { "}(U\1au.", "an item of a dict has no value" },
    { "(U\1ad.", "an item of a dict has no value" },
    { "q\1.", "a place of the memo is out of range" },
    { "K\1r\xff\xff\xff\xff.", "a place of the memo is out of range" },
    { "h\1.", "a place of the memo is empty" },
    { "K\1q\1h\2.", "a place of the memo is empty" },
    { "K\1Q.", "a storage is of an unknown kind" },
    { "(U\7storagectorch\nFloatStorage\nU\1kU\3cputQ.", "a storage is of an unknown kind" },
    { "(K\1ctorch\nFloatStorage\nU\1kU\3cpuK\6tQ.", "a storage is of an unknown kind" },
    { "(U\6modulectorch\nFloatStorage\nU\1kU\3cpuK\6tQ.", "a storage is of an unknown kind" },
    { "(U\7storageK\1U\1kU\3cpuK\6tQ.", "a storage is of an unknown kind" },
    { "(U\7storagectorch\nSize\nU\1kU\3cpuK\6tQ.", "a storage is of an unknown kind" },
    { "(U\7storagectorch\nFloatStorage\nK\1U\3cpuK\6tQ.", "a storage is of an unknown kind" },
    { "(U\7storagectorch\nFloatStorage\nU\1kU\3cpuNtQ.", "a storage is of an unknown kind" },
    { TENSOR STORAGE "K\4K\2\x85tR.", "a tensor has wrong arguments" },
    { TENSOR "NK\4K\2\x85K\1\x85tR.", "a tensor has wrong arguments" },
    { TENSOR STORAGE "NK\2\x85K\1\x85tR.", "a tensor has wrong arguments" },
    { TENSOR STORAGE "K\4K\2K\1\x85tR.", "a tensor has wrong arguments" },
    { TENSOR STORAGE "K\4K\2\x85K\1tR.", "a tensor has wrong arguments" },
    { TENSOR STORAGE "K\4N\x85K\1\x85tR.", "a tensor has wrong arguments" },
    { TENSOR STORAGE "K\4K\2\x85K\1N\x86tR.", "a tensor has wrong arguments" },
    { TENSOR STORAGE "K\4K\2\x85K\1K\1\x86tR.", "a tensor has wrong arguments" },
};

START_TEST(problems)
{
    region      r;
    const char *problem;
    ck_assert_ptr_null(read_pickle(&r, bad[_i].bytes, &problem));
    ck_assert_str_eq(problem, bad[_i].problem);
    eddy__region_free(&r);
}
END_TEST

/* Cut anywhere, a pickle is refused. */
START_TEST(cut)
{
    static const char whole[] = TENSOR STORAGE "K\4K\2K\3\x86K\3K\1\x86tR.";
    for (size_t n = 0; n + 1 < sizeof whole - 1; n++) {
        char        part[sizeof whole] = "";
        const char *problem;
        region      r;
        memcpy(part, whole, n);
        ck_assert_ptr_null(read_pickle(&r, part, &problem));
        eddy__region_free(&r);
    }
}
END_TEST

Suite *pickles_suite(void)
{
    Suite *s = suite_create("pickles");
    TCase *t = tcase_create("pickles"), *slow = tcase_create("large");
    tcase_add_test(t, tensors);
    tcase_add_test(t, old_function);
    tcase_add_loop_test(t, values, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(t, wide_operands, 0, sizeof wide / sizeof *wide);
    tcase_add_test(t, last_place);
    tcase_set_tags(slow, "slow");
    tcase_add_test(slow, too_many);
    tcase_add_loop_test(t, problems, 0, sizeof bad / sizeof *bad);
    tcase_add_test(t, cut);
    suite_add_tcase(s, t);
    suite_add_tcase(s, slow);
    return s;
}
