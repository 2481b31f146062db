/* test_plot.c -- plots in a stream that is no terminal, in one that is, and as SVG. */
#define _GNU_SOURCE
#include "tests/lib/checks.h"
#include "tests/lib/golden.h"

#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

Suite *plot_suite(void);

enum { SIZE = 1 << 16 };

/* The text in the file, a static string. */
static const char *written(FILE *f)
{
    static char text[SIZE];
    fflush(f);
    fseek(f, 0, SEEK_SET);
    text[fread(text, 1, SIZE - 1, f)] = 0;
    fclose(f);
    return text;
}

static void expect(const char *text, const char *wanted)
{
    ck_assert_msg(strcmp(text, wanted) == 0, "printed\n%s\nnot\n%s", text, wanted);
}

/* A rising and a falling line, whose last points have the letters of the legend. */
START_TEST(curves)
{
    const double     y[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    const double     down[] = { 9, 0 }, across[] = { 0, 9 };
    const eddy_curve both[] = { { "up", 10, NULL, y }, { "down", 2, across, down } };
    FILE            *f = tmpfile();
    ck_assert_int_eq(eddy_plot_print(both, 2, .to = f, .title = "two lines", .x_label = "step",
                                     .width = 20, .height = 10), EDDY_OK);
    expect(written(f),
           "            two lines\n"
           "           │⠑⢄                ⡠a\n"
           "         8 ┤  ⠑⢄            ⡠⠊\n"
           "           │    ⠑⢄        ⡠⠊\n"
           "         6 ┤      ⠑⢄    ⡠⠊\n"
           "           │        ⠑⢄⡠⠊\n"
           "         4 ┤        ⡠⠊⠑⢄\n"
           "           │      ⡠⠊    ⠑⢄\n"
           "         2 ┤    ⡠⠊        ⠑⢄\n"
           "           │  ⡠⠊            ⠑⢄\n"
           "         0 ┤⡠⠊                ⠑b\n"
           "           └┬──────────┬────────\n"
           "            0          5  step\n"
           "            a: up   b: down\n");
}
END_TEST

START_TEST(logarithms_and_gaps)
{
    const double     y[] = { 1000, 100, NAN, 10, 1, 0, -1, INFINITY };
    const eddy_curve one = { "loss", 8, NULL, y };
    FILE            *f = tmpfile();
    ck_assert_int_eq(eddy_plot_print(&one, 1, .to = f, .log_y = true, .width = 16, .height = 10),
                     EDDY_OK);
    expect(written(f), "      1000 ┤⠱⡀\n"
                       "           │ ⠱⡀\n"
                       "           │  ⠈⢆\n"
                       "       100 ┤   ⠈⠂\n"
                       "           │\n"
                       "           │\n"
                       "        10 ┤           ⠠⡀\n"
                       "           │            ⠱⡀\n"
                       "           │             ⠘⢆\n"
                       "         1 ┤              ⠈⢆\n"
                       "           └┬───────┬──────┬\n"
                       "            0       2      4\n"
                       "            loss\n");
}
END_TEST

/* A constant so small that a tenth of it is 0. */
START_TEST(smallest_constants)
{
    const double     y[] = { 5e-324, 5e-324 };
    const eddy_curve both[] = { { "a", 2, NULL, y }, { "b", 2, NULL, y } };
    FILE            *f = tmpfile();
    ck_assert_int_eq(eddy_plot_print(both, 2, .to = f, .width = 71, .height = 15), EDDY_OK);
    const char *text = written(f);
    ck_assert_msg(strstr(text, "         0 ┤⠤⠤⠤⠤") != NULL, "%s", text);
    f = tmpfile();
    ck_assert_int_eq(eddy_plot_svg(both, 2, .to = f), EDDY_OK);
    text = written(f);
    ck_assert_msg(strstr(text, "nan") == NULL && strstr(text, "inf") == NULL, "%s", text);
}
END_TEST

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) n++;
    return n;
}

START_TEST(svg)
{
    const double     y[] = { 1, 2, NAN, 4 }, one[] = { 7 };
    const eddy_curve both[] = { { "a < b & c", 4, NULL, y }, { NULL, 1, NULL, one } };
    FILE            *f = tmpfile();
    ck_assert_int_eq(eddy_plot_svg(both, 2, .to = f, .title = "<t>", .y_label = "y"), EDDY_OK);
    const char *text = written(f);
    ck_assert_int_eq(count(text, "<path"), 2);
    ck_assert_int_eq(count(text, "a &lt; b &amp; c"), 1);
    ck_assert_int_eq(count(text, "&lt;t>"), 1);
    /* points from (0, 1) at the left bottom; the gap begins a new line */
    ck_assert_msg(strstr(text, "d='M70.0 365.0L293.3 312.5M740.0 207.5'") != NULL, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "</svg>\n"));
}
END_TEST

START_TEST(histogram)
{
    const float values[] = { 0, 0, 0, 0, 1, 1, 2, 4, NAN };
    FILE       *f = tmpfile();
    ck_assert_int_eq(eddy_histogram_print(EDDY_VIEW(values, 9), 4, .to = f, .width = 42,
                                          .title = "values"), EDDY_OK);
    expect(written(f), "values\n"
                       "          0 │████████ 4\n"
                       "          1 │████ 2\n"
                       "          2 │██ 1\n"
                       "          3 │██ 1\n"
                       "          4 ┘\n"
                       "1 not finite\n");
    f = tmpfile();
    const double same[] = { 5, 5 };
    ck_assert_int_eq(eddy_histogram_print(EDDY_VIEW(same, 2), 2, .to = f, .width = 42), EDDY_OK);
    expect(written(f), "          5 │████████ 2\n          5 │ 0\n          5 ┘\n");
    /* the smallest number above 0, and the largest ones */
    f = tmpfile();
    const double ends[] = { 0, 0x1p-1074 }, all[] = { -DBL_MAX, DBL_MAX };
    ck_assert_int_eq(eddy_histogram_print(EDDY_VIEW(ends, 2), 2, .to = f, .width = 42), EDDY_OK);
    expect(written(f), "          0 │████████ 1\n          0 │████████ 1\n 4.941e-324 ┘\n");
    f = tmpfile();
    ck_assert_int_eq(eddy_histogram_print(EDDY_VIEW(all, 2), 2, .to = f, .width = 42), EDDY_OK);
    expect(written(f), "-1.798e+308 │████████ 1\n          0 │████████ 1\n 1.798e+308 ┘\n");
}
END_TEST

START_TEST(pictures)
{
    const float gray[] = { 0, 1, 2, 3, 4, 0 };
    FILE       *f = tmpfile();
    ck_assert_int_eq(eddy_picture_print(EDDY_VIEW(gray, 2, 3), .to = f, .title = "gray"), EDDY_OK);
    expect(written(f), "gray\n  ░░▒▒\n▓▓██  \n");
    f = tmpfile();                      /* four pixels become one */
    ck_assert_int_eq(eddy_picture_print(EDDY_VIEW(gray, 2, 3), .to = f, .width = 4), EDDY_OK);
    expect(written(f), "▒▒░░\n");
    f = tmpfile();
    const uint8_t colors[] = { 255, 255, 255, 0, 0, 0 };
    ck_assert_int_eq(eddy_picture_print(EDDY_VIEW(colors, 1, 2, 3), .to = f), EDDY_OK);
    expect(written(f), "██  \n");
    f = tmpfile();
    ck_assert_int_eq(eddy_picture_print(EDDY_VIEW(gray, 2, 3), .to = f, .least = 4, .most = 5),
                     EDDY_OK);
    expect(written(f), "      \n      \n");
}
END_TEST

/* In a terminal: colors, and two rows in each line. */
START_TEST(terminals)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    FILE            *f = fopen(ptsname(master), "r+");
    const float      gray[] = { 0, 1, 1, 0 };
    const double     y[] = { 0, 1 };
    const eddy_curve one = { "loss", 2, NULL, y };
    char             text[8192] = { 0 };
    ck_assert_ptr_nonnull(f);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    ck_assert_int_eq(eddy_picture_print(EDDY_VIEW(gray, 2, 2), .to = f), EDDY_OK);
    ck_assert_int_gt((int)read(master, text, sizeof text - 1), 0);
    ck_assert_msg(strcmp(text, "\033[38;2;0;0;0m\033[48;2;255;255;255m▀\033[0m"
                               "\033[38;2;255;255;255m\033[48;2;0;0;0m▀\033[0m\r\n") == 0,
                  "%s", text);
    memset(text, 0, sizeof text);
    ck_assert_int_eq(eddy_plot_print(&one, 1, .to = f, .width = 10, .height = 10), EDDY_OK);
    ck_assert_int_gt((int)read(master, text, sizeof text - 1), 0);
    ck_assert_ptr_nonnull(strstr(text, "\033[34m"));
    fclose(f);
    close(master);
}
END_TEST

/* Pixels of a small picture as sixels, and no sixels where they are turned off. */
START_TEST(sixels)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    FILE        *f = fopen(ptsname(master), "r+");
    const float  gray[] = { 0, 1, 1, 1 };
    char         text[8192] = { 0 };
    ck_assert_ptr_nonnull(f);
    unsetenv("NO_COLOR");
    setenv("TERM", "foot", 1);
    ck_assert_int_eq(eddy_picture_print(EDDY_VIEW(gray, 2, 2), .to = f, .width = 2), EDDY_OK);
    for (size_t n = 0; !strchr(text, '\n');)
        n += (size_t)read(master, text + n, sizeof text - 1 - n);
    ck_assert_msg(strncmp(text, "\033Pq\"1;1;20;20#0;2;0;0;0#1;", 26) == 0, "%s", text + 1);
    /* rows 0 to 5, 6 to 11, of which 6 to 9 are those above, 12 to 17, 18 and 19 */
    const char *pixels = strstr(text, "#215;2;100;100;100");
    ck_assert_ptr_nonnull(pixels);
    ck_assert_msg(strcmp(pixels + 18, "#0!10~$#215!10?!10~$-#0!10N$#215!10o!10~$-#215!20~$-"
                                      "#215!20B$-\033\\\r\n") == 0, "%s", pixels);
    setenv("EDDY_SIXEL", "0", 1);
    memset(text, 0, sizeof text);
    ck_assert_int_eq(eddy_picture_print(EDDY_VIEW(gray, 2, 2), .to = f), EDDY_OK);
    ck_assert_int_gt((int)read(master, text, sizeof text - 1), 0);
    ck_assert_int_eq(count(text, "\033P"), 0);
    unsetenv("EDDY_SIXEL");
    fclose(f);
    close(master);
}
END_TEST

START_TEST(arrays_as_svg)
{
    const float values[] = { 0, 0, 0, 0, 1, 1, 2, 4, NAN };
    const float gray[] = { 0, 1, 1, 0, 0, 0 };
    FILE       *f = tmpfile();
    ck_assert_int_eq(eddy_histogram_svg(EDDY_VIEW(values, 9), 4, .to = f, .width = 48,
                                        .title = "a < b"), EDDY_OK);
    const char *text = written(f);
    ck_assert_int_eq(count(text, " width='480' height='144' viewBox"), 1);
    ck_assert_int_eq(count(text, "a &lt; b"), 1);
    ck_assert_int_eq(count(text, "width='300.0' height='14'"), 1);      /* 4 of at most 4 */
    ck_assert_int_eq(count(text, "width='150.0' height='14'"), 1);
    ck_assert_int_eq(count(text, "width='75.0' height='14'"), 2);
    ck_assert_int_eq(count(text, "1 not finite"), 1);
    f = tmpfile();
    ck_assert_int_eq(eddy_picture_svg(EDDY_VIEW(gray, 2, 3), .to = f), EDDY_OK);
    text = written(f);
    ck_assert_int_eq(count(text, "width='30' height='20' viewBox"), 1);
    ck_assert_int_eq(count(text, "<rect x='0' y='0' width='10' height='10' fill='#000000'/>"), 1);
    ck_assert_int_eq(count(text, "<rect x='10' y='0' width='20' height='10' fill='#ffffff'/>"), 1);
    ck_assert_int_eq(count(text, "<rect x='0' y='10' width='30' height='10' fill='#000000'/>"), 1);
    ck_assert_ptr_nonnull(strstr(text, "</g>\n</svg>\n"));
}
END_TEST

static void refused(eddy_status got, eddy_status wanted, eddy_error *e)
{
    ck_assert_int_eq(got, wanted);
    golden_error(e);
}

START_TEST(errors)
{
    const double      y[] = { NAN, 1 };
    const eddy_curve  nothing = { "a", 1, NULL, y }, none = { "a", 2, NULL, NULL },
                      fine = { "a", 2, NULL, y };
    const float       values[] = { NAN, INFINITY };
    const eddy_array *complex = EDDY_NUMBER(EDDY_COMPLEX64, 1), *two = EDDY_VIEW(values, 2);
    const int64_t     counts[] = { 1, 2 };
    eddy_error        e = { 0 };
    golden_begin("report/plot");
    refused(eddy_plot_print(NULL, 1, .error = &e), EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_plot_print(&fine, 27, .error = &e), EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_plot_print(&none, 1, .error = &e), EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_plot_print(&nothing, 1, .error = &e), EDDY_OUT_OF_RANGE, &e);
    refused(eddy_plot_print(&fine, 1, .width = 9, .error = &e), EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_plot_svg(&fine, 1, .width = 9, .error = &e), EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_plot_svg(&nothing, 1, .error = &e), EDDY_OUT_OF_RANGE, &e);
    refused(eddy_histogram_print(NULL, .error = &e), EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_histogram_print(EDDY_VIEW(counts, 2), 0, .error = &e), EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_histogram_print(EDDY_VIEW(counts, 2), .width = 39, .error = &e),
            EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_histogram_print(complex, .error = &e), EDDY_BAD_DTYPE, &e);
    refused(eddy_histogram_print(two, .error = &e), EDDY_OUT_OF_RANGE, &e);
    refused(eddy_histogram_svg(two, .error = &e), EDDY_OUT_OF_RANGE, &e);
    refused(eddy_picture_svg(two, .error = &e), EDDY_BAD_SHAPE, &e);
    refused(eddy_picture_print(NULL, .error = &e), EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_picture_print(EDDY_VIEW(counts, 2, 1), .width = 0, .error = &e),
            EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_picture_print(EDDY_VIEW(counts, 2, 1), .least = 2, .error = &e),
            EDDY_INVALID_ARGUMENT, &e);
    refused(eddy_picture_print(two, .error = &e), EDDY_BAD_SHAPE, &e);
    refused(eddy_picture_print(EDDY_VIEW(counts, 1, 1, 2), .error = &e), EDDY_BAD_SHAPE, &e);
    refused(eddy_picture_print(complex, .error = &e), EDDY_BAD_DTYPE, &e);
    FILE *full = fopen("/dev/full", "w");
    if (full) refused(eddy_plot_print(&fine, 1, .to = full, .error = &e), EDDY_IO, &e);
    if (full) fclose(full);
    golden_end();
    ck_assert_int_eq(eddy_plot_print(NULL, 1), EDDY_INVALID_ARGUMENT); /* without a message */
}
END_TEST

Suite *plot_suite(void)
{
    Suite *s = suite_create("plot");
    TCase *t = tcase_create("plot");
    tcase_add_test(t, curves);
    tcase_add_test(t, logarithms_and_gaps);
    tcase_add_test(t, smallest_constants);
    tcase_add_test(t, svg);
    tcase_add_test(t, histogram);
    tcase_add_test(t, pictures);
    tcase_add_test(t, terminals);
    tcase_add_test(t, sixels);
    tcase_add_test(t, arrays_as_svg);
    tcase_add_test(t, errors);
    suite_add_tcase(s, t);
    return s;
}
