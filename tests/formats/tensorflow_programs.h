/* tensorflow_programs.h -- graphs of TensorFlow as texts that are read and run: the value of "y" for
 * a fed "x", or what is wrong. */
#ifndef EDDY_TESTS_FORMATS_TENSORFLOW_PROGRAMS_H
#define EDDY_TESTS_FORMATS_TENSORFLOW_PROGRAMS_H

#include "formats.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/tensorflow_text_graphs.h"

/* The text is as in tests/lib/files/tensorflow_text_graphs.h; x and y are tensors as in
 * tests/lib/files/node_cases.h. y is "!text" if reading must fail, "?text" if running must. */
typedef struct program {
    const char *text, *x, *y;
} program;

static inline void compare(const char *text, const eddy_array *y, const char *expected)
{
    case_tensor want;
    case_tensor_parse(expected, &want);
    ck_assert_msg(eddy_array_dtype(y) == case_tensor_dtype(&want), "%s: %s", text,
                  eddy_dtype_name(eddy_array_dtype(y)));
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(y),
                                   eddy_shape_of_dims(want.dims, (size_t)want.rank)),
                  "%s: the shape is another", text);
    for (int i = 0; i < want.n; i++)
        ck_assert_msg(eddy_array_get(y, i) == want.at[i], "%s: element %d is %g, not %g", text, i,
                      eddy_array_get(y, i), want.at[i]);
}

static inline void run_program(const program *p, eddy_graph *g, const eddy_tensorflow_model *m)
{
    case_tensor  x;
    eddy_array  *y = NULL;
    case_tensor_parse(p->x, &x);
    eddy_array   *fed = case_tensor_array(&x);
    eddy_session *s = eddy_session_new(g);
    eddy_run(s, EDDY_FEED({ eddy_tensorflow_input(m, "x"), fed }),
             EDDY_FETCH(eddy_tensorflow_output(m, "y")), &y);
    if (*p->y == '?')
        ck_assert_msg(!y && strstr(eddy_session_message(s), p->y + 1), "%s: %s", p->text,
                      eddy_session_message(s));
    else {
        ck_assert_msg(y != NULL, "%s: %s %s", p->text, eddy_session_message(s),
                      eddy_graph_message(g));
        compare(p->text, y, p->y);
    }
    eddy_array_free(y);
    eddy_array_free(fed);
    eddy_session_free(s);
}

/* The model of these bytes or this path. */
static inline void check_program(const program *p, const char *path, const message *bytes,
                                 const eddy_files *files)
{
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = eddy_tensorflow_read(
        g, path, .data = bytes ? bytes->at : NULL, .data_size = bytes ? bytes->size : 0,
        .files = files, .outputs = (const char *const[]){ "y" }, .output_count = 1, .error = &e);
    if (*p->y == '!') {
        ck_assert_msg(!m && strstr(e.message, p->y + 1), "%s: %s", p->text, e.message);
        ck_assert_int_eq(eddy_graph_size(g), 0);
    } else {
        ck_assert_msg(m != NULL, "%s: %s", p->text, e.message);
        run_program(p, g, m);
    }
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}

#endif
