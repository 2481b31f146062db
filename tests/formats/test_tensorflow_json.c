/* test_tensorflow_json.c -- graph models of TensorFlow.js: each kind of attribute, functions,
 * signatures and weights, and texts that are something else. */
#include "formats/tensorflow/parse_json.h"

#include <check.h>
#include <string.h>

Suite *tensorflow_json_suite(void);

static const char *parsed(region *r, const char *text, tf_file *file, tf_manifest *weights)
{
    size_t at = 0;
    *r = (region){ 0 };
    const char *problem = eddy__tf_parse_json(
        r, (wire_bytes){ (const uint8_t *)text, strlen(text) }, file, weights, &at);
    ck_assert(!r->full && at <= strlen(text));
    return problem;
}

/* The only attribute of the only node of a graph. */
static tf_attr attribute(region *r, const char *value, const char **problem)
{
    char        text[600];
    tf_file     file;
    tf_manifest weights;
    snprintf(text, sizeof text,
             "{\"modelTopology\":{\"node\":[{\"name\":\"n\",\"op\":\"o\",\"attr\":{\"a\":%s}}]}}",
             value);
    *problem = parsed(r, text, &file, &weights);
    ck_assert(file.main.n_nodes == 1 && file.main.nodes[0].n_attrs == 1);
    ck_assert_str_eq(file.main.nodes[0].attrs[0].name, "a");
    return file.main.nodes[0].attrs[0];
}

/* ------------------------------------------------------------------ scalars -- */

static const struct {
    const char  *value;
    tf_attr_kind kind;
    const char  *text;
    int64_t      i;
    double       f;
} scalars[] = {
    { "{}", TF_ATTR_NONE, "", 0, 0 },
    { "7", TF_ATTR_NONE, "", 0, 0 },
    { "{\"odd\":1}", TF_ATTR_NONE, "", 0, 0 },
    { "{\"s\":\"\"}", TF_ATTR_TEXT, "", 0, 0 },
    { "{\"s\":\"QQ==\"}", TF_ATTR_TEXT, "A", 0, 0 },
    { "{\"s\":\"QUI=\"}", TF_ATTR_TEXT, "AB", 0, 0 },
    { "{\"s\":\"QUJD\"}", TF_ATTR_TEXT, "ABC", 0, 0 },
    { "{\"s\":\"emAw\"}", TF_ATTR_TEXT, "z`0", 0, 0 },
    { "{\"s\":\"zzZA\"}", TF_ATTR_TEXT, "\xcf\x36\x40", 0, 0 },
    { "{\"s\":\"a0A9\"}", TF_ATTR_TEXT, "k@=", 0, 0 },
    { "{\"s\":\"+/+/\"}", TF_ATTR_TEXT, "\xfb\xff\xbf", 0, 0 },
    { "{\"s\":\"-_-_\"}", TF_ATTR_TEXT, "\xfb\xff\xbf", 0, 0 },
    { "{\"s\":[65,66]}", TF_ATTR_TEXT, "AB", 0, 0 },
    { "{\"s\":7}", TF_ATTR_TEXT, "", 0, 0 },
    { "{\"i\":\"-12\"}", TF_ATTR_INT, "", -12, 0 },
    { "{\"i\":12}", TF_ATTR_INT, "", 12, 0 },
    { "{\"f\":1.5}", TF_ATTR_FLOAT, "", 0, 1.5 },
    { "{\"b\":true}", TF_ATTR_BOOL, "", 1, 0 },
    { "{\"b\":false}", TF_ATTR_BOOL, "", 0, 0 },
    { "{\"b\":2}", TF_ATTR_BOOL, "", 1, 0 },
    { "{\"b\":[]}", TF_ATTR_BOOL, "", 0, 0 },
    { "{\"i\":[]}", TF_ATTR_INT, "", 0, 0 },
    { "{\"type\":[]}", TF_ATTR_TYPE, "", TF_NO_TYPE, 0 },
    { "{\"type\":\"DT_FLOAT\"}", TF_ATTR_TYPE, "", TF_FLOAT, 0 },
    { "{\"type\":\"DT_UINT64\"}", TF_ATTR_TYPE, "", TF_UINT64, 0 },
    { "{\"type\":\"DT_ODD\"}", TF_ATTR_TYPE, "", TF_NO_TYPE, 0 },
    { "{\"type\":3}", TF_ATTR_TYPE, "", TF_INT32, 0 },
    { "{\"func\":{\"name\":\"f\"}}", TF_ATTR_FUNCTION, "f", 0, 0 },
    { "{\"func\":{}}", TF_ATTR_FUNCTION, "", 0, 0 },
};

/* The place of the first of two problems. */
START_TEST(first_problem)
{
    static const char text[] =
        "{\"modelTopology\":{\"node\":[{\"name\":\"n\",\"op\":\"o\",\"attr\":{\"a\":{\"s\":\"*\"},"
        "\"b\":{\"s\":\"!\"}}}]}}";
    region      r = { 0 };
    size_t      at = 0;
    tf_file     file;
    tf_manifest weights;
    ck_assert_ptr_nonnull(eddy__tf_parse_json(
        &r, (wire_bytes){ (const uint8_t *)text, sizeof text - 1 }, &file, &weights, &at));
    ck_assert_uint_eq(at, (size_t)(strstr(text, "\"*\"") - text));
    eddy__region_free(&r);
}
END_TEST

START_TEST(scalar)
{
    region        r;
    const char   *problem;
    const tf_attr a = attribute(&r, scalars[_i].value, &problem);
    ck_assert_ptr_null(problem);
    ck_assert_int_eq(a.kind, scalars[_i].kind);
    ck_assert_str_eq(a.text, scalars[_i].text);
    ck_assert_int_eq(a.i, scalars[_i].i);
    ck_assert(a.f == scalars[_i].f);
    eddy__region_free(&r);
}
END_TEST

START_TEST(no_base64)
{
    static const char *const bad[] = {
        "QQ*=", "Q@", "@@", "Q[", "Q{", "Q`", "Q:", "Q,", "Q.", "Q\\u0000"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char        value[60];
        region      r;
        const char *problem;
        snprintf(value, sizeof value, "{\"s\":\"%s\"}", bad[i]);
        attribute(&r, value, &problem);
        ck_assert_msg(problem && strcmp(problem, "a text is not in base64") == 0, "%s", bad[i]);
        eddy__region_free(&r);
    }
}
END_TEST

/* ------------------------------------------------------------------- shapes -- */

static const struct { const char *value, *shape; } shapes[] = {
    { "{}", "[]" },
    { "{\"dim\":[]}", "[]" },
    { "{\"dim\":[{\"size\":\"2\"},{\"size\":-1},{\"size\":\"-1\"},{}]}", "[2,?,?,0]" },
    { "{\"unknownRank\":true}", "?" },
    { "{\"unknownRank\":false,\"dim\":[{\"size\":3}]}", "[3]" },
    { "{\"dim\":[{},{},{},{},{},{},{},{}]}", "[0,0,0,0,0,0,0,0]" },
    { "{\"dim\":[{},{},{},{},{},{},{},{},{}]}", "?" },
};

START_TEST(shape)
{
    region      r;
    const char *problem;
    char        value[200], text[100];
    snprintf(value, sizeof value, "{\"shape\":%s}", shapes[_i].value);
    tf_attr a = attribute(&r, value, &problem);
    ck_assert_int_eq(a.kind, TF_ATTR_SHAPE);
    ck_assert_str_eq(eddy_shape_print(a.shape, text, sizeof text), shapes[_i].shape);
    eddy__region_free(&r);
    snprintf(value, sizeof value, "{\"tensor\":{\"dtype\":\"DT_INT32\",\"tensorShape\":%s}}",
             shapes[_i].value);
    a = attribute(&r, value, &problem);
    ck_assert(a.kind == TF_ATTR_TENSOR && a.tensor->type == TF_INT32 && !a.tensor->has_content);
    ck_assert_str_eq(eddy_shape_print(a.tensor->shape, text, sizeof text), shapes[_i].shape);
    eddy__region_free(&r);
}
END_TEST

/* -------------------------------------------------------------------- lists -- */

START_TEST(lists)
{
    region      r;
    const char *problem;
    tf_attr     a = attribute(&r, "{\"list\":{\"s\":[\"QQ==\",\"Qg==\"]}}", &problem);
    ck_assert(a.kind == TF_ATTR_LIST && a.n_texts == 2 && a.n_ints == 0);
    ck_assert_str_eq(a.texts[1], "B");
    eddy__region_free(&r);
    a = attribute(&r, "{\"list\":{\"func\":[{\"name\":\"f\"},{}]}}", &problem);
    ck_assert_uint_eq(a.n_texts, 2);
    ck_assert_str_eq(a.texts[0], "f");
    ck_assert_str_eq(a.texts[1], "");
    eddy__region_free(&r);
    a = attribute(&r, "{\"list\":{\"f\":[0.5,2]}}", &problem);
    ck_assert(a.kind == TF_ATTR_LIST && a.n_ints == 0 && a.n_texts == 0);     /* not used */
    eddy__region_free(&r);
    a = attribute(&r, "{\"list\":{\"i\":[\"3\",-4,\"x\"]}}", &problem);
    ck_assert(a.n_ints == 3 && a.ints[0] == 3 && a.ints[1] == -4 && a.ints[2] == 0);
    eddy__region_free(&r);
    a = attribute(&r, "{\"list\":{\"b\":[true,false]}}", &problem);
    ck_assert(a.n_ints == 2 && a.ints[0] == 1 && a.ints[1] == 0);
    eddy__region_free(&r);
    a = attribute(&r, "{\"list\":{\"type\":[\"DT_BOOL\",\"DT_HALF\"]}}", &problem);
    ck_assert(a.n_ints == 2 && a.ints[0] == TF_BOOL && a.ints[1] == TF_HALF);
    eddy__region_free(&r);
    a = attribute(&r, "{\"list\":{\"shape\":[{},{\"unknownRank\":true}]}}", &problem);
    ck_assert(a.n_shapes == 2 && a.shapes[0].rank == 0 && a.shapes[1].rank == EDDY_UNKNOWN_RANK);
    eddy__region_free(&r);
    a = attribute(&r, "{\"list\":{\"odd\":[1],\"i\":7}}", &problem);
    ck_assert(a.kind == TF_ATTR_LIST && a.n_ints == 0 && a.n_texts == 0);
    eddy__region_free(&r);
    a = attribute(&r, "{\"list\":7}", &problem);
    ck_assert(a.kind == TF_ATTR_LIST && a.n_ints == 0);
    eddy__region_free(&r);
}
END_TEST

/* ------------------------------------------------------------------- models -- */

START_TEST(functions)
{
    static const char text[] =
        "{\"modelTopology\":{\"node\":[],\"library\":{\"function\":["
        "{\"signature\":{\"name\":\"f\",\"inputArg\":[{\"name\":\"x\",\"type\":\"DT_FLOAT\"},{}],"
        "\"outputArg\":[{\"name\":\"y\"},{\"name\":\"z\"}]},"
        "\"nodeDef\":[{\"name\":\"n\",\"op\":\"Neg\",\"input\":[\"x\",7]},{}],"
        "\"ret\":{\"y\":\"n:y:0\"}},{}]}}}";
    region      r;
    tf_file     file;
    tf_manifest weights;
    const char *problem = parsed(&r, text, &file, &weights);
    ck_assert_msg(!problem, "%s", problem);
    ck_assert(file.n_functions == 2 && file.main.n_nodes == 0);
    const tf_graph *f = &file.functions[0];
    ck_assert_str_eq(f->name, "f");
    ck_assert(f->n_nodes == 2 && f->n_args == 2 && f->n_results == 2);
    ck_assert_str_eq(f->nodes[0].op, "Neg");
    ck_assert_str_eq(f->nodes[0].inputs[0], "x");
    ck_assert_str_eq(f->nodes[0].inputs[1], "");
    ck_assert(f->nodes[1].n_inputs == 0 && f->nodes[1].n_attrs == 0);
    ck_assert_str_eq(f->args[0], "x");
    ck_assert_str_eq(f->args[1], "");
    ck_assert_str_eq(f->results[0], "n:y:0");
    ck_assert_str_eq(f->results[1], "");
    f = &file.functions[1];
    ck_assert(!f->name[0] && f->n_nodes == 0 && f->n_args == 0 && f->n_results == 0);
    eddy__region_free(&r);
}
END_TEST

/* A function of more results than can be called needs none of their values. */
START_TEST(many_results)
{
    for (int more = 0; more < 2; more++) {
        char        text[2000] = "{\"modelTopology\":{\"node\":[],\"library\":{\"function\":["
                                 "{\"ret\":{\"r\":\"n\"},\"signature\":{\"outputArg\":[";
        region      r;
        tf_file     file;
        tf_manifest weights;
        for (int i = 0; i < 64 + more; i++)
            strcat(text, i ? ",{\"name\":\"r\"}" : "{\"name\":\"r\"}");
        strcat(text, "]}}]}}}");
        ck_assert_ptr_null(parsed(&r, text, &file, &weights));
        ck_assert_uint_eq(file.functions[0].n_results, (size_t)(64 + more));
        ck_assert_str_eq(file.functions[0].results[63], more ? "" : "n");
        eddy__region_free(&r);
    }
}
END_TEST

START_TEST(signatures)
{
    static const char *const texts[] = {
        "{\"modelTopology\":{\"node\":[]},\"signature\":%s}",
        "{\"modelTopology\":{\"node\":[]},\"userDefinedMetadata\":{\"signature\":%s}}",
    };
    static const char signature[] =
        "{\"inputs\":{\"a\":{\"name\":\"x:0\",\"dtype\":\"DT_INT64\",\"tensorShape\":{}},\"b\":{}},"
        "\"outputs\":7}";
    for (int i = 0; i < 2; i++) {
        char        text[400];
        region      r;
        tf_file     file;
        tf_manifest weights;
        snprintf(text, sizeof text, texts[i], signature);
        ck_assert_ptr_null(parsed(&r, text, &file, &weights));
        const tf_signature *s = &file.signatures[0];
        ck_assert(file.n_signatures == 1 && s->n_inputs == 2 && s->n_outputs == 0);
        ck_assert_str_eq(s->name, "serving_default");
        ck_assert_str_eq(s->inputs[0].key, "a");
        ck_assert_str_eq(s->inputs[0].tensor, "x:0");
        ck_assert_int_eq(s->inputs[0].shape.rank, 0);
        ck_assert_str_eq(s->inputs[1].tensor, "b");
        ck_assert_int_eq(s->inputs[1].shape.rank, EDDY_UNKNOWN_RANK);
        eddy__region_free(&r);
    }
}
END_TEST

START_TEST(manifest)
{
    static const char text[] =
        "{\"modelTopology\":{\"node\":[]},\"weightsManifest\":["
        "{\"paths\":[\"a\",7],\"weights\":[{\"name\":\"w\",\"dtype\":\"int32\",\"shape\":[2,3]},"
        "{\"quantization\":{\"dtype\":\"uint8\",\"scale\":0.5,\"min\":-1}},"
        "{\"quantization\":{}},{\"quantization\":7}]},"
        "{},{\"weights\":[{\"name\":\"v\"}]}]}";
    region      r;
    tf_file     file;
    tf_manifest m;
    const char *problem = parsed(&r, text, &file, &m);
    ck_assert_msg(!problem, "%s", problem);
    ck_assert(m.n_groups == 3 && m.n_weights == 5);
    ck_assert(m.groups[0].n_paths == 2 && m.groups[1].n_paths == 0);
    ck_assert_str_eq(m.groups[0].paths[1], "");
    const tf_weight *w = m.weights;
    ck_assert_str_eq(w[0].name, "w");
    ck_assert_str_eq(w[0].dtype, "int32");
    ck_assert(w[0].shape.rank == 2 && w[0].shape.dim[1] == 3 && !w[0].stored && w[0].group == 0);
    ck_assert_str_eq(w[1].stored, "uint8");
    ck_assert(w[1].scale == .5 && w[1].min == -1);
    ck_assert(w[2].stored && w[2].scale == 1 && w[2].min == 0 && !w[3].stored);
    ck_assert_int_eq(w[4].group, 2);
    eddy__region_free(&r);
}
END_TEST

#define MODEL "{\"modelTopology\":{\"node\":[]},\"weightsManifest\":[{\"weights\":[{\"shape\":"
static const struct { const char *text, *problem; } bad[] = {
    { "", "this is not valid JSON" },
    { "{", "this is not valid JSON" },
    { "7", "there is no graph: only graph models are read" },
    { "{\"modelTopology\":{}}", "there is no graph: only graph models are read" },
    { "{\"modelTopology\":{\"node\":[]},\"weightsManifest\":7}", NULL },
    { "{\"modelTopology\":{\"node\":7}}", NULL },
    { "{\"modelTopology\":{\"node\":[{\"attr\":7},{\"attr\":{\"a\":[{\"s\":\"\"}]}}]}}", NULL },
    { "{\"modelTopology\":{\"node\":[{\"attr\":{\"a\":{\"s\":\"@\"}}},{}],"
      "\"library\":{\"function\":[{}]}}}",
      "a text is not in base64" },
    { MODEL "[1,1,1,1,1,1,1,1]}]}]}", NULL },
    { MODEL "[1,1,1,1,1,1,1,1,1]}]}]}", "a weight has more than 8 dimensions" },
    { MODEL "[0]}]}]}", NULL },
    { MODEL "[-1]}]}]}", "a weight has no valid shape" },
    { MODEL "[-1]},{\"shape\":[-2,1,1,1,1,1,1,1,1]}]}]}", "a weight has no valid shape" },
};

START_TEST(models)
{
    region      r;
    tf_file     file;
    tf_manifest weights;
    const char *problem = parsed(&r, bad[_i].text, &file, &weights);
    if (bad[_i].problem) ck_assert_str_eq(problem, bad[_i].problem);
    else ck_assert_msg(!problem, "%s", problem);
    eddy__region_free(&r);
}
END_TEST

Suite *tensorflow_json_suite(void)
{
    Suite *s = suite_create("tensorflow_json");
    TCase *t = tcase_create("json");
    tcase_add_test(t, first_problem);
    tcase_add_loop_test(t, scalar, 0, sizeof scalars / sizeof *scalars);
    tcase_add_test(t, no_base64);
    tcase_add_loop_test(t, shape, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(t, lists);
    tcase_add_test(t, functions);
    tcase_add_test(t, many_results);
    tcase_add_test(t, signatures);
    tcase_add_test(t, manifest);
    tcase_add_loop_test(t, models, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(s, t);
    return s;
}
